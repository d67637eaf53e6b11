"""The document's detectors, written out again in Python from its TypeScript, to hold the profile `spec` against."""

from __future__ import annotations

import re

CITATIONS = (
    r"policy:",
    r"per our .+ policy",
    r"according to .+ policy",
    r"fitness connection policy",
    r"our .+ policy states",
    r"\[policy reference:",
)
ACTIONS = {
    "email": r"email|send.*message|written communication",
    "call": r"call|phone|speak.*directly|contact.*employee",
    "calendar": r"schedule|calendar|book.*call|set up.*meeting",
    "escalate": r"escalate|contact hr|reach out.*hr",
    "document": r"document|record|log|track",
}
ACKNOWLEDGMENTS = (r"^(got it|thanks|okay|i understand|that's|this is)", r"^hi\s+\w+|^hello\s+\w+")
NEXT_STEPS = (r"next step", r"here's what", r"would you like", r"\d+\.\s")
GUIDANCE = r"immediate steps|here's what|next steps"
CALL, EMAIL = r"call|phone|speak.*directly", r"draft.*email|help.*email|send.*email"
ACTIVE = r"\b(my|our)\b"


def test(pattern: str, text: str) -> bool:
    """JavaScript's `/pattern/i.test(text)`, for texts of ASCII characters."""
    javascript = pattern.replace(".+", r"[^\n\r]+").replace(".*", r"[^\n\r]*")
    return re.search(javascript, text, re.IGNORECASE) is not None


test.__test__ = False  # type: ignore[attr-defined]  # not a test of ours


def has_policy_citation(response: str) -> bool:
    return any(test(pattern, response) for pattern in CITATIONS)


def has_appropriate_action(response: str) -> bool:
    return any(test(pattern, response) for pattern in ACTIONS.values())


def has_complete_structure(response: str) -> bool:
    acknowledged = any(test(pattern, response[:100]) for pattern in ACKNOWLEDGMENTS)
    return acknowledged and len(response) > 100 and any(test(pattern, response) for pattern in NEXT_STEPS)


def sequential_action_correct(response: str) -> bool:
    return not (test(CALL, response) and test(EMAIL, response))


def asks_clarifying_questions(query: str, response: str, is_first: bool) -> bool | None:
    """Without `hasProperName`, which the document leaves open: for queries in lower case."""
    if not test(ACTIVE, query) or not is_first:
        return None
    return "?" in response and not test(GUIDANCE, response)
