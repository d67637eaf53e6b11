"""Runs that are awkward, not wrong: odd column names, missing levels, several outputs, nothing to derive from."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import turnwise
from tests.report.toys import Evaluated, Precision, Reported, Toy, derived, registry_with, spec
from turnwise.kernel.derived import When
from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.registry import Registry
from turnwise.kernel.rollup import CLUSTER, Rollup, mean, total
from turnwise.kernel.score import labelled, measured
from turnwise.kernel.selection import select_metrics
from turnwise.store.store import Store

RIGHT, WRONG = {"hotel-area": "north"}, {"hotel-area": "south"}


def records(**column: str) -> dict[str, list[dict[str, Any]]]:
    """Dialogue a: 1 of 2 right; dialogue b: 0 of 1. micro 1/3, macro (1/2 + 0) / 2 = 1/4."""
    places = [("a", 0, RIGHT), ("a", 1, WRONG), ("b", 0, WRONG)]
    references = [{"dialogue_id": d, "turn_id": t, "state": RIGHT, **column} for d, t, _ in places]
    return {
        "references": references,
        "predictions": [{"dialogue_id": d, "turn_id": t, "state": state} for d, t, state in places],
    }


@pytest.mark.parametrize("name", ["cluster", "item"])
def test_a_column_may_be_called_like_a_key_of_the_rollups(name: str) -> None:
    found = turnwise.evaluate(records(**{name: "x"}), metrics="joint_goal_accuracy", by=[name])
    assert found.value("joint_goal_accuracy") == pytest.approx(1 / 3)
    assert found.value("joint_goal_accuracy", "macro") == pytest.approx(1 / 4)
    assert found.value("joint_goal_accuracy", **{name: "x"}) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "limits",
    [
        {"report.collect.MANY_GROUPS": 0, "report.collect.FLOATS": 40_000},
        {"store.items.WINDOW": 1},
        {"store.items.WINDOW": 5, "store.stream.CHUNK": 2, "report.collect.MANY_GROUPS": 0},
        # Of more than 3 clusters no table is made, and of fewer one for two groups at a time; below 50 nothing is
        # resampled, so the intervals are the same, too.
        {f"{module}.MANY_CLUSTERS": 3 for module in ("report.collect", "report.many", "stats.woodruff")}
        | {"report.many.BLOCK": 7, "report.many.GATHERED": 11, "report.many.SMALL_GROUPS": 2, "store.items.WINDOW": 1},
    ],
    ids=["small groups numbered anew", "a portion per dialogue", "all", "cells on disk"],
)
@pytest.mark.parametrize("order", ["dialogue by dialogue", "scattered"])
def test_limits_that_save_memory_change_no_number(
    limits: dict[str, int], order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(__file__).parents[2] / "examples" / "dialogue"
    options: dict[str, Any] = {"by": ["scenario", "slot"]}
    for name in ("references", "predictions"):
        lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        for number, line in enumerate(lines):
            line["latency_ms"] = 100 + 37 * (number % 11)  # a percentile among the roll-ups
        options[name] = sorted(lines, key=lambda line: line["turn_id"]) if order == "scattered" else lines
    plain = turnwise.evaluate(options).results
    for name, limit in limits.items():
        monkeypatch.setattr(f"turnwise.{name}", limit)
    again = turnwise.evaluate(options).results
    assert len(plain) == len(again) > 100
    assert {"p90", "micro", "macro"} <= {result["rollup"] for result in plain}
    for one, other in zip(plain, again, strict=True):
        assert {**one, "value": 0, "low": 0, "high": 0} == {**other, "value": 0, "low": 0, "high": 0}
        numbers = [[r[key] for key in ("value", "low", "high") if r[key] is not None] for r in (one, other)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)


class ByColour(Reported):
    spec = spec("shade", Output(rollups=(Rollup("colours", (mean(by=("colour",)), mean()), primary=True),)))


class PerCluster(Reported):
    steps = (total(by=(CLUSTER,)), mean())
    spec = spec("sum", Output(range=(0.0, 1.0), rollups=(Rollup("per cluster", steps, primary=True),)))


def registry(*metrics: type[Metric]) -> Registry:
    made = registry_with()
    for metric in metrics:
        made.register(metric)
    return made


@pytest.fixture
def store() -> Iterator[Store]:
    kept = Store(":memory:")
    yield kept
    kept.close()


def test_items_without_a_dimension_are_a_level_of_their_own(store: Store) -> None:
    toys = [
        Toy("a/0", "a", {"shade": 1.0}, {"colour": "red"}),
        Toy("a/1", "a", {"shade": 0.0}, {"colour": "red"}),
        Toy("b/0", "b", {"shade": 0.25}),
    ]
    run = Evaluated(store, toys, select_metrics("toys", ["shade"], registry=registry(ByColour)))
    assert run.one("shade")["value"] == pytest.approx((0.5 + 0.25) / 2)  # red, and no colour


def test_the_interval_of_a_mean_of_sums_is_not_cut_at_the_range_of_the_terms(store: Store) -> None:
    toys = [Toy(f"{c}/{i}", c, {"sum": 1.0}) for c, n in (("a", 4), ("b", 5), ("c", 4)) for i in range(n)]
    found = Evaluated(store, toys, select_metrics("toys", ["sum"], registry=registry(PerCluster))).one("sum")
    # Sums 4, 5, 4: mean 13/3, s = 0.577, t(2) = 4.303, so 13/3 +- 4.303 * 0.577 / sqrt(3) = 1.434
    assert found["value"] == pytest.approx(13 / 3)
    assert (found["low"], found["high"]) == (
        pytest.approx(13 / 3 - 1.434, abs=2e-3),
        pytest.approx(13 / 3 + 1.434, abs=2e-3),
    )


@pytest.mark.parametrize("when", list(When))
def test_a_derived_function_that_raises_costs_its_value_only(store: Store, when: When) -> None:
    def broken(_inputs: Any) -> Any:
        raise RuntimeError("no")

    made = derived("broken", broken, "precision", when=when)
    selection = select_metrics("toys", ["broken", "precision"], registry=registry_with(made))
    run = Evaluated(store, [Toy("a/0", "a", {"precision": 1.0})], selection)
    assert run.one("precision")["value"] == 1.0
    assert run.one("broken")["value"] is None
    assert run.one("broken")["missing"] == {"the value is not a finite number": 1}


@pytest.mark.parametrize("when", list(When))
def test_before_any_input_has_come_a_derived_metric_says_what_it_waits_for(store: Store, when: When) -> None:
    made = derived("twice", lambda x: 2 * x["recall"], "recall", when=when)
    selection = select_metrics("toys", ["twice", "precision"], registry=registry_with(made))
    run = Evaluated(store, [Toy("a/0", "a", {"precision": 1.0})], selection)
    found = run.one("twice")
    assert (found["value"], found["missing"]) == (None, {"missing input: recall": 1})


def test_a_run_is_shown_with_the_signature_it_was_measured_with(store: Store) -> None:
    selection = select_metrics("toys", ["precision"], registry=registry_with())
    run = Evaluated(store, [Toy("a/0", "a", {"precision": 1.0})], selection)
    newer = type("Precision", (Precision,), {"spec": MetricSpec(**{**_fields(Precision.spec), "version": 2})})
    run.selection = select_metrics("toys", ["precision"], registry=_only(newer))
    assert "|v2|" in run.selection.metrics[0].signature
    assert "|v1|" in run.one("precision")["signature"]


def _fields(one: MetricSpec) -> dict[str, Any]:
    return {name: getattr(one, name) for name in MetricSpec.__dataclass_fields__}


def _only(metric: type[Metric]) -> Registry:
    made = Registry()
    made._plugins_read = True
    made.register(metric)
    return made


class TwoOutputs(Metric):
    """Two numbers and a label per exchange."""

    spec = MetricSpec(
        room="dialogue",
        name="two",
        version=1,
        question="?",
        unit="exchange",
        outputs=(Output("left"), Output("right"), Output("mood", rollups=())),
    )

    def measure(self, batch: Any) -> Iterator[Any]:
        for pair in batch.pairs:
            yield pair.unit, "left", measured((1.0,))
            yield pair.unit, "right", measured((2.0,))
            yield pair.unit, "mood", labelled("calm")


def test_every_output_and_label_reaches_the_files(tmp_path: Path, register_metric: Callable[..., Any]) -> None:
    register_metric(TwoOutputs)
    turnwise.evaluate(records(), metrics=["two"], out=tmp_path)
    with (tmp_path / "turns.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["two.left"], first["two.right"], first["two.mood"], first["missing"]) == ("1.0", "2.0", "calm", "")
    line = json.loads((tmp_path / "turns.jsonl").read_text().splitlines()[0])
    assert set(line["scores"]) == {"two.left", "two.right", "two.mood"}
    assert line["scores"]["two.mood"] == {"label": "calm", "status": "scored"}


def test_a_metric_of_another_kind_of_unit_is_refused_before_anything_runs(register_metric: Callable[..., Any]) -> None:
    fields = {**_fields(TwoOutputs.spec), "name": "whole", "unit": "planet"}
    register_metric(type("Whole", (TwoOutputs,), {"spec": MetricSpec(**fields)}))
    with pytest.raises(turnwise.UsageError, match="scores a planet"):
        turnwise.evaluate(records(), metrics=["whole"])


def test_results_on_other_data_are_not_compared() -> None:
    one, other = records(), records()
    other["references"][0] = {**other["references"][0], "state": WRONG}
    with pytest.raises(turnwise.UsageError, match="not the same data"):
        turnwise.evaluate(one).compare(turnwise.evaluate(other))
