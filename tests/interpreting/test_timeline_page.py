"""The page of a call, and pictures of whole runs: from a capture to files, to the terminal and into a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)
from tests.interpreting.captures import CORRECTION as NEW
from tests.interpreting.captures import EXAMPLE, TURNS, audio, evaluate, write_capture
from tests.interpreting.captures import STATEMENT as OLD
from tests.interpreting.drawn import BY_TIME, INJECTION, MIXED, SILENT, STATEMENT, call, quiet_call
from tests.report.pages import Page
from tests.translation import test_page_in_browser as in_browser
from turnwise.interpreting.drawing import DrawnCall
from turnwise.interpreting.timeline_page import write_timeline_page

browser = in_browser.browser  # the fixture
SHORT = {"previous_turn_id": "correction", "barge_in_turn_id": "answer", "barge_in_start_ms": 8500.0, "kind": None}
CROWDED = (MIXED, {**SILENT, **SHORT, "cutoff_latency_ms": 0.0}, {"barge_in_start_ms": 4100.0})
"""Three barge-ins, two of them a tenth of a second apart."""


def written(folder: Path, drawn: DrawnCall) -> Page:
    path = write_timeline_page(folder / "timeline.html", drawn)
    return Page(path.read_text(encoding="utf-8"))


def test_the_page_has_the_picture_the_barge_ins_and_the_turns(tmp_path: Path) -> None:
    page = written(tmp_path, call())
    assert page.troubles == []
    assert page.outside == []
    assert [(svg["viewbox"] or "").split()[2] for svg in page.having("svg")] == ["1200", "360"]
    assert all("cutoff 450 ms" in (svg["aria-label"] or "") for svg in page.having("svg"))
    pair, *turns = [row for row in page.rows if row[0] not in ("at, s", "turn")]
    assert pair == [
        "4.00",
        "2 correctionduring 1 statement",
        "self correction",
        "94.20",
        "45091.0 of 100",
        "0% of the words100.0 of 100",
        "120096.0 of 100",
        "id",
        "Excellent barge-in handling",
    ]
    said = "saidMein linkes Knie tut weh.expectedMy left knee hurts.cameMy left knee hurts."
    assert turns[0] == ["1 statementpatient", said, "1.00", "3.00", "2.00", "4.45"]
    assert turns[2] == ["3 answerdoctor", "saidI see.camenothing", "8.50", "9.50", "–", "–"]
    for fact in (
        "70, reached",
        "94.2 of 100",
        "10.0 s",
        "speaks 4.0 s, translation heard 5.2 s",
        "never spoken: goodbye",
    ):
        assert fact in page.text


def test_words_out_of_place_are_marked(tmp_path: Path) -> None:
    source = write_timeline_page(tmp_path / "t.html", call(MIXED)).read_text("utf-8")
    assert "No, the <mark>Left</mark> one <mark>hurts</mark>: right." in source
    assert "at most 29, because half of a translation or more belongs to the other turn" in source


def test_what_is_missing_is_a_dash_with_its_reason(tmp_path: Path) -> None:
    rows = written(tmp_path, call(SILENT)).rows
    assert rows[1][6] == "–no response"
    by_time = written(tmp_path, call(BY_TIME)).rows[1]
    assert by_time[3:6] == ["–", "–not known", "–not known"]
    assert by_time[-1] == "which turn it belongs to is known by time only"
    assert "No barge-in turns found in scenario" in written(tmp_path, quiet_call()).text
    assert "Nobody speaks." in written(tmp_path, quiet_call(turns=[])).text


def test_a_run_writes_a_picture_and_a_page_of_every_call_if_asked(tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    write_capture(captures / "written", TURNS, EXAMPLE)
    heard = [audio(9000, 1450, OLD), audio(11_200, 500, NEW)]
    write_capture(captures / "ward" / "spoken", TURNS, heard)
    evaluate(captures, tmp_path / "plain")
    assert not list((tmp_path / "plain").rglob("timeline.*"))
    evaluate(captures, tmp_path / "out", timelines=True)
    for key in ("written", "ward/spoken"):
        for name in ("timeline.svg", "timeline.html"):
            source = (tmp_path / "out" / key / name).read_text("utf-8")
            # The old translation is there until 10.45 s, the new one from 11.2 s; the barge-in is at 10 s.
            assert {"cutoff 450 ms", "response 1200 ms"} <= set(re.findall(r"(?:cutoff|response) \d+ ms", source))
    assert 'class="turn0 arrived"' in (tmp_path / "out" / "written" / "timeline.svg").read_text("utf-8")
    assert 'class="turn0 arrived"' not in (tmp_path / "out" / "ward" / "spoken" / "timeline.svg").read_text("utf-8")


@pytest.mark.parametrize("profile", ["turnwise", "spec"])
def test_the_terminal_shows_a_call_with_its_score(tmp_path: Path, profile: str, cli: Cli) -> None:  # noqa: F811
    capture = write_capture(tmp_path / "call", TURNS, EXAMPLE)
    store = tmp_path / "runs.db"
    cli("run", "interpreting", capture, "--metrics", "barge_in", "--db", store, "--profile", profile)
    shown = cli("show", "latest", "--item", "call", "--db", store).out
    for said in ("barge-in, self correction: 94.2", "cutoff 450 ms", "response 1200 ms", "expected: kilo lima"):
        assert said in shown
    assert "cutoff 450 ms" not in cli("show", "latest", "--item", f"call#{OLD}", "--db", store).out


# In a browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("timeline")
    silent = {key: value for key, value in STATEMENT.items() if key != "audible"}
    more = {**silent, "turn_id": INJECTION, "participant_id": INJECTION, "start_ms": 12_000.0, "end_ms": 12_100.0}
    late = {**more, "text": INJECTION, "text_ms": [21_000.0, 21_400.0]}
    drawn = call(*CROWDED, ended_ms=30_000.0, notes=[INJECTION])
    turns = [*drawn.content["turns"], late]
    return write_timeline_page(folder / "t.html", call(*CROWDED, ended_ms=30_000.0, notes=[INJECTION], turns=turns))


@pytest.fixture(params=[375, 1280])
def opened(request: pytest.FixtureRequest, browser: Any, page: Path) -> Iterator[in_browser.Opened]:
    found = in_browser.Opened(browser, page, request.param)
    yield found
    found.context.close()
    assert found.troubles == []
    assert [url for url in found.requests if not url.startswith(("file:", "data:"))] == []


SHOWN = "[...document.querySelectorAll('svg.interpreting')].filter(s => s.checkVisibility())"
BOXES = f"""() => {SHOWN}.flatMap(
    s => [...s.querySelectorAll('text')].map(t => {{
        const b = t.getBBox();
        return [t.lastChild ? t.lastChild.textContent : '', b.x, b.y, b.x + b.width, b.y + b.height];
    }}))"""


def test_a_browser_runs_no_script_of_the_data_and_never_scrolls_sideways(opened: in_browser.Opened) -> None:
    width = opened.page.viewport_size["width"]
    assert opened.page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert opened.page.evaluate("typeof window.hacked") == "undefined"
    assert opened.page.evaluate(f"{SHOWN}.map(s => s.viewBox.baseVal.width)") == [360 if width == 375 else 1200]


def test_no_words_of_the_picture_overlap_or_leave_it(opened: in_browser.Opened) -> None:
    boxes = opened.page.evaluate(BOXES)
    width = 360 if opened.page.viewport_size["width"] == 375 else 1200
    assert len(boxes) > 20
    for n, (said, left, top, right, bottom) in enumerate(boxes):
        assert left >= 0, said
        assert right <= width, said
        for other, x, y, x2, y2 in boxes[:n]:
            # Lines of text are a little taller than their letters.
            assert right <= x or x2 <= left or bottom - 3 <= y or y2 - 3 <= top, (said, other)


def test_words_in_a_bar_stay_inside_it_and_no_barge_in_crosses_them(opened: in_browser.Opened) -> None:
    script = f"""() => {SHOWN}.flatMap(s => [...s.querySelectorAll('text.inside')].map(t => {{
        const bar = t.previousElementSibling.getBBox(), b = t.getBBox();
        const crossed = [...s.querySelectorAll('path.begin')].map(p => p.getBBox())
            .some(l => l.x > b.x && l.x < b.x + b.width && l.y < b.y && l.y + l.height > b.y);
        return [t.textContent, b.x >= bar.x && b.x + b.width <= bar.x + bar.width, crossed];
    }}))"""
    found = opened.page.evaluate(script)
    assert len(found) >= 5
    assert [one for one in found if one[1:] != [True, False]] == []


def test_colours_follow_the_scheme(opened: in_browser.Opened) -> None:
    colours = """() => [getComputedStyle(document.querySelector('rect.turn0')).fill,
        getComputedStyle(document.querySelector('#turns td')).borderInlineStartColor]"""
    assert opened.page.evaluate(colours) == ["rgb(10, 102, 168)"] * 2
    opened.page.emulate_media(color_scheme="dark")
    assert opened.page.evaluate(colours) == ["rgb(107, 184, 240)"] * 2
