"""System correctness: did the system do the right thing with what the user gave it?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from turnwise.dialogue.acting import actions, bookings, expected_action, violations
from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.entities import invented
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.metrics.policy_compliance import NO_ACTS, SOURCE
from turnwise.dialogue.records import UNIT, Pair
from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.score import Measurement, Unit, measured, skipped


class SystemCorrectness(Metric):
    """1 if the action is the right one, no booking broke the policy and no entity was invented; else 0."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="system_correctness",
        version=1,
        question="Did the system do the right thing with what the user gave it?",
        unit=UNIT,
        outputs=(Output(statistics=("correct",), range=(0.0, 1.0)),),
        needs=("reference.intents|reference.action", "prediction.acts|prediction.action"),
        context=("missing", "normaliser", "policy", "actions", "database"),
        components=("supervisor", "action", "policy"),
        source=SOURCE,
    )

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """One verdict per exchange, with what was wrong."""
        for pair in batch.pairs:
            yield pair.unit, "value", self._verdict(pair, batch)

    def _verdict(self, pair: Pair, batch: ExchangeBatch) -> Measurement:
        expected = expected_action(pair, batch.resources, batch.normaliser)
        if expected is None:
            return skipped("the right action is not known: no reference intents, or none that the table of actions has")
        made = pair.prediction
        done = None if made is None else actions(made, batch.resources.actions)
        if done is None:
            wrong = {"missing": "prediction" if made is None else NO_ACTS, "expected": expected}
            return skipped(MISSING) if batch.submitted_only else measured((0.0,), evidence=wrong)
        if made is not None and made.state is None and bookings(pair, batch.resources):
            return skipped("a booking, but no predicted state")
        faults: dict[str, Any] = {}
        if not batch.resources.actions.accepts(expected, done):
            faults["action"] = {"expected": expected, "found": list(done)}
        if broken := violations(pair, batch.resources, batch.normaliser, by_intent=False):
            faults["policy"] = broken
        if made is not None and (made_up := invented(pair, batch.resources, batch.normaliser)):
            faults["hallucination"] = [m.evidence for m in made_up]
        return measured((float(not faults),), evidence=faults or None)
