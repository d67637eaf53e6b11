"""A judge's opinion of responses, from the question to the table. The judge is a server on loopback."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import turnwise
from tests.judge.server import Reply, Request, Server, completion
from turnwise.kernel.score import Source, Status

EXAMPLES = Path(__file__).parents[2] / "examples" / "judge"
REFERENCES = [
    {
        "dialogue_id": "a",
        "turn_id": "0",
        "user": "A cheap hotel, please.",
        "response": "Station Inn.",
        "domain": "hotel",
    },
    {"dialogue_id": "a", "turn_id": "1", "user": "Book it.", "response": "For when?", "domain": "hotel"},
    {"dialogue_id": "b", "turn_id": "0", "user": "A table for two.", "response": "Where?", "domain": "restaurant"},
]
RESPONSES = ["Station Inn is cheap.", "Booked.", "Which area?"]
PREDICTIONS = [
    {"dialogue_id": one["dialogue_id"], "turn_id": one["turn_id"], "response": said, "state": {}}
    for one, said in zip(REFERENCES, RESPONSES, strict=True)
]
OVERALL = {"Station Inn is cheap.": 5, "Booked.": 2, "Which area?": 4}


def verdict(overall: int, **changes: Any) -> str:
    scores = {"correctness": overall, "completeness": overall, "clarity": 5, "policy_adherence": None}
    return json.dumps({"reasoning": "Because.", **scores, "overall": overall, **changes})


def judged(request: Request) -> str:
    """The response that is being judged: what stands between its delimiters."""
    shown = request.body["messages"][1]["content"]
    return next(said for said in RESPONSES if re.search(rf"^{re.escape(said)}$", shown, re.M))


def by_response(answers: dict[str, str]) -> Callable[[Request], Reply]:
    return lambda request: completion(answers[judged(request)])


def evaluated(server: Server, tmp_path: Path, **options: Any) -> turnwise.Result:
    data = {"references": REFERENCES, "predictions": PREDICTIONS}
    options = {"metrics": ["response_quality"], "judge_url": server.url, "judge_model": "judge-1", **options}
    return turnwise.evaluate(data, db=str(tmp_path / "runs.sqlite"), **options)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_turns_dialogues_and_the_data_set(tmp_path: Path) -> None:
    with Server(by_response({said: verdict(score) for said, score in OVERALL.items()})) as server:
        result = evaluated(server, tmp_path)
    # Dialogue a: (5 + 2) / 2 = 3.5; dialogue b: 4; the data set: (3.5 + 4) / 2.
    assert result.value("response_quality") == 3.75
    assert result.value("response_quality", "micro") == pytest.approx(11 / 3)
    assert result.value("response_quality", output="clarity") == 5
    assert result.value("response_quality", output="policy_adherence") is None
    scores = [score for score in result.scores if score.output == "value"]
    assert [score.value for score in scores] == [5, 2, 4]
    assert {(score.source, score.rater) for score in scores} == {(Source.JUDGE, "judge-1")}
    assert "judge=judge-1" in scores[0].signature
    assert "rubric=response_quality:" in scores[0].signature


def test_what_the_judge_is_shown(tmp_path: Path) -> None:
    with Server(by_response({said: verdict(3) for said in RESPONSES})) as server:
        evaluated(server, tmp_path)
    (second,) = [request for request in server.requests if judged(request) == "Booked."]
    shown = second.body["messages"][-1]["content"]
    assert "User: A cheap hotel, please.\nSystem: Station Inn." in shown  # what the user's next turn answers
    assert "Book it." in shown
    assert "Before anything is booked in the domain hotel, these must be known: name, bookday" in shown
    assert "For when?" in shown  # the reference


def test_an_unreadable_answer_changes_no_mean_and_is_counted(tmp_path: Path) -> None:
    answers = {said: verdict(score) for said, score in OVERALL.items()} | {"Booked.": "I would rather not say."}
    with Server(by_response(answers)) as server:
        result = evaluated(server, tmp_path)
    (found,) = [
        one for one in result.results if one["rollup"] == "micro" and one["output"] == "value" and not one["group"]
    ]
    assert (found["value"], found["n_scored"], found["n_total"]) == (4.5, 2, 3)
    assert sum(found["missing"].values()) == 1
    (failed,) = [score for score in result.scores if score.output == "value" and score.value is None]
    assert failed.status is Status.ERROR
    assert "I would rather not say." in json.dumps(failed.evidence)


def test_a_recorded_run_is_repeated_without_a_server(tmp_path: Path) -> None:
    with Server(by_response({said: verdict(score) for said, score in OVERALL.items()})) as server:
        first = evaluated(server, tmp_path, judge_cassette=tmp_path / "tape", judge_repeats=3)
        asked = len(server.requests)
    again = evaluated(
        server, tmp_path, judge_url=None, judge_model=None, judge_replay=tmp_path / "tape", judge_repeats=3
    )
    assert asked == 9
    assert again.scores == first.scores
    assert again.value("response_quality", output="self_consistency") == 1


def test_without_a_judge_it_is_skipped_and_the_summary_says_so(tmp_path: Path) -> None:
    result = turnwise.evaluate({"references": REFERENCES, "predictions": PREDICTIONS})
    own = [score for score in result.scores if score.metric == "dialogue/response_quality"]
    assert [(score.status, score.reason) for score in own] == [(Status.SKIPPED, "no judge")] * 3
    (found,) = [r for r in result.results if r["metric"] == "response_quality" and r["primary"] and not r["group"]]
    assert (found["value"], found["missing"]) == (None, {"no judge": 3})
    assert "not measured (no judge): response_quality" in repr(result)


def test_repeats_count_by_their_median_and_tell_how_much_they_agree(tmp_path: Path) -> None:
    def answer(request: Request) -> Reply:
        return completion(verdict([2, 5, 5][request.nth]))  # the n-th time the same is asked

    with Server(answer) as server:
        result = evaluated(server, tmp_path, judge_repeats=3)
    assert result.value("response_quality") == 5
    assert result.value("response_quality", output="self_consistency") == pytest.approx(2 / 3)


def test_a_judge_nobody_checked_is_uncalibrated_in_every_table(tmp_path: Path) -> None:
    with Server(by_response({said: verdict(score) for said, score in OVERALL.items()})) as server:
        result = evaluated(server, tmp_path)
        other = evaluated(server, tmp_path, system="other")
    assert {r["calibration"] for r in result.results if r["metric"] == "response_quality"} == {"uncalibrated"}
    assert "response_quality (uncalibrated)" in repr(result)
    assert any("uncalibrated" in warning for warning in result.compare(other).warnings)


def test_a_rubric_of_ones_own_is_a_metric(tmp_path: Path) -> None:
    rubric = tmp_path / "tone.yaml"
    rubric.write_text(
        "name: tone\nversion: 1\nunit: exchange\nquestion: Is it friendly?\nneeds: [response]\n"
        "scores:\n  friendly:\n    asks: Is it friendly?\n    labels: {friendly: kind, neutral: neither, rude: not}\n"
    )
    labels = dict(zip(RESPONSES, ["friendly", "rude", "friendly"], strict=True))
    answers = {said: json.dumps({"reasoning": "", "friendly": label}) for said, label in labels.items()}
    with Server(by_response(answers)) as server:
        result = evaluated(server, tmp_path, metrics=["tone"], judge=[rubric])
    assert [score.label for score in result.scores] == ["friendly", "rude", "friendly"]
    assert result.value("tone", "share of friendly") == pytest.approx(2 / 3)


def test_no_more_calls_than_allowed(tmp_path: Path) -> None:
    with Server(by_response({said: verdict(3) for said in RESPONSES})) as server:
        result = evaluated(server, tmp_path, max_calls=1)
        assert len(server.requests) == 1
    missing = [score for score in result.scores if score.output == "value" and score.value is None]
    assert [(score.status, score.reason) for score in missing] == [(Status.SKIPPED, "--max-calls 1 was reached")] * 2


def test_the_example_can_be_tried_without_a_judge() -> None:
    data = {side: EXAMPLES / f"{side}.jsonl" for side in ("references", "predictions")}
    result = turnwise.evaluate(data, metrics=["response_quality"], judge_replay=EXAMPLES / "tape")
    # The verdicts in examples/judge/make_tape.py: (5 + 1 + 5) / 3 and (3 + 5 + 3) / 3.
    assert result.value("response_quality") == pytest.approx(11 / 3)
    assert [score.value for score in result.scores if score.output == "policy_adherence"] == [
        None,
        1,
        5,
        None,
        None,
        None,
    ]
