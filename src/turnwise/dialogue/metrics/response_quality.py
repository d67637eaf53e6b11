"""Response quality: what a judge thinks of each response, on a scale from 1 to 5."""

from __future__ import annotations

from typing import ClassVar

from turnwise.dialogue.metrics import ROOM
from turnwise.judge.metric import JudgedMetric, judged_spec
from turnwise.judge.records import Rubric
from turnwise.judge.rubric import packaged_rubric
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.rollup import MACRO_FIRST, MICRO_SECOND


class ResponseQuality(JudgedMetric):
    """The judge's overall score of a response, and its scores for correctness, completeness, clarity and policy."""

    rubric: ClassVar[Rubric] = packaged_rubric(ROOM, "response_quality")
    spec: ClassVar[MetricSpec] = judged_spec(
        rubric,
        rollups=(MACRO_FIRST, MICRO_SECOND),
        needs=("prediction.response",),
        optional=False,
        components=("end to end",),
        source="MAS4CS evaluation choices, metric 11",
    )
