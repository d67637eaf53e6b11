"""Task completion: did the user get what they came for, by the end of the dialogue?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from turnwise.dialogue.acting import actions, booking_goals, bookings, requests, violations
from turnwise.dialogue.answers import answered
from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.entities import invented
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.metrics.exchange_metric import not_carried
from turnwise.dialogue.metrics.policy_compliance import NO_ACTS, SOURCE, VIOLATION
from turnwise.dialogue.records import DIALOGUE, Dialogue, Pair, domain_of
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
        context=("missing", "normaliser", "policy", "actions", "database"),
        part="domain",
        components=("supervisor", "policy", "action"),
        source=SOURCE,
    )

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """One verdict per dialogue, with what was not reached."""
        lacking = not_carried(batch, "acts", "action")
        for dialogue in batch.dialogues:
            yield dialogue.unit, "value", lacking or self._verdict(dialogue, batch)

    def _verdict(self, dialogue: Dialogue, batch: ExchangeBatch) -> Measurement:
        to_book = booking_goals(dialogue)
        to_answer = requests(dialogue, batch.resources, batch.normaliser)
        if not to_book and not to_answer:
            return not_applicable("no goal")
        heard = [pair for pair in dialogue.pairs if pair.prediction is not None]
        if not heard and batch.submitted_only:
            return skipped(MISSING)
        done = [actions(pair.prediction, batch.resources.actions) for pair in heard if pair.prediction]
        if heard and all(found is None for found in done):
            return skipped(NO_ACTS)
        faults: dict[str, Any] = {}
        state = batch.normaliser.state(heard[-1].prediction.state if heard and heard[-1].prediction else None)
        booked = {domain for pair in heard for domain in bookings(pair, batch.resources)}
        failed: set[str] = set()
        for domain in to_book:
            missing = batch.resources.policy.missing(domain, state)
            if missing or domain not in booked:
                failed.add(domain)
                faults.setdefault("bookings", []).append(
                    {"booking": domain, "expected": "booked", "found": _found(domain in booked), "missing": missing}
                )
        for slot, place in to_answer.items():
            if not answered(dialogue.pairs, slot, place, batch.resources, batch.normaliser):
                failed.add(domain_of(slot))
                faults.setdefault("requests", []).append({"slot": slot, "expected": "answered", "found": None})
        broken = list(self._policy(dialogue.pairs, batch))
        if broken:
            faults["policy"] = broken
        gated = bool(broken) or (bool(self.settings.values["gate_on_hallucination"]) and _invents(dialogue, batch))
        domains = list(dict.fromkeys([*to_book, *map(domain_of, to_answer)]))
        parts = Parts(domains, ([float(not gated and domain not in failed) for domain in domains],))
        return measured((float(not gated and not failed),), evidence=faults or None, parts=parts)

    def _policy(self, pairs: Iterable[Pair], batch: ExchangeBatch) -> Iterator[dict[str, Any]]:
        by_intent = self.settings.values["violation"] == "intent"
        for pair in pairs:
            for broken in violations(pair, batch.resources, batch.normaliser, by_intent=by_intent):
                yield {"exchange": pair.unit.id, **broken}


def _found(booked: bool) -> str:
    return "booked" if booked else "no booking"


def _invents(dialogue: Dialogue, batch: ExchangeBatch) -> bool:
    return any(invented(pair, batch.resources, batch.normaliser) for pair in dialogue.pairs)
