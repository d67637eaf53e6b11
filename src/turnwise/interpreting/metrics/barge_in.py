"""Barge-in handling: the document's score from 0 to 100."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.interpreting.barge_in import NAME, THRESHOLD, result
from turnwise.interpreting.batch import Heard
from turnwise.interpreting.metrics.base import CallMetric, Found, declared
from turnwise.interpreting.records import CAPTURE
from turnwise.kernel.metric import Direction, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import MEAN
from turnwise.kernel.score import measured, not_applicable, skipped

ADAPTIVE = Parameter("adaptive", False, "stretch the cutoff curve for long and fast sources")


class BargeIn(CallMetric):
    """The mean over the barge-ins of a call, of 60 % stopping, 30 % not mixing and 10 % answering."""

    spec: ClassVar[MetricSpec] = declared(
        NAME,
        "How well is a speaker handled who begins anew while the translation of the turn before is still heard?",
        (
            Output(statistics=("points",), range=(0.0, 100.0), rollups=(MEAN,)),
            Output("passed", ("passed",), Direction.HIGHER, (0.0, 1.0), (MEAN,)),
        ),
        CAPTURE,
        parameters=(ADAPTIVE,),
        source="Barge-In Metric Design Specification",
    )

    def judge(self, heard: Heard) -> Iterable[Found]:
        """The result in the document's shape is the evidence."""
        adaptive = bool(self.settings.values["adaptive"])
        pairs = heard.pairs(by_the_document=self.by_the_document, adaptive=adaptive)
        found = result(pairs, heard.call.thresholds.get(NAME, THRESHOLD))
        if found["score"] is None:
            reason = str(found["reason"])
            why = skipped if any(pair.missing for pair in pairs) else not_applicable
            yield heard.unit, "value", why(reason, evidence=found)
            yield heard.unit, "passed", why(reason)
        else:
            yield heard.unit, "value", measured((found["score"],), evidence=found)
            yield heard.unit, "passed", measured((float(found["details"]["passed"]),))
