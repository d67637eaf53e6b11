"""The contract that every metric of every room fulfils, whatever it measures."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.measuring import Found, Table, all_settings, best, by_unit, comparable, measure, rolled_up, vectors
from tests.contract.rooms import ADAPTERS, metrics_of
from turnwise.engine.measure import Workload
from turnwise.kernel.derived import Derived
from turnwise.kernel.metric import Direction, Metric, Output, Settings
from turnwise.kernel.rollup import Pooled
from turnwise.kernel.score import Score, Status
from turnwise.rooms import get_suite
from turnwise.store.reading import read_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

quick = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])

MEASURED = [
    (room, name)
    for room, adapter in ADAPTERS.items()
    for name, metric in metrics_of(room).items()
    if not isinstance(metric, Derived) and name in adapter.COVERED
]
every_metric = pytest.mark.parametrize(("room", "name"), MEASURED, ids=["/".join(one) for one in MEASURED])


def made(room: str, name: str, **changes: Any) -> Metric:
    metric = metrics_of(room)[name]
    assert not isinstance(metric, Derived)
    return metric(Settings(context=ADAPTERS[room].CONTEXT, **changes))


def drawn(data: st.DataObject, room: str, min_size: int = 0) -> tuple[ModuleType, list[Any]]:
    adapter = ADAPTERS[room]
    return adapter, data.draw(adapter.records(min_size), label="records")


def settled(metric: Metric, batch: Any) -> list[Found]:
    """What is measured, but for what depends on the other records of a batch."""
    return measure(metric, batch, ADAPTERS[metric.spec.room].BATCH_VARIANTS.get(metric.spec.name, ()))


def with_other_settings(room: str, name: str) -> Iterator[Metric]:
    metric = metrics_of(room)[name]
    assert not isinstance(metric, Derived)
    usual, others = ADAPTERS[room].CONTEXT, getattr(ADAPTERS[room], "OTHER_CONTEXTS", ())
    for context in (usual, *others):
        if context is usual or any(context.get(key) != usual.get(key) for key in metric.spec.context):
            for chosen in all_settings(metric.spec):
                yield metric(Settings(chosen.profile, chosen.values, context))


def labels_of(output: Output) -> set[str]:
    """The labels whose share is told, where an output has labels instead of numbers."""
    return set() if output.statistics else {step.label for rollup in output.rollups for step in rollup.steps}


def perfectible_settings(room: str, name: str) -> Iterator[Metric]:
    exempt = ADAPTERS[room].NO_PERFECT_SETTINGS
    for metric in with_other_settings(room, name):
        if not any((name, *setting) in exempt for setting in metric.settings.values.items()):
            yield metric


# --- what is measured ---------------------------------------------------------------------------------------


@every_metric
def test_an_empty_batch_gives_nothing(room: str, name: str) -> None:
    for metric in with_other_settings(room, name):
        assert measure(metric, ADAPTERS[room].batch([])) == []


@every_metric
@quick
@given(data=st.data())
def test_one_item_gives_what_it_gives_among_others(room: str, name: str, data: st.DataObject) -> None:
    adapter, records = drawn(data, room, min_size=1)
    for metric in with_other_settings(room, name):
        together = by_unit(settled(metric, adapter.batch(records)))
        alone: dict[Any, Any] = {}
        for unit, part in adapter.batch(records).split(metric.spec.unit):
            found = by_unit(settled(metric, part))
            assert {key[0] for key in found} <= {unit.id}
            alone |= found
        assert alone == together


@every_metric
@quick
@given(data=st.data())
def test_only_what_was_declared(room: str, name: str, data: st.DataObject) -> None:
    adapter, records = drawn(data, room)
    batch = adapter.batch(records)
    units = {(unit.kind, unit.id): unit for unit, _ in batch.items()}
    for metric in with_other_settings(room, name):
        outputs = {output.name: output for output in metric.outputs}
        variants = {"", *adapter.BATCH_VARIANTS.get(name, ())}
        for unit, output, found, value in measure(metric, batch):
            assert found.variant in variants
            assert unit == units[metric.spec.unit, unit.id]
            assert output in outputs
            assert found.status is not Status.ERROR
            assert (found.statistics is None) == (value is None)
            assert found.label is None or found.label in labels_of(outputs[output])
            assert found.parts is None or metric.spec.part is not None
            given_vectors = [] if found.statistics is None else [found.statistics]
            for vector in (*given_vectors, *vectors(found.parts).values()):
                assert len(vector) == len(outputs[output].statistics)
                assert np.isfinite(vector).all()
            if value is not None:
                low, high = outputs[output].range
                assert np.isfinite(value)
                assert low is None or low <= value
                assert high is None or value <= high


@every_metric
@quick
@given(data=st.data())
def test_measuring_changes_no_record_and_gives_the_same_again(room: str, name: str, data: st.DataObject) -> None:
    adapter, records = drawn(data, room)
    before = copy.deepcopy(records)
    metric, batch = made(room, name), adapter.batch(records)
    first, second = measure(metric, batch), measure(metric, batch)
    assert records == before
    assert first == second
    assert measure(made(room, name), adapter.batch(before)) == first


@every_metric
@quick
@given(data=st.data())
def test_the_order_of_records_does_not_matter(room: str, name: str, data: st.DataObject) -> None:
    """Where a unit is a whole cluster, its records come in their order, and the clusters in any."""
    adapter, records = drawn(data, room)
    metric = made(room, name)
    if all(record.unit.kind == metric.spec.unit for record in records):
        shuffled = data.draw(st.permutations(records), label="order")
    else:
        clusters = data.draw(st.permutations(sorted({record.unit.cluster for record in records})), label="order")
        shuffled = sorted(records, key=lambda record: clusters.index(record.unit.cluster))
    straight, other = (settled(metric, adapter.batch(order)) for order in (records, shuffled))
    assert by_unit(other) == by_unit(straight)
    for output in metric.outputs:
        for rollup in output.rollups:
            one, two = (rolled_up(metric, output, found, rollup) for found in (straight, other))
            assert two == (None if one is None else pytest.approx(one, nan_ok=True))


@every_metric
@quick
@given(data=st.data())
def test_shards_add_up(room: str, name: str, data: st.DataObject) -> None:
    """pooled(a) + pooled(b) = pooled(a + b) for every roll-up that can be merged."""
    adapter, records = drawn(data, room)
    metric = made(room, name)
    whole = settled(metric, adapter.batch(records))
    clusters = sorted({one.unit.cluster for one in whole})
    in_first = {c for c in clusters if data.draw(st.booleans(), label=f"{c} is in a")}
    shards: list[list[Found]] = []
    for wanted in (True, False):
        own = [record for record in records if (record.unit.cluster in in_first) is wanted]
        shards.append(settled(metric, adapter.batch(own)))
    assert by_unit(shards[0]) | by_unit(shards[1]) == by_unit(whole)
    for output in metric.outputs:
        table = Table(metric, output, *shards)
        for rollup in (found for found in output.rollups if found.additive):
            a, b, both = (table.compiled(rollup, *which) for which in ((0,), (1,), (0, 1)))
            assert isinstance(both, Pooled)
            if a.totals.shape == b.totals.shape == both.totals.shape:
                np.testing.assert_allclose(a.totals + b.totals, both.totals)
                np.testing.assert_allclose(both.value(a.totals.sum(axis=0) + b.totals.sum(axis=0)), both.point())


@every_metric
@quick
@given(data=st.data())
def test_the_shares_of_labels_add_up_to_1(room: str, name: str, data: st.DataObject) -> None:
    adapter, records = drawn(data, room)
    metric = made(room, name)
    found = settled(metric, adapter.batch(records))
    for output in (one for one in metric.outputs if labels_of(one)):
        shares = [rolled_up(metric, output, found, rollup) for rollup in output.rollups]
        assert None in shares or sum(share for share in shares if share is not None) == pytest.approx(1)


# --- known systems ------------------------------------------------------------------------------------------

SCORING = [
    (room, name)
    for room, name in MEASURED
    if name not in {*ADAPTERS[room].NEEDS_MODEL, *getattr(ADAPTERS[room], "GIVEN_BY_PEOPLE", ())}
]
PERFECTIBLE = [(room, name) for room, name in SCORING if name not in ADAPTERS[room].NO_PERFECT_INPUT]
scoring = pytest.mark.parametrize(("room", "name"), SCORING, ids=["/".join(one) for one in SCORING])
perfectible = pytest.mark.parametrize(("room", "name"), PERFECTIBLE, ids=["/".join(one) for one in PERFECTIBLE])


def aims(metric: Metric, output: Output, scored: list[Found]) -> list[Any]:
    """What each unit gets from a perfect system: the best value, unless the room says that something else is right."""
    special = getattr(ADAPTERS[metric.spec.room], "aim", lambda *_: None)
    found = [special(metric.spec.name, output, one.unit) for one in scored]
    return [best(output) if one is None else pytest.approx(one) for one in found]


def assert_perfect(metric: Metric, found: list[Found]) -> None:
    for output in metric.outputs:
        if output.direction is Direction.NEITHER:
            continue
        scored = [one for one in found if one.output == output.name and one.value is not None]
        aimed = aims(metric, output, scored)
        assert [(one, aim) for one, aim in zip(scored, aimed, strict=True) if one.value != aim] == []
        numbers = [one.value for one in scored if one.value is not None]
        for rollup in output.rollups if scored else ():
            # Usually all units have the same value, and so has the whole.
            rolled = rolled_up(metric, output, found, rollup)
            assert rolled is not None
            assert min(numbers) - 1e-9 <= rolled <= max(numbers) + 1e-9
    assert all(one.measurement.status is not Status.ERROR for one in found)


@perfectible
@quick
@given(data=st.data())
def test_perfect_input_gives_the_best_value(room: str, name: str, data: st.DataObject) -> None:
    adapter, records = drawn(data, room)
    for metric in perfectible_settings(room, name):
        assert_perfect(metric, settled(metric, adapter.batch(adapter.perfect(records))))


@perfectible
def test_perfect_input_is_scored(room: str, name: str) -> None:
    """So that the test before this one cannot pass because nothing is scored."""
    adapter, metric = ADAPTERS[room], made(room, name)
    records = adapter.exemplary() if name in adapter.NOT_IN_EXAMPLES else adapter.examples()
    batch = adapter.batch(adapter.perfect(records))
    found = settled(metric, batch)
    asks = getattr(adapter, "asks", lambda *_: True)
    units = [unit for unit, _ in batch.split(metric.spec.unit)]
    for output in metric.outputs:
        asked = sum(asks(name, output.name, unit) for unit in units)
        assert sum(one.scored for one in found if one.output == output.name) > asked / 2
    assert_perfect(metric, found)


@scoring
def test_exemplary_records_get_the_best_value(room: str, name: str) -> None:
    """Also where no random input is perfect, the best value (if any) can be reached, and its output is measured."""
    adapter = ADAPTERS[room]
    for metric in perfectible_settings(room, name):
        for records in (adapter.exemplary(), adapter.perfect(adapter.exemplary())):
            found = settled(metric, adapter.batch(records))
            for output in metric.outputs:
                assert any(one.scored for one in found if one.output == output.name), output.name
            if name not in adapter.NO_BEST_VALUE:
                assert_perfect(metric, found)


@perfectible
@quick
@given(data=st.data())
def test_the_rooms_own_oracle_is_perfect(room: str, name: str, data: st.DataObject) -> None:
    """`--baselines` promises an oracle: it reaches the best value, or it is none."""
    adapter, records = drawn(data, room)
    oracle = get_suite(room).baselines.get("oracle")
    if oracle is not None:
        assert_perfect(made(room, name), settled(made(room, name), oracle(adapter.batch(records))))


# --- kept and sent ------------------------------------------------------------------------------------------


@every_metric
@quick
@given(data=st.data())
def test_a_pickled_metric_measures_the_same(room: str, name: str, data: st.DataObject) -> None:
    adapter, records = drawn(data, room)
    for metric in with_other_settings(room, name):
        again = pickle.loads(pickle.dumps(metric))
        assert again.signature == metric.signature
        assert measure(again, pickle.loads(pickle.dumps(adapter.batch(records)))) == measure(
            metric, adapter.batch(records)
        )


@pytest.fixture(scope="module")
def memory() -> Iterator[Store]:
    store = Store(":memory:")
    yield store
    store.close()


@every_metric
@quick
@given(data=st.data())
def test_every_score_comes_back_from_the_store(memory: Store, room: str, name: str, data: st.DataObject) -> None:
    adapter, records = drawn(data, room)
    metric, batch = made(room, name), adapter.batch(records)
    about = {"system": "s", "version": "", "profile": "turnwise", "dataset_fingerprint": "d", "turnwise_version": "0"}
    new = Run(suite=room, config={}, environment={}, **about)
    run = memory.begin(new, [(metric.spec.full_name, metric.signature)])
    memory.write_batch(run, Workload([(0, metric)])(batch))
    expected = [
        Score(
            metric=metric.spec.full_name,
            unit=unit,
            signature=metric.signature,
            output=output,
            variant=found.variant,
            repeat=found.repeat,
            value=value,
            label=found.label,
            statistics=found.statistics,
            parts=found.parts,
            status=found.status,
            reason=found.reason,
            evidence=found.evidence,
            source=found.source,
            rater=found.rater,
        )
        for unit, output, found, value in measure(metric, batch)
    ]
    assert comparable(read_scores(memory, run)) == comparable(expected)
