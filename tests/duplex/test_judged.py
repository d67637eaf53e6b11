"""Labels from a judge: the totals by hand, the same as from files; what has no label is outside and counted."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import turnwise
from tests.duplex.experiments import RESPOND, run
from tests.duplex.judged_calls import (
    ASKED,
    BEHAVIOUR,
    INTERRUPTION,
    REJECTION,
    asking,
    call,
    challenge,
    loopback,
)
from tests.judge.server import MODEL, Reply, Request, Server, completion
from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.opinion import NO_TRANSCRIPT, behaviour_rubric
from turnwise.duplex.records import Segment, Timeline
from turnwise.judge.records import Judgement, Verdict
from turnwise.kernel.score import Score, Source, Status

TOTALS = ("interruption_total_score", "rejection_total_score", "challenge_total")
LABELLED = ("behaviour", *TOTALS[:2])


def scores(found: turnwise.Result, metric: str, output: str = "value") -> dict[str, Score]:
    return {one.unit.id: one for one in found.scores if one.metric == f"duplex/{metric}" and one.output == output}


def rows(found: turnwise.Result) -> str:
    """Every score as text, but for the run it belongs to."""
    return "\n".join(sorted(map(repr, found.scores)))


# --- the totals ---------------------------------------------------------------------------------------------


def test_labels_from_a_judge_and_from_files_give_the_same_totals() -> None:
    with loopback() as server:
        judged = run(recordings=list(challenge()), **asking(server))
    filed = run(recordings=list(challenge(labelled=True)))
    assert len(server.requests) == ASKED, "what three metrics ask is asked once"
    assert judged.value("interruption_total_score") == pytest.approx(INTERRUPTION)
    assert judged.value("rejection_total_score") == pytest.approx(REJECTION)
    for label, share in BEHAVIOUR.items():
        assert judged.value("behaviour", rollup=f"share of {label}") == pytest.approx(share)
    for metric in TOTALS:
        assert judged.value(metric) == filed.value(metric)
    for metric in LABELLED:
        own, other = scores(judged, metric), scores(filed, metric)
        assert {key: (one.value, one.label) for key, one in own.items()} == {
            key: (one.value, one.label) for key, one in other.items()
        }


def test_every_row_says_whose_it_is() -> None:
    with loopback() as server:
        found = run(recordings=list(challenge()), **asking(server))
    own = scores(found, "behaviour")
    assert {(one.source, one.rater) for one in own.values()} == {(Source.JUDGE, MODEL)}
    first = own["en/Topic Switching/0"]
    assert first.label == "C_RESPOND"
    (answer,) = first.evidence["answers"]
    assert answer["reasoning"] == "The colour tells."
    total = scores(found, "rejection_total_score")
    by_label, by_times = total["en/User Real-time Backchannels/0"], total["en/Pause Handling/0"]
    assert (by_label.source, by_label.rater, by_label.value) == (Source.JUDGE, MODEL, 100)
    assert by_label.evidence == {"label": "C_RESUME"}
    assert (by_times.source, by_times.rater, by_times.value) == (Source.CODE, "", 100)
    for metric in LABELLED:
        signature = next(iter(scores(found, metric).values())).signature
        assert f"|judge={MODEL}|" in signature
        assert f"|rubric=behaviour:{behaviour_rubric().hash}" in signature


def test_a_total_alone_asks_for_what_it_needs() -> None:
    with loopback() as server:
        found = run(recordings=list(challenge()), metrics=["interruption_total_score"], **asking(server))
    assert len(server.requests) == 2 * 2 * len(RESPOND)
    assert found.value("interruption_total_score") == pytest.approx(INTERRUPTION)


def test_a_label_of_a_file_wins() -> None:
    calls = [call("a", "blue", behaviour="C_UNKNOWN"), call("b", "blue")]
    with loopback() as server:
        found = run(recordings=calls, metrics=["behaviour"], **asking(server))
    assert len(server.requests) == 1
    own = scores(found, "behaviour")
    assert {key: (one.label, one.source) for key, one in own.items()} == {
        "a": ("C_UNKNOWN", Source.CODE),
        "b": ("C_RESPOND", Source.JUDGE),
    }


def test_the_majority_of_several_answers() -> None:
    """Two of three say the same: 2 / 3."""

    def fickle(request: Request) -> Reply:
        label = "C_RESUME" if request.number == 1 else "C_RESPOND"
        return completion(json.dumps({"reasoning": "So it seems.", "behaviour": label}))

    with Server(fickle) as server:
        found = run(recordings=[call("a", "blue")], metrics=["behaviour"], **asking(server, judge_repeats=3))
    assert len(server.requests) == 3
    assert scores(found, "behaviour")["a"].label == "C_RESPOND"
    assert found.value("behaviour", output="self_consistency") == pytest.approx(2 / 3)


# --- without an answer --------------------------------------------------------------------------------------


def test_an_unreadable_answer_is_outside_every_mean_and_counted() -> None:
    """One of three is unreadable: 1 of 2 and not 1 of 3."""
    calls = [call("a", "blue"), call("b", "green"), call("c", "black")]
    with loopback() as server:
        found = run(recordings=calls, metrics=["behaviour", "interruption_total_score"], **asking(server))
    assert found.value("behaviour") == 0.5
    here = {"category": "Topic Switching", "language": "en"}
    assert found.value("interruption_total_score", **here) == 50
    for metric in ("behaviour", "interruption_total_score"):
        lost = scores(found, metric)["c"]
        assert (lost.status, lost.value, lost.source) == (Status.ERROR, None, Source.JUDGE)
        assert "I would rather not say." in json.dumps(lost.evidence)
        (result,) = (
            one
            for one in found.results
            if (one["metric"], one["primary"]) == (metric, True) and one["group"] == here and one["output"] == "value"
        )
        assert (result["n_scored"], sum(result["missing"].values())) == (2, 1)


def test_without_a_transcript_nobody_is_asked() -> None:
    silent_user = {"user": [[1, 3]], "agent": [[4, 6]], "language": "en"}
    calls = [
        call("a", "blue"),
        {"key": "no words", "category": "Topic Switching", **silent_user},
        {"key": "one side", "category": "Topic Switching", **silent_user, "words": [[4, 6, "blue"]]},
        {"key": "no need", "category": "Pause Handling", **silent_user},
    ]
    with loopback() as server:
        found = run(recordings=calls, metrics=["behaviour", "interruption_total_score"], **asking(server))
    assert len(server.requests) == 1
    own = scores(found, "behaviour")
    assert {key: one.reason for key, one in own.items()} == {
        "a": None,
        "no words": NO_TRANSCRIPT,
        "one side": NO_TRANSCRIPT,
    }
    assert own["no words"].status is Status.SKIPPED
    assert scores(found, "interruption_total_score")["no words"].reason == "nobody says what the agent did"


def test_without_a_judge_a_default_run_is_what_it_was() -> None:
    found = run(recordings=list(challenge()))
    assert not set(LABELLED[:2]) & set(found.run.config["metrics"])
    assert {one.source for one in found.scores} == {Source.CODE}
    plain = run(recordings=list(challenge(labelled=True)))
    assert not any(one["output"] == "self_consistency" for one in plain.results)
    assert {one.signature for one in scores(plain, "behaviour").values()} == {"duplex/behaviour|v1|profile=turnwise"}


def test_a_judge_with_nothing_to_label_leaves_no_mark(tmp_path: Path) -> None:
    """Every conversation has its label: the numbers are nobody else's."""
    with loopback() as server:
        found = run(recordings=list(challenge(labelled=True)), **asking(server))
    assert server.requests == []
    assert {one.signature for one in scores(found, "behaviour").values()} == {"duplex/behaviour|v1|profile=turnwise"}


# --- again --------------------------------------------------------------------------------------------------


def test_a_replayed_cassette_gives_the_same_rows(tmp_path: Path) -> None:
    calls = [*challenge(), call("x", "black")]
    with loopback() as server:
        first = run(recordings=calls, **asking(server, judge_cassette=tmp_path / "tape"))
    again = run(recordings=calls, judge_replay=tmp_path / "tape")
    assert rows(again) == rows(first)
    assert again.results == first.results


def test_other_processes_find_the_same(tmp_path: Path) -> None:
    calls = list(challenge())
    with loopback() as server:
        first = run(recordings=calls, **asking(server, judge_cassette=tmp_path / "tape"))
    again = run(recordings=calls, judge_replay=tmp_path / "tape", executor="processes", workers=2)
    assert rows(again) == rows(first)


def test_the_labels_are_written_as_files_that_can_be_read_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with loopback() as server:
        judged = run(recordings=list(challenge()), out=out, **asking(server))
    tags = out / "score" / "en" / "Topic Switching" / "Topic Switching_content_tags.jsonl"
    assert [json.loads(line) for line in tags.read_text().splitlines()] == [
        {"key": "en/Topic Switching/0", "behaviour": ["C_RESPOND"]},
        {"key": "en/Topic Switching/1", "behaviour": ["C_RESUME"]},
    ]
    timelines = [json.loads(line) for line in (out / "timelines.jsonl").read_text().splitlines()]
    assert {one["context"]["behaviour_by"] for one in timelines if "behaviour" in one} == {MODEL}
    for again in (run(files=out / "score"), run(recordings=out / "timelines.jsonl")):
        for metric in TOTALS[:2]:
            assert again.value(metric) == pytest.approx(judged.value(metric))
        shares = [again.value("behaviour", rollup=f"share of {label}") for label in BEHAVIOUR]
        assert shares == pytest.approx(list(BEHAVIOUR.values()))


def test_a_batch_takes_its_answers_along() -> None:
    timeline = Timeline("a", (), (), words=(Segment(1, 2, "blue"),), user_words=())
    key = ("behaviour", "conversation", "a")
    answers = Judgement((Verdict({"behaviour": "C_RESUME"}),), MODEL)
    batch = DuplexBatch(0, (), [timeline], judged={key: answers})
    sent = pickle.loads(pickle.dumps(batch))
    ((_, alone),) = sent.split("conversation")
    for one in (batch, sent, alone):
        assert one.cases[0].opinion.found.label == "C_RESUME"


# --- a rubric of one's own ----------------------------------------------------------------------------------


def test_a_rubric_of_ones_own(tmp_path: Path) -> None:
    """Scores of 4, 2 and none: a mean of 3."""
    rubric = tmp_path / "politeness.yaml"
    rubric.write_text(
        "name: politeness\nroom: duplex\nquestion: How polite is the agent?\nneeds: [noisy_agent, category]\n"
        "scores: {politeness: {asks: How polite is it, scale: {low: 1, high: 5}}}\n"
    )

    def answer(request: Request) -> Reply:
        shown = request.body["messages"][1]["content"]
        assert "Topic Switching" in shown
        return completion(json.dumps({"reasoning": "", "politeness": 4 if "blue" in shown else 2}))

    calls = [call("a", "blue"), call("b", "green"), call("c", "blue", category=None)]
    with Server(answer) as server:
        found = run(recordings=calls, metrics=["overlap_ratio"], judge=[rubric], **asking(server))
    assert found.value("politeness") == 3
    own = scores(found, "politeness")
    assert {key: (one.value, one.reason) for key, one in own.items()} == {
        "a": (4, None),
        "b": (2, None),
        "c": (None, "no category"),
    }
    assert (own["a"].source, own["a"].rater) == (Source.JUDGE, MODEL)
