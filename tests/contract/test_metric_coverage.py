"""Nobody is left out of the contract, and every declaration is complete."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contract.measuring import measure
from tests.contract.rooms import ADAPTERS, metrics_of
from turnwise.kernel.derived import Derived
from turnwise.kernel.metric import Direction, MetricSpec, Settings
from turnwise.kernel.score import Status
from turnwise.rooms import ROOMS

SPECS = [metric.spec for room in ADAPTERS for metric in metrics_of(room).values()]
NEEDS_MODEL = [(room, name) for room, adapter in ADAPTERS.items() for name in adapter.NEEDS_MODEL]
DERIVED = [metric for room in ADAPTERS for metric in metrics_of(room).values() if isinstance(metric, Derived)]


def test_every_room_has_an_adapter() -> None:
    assert set(ADAPTERS) == set(ROOMS), "write tests/contract/<room>_adapter.py and name it in tests/contract/rooms.py"


@pytest.mark.parametrize("room", ADAPTERS)
def test_every_metric_is_under_contract(room: str) -> None:
    covered = set(ADAPTERS[room].COVERED)
    registered = {name for name, metric in metrics_of(room).items() if not isinstance(metric, Derived)}
    assert registered == covered, (
        f"in no category of tests/contract/{room}_adapter.py: {sorted(registered - covered)}; "
        f"there but not registered: {sorted(covered - registered)}"
    )
    adapter = ADAPTERS[room]
    given = getattr(adapter, "GIVEN_BY_PEOPLE", {})
    by_name = (adapter.NO_PERFECT_INPUT, adapter.NOT_IN_EXAMPLES, adapter.NO_BASELINES, adapter.NEEDS_MODEL, given)
    for exempt in (*by_name, adapter.NO_BEST_VALUE, *adapter.BATCH_VARIANTS.values()):
        assert all(exempt.values()), "say why"
    for named in (*by_name, adapter.NO_BEST_VALUE, adapter.BATCH_VARIANTS):
        assert set(named) <= covered
    for (name, system), reason in adapter.UNSCORED_BASELINES.items():
        assert name in covered
        assert hasattr(adapter, system)
        assert reason, "say why"
    for (name, parameter, value), reason in adapter.NO_PERFECT_SETTINGS.items():
        (known,) = (found for found in metrics_of(room)[name].spec.parameters if found.name == parameter)
        assert value in (known.choices or (True, False))
        assert value != known.default, "the default setting is under the whole contract"
        assert reason, "say why"
    assert set(ADAPTERS[room].SOURCES) == set(metrics_of(room))


@pytest.mark.parametrize("spec", SPECS, ids=[spec.full_name for spec in SPECS])
def test_the_declaration_is_complete(spec: MetricSpec) -> None:
    assert spec.version >= 1
    assert spec.question.endswith("?")
    assert len({output.name for output in spec.outputs}) == len(spec.outputs)
    for output in spec.outputs:
        low, high = output.range
        assert low is None or high is None or low < high
        assert sum(rollup.primary for rollup in output.rollups) <= 1
        assert len({rollup.name for rollup in output.rollups}) == len(output.rollups)


@pytest.mark.parametrize("room", ADAPTERS)
def test_a_metric_without_a_best_value_has_a_range_without_one(room: str) -> None:
    for name in ADAPTERS[room].NO_BEST_VALUE:
        for output in metrics_of(room)[name].spec.outputs:
            assert output.range[1 if output.direction is Direction.HIGHER else 0] is None


@pytest.mark.parametrize(("room", "name"), NEEDS_MODEL, ids=["/".join(one) for one in NEEDS_MODEL])
def test_without_its_model_a_metric_is_skipped_with_the_remedy(room: str, name: str) -> None:
    adapter, metric = ADAPTERS[room], metrics_of(room)[name]
    assert not isinstance(metric, Derived)
    for samples in (adapter.exemplary(), adapter.examples()):
        found = measure(metric(Settings(context=adapter.CONTEXT)), adapter.batch(samples))
        assert len(found) == len(samples)
        for one in found:
            assert one.measurement.status is Status.SKIPPED
        reasons = {one.measurement.reason or "" for one in found}
        assert any("pip install" in reason or "turnwise models fetch" in reason for reason in reasons)


def test_derived_metrics_are_made_of_registered_ones_and_keep_the_shape() -> None:
    for derived in DERIVED:
        known = metrics_of(derived.spec.room)
        for needed in derived.inputs:
            assert needed.output in {output.name for output in known[needed.metric].spec.outputs}
        for shape in ((4,), (2, 3)):
            inputs = {needed.label: np.full(shape, 0.5) for needed in derived.inputs}
            assert np.shape(derived.function(inputs)) == shape
