"""What the metrics say about a reply, in words that help to write a better one: for people, and for optimisers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from turnwise.assistant.composites import Qualities
from turnwise.assistant.evaluator import ResponseMetrics
from turnwise.assistant.profile import Profile
from turnwise.assistant.scales import HIGHEST, OBJECTIVE, scales

NEARLY = 0.8
"""A citation, or what was retrieved, is worth a word below this."""


def feedback(measured: ResponseMetrics, found: Qualities, profile: Profile) -> str:
    """The qualities with what they are made of, then what to do about every metric that is not at its best."""
    lines = [_summary(found)]
    values = measured.values()
    for name in OBJECTIVE:
        value = values[name]
        if value is not None and value < (NEARLY if name in _BY_DEGREE else 1):
            lines.append(f"- {name} is {value:.2g}: {_advice(name, measured.evidence.get(name), profile)}")
    rated = found.made_of["subjective"]["values"]
    lines += [
        f"- {name} was rated {value:g} of {HIGHEST}: {_next_level(name, value)}"
        for name, value in rated.items()
        if value < HIGHEST
    ]
    if len(lines) == 1:
        lines.append("Nothing to improve by these metrics.")
    return "\n".join(lines)


_BY_DEGREE = ("citation_accuracy", "rag_similarity_score")


def _summary(found: Qualities) -> str:
    parts = []
    for half, value in (("objective", found.objective), ("subjective", found.subjective)):
        if value is not None:
            made = found.made_of[half]
            parts.append(f"{half} quality {value:.2f} (the mean of {made['n']} of {made['of']} metrics)")
    if found.overall is not None:
        parts.insert(0, f"overall quality {found.overall:.2f}")
    return ", ".join(parts) + "." if parts else "There is no quality: no metric applies."


def _advice(name: str, evidence: Any, profile: Profile) -> str:
    """What to do, with what the metric was decided by."""
    known = evidence if isinstance(evidence, Mapping) else {}
    found = {
        "missing": _listed(known.get("missing") or ["a part"]),
        "words": known.get("words", "too few or too many"),
        "limits": f"{profile.min_words} to {profile.max_words}",
        "time": f"{known.get('processing_time_ms', 0):g}",
        "limit": f"{profile.processing_time_ms:g}",
        "offers": _listed(known.get("offers") or ["two things"]),
    }
    wrong = known.get("not_allowed")
    return _ADVICE[name].format(**found) + (f" (not appropriate here: {_listed(wrong)})" if wrong else "")


_ADVICE = {
    "has_policy_citation": "cite the policy that the guidance rests on, by its name",
    "appropriate_action_suggested": "suggest an action that fits: a call, an email, a meeting, a note, an escalation",
    "response_structure_complete": "it lacks {missing}; a reply acknowledges, guides and names the next steps",
    "citation_accuracy": "the retrieved policy does not say what is said to be in the policy; stay close to its words",
    "response_length_appropriate": "it has {words} words where {limits} are right",
    "asks_clarifying_questions": "the situation is going on now: ask what is unclear first, and guide afterwards",
    "sequential_action_correct": "{offers} are offered at once; offer one, and the other when that is done",
    "rag_similarity_score": "what was retrieved has little to do with the question; look for other passages",
    "processing_time_acceptable": "it took {time} ms where less than {limit} are right",
}


def _listed(parts: Iterable[Any]) -> str:
    return " and ".join(map(str, parts))


def _next_level(metric: str, value: float) -> str:
    """What the guide says about the next better level."""
    scale = scales()[metric.removesuffix("_score")]
    level = next(one for one in scale.levels if one.score > value)
    return f"{level.score} is {level.name}: {level.description}"
