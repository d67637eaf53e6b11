"""Turnwise's own format: lossless, checked, and fast enough for many conversations."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.duplex.writing import audio, lines, text
from turnwise.duplex import categories
from turnwise.duplex.read import read_conversations
from turnwise.duplex.records import INTERRUPTION, KINDS, NOISE, Label, Segment, Timeline
from turnwise.duplex.timeline_json import as_json, from_json
from turnwise.kernel.errors import InputError, TurnwiseError

WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
MOMENTS = st.floats(0, 1e6, allow_nan=False)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1).filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def speech(draw: st.DrawFn) -> tuple[Segment, ...]:
    """Stretches in order, none empty; they may touch."""
    moments = sorted(set(draw(st.lists(MOMENTS, max_size=8))))
    return tuple(Segment(a, b, draw(WORDS)) for a, b in zip(moments[::2], moments[1::2], strict=False))


@st.composite
def spans(draw: st.DrawFn) -> tuple[float, float]:
    a, b = sorted([draw(MOMENTS), draw(MOMENTS)])
    return a, b


SEGMENTS = st.lists(st.builds(lambda span, words: Segment(*span, words), spans(), WORDS), max_size=3).map(tuple)
LABELS = st.builds(
    lambda span, kind, words, directed: Label(*span, kind, words, directed),
    *(spans(), st.sampled_from(KINDS), WORDS, st.booleans()),
)
TIMELINES = st.builds(
    Timeline,
    key=NAMES,
    user=st.none() | speech(),
    agent=st.none() | speech(),
    labels=st.lists(LABELS, max_size=3).map(tuple),
    sentences=st.none() | SEGMENTS,
    words=st.none() | SEGMENTS,
    behaviour=st.none() | st.sampled_from(categories.LABELS),
    tool_calls=st.lists(MOMENTS, max_size=3).map(tuple),
    tick=st.none() | MOMENTS,
    seconds=st.none() | MOMENTS,
    language=st.none() | WORDS,
    category=st.none() | WORDS,
    metadata=st.dictionaries(WORDS, WORDS, max_size=3),
    audio=st.lists(NAMES.map(Path), max_size=2).map(tuple),
    detected=st.booleans(),
    notes=st.lists(WORDS, max_size=3).map(tuple),
    context=st.dictionaries(WORDS, JSON, max_size=3),
)


@given(TIMELINES)
def test_nothing_is_lost_on_the_way_through_json(timeline: Timeline) -> None:
    value = as_json(timeline)
    assert from_json(value, "here") == timeline
    assert from_json(json.loads(json.dumps(value)), "here") == timeline


def test_a_line_with_every_field(tmp_path: Path) -> None:
    audio(tmp_path / "sound" / "a.wav", [(0, 1)], [(1, 2)])
    row = {
        "key": 7,
        "language": "zh-CN",
        "category": "pause_handling",
        "user": [[0, 1], {"start": 2.5, "end": 3, "text": "hi"}, [4, 5, "yes"]],
        "agent": None,
        "labels": [{"start": 0, "end": 1, "label": "Barge-in", "text": "no"}],
        "words": [[1, 1]],
        "sentences": [{"start": 0, "end": 1}],
        "behaviour": "C_RESPOND",
        "audio": "sound/a.wav",
        "seconds": 9,
        "tool_calls": [1, 2.5],
        "metadata": {"model": "m", "size": 7},
        "noise_level": 3,
    }
    (timeline,) = read_conversations(lines(tmp_path / "a.jsonl", row))
    assert timeline == Timeline(
        key="7",
        language="cn",
        category="Pause Handling",
        user=(Segment(0.0, 1.0), Segment(2.5, 3.0, "hi"), Segment(4.0, 5.0, "yes")),
        labels=(Label(0.0, 1.0, INTERRUPTION, "no"),),
        words=(Segment(1.0, 1.0),),
        sentences=(Segment(0.0, 1.0),),
        behaviour="C_RESPOND",
        audio=(tmp_path / "sound" / "a.wav",),
        seconds=9.0,
        tool_calls=(1.0, 2.5),
        metadata={"model": "m", "size": "7", "noise_level": "3"},
    )


def test_conversations_in_memory_and_in_a_file_are_the_same(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"key": key, "user": [[0, 1]], "agent": []} for key in "cab"]
    path = lines(tmp_path / "x.jsonl", *rows)
    path.write_bytes(b"\xef\xbb\xbf\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    held, filed = read_conversations(rows), read_conversations(path)
    assert list(held) == list(filed) == list(filed)
    assert [timeline.key for timeline in filed] == ["a", "b", "c"]
    assert [name for name, _ in held.fingerprint_parts()] == ["a", "b", "c"]


def test_large_files_are_read_again_rather_than_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, keys in (("x", "db"), ("y", "ca")):
        lines(tmp_path / f"{name}.jsonl", *({"key": key, "user": [[0, 1]], "agent": []} for key in keys))
    kept = list(read_conversations(tmp_path))
    monkeypatch.setattr("turnwise.duplex.formats.timelines.KEPT", 0)
    assert list(read_conversations(tmp_path)) == kept
    assert [timeline.key for timeline in kept] == ["a", "b", "c", "d"]


def test_what_is_missing_or_out_of_order_is_noted() -> None:
    rows = [
        {"key": "a", "user": [[2, 3], [0, 1], [0.5, 1.5]]},
        {"key": "b", "words": [[0, 1, "x"], [1.5, 2, "y"]], "labels": [[0, 1]]},
        {"key": "c", "user": [], "agent": [[1, 1], [2, 3]], "labels": []},
        {"key": "d", "words": [[0, 1, "x"], [1.5, 2, "y"]]},
    ]
    found = read_conversations(rows)
    a, c, d = found
    assert (a.user, a.agent) == ((Segment(0.0, 1.5), Segment(2.0, 3.0)), ())
    assert a.notes == (
        "speech of the user was not in order and was sorted",
        "overlapping speech of the user was joined",
        "speech of the agent is not given",
    )
    assert (c.agent, c.notes) == ((Segment(2.0, 3.0),), ("speech of the agent without any length was left out",))
    assert (d.user, d.agent) == ((), (Segment(0.0, 2.0, "x y"),))
    counts = {one.message: one.count for one in found.findings}
    assert counts["speech of the user is not given: d"] == 1
    assert counts["left out, a label has the wrong type: data[1], labels[0] ([0, 1])"] == 1


WRONG: dict[str, list[Any]] = {
    "key": [None, "", "  ", 1.5, True, ["a"], "a\x00"],
    "user": [5, "x", {"a": 1}, [5], [[1]], [[2, 1]], [[-1, 1]], [["0", 1]], [[0, True]], [{"start": 0}], [[0, 1, 5]]],
    "agent": [[{"start": 0, "end": 1, "txt": "hi"}], [[0, 1, "a", "b"]], [None]],
    "labels": [
        5,
        [5],
        [[0, 1, "noise"]],
        [{"start": 0, "end": 1}],
        [{"start": 0, "end": 1, "label": "nois"}],
        [{"start": 0, "end": 1, "label": ["noise"]}],
    ],
    "words": [5, [[0, None]]],
    "sentences": [[[3, 2]]],
    "tool_calls": [5, ["x"], [-1]],
    "behaviour": [5, ["C_RESPOND"]],
    "language": [5],
    "category": [["x"]],
    "seconds": ["9", -1, True],
    "audio": [5, [5], ["a", "b", "c"], [""]],
    "metadata": [5, {"a": [1]}],
    "detected": ["no"],
    "notes": [5, [5]],
    "context": [5],
    "lables": [[]],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, given in WRONG.items() for value in given])
def test_a_wrong_value_leaves_one_line_out(tmp_path: Path, field: str, value: Any) -> None:
    good = {"key": "good", "user": [[0, 1]], "agent": []}
    path = lines(tmp_path / "a.jsonl", good, {**good, "key": "bad", field: value})
    found = read_conversations(path)
    assert [timeline.key for timeline in found] == ["good"]
    (skipped,) = found.findings
    assert (skipped.check, skipped.count) == ("skipped", 1)
    assert "line 2" in skipped.message
    with pytest.raises(TurnwiseError):
        read_conversations([{**good, "key": "bad", field: value}])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"key": "b", "user": [[0, 1', "it ends in the middle of a JSON value"),
        (b"{'key': 'b'}", "this is not JSON"),
        (b'{"key": "b", "user": [[0, NaN]]}', "this is not JSON"),
        (b'{"key": "b", "user": [[0, 1e999]]}', "this is not JSON"),
        (b"[1]", "the conversation has the wrong type"),
        (b"\xff\xfe\x00", "this is not UTF-8 text"),
    ],
)
def test_a_broken_line_is_left_out_and_named(tmp_path: Path, line: bytes, what: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"key": "a", "user": [[0, 1]], "agent": []}\n' + line)
    found = read_conversations(path)
    assert len(found) == 1
    (skipped,) = found.findings
    assert skipped.message.startswith(f"left out, {what}: ")
    assert "line 2" in skipped.message


def test_errors_and_near_misses() -> None:
    with pytest.raises(InputError, match="the same key stands twice"):
        read_conversations([{"key": "a", "user": [], "agent": []}] * 2)
    with pytest.raises(TurnwiseError, match="did you mean interruption"):
        from_json({"key": "a", "labels": [{"start": 0, "end": 1, "label": "interuption"}]}, "x")
    with pytest.raises(TurnwiseError, match=r"unknown field 'lables'(.|\n)*did you mean labels"):
        from_json({"key": "a", "lables": []}, "x")
    for wrong in (float("inf"), float("nan")):
        with pytest.raises(InputError, match="end is no finite number"):
            from_json({"key": "a", "user": [[0.0, wrong]]}, "x")
    with pytest.raises(InputError, match="there is no conversation"):
        read_conversations([])
    with pytest.raises(InputError, match=r"none of the 2 conversations(.|\n)*key is missing"):
        read_conversations([{}, {}])
    assert from_json({"key": "a", "labels": [{"start": 0, "end": 1, "label": "noise"}]}, "x").labels[0].kind == NOISE


def test_a_mono_file_has_no_two_sides(tmp_path: Path) -> None:
    audio(tmp_path / "a.wav")
    with pytest.raises(InputError, match=r"has to be stereo(.|\n)*a.wav"):
        read_conversations(lines(tmp_path / "a.jsonl", {"key": "a", "audio": ["a.wav"]}))


def test_ten_thousand_conversations_are_read_in_a_moment(tmp_path: Path) -> None:
    row = '{{"key":"{}","user":[{}],"agent":[{}]}}'
    stretches = ",".join(f"[{n}.25,{n}.75]" for n in range(5))
    path = text(tmp_path / "a.jsonl", "\n".join(row.format(n, stretches, stretches) for n in range(10_000)))
    before = time.process_time()
    assert sum(len(timeline.user or ()) for timeline in read_conversations(path)) == 50_000
    assert time.process_time() - before < 2.0  # a third of a second, usually; a busy machine is no reason to fail
