"""Metrics: what they declare, how settings are resolved, and the errors a wrong setting gives."""

from __future__ import annotations

import pickle
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.kernel.bands import Band, Bands
from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import SPEC, Direction, Metric, MetricSpec, Output, Parameter, Settings, resolve_settings
from turnwise.kernel.rollup import MACRO, MACRO_FIRST, MICRO, MICRO_SECOND, P50

FIRST = Parameter("first", False, "only the first alternative counts")
SCOPE = Parameter("scope", "active", "what counts", choices=("active", "all"), by_profile={SPEC: "all"})
WINDOW = Parameter("window_ms", 500, "how long to wait", by_profile={SPEC: 600})
SHARE = Parameter("share", 0.5, "how much is enough")


class Accuracy(Metric):
    spec: ClassVar[MetricSpec] = MetricSpec(
        room="toys",
        name="accuracy",
        version=2,
        question="How right?",
        unit="item",
        outputs=(Output(statistics=("right", "all"), range=(0.0, 1.0)), Output("count", ("n",))),
        parameters=(FIRST, SCOPE, WINDOW, SHARE),
        context=("normaliser",),
    )


class Plain(Metric):
    spec: ClassVar[MetricSpec] = MetricSpec(room="toys", name="plain", version=1, question="?", unit="item")


# --- settings -----------------------------------------------------------------------------------------------


def test_without_settings_the_defaults_hold() -> None:
    assert Accuracy().settings.values == {"first": False, "scope": "active", "window_ms": 500, "share": 0.5}
    assert Accuracy().settings.profile == "turnwise"


def test_a_profile_has_defaults_of_its_own() -> None:
    assert Accuracy(Settings(SPEC)).settings.values == {
        "first": False,
        "scope": "all",
        "window_ms": 600,
        "share": 0.5,
    }
    assert Accuracy(Settings("unheard of")).settings.values == Accuracy().settings.values


def test_what_a_user_says_wins_over_the_profile() -> None:
    metric = Accuracy(Settings(SPEC, {"scope": "active", "first": True}))
    assert metric.settings.values == {"first": True, "scope": "active", "window_ms": 600, "share": 0.5}


def test_the_signature_has_every_setting_and_the_declared_context() -> None:
    context = {"normaliser": "none:ab12", "not declared": "x"}
    assert Accuracy(Settings(SPEC, {"first": True}, context)).signature == (
        "toys/accuracy|v2|profile=spec|first=true|normaliser=none:ab12|scope=all|share=0.5|window_ms=600"
    )
    assert Plain(Settings(context=context)).signature == "toys/plain|v1|profile=turnwise"


def test_settings_of_one_metric_do_not_reach_another() -> None:
    first, second = Accuracy(Settings(values={"first": True})), Accuracy()
    assert (first.settings.values["first"], second.settings.values["first"]) == (True, False)


def test_a_metric_is_picklable() -> None:
    metric = Accuracy(Settings(SPEC, {"first": True}, {"normaliser": "none:ab12"}))
    again = pickle.loads(pickle.dumps(metric))
    assert (again.signature, again.settings) == (metric.signature, metric.settings)


# --- parsing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (FIRST, "true", True),
        (FIRST, "TRUE", True),
        (FIRST, " yes ", True),
        (FIRST, "on", True),
        (FIRST, "1", True),
        (FIRST, "false", False),
        (FIRST, "No", False),
        (FIRST, "off", False),
        (FIRST, "0", False),
        (SCOPE, "all", "all"),
        (SCOPE, " active ", "active"),
        (WINDOW, "250", 250),
        (WINDOW, "-1", -1),
        (SHARE, "0.25", 0.25),
        (SHARE, "1", 1.0),
        (SHARE, "1e-3", 0.001),
    ],
)
def test_a_typed_value_takes_the_type_of_the_default(parameter: Parameter, text: str, value: object) -> None:
    found = parameter.parse(text)
    assert found == value
    assert type(found) is type(parameter.default)


@pytest.mark.parametrize(
    ("parameter", "text", "expected"),
    [
        (FIRST, "maybe", "true or false"),
        (FIRST, "", "true or false"),
        (FIRST, "2", "true or false"),
        (WINDOW, "2.5", "int"),
        (WINDOW, "half a second", "int"),
        (SHARE, "a lot", "float"),
        (SHARE, "", "float"),
        (SHARE, "nan", "float"),
        (SHARE, "inf", "float"),
        (SCOPE, "everything", "active or all"),
    ],
)
def test_a_value_of_another_kind_is_refused(parameter: Parameter, text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=f"--set {parameter.name}: cannot be") as caught:
        parameter.parse(text)
    assert repr(text) in caught.value.what
    assert expected in (caught.value.expected or "")


def test_a_near_miss_of_a_choice_is_understood() -> None:
    with pytest.raises(UsageError) as caught:
        SCOPE.parse("activ")
    assert caught.value.remedy == "did you mean active?"


@given(st.integers(-(10**12), 10**12), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_what_is_written_is_read_back(whole: int, real: float, truth: bool) -> None:
    assert WINDOW.parse(str(whole)) == whole
    assert SHARE.parse(repr(real)) == real
    assert FIRST.parse(str(truth)) is truth


# --- settings of a run --------------------------------------------------------------------------------------


def test_each_metric_gets_the_settings_it_knows() -> None:
    found = resolve_settings([Accuracy.spec, Plain.spec], SPEC, {"first": "true"}, {"normaliser": "n"})
    assert found == {
        "toys/accuracy": Settings(SPEC, {"first": True}, {"normaliser": "n"}),
        "toys/plain": Settings(SPEC, {}, {"normaliser": "n"}),
    }


def test_a_setting_that_no_metric_has_is_named() -> None:
    with pytest.raises(UsageError, match="--set scop: no chosen metric has a setting of that name") as caught:
        resolve_settings([Accuracy.spec, Plain.spec], "turnwise", {"scop": "all"}, {})
    assert caught.value.expected == "first, scope, share, window_ms"
    assert caught.value.remedy == "did you mean scope?"
    with pytest.raises(UsageError) as caught:
        resolve_settings([Plain.spec], "turnwise", {"scope": "all"}, {})
    assert caught.value.expected == "no setting: the chosen metrics have none"


def test_a_wrong_value_is_found_before_anything_is_measured() -> None:
    with pytest.raises(UsageError, match="--set first"):
        resolve_settings(iter([Accuracy.spec]), "turnwise", {"first": "perhaps"}, {})


# --- outputs and values -------------------------------------------------------------------------------------


def test_the_primary_rollup_is_the_one_that_says_so_or_else_the_first() -> None:
    assert Output().primary is MICRO
    assert Output(rollups=(MICRO_SECOND, MACRO_FIRST)).primary is MACRO_FIRST
    assert Output(rollups=(P50, MACRO)).primary is P50


def test_an_output_is_found_by_its_name() -> None:
    assert Accuracy.spec.output("count").statistics == ("n",)
    assert Accuracy.spec.output("value").statistics == ("right", "all")
    assert Accuracy.spec.full_name == "toys/accuracy"


def test_the_value_is_the_statistic_or_the_ratio_of_two() -> None:
    metric = Accuracy()
    np.testing.assert_array_equal(metric.value("count", np.array([[3.0], [0.0]])), [3.0, 0.0])
    # 3/4, 0/2, and nothing to divide by
    found = metric.value("value", np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(found, [0.75, 0.0, np.nan])
    # any shape before the last axis: 1/2 and 3/6 in a 1 x 2 grid
    np.testing.assert_array_equal(metric.value("value", np.array([[[1.0, 2.0], [3.0, 6.0]]])), [[0.5, 0.5]])


def test_bands_and_direction_are_part_of_the_declaration() -> None:
    output = Output(direction=Direction.LOWER, bands=Bands((Band("poor"), Band("good", "<1"))))
    assert output.bands is not None
    assert output.bands.of(0.5) == "good"
    assert Output().direction is Direction.HIGHER


def test_a_metric_that_measures_nothing_says_which_one_it_is() -> None:
    with pytest.raises(NotImplementedError, match="Plain"):
        list(Plain().measure(None))
