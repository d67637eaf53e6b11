"""The project's own examples: every number in examples/dialogue/README.md, which was worked out apart from turnwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import turnwise

FOLDER = Path(__file__).parents[2] / "examples" / "dialogue"
BASELINE, V2 = "predictions.jsonl", "predictions_v2.jsonl"
SA, JGA, SH = "slot_accuracy", "joint_goal_accuracy", "slot_hallucination"
WITHOUT = "joint_goal_accuracy_without_dontcare"
ALL = (SA, JGA, WITHOUT, SH)

DELEXICALISED, TRIALS = "delexicalised.jsonl", "trials.jsonl"
DOMAIN, INTENT, ACT, ACT_SLOT = "domain_accuracy", "intent_accuracy", "action_type_accuracy", "act_slot_accuracy"
ENTITY, MEMORY, POLICY = "entity_hallucination", "memory_transfer", "policy_compliance"
CORRECT, TASK = "system_correctness", "task_completion"
DONE = (DOMAIN, INTENT, ACT, ACT_SLOT, ENTITY, POLICY, CORRECT, TASK, MEMORY)
GOAL = ("inform", "success")


def evaluate(predictions: str, metrics: tuple[str, ...] = ALL, **options: Any) -> turnwise.Result:
    references = "trials_references.jsonl" if predictions == TRIALS else "references.jsonl"
    sides = {"references": FOLDER / references, "predictions": FOLDER / predictions}
    if metrics != ALL:
        options["database"] = FOLDER / "database"
    return turnwise.evaluate(sides, metrics=list(metrics), resamples=100, **options)


@pytest.fixture(scope="module")
def results() -> dict[str, turnwise.Result]:
    return {name: evaluate(name) for name in (BASELINE, V2)}


@pytest.fixture(scope="module")
def done() -> dict[str, turnwise.Result]:
    """What the systems did, rather than what they understood."""
    found = {name: evaluate(name, DONE) for name in (BASELINE, V2)}
    return {**found, DELEXICALISED: evaluate(DELEXICALISED, GOAL), TRIALS: evaluate(TRIALS, ("task_reward", MEMORY))}


@pytest.mark.parametrize(
    ("predictions", "metric", "micro", "macro"),
    [
        (BASELINE, SA, 0.813321, 0.810667),
        (BASELINE, JGA, 21 / 52, 0.429167),
        (BASELINE, WITHOUT, 26 / 52, 0.516667),
        (BASELINE, SH, 0.117040, 0.122192),
        (V2, SA, 0.973965, 0.975031),
        (V2, JGA, 42 / 52, 0.823611),
        (V2, WITHOUT, 46 / 52, 0.879167),
        (V2, SH, 0.028045, 0.029861),
    ],
)
def test_the_whole_data_set(
    results: dict[str, turnwise.Result], predictions: str, metric: str, micro: float, macro: float
) -> None:
    assert results[predictions].value(metric, "micro") == pytest.approx(micro, abs=6e-7)
    assert results[predictions].value(metric, "macro") == pytest.approx(macro, abs=6e-7)


@pytest.mark.parametrize(
    ("options", "predictions", "expected"),
    [
        ({"set": {"scope": "all"}}, BASELINE, {SH: 0.122589}),
        ({"set": {"scope": "all"}}, V2, {SH: 0.022436}),
        ({"profile": "spec"}, BASELINE, {SH: 0.086321}),
        ({"profile": "spec"}, V2, {SH: 0.028045}),
        ({"set": {"first": "true"}}, BASELINE, {SA: 0.791099, JGA: 18 / 52, WITHOUT: 23 / 52, SH: 0.149720}),
        ({"set": {"first": "true"}}, V2, {SA: 0.967429, JGA: 41 / 52, WITHOUT: 45 / 52, SH: 0.034455}),
        ({"submitted_only": True}, BASELINE, {SA: 0.829587, JGA: 21 / 51, WITHOUT: 26 / 51}),
        ({"submitted_only": True}, V2, {SA: 0.973965, JGA: 42 / 52, WITHOUT: 46 / 52}),
        ({"normaliser": "none"}, BASELINE, {SA: 0.755369, JGA: 12 / 52, SH: 0.162574}),
    ],
)
def test_settings(options: dict[str, Any], predictions: str, expected: dict[str, float]) -> None:
    result = evaluate(predictions, **options)
    assert {metric: result.value(metric) for metric in expected} == pytest.approx(expected, abs=6e-7)


# Sums over the exchanges of a dialogue, as the README's table has them: (sum, scored exchanges) of SA, JGA, JGA*, SH.
DIALOGUES = {
    BASELINE: """
        hotel-01       4      4  4  4  0      4
        hotel-02       4.0238 5  1  1  0.8690 5
        restaurant-01  2.6667 4  1  5  0      5
        restaurant-02  4      4  4  4  0      4
        train-01       3.75   4  3  3  0.25   4
        train-02       3      4  3  3  0      3
        taxi-01        1.3333 3  0  0  1.6667 3
        attraction-01  3.5    4  2  3  0.3333 4
        multi-01       3.7778 4  2  2  0      4
        multi-02       3.0167 5  0  0  1.4    5
        multi-03       4.8111 6  0  0  0.6167 6
        multi-04       3.6    4  1  1  0.8333 4
    """,
    V2: """
        hotel-01       4      4  3  3  0.1667 4
        hotel-02       5      5  5  5  0      5
        restaurant-01  4      4  5  5  0      5
        restaurant-02  3.5    4  2  2  0.5    4
        train-01       4      4  4  4  0      4
        train-02       4      4  4  4  0      4
        taxi-01        3      3  3  3  0      3
        attraction-01  4      4  4  4  0      4
        multi-01       4      4  4  4  0      4
        multi-02       4.9    5  4  4  0.125  5
        multi-03       5.6722 6  2  6  0      6
        multi-04       3.6    4  2  2  0.6667 4
    """,
}


@pytest.mark.parametrize("predictions", [BASELINE, V2])
def test_every_dialogue(results: dict[str, turnwise.Result], predictions: str) -> None:
    sums: dict[str, dict[str, list[float]]] = {}
    for score in results[predictions].scores:
        metric = score.metric.partition("/")[2]
        values = sums.setdefault(score.unit.cluster, {name: [] for name in ALL})[metric]
        if score.value is not None:
            values.append(score.value)
    rows = [line.split() for line in DIALOGUES[predictions].strip().splitlines()]
    assert [row[0] for row in rows] == list(sums)
    for name, *cells in rows:
        accuracy, n_accuracy, joint, without, invented, n_invented = map(float, cells)
        found = sums[name]
        assert [sum(found[SA]), sum(found[SH])] == pytest.approx([accuracy, invented], abs=6e-5), name
        assert [len(found[SA]), len(found[SH])] == [n_accuracy, n_invented], name
        assert [sum(found[JGA]), sum(found[WITHOUT])] == [joint, without], name


def exchanges(result: turnwise.Result, metric: str, dialogue: str, output: str = "value") -> list[float | None]:
    own = [s for s in result.scores if s.metric == f"dialogue/{metric}" and s.output == output]
    return [s.value for s in own if s.unit.cluster == dialogue]


def test_the_tables_worked_out_by_hand(results: dict[str, turnwise.Result]) -> None:
    baseline = results[BASELINE]
    assert exchanges(baseline, SA, "hotel-02") == pytest.approx([2 / 2, 2 / 3, 3 / 4, 6 / 7, 6 / 8])
    assert exchanges(baseline, SH, "hotel-02") == pytest.approx([0, 1 / 3, 1 / 4, 1 / 7, 1 / 7])
    assert exchanges(baseline, SA, "restaurant-01") == pytest.approx([None, 1 / 2, 1 / 2, 5 / 6, 5 / 6])
    assert exchanges(baseline, WITHOUT, "restaurant-01") == [1, 1, 1, 1, 1]
    assert exchanges(baseline, SH, "taxi-01") == pytest.approx([1 / 1, 1 / 3, 1 / 3])
    assert exchanges(baseline, SH, "multi-02") == pytest.approx([2 / 2, 2 / 5, 0, 0, 0])
    assert exchanges(baseline, SH, "multi-03") == pytest.approx([1 / 4, 1 / 5, 0, 1 / 6, 0, 0])
    assert exchanges(results[V2], SH, "restaurant-02") == pytest.approx([0, 1 / 3, 1 / 6, 0])


def test_slots_of_the_metric_pages(results: dict[str, turnwise.Result]) -> None:
    """docs/metrics/dialogue/*.md: hotel-area 9/14 and 4/12, attraction-name 2/6."""
    assert results[BASELINE].value(SA, slot="hotel-area") == pytest.approx(9 / 14)
    assert results[BASELINE].value(SH, slot="hotel-area") == pytest.approx(4 / 12)
    assert results[BASELINE].value(JGA, slot="attraction-name") == pytest.approx(2 / 6)


def test_each_metric_goes_both_ways(results: dict[str, turnwise.Result], done: dict[str, turnwise.Result]) -> None:
    # The references of the first three files have one value to carry over, so memory needs the trials.
    runs = [*((results[BASELINE], metric) for metric in ALL)]
    runs += [*((done[BASELINE], metric) for metric in DONE if metric != MEMORY)]
    runs += [(done[DELEXICALISED], "inform"), (done[DELEXICALISED], "success")]
    runs += [(done[TRIALS], "task_reward"), (done[TRIALS], MEMORY)]
    for result, metric in runs:
        values = [s.value for s in result.scores if s.metric == f"dialogue/{metric}" and s.value is not None]
        assert min(values) < 0.5 < max(values), metric


def test_rewrites_named_in_the_readme(tmp_path: Path) -> None:
    expected = {
        BASELINE: [
            ("hotel-area", "center", "centre"),
            ("attraction-area", "center", "centre"),
            ("restaurant-booktime", "5pm", "17:00"),
            ("train-arrive", "5pm", "17:00"),
        ],
        V2: [("hotel-bookday", "Saturday", "saturday"), ("restaurant-area", "do not care", "dontcare")],
    }
    for name, rewrites in expected.items():
        evaluate(name, out=tmp_path / name)
        lines = (tmp_path / name / "rewrites.csv").read_text(encoding="utf-8").splitlines()[1:]
        cells = [line.split(",") for line in lines]
        assert {cell[0] for cell in cells} == {"prediction"}
        real = [cell for cell in cells if cell[3] != "(absent)"]
        assert {(slot, raw, form) for _, slot, raw, form, _ in real} == set(rewrites)


# What the systems did


@pytest.mark.parametrize(
    ("metric", "output", "baseline", "v2"),
    [  # (micro, macro) of each system
        (DOMAIN, None, (44 / 47, 0.941667), (1, 1)),
        (INTENT, "accuracy", (42 / 47, 0.9), (46 / 47, 0.986111)),
        (INTENT, "precision", (45 / 46, 0.983333), (1, 1)),
        (INTENT, "recall", (43.5 / 47, 0.931250), (46.5 / 47, 0.993056)),
        (ACT, "accuracy", (30 / 52, 0.597222), (46 / 52, 0.875)),
        (ACT, "precision", (39.5 / 50, 0.810417), (47.5 / 52, 0.906250)),
        (ACT, "recall", (35.5 / 52, 0.702083), (49 / 52, 0.9375)),
        (ACT_SLOT, "accuracy", (8 / 20, 0.492857), (16 / 20, 0.65)),
        (ACT_SLOT, "precision", (15.5 / 19, 0.835714), (17.5 / 19, 0.875)),
        (ACT_SLOT, "recall", (0.630833, 0.757738), (0.883333, 0.811905)),
        (ENTITY, None, (3 / 51, 0.044444), (0.5 / 52, 0.010417)),
        (POLICY, "compliance", (50 / 51, 0.983333), (1, 1)),
        (POLICY, "violation_rate", (1 / 51, 0.016667), (0, 0)),
        (POLICY, "violations_per_booking", (1 / 12, 1 / 11), (0, 0)),
        (CORRECT, None, (36 / 52, 0.705556), (42 / 52, 0.793056)),
        (TASK, None, (7 / 12, 7 / 12), (1, 1)),
        (MEMORY, None, (0, 0), (1, 1)),
    ],
)
def test_what_was_done(
    done: dict[str, turnwise.Result],
    metric: str,
    output: str | None,
    baseline: tuple[float, float],
    v2: tuple[float, float],
) -> None:
    for name, expected in ((BASELINE, baseline), (V2, v2)):
        found = [done[name].value(metric, rollup, output) for rollup in ("micro", "macro")]
        assert found == pytest.approx(list(expected), abs=6e-7), name


# (sum, scored exchanges) of DA, IA, AT, AS, EH, PC, SC and TC, as the README's table has them.
DONE_BY_DIALOGUE = {
    BASELINE: """
        hotel-01       4 4  4 4  3 4  2 4  0 4  4 4  4 4  1 1
        hotel-02       5 5  5 5  2 5  0 0  1 5  4 5  1 5  0 1
        restaurant-01  3 3  2 3  1 5  1 5  0 5  5 5  4 5  0 1
        restaurant-02  3 3  3 3  4 4  1 1  0 4  4 4  4 4  1 1
        train-01       4 4  3 4  2 4  1 4  0 4  4 4  3 4  0 1
        train-02       3 4  3 4  3 4  2 4  0 3  3 3  2 4  0 1
        taxi-01        3 3  3 3  2 3  0 0  0 3  3 3  2 3  1 1
        attraction-01  3 3  3 3  2 4  1 1  0 4  4 4  4 4  1 1
        multi-01       3 3  3 3  2 4  0 1  0 4  4 4  3 4  0 1
        multi-02       4 5  4 5  2 5  0 0  0 5  5 5  4 5  1 1
        multi-03       6 6  5 6  3 6  0 0  2 6  6 6  3 6  1 1
        multi-04       3 4  4 4  4 4  0 0  0 4  4 4  2 4  1 1
    """,
    V2: """
        hotel-01       4 4  4 4  4 4  4 4  0 4  4 4  4 4  1 1
        hotel-02       5 5  5 5  5 5  0 0  0 5  5 5  4 5  1 1
        restaurant-01  3 3  3 3  5 5  4 5  0 5  5 5  5 5  1 1
        restaurant-02  3 3  3 3  1 4  0 1  .5 4 4 4  1 4  1 1
        train-01       4 4  4 4  4 4  4 4  0 4  4 4  3 4  1 1
        train-02       4 4  4 4  3 4  3 4  0 4  4 4  3 4  1 1
        taxi-01        3 3  3 3  3 3  0 0  0 3  3 3  2 3  1 1
        attraction-01  3 3  3 3  3 4  0 1  0 4  4 4  4 4  1 1
        multi-01       3 3  3 3  4 4  1 1  0 4  4 4  4 4  1 1
        multi-02       5 5  5 5  5 5  0 0  0 5  5 5  4 5  1 1
        multi-03       6 6  5 6  6 6  0 0  0 6  6 6  6 6  1 1
        multi-04       4 4  4 4  3 4  0 0  0 4  4 4  2 4  1 1
    """,
}


@pytest.mark.parametrize("predictions", [BASELINE, V2])
def test_what_was_done_in_every_dialogue(done: dict[str, turnwise.Result], predictions: str) -> None:
    found: dict[tuple[str, str], list[float]] = {}
    for score in done[predictions].scores:
        if score.output in ("value", "accuracy", "compliance") and score.value is not None:
            found.setdefault((score.unit.cluster, score.metric.partition("/")[2]), []).append(score.value)
    rows = [line.split() for line in DONE_BY_DIALOGUE[predictions].strip().splitlines()]
    assert len(rows) == 12
    for name, *cells in rows:
        expected = list(zip(map(float, cells[::2]), map(int, cells[1::2]), strict=True))
        values = [found.get((name, metric), []) for metric in DONE[:-1]]
        assert [(sum(own), len(own)) for own in values] == expected, name


def test_what_was_done_worked_out_by_hand(done: dict[str, turnwise.Result]) -> None:
    baseline, v2 = done[BASELINE], done[V2]
    assert exchanges(baseline, ENTITY, "hotel-02") == [0, 1, 0, 0, 0]
    assert exchanges(baseline, POLICY, "hotel-02", "compliance") == [1, 1, 1, 0, 1]
    assert exchanges(baseline, CORRECT, "hotel-02") == [0, 0, 1, 0, 0]
    assert exchanges(baseline, ENTITY, "multi-03") == [1, 0, 0, 0, 1, 0]
    assert exchanges(baseline, CORRECT, "multi-03") == [0, 1, 0, 1, 0, 1]
    assert exchanges(baseline, ACT_SLOT, "train-01", "accuracy") == [0, 0, 0, 1]
    assert exchanges(baseline, ACT_SLOT, "train-01", "precision") == [1 / 1, 0 / 2, 3 / 3, 1 / 1]
    assert exchanges(baseline, ACT_SLOT, "train-01", "recall") == [1 / 2, 0 / 2, 3 / 4, 1 / 1]
    assert exchanges(baseline, ACT, "train-01", "accuracy") == [0, 1, 0, 1]
    assert exchanges(v2, ENTITY, "restaurant-02") == [1 / 2, 0, 0, 0]
    assert exchanges(baseline, MEMORY, "multi-02") == [0]
    assert exchanges(v2, MEMORY, "multi-02") == [1]


def test_the_delexicalised_system(done: dict[str, turnwise.Result]) -> None:
    result = done[DELEXICALISED]
    neither = {"hotel-02", "attraction-01", "multi-02"}
    inform_only = {"restaurant-01", "train-02", "multi-01", "multi-04"}
    failed = [{s.unit.id for s in result.scores if s.metric == f"dialogue/{m}" and s.value == 0} for m in GOAL]
    assert failed == [neither, neither | inform_only]
    assert [result.value(metric) for metric in GOAL] == pytest.approx([9 / 12, 5 / 12])
    for active_domain, expected in (("state", 6 / 12), ("placeholder", 2 / 12)):
        other = evaluate(DELEXICALISED, GOAL, set={"active_domain": active_domain})
        assert [other.value(metric) for metric in GOAL] == pytest.approx([9 / 12, expected])


def test_the_trials(done: dict[str, turnwise.Result]) -> None:
    """4, 3, 2 and 0 of 4 trials succeed: pass^k is the mean of C(c,k) / C(4,k)."""
    found = {k: done[TRIALS].value("task_reward", f"pass^{k}") for k in range(1, 5)}
    means = {1: (1 + 3 / 4 + 2 / 4) / 4, 2: (1 + 3 / 6 + 1 / 6) / 4, 3: (1 + 1 / 4) / 4, 4: 1 / 4}
    assert found == pytest.approx(means)
    assert done[TRIALS].value("task_reward") == pytest.approx(9 / 16)
    memory = [exchanges(done[TRIALS], MEMORY, f"task-{number}") for number in (1, 2, 3, 4)]
    assert memory == [[2 / 2], [1 / 2], [0 / 1], [None]]
    assert done[TRIALS].value(MEMORY, "macro") == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert done[TRIALS].value(MEMORY, "micro") == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("predictions", "violations", "completed", "transferred", "gated"),
    [(BASELINE, 4 / 51, 6 / 12, (0, 0), 6 / 12), (V2, 2 / 52, 10 / 12, (2 / 6, 2 / 9), 11 / 12)],
)
def test_settings_of_what_was_done(
    predictions: str, violations: float, completed: float, transferred: tuple[float, float], gated: float
) -> None:
    spec = evaluate(predictions, (POLICY, TASK, MEMORY), profile="spec")
    assert spec.value(POLICY, output="violation_rate") == pytest.approx(violations)
    assert spec.value(TASK) == pytest.approx(completed)
    assert [spec.value(MEMORY, rollup) for rollup in ("micro", "macro")] == pytest.approx(list(transferred))
    strict = evaluate(predictions, (TASK,), set={"gate_on_hallucination": "true"})
    assert strict.value(TASK) == pytest.approx(gated)


def test_every_entity_of_the_references_is_in_the_database() -> None:
    """A response of the references that invents something would be a mistake of the examples."""
    sides = {"references": FOLDER / "references.jsonl", "predictions": FOLDER / "references.jsonl"}
    result = turnwise.evaluate(sides, metrics=[ENTITY], database=FOLDER / "database", resamples=100)
    assert {score.unit.id: score.evidence for score in result.scores if score.value} == {}
