"""How well a barge-in is handled: the document's score for a turn that begins while another is being translated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from turnwise.interpreting.attribution import Method
from turnwise.interpreting.curves import cutoff_score, interpretation, response_score, stretch_for, total_score
from turnwise.interpreting.kinds import barge_in_kind
from turnwise.interpreting.mixing import Mixing, by_document, mixing_of
from turnwise.interpreting.records import DELTA, Turn
from turnwise.interpreting.summaries import Conversation, TurnSummary, weakest
from turnwise.kernel.text import spoken_words

NAME = "barge_in"
THRESHOLD = 70.0
NONE_FOUND = "No barge-in turns found in scenario"
NO_RESPONSE, MIXED = "no_response", "mixed_content"
MOST_WITHOUT_RESPONSE, MOST_WHEN_MIXED = 30.0, 29.0
HALF = 0.5
NEVER_BEGAN = "the call ended before the barge-in"
FIRST = "no turn was spoken before the barge-in"
BY_TIME = "which turn the translation belongs to is known by time only: neither ids nor text tell"
DIGITS = 6
"""Enough, and without the dust of binary fractions: 94.2 and not 94.19999999999999, which would miss a threshold."""
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Times:
    """When the old translation stops and the new one begins, in milliseconds from the start of the barge-in."""

    cutoff: float
    """The one that is scored."""
    cutoff_audible: float | None
    cutoff_arrival: float
    cutoff_text: float | None
    response: float | None
    """The one that is scored; None: no response."""
    response_from_end: float | None
    """From the end of the barge-in's speech."""
    response_text: float | None
    """To the first text."""
    signal: str
    """What the scored ones are taken from: `audio` as it is heard, or `text` as it arrives."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One barge-in and the turn before it."""

    previous: str | None
    barge_in: str
    start: float | None
    kind: str | None = None
    attribution: Method | None = None
    times: Times | None = None
    mixing: Mixing | None = None
    stretch: float = 1.0
    caps: tuple[str, ...] = ()
    reason: str | None = None
    """Why there is no score."""
    missing: bool = False
    """Whether an input is missing, rather than the question not arising."""

    @property
    def cutoff_score(self) -> float | None:
        """Points for stopping."""
        return None if self.reason or self.times is None else cutoff_score(self.times.cutoff, self.stretch)

    @property
    def response_score(self) -> float | None:
        """Points for answering."""
        return None if self.times is None else response_score(self.times.response)

    @property
    def score(self) -> float | None:
        """All of it, 0 to 100."""
        if self.cutoff_score is None or self.mixing is None or self.response_score is None:
            return None
        total = round(total_score(self.cutoff_score, self.mixing.score, self.response_score), DIGITS)
        most = {NO_RESPONSE: MOST_WITHOUT_RESPONSE, MIXED: MOST_WHEN_MIXED}
        return min(total, *(most[cap] for cap in self.caps)) if self.caps else total

    def as_json(self) -> Json:
        """The document's fields, and what stands behind them."""
        score, times = self.score, self.times
        scored = None if self.reason else times
        mixing = None if self.reason else self.mixing
        return {
            "previous_turn_id": self.previous,
            "barge_in_turn_id": self.barge_in,
            "barge_in_start_ms": self.start,
            "score": score,
            "cutoff_latency_ms": _rounded(scored.cutoff if scored else None),
            "mixing_detected": mixing.detected if mixing else None,
            "response_time_ms": _rounded(times.response if times else None),
            "interpretation": None if score is None else interpretation(score),
            "cutoff_score": _rounded(self.cutoff_score),
            "mixing_score": _rounded(mixing.score if mixing else None),
            "response_score": _rounded(self.response_score),
            "mixing_share": _rounded(mixing.share if mixing else None),
            "kind": self.kind,
            "attribution": None if self.attribution is None else self.attribution.value,
            "caps": list(self.caps),
            "signal": times.signal if times else None,
            "cutoff_audible_ms": _rounded(scored.cutoff_audible if scored else None),
            "cutoff_arrival_ms": _rounded(scored.cutoff_arrival if scored else None),
            "cutoff_text_ms": _rounded(scored.cutoff_text if scored else None),
            "response_from_end_ms": _rounded(times.response_from_end if times else None),
            "response_text_ms": _rounded(times.response_text if times else None),
            "mixing_rule": mixing.rule if mixing else None,
            "mixing_evidence": list(mixing.evidence) if mixing else [],
            "cutoff_stretch": _rounded(self.stretch),
            "reason": self.reason,
        }


def evaluate(conversation: Conversation, *, by_the_document: bool = False, adaptive: bool = False) -> list[Pair]:
    """Every barge-in of a call; the default corrects the document (specification decisions 000-2 to 000-8)."""
    return [_pair(*pair, by_the_document, adaptive) for pair in conversation.pairs]


def _pair(previous: TurnSummary | None, barge_in: TurnSummary | Turn, by_the_document: bool, adaptive: bool) -> Pair:
    turn = barge_in if isinstance(barge_in, Turn) else barge_in.turn
    if previous is None or isinstance(barge_in, Turn):
        before = None if previous is None else previous.turn.id
        return Pair(before, turn.id, turn.start, reason=NEVER_BEGAN if turn.start is None else FIRST, missing=True)
    mixing = by_document(previous, barge_in) if by_the_document else mixing_of(previous, barge_in)
    times = _document_times(previous, barge_in) if by_the_document else _times(previous, barge_in)
    attribution = _attribution(previous, barge_in)
    uncertain = attribution is Method.TIME and not by_the_document
    caps = () if by_the_document or uncertain else _caps(times, mixing, turn)
    return Pair(
        previous.turn.id,
        turn.id,
        turn.start,
        barge_in_kind(previous.turn, turn),
        attribution,
        times,
        mixing,
        _stretch(previous.turn) if adaptive else 1.0,
        caps,
        BY_TIME if uncertain else None,
    )


def _caps(times: Times, mixing: Mixing, turn: Turn) -> tuple[str, ...]:
    mixed = mixing.share is not None and mixing.share >= HALF
    unanswered = times.response is None and turn.expected_text != ""  # where nothing is expected, nothing is right
    return (*((NO_RESPONSE,) if unanswered else ()), *((MIXED,) if mixed else ()))


def _attribution(previous: TurnSummary, barge_in: TurnSummary) -> Method | None:
    """The weakest method by which something that came after the barge-in was given to one of the two.

    What came before can only belong to what was said before, whatever the method.
    """
    start = barge_in.turn.start or 0.0
    after: list[Method] = []
    earlier: list[Method] = []
    for summary in (previous, barge_in):
        for event, method in zip(summary.events, summary.methods, strict=True):
            (after if event.arrived > start else earlier).append(method)
    known = weakest(after) or weakest(earlier)
    return None if known is Method.TIME and not after else known


def _times(previous: TurnSummary, barge_in: TurnSummary) -> Times:
    start, end = barge_in.turn.start or 0.0, barge_in.turn.end
    arrival = _after([event.arrived for event in previous.events], start)
    text = _after([event.arrived for event in previous.texts], start)
    first_text = _since(barge_in.first_text, start)
    if previous.has_audio or barge_in.has_audio:
        audible = _after([stop for _, stop in previous.audible], start)
        return Times(
            audible,
            audible,
            arrival,
            text if previous.texts else None,
            _since(barge_in.audible_first, start),
            _since(barge_in.audible_first, end),
            first_text,
            "audio",
        )
    since_end = _since(barge_in.first_text, end)
    return Times(text, None, arrival, text if previous.texts else None, first_text, since_end, first_text, "text")


def _document_times(previous: TurnSummary, barge_in: TurnSummary) -> Times:
    """By the arrival of deltas, and from the first message that was sent (000-3, 000-7)."""
    start = barge_in.turn.start or 0.0
    sent = barge_in.turn.first_sent if barge_in.turn.first_sent is not None else start
    cutoff = _after([event.arrived for event in previous.events if event.kind == DELTA], start)
    audible = _after([stop for _, stop in previous.audible], start) if previous.has_audio else None
    arrival = _after([event.arrived for event in previous.events], start)
    response = _since(barge_in.first_response, sent)
    from_end = _since(barge_in.first_response, barge_in.turn.end)
    first_text = _since(barge_in.first_text, sent)
    return Times(cutoff, audible, arrival, cutoff, response, from_end, first_text, "text")


def _after(moments: Sequence[float], start: float) -> float:
    """How long after the start the last of some moments is; 0 if none is."""
    return max(0.0, max(moments, default=start) - start)


def _since(moment: float | None, start: float | None) -> float | None:
    return None if moment is None or start is None else moment - start


def _stretch(turn: Turn) -> float:
    """For the turn whose translation is to stop: a long, fast one may take longer."""
    seconds = None if turn.start is None or turn.end is None else (turn.end - turn.start) / 1000
    return stretch_for(seconds, len(spoken_words(turn.source_text)) if turn.source_text else None)


def result(pairs: Sequence[Pair], threshold: float) -> Json:
    """The document's result, in one shape always (000-9)."""
    scores = [pair.score for pair in pairs if pair.score is not None]
    score = round(sum(scores) / len(scores), DIGITS) if scores else None
    reason = NONE_FOUND if not pairs else next((pair.reason for pair in pairs if pair.reason), None)
    return {
        "metric_name": NAME,
        "score": score,
        "reason": None if score is not None else reason,
        "details": {
            "threshold": threshold,
            "passed": None if score is None else score >= threshold,
            "barge_in_count": len(pairs),
            "turns": [pair.as_json() for pair in pairs],
            "overall_interpretation": None if score is None else interpretation(score),
        },
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
