"""Pictures of a conversation: everything is where its time says, nothing is lost, and no text breaks them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from math import isfinite
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from turnwise.duplex.lanes import draw_text, overlaps, systems
from turnwise.duplex.marks import FIRST_RESPONSE, RESPONSE, STOP, Mark
from turnwise.duplex.picture import timeline_svg
from turnwise.duplex.records import BACKCHANNEL, INTERRUPTION, PAUSE, TURN, Label, Segment, Timeline
from turnwise.report.timeline import System, clock, levels, ticks

INJECTION = "</title></svg><script>window.hacked = 1</script> \"quoted\" & 'so on' ]]> \x00\x1b[31m"
SVG = "{http://www.w3.org/2000/svg}"
GUTTER = 7

TEN = Timeline(
    "ten",
    user=(Segment(2.0, 3.0, "wait"), Segment(6.0, 8.0, "three nights")),
    agent=(Segment(0.5, 2.4, "we have"), Segment(7.55, 9.05)),
    labels=(Label(2.0, 3.0, INTERRUPTION, "wait"),),
    words=(Segment(7.6, 7.8, "Fine,"), Segment(8.0, 8.3, "three."), Segment(9.5, 9.9, "elsewhere")),
    seconds=10.0,
    language="de",
    category="hotel",
    notes=("joined two segments",),
)


def hour() -> tuple[Timeline, list[Mark]]:
    """A turn every 10 s for an hour; two minutes of silence in it; a latency of 0.10 to 0.49 s after each turn."""
    turns = [t for t in range(0, 3600, 10) if not 1200 <= t < 1320]
    marks = [Mark(t + 3, t + 3 + 0.1 + t % 400 / 1000, RESPONSE, f"n{t}") for t in turns]
    user = tuple(Segment(t, t + 3) for t in turns)
    agent = tuple(Segment(mark.end, mark.end + 4) for mark in marks)
    return Timeline("hour", user, agent, tuple(Label(t, t + 3, TURN) for t in turns), seconds=3600), marks


# Arithmetic


def test_overlaps_are_where_both_speak() -> None:
    assert overlaps(TEN) == [Segment(2.0, 2.4), Segment(7.55, 8.0)]
    assert overlaps(Timeline("silent", user=None, agent=(Segment(0, 1),))) == []
    inside = Timeline("inside", user=(Segment(0, 10),), agent=(Segment(1, 2), Segment(3, 3), Segment(9, 12)))
    assert overlaps(inside) == [Segment(1, 2), Segment(9, 10)]


def test_a_short_conversation_is_one_row_and_a_long_one_has_equal_rows() -> None:
    assert systems(TEN, [], 20) == [System(0, 10, 10)]
    rows = systems(Timeline("t", user=(Segment(0, 35),), seconds=35), [], 20)
    assert [(row.start, row.end, row.scale) for row in rows] == [(0, 20, 20), (20, 35, 20)]


def test_what_lies_outside_the_recording_makes_the_picture_longer() -> None:
    timeline = Timeline("t", user=(Segment(-1, 1),), agent=(Segment(3, 7),), seconds=5)
    assert systems(timeline, [Mark(6, 8, STOP)], 20) == [System(-1, 8, 9)]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=30), st.integers(0, 5))
def test_spans_of_one_level_keep_the_gap(parts: list[tuple[int, int]], gap: int) -> None:
    spans = [(start, start + length) for start, length in parts]
    for level in set(found := levels(spans, gap)):
        own = sorted(span for span, at in zip(spans, found, strict=True) if at == level)
        assert all(right[0] - left[1] >= gap for left, right in pairwise(own))


def test_every_moment_is_in_exactly_one_row() -> None:
    timeline, marks = hour()
    rows = systems(timeline, marks, 20)
    for moment in (0.0, 19.999, 20.0, 1300.0, 3599.0, 3600.0):
        assert sum(row.shows(moment, moment) for row in rows) == 1


def test_times_are_told_in_seconds_and_in_a_long_conversation_in_minutes() -> None:
    told = [clock(2, 60), clock(0.25, 2), clock(62.5, 90), clock(5, 90), clock(3605, 3700), clock(-0.5, 90)]
    assert told == ["2 s", "0.25 s", "1:02.5", "0:05", "1:00:05", "-0:00.5"]
    assert ticks(System(0, 10, 10), 5) == [0, 2, 4, 6, 8, 10]
    assert ticks(System(20, 35, 20), 10) == [20, 22, 24, 26, 28, 30, 32, 34]
    assert ticks(System(0, 0.3, 0.3), 10) == [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]


# The terminal: 107 columns are 7 for the names and 100 for 10 s, so a column is 0.1 s and half of one 0.05 s


def lines_of(timeline: Timeline, *marks: Mark, width: int = 107, encoding: str = "utf-8") -> list[str]:
    drawn = draw_text(timeline, marks, width, encoding=encoding).splitlines()
    assert max(map(cell_len, drawn)) <= width
    return drawn


def lane(lines: list[str], name: str) -> str:
    found = next(line for line in lines if line.startswith(f"{name} "))
    return found[GUTTER:].ljust(100)


def test_a_lane_is_filled_where_there_is_speech() -> None:
    lines = lines_of(TEN)
    assert lane(lines, "user") == " " * 20 + "█" * 10 + " " * 30 + "█" * 20 + " " * 20
    # From 7.55 s, the middle of column 75, to 9.05 s, the middle of column 90.
    assert lane(lines, "agent") == " " * 5 + "█" * 19 + " " * 51 + "▐" + "█" * 14 + "▌" + " " * 9
    assert lane(lines, "both") == " " * 20 + "▒" * 4 + " " * 51 + "▒" * 5 + " " * 20


def test_a_bracket_spans_its_latency_and_says_number_kind_and_outcome() -> None:
    below = lines_of(TEN, Mark(2.0, 5.0, STOP, "yielded"))[-3]
    bracket = below[GUTTER + 20 :]
    assert below[: GUTTER + 20].strip() == ""
    assert re.fullmatch("├─+ stop 3.00 s yielded ─+┤", bracket)
    assert len(bracket) == 30


def test_words_stand_beside_a_bracket_that_is_too_narrow() -> None:
    lines = lines_of(TEN, Mark(2.0, 2.4, STOP, "yielded"), Mark(9.0, 9.5, RESPONSE))
    assert any(
        line[GUTTER:] == " " * 20 + "├──┤ stop 0.40 s yielded" + " " * 29 + " response 0.50 s ├───┤" for line in lines
    )


def test_an_answer_that_came_too_early_has_a_negative_number_and_another_line() -> None:
    below = next(line for line in lines_of(TEN, Mark(8.0, 7.55, RESPONSE)) if "response" in line)
    assert "response -0.45 s" in below
    assert below[GUTTER + 75 : GUTTER + 80] == "├╌╌╌┤"


def test_what_the_user_did_stands_above_the_lanes() -> None:
    lines = lines_of(TEN)
    above = lines[: next(n for n, line in enumerate(lines) if line.startswith("user"))]
    assert above[-1] == " " * (GUTTER + 20) + "┌────────┐ interruption"


def test_the_axis_names_round_moments_where_they_are() -> None:
    axis = lines_of(TEN)[2][GUTTER:]
    assert [(found.start(), found[1]) for found in re.finditer(r"╷(\d+ s)", axis)] == [
        (10 * n, f"{n} s") for n in range(10)
    ]


def test_the_head_and_the_notes_are_there() -> None:
    lines = lines_of(TEN)
    assert lines[0] == "ten  de, hotel, 10.0 s"
    assert lines[-1] == "note: joined two segments"


def test_a_mark_over_the_end_of_a_row_goes_on_in_the_next() -> None:
    timeline = Timeline("t", user=(Segment(0, 30),), agent=(), seconds=30)
    mark = Mark(12.0, 18.0, "first response delay", "long")
    drawn = [line[GUTTER:] for line in lines_of(timeline, mark, width=67) if "first response 6.00 s" in line]
    # 60 columns for 15 s: four columns a second.
    assert drawn[0].index("├") == 48
    assert drawn[0].rstrip().endswith("▸")
    assert drawn[1].startswith("◂")
    assert drawn[1].index("┤") == 11


def test_an_hour_keeps_its_scale_and_every_latency() -> None:
    timeline, marks = hour()
    text = draw_text(timeline, marks, 100)
    for mark in marks:
        assert f"response {mark.seconds:.2f} s {mark.note}" in text
    assert "20:00 to 22:00: nobody speaks" in text
    # 93 columns show 20 s, so 3 s are 14 columns, give or take what is cut at its ends.
    longest = max(
        len(run) for line in text.splitlines() if line.startswith("user") for run in re.findall("[█▌▐]+", line)
    )
    assert longest == pytest.approx(3 * 93 / 20, abs=1.1)
    assert max(map(cell_len, text.splitlines())) <= 100


def test_marks_that_do_not_fit_are_numbered_and_the_legend_lists_every_one() -> None:
    marks = [Mark(5.0, 5.0 + n / 100, STOP, f"outcome{n}") for n in range(40)]
    lines = lines_of(TEN, *marks)
    legend = [line.strip() for line in lines if "outcome" in line]
    assert legend == [f"[{n + 1}] stop {n / 100:.2f} s outcome{n}, at 5 s" for n in range(40)]
    brackets = " ".join(line for line in lines if "outcome" not in line)
    assert all(f"[{n + 1}]" in brackets for n in range(40))


def test_words_too_long_for_the_line_go_to_the_legend_whole() -> None:
    note = "an outcome of so many words that no line of sixty columns can hold them beside a bracket"
    lines = lines_of(TEN, Mark(2.0, 3.0, STOP, note), width=60)
    assert f"[1] stop 1.00 s {note}, at 2 s" in " ".join(" ".join(lines).split())


def test_wide_characters_take_two_columns() -> None:
    timeline = Timeline("会話", user=(), agent=(), seconds=10, labels=(Label(1, 1.5, "打断"), Label(4, 4.5, "附和")))
    above = next(line for line in lines_of(timeline) if "打断" in line)
    # In columns, not in characters: 打断 is two characters and four columns.
    assert [cell_len(above[: found.start()]) for found in re.finditer("┌", above)] == [GUTTER + 10, GUTTER + 40]


def test_ascii_where_the_encoding_has_no_blocks() -> None:
    timeline = Timeline("Gespräch", TEN.user, TEN.agent, TEN.labels, tool_calls=(4.0,), seconds=10)
    marks = (Mark(2.0, 5.0, STOP, "yielded"), Mark(8.0, 7.0, RESPONSE))
    assert draw_text(timeline, marks, 107, encoding="ascii").isascii()
    lines = lines_of(timeline, *marks, encoding="latin-1")
    assert lines[0].startswith("Gespräch")
    assert lane(lines, "user") == " " * 20 + "#" * 10 + " " * 30 + "#" * 20 + " " * 20
    assert lane(lines, "both")[20:24] == "xxxx"
    assert lane(lines, "tools").index("*") == 40
    assert any("|........|" in line for line in lines)


def test_colour_adds_nothing_but_colour() -> None:
    timeline, marks = hour()
    coloured = draw_text(timeline, marks[:50], 90, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == draw_text(timeline, marks[:50], 90)


def test_text_of_the_data_cannot_move_the_cursor() -> None:
    timeline = Timeline(INJECTION, (Segment(0, 1, INJECTION),), (), (Label(0, 1, INJECTION),), notes=(INJECTION,))
    assert "\x1b" not in draw_text(timeline, [Mark(0, 1, INJECTION, INJECTION)], 80)


@pytest.mark.parametrize(("terminal", "widest"), [(20, 60), (100, 100), (400, 160)])
def test_without_a_width_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch, terminal: int, widest: int) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((terminal, 30)))
    timeline = Timeline("t", user=(Segment(0, 100),), agent=(), seconds=100)
    assert max(map(len, draw_text(timeline, []).splitlines())) == widest


# SVG: the bed of a lane is its whole row, so shares of it are shares of the row's time


def parsed(timeline: Timeline, *marks: Mark, **options: Any) -> ET.Element:
    return ET.fromstring(timeline_svg(timeline, marks, **options))


def having(root: ET.Element, tag: str, style: str) -> list[ET.Element]:
    return [one for one in root.iter(f"{SVG}{tag}") if style in one.get("class", "").split()]


def shares(root: ET.Element, rect: ET.Element) -> tuple[float, float]:
    """The ends of a rectangle as shares of the first row's width."""
    left, width = (float(having(root, "rect", "bed")[0].get(name, "")) for name in ("x", "width"))
    x, wide = float(rect.get("x", "")), float(rect.get("width", ""))
    return (x - left) / width, (x + wide - left) / width


def bracket_ends(path: ET.Element) -> tuple[float, float]:
    """The x of a bracket's first and last point."""
    d = path.get("d", "")
    return float(re.findall(r"M([\d.]+)", d)[0]), float(re.findall(r"H([\d.]+)", d)[0])


def words_of(root: ET.Element) -> list[str]:
    """What can be read in the picture, without tooltips."""
    return ["".join([one.text or "", *(child.tail or "" for child in one)]) for one in root.iter(f"{SVG}text")]


def test_bars_lie_at_the_share_of_their_time() -> None:
    root = parsed(TEN)
    for name, side in (("user", TEN.user), ("agent", TEN.agent)):
        found = [shares(root, rect) for rect in having(root, "rect", name)]
        assert found == [pytest.approx((one.start / 10, one.end / 10), abs=0.0005) for one in side or ()]


def test_an_overlap_is_a_rectangle_over_both_lanes() -> None:
    root = parsed(TEN)
    found = having(root, "rect", "both")[1:]  # the first is the legend's
    assert [shares(root, one) for one in found] == [
        pytest.approx((0.2, 0.24), abs=0.0005),
        pytest.approx((0.755, 0.8), abs=0.0005),
    ]
    lanes = [float(rect.get("y", "")) for rect in having(root, "rect", "bed")]
    height = float(having(root, "rect", "bed")[0].get("height", ""))
    for one in found:
        top = float(one.get("y", ""))
        assert top < lanes[0]
        assert top + float(one.get("height", "")) > lanes[1] + height


def test_a_bracket_lies_at_the_share_of_its_latency() -> None:
    root = parsed(TEN, Mark(2.0, 3.0, STOP, "yielded"))
    *guides, path = having(root, "path", "stop")
    assert all("guide" in guide.get("class", "") for guide in guides)
    left, width = (float(having(root, "rect", "bed")[0].get(name, "")) for name in ("x", "width"))
    assert bracket_ends(path) == pytest.approx((left + 0.2 * width, left + 0.3 * width), abs=0.1)
    assert "stop 1.00 s yielded" in words_of(root)


def test_an_early_answer_is_drawn_backwards_dashed_and_negative() -> None:
    root = parsed(TEN, Mark(8.0, 7.5, RESPONSE, "too_early"))
    (path,) = having(root, "path", "early")[1:]  # the first is the legend's
    left, width = (float(having(root, "rect", "bed")[0].get(name, "")) for name in ("x", "width"))
    assert bracket_ends(path) == pytest.approx((left + 0.75 * width, left + 0.8 * width), abs=0.1)
    assert "response -0.50 s too_early" in words_of(root)
    assert not having(parsed(TEN, Mark(7.5, 8.0, RESPONSE)), "path", "early")


def test_a_long_conversation_has_rows_of_one_scale_and_loses_nothing() -> None:
    timeline, marks = hour()
    root = parsed(timeline, *marks)
    beds = having(root, "rect", "bed")
    assert {bed.get("width") for bed in beds} == {beds[0].get("width")}
    # 20 s a row are 180 rows; from 1200 to 1320 s there is nothing in 6 of them. Two lanes each.
    assert len(beds) == 2 * (180 - 6)
    pixels = float(beds[0].get("width", "")) / 20
    assert pixels * 0.1 > 5
    said = words_of(root)
    assert all(f"response {mark.seconds:.2f} s {mark.note}" in said for mark in marks)
    seconds = sum(float(rect.get("width", "")) for rect in having(root, "rect", "user")) / pixels
    assert seconds == pytest.approx(3 * len(marks), rel=0.001)


def test_a_bracket_over_two_rows_is_open_where_it_was_cut() -> None:
    timeline = Timeline("t", user=(Segment(0, 40),), agent=(), seconds=40)
    root = parsed(timeline, Mark(15.0, 25.0, STOP))
    paths = having(root, "path", "bracket")
    assert [re.sub(r"[\d. ]", "", path.get("d", "")) for path in paths] == ["MVH", "MHV"]
    # At three quarters of the first 20 s and a quarter of the next; none where a row ends.
    left, width = (float(having(root, "rect", "bed")[0].get(name, "")) for name in ("x", "width"))
    guides = [float(re.findall(r"M([\d.]+)", path.get("d", ""))[0]) for path in having(root, "path", "guide")]
    assert guides == pytest.approx([left + 0.75 * width, left + 0.25 * width], abs=0.1)


def test_brackets_at_one_moment_stand_on_levels_of_their_own() -> None:
    marks = [Mark(5.0, 5.3, STOP, f"n{n}") for n in range(30)]
    root = parsed(TEN, *marks)
    heights = [re.findall(r"V([\d.]+)H", path.get("d", ""))[0] for path in having(root, "path", "bracket")]
    assert len(set(heights[1:])) == 30  # the first is the label's
    tall = float(root.get("height", ""))
    assert all(float(one.get("y", "")) < tall for one in root.iter(f"{SVG}text"))


def test_labels_and_texts_are_shown() -> None:
    timeline = Timeline(
        "t", TEN.user, TEN.agent, (*TEN.labels, Label(6, 8, BACKCHANNEL, directed=True)), words=TEN.words
    )
    root = parsed(timeline)
    assert {"interruption", "backchannel (directed)"} <= set(words_of(root))
    titles = [one.text or "" for one in root.iter(f"{SVG}title")]
    assert "user, 2.00 to 3.00 s (1.00 s): wait" in titles
    assert "agent, 7.55 to 9.05 s (1.50 s): Fine, three." in titles  # from the words that begin in the segment


def test_the_picture_stands_alone_and_says_what_it_is() -> None:
    source = timeline_svg(TEN, [Mark(2.0, 2.4, STOP, "yielded")])
    root = ET.fromstring(source)
    assert root.get("role") == "img"
    # 1.0 + 2.0, 1.9 + 1.5 and 0.4 + 0.45 s.
    said = "the user speaks for 3.0 s, the agent speaks for 3.4 s, both at once for 0.9 s, stop 0.40 s yielded"
    assert root.get("aria-label") == f"Conversation ten: {said}"
    assert root[0].tag == f"{SVG}title"
    assert "prefers-color-scheme:dark" in source
    assert not re.search(r"<script|href|url\(|@import|\son\w+=", source)
    assert {"ten", "de, hotel, 10.0 s", "note: joined two segments"} <= set(words_of(root))


def test_no_text_of_the_data_becomes_markup() -> None:
    timeline = Timeline(
        INJECTION,
        user=(Segment(0, 9, INJECTION),),
        agent=(Segment(1, 9, INJECTION),),
        labels=(Label(0, 9, INJECTION, INJECTION),),
        seconds=10,
        language=INJECTION,
        metadata={"a": INJECTION},
        notes=(INJECTION,),
    )
    marks = (Mark(1, 2, INJECTION, INJECTION),)
    tags = {one.tag.removeprefix(SVG) for one in parsed(timeline, *marks).iter()}
    assert tags <= {"svg", "title", "style", "rect", "path", "text", "polygon", "g"}
    assert "\x1b" not in timeline_svg(timeline, marks)


def test_a_narrow_picture_has_more_rows_and_stays_narrow() -> None:
    root = parsed(TEN, Mark(2.0, 2.4, STOP, "yielded"), width=360)
    assert root.get("viewBox", "").split()[2] == "360"
    assert len(having(root, "rect", "bed")) == 2 * 2
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("x", "0")) + float(rect.get("width", "")) <= 360


def test_rows_carry_their_time_for_a_cursor_only_in_a_page() -> None:
    timeline = Timeline("t", user=(Segment(0, 35),), agent=(), seconds=35)
    assert not list(parsed(timeline).iter(f"{SVG}line"))
    lines = list(parsed(timeline, bare=True).iter(f"{SVG}line"))
    assert [(line.get("data-from"), line.get("data-to")) for line in lines] == [
        ("0.000", "20.000"),
        ("20.000", "35.000"),
    ]
    first, second = (float(line.get("data-length", "")) for line in lines)
    assert second / first == pytest.approx(15 / 20, abs=0.001)


# Awkward conversations, in both


def awkward() -> Iterator[tuple[Timeline, list[Mark]]]:
    yield Timeline("nothing known"), []
    yield Timeline("nobody speaks", user=(), agent=(), seconds=5), []
    yield Timeline("an empty hour", user=(), agent=(), seconds=3600), []
    yield Timeline("no agent", user=(Segment(0, 1),), agent=None, seconds=2), [Mark(1, 2, RESPONSE, "no_answer")]
    yield Timeline("no length", user=(Segment(1, 1),), agent=(Segment(2, 2),), labels=(Label(1, 1, PAUSE),)), []
    yield Timeline("beyond", user=(Segment(4, 9),), agent=(Segment(8, 12),), seconds=5), [Mark(9, 15, STOP)]
    yield Timeline("tiny", user=(Segment(0, 0.001),), agent=(Segment(0.001, 0.002),)), [Mark(0.001, 0.001, STOP)]
    yield Timeline("before", user=(Segment(-2, -1),), agent=(), seconds=100), [Mark(-2, 90, FIRST_RESPONSE)]
    yield Timeline("never ends", user=(Segment(0, 1),), agent=()), [Mark(0.5, float("inf"), STOP, "never_stopped")]
    yield (
        Timeline("at the end", user=(Segment(60, 60),), agent=(), seconds=60, tool_calls=(60.0,)),
        [Mark(60, 60, STOP)],
    )
    many = tuple(Segment(n / 2, n / 2 + 0.3) for n in range(900))
    yield (
        Timeline("many", many, many, tuple(Label(*one[:2], TURN) for one in many)),
        [Mark(n, n + 1, STOP) for n in range(450)],
    )


@pytest.mark.parametrize(("timeline", "marks"), list(awkward()), ids=lambda one: getattr(one, "key", ""))
def test_awkward_conversations_are_drawn(timeline: Timeline, marks: list[Mark]) -> None:
    for width in (60, 83, 160):
        lines = lines_of(timeline, *marks, width=width)
        assert lines[0].startswith(timeline.key)
    root = parsed(timeline, *marks)
    for rect in root.iter(f"{SVG}rect"):
        assert 0 < float(rect.get("width", "")) < 1201
    numbers = [number for path in root.iter(f"{SVG}path") for number in re.findall(r"[^MVHh ]+", path.get("d", ""))]
    assert all(isfinite(float(number)) for number in numbers)
    said = words_of(root)
    assert all(any(word.startswith(mark.kind.split()[0]) for word in said) for mark in marks)


def test_an_empty_lane_says_why() -> None:
    timeline = Timeline("t", user=None, agent=(), seconds=5)
    lines = lines_of(timeline)
    assert lane(lines, "user").strip() == "not known: it has to be heard in the audio"
    assert lane(lines, "agent").strip() == "no speech"
    assert {"not known: it has to be heard in the audio", "no speech"} <= set(words_of(parsed(timeline)))


moments = st.floats(-5, 400, allow_nan=False).map(lambda x: round(x, 3))


@settings(max_examples=40)
@given(st.lists(st.tuples(moments, moments), max_size=20), st.integers(60, 160))
def test_every_latency_is_in_both_pictures(pairs: list[tuple[float, float]], width: int) -> None:
    marks = [Mark(start, end, STOP, f"m{n}m") for n, (start, end) in enumerate(pairs)]
    timeline = Timeline("t", user=(Segment(0, 1),), agent=(Segment(2, 3),), seconds=60)
    drawn, said = draw_text(timeline, marks, width), words_of(parsed(timeline, *marks))
    for mark in marks:
        assert f"stop {mark.seconds:.2f} s {mark.note}" in drawn
        assert f"stop {mark.seconds:.2f} s {mark.note}" in said
