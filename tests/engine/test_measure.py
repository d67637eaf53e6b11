"""One batch through all metrics: what a metric does wrong costs the unit it does it on, nothing else."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from turnwise.dialogue import load
from turnwise.dialogue.suite import SUITE
from turnwise.engine.executors import make_executor
from turnwise.engine.executors.ledger import QUARANTINED
from turnwise.engine.job import run_job
from turnwise.engine.measure import ITEM_BITS, Workload
from turnwise.engine.options import parse_options
from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import Item, Metric, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import FloatArray
from turnwise.kernel.score import Measurement, Status, Unit, failed, measured, not_applicable
from turnwise.store.reading import read_scores
from turnwise.store.rows import SCORE_COLUMNS
from turnwise.store.run import BatchRows
from turnwise.store.store import Store

Found = tuple[Unit, str, Measurement]


class Numbers:
    """A batch of numbers, one unit each."""

    def __init__(self, index: int, numbers: list[float]) -> None:
        self.index, self.numbers = index, numbers
        self.units = [Unit(f"u{n}", f"c{index}", {"sign": "-" if n < 0 else "+"}, "number") for n in numbers]

    def items(self) -> Iterable[Item]:
        return [Item(unit, {"number": n}) for unit, n in zip(self.units, self.numbers, strict=True)]

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, Numbers]]:
        for unit, number in zip(self.units, self.numbers, strict=True):
            yield unit, Numbers(self.index, [number])


class NumberMetric(Metric):
    """Scores each number with itself; a test changes what it does with some of them."""

    spec: ClassVar[MetricSpec] = MetricSpec(room="test", name="number", version=1, question="?", unit="number")

    def measure(self, batch: Numbers) -> Iterable[Found]:
        for unit, number in zip(batch.units, batch.numbers, strict=True):
            yield from self.of(unit, number)

    def of(self, unit: Unit, number: float) -> Iterable[Found]:
        yield unit, "value", measured((number,), evidence={"saw": number})


class Optional(NumberMetric):
    spec: ClassVar[MetricSpec] = MetricSpec(
        room="test", name="optional", version=1, question="?", unit="number", optional=True, baselines=False
    )


def rows_of(rows: BatchRows) -> list[dict[str, Any]]:
    return [dict(zip(SCORE_COLUMNS, row, strict=True)) for row in rows.scores]


def scores(rows: BatchRows, metric: int = 0) -> dict[int, tuple[str, float | None, str | None]]:
    """Status, value and reason by the unit's place."""
    mask = (1 << ITEM_BITS) - 1
    found = [row for row in rows_of(rows) if row["metric"] == metric]
    assert len({(row["item"], row["output"], row["variant"], row["repeat"]) for row in found}) == len(found)
    return {row["item"] & mask: (row["status"], row["value"], row["reason"]) for row in found}


def doing(action: Callable[[Unit, float], Iterable[Found]]) -> Metric:
    """A metric that treats the number 2 in its own way."""

    class Changed(NumberMetric):
        def of(self, unit: Unit, number: float) -> Iterable[Found]:
            return action(unit, number) if number == 2 else super().of(unit, number)

    return Changed()


ONE_TWO_THREE = Numbers(0, [1.0, 2.0, 3.0])


def test_items_are_numbered_by_batch_and_place() -> None:
    rows = Workload([(7, NumberMetric())])(Numbers(3, [1.5, -2.0]))
    first = 3 * 2**20
    assert rows.index == 3
    assert rows.items == [
        (first, "number", "u1.5", "c3", '{"sign":"+"}', '{"number":1.5}'),
        (first + 1, "number", "u-2.0", "c3", '{"sign":"-"}', '{"number":-2.0}'),
    ]
    row = rows_of(rows)[1]
    assert (row["metric"], row["item"], row["value"], row["source"]) == (7, first + 1, -2.0, "code")
    assert (row["statistics"], row["evidence"]) == ("[-2.0]", '{"saw":-2.0}')


def test_a_batch_that_names_a_unit_twice_is_a_fault_of_the_room() -> None:
    with pytest.raises(ValueError, match="batch 4 names a unit twice"):
        Workload([])(Numbers(4, [1.0, 1.0]))


# What a metric may do wrong


def boom(unit: Unit, number: float) -> Iterable[Found]:
    raise KeyError(f"no  such\nthing as {number}")


def long_boom(unit: Unit, number: float) -> Iterable[Found]:
    raise ValueError("x" * 500)


def twice(unit: Unit, number: float) -> Iterable[Found]:
    return [(unit, "value", measured((1.0,))), (unit, "value", measured((2.0,)))]


WRONG: dict[str, tuple[Callable[[Unit, float], Iterable[Found]], str]] = {
    "raises": (boom, "KeyError: 'no such\\nthing as 2.0'"),
    "raises at length": (long_boom, f"ValueError: {'x' * 185}..."),
    "NaN": (lambda u, n: [(u, "value", measured((float("nan"),)))], "the value is not a finite number"),
    "infinity": (lambda u, n: [(u, "value", measured((float("-inf"),)))], "the value is not a finite number"),
    "twice": (twice, "ValueError: test/number scored u2.0 twice"),
    "neither value nor label": (
        lambda u, n: [(u, "value", Measurement())],
        "ValueError: a scored score needs a value or a label",
    ),
    "no reason": (
        lambda u, n: [(u, "value", Measurement(status=Status.SKIPPED))],
        "ValueError: a score that is skipped must say why",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_fault_costs_the_unit_it_happens_on(kind: str) -> None:
    action, reason = WRONG[kind]
    rows = Workload([(0, NumberMetric()), (1, doing(action)), (2, NumberMetric())])(ONE_TWO_THREE)
    right = {0: ("scored", 1.0, None), 1: ("scored", 2.0, None), 2: ("scored", 3.0, None)}
    assert scores(rows, 0) == scores(rows, 2) == right
    assert scores(rows, 1) == {**right, 1: ("error", None, reason)}


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(lambda u, n: [(u, "nonsense", measured((1.0,)))], id="unknown output"),
        pytest.param(lambda u, n: [(u, "value", measured((1.0, 2.0, 3.0)))], id="too many statistics"),
        pytest.param(lambda u, n: [(u, "value", measured(()))], id="no statistics"),
        pytest.param(lambda u, n: [(Unit("other", "c"), "value", measured((1.0,)))], id="unknown unit"),
        pytest.param(lambda u, n: [(u, "value", measured((1.0,), evidence={1, 2}))], id="evidence JSON cannot write"),
        pytest.param(lambda u, n: [(u, "value")], id="not a measurement"),
        pytest.param(lambda u, n: None, id="nothing to go through"),
    ],
)
def test_what_cannot_be_kept_is_an_error_of_its_unit(found: Callable[[Unit, float], Any]) -> None:
    found_scores = scores(Workload([(0, doing(found))])(ONE_TWO_THREE))
    assert (found_scores[0], found_scores[2]) == (("scored", 1.0, None), ("scored", 3.0, None))
    assert found_scores[1][:2] == ("error", None)
    assert found_scores[1][2]


class Hidden(NumberMetric):
    """Its value does not show what is wrong with its statistics."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room="test", name="hidden", version=1, question="?", unit="number", outputs=(Output(statistics=("a", "b")),)
    )

    def of(self, unit: Unit, number: float) -> Iterable[Found]:
        yield unit, "value", measured((number, float("nan") if number == 2 else 1.0))

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        return np.asarray(statistics[..., 0])


def test_nan_in_the_statistics_behind_a_value_is_an_error() -> None:
    """Pooled, it would make the roll-up of all units NaN."""
    assert scores(Workload([(0, Hidden())])(ONE_TWO_THREE))[1][:2] == ("error", None)


def test_evidence_is_kept_as_json_that_every_reader_takes() -> None:
    metric = doing(lambda u, n: [(u, "value", measured((n,), evidence=[float("nan"), float("inf")]))])
    texts = [row["evidence"] for row in rows_of(Workload([(0, metric)])(ONE_TWO_THREE)) if row["evidence"]]
    for text in texts:
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_every_output_of_a_metric_that_failed_says_so() -> None:
    class Two(NumberMetric):
        spec: ClassVar[MetricSpec] = MetricSpec(
            room="test", name="two", version=1, question="?", unit="number", outputs=(Output("a"), Output("b"))
        )

        def of(self, unit: Unit, number: float) -> Iterable[Found]:
            yield unit, "a", measured((number,))
            if number == 2:
                raise RuntimeError("half way")
            yield unit, "b", not_applicable("never")

    found = {(row["item"], row["output"]): row["reason"] for row in rows_of(Workload([(0, Two())])(ONE_TWO_THREE))}
    assert found == {
        (0, "a"): None,
        (0, "b"): "never",
        (1, "a"): "RuntimeError: half way",
        (1, "b"): "RuntimeError: half way",
        (2, "a"): None,
        (2, "b"): "never",
    }


def test_a_metric_may_score_no_unit_or_one_several_times() -> None:
    def repeats(unit: Unit, number: float) -> Iterable[Found]:
        return [(unit, "value", measured((float(i),))._replace(repeat=i)) for i in range(3)]

    rows = Workload([(0, doing(repeats)), (1, doing(lambda u, n: []))])(ONE_TWO_THREE)
    found = [(row["metric"], row["item"], row["repeat"], row["value"]) for row in rows_of(rows)]
    expected = [(0, 0, 0, 1.0), (0, 1, 0, 0.0), (0, 1, 1, 1.0), (0, 1, 2, 2.0), (0, 2, 0, 3.0)]
    assert found == [*expected, (1, 0, 0, 1.0), (1, 2, 0, 3.0)]


# Variants


def doubled(batch: Numbers) -> Numbers:
    changed = Numbers(batch.index, [2 * n for n in batch.numbers])
    changed.units = batch.units
    return changed


def test_variants_are_scored_beside_the_real_thing() -> None:
    metrics = [(0, NumberMetric()), (1, Optional())]
    rows = rows_of(Workload(metrics, {"double": doubled})(Numbers(0, [1.0, 5.0])))
    found = [(row["metric"], row["variant"], row["item"], row["value"], row["evidence"]) for row in rows]
    assert found == [
        (0, "", 0, 1.0, '{"saw":1.0}'),
        (0, "", 1, 5.0, '{"saw":5.0}'),
        (1, "", 0, 1.0, '{"saw":1.0}'),
        (1, "", 1, 5.0, '{"saw":5.0}'),
        (0, "double", 0, 2.0, None),  # no evidence; what the real system cost says nothing about a variant
        (0, "double", 1, 10.0, None),
    ]


def test_baselines_bound_a_real_run(tmp_path: Path, sqlite_path: str) -> None:
    options = {"baselines": True, "metrics": ["joint_goal_accuracy"], **written(tmp_path, 3)}
    outcome = run_job(SUITE, parse_options(SUITE, options), store=(store := Store(sqlite_path)))
    store.close()
    micro = {r["variant"]: r["value"] for r in outcome.results if r["rollup"] == "micro" and not r["group"]}
    # The first of a dialogue's two predicted states is right; no reference state is empty.
    assert micro == {"": 0.5, "empty": 0.0, "oracle": 1.0}


# Executors


def work() -> Workload:
    return Workload([(0, NumberMetric()), (1, Optional())], {"double": doubled})


@pytest.mark.parametrize("workers", [1, 2])
def test_executors_give_equal_rows(workers: int) -> None:
    batches = [Numbers(i, [float(i), float("inf"), -1.0]) for i in range(9)]
    inline = list(make_executor("inline").map(work(), batches))
    apart = list(make_executor("processes", workers).map(work(), batches))
    assert sorted(apart, key=lambda rows: rows.index) == inline
    assert [rows.index for rows in inline] == list(range(9))


def test_an_unknown_executor_is_named() -> None:
    with pytest.raises(UsageError, match="there is no engine 'proceses'") as error:
        make_executor("proceses")
    assert error.value.remedy == "did you mean processes?"


class Killer(Metric):
    """Kills the process that measures it, until a file is there."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room="dialogue",
        name="killer",
        version=1,
        question="?",
        unit="exchange",
        parameters=(Parameter("spared", "", "a file"),),
    )

    def measure(self, batch: Any) -> Iterable[Found]:
        for unit, _ in batch.split("exchange"):
            if unit.cluster == "d5" and not Path(self.settings.values["spared"]).exists():
                os.kill(os.getpid(), signal.SIGKILL)
            yield unit, "value", failed("meant") if unit.cluster == "d3" else measured((1.0,))


def written(folder: Path, dialogues: int) -> dict[str, Path]:
    """References and predictions of some dialogues of two exchanges."""
    sides: dict[str, list[str]] = {"references": [], "predictions": []}
    for d in range(dialogues):
        for turn, area in enumerate(("north", "south")):
            place = {"dialogue_id": f"d{d}", "turn_id": turn}
            sides["references"].append(json.dumps({**place, "state": {"hotel-area": area, "hotel-stars": str(turn)}}))
            guess = {"hotel-area": "north", "hotel-stars": str(turn)}
            sides["predictions"].append(json.dumps({**place, "state": guess}))
    for name, lines in sides.items():
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return {name: folder / f"{name}.jsonl" for name in sides}


def test_what_kills_its_worker_is_an_error_of_the_run_and_the_rest_is_measured(
    tmp_path: Path, store: Store, register_metric: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    register_metric(Killer)
    monkeypatch.setattr(load, "BATCH_EXCHANGES", 2)  # one dialogue per batch
    spared = tmp_path / "spared"
    values: dict[str, Any] = {**written(tmp_path, 8), "metrics": ["killer", "slot_accuracy"]}
    values["set"] = {"spared": str(spared)}
    disturbed = run_job(SUITE, parse_options(SUITE, {**values, "engine": "processes:2"}), store=store).run
    assert (disturbed.status, store.done_batches(disturbed)) == ("finished", set(range(8)))
    spared.touch()
    undisturbed = run_job(SUITE, parse_options(SUITE, values), store=store).run
    expected = [
        replace(score, status=Status.ERROR, reason=QUARANTINED, value=None, statistics=None)
        if score.unit.cluster == "d5" and score.metric == "dialogue/killer"
        else score
        for score in read_scores(store, undisturbed)
    ]
    assert sum(score.reason == QUARANTINED for score in expected) == 2  # the exchanges of that dialogue
    assert read_scores(store, disturbed) == expected
