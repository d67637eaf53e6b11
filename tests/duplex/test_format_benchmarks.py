"""Full-Duplex-Bench and HumDial: their files rule by rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.duplex.test_formats import only
from tests.duplex.writing import audio, lines, text, values
from turnwise.duplex.read import read_conversations
from turnwise.duplex.records import BACKCHANNEL, INTERRUPTION, NON_DIRECTED, PAUSE, TURN, Label, Segment
from turnwise.kernel.errors import InputError


def chunks(*words: tuple[str, float | None, float | None]) -> dict[str, Any]:
    return {"text": " ".join(w for w, _, _ in words), "chunks": [{"text": w, "timestamp": [s, e]} for w, s, e in words]}


# Full-Duplex-Bench


def test_a_sample_with_recordings_has_to_be_heard(tmp_path: Path) -> None:
    folder = tmp_path / "synthetic_user_interruption" / "12"
    audio(folder / "input.wav", seconds=3.0)
    audio(folder / "output.wav", seconds=4.0)
    values(folder / "output.json", chunks(("yes", 1.0, 1.5), ("well", 2.5, 3.0)))
    values(folder / "interrupt.json", [{"context": "tell me", "interrupt": "stop", "timestamp": [0.5, 0.75]}])
    timeline = only(tmp_path)
    assert timeline.key == "synthetic_user_interruption/12"
    assert (timeline.user, timeline.agent) == (None, None)
    assert timeline.audio == (folder / "input.wav", folder / "output.wav")
    assert timeline.words == (Segment(1.0, 1.5, "yes"), Segment(2.5, 3.0, "well"))
    assert timeline.labels == (Label(0.5, 0.75, INTERRUPTION, "stop"),)
    assert timeline.seconds == 4.0
    assert timeline.metadata == {"benchmark_task": "synthetic_user_interruption"}
    assert timeline.context == {"context": "tell me"}


def test_words_are_the_speech_where_recordings_are_missing(tmp_path: Path) -> None:
    """Words 0.5 s apart are one stretch, words further apart are two."""
    folder = tmp_path / "candor_turn_taking" / "1"
    values(folder / "output.json", chunks(("a", 1.0, 1.5), ("b", 2.0, 2.5), ("c", 3.25, 3.5)))
    values(folder / "turn_taking.json", [{"timestamp": [0.25, 0.75]}])
    timeline = only(tmp_path / "candor_turn_taking")
    assert timeline.key == "1"
    assert timeline.agent == (Segment(1.0, 2.5, "a b"), Segment(3.25, 3.5, "c"))
    assert timeline.user == ()
    assert timeline.labels == (Label(0.25, 0.25, TURN),)
    assert timeline.notes == ("speech of the agent was taken from its words", "speech of the user is not given")


def test_pauses_in_order_and_a_silent_agent(tmp_path: Path) -> None:
    folder = tmp_path / "candor_pause_handling" / "1"
    values(folder / "output.json", chunks())
    values(folder / "pause.json", [{"timestamp": [3.0, 4.0]}, {"timestamp": [1.0, 2.0]}])
    timeline = only(folder)
    assert timeline.labels == (Label(1.0, 2.0, PAUSE), Label(3.0, 4.0, PAUSE))
    assert (timeline.agent, timeline.words) == ((), ())
    assert timeline.metadata == {"benchmark_task": "candor_pause_handling"}


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("user_interruption", INTERRUPTION),
        ("user_backchannel", BACKCHANNEL),
        ("talking_to_other", NON_DIRECTED),
        ("background_speech", NON_DIRECTED),
    ],
)
def test_overlaps_are_of_the_kind_of_their_task(tmp_path: Path, task: str, kind: str) -> None:
    folder = tmp_path / task / "3"
    values(folder / "output.json", chunks(("a", 1.0, 1.5)))
    values(folder / "metadata.json", {"timestamps": [2, 3.5], "current_turn_text": "mhm", "context_text": "so"})
    assert only(tmp_path).labels == (Label(2.0, 3.5, kind, "mhm"),)


def test_a_task_that_is_not_known_is_asked_for(tmp_path: Path) -> None:
    values(tmp_path / "mine" / "1" / "output.json", chunks())
    values(tmp_path / "mine" / "1" / "metadata.json", {"timestamps": [2, 3.5]})
    with pytest.raises(InputError, match=r"which task(.|\n)*user_backchannel"):
        read_conversations(tmp_path)


def test_times_that_the_recogniser_left_open(tmp_path: Path) -> None:
    """A word without an end lasts until the next one; the last one, to the end of the recording (2 s)."""
    folder = tmp_path / "1"
    audio(folder / "input.wav")
    audio(folder / "output.wav")
    values(folder / "output.json", chunks(("a", 0.5, None), ("b", 0.75, 1.0), ("c", None, 1.25), ("d", 1.5, None)))
    timeline = only(folder, "full_duplex_bench")
    assert timeline.words == (
        Segment(0.5, 0.75, "a"),
        Segment(0.75, 1.0, "b"),
        Segment(1.0, 1.25, "c"),
        Segment(1.5, 2.0, "d"),
    )
    assert timeline.notes == ("words without a time got it from their neighbours",)


@pytest.mark.parametrize(
    ("stamp", "what"),
    [
        ([2.0, 1.0], "something ends before it begins"),
        ([-1.0, 1.0], "timestamp is negative"),
        (["0.5", 1.0], "timestamp is not a number"),
        ([0.5], "timestamp is no pair"),
        ([0.5, True], "timestamp is not a number"),
        (None, "timestamp has the wrong type"),
        ([None, 1.0], "timestamp is not a number"),
    ],
)
def test_a_wrong_annotation_leaves_one_sample_out(tmp_path: Path, stamp: Any, what: str) -> None:
    for name, span in (("good", [0.5, 1.0]), ("bad", stamp)):
        values(tmp_path / name / "output.json", chunks(("a", 1.0, 1.5)))
        values(tmp_path / name / "pause.json", [{"timestamp": [0.0, 0.25]}, {"timestamp": span}])
    found = read_conversations(tmp_path)
    assert [timeline.key for timeline in found] == ["good"]
    (skipped,) = (one for one in found.findings if one.check == "skipped")
    assert skipped.message.startswith(f"left out, {what}: {tmp_path}/bad/pause.json, [1]")


def test_a_sample_without_an_answer_is_counted(tmp_path: Path) -> None:
    values(tmp_path / "1" / "output.json", chunks(("a", 1.0, 1.5)))
    for name in "123":
        values(tmp_path / name / "pause.json", [])
    for name in "23":
        audio(tmp_path / name / "input.wav")
    found = read_conversations(tmp_path)
    assert [timeline.key for timeline in found] == ["1"]
    (skipped,) = (one for one in found.findings if one.check == "skipped")
    assert (skipped.count, "lacks the other side" in skipped.message) == (2, True)


# HumDial


def recorded(folder: Path, number: str, seconds: float = 2.0) -> None:
    audio(folder / f"{number}.wav", seconds=2.0)
    audio(folder / f"{number}_output.wav", seconds=seconds)


def test_a_conversation_of_the_challenge(tmp_path: Path) -> None:
    folder = tmp_path / "dev_zh" / "Follow-up_Questions"
    recorded(folder, "0001_0002", 3.0)
    recorded(folder, "0001_0002_add")
    sentences = [{"xmin": 2.0, "xmax": 2.5, "text": "second"}, {"xmin": 0.5, "xmax": 1.5, "text": "first"}]
    values(folder / "0001_0002_sentence.json", {"speech_segments": sentences})
    values(folder / "0001_0002_output.json", chunks(("好", 1.75, 2.0)))
    tags = [("Follow-up Questions_0001_0002", "C_RESPOND"), ("repeat_0001_0002_add", "C_RESUME"), ("0009_0009", "X")]
    lines(folder / "Follow-up_content_tags.jsonl", *({"key": key, "behaviour": [tag]} for key, tag in tags))
    found = read_conversations(tmp_path)
    first, second = found
    assert first.key == "dev_zh/Follow-up_Questions/0001_0002"
    assert (first.language, first.category) == ("cn", "Follow-up Questions")
    assert (first.user, first.agent, first.seconds) == (None, None, 3.0)
    assert first.audio == (folder / "0001_0002.wav", folder / "0001_0002_output.wav")
    assert first.sentences == (Segment(0.5, 1.5, "first"), Segment(2.0, 2.5, "second"))
    assert first.words == (Segment(1.75, 2.0, "好"),)
    assert (first.behaviour, second.behaviour) == ("C_RESPOND", "C_RESUME")
    assert (second.sentences, second.words) == (None, None)
    assert first.notes == ("sentences of the user were not in order and were sorted",)
    (unmatched,) = (one for one in found.findings if one.check == "labels")
    assert (unmatched.count, "0009_0009" in unmatched.message) == (1, True)


@pytest.mark.parametrize(("below", "key"), [("", "en/ask/0001_0001"), ("en", "ask/0001_0001"), ("en/ask", "0001_0001")])
def test_language_and_category_are_found_at_any_level(tmp_path: Path, below: str, key: str) -> None:
    recorded(tmp_path / "en" / "ask", "0001_0001")
    timeline = only(tmp_path / below)
    assert (timeline.key, timeline.language, timeline.category) == (key, "en", "Follow-up Questions")


def test_labels_in_another_tree_are_joined_by_language_and_category(tmp_path: Path) -> None:
    for language in ("cn", "en"):
        recorded(tmp_path / "audio" / language / "Pause Handling", "0001_0001")
        tags = tmp_path / "score" / language / "Pause Handling" / "Pause Handling_content_tags.jsonl"
        lines(tags, {"key": "x_0001_0001", "behaviour": [f"C_{language}"]})
    assert [timeline.behaviour for timeline in read_conversations(tmp_path)] == ["C_cn", "C_en"]


def test_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "en" / "Pause Handlin"
    recorded(folder, "0001_0001")
    recorded(folder, "0001_0002")
    audio(folder / "0001_0003.wav")
    audio(folder / "0001_0004_output.wav")
    audio(folder / "clean_0001_0001.wav")
    text(folder / "0001_0002_output.wav", "no audio")
    rows = [{"key": "0001_0001", "behaviour": [tag]} for tag in ("C_RESPOND", "C_RESUME")]
    lines(folder / "a_content_tags.jsonl", *rows)
    found = read_conversations(tmp_path)
    (timeline,) = found
    assert (timeline.category, timeline.behaviour) == ("Pause Handlin", None)
    messages = [(one.message, one.count) for one in found.findings]
    where = "en/Pause Handlin"
    assert (f"left out, a recording lacks the agent's side: {where}/0001_0003", 1) in messages
    assert (f"left out, a recording lacks the user's side: {where}/0001_0004", 1) in messages
    assert any("clean_" in message for message, _ in messages)
    assert any("did you mean Pause Handling" in message for message, _ in messages)
    assert any("unreadable audio" in message and "0001_0002" in message for message, _ in messages)
    assert any("exactly one behaviour label" in message for message, _ in messages)


@pytest.mark.parametrize(
    ("sentence", "what"),
    [
        ({"xmin": 2.0, "xmax": 1.0}, "something ends before it begins"),
        ({"xmin": "1", "xmax": 1.0}, "xmin is not a number"),
        ({"xmin": -0.5, "xmax": 1.0}, "xmin is negative"),
        ({"xmin": 0.5}, "xmax is not a number"),
        (["x"], "a sentence has the wrong type"),
    ],
)
def test_wrong_sentences_leave_a_conversation_out(tmp_path: Path, sentence: Any, what: str) -> None:
    recorded(tmp_path, "0001_0001")
    recorded(tmp_path, "0001_0002")
    values(tmp_path / "0001_0002_sentence.json", {"speech_segments": [sentence]})
    found = read_conversations(tmp_path)
    assert [timeline.key for timeline in found] == ["0001_0001"]
    assert any(what in one.message and "0001_0002_sentence.json" in one.message for one in found.findings)


def test_broken_labels_name_the_line(tmp_path: Path) -> None:
    recorded(tmp_path, "0001_0001")
    text(tmp_path / "a_content_tags.jsonl", '{"key": "0001_0001", "behaviour": ["C"]}\r\n{"key": "0001')
    with pytest.raises(InputError, match=r"in the middle of a JSON value(.|\n)*line 2"):
        read_conversations(tmp_path)
