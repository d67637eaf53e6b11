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


def evaluate(predictions: str, **options: Any) -> turnwise.Result:
    sides = {"references": FOLDER / "references.jsonl", "predictions": FOLDER / predictions}
    return turnwise.evaluate(sides, metrics=list(ALL), resamples=100, **options)


@pytest.fixture(scope="module")
def results() -> dict[str, turnwise.Result]:
    return {name: evaluate(name) for name in (BASELINE, V2)}


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
        assert (sum(found[SA]), len(found[SA])) == (pytest.approx(accuracy, abs=6e-5), n_accuracy), name
        assert (sum(found[JGA]), sum(found[WITHOUT])) == (joint, without), name
        assert (sum(found[SH]), len(found[SH])) == (pytest.approx(invented, abs=6e-5), n_invented), name


def exchanges(result: turnwise.Result, metric: str, dialogue: str) -> list[float | None]:
    return [s.value for s in result.scores if s.metric == f"dialogue/{metric}" and s.unit.cluster == dialogue]


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


def test_each_metric_goes_both_ways(results: dict[str, turnwise.Result]) -> None:
    for metric in ALL:
        values = {s.value for s in results[BASELINE].scores if s.metric == f"dialogue/{metric}"} - {None}
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
