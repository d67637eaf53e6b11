"""What is compared before a worker may take part."""

from __future__ import annotations

import platform
from typing import Any, ClassVar

import numpy as np
from faulty import Halved

import turnwise
from turnwise.engine.executors.versions import (
    ABSENT,
    CORE,
    PACKAGES,
    differences,
    models_here,
    packages_of,
    turnwise_here,
    versions_here,
)
from turnwise.kernel.registry import REGISTRY
from turnwise.rooms import register_metrics


def test_the_versions_of_this_process() -> None:
    found = versions_here(["numpy", "no-such-package"])
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["no-such-package"] == ABSENT
    assert found["turnwise"].startswith(f"{turnwise.__version__} (source ")
    assert found["turnwise"] == turnwise_here()


def test_what_differs_is_said_with_both_versions() -> None:
    expected = {"python": "3.11.7", "numpy": "2.4.6", "torch": ABSENT, "soxr": "1.0"}
    found = {"python": "3.12.1", "numpy": "2.4.6", "torch": "2.6.0"}
    assert differences(expected, found) == [
        "python 3.12.1 instead of 3.11.7",
        "torch 2.6.0 instead of not installed",
        "soxr not installed instead of 1.0",
    ]
    assert differences(expected, expected) == []


class Modelled(Halved):
    """A metric of a plug-in with packages and a model of its own."""

    packages: ClassVar[tuple[str, ...]] = ("scipy",)

    def models(self) -> dict[str, Any]:
        return {"weights": "sha256:00ff"}


def test_a_metric_says_what_it_stands_on() -> None:
    assert packages_of([]) == list(CORE)
    assert packages_of([Halved(), Modelled()]) == [*CORE, "scipy"]
    assert models_here([Halved(), Modelled()]) == {"weights of dialogue/halved": "sha256:00ff"}


def test_the_table_names_rooms_and_metrics_that_exist() -> None:
    register_metrics()
    names = set(REGISTRY.names())
    rooms = {name.partition("/")[0] for name in names}
    assert set(PACKAGES) <= names | rooms


def test_comet_says_which_weights_it_finds_here() -> None:
    from turnwise.translation.metrics.comet import Comet

    assert models_here([Comet()]) == {"weights of translation/comet": "none"}  # tests have no model
