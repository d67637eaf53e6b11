"""What an outside reader tried: limits while the server fails, names that clash, where answers lie, half a calibration.

The judge is a server on loopback; what it received is counted there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import turnwise
from tests.cli.conftest import Cli, cli
from tests.judge.asked import GOOD, always_good, ask_about, settings_for
from tests.judge.server import MODEL, Reply, Request, Server, completion, error
from turnwise.judge.ask import Judge
from turnwise.judge.records import Failure
from turnwise.judge.rubric import packaged_rubric
from turnwise.kernel.errors import UsageError
from turnwise.store.calibrations import save_calibration
from turnwise.store.store import Store

__all__ = ["cli"]
SAID = {"a": ("One at eight.", "Booked."), "b": ("Which area?",)}
SCORES = ("correctness", "completeness", "clarity", "policy_adherence", "overall")
TONE = """
name: {name}
question: Is it friendly?
needs: [user, response]
scores:
  tone: {{asks: "How friendly?", scale: {{low: 1, high: 5, anchors: {{1: rude, 5: kind}}}}}}
"""


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))


def exchanges(**more: Any) -> list[dict[str, Any]]:
    """Two dialogues, with one of two responses and one of one."""
    return [
        {"dialogue_id": key, "turn_id": str(turn), "response": said, "domain": "restaurant", **more}
        for key, all_said in SAID.items()
        for turn, said in enumerate(all_said)
    ]


def data() -> dict[str, Any]:
    return {"references": exchanges(user="A table, please."), "predictions": exchanges(state={})}


def fours(_: Request) -> Reply:
    return completion(json.dumps({"reasoning": "Because.", **dict.fromkeys(SCORES, 4)}))


def judged(server: Server, **options: Any) -> dict[str, Any]:
    return {"metrics": ["response_quality"], "judge_url": server.url, "judge_model": MODEL, **options}


def one_at_a_time(server: Server, **changes: Any) -> Any:
    return settings_for(server, start_concurrency=1, highest_concurrency=1, retries=5, **changes)


def files(tmp_path: Path) -> list[str]:
    """The references and predictions as options of a command."""
    found = []
    for name, records in data().items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        found += [f"--{name}", str(path)]
    return found


# Limits


def test_tries_after_an_error_are_calls_too() -> None:
    first, second = ask_about(2)
    with Server(lambda _: error(500, "boom")) as server:
        judge = Judge(one_at_a_time(server), max_calls=3)
        judge.ask([first, second])
    assert len(server.requests) == 3
    (found,) = judge.judgement(first).answers
    assert isinstance(found, Failure)
    assert found.reason == "HTTP 500: 'boom', and not tried again: --max-calls 3 was reached"
    assert not found.limited  # it was asked, and failed
    assert isinstance(judge.judgement(second).answers[0], Failure)


def test_refusals_are_no_calls() -> None:
    def twice_too_many(request: Request) -> Reply:
        return error(429, "slow down", {"retry-after": "0"}) if request.number < 2 else completion(GOOD)

    with Server(twice_too_many) as server:
        judge = Judge(one_at_a_time(server), max_calls=1)
        tally = judge.ask(ask_about(1))
    assert (len(server.requests), tally.calls, tally.limited) == (3, 1, 0)


def test_answers_that_never_arrived_may_have_been_paid_for() -> None:
    """Each try may cost 100 tokens out and its prompt; two and a half of them are allowed, so there are two."""
    half = Reply(body=completion(GOOD).body, send_bytes=60)
    with Server(lambda _: half) as server:
        settings = one_at_a_time(server, price_in=10.0, price_out=50.0, max_tokens=100)
        most = Judge(settings).estimate(ask_about(1)).cost
        assert most is not None
        judge = Judge(settings, max_cost=2.5 * most)
        judge.ask(ask_about(2))
    assert len(server.requests) == 2
    assert [type(judge.judgement(question).answers[0]) for question in ask_about(2)] == [Failure, Failure]


def test_a_broken_connection_is_counted_under_words(tmp_path: Path) -> None:
    def broken(request: Request) -> Reply:
        return Reply(body=fours(request).body, send_bytes=40) if "Which area?" in request.prompt else fours(request)

    with Server(broken) as server:
        config = {"judge": {"url": server.url, "model": MODEL}, "models": {MODEL: {"retries": 0}}}
        path = tmp_path / "judge.yaml"
        path.write_text(json.dumps(config))
        result = turnwise.evaluate(data(), metrics=["response_quality"], judge_config=path)
    (found,) = [r for r in result.results if r["primary"] and r["output"] == "value" and not r["group"]]
    assert found["missing"] == {"the connection broke": 1}


def test_a_limit_without_prices_leaves_nothing_behind(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "runs.sqlite"
    words = ("--judge-url", "http://127.0.0.1:1/v1", "--judge-model", "m", "--max-cost", 1, "--db", db)
    found = cli("run", "dialogue", *files(tmp_path), *words, code=2)
    assert "--max-cost is set, but it is not known what the judge costs" in found.err
    assert not db.exists()


# Names


@pytest.mark.parametrize("name", ["joint_goal_accuracy", "response_quality"])
def test_a_rubric_takes_no_metrics_place(name: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(TONE.format(name=name))
    with Server(always_good) as server, pytest.raises(UsageError, match=f"dialogue has a metric {name} already"):
        turnwise.evaluate(data(), **judged(server, judge=path))
    assert not server.requests


# Where answers lie


def test_answers_lie_beside_the_database(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    with Server(fours) as server:
        result = turnwise.evaluate(data(), db=str(folder / "runs.sqlite"), **judged(server))
    answers = [path for path in (folder / "judge" / result.run.id).rglob("*.json") if path.name != "settings.json"]
    assert len(answers) == 3
    assert not (tmp_path / "home").exists()


def test_what_is_not_kept_leaves_no_answers(tmp_path: Path) -> None:
    def one_by_one(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        yield from records

    with Server(fours) as server:
        given = {name: one_by_one(records) for name, records in data().items()}
        result = turnwise.evaluate(given, **judged(server))
    assert result.value("response_quality") == 4
    assert not (tmp_path / "home").exists()


def test_a_dry_run_knows_what_a_broken_run_has(cli: Cli, tmp_path: Path) -> None:
    db = ("--db", tmp_path / "runs.sqlite")

    def key_runs_out(request: Request) -> Reply:
        return fours(request) if request.number < 2 else error(401, "no")

    with Server(key_runs_out) as server:
        config = {"judge": {"url": server.url, "model": MODEL}, "models": {MODEL: {"highest_concurrency": 1}}}
        config["models"][MODEL]["start_concurrency"] = 1
        (tmp_path / "judge.yaml").write_text(json.dumps(config))
        words = ("--metrics", "response_quality", "--judge-config", tmp_path / "judge.yaml", *db)
        cli("run", "dialogue", *files(tmp_path), *words, code=2)
    (run,) = Store(str(db[1])).runs()
    plan = cli("run", "dialogue", "--resume", run.id, "--dry-run", "--json", *db).json()
    assert (plan["judge"]["calls"], plan["judge"]["on_record"]) == (1, 2)


# Half a calibration


def calibrated(db: str) -> None:
    """People have looked at the overall score only."""
    store = Store(db)
    rubric = packaged_rubric("dialogue", "response_quality")
    record = {"kappa": 0.7, "primary": True, "verdict": {"answer": "yes"}}
    save_calibration(
        store, rubric=rubric.name, rubric_hash=rubric.hash, model=MODEL, dimension="overall", n=60, record=record
    )
    store.close()


def test_each_output_has_its_own_mark_everywhere(cli: Cli, tmp_path: Path) -> None:
    db = str(tmp_path / "runs.sqlite")
    with Server(fours) as server:
        first = turnwise.evaluate(data(), db=db, **judged(server))
        second = turnwise.evaluate(data(), db=db, **judged(server, version="2"))
    calibrated(db)
    shown = cli("show", first.run.id, "--db", db).out
    assert "response_quality is a judge's opinion, calibrated: kappa 0.70 (n=60)\n" in shown
    assert "response_quality.clarity is a judge's opinion, uncalibrated\n" in shown
    others = "response_quality.correctness, response_quality.completeness, response_quality.clarity, "
    warning = f"{others}response_quality.policy_adherence are the opinion of the judge {MODEL}, uncalibrated"
    compared = cli("compare", first.run.id, second.run.id, "--db", db, "--json").json()
    assert compared["warnings"] == [warning]

    rules = tmp_path / "gate.yaml"
    rules.write_text("rules: [{metric: response_quality, min: 3}, {metric: response_quality.clarity, max_drop: 1}]")
    gated = cli("gate", second.run.id, "--baseline", first.run.id, "--rules", rules, "--db", db, "--json").json()
    assert gated["warnings"] == [f"response_quality.clarity is the opinion of the judge {MODEL}, uncalibrated"]
    trend = cli("trend", "--metric", "response_quality", "--db", db, "--json").json()
    assert not [warning for warning in trend["warnings"] if "uncalibrated" in warning]


def test_the_other_side_is_marked_as_well(cli: Cli, tmp_path: Path) -> None:
    db = str(tmp_path / "runs.sqlite")
    with Server(fours) as server:
        first = turnwise.evaluate(data(), db=db, **judged(server, judge_model="another"))
        second = turnwise.evaluate(data(), db=db, **judged(server))
    calibrated(db)
    words = ("--metric", "response_quality.value", "--allow-different", "--db", db, "--json")
    compared = cli("compare", first.run.id, second.run.id, *words).json()
    assert "response_quality is the opinion of the judge another, uncalibrated" in compared["warnings"]


# Failures in tables


def test_a_judge_that_gave_no_score_is_in_the_table() -> None:
    turns = [{"session_id": "s", "turn": 1, "query": "May I?", "response": "You may.", "version": "1"}]
    with Server(lambda _: completion("I would rather not say.")) as server:
        result = turnwise.evaluate({"turns": turns}, suite="assistant", **judged(server, metrics=["clarity_score"]))
    assert "not measured (unreadable, also when asked again): clarity_score" in repr(result)


def test_several_reasons_are_counted_each(tmp_path: Path) -> None:
    records = data()
    records["predictions"][0]["response"] = None
    with Server(lambda _: completion(None, message={"refusal": "No."})) as server:
        result = turnwise.evaluate(records, **judged(server))
    assert "not measured (no response: 1, the judge refused: 2): response_quality\n" in repr(result)


def test_slices_say_of_how_many(tmp_path: Path) -> None:
    def some(request: Request) -> Reply:
        return completion("Hm.") if "Booked." in request.prompt else fours(request)

    with Server(some) as server:
        db = str(tmp_path / "runs.sqlite")
        result = turnwise.evaluate(data(), db=db, **judged(server, by=["domain"]))
    from turnwise.report.tables import slices

    table = slices(result.summary, ["domain"])[0]
    assert [row[-1] for row in table.rows] == ["2/3"]
