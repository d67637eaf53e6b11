"""The plan: which metric applies to how many records, known before anything runs, and nothing written for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

import pytest

from turnwise.cli import main
from turnwise.engine.plan import Finding, make_plan
from turnwise.kernel.derived import Derived, Input
from turnwise.kernel.metric import Metric, MetricSpec, Settings
from turnwise.store.connect import default_path
from turnwise.store.store import Store


class TenRecords:
    """A source that knows what its ten records carry and would fail if it were measured."""

    n_items = 10
    dataset_fingerprint = input_fingerprint = "f"
    fields: Mapping[str, int] = {"reference.state": 10, "prediction.state": 7, "prediction.latency_ms": 12}
    coverage: Mapping[str, int] = {"dialogues": 2, "dialogues_predicted": 1}

    def __init__(self) -> None:
        self.findings = [Finding("missing_dialogues", "dialogues without a prediction: d1", 1)]

    def batches(self, done: Set[int] = frozenset()) -> Iterator[Any]:
        raise AssertionError("a plan measures nothing")


def metric(*needs: str) -> Metric:
    class Planned(Metric):
        spec = MetricSpec(room="test", name="planned", version=2, question="?", unit="exchange", needs=needs)

    return Planned(Settings(context={}))


@pytest.mark.parametrize(
    ("needs", "applies_to", "missing"),
    [
        ((), 10, {}),
        (("reference.state",), 10, {}),
        (("reference.state", "prediction.state"), 7, {"prediction.state": 3}),
        (("prediction.state", "prediction.user"), 0, {"prediction.state": 3, "prediction.user": 10}),
        (("prediction.latency_ms",), 10, {}),  # predictions of dialogues that the references lack do not count
    ],
)
def test_a_metric_applies_to_the_records_that_carry_what_it_needs(
    needs: tuple[str, ...], applies_to: int, missing: dict[str, int]
) -> None:
    (planned,) = make_plan(TenRecords(), [metric(*needs)]).metrics
    assert (planned.metric, planned.signature) == ("test/planned", "test/planned|v2|profile=turnwise")
    assert (planned.applies_to, planned.missing) == (applies_to, missing)


def test_derived_metrics_are_planned_after_their_inputs() -> None:
    spec = MetricSpec(room="test", name="sum", version=1, question="?", unit="exchange", needs=("prediction.state",))
    derived = Derived(spec, (Input("planned"),), lambda inputs: inputs["planned"])
    plan = make_plan(TenRecords(), [metric()], [(derived, "signature of the sum")])
    assert [(m.metric, m.applies_to) for m in plan.metrics] == [("test/planned", 10), ("test/sum", 7)]
    assert plan.metrics[1].signature == "signature of the sum"


def test_a_plan_as_json() -> None:
    found = make_plan(TenRecords(), [metric("prediction.state")]).as_json()
    assert json.loads(json.dumps(found)) == {
        "items": 10,
        "coverage": {"dialogues": 2, "dialogues_predicted": 1},
        "metrics": [
            {
                "metric": "test/planned",
                "signature": "test/planned|v2|profile=turnwise",
                "applies_to": 7,
                "missing": {"prediction.state": 3},
                "lacking": None,
            }
        ],
        "findings": [
            {"check": "missing_dialogues", "message": "dialogues without a prediction: d1", "count": 1},
        ],
    }


# turnwise run dialogue --dry-run


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    """Four exchanges: three are predicted, two of them with a state, one with its latency."""
    references = [{"dialogue_id": "d", "turn_id": t, "state": {"hotel-area": "north"}} for t in range(4)]
    predictions: list[dict[str, Any]] = [
        {"dialogue_id": "d", "turn_id": 0, "state": {"hotel-area": "north"}, "latency_ms": 120},
        {"dialogue_id": "d", "turn_id": 1, "state": {"hotel-area": "south"}},
        {"dialogue_id": "d", "turn_id": 2, "response": "Yes."},
    ]
    for name, lines in (("references", references), ("predictions", predictions)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ["--references", str(tmp_path / "references.jsonl"), "--predictions", str(tmp_path / "predictions.jsonl")]


def dry_run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["turnwise", "run", "dialogue", "--dry-run", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0


def test_a_dry_run_tells_the_plan(
    data: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = ["--metrics", "slot_accuracy", "system_latency_ms"]
    dry_run(monkeypatch, *data, *metrics, "--json")
    plan = json.loads(capsys.readouterr().out)
    assert (plan["items"], plan["coverage"]["exchanges_predicted"]) == (4, 3)
    assert [(m["metric"], m["applies_to"], m["missing"]) for m in plan["metrics"]] == [
        ("dialogue/slot_accuracy", 2, {"prediction.state": 2}),
        ("dialogue/system_latency_ms", 1, {"prediction.latency_ms": 3}),
    ]
    assert [(f["check"], f["count"]) for f in plan["findings"]] == [("missing_exchanges", 1)]
    dry_run(monkeypatch, *data, *metrics)
    said = capsys.readouterr()
    assert "2/4" in said.out
    assert "prediction.state: 2" in said.out
    assert "coverage: 1 of 1 dialogues, 3 of 4 exchanges" in said.err


def test_a_dry_run_writes_nothing(data: list[str], db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "results"
    before = sorted(tmp_path.iterdir())
    dry_run(monkeypatch, *data, "--db", db, "--out", str(out))
    dry_run(monkeypatch, *data)
    monkeypatch.delenv("TURNWISE_DB")
    dry_run(monkeypatch, *data)
    assert sorted(tmp_path.iterdir()) == before
    assert not default_path().parent.exists()
    if "://" in db:
        import psycopg

        with psycopg.connect(db) as connection:
            query = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
            assert connection.execute(query).fetchone() == (0,)
    else:
        assert not Path(db).exists()
    store = Store(db)
    assert store.runs() == []
    store.close()
