"""Routing: was the exchange understood as being about the right domain, and the right intent?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.metrics.set_metric import SET_OUTPUTS, SOURCE, Names, SetMetric
from turnwise.dialogue.records import UNIT, Pair, domains_of_names, folded_intent, reference_domains
from turnwise.kernel.metric import MetricSpec, Output
from turnwise.kernel.rollup import MACRO_FIRST, MICRO_SECOND
from turnwise.kernel.score import Measurement, not_applicable, skipped

NO_INTENT = "no intent in this exchange"


class DomainAccuracy(SetMetric):
    """1 if the predicted domains are those of the reference, else 0; over exchanges where the user wants something."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="domain_accuracy",
        version=1,
        question="Was the exchange routed to the right domain?",
        unit=UNIT,
        outputs=(Output(statistics=("right",), range=(0.0, 1.0), rollups=(MACRO_FIRST, MICRO_SECOND)),),
        needs=("reference.domains|reference.intents", "prediction.domains|prediction.intents"),
        context=("missing",),
        components=("triage",),
        source=SOURCE,
    )

    def expected(self, batch: ExchangeBatch, pair: Pair) -> Names | Measurement:
        """The annotated domains, or else those of the intents (004-9)."""
        reference = pair.reference
        if reference.intents == ():
            return not_applicable(NO_INTENT)
        if reference.domains is None and reference.intents is None:
            return skipped("no reference domain")
        return frozenset(reference_domains(reference)) or not_applicable("no domain in this exchange")

    def predicted(self, batch: ExchangeBatch, pair: Pair) -> Names | None:
        """The prediction's own domains, or else those of its intents."""
        made = pair.prediction
        if made is None or (made.domains is None and made.intents is None):
            return None
        return frozenset(made.domains if made.domains is not None else domains_of_names(made.intents, "_"))


class IntentAccuracy(SetMetric):
    """1 if the predicted intents are exactly those of the reference, else 0; precision and recall beside it."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="intent_accuracy",
        version=1,
        question="Was what the user wants identified, all of it and nothing else?",
        unit=UNIT,
        outputs=SET_OUTPUTS,
        needs=("reference.intents", "prediction.intents"),
        context=("missing",),
        components=("triage",),
        source=SOURCE,
    )

    def expected(self, batch: ExchangeBatch, pair: Pair) -> Names | Measurement:
        """The reference's intents."""
        if pair.reference.intents is None:
            return skipped("no reference intents")
        return frozenset(map(folded_intent, pair.reference.intents)) or not_applicable(NO_INTENT)

    def predicted(self, batch: ExchangeBatch, pair: Pair) -> Names | None:
        """The prediction's intents."""
        made = pair.prediction
        return None if made is None or made.intents is None else frozenset(map(folded_intent, made.intents))
