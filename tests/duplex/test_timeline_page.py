"""The page of a conversation: everything is on it, no text breaks it, and a browser shows it as it is meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.audio.signals import tone
from tests.report.pages import Page
from tests.translation import test_page_in_browser as in_browser
from tests.translation.outcomes import CHINESE, INJECTION
from turnwise.duplex.marks import FIRST_RESPONSE, RESPONSE, STOP, Mark
from turnwise.duplex.records import BACKCHANNEL, INTERRUPTION, PAUSE, TURN, Label, Segment, Timeline
from turnwise.duplex.timeline_page import event_of, write_timeline_page

browser = in_browser.browser  # the fixture

TALK = Timeline(
    f"hotel/42 {INJECTION}",
    user=(
        Segment(0.6, 3.1, "Hi, I would like to book a room for two nights in Lyon."),
        Segment(6.0, 7.3, "No wait, three nights"),
        Segment(11.2, 11.6, "mhm"),
        Segment(15.0, 16.4, INJECTION),
        Segment(17.2, 18.6, CHINESE),
    ),
    agent=(Segment(3.72, 6.42, "Sure, I have a room for two nights in"), Segment(8.1, 13.9), Segment(16.2, 16.9)),
    labels=(
        Label(0.6, 3.1, TURN),
        Label(6.0, 7.3, INTERRUPTION, "No wait"),
        Label(11.2, 11.6, BACKCHANNEL),
        Label(15.0, 18.6, TURN),
        Label(16.4, 17.2, PAUSE, INJECTION),
    ),
    words=(Segment(8.2, 8.5, "Three"), Segment(8.6, 9.0, "nights"), Segment(16.3, 16.5, "The")),
    tool_calls=(7.6,),
    seconds=24.0,
    language="en",
    category="interruption",
    metadata={"domain": "hotel"},
    detected=True,
    behaviour="C_RESPOND",
    notes=("two segments were joined", INJECTION),
)
MARKS = [
    Mark(3.1, 3.72, FIRST_RESPONSE),
    Mark(6.0, 6.42, STOP, "yielded"),
    Mark(7.3, 8.1, RESPONSE, INJECTION),
    Mark(16.4, 16.2, RESPONSE, "too_early"),
]
SCORES: list[dict[str, Any]] = [
    {"metric": "stop_latency", "output": "value", "value": 0.42, "label": None, "status": "scored", "reason": None},
    {"metric": "timing", "output": "kind", "value": None, "label": "C_RESUME", "status": "scored", "reason": ""},
    {"metric": "noise", "output": "value", "value": None, "label": None, "status": "skipped", "reason": INJECTION},
]


def written(folder: Path, timeline: Timeline = TALK, marks: list[Mark] = MARKS, **options: Any) -> Page:
    path = write_timeline_page(folder / "timeline.html", timeline, marks, **options)
    assert path == folder / "timeline.html"
    return Page(path.read_text(encoding="utf-8"))


def stereo(folder: Path, channels: int = 2) -> Path:
    soundfile = pytest.importorskip("soundfile")
    path = folder / f"talk {channels}.wav"
    soundfile.write(path, np.stack([tone(220 * (n + 1), 24.0, 8000) for n in range(channels)], axis=1), 8000)
    return path


# Content


def test_the_page_is_balanced_and_stands_alone(tmp_path: Path) -> None:
    page = written(tmp_path, scores=SCORES)
    assert page.troubles == []
    assert page.outside == []
    assert "</script><script>" in page.text  # the injection is text, several times
    assert len(page.having("script")) == 1


def test_the_head_says_what_is_known(tmp_path: Path) -> None:
    text = written(tmp_path).text
    # 2.5 + 1.3 + 0.4 + 1.4 + 1.4, 2.7 + 5.8 + 0.7, 0.42 + 0.4 + 0.2 s.
    for fact in ("hotel/42", "interruption", "24.0 s", "voice activity", "C_RESPOND", "7.0 s", "9.2 s", "1.0 s"):
        assert fact in text
    assert "two segments were joined" in text


def test_the_picture_is_in_the_page_for_a_screen_and_for_a_telephone(tmp_path: Path) -> None:
    page = written(tmp_path)
    boxes = [svg["viewbox"] for svg in page.having("svg")]
    assert [(box or "").split()[2] for box in boxes] == ["1200", "360"]
    assert all("stop 0.42 s yielded" in (svg["aria-label"] or "") for svg in page.having("svg"))


def test_the_table_of_latencies_has_every_mark(tmp_path: Path) -> None:
    rows = written(tmp_path).rows
    assert ["first response delay", "0.62", "", "3.10", "3.72"] in rows
    assert ["stop latency", "0.42", "yielded", "6.00", "6.42"] in rows
    assert ["response latency", "-0.20", "too_early", "16.40", "16.20"] in rows


def test_events_have_their_outcome_their_latencies_and_what_was_said(tmp_path: Path) -> None:
    rows = written(tmp_path, marks=[*MARKS[:2], Mark(7.3, 8.1, RESPONSE, "answered")]).rows
    assert ["6.00", "7.30", "interruption", "yielded, answered", "stop 0.42 s, response 0.80 s", "No wait"] in rows
    assert ["11.20", "11.60", "backchannel", "", "", "mhm"] in rows


def test_a_latency_belongs_to_the_event_whose_end_is_nearest() -> None:
    assert event_of(Mark(16.4, 16.2, RESPONSE), TALK.labels) == 4  # at the beginning of the pause inside the turn
    assert event_of(Mark(18.7, 19.4, RESPONSE), TALK.labels) == 3  # speech was found to end 0.1 s after the label
    assert event_of(Mark(22.0, 23.0, RESPONSE), TALK.labels) is None
    assert event_of(Mark(1.0, 2.0, STOP), ()) is None


def test_scores_are_shown_with_why_there_is_none(tmp_path: Path) -> None:
    rows = written(tmp_path, scores=SCORES).rows
    assert ["stop_latency", "0.420", "", "scored", ""] in rows
    assert ["timing.kind", "–", "C_RESUME", "scored", ""] in rows
    assert ["noise", "–", "", "skipped", INJECTION] in rows
    assert "Scores" not in written(tmp_path).text


def test_speech_of_both_sides_is_listed_in_order(tmp_path: Path) -> None:
    page = written(tmp_path)
    start = page.rows.index(["from, s", "who", "said", "to, s", "seconds"])
    rows = page.rows[start + 1 :]
    assert [row[1] for row in rows] == ["user", "agent", "user", "agent", "user", "user", "agent", "user"]
    assert rows[3] == ["8.10", "agent", "Three nights", "13.90", "5.80"]
    assert rows[-1] == ["17.20", "user", CHINESE, "18.60", "1.40"]


def test_a_page_of_nothing(tmp_path: Path) -> None:
    page = written(tmp_path, Timeline("empty"), [])
    assert page.troubles == []
    for said in ("No latency was measured", "Nobody labelled", "Nobody speaks, as far as is known", "not known"):
        assert said in page.text
    assert not page.having("button", **{"class": "play"})


# Sound


def test_one_file_is_one_recording_and_two_are_the_user_and_the_agent(tmp_path: Path) -> None:
    both, alone = stereo(tmp_path), stereo(tmp_path, 1)
    for audio, names in (((both,), ["recording"]), ((alone, both), ["user", "agent"])):
        page = written(tmp_path, replace(TALK, key="t", audio=audio))
        said = [button["aria-label"] for button in page.having("button", **{"class": "play"})]
        assert said == [f"play the {name} audio of t" for name in names]


def test_a_recording_that_is_not_in_the_page_is_linked_or_said_to_be_missing(tmp_path: Path) -> None:
    page = written(tmp_path, replace(TALK, audio=(stereo(tmp_path),)), audio_budget_bytes=100)
    assert [link["href"] for link in page.having("a")] == ["talk%202.wav"]
    assert "1 not embedded: beyond the budget of this page" in page.text
    assert "recording: no such file" in written(tmp_path, replace(TALK, audio=(tmp_path / "none.wav",))).text


# In a browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("timeline")
    return write_timeline_page(folder / "t.html", replace(TALK, audio=(stereo(folder),)), MARKS, SCORES)


def opened_at(browser: Any, page: Path, width: int) -> Iterator[in_browser.Opened]:
    found = in_browser.Opened(browser, page, width)
    yield found
    found.context.close()
    assert found.troubles == []
    assert [url for url in found.requests if not url.startswith(("file:", "data:"))] == []


@pytest.fixture(params=[375, 1280])
def opened(request: pytest.FixtureRequest, browser: Any, page: Path) -> Iterator[in_browser.Opened]:
    yield from opened_at(browser, page, request.param)


@pytest.fixture
def wide(browser: Any, page: Path) -> Iterator[in_browser.Opened]:
    yield from opened_at(browser, page, 1280)


SHOWN = "[...document.querySelectorAll('svg.duplex')].filter(s => s.checkVisibility())"
BOXES = f"""() => {SHOWN}.flatMap(
    s => [...s.querySelectorAll('text')].map(t => {{
        const b = t.getBBox();
        return [t.lastChild.textContent, b.x, b.y, b.x + b.width, b.y + b.height];
    }}))"""


def test_a_browser_shows_one_picture_runs_no_script_of_the_data_and_never_scrolls_sideways(
    opened: in_browser.Opened,
) -> None:
    width = opened.page.viewport_size["width"]
    assert opened.page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert opened.page.evaluate("typeof window.hacked") == "undefined"
    assert opened.page.evaluate(f"{SHOWN}.map(s => s.viewBox.baseVal.width)") == [360 if width == 375 else 1200]
    # Letters of 12 pixels are not drawn smaller than 11.
    scale = "s => s.getBoundingClientRect().width / s.viewBox.baseVal.width"
    assert opened.page.locator("svg.duplex:visible").evaluate(scale) > 11 / 12


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


def test_words_in_a_bar_stay_inside_it(wide: in_browser.Opened) -> None:
    script = """() => [...document.querySelectorAll('.timeline.wide text.inside')].map(t => {
        const bar = t.previousElementSibling.getBBox(), b = t.getBBox();
        return [t.textContent, b.x >= bar.x && b.x + b.width <= bar.x + bar.width];
    })"""
    found = wide.page.evaluate(script)
    assert len(found) >= 5
    assert [said for said, fits in found if not fits] == []


def test_the_cursor_follows_the_recording(wide: in_browser.Opened) -> None:
    pytest.importorskip("soundfile")
    line = wide.page.locator(".timeline.wide line.cursor").first
    assert line.evaluate("l => getComputedStyle(l).visibility") == "hidden"
    wide.page.locator("button.play").click()
    seek = "a => new Promise(done => { a.pause(); a.addEventListener('seeked', done); a.currentTime = 6; })"
    wide.page.locator("audio").evaluate(seek)
    assert line.evaluate("l => getComputedStyle(l).visibility") == "visible"
    # The interruption begins at 6 s: its bar and the line are at one place, but for the width of a line.
    bar = "[...document.querySelectorAll('.timeline.wide rect.user')][1].getBoundingClientRect().x"
    at = line.evaluate("l => { const b = l.getBoundingClientRect(); return (b.left + b.right) / 2; }")
    assert at == pytest.approx(wide.page.evaluate(bar), abs=2)


def test_the_speech_of_one_side_can_be_chosen(wide: in_browser.Opened) -> None:
    wide.page.locator(".tools select").select_option("agent")
    assert wide.page.locator("#speech-table tbody tr:visible").count() == 3


def test_colours_follow_the_scheme(wide: in_browser.Opened) -> None:
    card = "() => getComputedStyle(document.querySelector('rect.card')).fill"
    light = wide.page.evaluate(card)
    wide.page.emulate_media(color_scheme="dark")
    assert (light, wide.page.evaluate(card)) == ("rgb(255, 255, 255)", "rgb(28, 32, 36)")
