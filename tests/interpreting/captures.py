"""Capture folders written by hand: `capture.json` and `events.jsonl` with the fields of the published format alone.

No clock of playout is in them: when something is heard has to be worked out from arrival, duration and stops.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import isclose
from pathlib import Path
from typing import Any

import turnwise

Json = dict[str, Any]

STATEMENT, CORRECTION = "statement", "correction"
SAID = "alpha bravo charlie delta echo foxtrot golf hotel india juliett"
MEANT = "kilo lima mike november oscar papa quebec romeo sierra tango"
"""Ten expected words each, none of them in both: shares can be counted on the fingers."""

REQUIRED_OF_A_PAIR = {
    "previous_turn_id",
    "barge_in_turn_id",
    "barge_in_start_ms",
    "score",
    "cutoff_latency_ms",
    "mixing_detected",
    "response_time_ms",
    "interpretation",
    "cutoff_score",
    "mixing_score",
    "response_score",
    "mixing_share",
    "kind",
    "attribution",
    "caps",
}
"""The document's fields of a pair, and those that were added to them."""

SENTENCES = {
    90: "Excellent barge-in handling",
    70: "Good barge-in handling",
    50: "Acceptable barge-in handling",
    30: "Poor barge-in handling",
    0: "Very poor barge-in handling",
}
"""From which score on the document says what."""


def sentence(score: float) -> str:
    """What the document says of a score."""
    return next(text for least, text in SENTENCES.items() if score >= least)


def turn(turn_id: str, start_ms: float | None, end_ms: float | None = None, who: str = "patient", **about: Any) -> Json:
    """A turn as `capture.json` has it; what is None is left out."""
    facts = {"turn_id": turn_id, "participant_id": who, "start_ms": start_ms, "end_ms": end_ms, **about}
    return {name: value for name, value in facts.items() if value is not None}


def statement(start_ms: float | None = 0, end_ms: float | None = 8000, **about: Any) -> Json:
    """What is said first."""
    return turn(STATEMENT, start_ms, end_ms, **{"barge_in": False, "expected_text": SAID, **about})


def correction(start_ms: float | None = 10_000, end_ms: float | None = 12_000, **about: Any) -> Json:
    """What is said while the translation of the statement is still there."""
    return turn(CORRECTION, start_ms, end_ms, **{"barge_in": True, "expected_text": MEANT, **about})


def arrived(t_ms: float, kind: str, **fields: Any) -> Json:
    """Something that the system sent; fields that are None are left out."""
    event = {"direction": "in", "t_arrived_ms": t_ms, "type": kind, **fields}
    return {name: value for name, value in event.items() if value is not None}


def delta(t_ms: float, text: str, turn_id: str | None = None, **fields: Any) -> Json:
    """A piece of translated text."""
    return arrived(t_ms, "translated_delta", turn_id=turn_id, text=text, **fields)


def audio(t_ms: float, duration_ms: float, turn_id: str | None = None, **fields: Any) -> Json:
    """A piece of translated audio, of which only the duration is known."""
    return arrived(t_ms, "translated_audio", turn_id=turn_id, audio={"duration_ms": duration_ms}, **fields)


def sent(t_ms: float, turn_id: str, **fields: Any) -> Json:
    """Something that the caller's side sent."""
    return {"direction": "out", "t_sent_ms": t_ms, "type": "audio_sent", "turn_id": turn_id, **fields}


TURNS = [statement(), correction()]
EXAMPLE = [delta(9000, "alpha ", STATEMENT), delta(10_450, "bravo", STATEMENT), delta(11_200, "kilo", CORRECTION)]
"""The document's example: the old translation goes on for 450 ms, the new one comes after 1200 ms, nothing is mixed."""


def write_capture(
    folder: Path,
    turns: Iterable[Json],
    events: Iterable[Json] = (),
    *,
    scenario_id: str | None = None,
    protocol: str = "acs",
    thresholds: Mapping[str, float] | None = None,
    metrics: list[str] | None = None,
) -> Path:
    """A capture folder; events are numbered in the order in which they are given."""
    folder.mkdir(parents=True)
    about: Json = {
        "format": "turnwise-capture/1",
        "scenario_id": scenario_id or folder.name,
        "protocol": protocol,
        "started": "2026-11-15T10:15:00.000+00:00",
        "turns": list(turns),
        "thresholds": dict(thresholds or {}),
    }
    if metrics is not None:
        about["metrics"] = metrics
    (folder / "capture.json").write_text(json.dumps(about), "utf-8")
    lines = (json.dumps({"seq": number, **event}) for number, event in enumerate(events))
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


def evaluate(captures: Path, out: Path, *metrics: str, **options: Any) -> turnwise.Result:
    """A run of the room; without names all metrics."""
    chosen: Json = {"metrics": list(metrics)} if metrics else {}
    return turnwise.evaluate({"captures": captures}, suite="interpreting", out=out, resamples=100, **chosen, **options)


def document(out: Path, name: str) -> Json:
    """The document's result of one capture."""
    found: Json = json.loads((out / name / "barge_in.json").read_text("utf-8"))
    return found


def barge_in(folder: Path, turns: Iterable[Json], events: Iterable[Json] = (), **options: Any) -> Json:
    """Write one capture below a folder, score it, and read the document's result."""
    about = {name: options.pop(name) for name in ("thresholds", "protocol", "scenario_id") if name in options}
    place = write_capture(folder / f"call-{len(list(folder.iterdir()))}", turns, events, **about)
    out = folder / f"{place.name}-{options.get('profile', 'turnwise')}"
    evaluate(place, out, "barge_in", **options)
    return document(out, place.name)


def pair(folder: Path, turns: Iterable[Json], events: Iterable[Json] = (), **options: Any) -> Json:
    """The only pair of a capture."""
    (found,) = barge_in(folder, turns, events, **options)["details"]["turns"]
    assert isinstance(found, dict)
    return found


def is_the_example(found: Json) -> bool:
    """Whether a pair is as in the document: 450 ms, nothing mixed, 1200 ms: 0.6 x 91 + 30 + 0.1 x 96 = 94.2."""
    times = (found["cutoff_latency_ms"], found["response_time_ms"])
    return times == (450, 1200) and isclose(found["score"], 94.2, abs_tol=1e-6)
