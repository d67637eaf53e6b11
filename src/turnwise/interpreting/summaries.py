"""What became of each turn: what was sent of it, which translation came back, when it arrived and when it was heard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import Any

from turnwise.interpreting.attribution import Method, Owner, attribute, attribute_by_document
from turnwise.interpreting.records import AUDIO, DELTA, TEXT, Call, Event, Turn
from turnwise.kernel.spans import Span, merged_spans
from turnwise.kernel.text import is_unspaced, spoken_form, words_of

ONE_STRETCH_MS = 1.0
"""Pieces of audio no further apart are heard as one."""
_AUDIBLE = attrgetter("audible_from", "audible_to")
_METHODS = tuple(Method)
_WEAKEST_FIRST = _METHODS[::-1]


@dataclass(frozen=True)
class TurnSummary:
    """A turn with its translation."""

    turn: Turn
    events: tuple[Event, ...] = ()
    methods: tuple[Method, ...] = ()
    """How each event is known to belong to this turn."""
    next_start: float | None = None
    """When the next turn began."""

    @cached_property
    def first_response(self) -> float | None:
        """When the first piece of the translation arrived."""
        return self.events[0].arrived if self.events else None

    @cached_property
    def completion(self) -> float | None:
        """When the last piece arrived."""
        return self.events[-1].arrived if self.events else None

    @cached_property
    def audible(self) -> list[Span]:
        """From when to when the translation is heard; what is cut off before its time is not."""
        times = map(_AUDIBLE, self.events)
        heard = [(start or 0.0, end) for start, end in times if start is not None and end is not None and end > start]
        return merged_spans(heard, ONE_STRETCH_MS)

    @cached_property
    def audible_first(self) -> float | None:
        """When it is first heard."""
        return self.audible[0][0] if self.audible else None

    @cached_property
    def audible_last(self) -> float | None:
        """When it is last heard."""
        return max(end for _, end in self.audible) if self.audible else None

    @cached_property
    def has_audio(self) -> bool:
        """Whether audio came, heard or not."""
        return any(event.kind == AUDIO for event in self.events)

    @cached_property
    def deltas(self) -> list[Event]:
        """The pieces of text."""
        return [event for event in self.events if event.kind == DELTA and event.text]

    @cached_property
    def texts(self) -> list[Event]:
        """Pieces of text, or else whole texts, each of which replaces the one before."""
        return self.deltas or [event for event in self.events if event.kind == TEXT and event.text]

    @property
    def first_text(self) -> float | None:
        """When the first text arrived."""
        return self.texts[0].arrived if self.texts else None

    @cached_property
    def text(self) -> str:
        """The translation: its pieces joined, or its last whole text."""
        if self.deltas:
            return "".join(self.pieces).strip()
        return self.texts[-1].text if self.texts else ""

    @cached_property
    def spoken(self) -> str:
        """The translation without case and punctuation."""
        return spoken_form(self.text)

    @cached_property
    def words(self) -> list[str]:
        """The words of the translation that are heard."""
        return words_of(self.spoken)

    @cached_property
    def pieces(self) -> list[str]:
        """The pieces of text as they can be put together; a whole text that came with them tells how."""
        whole = [event.text for event in self.events if event.kind == TEXT and event.text]
        return spaced([event.text for event in self.deltas], whole[-1] if whole else "")

    @cached_property
    def method(self) -> Method | None:
        """The weakest way by which one of its events was given to it."""
        return weakest(self.methods)

    def as_json(self) -> dict[str, Any]:
        """With the document's names; events by their `seq`."""
        turn = self.turn
        facts = {
            "turn_id": turn.id,
            "metadata": dict(turn.metadata) | {"type": turn.type, "barge_in": turn.barge_in},
            "participant_id": turn.participant,
            "turn_start_ms": turn.start,
            "turn_end_ms": self.next_start,
            "speech_end_ms": turn.end,
            "outbound_messages": list(turn.sent),
            "inbound_events": [event.number for event in self.events],
            "first_outbound_ms": turn.first_sent,
            "first_response_ms": self.first_response,
            "completion_ms": self.completion,
            "audible_first_ms": self.audible_first,
            "audible_last_ms": self.audible_last,
            "audible": [[round(start, 3), round(end, 3)] for start, end in self.audible],
            "attribution": {method.value: count for method in _METHODS if (count := self.methods.count(method))},
            "source_text": turn.source_text,
            "expected_text": turn.expected_text,
            "text": self.text,
        }
        return {name: value for name, value in facts.items() if value is not None}


def weakest(methods: Sequence[Method]) -> Method | None:
    """The least certain of some methods."""
    return next((method for method in _WEAKEST_FIRST if method in methods), None)


def spaced(pieces: Sequence[str], whole: str = "") -> list[str]:
    """Pieces of a text as they can be put together; a system that sends bare words gets its spaces.

    >>> "".join(spaced(["It ", "hurts"])), "".join(spaced(["It", "hurts"])), "".join(spaced(["疼", "痛"]))
    ('It hurts', 'It hurts', '疼痛')
    """
    if len(pieces) < 2 or any(piece[:1].isspace() or piece[-1:].isspace() for piece in pieces if piece):
        return list(pieces)
    following = [
        after if before and after and is_unspaced(before[-1]) and is_unspaced(after[0]) else f" {after}"
        for before, after in pairwise(pieces)
    ]
    apart = [pieces[0], *following]
    # Pieces with spaces inside but none between them are cut anywhere, unless the whole text says otherwise.
    inside = any(len(piece.split()) > 1 for piece in pieces)
    return apart if "".join(apart) == whole or not (inside or "".join(pieces) == whole) else list(pieces)


@dataclass(frozen=True)
class Conversation:
    """A call with everything in it given to turns: the document's ConversationManager."""

    call: Call
    summaries: tuple[TurnSummary, ...]
    """Of the turns in which something was said, in the order of their start."""
    strays: tuple[Event, ...] = ()
    """What came before anybody spoke."""

    def summary(self, turn_id: str) -> TurnSummary | None:
        """The turn of that id; None where it never began."""
        return next((one for one in self.summaries if one.turn.id == turn_id), None)

    @cached_property
    def pairs(self) -> list[tuple[TurnSummary | None, TurnSummary | Turn]]:
        """Every barge-in with the turn before it in start time; a turn instead of a summary where it never began."""
        found: list[tuple[TurnSummary | None, TurnSummary | Turn]] = []
        for place, summary in enumerate(self.summaries):
            if summary.turn.barge_in:
                found.append((self.summaries[place - 1] if place else None, summary))
        found += [(None, turn) for turn in self.call.turns if turn.barge_in and turn.speaks and turn.start is None]
        return found


def summarise(call: Call, by: Callable[[Call], list[Owner]] = attribute) -> Conversation:
    """Give every event of a call to its turn."""
    events: defaultdict[str | None, list[Event]] = defaultdict(list)
    methods: defaultdict[str | None, list[Method]] = defaultdict(list)
    for event, (turn, method) in zip(call.events, by(call), strict=True):
        events[turn].append(event)
        methods[turn].append(method)
    turns = call.spoken
    nexts = [turn.start for turn in turns[1:]] + [call.ended] if turns else []
    summaries = [
        TurnSummary(turn, tuple(events[turn.id]), tuple(methods[turn.id]), following)
        for turn, following in zip(turns, nexts, strict=True)
    ]
    return Conversation(call, tuple(summaries), tuple(events[None]))


def summarise_by_document(call: Call) -> Conversation:
    """The same by the document's rule."""
    return summarise(call, attribute_by_document)
