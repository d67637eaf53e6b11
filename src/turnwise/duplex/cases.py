"""What the challenge's totals are made of: cases, each a conversation or, where only averages are known, a category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turnwise.duplex.categories import BEFORE, LABELS, Category, Measured, category_named
from turnwise.duplex.opinion import Opinion
from turnwise.duplex.records import CATEGORY, CONVERSATION, LANGUAGE, NOT_GIVEN, Timeline
from turnwise.duplex.timing import first_response, response_intervals, stop_intervals
from turnwise.kernel.score import Unit

RESPOND, RESUME, REJECT = "respond", "resume", "reject"
STOP, RESP, DELAY = "stop", "resp", "delay"
EARLY, UNANSWERED, SILENT = "early", "unanswered", "silent"
FACTS = (RESPOND, RESUME, REJECT, STOP, RESP, DELAY, EARLY, UNANSWERED, SILENT)
PART = "part"

FACT_OF = {Measured.RESPOND: RESPOND, Measured.RESUME: RESUME, Measured.REJECT: REJECT}
LABEL_OF = {Measured.RESPOND: LABELS[0], Measured.RESUME: LABELS[1]}

FILE_MISSING = "a file of the experiment is missing"
NO_SAMPLE = "no conversation has a delay to average (n = 0)"
NO_INTERVAL = "no interval to average"
NO_OUTPUT = "no output has a word"
NO_SENTENCE = "the user says nothing that could be answered"
TOO_EARLY = "answered before the user had finished"
NO_ANSWER = "the agent says nothing"
NO_LABEL = "nobody says what the agent did"
INPUTS_MISSING = frozenset({FILE_MISSING, NO_LABEL, NOT_GIVEN.format("user"), NOT_GIVEN.format("agent")})
"""Reasons that are gaps in the data; the others are facts about the conversation."""


class Fact(NamedTuple):
    """A sum and how many things it is of; shares between 0 and 1, times in seconds."""

    total: float = 0.0
    n: int = 1
    reason: str = ""
    """Why there is neither."""


@dataclass(frozen=True, slots=True)
class Case:
    """Something that is known about a conversation, or about all of a category and language."""

    unit: Unit
    category: Category | None
    facts: Mapping[str, Fact]
    labels: tuple[str, ...] = ()
    """What somebody says the agent did."""
    opinion: Opinion | None = None
    """What a judge says, where nobody else does."""
    content: Mapping[str, Any] = field(default_factory=dict)
    """What is kept to show it later."""


def case_unit(name: str, dimensions: Mapping[str, str], category: Category | None) -> Unit:
    """What the scores of a case are about."""
    part = {} if category is None else {PART: category.part}
    return Unit(name, name, {**dimensions, **part}, CONVERSATION)


def filed_case(
    name: str,
    language: str,
    category: Category,
    facts: Mapping[str, Fact],
    labels: tuple[str, ...] = (),
    content: Mapping[str, Any] | None = None,
) -> Case:
    """A case of an experiment's file."""
    dimensions = {LANGUAGE: language, CATEGORY: category.name}
    return Case(case_unit(name, dimensions, category), category, facts, labels, content=content or {})


def conversation_unit(timeline: Timeline) -> Unit:
    """What the scores of a conversation are about."""
    return case_unit(timeline.key, timeline.dimensions, _category(timeline))


def _category(timeline: Timeline) -> Category | None:
    return category_named(timeline.category) if timeline.category else None


def heard_case(timeline: Timeline, opinion: Opinion | None = None) -> Case:
    """The facts of a conversation, as the challenge defines them; a judge's label counts where there is no other."""
    category = _category(timeline)
    facts: dict[str, Fact] = {}
    if category is None or category.interrupts:
        user, agent = timeline.user or (), timeline.agent or ()
        for name, found in ((STOP, stop_intervals(user, agent)), (RESP, response_intervals(user, agent))):
            total, n = sum(end - start for start, end in found), len(found)
            facts[name] = Fact(total, n, timeline.lacking or ("" if n else NO_INTERVAL))
    facts |= _first_response(timeline, category)
    labels = () if timeline.behaviour is None else (timeline.behaviour,)
    label = timeline.behaviour or (opinion.found.label if opinion else None)
    if category is not None and category.measured in LABEL_OF:
        given = Fact(float(label == LABEL_OF[category.measured])) if label else Fact(0.0, 0, NO_LABEL)
        facts[FACT_OF[category.measured]] = given
    return Case(conversation_unit(timeline), category, facts, labels, opinion)


def asked_sentence(timeline: Timeline) -> int:
    """Which of the user's sentences is to be answered: where a stranger speaks first, the second."""
    return int(_category(timeline) is BEFORE)


def _first_response(timeline: Timeline, category: Category | None) -> dict[str, Fact]:
    """The delay, or why there is none; and the decision to reject, where that is what a category asks for."""
    found = first_response(timeline, asked_sentence(timeline))
    rejects = category is not None and category.measured is Measured.REJECT
    names = (DELAY, EARLY, UNANSWERED, *((REJECT, SILENT) if rejects else ()))
    known = not timeline.lacking or (timeline.sentences is not None and timeline.words is not None)
    if found is None or not known:
        return dict.fromkeys(names, Fact(0.0, 0, NO_SENTENCE if known else timeline.lacking))
    early, silent = found.delay is not None and found.delay < 0, found.delay is None
    facts = {EARLY: Fact(float(early)), UNANSWERED: Fact(float(silent))}
    facts[DELAY] = Fact(found.delay or 0.0, int(not silent), TOO_EARLY if early else NO_ANSWER if silent else "")
    if rejects:
        facts[REJECT] = Fact(float(found.delay is None or found.delay > 0), 1, SILENT if silent else "")
        facts[SILENT] = Fact(float(silent))
    return facts
