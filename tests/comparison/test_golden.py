"""Golden examples: high-scoring, confirmed by people first, unlike each other, in lines that others read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import turnwise
from tests.cli.conftest import Cli
from tests.comparison.conftest import Versions
from turnwise.comparison.golden import golden_examples
from turnwise.kernel.errors import UsageError
from turnwise.kernel.score import Score, Source, Unit
from turnwise.rooms import register_metrics
from turnwise.store.store import Store

NORTH, SOUTH = {"hotel-area": "north"}, {"hotel-area": "south"}
ASKED = {
    "a": "Is there a hotel in the north?",
    "b": "Is there a hotel in the north??",
    "c": "When does the last bus to the station leave tonight?",
    "d": "My name is spelt with two letters L.",
    "e": "Is there a hotel in the north?",
}


@pytest.fixture
def answers(sqlite_path: str) -> str:
    """Five dialogues of one exchange; d is wrong, e says what a says."""
    references = [{"dialogue_id": k, "user": text, "response": "Yes.", "state": NORTH} for k, text in ASKED.items()]
    predictions = [{"dialogue_id": k, "response": "Here is one.", "state": SOUTH if k == "d" else NORTH} for k in ASKED]
    turnwise.evaluate(
        {"references": references, "predictions": predictions}, metrics=["joint_goal_accuracy"], db=sqlite_path
    )
    return sqlite_path


def chosen(db: str, wanted: int, metric: str | None = "joint_goal_accuracy") -> list[str]:
    register_metrics()
    store = Store(db)
    try:
        found = golden_examples(store, store.run("latest"), wanted, metric)
        return [example.item[0] for example in found.examples]
    finally:
        store.close()


def test_the_best_that_are_unlike_each_other(answers: str) -> None:
    """d scores 0; a, b, c score 1, e repeats a. After a, the question about the bus is further away than b's."""
    assert chosen(answers, 2) == ["a", "c"]
    assert chosen(answers, 3) == ["a", "c", "b"]
    assert chosen(answers, 9) == ["a", "c", "b"]  # what scores below the median of all is no example


def rate(db: str, **values: float) -> None:
    """Ratings of a person, on joint_goal_accuracy's scale of 0 to 1 under another metric of the room."""
    store = Store(db)
    try:
        run = store.run("latest")
        scores = [
            Score(
                metric="dialogue/slot_accuracy",
                unit=Unit(f"{item}/0", item, {}, "exchange"),
                signature="dialogue/slot_accuracy|v1|rated",
                value=value,
                statistics=(value, 1.0),
                source=Source.HUMAN,
                rater="a tester",
            )
            for item, value in values.items()
        ]
        store.amend(run, scores, "a tester")
    finally:
        store.close()


def test_what_people_confirmed_comes_first_and_what_they_refused_not_at_all(answers: str) -> None:
    rate(answers, b=0.9, c=0.3)
    assert chosen(answers, 1) == ["b"]
    assert chosen(answers, 2) == ["b", "a"]
    assert "c" not in chosen(answers, 9)


def test_lines_have_the_fields_that_are_documented(cli: Cli, versions: Versions, tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    done = cli("export", versions.b, "--golden", 5, "--metric", "joint_goal_accuracy", "--db", versions.db, "-o", path)
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert "golden examples by joint_goal_accuracy" in done.err
    assert len(lines) == 5
    for line in lines:
        assert list(line) == ["history", "input", "output", "turnwise"]
        assert line["input"]
        assert line["output"]
        assert all(set(turn) == {"input", "output"} for turn in line["history"])
        assert line["turnwise"]["score"] == 1.0
        assert line["turnwise"]["run"] == versions.b
    later = next(line for line in lines if line["history"])
    place = int(later["turnwise"]["item"].partition("/")[2])
    assert len(later["history"]) == place  # all exchanges before it


def test_without_a_metric_the_mean_over_their_scales_decides(cli: Cli, versions: Versions) -> None:
    done = cli("export", versions.b, "--golden", 1, "--db", versions.db)
    (line,) = [json.loads(text) for text in done.out.splitlines()]
    assert line["turnwise"]["metric"] == "the mean of 4 metrics on their scales"
    assert line["turnwise"]["score"] == 1.0


def test_of_a_metric_that_is_better_when_lower_the_lowest(versions: Versions) -> None:
    register_metrics()
    store = Store(versions.db)
    try:
        run = store.run(versions.b)
        found = golden_examples(store, run, 1, "system_latency_ms").examples
        rows = [json.loads(line) for line in _predictions()]
    finally:
        store.close()
    best = sorted(row["latency_ms"] for row in rows if "latency_ms" in row)
    assert found[0].score <= best[len(best) // 4]


def _predictions() -> list[str]:
    path = Path(__file__).parents[2] / "examples" / "dialogue" / "predictions_v2.jsonl"
    return path.read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--golden", "0"], "no example is asked for"),
        (["--golden", "2", "--metric", "nothing"], "has a metric 'nothing'"),
        (["--golden", "2", "--metric", "inform"], "no texts to make examples of"),
        (["--metric", "slot_accuracy"], "--metric is for --golden"),
    ],
)
def test_wrong_usage(cli: Cli, versions: Versions, options: list[str], message: str) -> None:
    assert message in cli("export", versions.b, "--db", versions.db, *options, code=2).err


def test_a_room_without_texts_says_so(sqlite_path: str) -> None:
    folder = Path(__file__).parents[2] / "examples" / "duplex" / "recordings"
    turnwise.evaluate(suite="duplex", recordings=folder / "truth.jsonl", db=sqlite_path, resamples=100)
    with pytest.raises(UsageError, match="no texts to make examples of") as refused:
        chosen(sqlite_path, 2, None)
    assert "conversation" in (refused.value.found or "")
