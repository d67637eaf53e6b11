"""Records that come one by one are written as they come; what is wrong with one is said of that one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnwise.engine.spooled import spool
from turnwise.kernel.errors import InputError, TurnwiseError
from turnwise.kernel.jsontext import loads


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_each_record_is_a_line() -> None:
    given = [{"id": 1, "text": "null", "cost": None}, {"id": 2, "state": {"a": [1.5, np.float64(2.5)]}}]
    records, folder = spool({"turns": iter(given), "other": [{"kept": "as it is"}]})
    assert folder is not None
    assert [loads(line) for line in records["turns"].read_text().splitlines()] == given
    assert records["other"] == [{"kept": "as it is"}]


NAN = float("nan")


@pytest.mark.parametrize(
    ("record", "found"),
    [
        ({"latency_ms": float("inf")}, "inf"),
        ({"state": {"price": [1.0, NAN]}}, "nan"),
        ({"latency_ms": np.float32("-inf"), "user": None}, "-inf"),
        ({"vector": np.array([[1.0, 2.0], [NAN, 3.0]])}, "nan"),
    ],
)
def test_a_number_that_is_not_finite_is_refused_as_in_a_list(
    record: dict[str, Any], found: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="not finite") as error:
        spool({"turns": iter([{"id": 1}, record])})
    assert (error.value.where, error.value.found) == ("turns[1]", found)
    assert list(tmp_path.iterdir()) == []


def test_what_the_generator_raises_is_its_own(tmp_path: Path) -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield {"id": 1}
        raise ConnectionResetError("the database went away")

    with pytest.raises(ConnectionResetError, match="the database went away"):
        spool({"turns": broken()})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *how, **more: real(Path("/dev/full"), *how, **more))
    with pytest.raises(TurnwiseError, match="cannot be kept") as error:
        spool({"turns": ({"text": "x" * 1000} for _ in range(100))})
    assert error.value.found == "No space left on device"
