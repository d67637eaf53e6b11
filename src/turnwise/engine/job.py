"""One run from options to results, the same for every room: load, check, plan, measure, keep, roll up, write.

The command line, `turnwise run suite.yaml` and the Python interface all come through here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.engine.asking import asking_metrics, journal_of, judge_of, questions, told
from turnwise.engine.executors import Executor, get_ready, local_workers
from turnwise.engine.measure import Workload
from turnwise.engine.options import RunOptions, engine_of
from turnwise.engine.plan import Finding, Plan, Source, make_plan
from turnwise.engine.run import Progress, carry_out, check_resumable, new_run, status_kept
from turnwise.engine.suite import Suite
from turnwise.judge.metric import JUDGE, registry_with
from turnwise.judge.options import own_rubrics, settings_of, signed
from turnwise.judge.records import Rubric
from turnwise.judge.settings import JudgeSettings
from turnwise.kernel.derived import Derived
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
from turnwise.kernel.garbage import rare_collections
from turnwise.kernel.metric import COMPONENT
from turnwise.kernel.registry import REGISTRY
from turnwise.kernel.selection import Selection, select_metrics
from turnwise.report.files import describe_files, make_folder, write_json
from turnwise.report.summary import check_dimensions, summarise, summary_object, with_calibration
from turnwise.report.twins import same_scores
from turnwise.store.run import FINISHED, Run, now
from turnwise.store.store import Store

MANY_ITEMS = 5_000
"""From so many on, rolling up is worth sharing among processes: each of them reads all items first."""


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


class Prepared(NamedTuple):
    """A run that could begin."""

    source: Source
    selection: Selection
    plan: Plan
    executor: Executor
    judge: JudgeSettings | None = None
    rubrics: Sequence[Rubric] = ()
    """The user's own."""


@rare_collections()
def prepare(suite: Suite, options: RunOptions) -> Prepared:
    """Load and check the data and decide on metrics; nothing is measured or written."""
    judge, rubrics = settings_of(options), own_rubrics(options.judge, suite.name)
    executor = get_ready(*engine_of(options), _modules(suite, options))
    source = suite.load(options)
    fields = {**source.fields, JUDGE: source.n_items if judge else 0}
    selection = select_metrics(
        suite.name,
        options.metrics and [*options.metrics, *(rubric.name for rubric in rubrics)],
        profile=options.profile,
        overrides=options.set,
        context={**suite.context(options, source), **signed(options, judge)},
        carried=fields,
        registry=registry_with(rubrics),
    )
    _check_dimensions(options.by, source, selection)
    for metric in selection.metrics:
        if metric.spec.unit not in suite.units:
            raise UsageError(
                f"{metric.spec.name} scores a {metric.spec.unit}, which the room {suite.name} does not have",
                expected=" or ".join(sorted(suite.units)),
            )
    plan = make_plan(source, selection.metrics, selection.derived, fields)
    if selection.metrics and all(metric.lacking for metric in plan.metrics):
        _check_usable(suite, source, plan)
    return Prepared(source, selection, plan, executor, judge, rubrics)


def _modules(suite: Suite, options: RunOptions) -> list[str]:
    """What a process that measures will import; a name that no metric has is complained about later."""
    found = [f"turnwise.{suite.name}.batch"]
    for name in options.metrics or ():
        with suppress(TurnwiseError):
            metric = REGISTRY.get(name if "/" in name else f"{suite.name}/{name}")
            found += [] if isinstance(metric, Derived) else [metric.__module__, *metric.preload]
    return [name for name in dict.fromkeys(found) if name.startswith("turnwise.")]


def estimate(options: RunOptions, prepared: Prepared, journal: Path | None = None) -> dict[str, Any]:
    """What asking the judge would take, for a plan; nothing without a judge. `journal`: of a run to be resumed."""
    work = _workload(prepared, {}, _not_measured(prepared.plan))
    with judge_of(options, prepared.judge, journal) as judge:
        if judge is None:
            return {}
        found = judge.estimate(questions(asking_metrics(work), prepared.source.batches()))
        return {JUDGE: {"model": judge.model, **asdict(found)}}


def _workload(prepared: Prepared, variants: Mapping[str, Any], not_measured: Mapping[str, str]) -> Workload:
    return Workload(list(enumerate(prepared.selection.metrics)), variants, not_measured)


def _not_measured(plan: Plan) -> dict[str, str]:
    """The metrics that nothing in the data can be measured by, with the reason."""
    return {m.metric.partition("/")[2]: m.lacking for m in plan.metrics if m.lacking}


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
    source, selection, plan = prepared.source, prepared.selection, prepared.plan
    folder = make_folder(options.out) if options.out else None
    run = _begin(suite, options, store, prepared, resume)
    variants = suite.variants(run.config)
    if begun:
        begun(run)
    journal = journal_of(store, run)
    with status_kept(store, run), judge_of(options, prepared.judge, journal) as judge:
        work = _workload(prepared, variants, run.config.get("not_measured", {}))
        carry_out(store, run, work, source, prepared.executor, judge=judge, progress=progress)
        sharing = local_workers(*engine_of(options)) if source.n_items >= MANY_ITEMS else 1
        results = summarise(store, run, selection=selection, workers=sharing)
        store.save_rollups(run, results)
        results = with_calibration(store, results)
        finished = now()
        concluded = [*map(_twin, same_scores(store, run, results)[:1]), *suite.conclusions(store, run, results)]
        concluded += told(judge, run.system) if judge else []
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
    others = suite.write_files(store, run, source, folder)
    # Last: it says that the run has finished.
    files = [write_json(folder / "summary.json", summary_object(run, results)), *others]
    store.add_artifacts(run, describe_files(folder, files))
    return files


def _begin(suite: Suite, options: RunOptions, store: Store, prepared: Prepared, resume: str | None) -> Run:
    source, selection = prepared.source, prepared.selection
    if resume is None:
        return store.begin(_new_run(suite, options, prepared), selection.signatures)
    run = store.run(resume)
    # Ratings may have brought metrics of their own in between; what the run began with comes first.
    stored = [metric.signature for metric in store.metrics(run)][: len(run.config["metrics"])]
    check_resumable(run, source, [sign for _, sign in selection.signatures], stored)
    return store.reopen(run)


def _new_run(suite: Suite, options: RunOptions, prepared: Prepared) -> Run:
    source, selection, plan = prepared.source, prepared.selection, prepared.plan
    config = options.model_dump(mode="json")
    config["out"] = None if options.out is None else str(options.out.resolve())
    config["metrics"] = [name.partition("/")[2] for name, _ in selection.signatures]
    config["by"] = list(dict.fromkeys([*suite.groupings, *options.by]))
    config["context"] = {**suite.context(options, source), **signed(options, prepared.judge)}
    config["items"], config["unit"] = source.n_items, source.unit
    if prepared.rubrics:
        config["rubrics"] = [dict(rubric.content) for rubric in prepared.rubrics]
    config["open_ended"] = suite.open_ended
    config["not_measured"] = _not_measured(plan)
    return new_run(
        source, suite=suite.name, system=options.system, version=options.version, profile=options.profile, config=config
    )
