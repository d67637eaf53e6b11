"""What a judge says of an interpreter: is all there, is it meant as it was, are the terms right, is anything mixed?

Words can be counted without a judge (completeness, mixing_share); meaning cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from turnwise.interpreting.batch import Heard, InterpretingBatch
from turnwise.interpreting.metrics import ROOM
from turnwise.interpreting.metrics.base import NOT_WANTED
from turnwise.interpreting.metrics.error_rates import NO_TEXT
from turnwise.interpreting.metrics.pairs import NO_ANSWER
from turnwise.interpreting.shown import NOTHING_CAME, TERMS
from turnwise.judge.metric import Asked, BatchWithPieces, JudgedMetric, judged_spec, question
from turnwise.judge.records import Pieces, Question, Rubric
from turnwise.judge.rubric import packaged_rubric
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.rollup import MACRO, MEAN
from turnwise.kernel.score import Measurement, Unit, not_applicable, skipped

NO_SOURCE = "what was said is not known: no source text"
NO_TERMS = "the scenario gives no terms for this turn"
_ROLLUPS = (MEAN, MACRO)
_OWN = "Not in the document; its section on future work asks for a judge of semantic mixing"


class _OfCalls(JudgedMetric):
    """A judged metric of turns or barge-ins; a call whose scenario asks for other metrics is not asked about."""

    def asked(self, batch: BatchWithPieces) -> Iterator[Asked]:
        """A question for each turn or barge-in, or why it does not arise."""
        assert isinstance(batch, InterpretingBatch)
        for heard in batch.heard:
            wanted = batch.wants(heard, self.spec.name)
            for unit, pieces in batch.pieces_in(heard, self.rubric.unit):
                yield unit, self._question(heard, unit, pieces) if wanted else not_applicable(NOT_WANTED)

    def _question(self, heard: Heard, unit: Unit, pieces: Pieces) -> Question | Measurement:
        """What is asked about one unit."""
        if pieces["source"] is None:
            return skipped(NO_SOURCE)
        if pieces["translation"] is None:
            return skipped(NO_TEXT)
        return question(self.rubric, unit, pieces)


class JudgedCompleteness(_OfCalls):
    """How much of what was said arrives, by its meaning."""

    rubric: ClassVar[Rubric] = packaged_rubric(ROOM, "judged_completeness")
    spec: ClassVar[MetricSpec] = judged_spec(
        rubric, rollups=_ROLLUPS, needs=("capture", "source_text"), components=("interpreting",), source=_OWN
    )


class IntentPreservation(_OfCalls):
    """Whether the listener would take it as it was meant."""

    rubric: ClassVar[Rubric] = packaged_rubric(ROOM, "intent_preservation")
    spec: ClassVar[MetricSpec] = judged_spec(
        rubric, rollups=_ROLLUPS, needs=("capture", "source_text"), components=("interpreting",), source=_OWN
    )


class Terminology(_OfCalls):
    """Whether agreed terms are translated as agreed."""

    rubric: ClassVar[Rubric] = packaged_rubric(ROOM, "terminology")
    spec: ClassVar[MetricSpec] = judged_spec(
        rubric, rollups=_ROLLUPS, needs=("capture", "source_text", TERMS), components=("interpreting",), source=_OWN
    )

    def _question(self, heard: Heard, unit: Unit, pieces: Pieces) -> Question | Measurement:
        """Only where there are terms: without an agreement the judge's taste would be the measure."""
        return not_applicable(NO_TERMS) if pieces[TERMS] is None else super()._question(heard, unit, pieces)


class SemanticMixing(_OfCalls):
    """Whether what was said in one of two turns stands in the translation of the other, in whatever words."""

    rubric: ClassVar[Rubric] = packaged_rubric(ROOM, "semantic_mixing")
    spec: ClassVar[MetricSpec] = judged_spec(
        rubric,
        rollups=_ROLLUPS,
        needs=("capture", "source_text", "barge_in"),
        components=("interpreting",),
        source=_OWN,
    )

    def _question(self, heard: Heard, unit: Unit, pieces: Pieces) -> Question | Measurement:
        """Only where two turns were spoken, it is known which translation is whose, and there is something to mix."""
        pair = next(one for one in heard.pairs() if heard.pair_unit(one.barge_in).id == unit.id)
        if pair.times is None:
            return skipped(pair.reason or "")
        if pair.reason:
            return not_applicable(pair.reason)
        if pieces["previous_source"] is None:
            return skipped(NO_SOURCE)
        if pieces["previous_translation"] is None:
            return skipped(NO_TEXT)
        if pieces["translation"] == NOTHING_CAME:
            return not_applicable(NO_ANSWER)
        return super()._question(heard, unit, pieces)
