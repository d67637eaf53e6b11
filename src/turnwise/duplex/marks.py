"""What a picture of a conversation points out: the latencies, each with its place."""

from __future__ import annotations

from typing import NamedTuple

from turnwise.duplex.cases import asked_sentence
from turnwise.duplex.records import Timeline
from turnwise.duplex.timing import answers, events, first_response, interruptions

STOP, RESPONSE, FIRST_RESPONSE = "stop latency", "response latency", "first response delay"


class Mark(NamedTuple):
    """A bracket between two moments."""

    start: float
    end: float
    """Before `start` for an answer that came too early."""
    kind: str
    note: str = ""
    """An outcome, e.g. `yielded`."""

    @property
    def seconds(self) -> float:
        """The latency."""
        return self.end - self.start


def marks_of(timeline: Timeline) -> list[Mark]:
    """Every latency of a conversation, by time."""
    found = events(timeline)
    marks = []
    for one in interruptions(timeline, found):
        if one.latency is not None:
            marks.append(Mark(one.event.start, one.event.start + one.latency, STOP, one.outcome.value))
    for answer in answers(timeline, found):
        if answer.latency is not None:
            marks.append(Mark(answer.event.end, answer.event.end + answer.latency, RESPONSE))
    first = first_response(timeline, asked_sentence(timeline))
    if first is None or first.delay is None:
        return sorted(marks)
    if not any(abs(mark.start - first.asked) < 0.1 and mark.kind == RESPONSE for mark in marks):
        marks.append(Mark(first.asked, first.asked + first.delay, FIRST_RESPONSE))
    return sorted(marks)
