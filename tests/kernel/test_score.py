"""Scores: what may be built, and what must not reach a mean."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.kernel.score import (
    Measurement,
    Parts,
    Score,
    Source,
    Status,
    Unit,
    check_consistent,
    failed,
    labelled,
    measured,
    not_applicable,
    skipped,
)

UNIT = Unit("d1/0", "d1", {"domain": "hotel"}, "exchange")
MISSING = [Status.NOT_APPLICABLE, Status.SKIPPED, Status.ERROR]


def score(**fields: Any) -> Score:
    return Score(metric="dialogue/m", unit=UNIT, signature="dialogue/m|v1", **fields)


@pytest.mark.parametrize(("unit_id", "cluster"), [("", "d1"), ("d1/0", ""), ("", "")])
def test_a_unit_needs_an_id_and_a_cluster(unit_id: str, cluster: str) -> None:
    with pytest.raises(ValueError, match="needs an id and a cluster") as caught:
        Unit(unit_id, cluster)
    assert f"id={unit_id!r}" in str(caught.value)
    assert f"cluster={cluster!r}" in str(caught.value)


def test_a_unit_without_more_has_no_dimensions() -> None:
    assert Unit("a", "a").dimensions == {}
    assert Unit("a", "a").kind == "item"


def test_units_do_not_share_their_dimensions() -> None:
    first, second = Unit("a", "a"), Unit("b", "b")
    assert first.dimensions is not second.dimensions


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_value_can_be_scored(value: float) -> None:
    made = score(value=value)
    assert (made.status, made.value) == (Status.SCORED, value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_must_be_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        score(value=value)


@pytest.mark.parametrize("statistics", [(1.0, math.nan), (math.inf, 2.0), (-math.inf,)])
def test_statistics_must_be_finite(statistics: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="statistics must be finite"):
        score(value=0.5, statistics=statistics)


def test_scored_without_a_number_or_a_label_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a value or a label"):
        score()
    assert score(label="C_RESPOND").value is None
    assert score(value=0.0).value == 0.0


@pytest.mark.parametrize("status", MISSING)
def test_a_missing_score_says_why_and_has_no_number(status: Status) -> None:
    assert score(status=status, reason="no audio").reason == "no audio"
    for reason in (None, ""):
        with pytest.raises(ValueError, match=f"{status} must say why"):
            score(status=status, reason=reason)
    with pytest.raises(ValueError, match="neither value nor label"):
        score(status=status, reason="no audio", value=0.0)
    with pytest.raises(ValueError, match="neither value nor label"):
        score(status=status, reason="no audio", label="C_RESPOND")


@given(
    st.sampled_from(Status),
    st.none() | st.floats(),
    st.none() | st.text(max_size=3),
    st.none() | st.text(max_size=3),
)
def test_what_is_consistent(status: Status, value: float | None, label: str | None, reason: str | None) -> None:
    """The rule written a second time: scored = a finite number or a label; otherwise only a reason."""
    if status is Status.SCORED:
        right = (value is not None and math.isfinite(value)) or (value is None and label is not None)
    else:
        right = value is None and label is None and reason not in (None, "")
    if right:
        check_consistent(status, value, label, reason)
    else:
        with pytest.raises(ValueError):
            check_consistent(status, value, label, reason)


def test_a_score_cannot_be_changed() -> None:
    made = score(value=0.5)
    with pytest.raises(AttributeError):
        made.value = 1.0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        UNIT.id = "other"  # type: ignore[misc]


def test_a_score_is_of_code_and_of_the_real_system_unless_it_says_otherwise() -> None:
    made = score(value=0.5)
    assert (made.source, made.rater, made.variant, made.repeat, made.output) == (Source.CODE, "", "", 0, "value")


def test_a_score_survives_pickling() -> None:
    parts = Parts(["hotel-area"], [[1], [2]])
    made = score(value=0.5, statistics=(1.0, 2.0), parts=parts, evidence=[{"slot": "hotel-area"}])
    assert pickle.loads(pickle.dumps(made)) == made


def test_short_ways_to_a_measurement() -> None:
    parts = Parts(["a"], [[1], [2]])
    assert measured((1, 2), evidence="e", parts=parts) == Measurement(
        (1, 2), None, Status.SCORED, None, "e", parts, 0, ""
    )
    assert labelled("yes") == Measurement(label="yes")
    assert not_applicable("nothing cited").status is Status.NOT_APPLICABLE
    assert skipped("no audio").status is Status.SKIPPED
    assert failed("ValueError: x").status is Status.ERROR
    assert skipped("no audio", evidence=[1]) == Measurement(status=Status.SKIPPED, reason="no audio", evidence=[1])


def test_the_words_of_a_status_are_those_of_the_database() -> None:
    assert [status.value for status in Status] == ["scored", "not_applicable", "skipped", "error"]
    assert [source.value for source in Source] == ["code", "judge", "human"]
