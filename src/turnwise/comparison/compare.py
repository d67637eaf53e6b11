"""A whole comparison: every metric that both sides have, every slice that is asked for, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from turnwise.comparison.checks import check_comparable, uncalibrated
from turnwise.comparison.compared import Compared, make_compared, worst_first
from turnwise.comparison.differences import Pair
from turnwise.comparison.leaves import By
from turnwise.comparison.sides import Name, Side, about
from turnwise.comparison.value import rollup_named
from turnwise.comparison.verdicts import Verdict, overall
from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import Rollup
from turnwise.report.summary import check_dimensions, not_installed
from turnwise.stats.paired import holm
from turnwise.stats.power import ALPHA, POWER
from turnwise.stats.randomisation import DRAWS

PAIRED, UNPAIRED, MIXED = "paired", "unpaired", "partly paired"
ALONE = "what it would take, and what would have been found, holds for each test alone, before Holm's correction"


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be compared, and how."""

    metrics: Sequence[str] = ()
    """`metric` or `metric.output`; all that both sides have where none is given."""
    rollup: str | None = None
    """The primary one (and pass^k, where there are repeats) where none is given."""
    by: Sequence[By] = ()
    allow_different: bool = False
    unpaired: bool = False
    """Take the items for different ones even where they have the same names."""
    draws: int = DRAWS


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came out. Iterating gives the lines in their published shape."""

    a: Side
    b: Side
    rows: tuple[Compared, ...]
    """The whole data set."""
    slices: tuple[Compared, ...]
    """Worst for B first, metric by metric."""
    warnings: tuple[str, ...]
    """What every output has to say."""
    notes: tuple[str, ...]
    cluster: str
    """What a cluster is called: dialogue, session, sample."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.as_json()["results"])

    def __len__(self) -> int:
        return len(self.rows) + len(self.slices)

    @property
    def pairing(self) -> str:
        """Whether items were compared with themselves."""
        kinds = {row.difference.paired for row in (*self.rows, *self.slices) if row.difference.difference is not None}
        kinds = kinds or {bool((self.a.has & self.b.has).any())}
        return PAIRED if kinds == {True} else UNPAIRED if kinds == {False} else MIXED

    @property
    def verdict(self) -> str:
        """One line for all metrics."""
        return overall([(row.label, row.verdict) for row in self.rows])

    def as_json(self) -> dict[str, Any]:
        """The published shape (docs/comparing.md)."""
        return {
            "suite": self.a.runs[0].suite,
            "a": about(self.a),
            "b": about(self.b),
            "pairing": self.pairing,
            "cluster": self.cluster,
            "alpha": ALPHA,
            "power": POWER,
            "verdict": self.verdict,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "results": [row.as_json() for row in (*self.rows, *self.slices)],
        }

    def __repr__(self) -> str:
        from turnwise.comparison.tables import as_plain_text

        return as_plain_text(self)

    def _repr_html_(self) -> str:
        from turnwise.comparison.tables import all_tables
        from turnwise.report.tables import as_html

        return "".join(as_html(table) for table in all_tables(self))


def compare_sides(a: Side, b: Side, options: Options | None = None) -> Comparison:
    """Compare two sides."""
    options = options or Options()
    names = _names(a, b, options.metrics)
    told = check_comparable(a, b, (metric for metric, _ in names), allow_different=options.allow_different)
    told += uncalibrated((a, b), names)
    _check_slices(a, b, names, options.by)
    cluster = a.universe.cluster_word()
    rows: list[Compared] = []
    slices: list[Compared] = []
    for name in names:
        for by, made in _lines(a, b, name, options, cluster):
            (slices if by else rows).extend(made)
    if options.rollup and not rows:
        raise _unknown_rollup(options.rollup, {rollup.name for name in names for rollup in a.outputs()[name].rollups})
    found = Comparison(a, b, _corrected(rows), _corrected(slices), tuple(told), (), cluster)
    notes = (*_notes(found), *_of_slices(found, options.by))
    return replace(found, warnings=(*told, *_unpaired(found, options)), notes=notes)


def _unpaired(found: Comparison, options: Options) -> list[str]:
    """What is not compared item by item."""
    if options.unpaired:
        return [f"{UNPAIRED}: items of the same name were taken for different ones"]
    if found.pairing == UNPAIRED:
        return [f"{UNPAIRED}: A and B have no item in common"]
    alone = [row.label for row in found.rows if row.difference.difference is not None and not row.difference.paired]
    return [f"{UNPAIRED}: no item has a score on both sides in {', '.join(alone)}"] if alone else []


def _lines(a: Side, b: Side, name: Name, options: Options, cluster: str) -> Iterator[tuple[By, list[Compared]]]:
    """One output of one metric: its roll-ups, the whole and the slices of each."""
    alike = len({*a.signatures(name[0]), *b.signatures(name[0])}) <= 1
    output = a.outputs()[name]
    pair = Pair(a, b, a.node(name), b.node(name), output, options.unpaired, options.draws, alike)
    for rollup in _rollups(output, options.rollup, pair):
        for by in ((), *options.by):
            found = pair.differences(rollup, by)
            made = [make_compared(name, output, rollup, by, one, (a, b), cluster) for one in found]
            yield by, worst_first(made) if by else made


def _names(a: Side, b: Side, wanted: Sequence[str]) -> list[Name]:
    """The outputs to compare, in the order of A's newest run."""
    first, second = a.outputs(), b.outputs()
    common = [name for name in first if name in second]
    if not common:
        raise UsageError(
            "A and B have no metric in common",
            found=f"{', '.join(sorted({m for m, _ in first}))} (A) and {', '.join(sorted({m for m, _ in second}))} (B)",
        )
    if not wanted:
        return common
    chosen: dict[Name, None] = {}
    for text in wanted:
        metric, _, output = text.partition(".")
        found = [name for name in common if name[0] == metric and output in ("", name[1])]
        if not found:
            raise _unknown_metric(text, metric, first, second)
        chosen |= dict.fromkeys(found)
    return list(chosen)


def _unknown_metric(text: str, metric: str, first: dict[Name, Output], second: dict[Name, Output]) -> UsageError:
    known = list(dict.fromkeys(name if output == "value" else f"{name}.{output}" for name, output in first))
    lacking = [letter for letter, side in (("A", first), ("B", second)) if not any(m == metric for m, _ in side)]
    where = f"{' and '.join(lacking)} {'have' if len(lacking) > 1 else 'has'} no {metric!r}" if lacking else None
    return UsageError(
        f"--metric {text}: both sides need it",
        found=where or f"no output {text!r}",
        expected=", ".join(known),
        remedy=near_misses(text, known) or None,
    )


def _unknown_rollup(name: str, known: set[str]) -> UsageError:
    return UsageError(
        f"no chosen metric has a roll-up {name!r}",
        expected=", ".join(sorted(known)),
        remedy=near_misses(name, known) or None,
    )


def _check_slices(a: Side, b: Side, names: Sequence[Name], by: Sequence[By]) -> None:
    parts = {part for side in (a, b) for metric, _ in names if (part := side.part_of(metric))}
    check_dimensions(by, {*a.universe.dimensions, *parts})


def _rollups(output: Output, wanted: str | None, pair: Pair) -> list[Rollup]:
    """The roll-ups to compare: the named one, or the primary and what counts trials, where there are some."""
    if wanted is not None:
        named = rollup_named(output, wanted)
        return [] if named is None else [named]
    trials = pair.trials()
    return [output.primary, *(r for r in output.rollups if r is not output.primary and 1 < r.trials <= trials)]


def _corrected(rows: Sequence[Compared]) -> tuple[Compared, ...]:
    """Holm's correction over all of them."""
    adjusted = holm([row.difference.test.p for row in rows])
    tests = sum(p is not None for p in adjusted)
    return tuple(row.corrected(p, tests) for row, p in zip(rows, adjusted, strict=True))


def _notes(found: Comparison) -> Iterator[str]:
    a, b = found.a, found.b
    if [run.id for run in a.runs] == [run.id for run in b.runs] and a.versions == b.versions:
        yield "A and B are the same run"
    for letter, side, other in (("A", a, b), ("B", b, a)):
        only = sorted({metric for metric, _ in side.outputs()} - {metric for metric, _ in other.outputs()})
        if only:
            yield f"only in {letter}: {', '.join(only)}"
        if side.replaced:
            yield f"{letter}: up to {side.replaced} items were measured more than once; the newest scores count"
        gone = {name for part in side.parts for name in not_installed(part.chosen.store, part.chosen.run)}
        if gone:
            yield f"{letter}: not installed here, and not compared: {', '.join(sorted(gone))}"
    if a.universe.moved:
        yield f"{a.universe.moved} items are in another {found.cluster} in B than in A; A's counts"
    yield from _left_out(found.rows)
    if any(row.tests > 1 and row.verdict is Verdict.NOT_SHOWN for row in found.rows):
        yield ALONE
    for row in found.rows:
        share = row.repeats.share_of_repeats if row.repeats else None
        if share is not None and row.difference.difference and row.rollup.name == row.output.primary.name:
            yield (
                f"{row.label}: {share:.0%} of the variance of the difference comes from the repeats of an item, the "
                "rest from the items"
            )


def _of_slices(found: Comparison, by: Sequence[By]) -> Iterator[str]:
    """Groupings of which nothing can be shown, such as two versions by version."""
    known = {tuple(row.group) for row in found.slices if row.difference.difference is not None}
    for one in dict.fromkeys(by):
        if one not in known:
            yield f"by {', '.join(one)}: no slice has scores on both sides"


def _left_out(rows: Sequence[Compared]) -> Iterator[str]:
    """What has no partner, said once for all metrics that lack the same."""
    said: dict[str, list[str]] = {}
    for row in rows:
        pairing = row.found.pairing
        for letter, other, n, why in (
            ("A", "B", pairing.n_only_a, pairing.why_only_a),
            ("B", "A", pairing.n_only_b, pairing.why_only_b),
        ):
            if n and pairing.paired:
                reasons = ", ".join(f"{reason}: {count}" for reason, count in why.items())
                said.setdefault(f"scored in {letter} and not in {other}: {n} ({reasons})", []).append(row.label)
    for text, labels in said.items():
        yield f"{text}; {', '.join(labels)}"
