"""The metric for DSPy: what it returns to whom, and real optimisers on DSPy's own dummy language model, offline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from turnwise.integrations.dspy import as_metric
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError

GOOD = "Got it. Per our Attendance policy, three late arrivals lead to a conversation. Please call them."
"""Cited 1, action 1, structure 0 (97 characters, no next steps), length 0 (16 words), one offer 1: 3 / 5."""
POOR = "Wait."
"""Only that it does not offer two things at once: 1 / 5."""
EXAMPLE = {"query": "What is the rule on late arrivals?", "is_first_response": False}


def metric(**options: Any) -> Any:
    return as_metric(**{"subjective": "omit", "embedding": "none", **options})


# --- numbers ------------------------------------------------------------------------------------------------


def test_a_number_when_evaluating() -> None:
    assert metric()(EXAMPLE, {"response": GOOD}) == pytest.approx(0.6)
    assert metric()(EXAMPLE, {"response": POOR}) == pytest.approx(0.2)


def test_yes_or_no_when_bootstrapping() -> None:
    """A trace is there, be it empty; the border belongs to the good."""
    for threshold, good in ((0.5, True), (0.6, True), (0.7, False)):
        assert metric(threshold=threshold)(EXAMPLE, {"response": GOOD}, []) is good
    assert metric()(EXAMPLE, {"response": GOOD}, ["step"]) is False  # production ready is 0.85


def test_the_threshold_comes_from_the_profile(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("production_ready: 0.55\n", encoding="utf-8")
    assert metric(patterns=path).threshold == 0.55
    assert metric(patterns=path)(EXAMPLE, {"response": GOOD}, []) is True


def test_a_judge_gives_the_other_half() -> None:
    """4, 5, 5, 4, 5 is 0.92: 0.4 * 0.6 + 0.6 * 0.92 = 0.792. A judge may rate 4.5: 0.4 * 0.6 + 0.6 * 0.9 = 0.78."""
    ratings = {"professionalism": 4, "empathy": 5, "clarity": 5, "actionability": 4, "compliance": 5}
    seen: list[Any] = []

    def judge(*given: Any) -> dict[str, float]:
        seen.append(given)
        return ratings

    pred = {"response": GOOD, "search_context": []}
    assert metric(subjective="judge", judge=judge)(EXAMPLE, pred) == pytest.approx(0.792)
    assert seen == [(EXAMPLE["query"], GOOD, [])]
    assert metric(subjective="judge", judge=lambda *_: {"empathy": 4.5})(EXAMPLE, pred) == pytest.approx(0.78)


def test_ratings_that_come_with_a_recorded_reply() -> None:
    """The prediction's own count before those of the example: 5 / 5, and not 1 / 5."""
    rated = metric(subjective="error")
    assert rated({**EXAMPLE, "ratings": {"empathy": 1}}, {"response": GOOD, "ratings": {"empathy": 5}}) == (
        pytest.approx(0.4 * 0.6 + 0.6)
    )
    with pytest.raises(InputError, match="needs ratings, and there are none"):
        rated(EXAMPLE, {"response": GOOD})
    assert [error.what for error in rated.failures] == ["the overall quality needs ratings, and there are none"]
    assert metric()({**EXAMPLE, "ratings": {"empathy": 1}}, {"response": GOOD}) == pytest.approx(0.6)  # omitted


def test_what_the_reply_was_made_of_counts() -> None:
    """Time and retrieval belong to the prediction: (1 + 1 + 0 + 0 + 1 + 1 + 0.5) / 7, and the citation is compared."""
    pred = {
        "response": GOOD,
        "processing_time_ms": 10,
        "search_context": [{"text": "Something else.", "similarity": 0.5}],
    }
    measured, found = metric().measure({**EXAMPLE, "processing_time_ms": 9999}, pred)
    assert (measured.processing_time_acceptable, measured.rag_similarity_score) == (True, 0.5)
    assert measured.citation_accuracy is not None
    assert found.objective == pytest.approx((1 + 1 + 0 + 0 + 1 + 1 + 0.5 + measured.citation_accuracy) / 8)


def test_a_reply_without_a_turn_is_the_first() -> None:
    query = {"query": "My employee did not show up today."}
    asks = "Got it. When did the shift begin?"
    assert metric().measure(query, {"response": asks})[0].asks_clarifying_questions is True
    assert metric().measure({**query, "turn": 2}, {"response": asks})[0].asks_clarifying_questions is None


def test_other_names_of_fields() -> None:
    named = metric(fields={"query": "question", "response": "answer"})
    example = {"question": EXAMPLE["query"], "is_first_response": False}
    assert named(example, SimpleNamespace(answer=GOOD)) == pytest.approx(0.6)
    with pytest.raises(InputError, match="the prediction has no text 'answer'") as error:
        named(example, {"response": GOOD})
    assert error.value.found == "response"


# --- wrong usage --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subjective": "judge"}, "no judge of its own yet"),
        ({"subjective": "ommit"}, "did you mean omit"),
        ({"judge": lambda *_: {}}, "of no use"),
        ({"threshold": 85}, "threshold is not a quality"),
        ({"fields": {"querry": "q"}}, "did you mean query"),
    ],
)
def test_wrong_usage_is_said_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        metric(**options)


@pytest.mark.parametrize("ratings", [{"empathy": 6}, {"empathy": "5"}, {"empathy": True}, {"kindness": 5}, {}, None])
def test_a_judge_that_does_not_rate(ratings: Any) -> None:
    with pytest.raises(TurnwiseError):
        metric(subjective="judge", judge=lambda *_: ratings)(EXAMPLE, {"response": GOOD})


def test_missing_is_an_error_and_not_zero() -> None:
    with pytest.raises(InputError, match="a number would be made up") as error:
        metric()({"query": "休みます", "is_first_response": False}, {"response": "電話してください。"})
    assert "another script" in str(error.value.found)
    with pytest.raises(InputError, match="the example has no text 'query'"):
        metric()({}, {"response": GOOD})


# --- DSPy itself --------------------------------------------------------------------------------------------


@pytest.fixture
def dspy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """DSPy without its cache on disk and without the price list that a package of its own would download."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path / "cache"))
    return pytest.importorskip("dspy", reason="needs turnwise[dspy]")


pytestmark = pytest.mark.filterwarnings("ignore")  # of DSPy and the packages it brings
REPLIES = {"late": GOOD, "absent": POOR, "swap": GOOD, "uniform": POOR}


def language_model(dspy: Any) -> Any:
    """Answers a question about a topic with the topic's reply."""
    from dspy.utils import DummyLM

    return DummyLM({f"rule on {topic}": {"response": reply} for topic, reply in REPLIES.items()})


def examples(dspy: Any) -> list[Any]:
    return [
        dspy.Example(query=f"What is the rule on {topic}?", is_first_response=False).with_inputs("query")
        for topic in REPLIES
    ]


def test_dspy_evaluates(dspy: Any) -> None:
    """3/5, 1/5, 3/5, 1/5: 40 percent."""
    with dspy.context(lm=language_model(dspy)):
        evaluate = dspy.Evaluate(devset=examples(dspy), metric=metric(), num_threads=2, display_progress=False)
        found = evaluate(dspy.Predict("query -> response"))
    assert found.score == pytest.approx(40)
    assert [score for _, _, score in found.results] == pytest.approx([0.6, 0.2, 0.6, 0.2])


def test_dspy_refuses_demos_below_the_threshold(dspy: Any) -> None:
    """Of four replies two reach 0.5, and only these are learned from."""
    student = dspy.Predict("query -> response")
    chosen = metric(threshold=0.5)
    with dspy.context(lm=language_model(dspy)):
        optimizer = dspy.BootstrapFewShot(metric=chosen, max_bootstrapped_demos=4, max_labeled_demos=0)
        learned = optimizer.compile(student, trainset=examples(dspy))
    assert [demo.response for demo in learned.demos] == [GOOD, GOOD]
    assert chosen.failures == []
    with dspy.context(lm=language_model(dspy)):
        strict = dspy.BootstrapFewShot(metric=metric(threshold=0.7), max_bootstrapped_demos=4, max_labeled_demos=0)
        assert strict.compile(student, trainset=examples(dspy)).demos == []


def test_gepa_hears_what_was_wrong(dspy: Any) -> None:
    """GEPA's own loop: it takes the signature, and what the metric says reaches the model that writes instructions."""
    from dspy.utils import DummyLM

    reflection = DummyLM([{"improved_instruction": "Cite the policy."}] * 50)
    with dspy.context(lm=language_model(dspy)):
        optimizer = dspy.GEPA(
            metric=metric(), max_metric_calls=12, reflection_lm=reflection, reflection_minibatch_size=2, num_threads=1
        )
        optimizer.compile(dspy.Predict("query -> response"), trainset=examples(dspy), valset=examples(dspy))
    asked = "\n".join(str(one["messages"] or one["prompt"]) for one in reflection.history)
    assert "has_policy_citation is 0: cite the policy that the guidance rests on" in asked
    assert "response_length_appropriate is 0: it has 1 words where 100 to 500 are right" in asked


def test_feedback_for_one_predictor(dspy: Any) -> None:
    found = metric()(EXAMPLE, {"response": GOOD}, ["trace"], "predict", ["own trace"])
    assert isinstance(found, dspy.Prediction)
    assert found.score == pytest.approx(0.6)
    lines = found.feedback.splitlines()
    assert lines[0] == "objective quality 0.60 (the mean of 5 of 9 metrics)."
    assert lines[1].startswith("- response_structure_complete is 0: it lacks guidance and next steps;")
    assert lines[2] == "- response_length_appropriate is 0: it has 16 words where 100 to 500 are right"
    assert len(lines) == 3
    judged = metric(subjective="judge", judge=lambda *_: {"empathy": 4, "clarity": 5})
    last = judged(EXAMPLE, {"response": GOOD}, pred_name="predict").feedback.splitlines()[-1]
    assert last == "- empathy_score was rated 4 of 5: 5 is Highly empathetic: Strong acknowledgment + support"


def test_what_is_raised_is_not_lost(dspy: Any) -> None:
    """The document's metric raises inside the optimizer, and nobody hears of it."""
    rated = metric(subjective="error")
    with dspy.context(lm=language_model(dspy)):
        optimizer = dspy.BootstrapFewShot(metric=rated, max_bootstrapped_demos=4, max_labeled_demos=0)
        assert optimizer.compile(dspy.Predict("query -> response"), trainset=examples(dspy)).demos == []
    assert len(rated.failures) == 4
