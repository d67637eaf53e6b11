"""What a judge is shown of a conversation, from every format that has words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.duplex.experiments import run
from tests.duplex.judged_calls import asking, call, loopback
from tests.duplex.writing import audio, lines, values
from turnwise.duplex.opinion import pieces_of
from turnwise.duplex.read import read_conversations
from turnwise.duplex.records import Label, Timeline


def shown_of(path: Path) -> dict[str, Any]:
    (timeline,) = read_conversations(path)
    return dict(pieces_of(timeline))


def chunks(*words: tuple[str, float, float]) -> dict[str, Any]:
    return {"text": "", "chunks": [{"text": f" {text}", "timestamp": [start, end]} for text, start, end in words]}


def test_the_transcripts_of_the_challenge(tmp_path: Path) -> None:
    folder = tmp_path / "en" / "Topic Switching"
    for side in ("", "_output"):
        audio(folder / f"0001_0001{side}.wav")
    values(folder / "0001_0001.json", chunks(("stop", 1, 1.5)))
    values(folder / "0001_0001_output.json", chunks(("yes", 0.25, 0.5), ("sure", 1.75, 2)))
    values(folder / "clean_0001_0001.json", chunks())
    values(folder / "clean_0001_0001_output.json", chunks(("yes", 0.25, 0.5)))
    assert shown_of(tmp_path) == {
        "category": "Topic Switching",
        "noisy_user": "1.00-1.50 stop",
        "noisy_agent": "0.25-0.50 yes\n1.75-2.00 sure",
        "clean_user": "(no words)",
        "clean_agent": "0.25-0.50 yes",
        "events": None,
    }


def test_the_transcripts_of_full_duplex_bench(tmp_path: Path) -> None:
    folder = tmp_path / "user_backchannel" / "7"
    values(folder / "input.json", chunks(("go", 0, 0.5), ("mhm", 3, 3.5)))
    values(folder / "output.json", chunks(("well", 2, 4)))
    values(folder / "clean_input.json", chunks(("go", 0, 0.5)))
    values(folder / "clean_output.json", {"chunks": "none"})
    values(folder / "metadata.json", {"timestamps": [3, 3.5], "current_turn_text": "mhm"})
    shown = shown_of(tmp_path)
    assert shown["noisy_user"] == "0.00-0.50 go\n3.00-3.50 mhm"
    assert shown["noisy_agent"] == "2.00-4.00 well"
    assert shown["clean_user"] == "0.00-0.50 go"
    assert shown["clean_agent"] is None, "a broken transcript is left out, and the rest is scored"
    assert shown["events"] == "3.00-3.50 speech: mhm", "the kind would give away what is right"


def test_words_of_logs_and_annotations_will_do(tmp_path: Path) -> None:
    said = {"start": 1.0, "end": 2.0, "text": "a\nroom"}
    path = lines(tmp_path / "calls.jsonl", {"key": "a", "user": [said, [3, 4]], "agent": [said]})
    assert shown_of(path)["noisy_user"] == "1.00-2.00 a room\n3.00-4.00 (not written down)"
    assert shown_of(path)["noisy_agent"] == "1.00-2.00 a room"


def test_sounds_and_pauses() -> None:
    labels = (Label(1, 2, "vocal_tic"), Label(3, 4, "pause"), Label(5, 6, "turn", "yes"), Label(7, 8, "noise"))
    assert pieces_of(Timeline("a", labels=labels))["events"] == "1.00-2.00 a sound\n7.00-8.00 a sound"


def test_the_category_is_not_shown() -> None:
    """It says what the agent should do; the judge says what it did."""
    with loopback() as server:
        run(recordings=[call("a", "blue")], metrics=["behaviour"], **asking(server))
    assert "Topic Switching" not in server.requests[0].prompt
    assert "4.00-11.00 blue" in server.requests[0].prompt
