"""Selections: which metrics a run uses, inputs of derived ones first, each with its signature."""

from __future__ import annotations

from typing import ClassVar

import pytest

from turnwise.kernel.derived import Derived, Input
from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import SPEC, Metric, MetricSpec, Output, Parameter
from turnwise.kernel.registry import Registry
from turnwise.kernel.selection import select_metrics


def spec(
    name: str, needs: tuple[str, ...] = (), optional: bool = False, parameters: tuple[Parameter, ...] = ()
) -> MetricSpec:
    return MetricSpec(
        room="toys",
        name=name,
        version=1,
        question="?",
        unit="item",
        needs=needs,
        optional=optional,
        parameters=parameters,
        context=("model",),
    )


class Height(Metric):
    spec: ClassVar[MetricSpec] = spec("height", parameters=(Parameter("first", False, ""),))


class Width(Metric):
    spec: ClassVar[MetricSpec] = spec("width")


class Cost(Metric):
    spec: ClassVar[MetricSpec] = spec("cost", needs=("prediction.operations", "prediction.cost"), optional=True)


area = Derived(spec("area"), (Input("height"), Input("width")), lambda x: x["height"] * x["width"])
volume = Derived(spec("volume"), (Input("area"), Input("height")), lambda x: x["area"] * x["height"])


@pytest.fixture
def registry() -> Registry:
    made = Registry()
    made._plugins_read = True  # what happens to be installed is not looked at
    for metric in (volume, area, Height, Width, Cost):
        made.register(metric)
    return made


def names(selection_of: Registry, wanted: list[str] | None, **options: object) -> list[str]:
    selection = select_metrics("toys", wanted, registry=selection_of, **options)  # type: ignore[arg-type]
    return [name for name, _ in selection.signatures]


def test_all_metrics_measured_ones_first(registry: Registry) -> None:
    assert names(registry, None) == ["toys/height", "toys/width", "toys/cost", "toys/area", "toys/volume"]


def test_named_ones_in_their_order_and_once(registry: Registry) -> None:
    assert names(registry, ["width", "height"]) == ["toys/width", "toys/height"]
    assert names(registry, ["width", "toys/width", "width"]) == ["toys/width"]


def test_the_inputs_of_a_derived_metric_come_along_and_come_first(registry: Registry) -> None:
    assert names(registry, ["volume"]) == ["toys/height", "toys/width", "toys/area", "toys/volume"]
    assert names(registry, ["area", "width"]) == ["toys/height", "toys/width", "toys/area"]


def test_an_optional_metric_waits_for_what_it_needs(registry: Registry) -> None:
    full = {"prediction.operations": 3, "prediction.cost": 1}
    assert "toys/cost" in names(registry, None, carried=full)
    assert "toys/cost" not in names(registry, None, carried={**full, "prediction.cost": 0})
    assert "toys/cost" not in names(registry, None, carried={})
    assert names(registry, ["cost"], carried={}) == ["toys/cost"]


def test_no_names_are_no_metrics(registry: Registry) -> None:
    assert names(registry, []) == []


def test_a_wrong_name(registry: Registry) -> None:
    with pytest.raises(UsageError, match="no metric 'hight'") as caught:
        names(registry, ["width", "hight"])
    assert "height" in (caught.value.remedy or "")


def test_settings_reach_the_metric_and_its_signature(registry: Registry) -> None:
    selection = select_metrics(
        "toys", ["height"], profile=SPEC, overrides={"first": "true"}, context={"model": "m:1"}, registry=registry
    )
    (metric,) = selection.metrics
    assert isinstance(metric, Height)
    assert metric.settings.values == {"first": True}
    assert selection.signatures == [("toys/height", "toys/height|v1|profile=spec|first=true|model=m:1")]


def test_a_setting_of_an_input_may_be_given_for_the_derived_one(registry: Registry) -> None:
    selection = select_metrics("toys", ["area"], overrides={"first": "true"}, registry=registry)
    assert selection.metrics[0].settings.values == {"first": True}


def test_the_signature_of_a_derived_metric_follows_its_inputs(registry: Registry) -> None:
    def of_volume(**options: object) -> str:
        selection = select_metrics("toys", ["volume"], registry=registry, **options)  # type: ignore[arg-type]
        return dict(selection.signatures)["toys/volume"]

    plain = of_volume()
    assert plain.startswith("toys/volume|v1|profile=turnwise|inputs=")
    assert of_volume() == plain
    assert of_volume(overrides={"first": "true"}) != plain
    assert of_volume(context={"model": "m:2"}) != plain
    assert of_volume(profile=SPEC) != plain


def test_metrics_that_are_made_of_each_other_are_refused(registry: Registry) -> None:
    registry.register(Derived(spec("hen"), (Input("egg"),), lambda x: x["egg"]))
    registry.register(Derived(spec("egg"), (Input("hen"),), lambda x: x["hen"]))
    with pytest.raises((UsageError, ValueError)):
        names(registry, ["hen"])


def test_a_derived_metric_needs_inputs_and_has_one_output() -> None:
    with pytest.raises(ValueError, match="toys/x: a derived metric needs inputs"):
        Derived(spec("x"), (), lambda x: x["a"])
    two = MetricSpec(room="toys", name="x", version=1, question="?", unit="item", outputs=(Output(), Output("other")))
    with pytest.raises(ValueError, match="toys/x: a derived metric has one output"):
        Derived(two, (Input("a"),), lambda x: x["a"])


def test_an_input_is_called_by_its_metric_and_by_its_output_where_that_is_not_the_value() -> None:
    assert Input("height").label == "height"
    assert Input("height", "stddev").label == "height.stddev"
