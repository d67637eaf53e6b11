"""What a run can be told, from the command line, a YAML file or Python, and what a resumed one was told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, field_validator

from turnwise.engine.executors import INLINE, make_executor
from turnwise.engine.suite import Suite
from turnwise.judge.options import MAY_CHANGE, JudgeOptions
from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.metric import SPEC, TURNWISE
from turnwise.report.summary import RESAMPLES
from turnwise.store.run import FINISHED
from turnwise.store.store import Store

ELSEWHERE = frozenset({"out", "engine", "executor", "workers"}) | MAY_CHANGE
"""Options that may differ when a run is resumed: they change where, not what."""
PROFILES = (TURNWISE, SPEC)
"""What every room has; a room may add others."""


def _crossing(text: str) -> tuple[str, ...]:
    """`a,b` as two dimensions that cross."""
    names = tuple(part.strip() for part in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise ValueError(f"--by {text!r} is not a list of different dimensions")
    return names


class RunOptions(JudgeOptions):
    """What every room can be told; a room adds its own."""

    model_config = ConfigDict(extra="forbid")

    system: str = "system"
    version: str = ""
    profile: str = "turnwise"
    metrics: list[str] | None = None
    set: dict[str, str] = Field(default_factory=dict)
    by: list[tuple[str, ...]] = Field(default_factory=list)
    baselines: bool = False
    engine: str | None = None
    """`inline`, `processes[:N]`, `dask`, or the address of a scheduler."""
    executor: str = "inline"
    """The older word for `engine`, with the number of workers apart."""
    workers: int | None = Field(default=None, ge=1, le=1024)
    resamples: int = Field(default=RESAMPLES, ge=100, le=100_000)
    out: Path | None = None

    @field_validator("metrics", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        if isinstance(value, str):
            value = [value]
        if isinstance(value, list):
            names = [name.strip() for text in value for name in str(text).split(",")]
            chosen = [name for name in names if name]
            if value and not chosen:
                raise ValueError("no name is given")
            return chosen or None
        return value

    @field_validator("by", mode="before")
    @classmethod
    def _split_crossings(cls, value: object) -> object:
        if isinstance(value, str):
            value = [value]
        if isinstance(value, list):
            return [_crossing(one) if isinstance(one, str) else one for one in value]
        return value

    @field_validator("set", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        if isinstance(value, dict):
            return {key: str(v).lower() if isinstance(v, bool) else str(v) for key, v in value.items()}
        return value

    @field_validator("version", "system", mode="before")
    @classmethod
    def _numbers_are_names(cls, value: object) -> object:
        return str(value) if isinstance(value, int | float) else value


def engine_of(options: RunOptions) -> tuple[str, int | None]:
    """The engine that options name, and the number of workers where it stands apart."""
    return options.executor if options.engine is None else options.engine, options.workers


def elsewhere(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options without those that say where to measure, for others to take their place."""
    return {name: value for name, value in values.items() if name not in ("engine", "executor", "workers")}


def parse_options(suite: Suite, values: Mapping[str, Any], where: str | None = None) -> RunOptions:
    """Options from the command line, a YAML file or Python, checked; what is wrong is named."""
    try:
        options = suite.options.model_validate(dict(values))
    except ValidationError as error:
        raise _usage_error(suite, error, where) from error
    if options.profile not in suite.profiles:
        remedy = near_misses(options.profile, suite.profiles) or None
        expected = " or ".join(suite.profiles)
        raise UsageError(f"unknown profile {options.profile!r}", where=where, expected=expected, remedy=remedy)
    _check_engine(options, where)
    return options


def _check_engine(options: RunOptions, where: str | None) -> None:
    """An engine that is none is found before anything is measured, also in the last run of a suite file."""
    engine, executor = options.engine, options.executor
    try:
        if engine is not None and executor not in (INLINE, engine):
            what = f"engine {engine!r} and executor {executor!r} contradict each other"
            raise UsageError(what, remedy="leave out executor, the older word for engine")
        make_executor(*engine_of(options))
    except UsageError as error:
        raise error if error.where or where is None else _placed(error, where) from None


def _placed(error: UsageError, where: str) -> UsageError:
    return UsageError(error.what, where=where, found=error.found, expected=error.expected, remedy=error.remedy)


def _usage_error(suite: Suite, error: ValidationError, where: str | None) -> UsageError:
    first = error.errors()[0]
    name = str(first["loc"][0])
    known = sorted(suite.options.model_fields, key=lambda field: field in JudgeOptions.model_fields)
    if first["type"] == "extra_forbidden":
        return UsageError(
            f"{suite.name} has no option {name!r}",
            where=where,
            expected=", ".join(known),
            remedy=near_misses(name, known) or None,
        )
    if first["type"] == "missing":
        return UsageError(f"option {name!r} is missing", where=where, remedy=f"turnwise run {suite.name} --help")
    return UsageError(f"option {name!r}: {first['msg']}", where=where, found=repr(first.get("input")))


def stored_options(suite: Suite, store: Store, name: str, given: Mapping[str, Any]) -> RunOptions:
    """The options a run began with, for resuming it; paths given anew replace the stored ones."""
    run = store.run(name)
    if run.suite != suite.name:
        raise UsageError(f"run {run.id} is a {run.suite} run", remedy=f"turnwise run {run.suite} --resume {run.id}")
    if run.status == FINISHED:
        raise UsageError(f"run {run.id} has finished", remedy=f"turnwise show {run.id}")

    always = [list(names) for names in suite.groupings]
    config = {key: value for key, value in run.config.items() if key in suite.options.model_fields}
    config["by"] = [names for names in config["by"] if list(names) not in always]
    stored = parse_options(suite, config)
    wanted = parse_options(suite, {**(elsewhere(config) if given.get("engine") else config), **given})
    for name in given.keys() - suite.replaceable - ELSEWHERE:
        if name != "metrics" and getattr(wanted, name) != getattr(stored, name):
            raise UsageError(
                f"run {run.id} cannot be resumed: it began with another {name}",
                found=str(getattr(wanted, name)),
                expected=str(getattr(stored, name)),
                remedy="leave the option out, or start a new run",
            )
    return wanted
