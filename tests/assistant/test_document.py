"""The document's own examples, formulas and patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.assistant import document
from turnwise.assistant import evaluate
from turnwise.assistant.composites import composite_context, qualities
from turnwise.assistant.evaluator import ResponseMetrics
from turnwise.assistant.profile import built_in
from turnwise.assistant.scales import OBJECTIVE, SUBJECTIVE, scales

NCNS = "Per our No Call No Show policy, employees who miss three consecutive shifts..."
ATTENDANCE = "According to the Attendance Policy, managers should..."
BEST = "Per our policy, the next step is to document this incident and schedule a formal discussion with the employee."
CALL_ONLY = "Since you need to call the employee, would you like me to schedule that call?"
BOTH = "You should call the employee. Would you also like me to draft a follow-up email?"


def judged(
    response: str, query: str = "What about it?", *, first: bool = False, profile: str = "turnwise"
) -> ResponseMetrics:
    return evaluate(query, response, [], 100, first, profile=profile, embedding="none")


@pytest.mark.parametrize(
    ("response", "cited"),
    [
        (NCNS, True),
        (ATTENDANCE, True),
        ("You should call the employee and document the absence.", False),
        (BEST, True),  # the document's own best example; its patterns do not see it (002-3)
        ("This is a policy violation.", False),
        ("Employee missed shifts. Follow policy.", False),
        ("Policy: Attendance", True),
        ("[Policy Reference: 4.2]", True),
        ("Fitness Connection policy allows it.", True),
        ("Our attendance policy states that notice is needed.", True),
        ("According to the\nAttendance Policy, shifts count.", True),
        ("Per our chat this morning. There is also an email policy.", False),
    ],
)
def test_citations(response: str, cited: bool) -> None:
    assert judged(response).has_policy_citation is cited


@pytest.mark.parametrize(
    ("response", "actions"),
    [
        ("I recommend you call the employee to discuss this situation.", {"call"}),
        ("Would you like me to help draft an email to the employee?", {"email"}),
        ("This should be escalated to HR for FMLA review.", {"escalate"}),
        ("That's a tough situation.", set()),
        (NCNS, set()),  # the name of a policy is no action (002-3)
        (ATTENDANCE, set()),
        ("Specifically, our technology can help.", set()),
        (BEST, {"document", "calendar"}),
        ("I recommend scheduling a formal conversation to address this.", {"calendar"}),
        ("The Cell Phone Policy and the Email Policy apply.", set()),
        ("Somebody who calls out sick is excused.", set()),
        ("Please do not call the employee at home.", set()),
        ("He missed his scheduled shift, and the schedule was posted.", set()),
    ],
)
def test_actions(response: str, actions: set[str]) -> None:
    found = judged(response)
    assert found.appropriate_action_suggested is bool(actions)
    assert set(found.evidence.get("appropriate_action_suggested", {}).get("actions", {})) == actions


@pytest.mark.parametrize(
    ("response", "one_at_a_time"),
    [
        (CALL_ONLY, True),
        (BOTH, False),
        ("Per our No Call No Show policy, write first. Would you like me to draft an email?", True),
        ("You should call and email the employee.", False),
        ("", True),
    ],
)
def test_one_action_at_a_time(response: str, one_at_a_time: bool) -> None:
    assert judged(response).sequential_action_correct is one_at_a_time


GUIDANCE = "There are two ways to go about this, and both of them begin with a quiet conversation in private."


@pytest.mark.parametrize(
    ("response", "complete"),
    [
        (f"Got it — that's hard. {GUIDANCE} Would you like me to help?", True),
        (f"That’s hard. {GUIDANCE} Here’s what I would do.", True),  # typographic apostrophes
        (f"**Hi there!** {GUIDANCE}\n1. Talk.\n2. Listen.", True),
        (f"That sounds challenging — let's figure this out. {GUIDANCE} The next step is a talk.", True),
        (f"I can see this is a tough situation. {GUIDANCE} Would you like more?", True),
        (f"{GUIDANCE} Would you like more?", False),  # no acknowledgment
        ("Got it. Would you like more?", False),  # no guidance
        (f"Got it. {GUIDANCE} It was like that in 2019. People forget.", False),  # no list: a year
    ],
)
def test_structure(response: str, complete: bool) -> None:
    assert judged(response).response_structure_complete is complete


@pytest.mark.parametrize(("words", "appropriate"), [(99, False), (100, True), (500, True), (501, False), (0, False)])
def test_length(words: int, appropriate: bool) -> None:
    assert judged("word " * words).response_length_appropriate is appropriate


@pytest.mark.parametrize(("time", "acceptable"), [(2999.9, True), (3000, False), (0, True)])
def test_time(time: float, acceptable: bool) -> None:
    assert evaluate("q", "r", [], time, False).processing_time_acceptable is acceptable


@pytest.mark.parametrize(
    ("query", "response", "first", "asked"),
    [
        ("My employee didn't show up", "When was that?", True, True),
        ("My employee didn't show up", "When? Here's what you do.", True, False),
        ("My employee didn't show up", "Wait.", True, False),
        ("My employee didn't show up", "When was that?", False, None),
        ("What is the policy on overtime?", "Which one?", True, None),
        ("What should I do about Charlie?", "When was that?", True, True),
        ("My employee didn't show up", "See https://hr.example/?page=1 for more", True, False),
    ],
)
def test_clarifying_questions(query: str, response: str, first: bool, asked: bool | None) -> None:
    assert judged(response, query, first=first).asks_clarifying_questions is asked


def test_a_clarifying_first_reply_is_not_asked_for_length_citation_and_structure() -> None:
    """002-7: by default the three do not apply; `spec` scores them, and a correct reply fails."""
    query, reply = "My employee didn't show up", "I understand. When was that?"
    three = ("has_policy_citation", "response_structure_complete", "response_length_appropriate")
    default, spec = (judged(reply, query, first=True, profile=profile) for profile in ("turnwise", "spec"))
    assert [getattr(default, name) for name in three] == [None, None, None]
    assert {default.missing[name] for name in three} == {"a first reply that asks before it guides"}
    assert [getattr(spec, name) for name in three] == [False, False, False]
    assert default.asks_clarifying_questions is spec.asks_clarifying_questions is True


# --- formulas -----------------------------------------------------------------------------------------------


def test_the_document_s_score_command() -> None:
    """4, 5, 5, 4, 5: 23 / 25 = 0.92, and 0.4 * 0.85 + 0.6 * 0.92 = 0.34 + 0.552 = 0.892 (002-1)."""
    ratings = dict(zip(SUBJECTIVE, (4, 5, 5, 4, 5), strict=True))
    # 17 / 20: nine metrics of which 7 are 1, one is 0.65 and one is 0: 7.65 / 9 = 0.85.
    measured = dict.fromkeys(OBJECTIVE[:7], 1.0) | {OBJECTIVE[7]: 0.65, OBJECTIVE[8]: 0.0}
    found = qualities({**measured, **ratings}, composite_context(built_in("hr")))
    assert found.objective == pytest.approx(0.85)
    assert found.subjective == pytest.approx(0.92)
    assert found.overall == pytest.approx(0.892)
    assert found.band == "production_ready"


def test_the_document_s_json_example() -> None:
    """4 and 5: 9 / 10 = 0.90, and 0.4 * 0.85 + 0.6 * 0.9 = 0.88 (the document prints 0.87 and 0.86)."""
    measured = dict.fromkeys(OBJECTIVE[:7], 1.0) | {OBJECTIVE[7]: 0.65, OBJECTIVE[8]: 0.0}
    found = qualities({**measured, "professionalism_score": 4, "empathy_score": 5}, {})
    assert found.subjective == pytest.approx(0.90)
    assert found.overall == pytest.approx(0.88)
    assert found.made_of["subjective"] == {
        "n": 2,
        "of": 5,
        "values": {"professionalism_score": 4, "empathy_score": 5},
    }


def test_overall_exists_only_when_both_halves_do() -> None:
    assert qualities({OBJECTIVE[0]: 1.0}, {}).overall is None
    assert qualities({SUBJECTIVE[0]: 5}, {}).overall is None
    assert qualities({}, {}).objective is None


def test_exactly_on_the_border_is_production_ready() -> None:
    """0.4 * 0.85 + 0.6 * 0.85 = 0.85 whatever the last bit of the sum is."""
    found = qualities({OBJECTIVE[0]: 0.85, SUBJECTIVE[0]: 4.25}, {})
    assert found.overall == 0.85
    assert found.band == "production_ready"


# --- scales -------------------------------------------------------------------------------------------------


def test_every_scale_has_five_levels_and_those_the_document_forgot_have_examples() -> None:
    found = scales()
    assert [scale.metric for scale in found.values()] == list(SUBJECTIVE)
    for scale in found.values():
        assert [level.score for level in scale.levels] == [1, 2, 3, 4, 5]
        assert all(level.name and level.description for level in scale.levels)
    for name in ("professionalism", "empathy", "actionability", "compliance"):
        assert all(level.example for level in found[name].levels)
    anchors = {
        "professionalism": ("Unprofessional", "Adequate", "Exemplary"),
        "empathy": ("Cold", "Neutral", "Highly empathetic"),
        "clarity": ("Confusing", "Clear", "Crystal clear"),
        "actionability": ("Vague", "Specific", "Step-by-step"),
        "compliance": ("Risky", "Safe", "Excellent escalation"),
    }
    for name, words in anchors.items():
        levels = found[name].levels
        assert (levels[0].name, levels[2].name, levels[4].name) == words
    assert found["empathy"].levels[3].example == (
        "That sounds challenging — let's figure out the best way to handle this together."
    )
    assert found["professionalism"].levels[4].example == BEST


# --- to the letter ------------------------------------------------------------------------------------------


def test_spec_has_the_document_s_patterns() -> None:
    spec = built_in("spec")
    assert spec.citation.sources == document.CITATIONS
    assert {name: found.sources for name, found in spec.actions.items()} == {
        name: (pattern,) for name, pattern in document.ACTIONS.items()
    }
    assert spec.acknowledgements.sources == document.ACKNOWLEDGMENTS
    assert spec.next_steps.sources == document.NEXT_STEPS
    assert spec.guidance.sources == (document.GUIDANCE,)
    assert spec.active.sources == (document.ACTIVE,)
    assert {name: found.sources for name, found in spec.offers.items()} == {
        "call": (document.CALL,),
        "email": (document.EMAIL,),
    }
    assert (spec.min_words, spec.max_words, spec.processing_time_ms) == (100, 500, 3000)
    assert spec.masks.sources == ()


_FRAGMENTS = st.sampled_from(
    [
        *("Per our ", "per our", "according to ", " policy", "policy:", "Our ", " policy states", "[policy reference:"),
        *("call", "specifically", "log", "e-mail", "email", "send a", " message", "draft an ", "help ", "phone"),
        *(
            "Got it",
            "thanks",
            "that's ",
            "this is",
            "Hi there",
            "hello x",
            "hi",
            "1. ",
            "2.",
            "next step",
            "here's what",
        ),
        *(
            "would you like",
            "?",
            "immediate steps",
            "next steps",
            "\n",
            "\r",
            ". ",
            "x" * 101,
            "speak",
            "directly",
            "hr",
        ),
        *(
            "contact ",
            "employee",
            "book",
            "set up",
            "meeting",
            "reach out",
            "document",
            "fitness connection policy",
            " ",
        ),
    ]
)
_REPLIES = st.lists(_FRAGMENTS, max_size=8).map("".join)


@given(_REPLIES, st.sampled_from(["my team", "the hour", "our plan", "army", "is it so"]), st.booleans())
def test_spec_decides_as_the_document_s_code(response: str, query: str, first: bool) -> None:
    found = judged(response, query, first=first, profile="spec")
    assert found.has_policy_citation is document.has_policy_citation(response)
    assert found.appropriate_action_suggested is document.has_appropriate_action(response)
    assert found.response_structure_complete is document.has_complete_structure(response)
    assert found.sequential_action_correct is document.sequential_action_correct(response)
    assert found.asks_clarifying_questions is document.asks_clarifying_questions(query, response, first)


def test_spec_keeps_the_document_s_mistakes() -> None:
    """002-3, 002-5."""
    assert judged("Specifically, our technology can help.", profile="spec").appropriate_action_suggested is True
    assert judged(BEST, profile="spec").has_policy_citation is False
    assert judged("Wait.", profile="spec").citation_accuracy == 0.0
    assert judged("Wait.").citation_accuracy is None


def test_spec_counts_characters_as_javascript_does() -> None:
    """51 astral characters are 102 units for JavaScript, and 51 for Python."""
    text = "got it, would you like " + "🙂" * 51
    assert len(text) == 74
    assert judged(text, profile="spec").response_structure_complete is True
    assert judged(text).response_structure_complete is False


def test_spec_takes_a_line_separator_for_a_line_break() -> None:
    """JavaScript's dot stops at U+2028; RE2's and Python's do not."""
    assert judged("per our\u2028own policy", profile="spec").has_policy_citation is False
    assert judged("per our own policy", profile="spec").has_policy_citation is True
