"""Whether what belongs to one turn is said in the translation of another (specification decision 000-5)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from turnwise.interpreting.expected import expected_word_set
from turnwise.interpreting.records import DELTA
from turnwise.interpreting.summaries import TurnSummary

DETECTED_ABOVE = 0.1
CONTENT, TIMING = "content", "timing"
LONGEST_EVIDENCE = 20
"""Spans that are kept as evidence."""


@dataclass(frozen=True, slots=True)
class Mixing:
    """How much two translations are mixed."""

    detected: bool
    score: float
    rule: str
    """`content` or `timing`."""
    share: float | None = None
    """By content: of the words of one translation, those of the other turn; the larger of the two."""
    evidence: tuple[dict[str, Any], ...] = ()
    """The words that are out of place, as spans of words."""


def mixing_of(previous: TurnSummary, barge_in: TurnSummary) -> Mixing:
    """By content where there is text, else by the times at which the two are heard."""
    own, other = barge_in.turn.expected_text, previous.turn.expected_text
    has_text = bool(barge_in.texts or previous.texts)
    if own and other and has_text:
        return _by_content(previous, barge_in, other, own)
    return by_timing(previous, barge_in)


def _by_content(previous: TurnSummary, barge_in: TurnSummary, before: str, after: str) -> Mixing:
    expected_before, expected_after = expected_word_set(before), expected_word_set(after)
    shares, evidence = [], []
    for summary, strange, own in (
        (barge_in, expected_before - expected_after, expected_after),
        (previous, expected_after - expected_before, expected_before),
    ):
        words = summary.words
        out_of_place = [word in strange and word not in own for word in words]
        shares.append(sum(out_of_place) / len(words) if words else 0.0)
        evidence += _spans(summary.turn.id, words, out_of_place)
    share = max(shares)
    return Mixing(share > DETECTED_ABOVE, 100.0 * (1.0 - share), CONTENT, share, tuple(evidence[:LONGEST_EVIDENCE]))


def _spans(turn: str, words: list[str], out_of_place: list[bool]) -> list[dict[str, Any]]:
    found = []
    for strange, group in groupby(range(len(words)), key=out_of_place.__getitem__):
        places = list(group)
        if strange:
            text = " ".join(words[place] for place in places)
            found.append({"turn_id": turn, "words": [places[0], places[-1] + 1], "text": text})
    return found


def by_timing(previous: TurnSummary, barge_in: TurnSummary) -> Mixing:
    """The new translation begins before the old one has ended, after the barge-in; as it is heard, else as it came."""
    start = barge_in.turn.start or 0.0
    if previous.has_audio or barge_in.has_audio:
        first, last = barge_in.audible_first, previous.audible_last
    else:
        first = min((event.arrived for event in barge_in.texts), default=None)
        last = max((event.arrived for event in previous.texts), default=None)
    return _timed(first, last, start)


def by_document(previous: TurnSummary, barge_in: TurnSummary) -> Mixing:
    """A delta of the new turn before the completion of the old one, and that after the barge-in (000-6)."""
    deltas = [event.arrived for event in barge_in.events if event.kind == DELTA]
    return _timed(min(deltas, default=None), previous.completion, barge_in.turn.start or 0.0)


def _timed(first: float | None, last: float | None, start: float) -> Mixing:
    mixed = first is not None and last is not None and first < last and last > start
    evidence = ({"new_from_ms": first, "old_to_ms": last},) if mixed else ()
    return Mixing(mixed, 0.0 if mixed else 100.0, TIMING, evidence=evidence)
