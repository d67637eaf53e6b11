"""Selectivity: does the agent ignore what is not meant for it?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics.base import SHARE, EventMetric, Found
from turnwise.duplex.metrics.responses import declared
from turnwise.duplex.records import TO_IGNORE
from turnwise.duplex.timing import START_WINDOW, STOP_WINDOW, Ignored, ignored
from turnwise.kernel.metric import Metric, MetricSpec, Output, Parameter
from turnwise.kernel.score import measured

SETTINGS = (
    Parameter("stop_window", STOP_WINDOW, "seconds within which falling silent counts as reacting"),
    Parameter("start_window", START_WINDOW, "seconds after the end within which speaking up counts as reacting"),
)


class Selectivity(EventMetric):
    """The share of signs of listening, coughs, side speech and noises at which the agent just went on."""

    spec: ClassVar[MetricSpec] = declared(
        "selectivity",
        "How often does the agent ignore what is not meant for it?",
        tuple(Output(name, ("ignored",), range=(0.0, 1.0), rollups=SHARE) for name in ("value", *TO_IGNORE)),
        needs=("speech", "to_ignore"),
        parameters=SETTINGS,
    )

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Everything that should be ignored, right or wrong."""
        for one in found(self, talk):
            for output in ("value", one.event.kind):
                yield talk.unit(one.event), output, measured((float(one.correct),))


def found(metric: Metric, talk: Talk) -> list[Ignored]:
    """What should be ignored and is asked about."""
    values = metric.settings.values
    made = ignored(talk.timeline, talk.events, values["stop_window"], values["start_window"])
    return [one for one in made if talk.asks(one.event)]
