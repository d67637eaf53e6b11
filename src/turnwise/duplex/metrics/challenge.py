"""The challenge's last steps: one delay, its score, and one number for everything."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from turnwise.duplex.cases import DELAY, REJECT, RESP, RESPOND, RESUME, STOP
from turnwise.duplex.metrics import ROOM
from turnwise.duplex.metrics.base import OWN
from turnwise.duplex.metrics.totals import HUMDIAL
from turnwise.duplex.records import CATEGORY, CONVERSATION
from turnwise.kernel.derived import Derived, Input, When
from turnwise.kernel.metric import SPEC, Direction, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import MEAN, FloatArray, round_half_up

MIN_DELAY, BASE_DELAY, SPAN = 0.624, 2.531, 40.0
"""Seconds of the fastest system and of the baseline of the challenge, and the points between them."""
WEIGHTS = 0.4, 0.4, 0.2
UNROUNDED = -1
_DIGITS = Parameter(
    "delay_digits", UNROUNDED, "digits that the total delay is rounded to; -1 for none", by_profile={SPEC: 3}
)
_DELAYS = ("avg_latency_stop", "avg_latency_resp", "first_response_delay")
_NEEDED = (f"{STOP}|speech", f"{RESP}|speech", f"{DELAY}|speech", CATEGORY)


def total_delay(inputs: Mapping[str, FloatArray], delay_digits: int = UNROUNDED) -> FloatArray:
    """The plain mean of the three delays."""
    found = sum(inputs[name] for name in _DELAYS) / len(_DELAYS)
    if delay_digits == UNROUNDED:
        return np.asarray(found)
    rounded = [value if np.isnan(value) else round_half_up(value, delay_digits) for value in np.ravel(found)]
    return np.array(rounded).reshape(np.shape(found))


def delay_score(
    inputs: Mapping[str, FloatArray],
    min_delay: float = MIN_DELAY,
    base_delay: float = BASE_DELAY,
    delay_span: float = SPAN,
) -> FloatArray:
    """100 for the fastest system, 60 for the baseline, by the logarithm of the delay."""
    delay = np.where(inputs["total_delay"] > 0, inputs["total_delay"], np.nan)  # no delay at all has no logarithm
    return np.asarray(100 - delay_span * np.log(delay / min_delay) / np.log(base_delay / min_delay))


def challenge_total(
    inputs: Mapping[str, FloatArray],
    interruption_weight: float = WEIGHTS[0],
    rejection_weight: float = WEIGHTS[1],
    delay_weight: float = WEIGHTS[2],
) -> FloatArray:
    """The weighted sum of the three scores."""
    return np.asarray(
        interruption_weight * inputs["interruption_total_score"]
        + rejection_weight * inputs["rejection_total_score"]
        + delay_weight * inputs["delay_score"]
    )


def _spec(
    name: str, question: str, output: Output, needs: tuple[str, ...], parameters: tuple[Parameter, ...]
) -> MetricSpec:
    return MetricSpec(
        room=ROOM,
        name=name,
        version=1,
        question=question,
        unit=CONVERSATION,
        outputs=(output,),
        needs=needs,
        parameters=parameters,
        components=("turn taking",),
        source=HUMDIAL,
        optional=True,
        profiles=OWN,
        baselines=False,
    )


TOTAL_DELAY = Derived(
    _spec(
        "total_delay",
        "How long does the user wait, all in all?",
        Output(direction=Direction.LOWER, range=(0.0, None), rollups=(MEAN,)),
        _NEEDED,
        (_DIGITS,),
    ),
    tuple(Input(name) for name in _DELAYS),
    total_delay,
    When.AFTER_ROLLUP,
)
DELAY_SCORE = Derived(
    _spec(
        "delay_score",
        "How good is the total delay, between the fastest system and the baseline?",
        Output(rollups=(MEAN,)),
        _NEEDED,
        (
            Parameter("min_delay", MIN_DELAY, "seconds that are worth 100"),
            Parameter("base_delay", BASE_DELAY, "seconds of the baseline"),
            Parameter("delay_span", SPAN, "points between the two"),
        ),
    ),
    (Input("total_delay"),),
    delay_score,
    When.AFTER_ROLLUP,
)
CHALLENGE_TOTAL = Derived(
    _spec(
        "challenge_total",
        "How good is the agent, all in all?",
        Output(rollups=(MEAN,)),
        (RESPOND, f"{RESUME}|{REJECT}", *_NEEDED),
        (
            Parameter("interruption_weight", WEIGHTS[0], "of the interruption score"),
            Parameter("rejection_weight", WEIGHTS[1], "of the rejection score"),
            Parameter("delay_weight", WEIGHTS[2], "of the delay score"),
        ),
    ),
    (Input("interruption_total_score"), Input("rejection_total_score"), Input("delay_score")),
    challenge_total,
    When.AFTER_ROLLUP,
)
