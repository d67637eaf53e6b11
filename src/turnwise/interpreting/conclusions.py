"""What a run showed that a reader should be told: odd captures, calls that ended early, scores that stand on little."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnwise.engine.plan import DIAGNOSIS, Finding
from turnwise.interpreting.barge_in import BY_TIME
from turnwise.interpreting.files import calls_of
from turnwise.store.run import Run
from turnwise.store.store import Store

NAMED = 3
MOST_BARGE_INS = 5
"""Barge-ins that are told in words, the worst first."""


def conclusions(store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
    """All of it, each with the first few captures it is about."""
    about: dict[tuple[str, str], list[str]] = {}
    worst: list[tuple[float, str]] = []
    for key, content, result, _ in calls_of(store, run):
        worst = sorted(worst + _scored(key, result))[:MOST_BARGE_INS]
        for check, message in _of_call(content, result):
            about.setdefault((check, message), []).append(key)
    return [
        Finding(check, f"{message}: {', '.join(keys[:NAMED])}" + _rest(keys), len(keys))
        for (check, message), keys in about.items()
    ] + [Finding(DIAGNOSIS, line) for _, line in worst]


def _of_call(content: dict[str, Any], result: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    for note in content.get("notes", ()):
        yield "input", note
    if "ended_early" in content:
        yield DIAGNOSIS, f"the call ended before its time ({content['ended_early']})"
    if "before_anybody_spoke" in content:
        yield DIAGNOSIS, "translation came before anybody spoke, and belongs to no turn"
    pairs = result["details"]["turns"] if result else ()
    if any(pair["reason"] == BY_TIME for pair in pairs):
        yield DIAGNOSIS, f"a barge-in without a score ({BY_TIME}); send turn_id or response_id, or give expected_text"


def _scored(key: str, result: dict[str, Any] | None) -> list[tuple[float, str]]:
    """Every barge-in of a call that has a score, with why."""
    scored = [pair for pair in (result["details"]["turns"] if result else ()) if pair["score"] is not None]
    return [(pair["score"], f"barge-in {key} {pair['barge_in_turn_id']}: {_why(pair)}") for pair in scored]


def _why(pair: dict[str, Any]) -> str:
    """A score in words."""
    reasons = [f"the old translation went on for {pair['cutoff_latency_ms']:.0f} ms"]
    if pair["mixing_detected"]:
        share = pair["mixing_share"]
        reasons.append("the translations are mixed" + ("" if share is None else f" ({share:.0%} of the words)"))
    answer = pair["response_time_ms"]
    reasons.append("no translation followed" if answer is None else f"the new one came after {answer:.0f} ms")
    return f"{pair['score']:.1f}, {pair['interpretation']} ({'; '.join(reasons)})"


def _rest(keys: list[str]) -> str:
    return f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
