"""A call as SVG: everything is where its time says, a turn has one colour, nothing is lost, and no text breaks it."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tests.interpreting.drawn import (
    ANSWER,
    CONTENT,
    CORRECTION,
    INJECTION,
    MIXED,
    PAIR,
    STATEMENT,
    TEXT_ONLY,
    Json,
    call,
    lines_of,
    quiet_call,
)
from turnwise.interpreting.drawing import DrawnCall, drawn_call
from turnwise.interpreting.lanes import draw_text
from turnwise.interpreting.picture import CUTOFF, TURN_COLOURS, timeline_svg
from turnwise.report.timeline_svg import COLOURS

SVG = "{http://www.w3.org/2000/svg}"


# SVG: the bed of a lane is its whole row, so shares of it are shares of the row's time


def parsed(drawn: DrawnCall, **options: Any) -> ET.Element:
    return ET.fromstring(timeline_svg(drawn, **options))


def having(root: ET.Element, tag: str, style: str) -> list[ET.Element]:
    return [one for one in root.iter(f"{SVG}{tag}") if style in one.get("class", "").split()]


def bed(root: ET.Element) -> tuple[float, float]:
    """Left edge and width of the first lane."""
    first = having(root, "rect", "bed")[0]
    return float(first.get("x", "")), float(first.get("width", ""))


def spans(root: ET.Element, style: str) -> list[tuple[float, float]]:
    """From when to when the bars of a turn are, in a picture of ten seconds in one row; without the legend's."""
    left, width = bed(root)
    bars = [(float(one.get("x", "")), float(one.get("width", ""))) for one in having(root, "rect", style)]
    kept = bars[1:] if style in ("turn0", "turn1") else bars
    return [((x - left) / width * 10, (x + wide - left) / width * 10) for x, wide in kept]


def words_of(root: ET.Element) -> list[str]:
    """What can be read in the picture, without tooltips."""
    return ["".join([one.text or "", *(child.tail or "" for child in one)]) for one in root.iter(f"{SVG}text")]


def test_a_turn_and_its_translation_have_one_colour_and_lie_where_their_times_are() -> None:
    root = parsed(call())
    assert spans(root, "turn0") == [pytest.approx((1, 3), abs=0.01), pytest.approx((2, 4.45), abs=0.01)]
    assert spans(root, "turn1") == [pytest.approx((4, 6), abs=0.01), pytest.approx((5.2, 8), abs=0.01)]
    assert spans(root, "turn2") == [pytest.approx((8.5, 9.5), abs=0.01)]
    assert {"1 My left knee hurts.", "2 Nein, das rechte.", "3 I see.", "nothing came"} <= set(words_of(root))


def test_the_line_and_the_brackets_lie_where_their_times_are() -> None:
    root = parsed(call())
    left, width = bed(root)
    line = having(root, "path", "begin")[1]  # the first is the legend's
    assert float(re.findall(r"M([\d.]+)", line.get("d", ""))[0]) == pytest.approx(left + 0.4 * width, abs=0.1)
    assert "barge-in, self correction: 94.2" in words_of(root)
    (cutoff,), (response,) = (
        [one for one in having(root, "path", style) if "bracket" in one.get("class", "")]
        for style in ("cutoff", "light")
    )
    for path, end, said in ((cutoff, 4.45, "cutoff 450 ms"), (response, 5.2, "response 1200 ms")):
        d = path.get("d", "")
        ends = float(re.findall(r"M([\d.]+)", d)[0]), float(re.findall(r"H([\d.]+)", d)[0])
        assert ends == pytest.approx((left + 0.4 * width, left + end / 10 * width), abs=0.1)
        assert said in words_of(root)
    heights = [float(re.findall(r"V([\d.]+)H", path.get("d", ""))[0]) for path in (cutoff, response)]
    assert heights[0] < heights[1]


def test_words_of_the_barge_in_and_of_the_turns_stand_below_unless_a_page_has_them() -> None:
    said = words_of(parsed(call(MIXED)))
    assert {
        "came: No, the [Left] one [hurts]: right.",
        "self correction, score 29.0: Very poor barge-in handling",
    } <= set(said)
    assert not any("came: " in one for one in words_of(parsed(call(MIXED), bare=True)))


def test_text_only_is_drawn_as_thin_lines() -> None:
    root = parsed(call(turns=TEXT_ONLY))
    assert [len(having(root, "rect", style)) for style in ("turn0", "turn1")] == [2, 2]  # legend and speech
    left, width = bed(root)
    for style, times in (("turn0", (2.0, 2.6)), ("turn1", (5.2, 5.9))):
        (path,) = [one for one in having(root, "path", style) if "arrived" in one.get("class", "")]
        ticks = [float(x) for x in re.findall(r"M([\d.]+) \d+v", path.get("d", ""))]
        assert ticks == pytest.approx([left + moment / 10 * width for moment in times], abs=0.1)
    assert "text arrives, nothing is heard" in words_of(root)


def test_a_long_call_has_rows_and_loses_nothing() -> None:
    shift = ("start_ms", "end_ms")
    turns: list[Json] = []
    for n in range(12):
        late = {key: STATEMENT[key] + 10_000 * n for key in shift}
        heard = [[start + 10_000 * n, end + 10_000 * n] for start, end in STATEMENT["audible"]]
        turns.append({**STATEMENT, **late, "turn_id": f"t{n}", "audible": heard})
    root = parsed(quiet_call(turns=turns, ended_ms=125_000.0))
    # 20 s a row are 7 rows, with nothing in the last of them; two lanes each.
    beds = having(root, "rect", "bed")
    assert len(beds) == 2 * 6
    assert "2:00 to 2:05: nobody speaks" in words_of(root)
    pixels = float(beds[0].get("width", "")) / 20
    bars = [one for n in range(5) for one in having(root, "rect", f"turn{n}") if one.get("rx")]
    # Twelve turns of 2 s, whose translation is heard for 2.45 s.
    assert sum(float(one.get("width", "")) for one in bars) / pixels == pytest.approx(12 * 4.45, rel=0.001)
    assert sum("My left knee hurts." in one for one in words_of(root)) >= 12


def test_the_picture_stands_alone_and_says_what_it_is() -> None:
    source = timeline_svg(call())
    root = ET.fromstring(source)
    assert root.get("role") == "img"
    # 2.0 + 2.0 and 2.45 + 2.8 s; 1.0 s and nothing.
    assert root.get("aria-label") == (
        "Call knee: patient speaks for 4.0 s and the translation is heard for 5.2 s; doctor speaks for 1.0 s and the "
        "translation is heard for 0.0 s; barge-in, self correction: 94.2, cutoff 450 ms, response 1200 ms"
    )
    assert "prefers-color-scheme:dark" in source
    assert not re.search(r"<script|href|url\(|@import|\son\w+=", source)


def test_no_text_of_the_data_becomes_markup_or_moves_the_cursor() -> None:
    texts = dict.fromkeys(("turn_id", "participant_id", "source_text", "expected_text", "text"), INJECTION)
    content = {"scenario_id": INJECTION, "description": INJECTION, "protocol": INJECTION, "notes": [INJECTION]}
    facts = {"kind": INJECTION, "interpretation": INJECTION, "reason": INJECTION, "caps": [INJECTION]}
    ids = {"previous_turn_id": INJECTION, "barge_in_turn_id": INJECTION}
    evidence = {"mixing_evidence": [{"turn_id": INJECTION, "words": [0, 2], "text": INJECTION}]}
    turns = [{**one, **texts} for one in (STATEMENT, CORRECTION, ANSWER)]
    drawn = call({**PAIR, **facts, **ids, **evidence}, key=INJECTION, turns=turns, ended_early=INJECTION, **content)
    tags = {one.tag.removeprefix(SVG) for one in parsed(drawn).iter()}
    assert tags <= {"svg", "title", "style", "rect", "path", "text"}
    assert "\x1b" not in timeline_svg(drawn) + draw_text(drawn, 90)


AWKWARD: dict[str, Json] = {
    "nothing": {"turns": [], "ended_ms": None},
    "nobody spoke": {"turns": []},
    "no end": {"turns": [{key: value for key, value in STATEMENT.items() if key != "end_ms"}], "ended_ms": None},
    "no length": {"turns": [{**STATEMENT, "end_ms": 1000.0, "audible": [[2000.0, 2000.0]]}]},
    "ends first": {"turns": [{**STATEMENT, "end_ms": 900.0}], "ended_ms": 500.0},
    "an hour later": {"turns": [STATEMENT, {**ANSWER, "start_ms": 3_600_000.0, "end_ms": 3_601_000.0}]},
    "long name": {"turns": [{**STATEMENT, "participant_id": "the clinic's interpreter's colleague"}]},
    "wide name": {"turns": [{**STATEMENT, "participant_id": "医院的病人医院的病人", "text": "我的左膝盖疼" * 20}]},
    "many": {
        "turns": [
            {**STATEMENT, "turn_id": f"t{n}", "start_ms": 100.0 * n, "end_ms": 100.0 * n + 3000} for n in range(60)
        ]
    },
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_calls_are_drawn(name: str) -> None:
    content = AWKWARD[name]
    for drawn in (quiet_call(**content), drawn_call("knee", {**CONTENT, **content}, None)):
        for width in (60, 83, 160):
            assert lines_of(drawn, width)[0].startswith("knee")
        for width in (360, 1200):
            root = parsed(drawn, width=width)
            assert all(0 < float(rect.get("width", "")) <= width for rect in root.iter(f"{SVG}rect"))
            drawings = "".join(path.get("d", "") for path in root.iter(f"{SVG}path"))
            assert all(isfinite(float(number)) for number in re.findall(r"[^MVHmvh ]+", drawings))
        said = draw_text(drawn, 100)
        assert all(f"{turn.number} {turn.id}, " in said for turn in drawn.turns)


# Colours


def linear(colour: str) -> Any:
    """Of sRGB, as IEC 61966-2-1 defines it."""
    channels = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""
    dark, light = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


MACHADO = {
    "all colours": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""What is seen of linear colours: Machado, Oliveira and Fernandes (2009), full severity."""
XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def lab(colour: str, eyes: str) -> Any:
    """CIELAB of what is seen, under D65."""
    xyz = np.array(XYZ) @ np.clip(np.array(MACHADO[eyes]) @ linear(colour), 0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_read_and_told_apart(scheme: int) -> None:
    turns = [pair[scheme] for pair in TURN_COLOURS]
    for colour in turns:
        assert contrast(colour, COLOURS["inside"][scheme]) >= 4.5
        assert contrast(colour, COLOURS["bed"][scheme]) >= 3
    assert contrast(CUTOFF[scheme], COLOURS["card"][scheme]) >= 4.5
    for eyes in MACHADO:
        seen = [lab(colour, eyes) for colour in turns]
        apart = [float(np.linalg.norm(a - b)) for n, a in enumerate(seen) for b in seen[:n]]
        assert min(apart) >= 19, eyes  # a difference of 2.3 can just be noticed
