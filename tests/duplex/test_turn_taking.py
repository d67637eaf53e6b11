"""The metrics of turn taking and of the challenge on conversations that can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turnwise
from turnwise.duplex.metrics.turn_taking import TOOL_CURVE, curve
from turnwise.kernel.score import Score


def run(*timelines: dict[str, Any], **options: Any) -> turnwise.Result:
    named = [{"key": f"c{number}", **timeline} for number, timeline in enumerate(timelines)]
    return turnwise.evaluate(suite="duplex", recordings=named, resamples=100, **options)


def scores(result: turnwise.Result, metric: str, output: str = "value") -> dict[str, Score]:
    name = f"duplex/{metric}"
    return {score.unit.id: score for score in result.scores if (score.metric, score.output) == (name, output)}


def only(result: turnwise.Result, metric: str, output: str = "value") -> Score:
    (score,) = scores(result, metric, output).values()
    return score


def label(start: float, end: float, kind: str) -> dict[str, Any]:
    return {"start": start, "end": end, "label": kind}


# --- EVA's curve --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("latency", "plain", "with_tool"),
    [
        (-2.0, 0, 0),
        (-0.5, 0, 0),
        (-0.25, 0.25, 0.25),  # a quarter of the way from -0.5 to 0.5
        (0.0, 0.5, 0.5),
        (0.5, 1, 1),
        (1.3, 1, 1),
        (2.0, 1, 1),
        (2.75, 0.5, 1),  # half of the way from 2.0 to 3.5
        (3.0, 1 / 3, 1),  # (3.5 - 3.0) / 1.5
        (3.5, 0, 0.75),  # (5.0 - 3.5) / 2.0
        (5.0, 0, 0),
        (60.0, 0, 0),
    ],
)
def test_the_curve(latency: float, plain: float, with_tool: float) -> None:
    assert curve(latency) == pytest.approx(plain)
    assert curve(latency, TOOL_CURVE) == pytest.approx(with_tool)


@given(st.floats(-10, 10))
def test_the_curve_is_the_lowest_of_its_lines(latency: float) -> None:
    rises, falls = (latency + 0.5) / 1.0, (3.5 - latency) / 1.5
    assert curve(latency) == pytest.approx(max(0.0, min(1.0, rises, falls)), abs=1e-9)


def test_turns_are_worth_what_their_latency_is_worth() -> None:
    found = run(
        {"user": [[0, 2]], "agent": [[2.25, 4]]},  # 0.25 s: 0.75
        {"user": [[0, 2]], "agent": [[5, 6]]},  # 3 s: 1/3
        {"user": [[0, 2]], "agent": [[5, 6]], "tool_calls": [2.5]},  # 3 s with a call: 1
        {"user": [[0, 2]], "agent": [[5, 6]], "tool_calls": [7]},  # a call after the answer is none for it
        {"user": [[0, 2], [4, 5]], "agent": [[5.5, 6]]},  # the first turn is not answered: 0; the second 0.5 s: 1
        metrics=["turn_taking"],
    )
    values = {unit: score.value for unit, score in scores(found, "turn_taking").items()}
    third = pytest.approx(1 / 3)
    assert values == {"c0#1": 0.75, "c1#1": third, "c2#1": 1.0, "c3#1": third, "c4#1": 0.0, "c4#2": 1.0}
    assert found.value("turn_taking") == pytest.approx((0.75 + 1 / 3 + 1 + 1 / 3 + 0 + 1) / 6)


def test_an_agent_that_talks_into_a_turn() -> None:
    found = run(
        # begins 0.2 s early: latency -0.2 is worth 0.3, the overlap of 0.2 s 0.5 (1 - 0.1) = 0.45, one time 0.5
        {"user": [[0, 3]], "agent": [[2.8, 5]]},
        # speaks from 1 to 2 and answers after 1 s: overlap 1 s is worth 0.5 (1 - 0.5) = 0.25, once 0.5, the answer 1
        {"user": [[0, 3]], "agent": [[1, 2], [4, 5]]},
        # twice for 0.1 s: 0.5 (1 - 0.1) = 0.45; 0.5 (1 - 1/2) = 0.25; the answer 1
        {"user": [[0, 3]], "agent": [[1, 1.1], [2, 2.1], [4, 5]]},
        # three times: 0.5 (1 - 2/2) = 0
        {"user": [[0, 3]], "agent": [[1, 1.1], [1.5, 1.6], [2, 2.1], [4, 5]]},
        metrics=["turn_taking"],
    )
    values = [score.value for score in scores(found, "turn_taking").values()]
    assert values == [pytest.approx(0.3), 0.25, pytest.approx(0.25), 0.0]


def test_a_user_who_interrupts() -> None:
    agents = {0.3: 0.85, 1.0: 0.5, 2.0: 0.0, 3.0: 0.0}  # max(0, 1 - yield / 2 s)
    found = run(
        *({"user": [[4, 8]], "agent": [[0, 4 + silent], [9, 10]]} for silent in agents), metrics=["turn_taking"]
    )
    values = [score.value for score in scores(found, "turn_taking").values()]
    assert values == pytest.approx(list(agents.values()))


def test_who_talks_over_the_user_until_the_end_gets_nothing() -> None:
    found = run({"user": [[4, 7]], "agent": [[0, 12]], "seconds": 12}, metrics=["turn_taking"])
    assert only(found, "turn_taking").value == 0.0  # it did not yield for 8 s: max(0, 1 - 8/2)


def test_the_curve_can_be_set() -> None:
    data = {"user": [[0, 2]], "agent": [[3, 4]]}  # 1 s
    assert run(data, metrics=["turn_taking"], set={"late": "0.5", "latest": "1.5"}).value("turn_taking") == 0.5


# --- yielding -----------------------------------------------------------------------------------------------

INTERRUPTED = {
    "yielded": [[0, 4.4], [8, 9]],
    "yielded later": [[0, 5.0], [8, 9]],
    "finished": [[0, 4.05], [8, 9]],
    "finished too late": [[0, 6.5], [8, 9]],
    "never_stopped": [[0, 7.5], [8, 9]],
    "paused_and_resumed": [[0, 4.3], [5, 9]],
    "was_silent": [[0, 3], [8, 9]],
}
"""What the agent does while the user interrupts from 4 to 7."""


def interrupted(**options: Any) -> turnwise.Result:
    data = [
        {"key": name, "user": [[4, 7]], "agent": agent, "labels": [label(4, 7, "interruption")]}
        for name, agent in INTERRUPTED.items()
    ]
    return run(*data, **options)


def test_what_became_of_interruptions() -> None:
    found = interrupted(metrics=["stop_latency", "yield_rate"])
    outcomes = {one.unit.cluster: one.label for one in scores(found, "stop_latency", "outcome").values()}
    assert outcomes == {name: name.split()[0] for name in INTERRUPTED}
    shares = {name: found.value("stop_latency", f"share of {name}", "outcome") for name in set(outcomes.values())}
    assert shares == {
        "yielded": pytest.approx(2 / 7),
        "finished": pytest.approx(2 / 7),
        "never_stopped": pytest.approx(1 / 7),
        "paused_and_resumed": pytest.approx(1 / 7),
        "was_silent": pytest.approx(1 / 7),
    }
    assert found.value("stop_latency") == pytest.approx((0.4 + 1.0) / 2)  # over those that yielded only
    # A silent agent and one that fell silent after 0.05 s had nothing to yield: 2 of 5 yielded.
    rates = {one.unit.cluster: one.value for one in scores(found, "yield_rate").values()}
    assert rates == dict(zip(INTERRUPTED, (1, 1, None, 0, 0, 0, None), strict=True))
    assert found.value("yield_rate") == pytest.approx(2 / 5)


def test_tau_voice_asks_for_a_moment_of_silence_only() -> None:
    found = interrupted(profile="tau-voice")
    # yielded, yielded later, finished after 0.05 s and paused are silent within 2 s; 2.5 and 3.5 s are too late
    assert found.value("yield_rate") == pytest.approx(4 / 6)
    assert found.value("yield_total") == 6
    assert found.value("yield_latency_mean") == pytest.approx((0.4 + 1.0 + 0.05 + 0.3) / 4)


def test_the_yield_window_is_inclusive_and_can_be_set() -> None:
    data = {"user": [[4, 7]], "agent": [[0, 4.7], [8, 9]]}
    for window, rate in (("0.7", 1.0), ("0.69", 0.0)):
        assert run(data, metrics=["yield_rate"], set={"yield_window": window}).value("yield_rate") == rate


# --- answers and overlaps -----------------------------------------------------------------------------------


def test_answers_latencies_and_interruptions_by_the_agent() -> None:
    found = run(
        {"user": [[0, 2], [5, 6], [9, 10]], "agent": [[3, 4], [5.5, 7.5], [12, 13]]},
        {"user": [[0, 1], [3, 4], [6, 7]], "agent": [[8, 9]]},
        {"user": [[0, 1]], "agent": []},
    )
    # c0: 2 -> 3; at 6 the agent speaks; 10 -> 12.  c1: two turns without an answer; 7 -> 8.  c2: not counted
    latencies = [score.value for score in scores(found, "response_latency").values() if score.value is not None]
    assert latencies == [1.0, 2.0, 1.0]
    assert found.value("response_latency") == pytest.approx(4 / 3)
    assert found.value("response_latency", "p50") == 1.0
    assert found.value("response_rate") == pytest.approx(3 / 5)
    assert found.value("response_rate", "macro") == pytest.approx((1 + 1 / 3) / 2)
    assert found.value("agent_interruption_rate") == pytest.approx(1 / 5)  # at 5.5, of five turns
    # c0: both from 5.5 to 6; anybody (2 + 1 + 1) + (1 + 2 + 1) - 0.5 = 7.5
    ratios = [score.value for score in scores(found, "overlap_ratio").values()]
    assert ratios == [pytest.approx(0.5 / 7.5), 0.0, 0.0]
    assert found.value("overlap_ratio", "pooled") == pytest.approx(0.5 / (7.5 + 4 + 1))


def test_where_conversations_have_a_rate_all_of_them_have_one() -> None:
    """The agent begins while the user speaks and goes on: there is no turn that could be answered."""
    found = run({"user": [[0, 2]], "agent": [[1, 3]]}, metrics=["agent_interruption_rate"])
    assert found.value("agent_interruption_rate") == only(found, "agent_interruption_rate").value


def test_selectivity_counts_what_was_rightly_ignored() -> None:
    found = run(
        {"user": [[3, 3.5]], "agent": [[0, 8]], "labels": [label(3, 3.5, "backchannel")]},  # goes on
        {"user": [[3, 3.5]], "agent": [[0, 3.8]], "labels": [label(3, 3.5, "backchannel")]},  # stops after 0.8 s
        {"user": [[0, 1]], "agent": [[2, 8]], "labels": [label(3, 3.5, "noise")]},  # goes on
        {"user": [[0, 1]], "agent": [[4, 8]], "labels": [label(0, 1, "non_directed")]},  # begins 3 s after its end
        metrics=["selectivity"],
    )
    assert found.value("selectivity") == pytest.approx(3 / 4)
    kinds = ("backchannel", "noise", "non_directed")
    assert [found.value("selectivity", output=kind) for kind in kinds] == [0.5, 1.0, 1.0]


# --- Full-Duplex-Bench --------------------------------------------------------------------------------------


def test_taking_the_turn() -> None:
    """An answer of 1.2 s, one of three short words, none; and a pause that is filled and one that is not."""
    words = [[2.5, 2.6], [2.7, 2.8], [2.9, 3.0]]
    turn, pause = [label(0, 2, "turn")], [label(2, 3, "pause")]
    found = run(
        {"user": [[0, 2]], "agent": [[2.6, 3.8]], "labels": turn},
        {"user": [[0, 2]], "agent": [[2.5, 3.0]], "labels": turn, "words": words},
        {"user": [[0, 2]], "agent": [], "labels": turn},
        {"user": [[0, 2], [3, 4]], "agent": [[2.5, 5]], "labels": pause},
        {"user": [[0, 2], [3, 4]], "agent": [], "labels": pause},
        by=["event"],
        metrics=["take_over"],
    )
    assert found.value("take_over", event="turn") == pytest.approx(1 / 3)
    assert found.value("take_over", event="pause") == pytest.approx(1 / 2)
    assert found.value("take_over", output="latency") == pytest.approx(0.6)


def test_an_early_turn_has_a_latency_of_0_and_an_early_answer_to_an_interruption_a_negative_one() -> None:
    found = run(
        {"user": [[0, 2]], "agent": [[1.5, 3.5]], "labels": [label(0, 2, "turn")]},
        {"user": [[0, 2]], "agent": [[1.5, 3.5]], "labels": [label(0, 2, "interruption")]},
        metrics=["take_over"],
    )
    assert [score.value for score in scores(found, "take_over", "latency").values()] == [0.0, -0.5]


@pytest.mark.parametrize(("task", "file"), [("turn_taking", "turn_taking.json"), ("interruption", "interrupt.json")])
def test_a_sample_of_full_duplex_bench(tmp_path: Path, task: str, file: str) -> None:
    """From the annotated turn's start, which is when the agent should begin; from an interruption's end."""
    folder = tmp_path / f"synthetic_user_{task}" / "1"
    folder.mkdir(parents=True)
    (folder / file).write_text(json.dumps([{"timestamp": [4.0, 4.5]}]))
    words = [{"text": "well", "timestamp": [5.0, 5.4]}, {"text": "so", "timestamp": [5.5, 6.5]}]
    (folder / "output.json").write_text(json.dumps({"text": "well so", "chunks": words}))
    found = turnwise.evaluate(suite="duplex", recordings=tmp_path, metrics=["take_over"], resamples=100)
    assert found.value("take_over") == 1.0
    assert found.value("take_over", output="latency") == (1.0 if file == "turn_taking.json" else 0.5)


# --- the challenge ------------------------------------------------------------------------------------------


def test_first_responses_in_time_early_at_once_and_never() -> None:
    data = [
        {"user": [[0, 2]], "agent": [[3, 4]]},  # 1 s
        {"user": [[0, 2]], "agent": [[5, 6]]},  # 3 s
        {"user": [[0, 2]], "agent": [[1.5, 4]]},  # 0.5 s before the end
        {"user": [[0, 2]], "agent": [[2, 4]]},  # at the end: 0 s
        {"user": [[0, 2]], "agent": []},
    ]
    metrics = ["first_response_delay"]
    found, spec = run(*data, metrics=metrics), run(*data, metrics=metrics, profile="spec")
    assert found.value("first_response_delay") == pytest.approx((1 + 3 + 0) / 3)
    assert spec.value("first_response_delay") == pytest.approx((1 + 3) / 2)  # positive differences only
    for result in (found, spec):
        assert result.value("first_response_delay", output="early") == pytest.approx(1 / 5)
        assert result.value("first_response_delay", output="unanswered") == pytest.approx(1 / 5)


def test_the_words_count_where_there_are_any_and_the_second_sentence_where_a_stranger_speaks_first() -> None:
    timeline = {"user": [[0, 1], [2, 4]], "agent": [[4.2, 8]], "words": [[5, 5.5]], "language": "en"}
    plain = run(timeline, metrics=["first_response_delay"])
    assert plain.value("first_response_delay") == 4.0  # 5 - 1
    before = run({**timeline, "category": "others talk to user before"}, metrics=["first_response_delay"])
    assert scores(before, "first_response_delay")["c0"].value == 1.0  # 5 - 4


@pytest.mark.parametrize("field", ["words", "sentences"])
def test_words_and_sentences_count_by_their_time(field: str) -> None:
    given = {"words": [[5, 5.5], [3, 3.5]], "sentences": [[1.5, 2], [0, 1]]}[field]
    found = run({"user": [[0, 2]], "agent": [[3, 6]], field: given}, metrics=["first_response_delay"])
    assert found.value("first_response_delay") == {"words": 1.0, "sentences": 2.0}[field]  # 3 - 2; 3 - 1


REJECTIONS = {
    ("Pause Handling", "en"): [[3, 4], [1, 4], [2, 4], None, None],  # after, before, at the end; twice nothing
    ("Third-party Speech_before", "en"): [[3, 4], [1.5, 4], None],
    ("Pause Handling", "cn"): [[3, 4]],
    ("Third-party Speech_before", "cn"): [[3, 4], [1, 4]],
}
"""What the agent says, where the user's own sentence ends at 2."""


def rejected(**options: Any) -> turnwise.Result:
    data = [
        {
            "category": category,
            "language": language,
            "user": [[0, 2]] if category == "Pause Handling" else [[0, 1], [1.2, 2]],
            "agent": [agent] if agent else [],
        }
        for (category, language), agents in REJECTIONS.items()
        for agent in agents
    ]
    return run(*data, metrics=["reject_rate", "rejection_total_score"], **options)


def test_silence_is_right_where_nothing_should_be_answered() -> None:
    found = rejected()
    # en: one after the end and two silent of five; one after the end and one silent of three
    for (category, language), rate in zip(REJECTIONS, (3 / 5, 2 / 3, 1.0, 1 / 2), strict=True):
        assert found.value("reject_rate", category=category, language=language) == pytest.approx(rate)
    assert found.value("reject_rate") == pytest.approx((3 / 5 + 2 / 3 + 1 + 1 / 2) / 4)
    assert found.value("reject_rate", "micro") == pytest.approx(7 / 11)
    assert found.value("rejection_total_score", category="Pause Handling") == pytest.approx(100 * (3 / 5 + 1) / 2)
    assert found.value("reject_rate", "micro", "silent") == pytest.approx(3 / 11)
    said = [finding["message"] for finding in found.summary["run"]["findings"]]
    assert "3 of 11 outputs are silent and count as rejected" in said


def test_the_document_leaves_silent_outputs_out() -> None:
    found = rejected(profile="spec")
    for (category, language), rate in zip(REJECTIONS, (1 / 3, 1 / 2, 1.0, 1 / 2), strict=True):
        assert found.value("reject_rate", category=category, language=language) == pytest.approx(rate)
    assert found.value("reject_rate", "micro") == pytest.approx(4 / 8)
    # (1/3 + 1) / 2 = 0.667 to three digits, times 100
    assert found.value("rejection_total_score", category="Pause Handling") == 66.7


def test_the_challenges_latencies_of_conversations() -> None:
    """Two conversations of one category: intervals are pooled, whatever conversation they belong to."""
    about = {"category": "Topic Switching", "language": "en"}
    found = run(
        {**about, "user": [[0, 2], [5, 7]], "agent": [[3, 5.5], [8, 9]]},  # stop 0.5; resp 1 and 1
        {**about, "user": [[0, 2], [4, 6], [8, 9]], "agent": [[2.5, 4.25], [7, 8.25]]},  # stop 0.25, 0.25; resp 0.5, 1
        {**about, "category": "Pause Handling", "user": [[0, 4]], "agent": [[1, 3]]},  # no interruption
        metrics=["avg_latency_stop", "avg_latency_resp"],
    )
    assert found.value("avg_latency_stop", **about) == pytest.approx(1 / 3)
    assert found.value("avg_latency_resp", **about) == pytest.approx(3.5 / 4)
    assert set(scores(found, "avg_latency_stop")) >= {"c0", "c1"}
    assert "c2" not in scores(found, "avg_latency_stop")


def test_without_categories_all_intervals_are_pooled() -> None:
    found = run(
        {"user": [[0, 2], [5, 7]], "agent": [[3, 5.5], [8, 9]]},  # stop 0.5; resp 1 and 1
        {"user": [[0, 2]], "agent": [[4, 5]]},  # resp 2
        metrics=["avg_latency_stop", "avg_latency_resp"],
    )
    assert found.value("avg_latency_stop") == 0.5
    assert found.value("avg_latency_resp") == pytest.approx(4 / 3)


def test_labels_of_what_the_agent_did() -> None:
    about = {"user": [[0, 2]], "agent": [[3, 4]], "language": "en"}
    done = [("Topic Switching", "C_RESPOND"), ("Topic Switching", "C_RESUME"), ("backchannel", "C_RESUME")]
    found = run(
        *({**about, "category": category, "behaviour": label} for category, label in done),
        metrics=["behaviour", "interruption_total_score", "rejection_total_score"],
    )
    assert found.value("behaviour", "share of C_RESPOND") == pytest.approx(1 / 3)
    assert found.value("behaviour", "share of C_RESUME") == pytest.approx(2 / 3)
    assert found.value("interruption_total_score", category="Topic Switching", language="en") == 50.0
    assert found.value("rejection_total_score", category="User Real-time Backchannels", language="en") == 100.0


@pytest.mark.parametrize("language", ["en", None])
def test_a_conversation_of_the_challenge_without_an_overlap(language: str | None) -> None:
    about = {} if language is None else {"language": language}
    found = run({"user": [[0, 2]], "agent": [[3, 4]], "category": "Topic Switching", **about})
    assert scores(found, "first_response_delay")["c0"].value == 1.0
