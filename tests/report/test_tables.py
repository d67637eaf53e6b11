"""Tables as text, Markdown, LaTeX and HTML: whatever stands in a cell, the table keeps its shape."""

from __future__ import annotations

import re
from typing import Any

import pytest

from turnwise.report.tables import Table, as_html, as_latex, as_markdown, as_text, interval, number, overview, slices

NASTY = ["a|b", "a\\|b", "back\\slash", "two\nlines", "two\r\nlines", "*bold*", "<script>alert(1)</script>", "100 %"]
NASTY += ["$x_1^2$", "~#&{}", "[1, 2]", "–", "`code`", "", "  ", "=1+1", "北京 🙂"]


def result(metric: str = "slot_accuracy", value: float | None = 0.5, **changes: Any) -> dict[str, Any]:
    entry = {
        "metric": metric,
        "output": "value",
        "variant": "",
        "group": {},
        "rollup": "micro",
        "primary": True,
        "value": value,
        "low": None if value is None else value - 0.1,
        "high": None if value is None else value + 0.1,
        "interval": "bootstrap",
        "n_scored": 9,
        "n_total": 10,
        "missing": {"no state": 1},
        "band": None,
        "direction": "higher is better",
        "signature": f"dialogue/{metric}|v1",
    }
    return {**entry, **changes}


RUN = {"suite": "dialogue", "system": "bot", "version": "7", "profile": "turnwise"}


# Numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0.0000"),
        (0.81332, "0.8133"),
        (1.0, "1.0000"),
        (-0.25, "-0.2500"),
        (12.346, "12.35"),
        (399.0, "399.00"),
        (9053.0, "9,053.0"),
        (-12345.67, "-12,345.7"),
    ],
)
def test_number(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize("value", [0.000355, 0.0000123, -0.00042])
def test_a_small_number_keeps_its_digits(value: float) -> None:
    """The cost of a turn is a fraction of a cent: one digit of it, or none, says nothing."""
    assert float(number(value)) == pytest.approx(value, rel=0.005)


def test_interval() -> None:
    assert interval(result(value=0.5)) == "[0.4000, 0.6000]"
    assert interval(result(value=None)) == "–"


# What tables show


def test_overview() -> None:
    results = [
        result(),
        result(rollup="macro", primary=False, value=None, missing={"no state": 9, "error": 1}),
        result("slot_accuracy", group={"domain": "hotel"}),
        result("quality", output="tone"),
    ]
    table = overview({"run": RUN, "results": results})
    assert table.title == "dialogue: bot 7 (turnwise profile)"
    assert table.header == ["metric", "roll-up", "value", "95 % interval", "n", "missing"]
    assert table.rows == [
        ["slot_accuracy", "micro *", "0.5000", "[0.4000, 0.6000]", "9/10", "no state: 1"],
        ["slot_accuracy", "macro", "–", "–", "9/10", "no state: 9, error: 1"],
        ["quality.tone", "micro *", "0.5000", "[0.4000, 0.6000]", "9/10", "no state: 1"],
    ]
    assert [row[0] for row in overview({"run": RUN, "results": results}, every_rollup=False).rows] == [
        "slot_accuracy",
        "quality.tone",
    ]


def test_overview_names_variants_only_where_there_are_some() -> None:
    table = overview({"run": {**RUN, "version": ""}, "results": [result(), result(variant="oracle", value=1.0)]})
    assert table.title == "dialogue: bot (turnwise profile)"
    assert [row[:3] for row in table.rows] == [
        ["slot_accuracy", "-", "micro *"],
        ["slot_accuracy", "oracle", "micro *"],
    ]


def test_slices_keep_the_order_and_say_what_is_left_out() -> None:
    names = ["taxi", "hotel", "train"]
    results = [result(group={"domain": name}, value=0.1 * i, n_scored=i) for i, name in enumerate(names)]
    results += [result(group={"domain": "taxi"}, rollup="macro", primary=False)]
    results += [result(group={"domain": "taxi"}, variant="oracle"), result(group={"slot": "hotel-area"})]
    [table] = slices({"run": RUN, "results": results}, ("domain",), most=2)
    assert table.title == "slot_accuracy (micro) by domain, worst first"
    assert [row[0] for row in table.rows] == ["taxi", "hotel"]
    assert table.notes == ["1 more not shown"]
    [crossed] = slices({"run": RUN, "results": [result(group={"domain": "taxi", "city": "york"})]}, ("domain", "city"))
    assert (crossed.header[0], crossed.rows[0][0]) == ("domain / city", "taxi / york")


# How they are written


def test_text_is_aligned() -> None:
    table = Table("t", ["name", "n"], [["a", "5"], ["longer", "12"]], ["* note"], (1,))
    assert as_text(table) == "t\nname     n\na        5\nlonger  12\n* note"
    assert as_text(Table("t", ["name", "n"], [])) == "t\nname  n"


def markdown_cells(line: str) -> list[str]:
    """The cells of a row: a pipe ends one unless a backslash that is not itself escaped stands before it."""
    return re.findall(r"((?:\\.|[^|\\])*)\|", line.removeprefix("|"))


@pytest.mark.parametrize("text", NASTY)
def test_markdown_keeps_its_shape(text: str) -> None:
    lines = as_markdown(Table(text, ["name", "n", "x"], [[text, "1", text], ["b", "2", "c"]], [text])).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 4
    assert {len(markdown_cells(row)) for row in rows} == {3}
    assert rows[1] == "| --- | --- | --- |"
    assert "<script>" not in "\n".join(lines)


def test_markdown_of_a_plain_table() -> None:
    table = Table("title", ["metric", "value"], [["slot_accuracy", "0.5"]], ["* primary"], (1,))
    expected = "**title**\n\n| metric | value |\n| --- | ---: |\n| slot_accuracy | 0.5 |\n\n\\* primary"
    assert as_markdown(table) == expected


LATEX_SPECIAL = re.compile(r"(?<!\\)[#$%&_^~]")


@pytest.mark.parametrize("text", NASTY)
def test_latex_keeps_its_shape(text: str) -> None:
    written = as_latex(Table(text, ["name", "n"], [["a", "1"], [text, "2"]], [text], (1,)))
    body = written[written.index(r"\midrule") : written.index(r"\bottomrule")]
    assert len(re.findall(r"(?<!\\)&", body)) == 2  # one per row
    assert body.count("\\\\\n") == 2
    cells = body.replace(r"\\", "").replace(" & ", " ")
    assert not LATEX_SPECIAL.search(cells.replace(r"\textasciitilde{}", "").replace(r"\textasciicircum{}", ""))
    # After \\ a bracket or an asterisk would be taken for its argument, also on the next line.
    assert not re.search(r"\\\\\s*[\[*]", body)


def test_latex_escapes() -> None:
    written = as_latex(Table("50 % & more", ["a_b"], [[r"\x{y}"], ["~^#$"]], ["see *"]))
    assert r"\caption{50 \% \& more. see *.}" in written
    assert r"a\_b \\" in written
    assert r"\textbackslash{}x\{y\} \\" in written
    assert r"\textasciitilde{}\textasciicircum{}\#\$ \\" in written
    assert written.startswith("\\begin{table}\n")
    assert written.endswith("\\end{table}")


def test_html_is_escaped() -> None:
    written = as_html(Table("<b>", ["a&b"], [["<script>alert(1)</script>"]], ["<i>"]))
    assert "<script>" not in written
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in written
    assert "<caption>&lt;b&gt;</caption>" in written
    assert "<th>a&amp;b</th>" in written
    assert "<p>&lt;i&gt;</p>" in written
