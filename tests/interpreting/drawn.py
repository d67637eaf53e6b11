"""A call of ten seconds as a run keeps it, with the barge-in of the document's example in it."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len

from turnwise.interpreting.drawing import DrawnCall, drawn_call
from turnwise.interpreting.lanes import draw_text

Json = dict[str, Any]
INJECTION = "</title></svg><script>window.hacked = 1</script> \"quoted\" & 'so on' ]]> \x00\x1b[31m"

STATEMENT: Json = {
    "turn_id": "statement",
    "participant_id": "patient",
    "start_ms": 1000.0,
    "end_ms": 3000.0,
    "source_text": "Mein linkes Knie tut weh.",
    "expected_text": "My left knee hurts.",
    "text": "My left knee hurts.",
    "audible": [[2000.0, 4450.0]],
    "text_ms": [2000.0, 2600.0],
}
CORRECTION: Json = {
    "turn_id": "correction",
    "participant_id": "patient",
    "start_ms": 4000.0,
    "end_ms": 6000.0,
    "barge_in": True,
    "source_text": "Nein, das rechte.",
    "expected_text": "No, the right one.",
    "text": "No, the Left one hurts: right.",
    "audible": [[5200.0, 8000.0]],
    "text_ms": [5200.0, 5900.0],
}
ANSWER: Json = {
    "turn_id": "answer",
    "participant_id": "doctor",
    "start_ms": 8500.0,
    "end_ms": 9500.0,
    "source_text": "I see.",
}
TEXT_ONLY = [{key: value for key, value in turn.items() if key != "audible"} for turn in (STATEMENT, CORRECTION)]
CONTENT: Json = {
    "scenario_id": "knee",
    "description": "A patient corrects which knee it is.",
    "protocol": "acs",
    "ended_ms": 10_000.0,
    "notes": ["two events have the same number"],
    "turns": [STATEMENT, CORRECTION, ANSWER],
    "not_spoken": ["goodbye"],
    "before_anybody_spoke": 2,
}
PAIR: Json = {
    "previous_turn_id": "statement",
    "barge_in_turn_id": "correction",
    "barge_in_start_ms": 4000.0,
    "score": 94.2,
    "cutoff_latency_ms": 450.0,
    "mixing_detected": False,
    "response_time_ms": 1200.0,
    "interpretation": "Excellent barge-in handling",
    "cutoff_score": 91.0,
    "mixing_score": 100.0,
    "response_score": 96.0,
    "mixing_share": 0.0,
    "kind": "self_correction",
    "attribution": "id",
    "caps": [],
    "signal": "audio",
    "response_from_end_ms": -800.0,
    "mixing_rule": "content",
    "mixing_evidence": [],
    "reason": None,
}
MIXED: Json = {
    "score": 29.0,
    "interpretation": "Very poor barge-in handling",
    "mixing_detected": True,
    "mixing_share": 0.5,
    "mixing_score": 50.0,
    "caps": ["mixed_content"],
    # The words of the correction's text: no, the, left, one, hurts, right.
    "mixing_evidence": [
        {"turn_id": "correction", "words": [2, 3], "text": "left"},
        {"turn_id": "correction", "words": [4, 5], "text": "hurts"},
    ],
}
SILENT: Json = {
    "score": 30.0,
    "interpretation": "Poor barge-in handling",
    "response_time_ms": None,
    "response_from_end_ms": None,
    "response_score": 0.0,
    "caps": ["no_response"],
}
BY_TIME: Json = {
    "score": None,
    "interpretation": None,
    "cutoff_latency_ms": None,
    "cutoff_score": None,
    "mixing_detected": None,
    "mixing_score": None,
    "mixing_share": None,
    "mixing_rule": None,
    "attribution": "time",
    "reason": "which turn it belongs to is known by time only",
}


def result(*pairs: Json) -> Json:
    """The document's result of some barge-ins."""
    scores = [pair["score"] for pair in pairs if pair["score"] is not None]
    score = sum(scores) / len(scores) if scores else None
    details = {
        "threshold": 70.0,
        "passed": None if score is None else score >= 70,
        "barge_in_count": len(pairs),
        "turns": list(pairs),
        "overall_interpretation": None if score is None else pairs[0]["interpretation"],
    }
    reason = None if score is not None else pairs[0]["reason"] if pairs else "No barge-in turns found in scenario"
    return {"metric_name": "barge_in", "score": score, "reason": reason, "details": details}


def call(*changes: Json, key: str = "knee", **content: Any) -> DrawnCall:
    """The call, with a barge-in for each set of changes to the pair."""
    pairs = [{**PAIR, **change} for change in changes or ({},)]
    return drawn_call(key, {**CONTENT, **content}, result(*pairs))


def quiet_call(**content: Any) -> DrawnCall:
    """The call as if nobody barged in."""
    turns = [{**turn, "barge_in": False} for turn in content.pop("turns", CONTENT["turns"])]
    return drawn_call("knee", {**CONTENT, "turns": turns, **content}, result())


def lines_of(drawn: DrawnCall, width: int = 109, encoding: str = "utf-8") -> list[str]:
    """The call in the terminal, none of its lines too wide."""
    lines = draw_text(drawn, width, encoding=encoding).splitlines()
    assert max(map(cell_len, lines)) <= width
    return lines
