"""Dialogue acts: were the right acts chosen, and did they say the right things?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.dialogue.acting import asked_slot
from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.metrics.set_metric import SET_OUTPUTS, SOURCE, Names, SetMetric
from turnwise.dialogue.records import UNIT, Exchange, Pair
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, skipped


class ActionTypeAccuracy(SetMetric):
    """1 if the predicted types of acts are exactly those of the reference, else 0; precision and recall beside it."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="action_type_accuracy",
        version=1,
        question="Did the system choose the right kinds of acts?",
        unit=UNIT,
        outputs=SET_OUTPUTS,
        needs=("reference.acts", "prediction.acts"),
        context=("missing",),
        components=("action", "supervisor"),
        source=SOURCE,
    )

    def expected(self, batch: ExchangeBatch, pair: Pair) -> Names | Measurement:
        """The types of the reference's acts."""
        if pair.reference.acts is None:
            return skipped("no reference acts")
        return _types(pair.reference)

    def predicted(self, batch: ExchangeBatch, pair: Pair) -> Names | None:
        """The types of the predicted acts."""
        made = pair.prediction
        return None if made is None or made.acts is None else _types(made)


class ActSlotAccuracy(SetMetric):
    """The same for acts with what they say: `Restaurant-Inform(area=north)`."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="act_slot_accuracy",
        version=1,
        question="Did the acts say the right things?",
        unit=UNIT,
        outputs=SET_OUTPUTS,
        needs=("reference.act_slots", "prediction.act_slots"),
        context=("missing", "normaliser", "actions"),
        components=("action", "supervisor"),
        source=f"{SOURCE}: the extension of metric 3",
    )

    def expected(self, batch: ExchangeBatch, pair: Pair) -> Names | Measurement:
        """The reference's acts, each with a slot and its value."""
        if pair.reference.act_slots is None:
            return skipped("no reference acts with slots")
        return _with_slots(pair.reference, batch)

    def predicted(self, batch: ExchangeBatch, pair: Pair) -> Names | None:
        """The predicted acts, each with a slot and its value."""
        made = pair.prediction
        return None if made is None or made.act_slots is None else _with_slots(made, batch)


def _types(exchange: Exchange) -> Names:
    return frozenset(act.strip().lower() for act in exchange.acts or ())


def _with_slots(exchange: Exchange, batch: ExchangeBatch) -> Names:
    """`act(slot=value)` for all it says; an act that says nothing stands alone."""
    found = set()
    bare = set(_types(exchange))
    for act, slot, value in exchange.act_slots or ():
        name = act.strip().lower()
        bare.discard(name)
        full = asked_slot(f"{name.partition('-')[0]}-{slot}", batch.resources, batch.normaliser)
        said = batch.normaliser.value(full, value) or "?"
        found.add(f"{name}({full.partition('-')[2]}={said})" if slot.strip().lower() not in ("", "none") else name)
    return frozenset(found | bare)
