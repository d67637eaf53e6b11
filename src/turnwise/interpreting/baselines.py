"""Interpreters that are none, to see what a score is worth: one that is silent, and one that does what it should."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from turnwise.interpreting.batch import InterpretingBatch
from turnwise.interpreting.records import AUDIO, DELTA, Call, Event, Turn

AFTER_MS = 800.0
"""How long after a turn begins the ideal interpreter is heard."""


def silent(batch: InterpretingBatch) -> InterpretingBatch:
    """Nothing is ever translated."""
    return _with(batch, lambda call: replace(call, events=()))


def ideal(batch: InterpretingBatch) -> InterpretingBatch:
    """The expected text, a little after each turn begins, stopped when somebody barges in."""
    return _with(batch, lambda call: replace(call, events=tuple(_ideal(call))))


def _with(batch: InterpretingBatch, change: Callable[[Call], Call]) -> InterpretingBatch:
    return replace(batch, calls=[change(call) for call in batch.calls], instances=(), memo={})


def _ideal(call: Call) -> Iterator[Event]:
    spoken = call.spoken
    number = 0
    for place, turn in enumerate(spoken):
        begin = (turn.start or 0.0) + AFTER_MS
        following = spoken[place + 1] if place + 1 < len(spoken) else None
        until = max(begin + 1.0, _stop(turn, following))
        words = (turn.expected_text or turn.id).split()
        step = (until - begin) / max(1, len(words))
        for n, word in enumerate(words):
            at = begin + n * step
            about = (turn.participant or None, turn.id, None)
            yield Event(number, AUDIO, at, *about, "", at, at + step)
            yield Event(number + 1, DELTA, at, *about, f"{word} ")
            number += 2


def _stop(turn: Turn, following: Turn | None) -> float:
    """As long after the end of the speech as it began late, or when somebody barges in."""
    end = (turn.end if turn.end is not None else turn.start or 0.0) + AFTER_MS
    return min(end, following.start or end) if following is not None and following.barge_in else end


BASELINES = {"silent": silent, "ideal": ideal}
