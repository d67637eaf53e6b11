"""Policy compliance: was anything booked before all that a booking requires was known?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.dialogue.acting import actions, attempts, violations
from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.records import UNIT, Pair
from turnwise.kernel.metric import SPEC, Direction, Metric, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import CLUSTER, MACRO, MICRO, Rollup, mean, pool, total
from turnwise.kernel.score import Measurement, Unit, measured, not_applicable, skipped

VIOLATION = Parameter(
    "violation",
    "booking",
    "what can violate the policy: a booking that the system makes, or (to the letter) a user's wish to book",
    choices=("booking", "intent"),
    by_profile={SPEC: "intent"},
)
NO_ACTS = "no predicted acts or action"
SOURCE = "MAS4CS evaluation choices, metrics 8 to 10"


class PolicyCompliance(Metric):
    """Per exchange whether the policy was kept, and how often it was not."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="policy_compliance",
        version=1,
        question="Was anything booked before all that the policy requires was known?",
        unit=UNIT,
        outputs=(
            Output("compliance", statistics=("compliant",), range=(0.0, 1.0), rollups=(MICRO, MACRO)),
            Output(
                "violation_rate",
                statistics=("violated",),
                direction=Direction.LOWER,
                range=(0.0, 1.0),
                rollups=(MICRO, MACRO),
            ),
            Output(
                "violations",
                statistics=("violated",),
                direction=Direction.LOWER,
                range=(0.0, None),
                rollups=(
                    Rollup("total", (total(),), primary=True),
                    Rollup("macro", (total(by=(CLUSTER,)), mean())),
                ),
            ),
            Output(
                "violations_per_booking",
                statistics=("violations", "bookings"),
                direction=Direction.LOWER,
                range=(0.0, 1.0),
                rollups=(
                    Rollup("micro", (pool(),), primary=True),
                    Rollup("macro", (pool(by=(CLUSTER,)), mean())),
                ),
            ),
        ),
        needs=("prediction.acts|prediction.action|prediction.intents|reference.intents",),
        parameters=(VIOLATION,),
        context=("normaliser", "policy", "actions"),
        components=("policy",),
        source=SOURCE,
    )

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """Four numbers per exchange."""
        by_intent = self.settings.values["violation"] == "intent"
        for pair in batch.pairs:
            unscored = _unscored(pair, batch, by_intent)
            if unscored is not None:
                yield from ((pair.unit, output.name, unscored) for output in self.spec.outputs)
                continue
            booked = attempts(pair, batch.resources, by_intent=by_intent)
            broken = violations(pair, batch.resources, batch.normaliser, by_intent=by_intent)
            violated = float(bool(broken))
            yield pair.unit, "compliance", measured((1 - violated,), evidence=broken or None)
            yield pair.unit, "violation_rate", measured((violated,))
            yield pair.unit, "violations", measured((violated,))
            per_booking = measured((len(broken), len(booked))) if booked else not_applicable("no booking")
            yield pair.unit, "violations_per_booking", per_booking


def _unscored(pair: Pair, batch: ExchangeBatch, by_intent: bool) -> Measurement | None:
    """Why an exchange cannot be judged: a system that was not heard has booked nothing."""
    made = pair.prediction
    if made is None:
        return skipped(MISSING)
    if by_intent:
        if made.intents is None and pair.reference.intents is None:
            return skipped("no intents")
    elif actions(made, batch.resources.actions) is None:
        return skipped(NO_ACTS)
    booked = attempts(pair, batch.resources, by_intent=by_intent)
    return skipped("no predicted state") if made.state is None and booked else None
