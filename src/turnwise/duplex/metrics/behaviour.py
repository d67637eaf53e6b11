"""Behaviour: what the agent did, as somebody labelled it. Totals are made of these labels, whoever gave them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.categories import LABELS
from turnwise.duplex.metrics import ROOM
from turnwise.duplex.metrics.base import OWN, Found
from turnwise.duplex.metrics.totals import HUMDIAL
from turnwise.duplex.records import CONVERSATION
from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output
from turnwise.kernel.rollup import Rollup, share
from turnwise.kernel.score import labelled


class Behaviour(Metric):
    """The label of each conversation, and the share of every label."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="behaviour",
        version=1,
        question="What does the agent do when the user speaks up?",
        unit=CONVERSATION,
        outputs=(
            Output(
                statistics=(),
                direction=Direction.NEITHER,
                range=(0.0, 1.0),
                rollups=tuple(
                    Rollup(f"share of {label}", (share(label),), primary=label == LABELS[0]) for label in LABELS
                ),
            ),
        ),
        needs=("label",),
        components=("turn taking",),
        source=HUMDIAL,
        optional=True,
        profiles=OWN,
        baselines=False,
    )

    def measure(self, batch: DuplexBatch) -> Iterable[Found]:
        """Every label; a conversation may have several."""
        for case in batch.cases:
            for repeat, label in enumerate(case.labels):
                yield case.unit, "value", labelled(label)._replace(repeat=repeat)
