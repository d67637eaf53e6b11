"""The Python interface: `turnwise.evaluate(records, suite=...)` does what the command line does."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from turnwise.comparison.compare import Comparison, Options, compare_sides
from turnwise.comparison.selectors import Chosen
from turnwise.comparison.sides import make_sides
from turnwise.engine.job import Outcome, prepare, run_job
from turnwise.engine.options import parse_options
from turnwise.engine.spooled import name_records, spool
from turnwise.kernel.errors import TurnwiseError, UsageError
from turnwise.kernel.score import Score
from turnwise.rooms import get_suite
from turnwise.store.connect import MEMORY
from turnwise.store.reading import read_scores
from turnwise.store.run import Run
from turnwise.store.store import Store


class Result:
    """What an evaluation found. Shows itself as a table in a terminal and in a notebook."""

    def __init__(self, outcome: Outcome, store: Store) -> None:
        self._outcome = outcome
        self._store = store

    @cached_property
    def scores(self) -> list[Score]:
        """Every score: value or reason, evidence, signature."""
        return read_scores(self._store, self.run)

    def compare(
        self,
        other: Result,
        metrics: Sequence[str] | str = (),
        *,
        rollup: str | None = None,
        by: Sequence[str] | str = (),
        allow_different: bool = False,
        unpaired: bool = False,
    ) -> Comparison:
        """Is `other` (B) better than this result (A)? What `turnwise compare` does; shows itself as a table.

        Iterating gives one dictionary for each metric, as in `--json`. `by` slices by dimensions; "a,b" crosses two.
        """
        if self.run.suite != other.run.suite:
            what = "the two results are not of one room"
            raise UsageError(what, found=f"{self.run.suite} and {other.run.suite}")
        chosen = [Chosen(self._store, self.run)], [Chosen(other._store, other.run)]
        options = Options(
            [metrics] if isinstance(metrics, str) else list(metrics),
            rollup,
            [tuple(text.split(",")) for text in ([by] if isinstance(by, str) else by)],
            allow_different,
            unpaired,
        )
        return compare_sides(*make_sides(*chosen, (self.run.id, other.run.id)), options)

    @property
    def run(self) -> Run:
        """The run as it is kept."""
        return self._outcome.run

    @property
    def summary(self) -> dict[str, Any]:
        """The object that `summary.json` holds."""
        return self._outcome.summary

    @property
    def results(self) -> list[dict[str, Any]]:
        """Every metric, group and roll-up with its interval."""
        return self._outcome.results

    def value(self, metric: str, rollup: str | None = None, output: str | None = None, **group: str) -> float | None:
        """One number: the primary roll-up unless another is named, the whole data set unless a group is."""
        for result in self.results:
            named = result["rollup"] == rollup if rollup else result["primary"]
            same_output = output is None or result["output"] == output
            if (
                result["metric"] == metric
                and named
                and same_output
                and result["group"] == group
                and not result["variant"]
            ):
                number: float | None = result["value"]
                return number
        own = [result for result in self.results if result["metric"] == metric]
        groups = dict.fromkeys(str(result["group"]) for result in own)
        known = f"a group such as {', '.join(list(groups)[:5])}" if own else ", ".join(self.run.config["metrics"])
        remedy = "slice by it when evaluating: by=[...]" if own and group else None
        what = f"there is no result for {metric!r}, {rollup or 'primary'}, {group}"
        raise UsageError(what, expected=known, remedy=remedy)

    def __repr__(self) -> str:
        from turnwise.report.tables import as_text, overview

        return as_text(overview(self.summary))

    def _repr_html_(self) -> str:
        from turnwise.report.tables import as_html, overview

        return as_html(overview(self.summary))


def evaluate(
    records: Mapping[str, Any] | None = None,
    *,
    suite: str = "dialogue",
    metrics: Sequence[str] | str | None = None,
    db: str | None = MEMORY,
    **options: Any,
) -> Result:
    """Evaluate records with a room's metrics.

    `records` is what the room reads: for `dialogue` a mapping with `references` and `predictions`, each a path, a list
    of exchanges (dictionaries in the form of turnwise JSONL) or anything that yields them one by one, such as a
    generator, of which never more than a few are in memory. `options` are those of `turnwise run`, with underscores.
    Nothing is kept unless `db` names a database (None: the user's own).

        result = turnwise.evaluate({"references": "refs.jsonl", "predictions": predicted}, metrics=["slot_accuracy"])
        result.value("slot_accuracy")
    """
    room = get_suite(suite)
    given, folder = spool(records or {})
    store: Store | None = None
    try:
        values: dict[str, Any] = {**given, **options}
        if metrics is not None:
            values["metrics"] = [metrics] if isinstance(metrics, str) else list(metrics)
        parsed = parse_options(room, values)
        prepared = prepare(room, parsed)
        if folder is not None and db == MEMORY:
            db = str(folder / "scores.sqlite")  # what comes one by one may be too much for memory
        store = Store(db)  # only now: bad input leaves nothing behind
        result = Result(run_job(room, parsed, store=store, prepared=prepared), store)
    except TurnwiseError as error:
        _drop(store, folder)
        if folder is not None:
            name_records(error, folder)
        raise
    except BaseException:
        _drop(store, folder)
        raise
    if folder is not None:
        for name in given:
            (folder / f"{name}.jsonl").unlink(missing_ok=True)
        weakref.finalize(result, _drop, store, folder)
    return result


def _drop(store: Store | None, folder: Path | None) -> None:
    """Close a database, and remove what was kept only for this evaluation."""
    if store is not None:
        store.close()
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
