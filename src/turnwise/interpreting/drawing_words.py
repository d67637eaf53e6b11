"""What the pictures of a call say in words: why a barge-in has its score, what was said in a turn, what came of it."""

from __future__ import annotations

from collections.abc import Iterator

from turnwise.interpreting.barge_in import MIXED, MOST_WHEN_MIXED, MOST_WITHOUT_RESPONSE, NO_RESPONSE
from turnwise.interpreting.drawing import DrawnCall, DrawnPair, DrawnTurn, Json, milliseconds, plain
from turnwise.interpreting.mixing import CONTENT
from turnwise.kernel.spans import length
from turnwise.report.timeline import clock

CAPS = {
    NO_RESPONSE: f"at most {MOST_WITHOUT_RESPONSE:g}, because nothing of the new translation came",
    MIXED: f"at most {MOST_WHEN_MIXED:g}, because half of a translation or more belongs to the other turn",
}
_FEW = 12
"""Barge-ins that can be told in a sentence."""


def pair_lines(call: DrawnCall, pair: DrawnPair) -> Iterator[str]:
    """A barge-in: what it is and its score, what that is made of, and what is the matter."""
    facts, previous, turn = pair.facts, call.turn(pair.previous), call.turn(pair.turn)
    when = "never began" if pair.at is None else f"at {clock(round(pair.at, 2), call.seconds or 0.0)}"
    into = f", during the translation of turn {previous.number} ({previous.id})" if previous else ""
    yield f"barge-in of {f'turn {turn.number} ({turn.id})' if turn else pair.turn} {when}{into}"
    if not facts:
        return
    kind = f"{plain(facts['kind'])}, " if facts.get("kind") else ""
    verdict = f": {facts['interpretation']}" if facts.get("interpretation") else ""
    yield f"{kind}score {pair.told_score}{verdict}" if pair.told_score != "not scored" else f"{kind}not scored"
    if facts.get("reason"):
        yield f"why: {facts['reason']}"
    yield from _parts(facts)
    yield from (CAPS.get(cap, plain(cap)) for cap in facts.get("caps", ()))
    yield from evidence_lines(call, facts)


def _parts(facts: Json) -> Iterator[str]:
    """What the score is made of."""
    by = f" (as {'it is heard' if facts['signal'] == 'audio' else 'text arrives'})" if facts.get("signal") else ""
    if facts.get("cutoff_latency_ms") is not None:
        yield f"cutoff {milliseconds(facts['cutoff_latency_ms'])}{by}: {points(facts['cutoff_score'])}"
    if facts.get("mixing_score") is not None:
        yield f"mixing {mixing_words(facts)}: {points(facts['mixing_score'])}"
    if facts.get("response_time_ms") is not None:
        yield f"response {milliseconds(facts['response_time_ms'])}{by}: {points(facts['response_score'])}"
    elif facts.get("signal"):
        yield f"no response: {points(facts['response_score'])}"


def points(value: float) -> str:
    """`91.0 of 100`."""
    return f"{value:.1f} of 100"


def mixing_words(facts: Json) -> str:
    """How much is mixed: a share of the words, or by time whether."""
    share = facts.get("mixing_share")
    if share is not None:
        return f"{share:.0%} of the words"
    return "found" if facts.get("mixing_detected") else "not found"


def evidence_lines(call: DrawnCall, facts: Json) -> list[str]:
    """What is out of place."""
    evidence = facts.get("mixing_evidence", ())
    if facts.get("mixing_rule") == CONTENT:
        strange: dict[str, list[str]] = {}
        for one in evidence:
            strange.setdefault(one["turn_id"], []).append(one["text"])
        numbers = {turn.id: f"turn {turn.number}" for turn in call.turns}
        return [
            f"out of place in the translation of {numbers.get(turn, turn)}: {', '.join(words)}"
            for turn, words in strange.items()
        ]
    total = call.seconds or 0.0
    return [
        f"the new translation begins at {clock(round(one['new_from_ms'] / 1000, 2), total)}, "
        f"the old one ends at {clock(round(one['old_to_ms'] / 1000, 2), total)}"
        for one in evidence
    ]


def turn_lines(call: DrawnCall, turn: DrawnTurn) -> Iterator[str]:
    """A turn: who, when, what was said, what should have come and what came; [words] in brackets are out of place."""
    total = call.seconds or 0.0
    yield f"{turn.number} {turn.id}, {turn.participant}, {clock(round(turn.start, 2), total)}"
    yield f"said: {turn.source}" if turn.source else "said: not written down"
    if turn.expected:
        yield f"expected: {turn.expected}"
    came = "".join(f"[{words}]" if strange else words for words, strange in call.pieces(turn))
    yield f"came: {came or nothing_came(turn)}"


def nothing_came(turn: DrawnTurn) -> str:
    """What to say where there is no text of a translation."""
    return "no text" if turn.heard else "nothing"


def described(call: DrawnCall) -> str:
    """The picture in a sentence, for who cannot see it."""
    said = [
        f"{name} speaks for {length((turn.start, turn.end) for turn in call.of(name)):.1f} s and the translation "
        f"is heard for {length(span for turn in call.of(name) for span in turn.heard):.1f} s"
        for name in call.participants
    ]
    told = [f"{pair.label}{', ' if pair.marks else ''}{', '.join(w for _, w, _ in pair.marks)}" for pair in call.pairs]
    more = told if len(told) <= _FEW else [f"{len(told)} barge-ins"]
    return f"Call {call.key}: {'; '.join([*said, *more]) or 'nobody speaks'}"
