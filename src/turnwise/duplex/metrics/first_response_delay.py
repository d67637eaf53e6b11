"""First response delay: how long after the user's first sentence the agent's first word comes."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from turnwise.duplex.cases import DELAY, EARLY, TOO_EARLY, UNANSWERED, Fact
from turnwise.duplex.metrics import ROOM
from turnwise.duplex.metrics.base import CATEGORIES, DELAYS_ONLY, OWN, RECORDINGS, SHARE, SPREAD, CaseMetric, over_files
from turnwise.duplex.metrics.totals import HUMDIAL
from turnwise.duplex.records import CONVERSATION
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, P50, P90, P95, Rollup, mean
from turnwise.kernel.score import Measurement, not_applicable

FILED = "filed"
"""In the context of a run that knows an average delay per category and nothing of the conversations."""


class FirstResponseDelay(CaseMetric):
    """The mean over conversations that were answered in time; early and missing answers are counted apart."""

    facts: ClassVar = {"value": (DELAY,), "early": (EARLY,), "unanswered": (UNANSWERED,)}
    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="first_response_delay",
        version=1,
        question="How long after the user's first sentence does the agent begin to answer?",
        unit=CONVERSATION,
        outputs=(
            Output(statistics=("seconds",), direction=Direction.LOWER, range=(0.0, None), rollups=(MEAN,)),
            Output("early", ("early",), Direction.LOWER, (0.0, 1.0), (MEAN,)),
            Output("unanswered", ("unanswered",), Direction.LOWER, (0.0, 1.0), (MEAN,)),
        ),
        needs=(f"{DELAY}|speech",),
        context=("level", "delays", "voice"),
        components=("turn taking",),
        source=HUMDIAL,
        optional=True,
        profiles=OWN,
    )

    def judged(self, output: str, fact: Fact) -> Measurement:
        """An answer before the end has no delay; nor, for the document, has one at the end."""
        if output == "value" and fact.reason == TOO_EARLY:
            return not_applicable(TOO_EARLY)
        if output == "value" and self.is_spec and fact.n and fact.total == 0:
            return not_applicable("the document averages positive delays only")
        return super().judged(output, fact)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Files say no more than the average of each category, and nothing of early answers."""
        found = super().outputs
        if self.level == CATEGORIES:
            return found[:1]
        if self.settings.context.get("delays") == FILED:
            return (replace(found[0], no_interval=DELAYS_ONLY),)
        return found

    def rollups(self, output: Output) -> tuple[Rollup, ...]:
        """Each category and language counts the same; without categories, each conversation."""
        if self.level == RECORDINGS:
            return SPREAD if output.name == "value" else SHARE
        primary = over_files(mean, 3 if self.is_spec and output.name == "value" else None)
        if self.level == CATEGORIES or self.settings.context.get("delays") == FILED or output.name != "value":
            return (primary,)
        return (primary, P50, P90, P95)
