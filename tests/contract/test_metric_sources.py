"""A metric whose source changes gets a new version, or somebody says that no value changes."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tests.contract.rooms import ADAPTERS, metrics_of
from tests.contract.update_sources import NOTED, current, noted, source_hash
from turnwise.kernel.metric import Metric, MetricSpec

NAMES = [f"{room}/{name}" for room in ADAPTERS for name in metrics_of(room)]
REFRESH = "python -m tests.contract.update_sources"


@pytest.mark.parametrize("full_name", NAMES)
def test_the_source_changes_only_with_the_version(full_name: str) -> None:
    before, now = noted().get(full_name), current()[full_name]
    assert before is not None, f"{full_name} is new: note its source with `{REFRESH}`"
    if now["sha256"] != before["sha256"]:
        assert now["version"] != before["version"], (
            f"the source of {full_name} changed, and its version is still {now['version']}. "
            f"If any value can change, raise `version` in its spec; then (or if none can) run `{REFRESH}`"
        )
    assert now == before, f"{full_name}: note its new version {now['version']} with `{REFRESH}`"


def test_nothing_is_noted_that_is_gone() -> None:
    gone = sorted(set(noted()) - set(NAMES))
    assert not gone, f"{NOTED.name} has metrics that are not registered: {gone}; run `{REFRESH}`"


class Old(Metric):
    spec: ClassVar[MetricSpec] = MetricSpec(room="toys", name="m", version=1, question="?", unit="item")


class Base(Metric):
    spec: ClassVar[MetricSpec] = MetricSpec(room="toys", name="m", version=1, question="?", unit="item")


class Child(Base):
    pass


def first_helper() -> int:
    return 1


def second_helper() -> int:
    return 2


def test_the_hash_sees_the_class_its_bases_and_the_functions() -> None:
    assert source_hash(Old, ()) == source_hash(Old, ())
    hashes = {
        source_hash(Old, ()),
        source_hash(Base, ()),
        source_hash(Child, ()),
        source_hash(Old, (first_helper,)),
        source_hash(Old, (second_helper,)),
        source_hash(Old, (first_helper, second_helper)),
    }
    assert len(hashes) == 6
    assert source_hash(Old, (first_helper, second_helper)) == source_hash(Old, (second_helper, first_helper))
