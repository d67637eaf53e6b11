"""Joint goal accuracy: whether the whole predicted state is right, with dontcare as a value and without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.metrics.state_metric import CONTEXT, FIRST, NEEDS, SOURCE, StateMetric, parts_by_turn
from turnwise.dialogue.records import UNIT
from turnwise.dialogue.states import Cells, StateTable
from turnwise.kernel.metric import MetricSpec, Output
from turnwise.kernel.rollup import BoolArray
from turnwise.kernel.score import Measurement, measured


class JointGoalAccuracy(StateMetric):
    """1 if the predicted state equals the reference state, nothing missing and nothing extra; else 0."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="joint_goal_accuracy",
        version=1,
        question="Was everything the user asked for so far tracked, and nothing else?",
        unit=UNIT,
        outputs=(Output(statistics=("right",), range=(0.0, 1.0)),),
        needs=NEEDS,
        parameters=(FIRST,),
        context=CONTEXT,
        part="slot",
        components=("memory", "triage"),
        source=SOURCE,
    )

    def measure_states(self, table: StateTable, cells: Cells) -> Iterator[Measurement]:
        """One measurement for each exchange of the table."""
        compared, right = self.verdicts(cells)
        wrong = table.mismatches(cells, compared & ~right, bool(self.settings.values["first"]))
        parts = parts_by_turn(table, cells, compared, right, ratio=False)
        for turn in range(table.n):
            submitted = bool(table.predicted[turn])
            evidence = wrong.get(turn) if submitted else {"missing": "prediction", "expected": wrong.get(turn, [])}
            yield measured((float(submitted and turn not in wrong),), evidence=evidence, parts=parts[turn])

    def verdicts(self, cells: Cells) -> tuple[BoolArray, BoolArray]:
        """Which cells are compared, and which of them are right."""
        return cells.in_reference | cells.in_prediction, cells.agree


class JointGoalAccuracyWithoutDontcare(JointGoalAccuracy):
    """The same with dontcare taken for absent on both sides: a diagnostic (004-3)."""

    spec: ClassVar[MetricSpec] = replace(
        JointGoalAccuracy.spec,
        name="joint_goal_accuracy_without_dontcare",
        question="Would the state be right if dontcare did not count?",
    )

    def verdicts(self, cells: Cells) -> tuple[BoolArray, BoolArray]:
        """A slot that need not be filled and is not filled is left out."""
        unfilled = ~cells.in_prediction | cells.predicted_dontcare
        not_needed = ~cells.in_reference | cells.reference_dontcare
        return ~(unfilled & not_needed), cells.agree
