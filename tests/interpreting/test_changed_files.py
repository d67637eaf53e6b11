"""Captures and logs that change between the first look and the measuring: the run ends, nothing else is scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interpreting.captures import EXAMPLE, TURNS, evaluate, write_capture
from tests.interpreting.log_lines import PLAIN
from turnwise.interpreting import load as loading
from turnwise.interpreting.instance_source import InstanceSource
from turnwise.interpreting.suite import InterpretingSuite
from turnwise.kernel.errors import InputError


@pytest.mark.parametrize("engine", ["inline", "processes:2"])
@pytest.mark.parametrize("name", ["capture.json", "events.jsonl"])
def test_a_capture_that_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, name: str) -> None:
    for number in range(3):
        write_capture(tmp_path / "captures" / f"call-{number}", TURNS, EXAMPLE)
    load = InterpretingSuite.load

    def loaded(self: InterpretingSuite, options: Any) -> Any:
        source = load(self, options)
        file = tmp_path / "captures" / "call-1" / name
        file.write_text(file.read_text() + "\n")
        return source

    monkeypatch.setattr(InterpretingSuite, "load", loaded)
    with pytest.raises(InputError, match="call-1 changed while it was being read") as error:
        evaluate(tmp_path / "captures", tmp_path / "out", "barge_in", engine=engine)
    assert error.value.remedy == "start the run again, on a copy if need be"  # and not: resume it


def test_a_log_that_changes(tmp_path: Path) -> None:
    log = tmp_path / "instances.log"
    lines = [json.dumps({**PLAIN, "index": number}) for number in range(700)]
    log.write_text("\n".join(lines))
    source = InstanceSource(log)
    batches = source.batches()
    assert next(batches).index == 0
    log.write_text("\n".join(lines[:600]))
    with pytest.raises(InputError, match=r"instances\.log changed while it was being read"):
        list(batches)


def test_a_capture_brings_its_own_scenario_alone(tmp_path: Path) -> None:
    """What goes to a worker does not grow with the number of scenarios."""
    for number in range(2):
        write_capture(tmp_path / "captures" / f"call-{number}", TURNS, EXAMPLE, scenario_id=f"scenario-{number % 2}")
    scenarios: Any = {f"scenario-{number}": Planned() for number in range(1, 50)}
    source = loading.CaptureSource([tmp_path / "captures"], scenarios, wants_all=True)
    (batch,) = source.batches()
    assert isinstance(batch.calls, loading.Calls)
    assert batch.calls._scenarios.keys() == {"scenario-1"}


class Planned:
    """A scenario that says nothing."""

    turns = ()
    thresholds: dict[str, float] = {}  # noqa: RUF012
    metrics = None
    description = ""
