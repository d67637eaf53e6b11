"""Slot hallucination: the share of predicted slots that the reference does not support (1 - precision in scope)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.metrics.state_metric import CONTEXT, FIRST, NEEDS, SOURCE, StateMetric, parts_by_turn
from turnwise.dialogue.records import UNIT
from turnwise.dialogue.states import Cells, StateTable, counts, in_scope
from turnwise.kernel.metric import SPEC, Direction, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import FloatArray, ratio_value
from turnwise.kernel.score import Measurement, measured


class SlotHallucination(StateMetric):
    """hallucinated predicted slots / predicted slots in scope; 0 where nothing is predicted there (004-6)."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="slot_hallucination",
        version=1,
        question="How much of what was tracked did the user not ask for?",
        unit=UNIT,
        outputs=(Output(statistics=("hallucinated", "predicted"), direction=Direction.LOWER, range=(0.0, 1.0)),),
        needs=NEEDS,
        parameters=(
            FIRST,
            Parameter(
                "scope",
                "active",
                "which predicted slots count: those of active domains and of domains that the reference state lacks; "
                "those of the reference's active domains only; or all",
                choices=("active", "reference", "all"),
                by_profile={SPEC: "reference"},
            ),
        ),
        context=CONTEXT,
        part="slot",
        components=("supervisor", "action"),
        source=SOURCE,
    )
    missing_counts_as_wrong = False

    def measure_states(self, table: StateTable, cells: Cells) -> Iterator[Measurement]:
        """One measurement for each exchange of the table."""
        scoped = in_scope(table, cells, str(self.settings.values["scope"]))
        invented = scoped & ~cells.agree
        evidence = table.mismatches(cells, invented, bool(self.settings.values["first"]))
        parts = parts_by_turn(table, cells, scoped, ~cells.agree, ratio=True)
        bad, predicted = (counts(cells.turn, chosen, table.n) for chosen in (invented, scoped))
        for turn in range(table.n):
            yield measured((bad[turn], predicted[turn]), evidence=evidence.get(turn), parts=parts[turn])

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        """Hallucinated / predicted; nothing predicted is nothing hallucinated."""
        return np.where(statistics[..., 1] == 0, 0.0, ratio_value(statistics))
