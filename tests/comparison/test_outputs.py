"""What a comparison looks like: in a terminal, as JSON, Markdown, LaTeX and HTML; warnings are in every one of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.comparison.conftest import Versions
from tests.comparison.keeping import Toy, compared, keep, toys
from tests.report.pages import Page
from turnwise.comparison import tables
from turnwise.comparison.forest import Span, bar, reach
from turnwise.comparison.page import page
from turnwise.comparison.verdicts import plural, rounded
from turnwise.store.store import Store

EVIL = '<script>alert(1)</script>&"|_$%{'


def test_the_command_prints_the_verdict_and_the_plot(cli: Cli, versions: Versions) -> None:
    done = cli("compare", versions.a, versions.b, "--db", versions.db, "--by", "domain")
    assert done.out.startswith("dialogue: A = booking assistant 1, B = booking assistant 2\n")
    assert "B is worse in 1 (system_latency_ms)" in done.out
    assert "Holm over 4 tests" in done.out
    assert "joint_goal_accuracy by domain, worst for B first" in done.out
    assert "●" in done.out
    assert "inform: cannot be judged: nothing scored" in done.out


def test_json_holds_every_line(cli: Cli, versions: Versions) -> None:
    words = ("compare", versions.a, versions.b, "--db", versions.db, "-m", "joint_goal_accuracy", "--json")
    found = cli(*words).json()
    assert found["pairing"] == "paired"
    assert found["cluster"] == "dialogue"
    assert found["a"]["runs"] == [versions.a]
    (row,) = found["results"]
    assert (row["a"], row["b"]) == pytest.approx((21 / 52, 42 / 52))
    assert row["verdict"] == "better"
    assert row["n_paired"] == 52
    assert found["verdict"] == "Of 1: B is better in 1 (joint_goal_accuracy)."


def test_a_terminal_without_unicode_gets_plain_signs(program: Cli, versions: Versions) -> None:
    words = ("compare", versions.a, versions.b, "--db", versions.db, "-m", "joint_goal_accuracy")
    out = program(*words, PYTHONIOENCODING="ascii").out
    assert re.search(r"\| *-+o-+", out)
    assert "\\u" not in out


def test_other_data_are_refused_and_warned_of_in_every_output(cli: Cli, versions: Versions, tmp_path: Path) -> None:
    words = ("compare", versions.a, versions.other, "--db", versions.db)
    refused = cli(*words, code=2)
    assert "not the same data" in refused.err
    assert "--allow-different" in refused.err
    files = {form: tmp_path / f"x.{form}" for form in ("markdown", "latex", "html")}
    options = [word for form, path in files.items() for word in (f"--{form}", path)]
    done = cli(*words, "--allow-different", *options)
    as_json = cli(*words, "--allow-different", "--json").json()
    for text in (done.out, *as_json["warnings"], *(path.read_text("utf-8") for path in files.values())):
        assert "not the same data" in text


def test_unpaired_is_said_in_every_output(kept: Store) -> None:
    other = [Toy(f"z{toy.id}", f"z{toy.id}", toy.numbers) for toy in toys("quality", [0.3], [0.5], [0.6])]
    found = compared(kept, keep(kept, toys("quality", [0.1], [0.2], [0.4])), keep(kept, other))
    said = "unpaired: A and B have no item in common"
    for text in (repr(found), tables.markdown(found), tables.latex(found), page(found), str(found.as_json())):
        assert said in text
    assert found.as_json()["pairing"] == "unpaired"


def test_text_from_the_data_stays_text(kept: Store) -> None:
    def records(gain: float) -> list[Toy]:
        return [Toy(f"{EVIL}{i}", f"{EVIL}{i}", {"quality": i + gain}, {"town": EVIL}) for i in range(4)]

    a, b = keep(kept, records(0.0), system=EVIL, version="1"), keep(kept, records(0.5), system=EVIL, version="2")
    found = compared(kept, a, b, by=[("town",)])
    source = page(found)
    read = Page(source)
    assert read.troubles == []
    assert read.outside == []
    assert len(read.having("script")) == 1  # the page's own
    assert EVIL in read.text
    table = tables.markdown(found)
    assert "<script>" not in table
    for line in tables.latex(found).splitlines():
        if line.endswith(r"\\"):
            assert "<script>alert(1)</script>\\&" in line or EVIL not in line
    assert EVIL not in tables.latex(found)


def test_latex_is_a_booktabs_table(cli: Cli, versions: Versions, tmp_path: Path) -> None:
    path = tmp_path / "t.tex"
    cli("compare", versions.a, versions.b, "--db", versions.db, "--latex", path)
    text = path.read_text("utf-8")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2
    assert r"joint\_goal\_accuracy" in text
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    counts = {line.count("&") for line in body.splitlines() if line.endswith(r"\\")}
    assert counts == {10}  # eleven columns in every row


def test_the_page_says_what_it_shows(kept: Store) -> None:
    a, b = toys("recall", [0.0], [0.0], [1.0]), toys("recall", [1.0], [1.0], [1.0])
    read = Page(page(compared(kept, keep(kept, a), keep(kept, b))))
    header = next(row for row in read.rows if row and row[0] == "metric")
    assert header[:4] == ["metric", "A", "B", "B − A"]
    line = next(row for row in read.rows if row and row[0].startswith("recall"))
    assert line[1:4] == ["0.333", "1.00", "+0.667"]
    assert "recall: no difference shown" in read.text
    assert "recall: 0 worse, 2 better, 1 the same" in read.text


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Span(-0.4, 0.0, 0.4, True), "   --o--   "),  # five characters are 1: from -2 to 2
        (Span(0.2, 0.6, 1.0, True), "     |--o--"),
        (Span(-3.0, -2.0, 0.4, True), "<----|--   "),
        (Span(1.5, 2.0, 2.5, False), "     |    >"),
        (None, "     |     "),
    ],
)
def test_the_forest_plot_of_characters(span: Span | None, expected: str) -> None:
    assert bar(span, 1.0, unicode=False, width=11) == expected


def test_the_axis_goes_as_far_as_bounded_metrics_do() -> None:
    assert reach([Span(-0.2, 0.0, 0.3, True), Span(-9.0, 0.0, 9.0, False), None]) == 0.3
    assert reach([Span(-9.0, 0.0, 4.0, False)]) == 9.0
    assert reach([]) == 1.0


def test_words() -> None:
    assert [rounded(n) for n in (1, 9, 99, 101, 154, 12345)] == [1, 9, 99, 100, 150, 12000]
    assert plural(1, "dialogue") == "1 dialogue"
    assert plural(1200, "dialogue", "more ") == "1,200 more dialogues"
