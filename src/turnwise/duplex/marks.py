"""What a picture of a conversation points out: the latencies, each with its place."""

from __future__ import annotations

from typing import NamedTuple

from turnwise.duplex.records import Timeline
from turnwise.duplex.timing import answers, events, first_response, interruptions, user_turns

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
    first = first_response(timeline)
    heard = timeline.sentences if timeline.sentences is not None else user_turns(timeline)
    if first is not None and first.delay is not None:
        end = heard[0].end
        if not any(abs(mark.start - end) < 0.1 and mark.kind == RESPONSE for mark in marks):
            marks.append(Mark(end, end + first.delay, FIRST_RESPONSE))
    return sorted(marks)
