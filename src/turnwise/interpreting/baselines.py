"""Interpreters that are none, to see what a score is worth: one that is silent, and one that does what it should."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest

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
    number = 0
    for turn, following in zip_longest(call.spoken, call.spoken[1:]):
        begin, until = _heard(turn, following)
        # Where nobody says what is right, anything will do; where nothing is, nothing is said.
        words = (turn.id if turn.expected_text is None else turn.expected_text).split()
        step = (until - begin) / max(1, len(words))
        for n, word in enumerate(words):
            at = begin + n * step
            about = (turn.participant or None, turn.id, None)
            yield Event(number, AUDIO, at, *about, "", at, min(at + step, until))
            yield Event(number + 1, DELTA, at, *about, f"{word} ")
            number += 2


def _heard(turn: Turn, following: Turn | None) -> tuple[float, float]:
    """From when to when: it ends as long after the speech as it begins late, or when somebody barges in.

    Who barges in sooner finds it half said.
    """
    start = turn.start or 0.0
    begin, until = start + AFTER_MS, (start if turn.end is None else turn.end) + AFTER_MS
    until = max(until, begin + 1.0)
    if following is not None and following.barge_in and following.start is not None and following.start < until:
        until = following.start
        begin = min(begin, (start + until) / 2)
    return begin, until


BASELINES = {"silent": silent, "ideal": ideal}
