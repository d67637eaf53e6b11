"""Tables of results: one list of rows, shown as plain text, Markdown, LaTeX or HTML; the terminal uses rich."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from turnwise.kernel.metric import COMPONENT

UNCALIBRATED = "uncalibrated"
"""What a judge's scores are until somebody has compared them with people's."""
_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"}
_LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}  # other signs in TeX's old encoding


@dataclass(frozen=True, slots=True)
class Table:
    """A title, a header, rows of text, and notes under it."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=list)
    numeric: Sequence[int] = ()
    """Columns that are set to the right."""


def overview(summary: Mapping[str, Any], *, every_rollup: bool = True) -> Table:
    """The whole data set: one row per metric, output and roll-up, with interval and n."""
    run = summary["run"]
    results = [r for r in summary["results"] if not r["group"] and (every_rollup or r["primary"])]
    several = any(r["variant"] for r in results)
    header = ["metric", *(["variant"] if several else []), "roll-up", "value", "95 % interval", "n", "missing"]
    rows: list[list[str]] = []
    key: tuple[str, ...] = ()
    measured = {metric_label(r) for r in results if r["n_scored"]}
    for r in results:
        name = metric_label(r)
        if name not in measured:
            continue
        name = marked_label(r)
        variant = [r["variant"] or "-"] if several else []
        rollup = f"{r['rollup']}{' *' if r['primary'] else ''}"
        missing = ", ".join(f"{reason}: {n}" for reason, n in r["missing"].items())
        said, key = key, (name, r["variant"], missing)  # once is enough for all roll-ups
        missing = "" if said == key else missing
        rows.append(
            [name, *variant, rollup, number(r["value"]), interval(r), f"{r['n_scored']}/{r['n_total']}", missing]
        )
    version = f" {run['version']}" if run["version"] else ""
    title = f"{run['suite']}: {run['system']}{version} ({run['profile']} profile)"
    offset = 1 if several else 0
    notes = ["* primary roll-up", *_not_measured([r for r in results if metric_label(r) not in measured], measured)]
    notes += _calibrations(results)
    return Table(title, header, rows, notes, (2 + offset, 4 + offset))


def _not_measured(results: Sequence[Mapping[str, Any]], labels: Collection[str]) -> list[str]:
    """One line for each reason why whole metrics have no value; a judge that gave none is a variant of some."""
    measured = {label.partition(".")[0] for label in labels}
    reasons: dict[str, dict[str, None]] = {}
    for r in (r for r in results if not r["variant"] or "calibration" in r):
        several = len(r["missing"]) > 1
        why = ", ".join(f"{why}: {n}" if several else why for why, n in sorted(r["missing"].items()))
        why = why or "nothing to measure"
        partly = r["metric"] in measured
        reasons.setdefault(why, {})[metric_label(r) if partly else r["metric"]] = None
    return [f"not measured ({why}): {', '.join(names)}" for why, names in reasons.items()]


def slices(summary: Mapping[str, Any], by: Sequence[str], most: int | None = None) -> list[Table]:
    """Per metric, the groups of some dimensions from the worst to the best, by the primary roll-up."""
    wanted = [r for r in summary["results"] if list(r["group"]) == list(by) and r["primary"] and not r["variant"]]
    if list(by) == [COMPONENT]:
        return _components(wanted)
    tables = []
    for name in dict.fromkeys(marked_label(r) for r in wanted):
        chosen = [r for r in wanted if marked_label(r) == name]
        shown = chosen if most is None else chosen[:most]
        rows = [[" / ".join(r["group"].values()), number(r["value"]), interval(r), _counted(r)] for r in shown]
        notes = [f"{len(chosen) - len(shown)} more not shown"] if len(shown) < len(chosen) else []
        title = f"{name} ({chosen[0]['rollup']}) by {', '.join(by)}, worst first"
        tables.append(Table(title, [" / ".join(by), "value", "95 % interval", "n"], rows, notes, (1, 3)))
    return tables


def _components(results: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Per component, the metrics that test it."""
    tables = []
    for component in dict.fromkeys(r["group"][COMPONENT] for r in results):
        own = [r for r in results if r["group"][COMPONENT] == component]
        rows = [[marked_label(r), r["rollup"], number(r["value"]), interval(r), _counted(r)] for r in own]
        header = ["metric", "roll-up", "value", "95 % interval", "n"]
        tables.append(Table(f"component {component}", header, rows, numeric=(2, 4)))
    return tables


def _counted(result: Mapping[str, Any]) -> str:
    """How many items have a score, and of how many where some have none."""
    scored, total = result["n_scored"], result["n_total"]
    return str(scored) if scored == total else f"{scored}/{total}"


def metric_label(result: Mapping[str, Any]) -> str:
    """`metric`, or `metric.output` where it has more than the one."""
    return result["metric"] if result["output"] == "value" else f"{result['metric']}.{result['output']}"


def marked_label(result: Mapping[str, Any]) -> str:
    """The same, and whether it is what a judge said that nobody has compared with people yet."""
    uncalibrated = result.get("calibration") == UNCALIBRATED
    return f"{metric_label(result)} ({UNCALIBRATED})" if uncalibrated else metric_label(result)


def _calibrations(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line for each judged metric; one for each of its outputs where they are not calibrated alike."""
    found: dict[str, dict[str, str]] = {}
    for r in results:
        if "calibration" in r:
            found.setdefault(r["metric"], {})[metric_label(r)] = r["calibration"]
    lines = []
    for metric, marks in found.items():
        alike = {metric: next(iter(marks.values()))} if len(set(marks.values())) == 1 else marks
        lines += [f"{label} is a judge's opinion, {mark}" for label, mark in alike.items()]
    return lines


def number(value: float | None) -> str:
    """About four significant digits; a dash for what is missing."""
    if value is None:
        return "–"
    magnitude = abs(value)
    if magnitude >= 1000:
        return f"{value:,.1f}"
    if 0 < magnitude < 0.01:
        return f"{value:.3g}"
    return f"{value:.4f}" if magnitude < 10 else f"{value:.2f}"


def interval(result: Mapping[str, Any]) -> str:
    """`[low, high]`, or a dash."""
    if result["low"] is None or result["high"] is None:
        return "–"
    return f"[{number(result['low'])}, {number(result['high'])}]"


def printable(text: str) -> str:
    """Text from the data that cannot move the cursor, change colours or break a row."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))


def as_text(table: Table) -> str:
    """Aligned columns."""
    table = replace(table, rows=[[printable(cell) for cell in row] for row in table.rows])
    widths = [max(len(str(row[i])) for row in [table.header, *table.rows]) for i in range(len(table.header))]

    def line(row: Sequence[str]) -> str:
        cells = [
            str(c).rjust(w) if i in table.numeric else str(c).ljust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    notes = [printable(note) for note in table.notes]
    return "\n".join([printable(table.title), line(table.header), *(line(row) for row in table.rows), *notes])


def as_markdown(table: Table) -> str:
    """A Markdown table."""

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(_markdown(cell) for cell in row) + " |"

    rule = "| " + " | ".join("---:" if i in table.numeric else "---" for i in range(len(table.header))) + " |"
    notes = [f"\n{_markdown(note)}" for note in table.notes]
    return "\n".join([f"**{_markdown(table.title)}**\n", line(table.header), rule, *map(line, table.rows), *notes])


def _markdown(text: str) -> str:
    """Text that stays one cell and stays text."""
    flat = printable(" ".join(str(text).split()))
    for character in "\\|*`":
        flat = flat.replace(character, f"\\{character}")
    return flat.replace("](", "]\\(").replace("<", "&lt;")  # neither a link nor a picture


def as_latex(table: Table) -> str:
    """A booktabs table."""
    columns = "".join("r" if i in table.numeric else "l" for i in range(len(table.header)))
    notes = " ".join(f"{_latex(note).removesuffix('.')}." for note in table.notes)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_latex(table.title)}. {notes}}}".replace(". }", ".}"),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _latex_row(table.header),
            r"\midrule",
            *(_latex_row(row) for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _latex_row(row: Sequence[str]) -> str:
    cells = " & ".join(_latex(cell) for cell in row)
    # After a line break, [ and * would be read as its arguments.
    return ("{}" if cells[:1] in ("[", "*") else "") + cells + r" \\"


def _latex(text: str) -> str:
    flat = " ".join(str(text).split())
    return "".join(_LATEX.get(c, c if c.isprintable() else "?") for c in flat)  # TeX stops at control characters


def as_html(table: Table) -> str:
    """A table for a notebook."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row(cells, "td") for cells in table.rows)
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    caption = f"<caption>{html.escape(table.title)}</caption>"
    return f"<table>{caption}<thead>{row(table.header, 'th')}</thead><tbody>{body}</tbody></table>{notes}"
