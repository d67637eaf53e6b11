"""What a run of the interpreting room is: its options, its calls, its hierarchy and the files it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import field_serializer

import turnwise.interpreting.metrics  # noqa: F401  (registers the metrics)
from turnwise.engine.executors import is_address
from turnwise.engine.options import PROFILES, RunOptions, engine_of
from turnwise.engine.plan import Finding
from turnwise.interpreting.baselines import BASELINES
from turnwise.interpreting.conclusions import conclusions
from turnwise.interpreting.drawing import drawn_call
from turnwise.interpreting.files import result_of, write_interpreting_files
from turnwise.interpreting.instance_source import InstanceSource
from turnwise.interpreting.lanes import draw_text
from turnwise.interpreting.load import CaptureSource, load
from turnwise.interpreting.records import CAPTURE, KIND, LANGUAGE, PAIR, PARTICIPANT, SCENARIO, TURN
from turnwise.kernel.filenames import absolute
from turnwise.store.run import Run
from turnwise.store.store import Store


class InterpretingOptions(RunOptions):
    """Options of `turnwise run interpreting`."""

    captures: Path | list[Path]
    """A capture, a folder of captures, or a SimulEval log."""
    scenarios: Path | None = None
    """Scenario files: what they say replaces what the captures say of them."""
    timelines: bool = False
    """Whether a picture and a page of every call are written."""

    @field_serializer("captures", "scenarios")
    def _absolute(self, value: Path | list[Path] | None) -> str | list[str] | None:
        if isinstance(value, list):
            return [str(absolute(path)) for path in value]
        return None if value is None else str(absolute(value))


class InterpretingSuite:
    """The interpreting room as the engine sees it."""

    name = "interpreting"
    options = InterpretingOptions
    profiles = PROFILES
    units = frozenset({CAPTURE, TURN, PAIR})
    groupings = ((SCENARIO,), (LANGUAGE,), (PARTICIPANT,), (KIND,))
    baselines = BASELINES
    open_ended = False
    replaceable = frozenset({"captures", "scenarios"})

    def load(self, options: InterpretingOptions) -> CaptureSource | InstanceSource:
        """Captures, or the instances of a log. Metrics that are named are measured on every capture."""
        scenarios = absolute(options.scenarios) if options.scenarios else None
        given = options.captures if isinstance(options.captures, list) else [options.captures]
        return load(
            [absolute(path) for path in given],
            scenarios,
            wants_all=options.metrics is not None,
            sent_whole=is_address(engine_of(options)[0]),
        )

    def context(self, options: InterpretingOptions, source: Any) -> Mapping[str, str]:
        """Nothing: the numbers depend on the captures alone."""
        return {}

    def variants(self, config: Mapping[str, Any]) -> Mapping[str, Callable[[Any], Any]]:
        """Interpreters that are none, where that is asked for."""
        return BASELINES if config.get("baselines") else {}

    def conclusions(self, store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
        """Odd captures, calls that ended early, barge-ins that cannot be scored."""
        return conclusions(store, run, results)

    def write_files(self, store: Store, run: Run, source: Any, folder: Path) -> list[Path]:
        """For each capture its barge-ins, its turns and its timeline."""
        return write_interpreting_files(store, run, folder)

    def draw(self, item: Mapping[str, Any], *, colour: bool = False, encoding: str = "utf-8") -> str:
        """The timeline of a call; with its scores under `scores`, its barge-ins have theirs."""
        content = item["content"] or {}
        if item["kind"] != CAPTURE or "turns" not in content:
            return ""
        call = drawn_call(str(item["id"]), content, result_of(item.get("scores") or ()))
        return draw_text(call, colour=colour, encoding=encoding)


SUITE = InterpretingSuite()
