"""Task completion: did the user get what they came for, by the end of the dialogue?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from turnwise.dialogue.acting import actions, booking_goals, bookings, requests, violations
from turnwise.dialogue.answers import answered
from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.entities import invented
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.metrics.policy_compliance import NO_ACTS, SOURCE, VIOLATION
from turnwise.dialogue.records import DIALOGUE, Dialogue, Pair, domain_of
from turnwise.dialogue.resources import NO_DATABASE
from turnwise.kernel.metric import Metric, MetricSpec, Output, Parameter
from turnwise.kernel.score import Measurement, Parts, Unit, measured, not_applicable, skipped


class TaskCompletion(Metric):
    """1 if all that was to be booked is booked and all that was asked is answered, within the policy; else 0."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="task_completion",
        version=1,
        question="Did the user get what they came for?",
        unit=DIALOGUE,
        outputs=(Output(statistics=("completed",), range=(0.0, 1.0)),),
        parameters=(
            VIOLATION,
            Parameter("gate_on_hallucination", False, "a dialogue with an invented entity is not completed (004-16)"),
        ),
        needs=("prediction.acts|prediction.action",),
        context=("missing", "normaliser", "policy", "actions", "database"),
        part="domain",
        components=("supervisor", "policy", "action"),
        source=SOURCE,
    )

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """One verdict per dialogue, with what was not reached."""
        lacking = None
        if self.settings.values["gate_on_hallucination"] and batch.resources.database is None:
            lacking = skipped(NO_DATABASE)
        for dialogue in batch.dialogues:
            yield dialogue.unit, "value", lacking or self._verdict(dialogue, batch)

    def _verdict(self, dialogue: Dialogue, batch: ExchangeBatch) -> Measurement:
        to_book = booking_goals(dialogue, batch.resources)
        to_answer = requests(dialogue, batch.resources, batch.normaliser)
        if not to_book and not to_answer:
            return not_applicable("no goal")
        heard = [(pair, pair.prediction) for pair in dialogue.pairs if pair.prediction is not None]
        states = [made.state for _, made in heard if made.state is not None]
        if not heard and batch.submitted_only:
            return skipped(MISSING)
        if heard and all(actions(made, batch.resources.actions) is None for _, made in heard):
            return skipped(NO_ACTS)
        if heard and to_book and not states:
            return skipped("no predicted state")
        faults: dict[str, Any] = {}
        state = batch.normaliser.state(states[-1] if states else None)
        booked = {domain for pair, _ in heard for domain in bookings(pair, batch.resources)}
        failed: set[str] = set()
        for domain in to_book:
            missing = batch.resources.policy.missing(domain, state)
            if missing or domain not in booked:
                failed.add(domain)
                done = "booked" if domain in booked else "no booking"
                fault = {"booking": domain, "expected": "booked", "found": done, "missing": missing}
                faults.setdefault("bookings", []).append(fault)
        for slot, place in to_answer.items():
            if not answered(dialogue.pairs, slot, place, batch.resources, batch.normaliser):
                failed.add(domain_of(slot))
                faults.setdefault("requests", []).append({"slot": slot, "expected": "answered", "found": None})
        gates = {"policy": list(self._policy(dialogue.pairs, batch))}
        if self.settings.values["gate_on_hallucination"]:
            gates["hallucination"] = list(_invented(dialogue.pairs, batch))
        faults |= {name: found for name, found in gates.items() if found}
        closed = any(gates.values())
        domains = list(dict.fromkeys([*to_book, *map(domain_of, to_answer)]))
        parts = Parts(domains, ([float(not closed and domain not in failed) for domain in domains],))
        return measured((float(not closed and not failed),), evidence=faults or None, parts=parts)

    def _policy(self, pairs: Iterable[Pair], batch: ExchangeBatch) -> Iterator[dict[str, Any]]:
        by_intent = self.settings.values["violation"] == "intent"
        for pair in pairs:
            for broken in violations(pair, batch.resources, batch.normaliser, by_intent=by_intent):
                yield {"exchange": pair.unit.id, **broken}


def _invented(pairs: Iterable[Pair], batch: ExchangeBatch) -> Iterator[dict[str, Any]]:
    for pair in pairs:
        for mention in invented(pair, batch.resources, batch.normaliser):
            yield {"exchange": pair.unit.id, **mention.evidence}
