"""Turn taking: one number between 0 and 1 for the timing of every turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics.base import EventMetric, Found
from turnwise.duplex.metrics.responses import declared
from turnwise.duplex.records import Segment
from turnwise.duplex.timing import EPSILON, Event, Interruption, Outcome, interruptions
from turnwise.duplex.timing import PATIENCE as WAITING
from turnwise.kernel.metric import MetricSpec, Output, Parameter
from turnwise.kernel.rollup import MACRO, MEAN, P50
from turnwise.kernel.score import Measurement, measured, not_applicable

CURVE = (-0.5, 0.5, 2.0, 3.5)
TOOL_CURVE = (-0.5, 0.5, 3.0, 5.0)
"""Seconds at which the score of a latency is 0, 1, 1 and 0, without and with a call of a tool before the answer."""
PATIENCE = 2.0
"""Seconds of talking at once that are worth nothing."""
MOST_INTERRUPTIONS = 3
EVA = "EVA (ServiceNow): turn taking"


class TurnTaking(EventMetric):
    """The score of each of the user's turns and interruptions, by when the agent spoke and fell silent."""

    spec: ClassVar[MetricSpec] = declared(
        "turn_taking",
        "How well timed is what the agent says?",
        (Output(statistics=("score",), range=(0.0, 1.0), rollups=(MEAN, P50, MACRO)),),
        source=EVA,
        parameters=(
            Parameter("earliest", CURVE[0], "latency in seconds that is worth 0"),
            Parameter("prompt", CURVE[1], "latency from which on it is worth 1"),
            Parameter("late", CURVE[2], "latency from which on it is worth less than 1"),
            Parameter("latest", CURVE[3], "latency that is worth 0 again"),
        ),
    )

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Every turn and interruption."""
        yields = {one.event.number: one for one in interruptions(talk.timeline, talk.events)}
        turns = [event for event in talk.events if event.spoken and event.directed]
        for place, event in enumerate(turns):
            if not talk.asks(event):
                continue
            stopped = yields.get(event.number)
            if stopped is not None and stopped.outcome is not Outcome.SILENT:
                yield talk.unit(event), "value", _yielded(stopped)
            else:
                limit = turns[place + 1].start if place + 1 < len(turns) else None
                yield talk.unit(event), "value", self._answered(talk, event, limit)

    def _answered(self, talk: Talk, event: Event, limit: float | None) -> Measurement:
        """A turn, by its answer; or by what the agent said into it."""
        agent = talk.timeline.agent or ()
        until = float("inf") if limit is None else limit + EPSILON
        into = [one for one in agent if event.start < one.start < event.end - EPSILON]
        after = next((one.start for one in agent if event.end - EPSILON <= one.start <= until), None)
        if into and (after is None or into[-1].end > event.end):  # what began too early is the answer, if it goes on
            after = into[-1].start
        spoken = after
        if spoken is None:
            if limit is None and (talk.timeline.seconds or 0.0) - event.end <= WAITING:
                return not_applicable("the recording ends before an answer is due")
            return measured((0.0,), evidence={"answer": None})
        latency = spoken - event.end
        score = curve(latency, self._curve(talk, event, spoken))
        about: dict[str, Any] = {"latency": round(latency, 3)}
        if into:
            parts = [*interruption_parts(event, into), score]
            about |= {"interrupted by": "agent", "parts": [round(part, 4) for part in parts]}
            score = min(parts)
        return measured((score,), evidence=about)

    def _curve(self, talk: Talk, event: Event, spoken: float) -> Sequence[float]:
        """Who has to look something up may take longer."""
        values = self.settings.values
        own = (values["earliest"], values["prompt"], values["late"], values["latest"])
        called = any(event.start <= at <= max(spoken, event.end) for at in talk.timeline.tool_calls)
        return (*own[:2], own[2] + TOOL_CURVE[2] - CURVE[2], own[3] + TOOL_CURVE[3] - CURVE[3]) if called else own


def _yielded(stopped: Interruption) -> Measurement:
    """An interruption, by how soon the agent fell silent."""
    if stopped.cut_off:
        return not_applicable("the recording ends before the agent could yield")
    if stopped.latency is None:
        return measured((0.0,), evidence={"interrupted by": "user", "silent_after": None})
    score = min(1.0, max(0.0, 1 - stopped.latency / PATIENCE))
    return measured((score,), evidence={"interrupted by": "user", "silent_after": round(stopped.latency, 3)})


def curve(latency: float, points: Sequence[float] = CURVE) -> float:
    """0 up to the first point, 1 between the second and the third, 0 from the fourth on, straight lines between."""
    at = [points[0], *(max(before, point) for before, point in pairwise(points))]
    return float(np.interp(latency, at, (0.0, 1.0, 1.0, 0.0)))


def interruption_parts(event: Event, into: Sequence[Segment]) -> tuple[float, float]:
    """What talking into a user's turn is worth: by how long both spoke, and by how often the agent began."""
    both = sum(min(one.end, event.end) - one.start for one in into)
    by_time = max(0.0, 0.5 * (1 - both / PATIENCE))
    by_count = max(0.0, 0.5 * (1 - (len(into) - 1) / (MOST_INTERRUPTIONS - 1)))
    return by_time, by_count
