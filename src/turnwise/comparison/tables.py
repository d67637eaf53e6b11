"""A comparison as tables: for the terminal with a forest plot, for Markdown and LaTeX without it."""

from __future__ import annotations

from collections.abc import Sequence

from turnwise.comparison.compare import PAIRED, Comparison
from turnwise.comparison.compared import Compared, Flip
from turnwise.comparison.forest import axis_words, bar, reach, span
from turnwise.comparison.verdicts import Verdict, is_sure, plural
from turnwise.kernel.metric import Direction
from turnwise.report.tables import Table, as_latex, as_markdown, as_text, interval, number
from turnwise.stats.power import ALPHA, POWER

FLIPS = 3
FEW = 5
"""Of so many metrics all changed items are named; of more, only where a difference was shown."""
_WORDS = {Verdict.SAME: "same", Verdict.NOT_SHOWN: "not shown", Verdict.UNKNOWN: "–"}


def all_tables(found: Comparison, *, plot: bool = False, unicode: bool = True) -> list[Table]:
    """The whole data set, then the slices metric by metric."""
    return [whole_table(found, plot=plot, unicode=unicode), *slice_tables(found, plot=plot, unicode=unicode)]


def whole_table(found: Comparison, *, plot: bool = False, unicode: bool = True) -> Table:
    """One line for each metric, output and roll-up."""
    header = ["metric", "roll-up", "A", "B", "B − A" if unicode else "B - A", "95 % interval", "p", "p Holm"]
    header += ["n", "W/T/L", "verdict", *(["worse | better"] if plot else [])]
    shown = [row for row in found.rows if row.difference.a is not None or row.difference.b is not None]
    spans = [span(row) for row in shown]
    far = reach(spans)
    rows = []
    for row, one in zip(shown, spans, strict=True):
        label = row.metric if row.output.name == "value" else f"{row.metric}.{row.output.name}"
        cells = [label, row.rollup.name, *_numbers(row), *_counts(row), short(row)]
        rows.append([*cells, *([bar(one, far, unicode=unicode)] if plot else [])])
    notes = [*heading(found), *([axis_words(far)] if plot else []), *explanations(found.rows), *found.notes]
    return Table(f"{found.a.runs[0].suite}: {sides(found)}", header, rows, notes, (2, 3, 4, 6, 7, 8, 9))


def slice_tables(found: Comparison, *, plot: bool = False, unicode: bool = True) -> list[Table]:
    """For each metric and grouping, the slices from the worst for B to the best."""
    far = reach([span(row) for row in found.slices])
    lots: dict[tuple[str, tuple[str, ...]], list[Compared]] = {}
    for row in found.slices:
        lots.setdefault((row.label, tuple(row.group)), []).append(row)
    tables = []
    for (label, by), own in lots.items():
        if all(row.difference.difference is None for row in own):
            continue
        header = [" / ".join(by), "A", "B", "B − A" if unicode else "B - A", "95 % interval", "p", "p Holm"]
        header += ["n", "W/T/L", "verdict", *(["worse | better"] if plot else [])]
        rows = [
            [" / ".join(row.group.values()), *_numbers(row), *_counts(row), short(row)]
            + ([bar(span(row), far, unicode=unicode)] if plot else [])
            for row in own
        ]
        tests = own[0].tests
        notes = [*found.warnings, f"Holm over {plural(tests, 'test')} of slices"]
        tables.append(
            Table(f"{label} by {', '.join(by)}, worst for B first", header, rows, notes, (1, 2, 3, 5, 6, 7, 8))
        )
    return tables


def sides(found: Comparison) -> str:
    """Who is compared with whom."""
    return f"A = {found.a.label or found.a.text}, B = {found.b.label or found.b.text}"


def heading(found: Comparison) -> list[str]:
    """What must not be missed: the verdict, warnings, and whether items were paired."""
    warnings = [f"WARNING: {text}" for text in found.warnings]
    alone = [row for row in found.rows if row.p is not None and (row.difference.test.p or 0.0) <= ALPHA < row.p]
    hint = (
        [f"{len(alone)} would be shown if tested alone: choose what decides beforehand, with --metric"] if alone else []
    )
    return [found.verdict, *warnings, _how(found), *hint]


def _how(found: Comparison) -> str:
    tests = max((row.tests for row in found.rows), default=0)
    kind = "paired by item" if found.pairing == PAIRED else found.pairing
    return f"{kind}; intervals and tests by {found.cluster}; Holm over {plural(tests, 'test')}"


def explanations(rows: Sequence[Compared]) -> list[str]:
    """For each metric the verdict as a sentence, and what could have been found; of those without values, by reason."""
    lines = []
    empty: dict[str, list[str]] = {}
    for row in rows:
        if row.difference.a is None and row.difference.b is None:
            empty.setdefault(row.sentence, []).append(row.label)
            continue
        said = row.sentence + (f"; {detectable(row)}" if detectable(row) else "")
        flips = _flips(row) if len(rows) <= FEW or is_sure(row.verdict) else ""
        lines.append(f"{row.label}: {said}{flips}")
    return [*lines, *(f"{', '.join(labels)}: {said}" for said, labels in empty.items())]


def detectable(row: Compared) -> str:
    """What would have been found, where nothing was; empty where that cannot be claimed.

    It cannot where even the largest difference might not have been found, where too few clusters differ for any p
    below 0.05, and where a difference as large was seen and not shown.
    """
    found, test = row.detectable, row.difference.test
    low, high = row.output.range
    if found is None or row.verdict is not Verdict.NOT_SHOWN:
        return ""
    beyond = low is not None and high is not None and found > high - low
    open_ = test.smallest is not None and test.smallest > ALPHA
    seen = abs(row.difference.difference or 0.0) >= found and (test.p or 0.0) > ALPHA
    if beyond or open_ or seen:
        return ""
    return f"a difference of {number(found)} would have been found with a chance of {POWER:.0%}"


def _flips(row: Compared) -> str:
    """Some items on which they differ, the worst first."""
    found = row.outcomes
    if found is None or not (found.lost or found.won):
        return ""
    words = ("lower", "higher") if row.output.direction is Direction.NEITHER else ("worse", "better")
    parts = []
    for word, flips, n in ((words[0], found.lost, found.losses), (words[1], found.won, found.wins)):
        if flips:
            shown = ", ".join(flip_words(flip) for flip in flips[:FLIPS])
            parts.append(f"{word} on {n}: {shown}{' ...' if n > FLIPS else ''}")
    return f" [{'; '.join(parts)}]"


def flip_words(flip: Flip) -> str:
    """`hotel-01/2 (1 -> 0)`."""
    a, b = (value if isinstance(value, str) else f"{value:.3g}" for value in (flip.a, flip.b))
    return f"{flip.item} ({a} -> {b})"


def short(row: Compared) -> str:
    """The verdict as a word for a cell."""
    if is_sure(row.verdict):
        return f"B {row.verdict.value}"
    return _WORDS[row.verdict]


def p_value(p: float | None) -> str:
    """As papers write it."""
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _numbers(row: Compared) -> list[str]:
    gap = row.difference
    limits = {"low": gap.interval.low, "high": gap.interval.high}
    signed = "–" if gap.difference is None else f"{'+' if gap.difference > 0 else ''}{number(gap.difference)}"
    return [number(gap.a), number(gap.b), signed, interval(limits), p_value(gap.test.p), p_value(row.p)]


def _counts(row: Compared) -> list[str]:
    outcomes = row.outcomes
    return [row.found.counted, "–" if outcomes is None else f"{outcomes.wins}/{outcomes.ties}/{outcomes.losses}"]


def as_plain_text(found: Comparison) -> str:
    """All tables as text, for a Python prompt."""
    return "\n\n".join(as_text(table) for table in all_tables(found, plot=True))


def markdown(found: Comparison) -> str:
    """A Markdown document."""
    return "\n\n".join(as_markdown(table) for table in [*all_tables(found), _signatures(found)]) + "\n"


def latex(found: Comparison) -> str:
    """Booktabs tables."""
    return "\n\n".join(as_latex(table) for table in [*all_tables(found), _signatures(found)]) + "\n"


def _signatures(found: Comparison) -> Table:
    signs = dict.fromkeys((row.metric, sign) for row in found.rows for sign in row.signatures)
    runs = [f"{letter}: {', '.join(run.id for run in side.runs)}" for letter, side in (("A", found.a), ("B", found.b))]
    return Table(f"signatures; runs {'; '.join(runs)}", ["metric", "signature"], list(signs), list(found.warnings))
