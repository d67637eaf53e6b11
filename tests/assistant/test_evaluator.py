"""A live assistant: one reply scored at once, one turn kept with its metrics."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from turnwise.assistant import evaluate, record_turn
from turnwise.assistant.outcomes import turn_outcomes
from turnwise.assistant.scales import OBJECTIVE, SUBJECTIVE
from turnwise.kernel.errors import InputError, UsageError
from turnwise.kernel.score import Score, Source, Unit
from turnwise.report.summary import stored_or_new
from turnwise.store.reading import read_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

REPLY = "Got it. Per our Attendance policy, three late arrivals lead to a conversation. Please call them."
CHUNKS = [
    {"title": "Attendance", "text": "Three late arrivals lead to a conversation.", "similarity": 0.8},
    {"title": "Leave", "text": "Leave is planned.", "similarity": 0.4},
]


# --- evaluate -----------------------------------------------------------------------------------------------


def test_the_document_s_fields() -> None:
    """Cited, an action, no structure, too short, one offer, in time: 4 of 6; similarity (0.8 + 0.4) / 2 = 0.6."""
    found = evaluate("What is the rule?", REPLY, {"results": CHUNKS}, 1200, False, embedding="none")
    accuracy = found.citation_accuracy
    assert accuracy is not None
    assert 0.5 < accuracy < 1
    assert found.as_json() == {
        "has_policy_citation": True,
        "appropriate_action_suggested": True,
        "response_structure_complete": False,
        "citation_accuracy": accuracy,
        "response_length_appropriate": False,
        "asks_clarifying_questions": None,
        "sequential_action_correct": True,
        "rag_similarity_score": pytest.approx(0.6),
        "processing_time_acceptable": True,
        "objective_quality_score": pytest.approx((4 + accuracy + 0.6) / 8),
    }
    assert found.missing == {"asks_clarifying_questions": "no situation that is going on now"}
    assert found.made_of["objective"]["n"] == 8


def test_ratings_can_be_added() -> None:
    """Nothing but the time is known, and it is too long: 0. Then 9 / 10 = 0.9, and 0.4 * 0 + 0.6 * 0.9 = 0.54."""
    measured = evaluate("What is the rule?", None, None, 5000, False)
    assert measured.objective_quality_score == 0.0
    assert measured.made_of["objective"] == {"n": 1, "of": 9, "values": {"processing_time_acceptable": 0.0}}
    rated = measured.rated(professionalism=4, empathy=5)
    assert rated.subjective_quality_score == pytest.approx(0.9)
    assert rated.overall_quality_score == pytest.approx(0.6 * 0.9)
    assert rated.band == "not_ready"
    with pytest.raises(UsageError, match="empathy cannot be rated 6"):
        measured.rated(empathy=6)
    with pytest.raises(UsageError, match="did you mean empathy"):
        measured.rated(empaty=4)


@pytest.mark.parametrize("value", [0, 6, 2.5, True, "5", None, float("nan")])
def test_a_rating_is_a_whole_number_from_1_to_5(value: object) -> None:
    with pytest.raises(UsageError, match="a whole number from 1 to 5"):
        evaluate("q", "r", [], 1, False).rated(clarity=value)  # type: ignore[arg-type]


def test_a_similarity_that_is_none_is_left_out_and_said() -> None:
    found = evaluate("q", "r", [{"text": "a", "similarity": 1.7}], 1, False)
    assert found.rag_similarity_score is None
    assert found.missing["rag_similarity_score"] == "a similarity outside 0 to 1"
    assert found.evidence["rag_similarity_score"] == {"similarity": [1.7]}
    assert evaluate("q", "r", [{"similarity": 1.0000001}], 1, False).rag_similarity_score == 1.0
    assert evaluate("q", "r", ["a"], 1, False).missing["rag_similarity_score"] == "a chunk without a similarity"
    assert evaluate("q", "r", [], 1, False).missing["rag_similarity_score"] == "nothing was retrieved"


def test_an_empty_reply_is_a_reply() -> None:
    found = evaluate("My employee is late", "", [], 1, True)
    scored = {name: value for name, value in found.as_json().items() if value is not None and name in OBJECTIVE}
    assert scored == {
        "has_policy_citation": False,
        "appropriate_action_suggested": False,
        "response_structure_complete": False,
        "response_length_appropriate": False,
        "asks_clarifying_questions": False,
        "sequential_action_correct": True,
        "processing_time_acceptable": True,
    }


def test_a_reply_in_japanese_is_not_wrong_but_unread() -> None:
    reply = "ポリシーによると、管理者は従業員に電話して、欠勤を記録してください。"
    found = evaluate("私の従業員が来ません", reply, [{"text": "a", "similarity": 0.5}], 1, True)
    unread = {name for name, reason in found.missing.items() if "another script" in reason}
    assert unread == set(OBJECTIVE) - {"rag_similarity_score", "processing_time_acceptable"}
    assert found.objective_quality_score == pytest.approx((0.5 + 1) / 2)
    spec = evaluate("私の従業員が来ません", reply, [{"text": "a", "similarity": 0.5}], 1, True, profile="spec")
    assert spec.has_policy_citation is False


def test_a_megabyte_is_read_in_seconds() -> None:
    start = time.perf_counter()
    hostile = "per our " * 60_000 + "call . " * 60_000
    found = evaluate("my " * 300_000, hostile, [{"text": "policy. " * 100_000, "similarity": 0.5}], 1, True)
    assert found.response_length_appropriate is False
    assert found.asks_clarifying_questions is False
    cited = "Per our policy, x. " * 50_000
    assert evaluate("q", cited, [{"text": "Per our policy, x. " * 1000}], 1, False).citation_accuracy == 1.0
    assert time.perf_counter() - start < 60


def test_half_a_character_costs_nothing() -> None:
    assert (
        evaluate("q\ud800", "Per our policy, x\ud800\x00.", [{"text": "\udfff"}], 1, False).has_policy_citation is True
    )


# --- record_turn --------------------------------------------------------------------------------------------


def kept(store: Store, number: int, version: str = "fc26922", **more: object) -> str:
    found = record_turn(
        store,
        session_id="s",
        turn=number,
        query="q",
        response=REPLY,
        search_context=CHUNKS,
        processing_time_ms=900,
        version=version,
        embedding="none",
        **more,  # type: ignore[arg-type]
    )
    assert found.turn_id == f"s#{number}"
    return found.run_id


def test_turn_and_metrics_are_kept_in_one_step(store: Store) -> None:
    run_id = kept(store, 1, scenario="attendance", site="north")
    run = store.run(run_id)
    assert (run.suite, run.version, run.status) == ("assistant", "fc26922", "finished")
    (outcome,) = turn_outcomes(store, run)
    direct = evaluate("q", REPLY, CHUNKS, 900, True, scenario="attendance", embedding="none")
    assert outcome.metrics() == direct.as_json()
    assert outcome.missing == direct.missing
    assert outcome.content["response"] == REPLY
    assert outcome.qualities.objective == direct.objective_quality_score


def test_turns_of_a_version_share_a_run_and_results_follow(store: Store) -> None:
    first = kept(store, 1)
    run = store.run(first)

    def turns() -> int:
        found = [one for one in stored_or_new(store, store.run(first)) if one["metric"] == "objective_quality_score"]
        return max(int(one["n_total"]) for one in found)

    assert turns() == 1
    assert kept(store, 2) == first
    assert turns() == 2
    assert kept(store, 1, version="ee59fe5") != first
    assert kept(store, 3, run=first) == first
    assert kept(store, 1, profile="spec") != first
    assert [outcome.id for outcome in turn_outcomes(store, run)] == ["s#1", "s#2", "s#3"]


def test_a_rating_changes_the_qualities_at_once(store: Store) -> None:
    """Two raters of one turn: (4 + 2) / 2 = 3, and 3 / 5 = 0.6."""
    run = store.run(kept(store, 1))
    signature = next(m.signature for m in store.metrics(run) if m.name == "assistant/empathy_score")
    for rater, value in (("HR partner", 4.0), ("club manager", 2.0)):
        score = Score(
            metric="assistant/empathy_score",
            unit=Unit("s#1", "s", kind="turn"),
            signature=signature,
            value=value,
            statistics=(value,),
            source=Source.HUMAN,
            rater=rater,
        )
        store.amend(run, [score], by=rater)
    (outcome,) = turn_outcomes(store, store.run(run.id))
    assert outcome.ratings == {"empathy_score": {"HR partner": 4.0, "club manager": 2.0}}
    assert outcome.qualities.subjective == pytest.approx(0.6)
    expected = 0.4 * (outcome.qualities.objective or 0) + 0.6 * 0.6
    assert outcome.qualities.overall == pytest.approx(expected)
    results = stored_or_new(store, store.run(run.id))
    (overall,) = (
        one
        for one in results
        if one["metric"] == "overall_quality_score" and one["primary"] and not one["group"] and not one["variant"]
    )
    assert overall["value"] == pytest.approx(expected)
    assert overall["band"] == "not_ready"
    assert len(read_scores(store, run)) == len(OBJECTIVE) + 1 + 2  # measured, the latency, two ratings
    assert not {one["metric"] for one in results if one["value"] is not None} & (set(SUBJECTIVE) - {"empathy_score"})


def test_a_turn_twice_is_refused_and_nothing_changes(store: Store) -> None:
    run = store.run(kept(store, 1))
    with pytest.raises(InputError, match="has the turn 's#1' already"):
        kept(store, 1)
    assert store.count_items(run) == 1
    with pytest.raises(InputError, match="turn is not a number"):
        record_turn(store, session_id="s", turn=-1, query="q", response="r")


def test_a_run_that_takes_no_turns_is_refused(store: Store, begin_run: Callable[..., Run]) -> None:
    run = begin_run(store)
    with pytest.raises(UsageError, match="it is not a live one"):
        kept(store, 1, run=run.id)
    live = kept(store, 1)
    with pytest.raises(UsageError, match="other settings"):
        kept(store, 2, run=live, profile="spec")
