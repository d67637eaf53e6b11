"""Slot accuracy: the share of reference slots that were tracked with an acceptable value (a recall)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.metrics.state_metric import CONTEXT, FIRST, NEEDS, SOURCE, StateMetric, parts_by_turn
from turnwise.dialogue.records import UNIT
from turnwise.dialogue.states import Cells, StateTable, counts
from turnwise.kernel.metric import MetricSpec, Output
from turnwise.kernel.score import Measurement, measured, not_applicable


class SlotAccuracy(StateMetric):
    """right reference slots / reference slots of an exchange; extra predictions are slot_hallucination's business."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="slot_accuracy",
        version=1,
        question="How much of what the user asked for was tracked?",
        unit=UNIT,
        outputs=(Output(statistics=("right", "reference"), range=(0.0, 1.0)),),
        needs=NEEDS,
        parameters=(FIRST,),
        context=CONTEXT,
        part="slot",
        components=("triage", "memory"),
        source=SOURCE,
    )

    def measure_states(self, table: StateTable, cells: Cells) -> Iterator[Measurement]:
        """One measurement for each exchange of the table."""
        wanted = cells.in_reference
        missed = table.mismatches(cells, wanted & ~cells.agree, bool(self.settings.values["first"]))
        parts = parts_by_turn(table, cells, wanted, cells.agree, ratio=True)
        right, reference = (counts(cells.turn, chosen, table.n) for chosen in (wanted & cells.agree, wanted))
        for turn in range(table.n):
            if reference[turn]:
                yield measured((right[turn], reference[turn]), evidence=missed.get(turn), parts=parts[turn])
            else:
                yield not_applicable("no reference slots")
