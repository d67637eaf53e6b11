"""One run from options to results, the same for every room: load, check, plan, measure, keep, roll up, write.

The command line, `turnwise run suite.yaml` and the Python interface all come through here.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from turnwise.engine.executors import make_executor
from turnwise.engine.measure import Workload
from turnwise.engine.plan import Finding, Plan, Source, make_plan
from turnwise.engine.run import Progress, carry_out, check_resumable, new_run, status_kept
from turnwise.kernel.errors import InputError, UsageError, near_misses
from turnwise.kernel.metric import COMPONENT, SPEC, TURNWISE
from turnwise.kernel.selection import Selection, select_metrics
from turnwise.report.files import describe_files, make_folder, write_json
from turnwise.report.summary import RESAMPLES, check_dimensions, summarise, summary_object
from turnwise.report.twins import same_scores
from turnwise.store.run import FINISHED, Run, now
from turnwise.store.store import Store

ELSEWHERE = frozenset({"out", "executor", "workers"})
"""Options that may differ when a run is resumed: they change where, not what."""
PROFILES = (TURNWISE, SPEC)
"""What every room has; a room may add others."""


def _crossing(text: str) -> tuple[str, ...]:
    """`a,b` as two dimensions that cross."""
    names = tuple(part.strip() for part in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise ValueError(f"--by {text!r} is not a list of different dimensions")
    return names


class RunOptions(BaseModel):
    """What every room can be told; a room adds its own."""

    model_config = ConfigDict(extra="forbid")

    system: str = "system"
    version: str = ""
    profile: str = "turnwise"
    metrics: list[str] | None = None
    set: dict[str, str] = Field(default_factory=dict)
    by: list[tuple[str, ...]] = Field(default_factory=list)
    baselines: bool = False
    executor: str = "inline"
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


class Suite(Protocol):
    """What a room is to the engine."""

    name: str
    options: type[RunOptions]
    profiles: Sequence[str]
    units: frozenset[str]
    """The kinds of unit its metrics can score."""
    groupings: Sequence[tuple[str, ...]]
    """Dimensions that are always rolled up, beside the whole data set."""
    baselines: Mapping[str, Callable[[Any], Any]]
    replaceable: frozenset[str]
    """Options that name the data: they may have moved when a run is resumed; the fingerprint tells."""
    open_ended: bool
    """Whether what is asked is different by nature (sessions of testers): versions are compared all the same."""

    def load(self, options: Any) -> Source:
        """The checked records."""
        ...

    def context(self, options: Any, source: Any) -> Mapping[str, str]:
        """Settings of the run that go into signatures."""
        ...

    def variants(self, config: Mapping[str, Any]) -> Mapping[str, Callable[[Any], Any]]:
        """Other answers that are scored beside the real ones, as a run's configuration asks: baselines, probes."""
        ...

    def conclusions(self, store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
        """What the results show that a reader should be told."""
        ...

    def write_files(self, store: Store, run: Run, source: Any, folder: Path) -> list[Path]:
        """The room's own files."""
        ...

    def draw(self, item: Mapping[str, Any], *, colour: bool = False, encoding: str = "utf-8") -> str:
        """A picture of one kept item for the terminal; empty where there is nothing to draw."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run ended with."""

    run: Run
    results: list[dict[str, Any]]
    plan: Plan
    files: list[Path] = field(default_factory=list)

    @property
    def summary(self) -> dict[str, Any]:
        """The object in `summary.json`."""
        return summary_object(self.run, self.results)


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
    return options


def _usage_error(suite: Suite, error: ValidationError, where: str | None) -> UsageError:
    first = error.errors()[0]
    name = str(first["loc"][0])
    known = list(suite.options.model_fields)
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


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the garbage collector look seldom.

    Records are trees without cycles, and going over a million of them again and again costs a third of a run.
    """
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


Prepared = tuple[Source, Selection, Plan]


@rare_collections()
def prepare(suite: Suite, options: RunOptions) -> Prepared:
    """Load and check the data and decide on metrics; nothing is measured or written."""
    source = suite.load(options)
    selection = select_metrics(
        suite.name,
        options.metrics,
        profile=options.profile,
        overrides=options.set,
        context=suite.context(options, source),
        carried=source.fields,
    )
    _check_dimensions(options.by, source, selection)
    for metric in selection.metrics:
        if metric.spec.unit not in suite.units:
            raise UsageError(
                f"{metric.spec.name} scores a {metric.spec.unit}, which the room {suite.name} does not have",
                expected=" or ".join(sorted(suite.units)),
            )
    plan = make_plan(source, selection.metrics, selection.derived)
    if selection.metrics and all(metric.lacking for metric in plan.metrics):
        _check_usable(suite, source, plan)
    return source, selection, plan


def _check_usable(suite: Suite, source: Source, plan: Plan) -> None:
    """Records that a chosen metric cannot use leave it without a value; records that no metric can use are refused."""
    others = make_plan(source, select_metrics(suite.name, carried=source.fields).metrics)
    if all(metric.lacking for metric in others.metrics):
        raise InputError(
            "there is nothing to measure: no record carries what a metric needs",
            found=next(metric.lacking for metric in plan.metrics if metric.lacking),
            expected="; ".join(f"{m.metric} needs {', '.join(m.missing)}".replace("|", " or ") for m in plan.metrics),
            remedy="check that the files are the right ones and their fields have the documented names",
        )


def _check_dimensions(by: Sequence[tuple[str, ...]], source: Source, selection: Selection) -> None:
    known = {COMPONENT, *source.dimensions, *(m.spec.part for m in selection.metrics if m.spec.part)}
    check_dimensions(by, known)


@rare_collections()
def run_job(
    suite: Suite,
    options: RunOptions,
    *,
    store: Store,
    prepared: Prepared | None = None,
    resume: str | None = None,
    progress: Progress | None = None,
    begun: Callable[[Run], None] | None = None,
) -> Outcome:
    """Carry out (or go on with) a run, keep it in `store`, write its files; `begun` hears of the run at once."""
    prepared = prepared or prepare(suite, options)
    source, selection, plan = prepared
    executor = make_executor(options.executor, options.workers)
    folder = make_folder(options.out) if options.out else None
    run = _begin(suite, options, store, prepared, resume)
    variants = suite.variants(run.config)
    if begun:
        begun(run)
    with status_kept(store, run):
        work = Workload(list(enumerate(selection.metrics)), variants, run.config.get("not_measured", {}))
        carry_out(store, run, work, source, executor, progress=progress)
        results = summarise(store, run, selection=selection)
        store.save_rollups(run, results)
        finished = now()
        concluded = [*map(_twin, same_scores(store, run, results)[:1]), *suite.conclusions(store, run, results)]
        findings = [*run.findings, *map(asdict, concluded)]
        run = replace(run, status=FINISHED, finished=finished, updated=finished, findings=findings)
        files = [] if folder is None else _write_files(suite, store, run, source, results, folder)
        run = store.end(run, FINISHED)
    return Outcome(run, results, plan, files)


def _twin(other: Run) -> Finding:
    return Finding(
        "identical_scores",
        f"every score that both have equals that of system {other.system!r} in run {other.id}: "
        "were the same predictions evaluated under two names?",
    )


def _write_files(
    suite: Suite, store: Store, run: Run, source: Source, results: list[dict[str, Any]], folder: Path
) -> list[Path]:
    files = [write_json(folder / "summary.json", summary_object(run, results))]
    files += suite.write_files(store, run, source, folder)
    store.add_artifacts(run, describe_files(folder, files))
    return files


def _begin(suite: Suite, options: RunOptions, store: Store, prepared: Prepared, resume: str | None) -> Run:
    source, selection, plan = prepared
    if resume is None:
        return store.begin(_new_run(suite, options, source, selection, plan), selection.signatures)
    run = store.run(resume)
    # Ratings may have brought metrics of their own in between; what the run began with comes first.
    stored = [metric.signature for metric in store.metrics(run)][: len(run.config["metrics"])]
    check_resumable(run, source, [sign for _, sign in selection.signatures], stored)
    return store.reopen(run)


def _new_run(suite: Suite, options: RunOptions, source: Source, selection: Selection, plan: Plan) -> Run:
    config = options.model_dump(mode="json")
    config["out"] = None if options.out is None else str(options.out.resolve())
    config["metrics"] = [name.partition("/")[2] for name, _ in selection.signatures]
    config["by"] = list(dict.fromkeys([*suite.groupings, *options.by]))
    config["context"] = dict(suite.context(options, source))
    config["open_ended"] = suite.open_ended
    config["not_measured"] = {m.metric.partition("/")[2]: m.lacking for m in plan.metrics if m.lacking}
    return new_run(
        source, suite=suite.name, system=options.system, version=options.version, profile=options.profile, config=config
    )


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
    wanted = parse_options(suite, {**config, **given})
    for name in given.keys() - suite.replaceable - ELSEWHERE:
        if name != "metrics" and getattr(wanted, name) != getattr(stored, name):
            raise UsageError(
                f"run {run.id} cannot be resumed: it began with another {name}",
                found=str(getattr(wanted, name)),
                expected=str(getattr(stored, name)),
                remedy="leave the option out, or start a new run",
            )
    return wanted
