"""The pieces of a page: nothing from the data becomes markup, and a table keeps what sorting needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.pages import Page
from turnwise.kernel.bands import Band, Bands
from turnwise.report import html, svg

EVIL = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onclick='alert(1)",
    "<!--",
    "]]>",
    "&lt;",
]
BLEU = Bands((Band("poor"), Band("fair", ">=15"), Band("good", ">=30"), Band("excellent", ">50")))


def whole(body: str, title: str = "t") -> Page:
    return Page(html.page_head(title) + body + html.page_tail())


def test_the_page_is_balanced_and_needs_nothing_from_outside() -> None:
    page = whole(html.section("Results", "<p>fine</p>"))
    assert page.troubles == []
    assert page.outside == []
    assert page.having("meta", name="viewport")
    source = html.page_head("t") + html.page_tail()
    assert "http:" not in source
    assert "https:" not in source
    assert "@import" not in source
    assert "url(" not in source


def test_the_policy_of_the_page_allows_its_own_script_alone() -> None:
    (policy,) = [tag["content"] for tag in whole("").having("meta") if "http-equiv" in tag]
    assert policy is not None
    assert "default-src 'none'" in policy
    (script,) = [part for part in policy.split(";") if "script-src" in part]
    assert "unsafe" not in script
    assert "'sha256-" in script


@pytest.mark.parametrize("evil", EVIL)
def test_text_from_the_data_stays_text_wherever_it_stands(evil: str) -> None:
    columns = [html.Column(evil, numeric=True, hint=evil), html.Column("b")]
    row = [html.figure_cell(None, why=evil), html.words(evil)]
    body = html.section(evil, html.table(columns, [row], name=evil), anchor=evil)
    body += html.table_start(columns, name="t", anchor="t") + html.table_row(row, group=evil) + html.table_end()
    body += html.filter_tools("t", [evil, "b"], evil, evil) + html.facts([(evil, evil)]) + html.clamped(evil * 50)
    body += html.banded(evil, evil) + svg.histogram([1.0, 2.0], evil) + svg.share_bar({"good": 1}, evil)
    page, plain = whole(body, evil), whole(body.replace(html.text(evil), "harmless"), "harmless")
    assert page.troubles == []
    assert page.outside == []
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert evil in page.text


@given(st.text())
def test_any_text_comes_back_out_of_the_page_or_as_replacement_characters(value: str) -> None:
    source = f"<p>{html.text(value)}</p>"
    source.encode("utf-8")
    shown = Page(source).text
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    assert len(shown) == len(lines)
    assert all(a == b or b == "\N{REPLACEMENT CHARACTER}" for a, b in zip(lines, shown, strict=True))


def test_controls_and_halves_of_characters_are_replaced() -> None:
    assert html.text("a\x00b\x1b[31m\ud800\u0085\tc\n") == "a\ufffdb\ufffd[31m\ufffd\ufffd\tc\n"


def test_foreign_text_is_isolated_in_its_own_direction() -> None:
    assert html.foreign("‮abc") == '<bdi dir="auto">‮abc</bdi>'


def test_long_text_is_clamped_and_still_whole() -> None:
    value = "word " * 1000
    page = Page(html.clamped(value))
    assert page.troubles == []
    assert page.tags[0][0] == "details"
    assert value in page.text
    assert html.clamped("short") == html.foreign("short")
    assert "5000 characters more" in html.clamped("x" * 25_000)
    assert len(html.clamped("x" * 1_000_000)) < 25_000


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (45.347, "45.35"),
        (0.68349, "0.683"),
        (0.0, "0.000"),
        (-0.5, "-0.500"),
        (1234.5, "1,234"),
        (0.00012, "0.00012"),
        (None, "–"),
        (float("nan"), "–"),
        (float("inf"), "–"),
    ],
)
def test_numbers(value: float | None, shown: str) -> None:
    assert html.number(value) == shown


def test_what_is_missing_has_an_empty_key_and_its_reason_twice() -> None:
    row = html.table_row(
        [html.figure_cell(None, why="no audio"), html.figure_cell(0.0), html.figure_cell(7.25, "good")]
    )
    page = Page(row)
    missing, zero, good = (tag for name, tag in page.tags if name == "td")
    assert missing["data-v"] == ""
    assert page.rows == [["–no audio", "0.000", "7.25"]]
    assert page.having("span", title="no audio")
    assert zero["data-v"] == "0"
    assert good["data-v"] == "7.25"
    assert page.having("span", title="good", **{"class": "band good"})


def test_headers_that_sort_are_buttons_and_say_so() -> None:
    page = Page(html.table([html.Column("a"), html.Column("b", sortable=False)], [], name="t"))
    assert [tag.get("aria-sort") for tag in page.having("th")] == ["none", None]
    assert len(page.having("button")) == 1


def test_a_histogram_has_bars_in_the_colour_of_their_band() -> None:
    page = Page(svg.histogram([10.0, 20.0, 40.0, 60.0, None], "bleu", BLEU))
    assert page.troubles == []
    # Five bars of width 10 from 10 to 60, their middles 15, 25, 35, 45, 55; the fourth is empty.
    assert [tag["class"] for tag in page.having("rect")] == ["fair", "fair", "good", "excellent"]
    assert page.having("svg")[0]["aria-label"] == "bleu: 4 values from 10.00 to 60.00, mean 32.50"


def test_histograms_of_little() -> None:
    assert "no value" in svg.histogram([None, float("nan")], "bleu")
    assert svg.histogram([5.0], "bleu").count("<rect") == 1
    assert svg.histogram([5.0] * 7, "bleu").count("<rect") == 1


def test_a_bar_of_shares_adds_up() -> None:
    counts = {"excellent": 0, "good": 5, "fair": 3, "missing": 2}
    page = Page(svg.share_bar(counts, "bleu"))
    widths = [float(tag["width"] or 0) for tag in page.having("rect")]
    assert widths == [120, 72, 48]
    assert svg.share_words(counts) == "good 5, fair 3, missing 2"
    assert "no sample" in svg.share_bar({}, "bleu")
