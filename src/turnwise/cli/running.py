"""What every `turnwise run ROOM` does once its options are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from turnwise.cli.console import print_json, print_table, program, say, standing_bar
from turnwise.kernel.errors import UsageError

MOST_NAMED = 20
"""Files that are named when they are written; the rest are counted."""


def run_room(
    room: str,
    values: Mapping[str, Any],
    *,
    db: str | None,
    as_json: bool = False,
    resume: str | None = None,
    dry_run: bool = False,
    where: str | None = None,
    quiet: bool = False,
) -> dict[str, Any]:
    """Run a room and print what came out; returns the summary (or the plan)."""
    from turnwise.engine.job import estimate, prepare, run_job
    from turnwise.engine.options import parse_options
    from turnwise.engine.run import Interrupted
    from turnwise.rooms import get_suite
    from turnwise.store.store import Store

    suite = get_suite(room)
    if resume is not None and not resume.strip():
        raise UsageError("--resume names no run", expected="the id of a run", remedy="turnwise runs lists them")
    options = _resumed(suite, db, resume, values) if resume else parse_options(suite, values, where)
    try:
        prepared = prepare(suite, options)
    except KeyboardInterrupt:
        raise Interrupted("interrupted while the input was read; nothing was measured") from None
    if dry_run:
        journal = _journal(db, resume) if resume else None
        plan = prepared.plan.as_json() | estimate(options, prepared, journal)
        if as_json:
            print_json(plan)
        elif not quiet:
            _print_plan(room, plan)
        return plan
    store = Store(db)  # only now: bad input leaves nothing behind
    try:
        with standing_bar(room) as progress:
            outcome = run_job(
                suite,
                options,
                store=store,
                prepared=prepared,
                resume=resume,
                progress=progress,
                begun=lambda run: say(f"run {run.id}; if it is interrupted, go on with --resume {run.id}"),
            )
    finally:
        store.close()
    summary = outcome.summary
    print_findings(summary["run"])
    if as_json:
        print_json(summary)
    elif not quiet:
        _print_summary(summary, options.by)
    for path in outcome.files[:MOST_NAMED]:
        say(f"wrote {path}")
    if len(outcome.files) > MOST_NAMED:
        say(f"and {len(outcome.files) - MOST_NAMED} more below {options.out}")
    say(f"kept as run {outcome.run.id}; slice it with: {program()} show {outcome.run.id}{store.option} --by DIMENSION")
    return summary


def _resumed(suite: Any, db: str | None, name: str, values: Mapping[str, Any]) -> Any:
    """The options a run began with."""
    from turnwise.engine.options import stored_options
    from turnwise.store.store import Store

    store = Store(db)
    try:
        return stored_options(suite, store, name, values)
    finally:
        store.close()


def _journal(db: str | None, name: str) -> Path | None:
    """Where the answers lie that a run already has."""
    from turnwise.engine.asking import journal_of
    from turnwise.store.store import Store

    store = Store(db)
    try:
        return journal_of(store, store.run(name))
    finally:
        store.close()


def _print_summary(summary: Mapping[str, Any], by: Sequence[tuple[str, ...]]) -> None:
    from turnwise.report.tables import overview, slices

    print_table(overview(summary))
    for names in by:
        for table in slices(summary, names):
            print()
            print_table(table)


def print_findings(run: Mapping[str, Any]) -> None:
    """Coverage, what the checks of the input found, and what the results mean."""
    from turnwise.engine.plan import DIAGNOSIS, VERIFY

    coverage = run["coverage"]
    pairs = [(name, n) for name, n in coverage.items() if f"{name}_predicted" in coverage]
    if pairs:
        say("coverage: " + ", ".join(f"{coverage[f'{name}_predicted']} of {n} {name}" for name, n in pairs))
    for finding in run["findings"]:
        if finding["check"] == DIAGNOSIS:
            say(f"diagnosis: {finding['message']}")
        elif finding["check"] != VERIFY:
            say(f"note: {finding['message']} ({finding['count']})")


def _print_plan(room: str, plan: Mapping[str, Any]) -> None:
    from turnwise.report.tables import Table

    print_findings(plan)
    rows = []
    for metric in plan["metrics"]:
        lacking = ", ".join(f"{name}: {n}" for name, n in metric["missing"].items())
        rows.append([metric["metric"], f"{metric['applies_to']}/{plan['items']}", lacking, metric["signature"]])
    notes = [_estimated(plan["judge"])] if "judge" in plan else []
    print_table(
        Table(f"{room}: what would be measured", ["metric", "applies to", "lacking", "signature"], rows, notes, (1,))
    )


def _estimated(judge: Mapping[str, Any]) -> str:
    """What asking the judge would take."""
    from turnwise.judge.tally import money

    cost = "unknown (no prices in the config)" if judge["cost"] is None else f"at most {money(judge['cost'])}"
    return (
        f"judge {judge['model']}: {judge['calls']} calls ({judge['on_record']} answers are on record), about "
        f"{judge['prompt_tokens']:,} tokens in and at most {judge['completion_tokens']:,} out, cost {cost}"
    )
