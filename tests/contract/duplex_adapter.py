"""The duplex room for the contract of metrics: what is covered, and agents whose scores are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.contract import opinions
from tests.contract.duplex_records import RESPONSE, YIELD, Record, exemplary, records
from tests.contract.duplex_sources import SOURCES
from turnwise.duplex import baselines
from turnwise.duplex import cases as c
from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.cases import FILE_MISSING, LABEL_OF, LABELS, Case, Fact
from turnwise.duplex.categories import BEFORE, Measured, category_named
from turnwise.duplex.metrics.behaviour import Behaviour
from turnwise.duplex.metrics.labels import LABELLED_BY
from turnwise.duplex.read import read_conversations
from turnwise.duplex.records import CATEGORY, INTERRUPTION, KIND, PAUSE, TO_IGNORE, TURN, Label, Segment, Timeline
from turnwise.duplex.timing import Event, events, user_turns
from turnwise.judge.metric import JUDGE
from turnwise.judge.records import Judgement, Question, Verdict, question_key
from turnwise.kernel.metric import Output
from turnwise.kernel.score import Unit

__all__ = ["SOURCES", "exemplary", "records"]

ROOM = "duplex"
EXAMPLES = Path(__file__).parents[2] / "examples" / "duplex" / "recordings" / "truth.jsonl"
CONTEXT = {"level": "conversations", "voice": "timelines", LABELLED_BY: JUDGE, JUDGE: opinions.MODEL}
OTHER_CONTEXTS = ({"level": "recordings", "voice": "timelines"},)
"""Conversations of the challenge's categories, and any. Averages of categories: tests/duplex/test_experiment.py."""

TOTALS = ("interruption_total_score", "rejection_total_score")
DELAYS = ("first_response_delay", "avg_latency_stop", "avg_latency_resp")
ANSWERS = ("response_latency", "response_rate", "response_latency_mean")
YIELDS = ("stop_latency", "yield_rate", "yield_latency_mean")
IGNORED = {f"selectivity_{kind}": kind for kind in ("backchannel", "vocal_tic", "non_directed")}
COUNTS = (
    *("n_simulations", "response_total", "yield_total", "backchannel_total", "vocal_tic_total", "non_directed_total"),
    "agent_interrupts_count",
)
COVERED = (
    *(*TOTALS, *DELAYS, "behaviour", "reject_rate", "take_over"),
    *(*ANSWERS, *YIELDS, "turn_taking", "agent_interruption_rate", "overlap_ratio"),
    *("selectivity", *IGNORED, *COUNTS),
)
TAU_VOICE_ONLY = ("response_latency_mean", "yield_latency_mean", *IGNORED, *COUNTS)

_ALL_SPEECH = "it counts all speech of the user, also what is not meant for the agent"
_ANSWER_DUE = "where an answer is due while something is to be ignored, nobody can do both"
NO_PERFECT_INPUT = {
    **dict.fromkeys(("avg_latency_stop", "avg_latency_resp"), _ALL_SPEECH),
    **dict.fromkeys(("selectivity", *IGNORED), _ANSWER_DUE),
    "take_over": "a turn that is taken at a pause is as good as the pause is long",
}
"""Metrics for which perfect input is not defined, and why; they are perfect on the exemplary conversations."""

_NO_CATEGORY = "the examples are no conversations of the challenge"
NOT_IN_EXAMPLES = dict.fromkeys((*TOTALS, "behaviour", "reject_rate"), _NO_CATEGORY)

NO_BASELINES = {
    **dict.fromkeys((*TOTALS, "behaviour"), "a label says what the real agent did, and nothing about another one"),
    **dict.fromkeys(COUNTS, "how many things happened is neither good nor bad"),
}
UNSCORED_BASELINES = {
    **{(name, "silent"): "it says nothing, so there is nothing to time" for name in (*DELAYS, "response_latency")},
    **{(name, "silent"): "it says nothing, so nobody interrupts it" for name in YIELDS},
    ("response_latency_mean", "silent"): "it says nothing, so there is nothing to time",
    ("first_response_delay", "never_silent"): "it speaks before the user does, which is too early everywhere",
    **{(name, "never_silent"): "it never begins to answer" for name in ("avg_latency_resp", *ANSWERS)},
    ("yield_latency_mean", "never_silent"): "it never falls silent in time",
    ("stop_latency", "never_silent"): "it never yields",
    ("agent_interruption_rate", "never_silent"): "no turn of the user could be answered",
}
"""Agents that a metric does not score, and why; the page says `no score`."""

OTHER_PAGES = dict.fromkeys(TAU_VOICE_ONLY, "tau_voice")
NEEDS_MODEL: dict[str, str] = {}
NO_BEST_VALUE: dict[str, str] = {}
NO_PERFECT_SETTINGS: dict[tuple[str, str, object], str] = {}
BATCH_VARIANTS: dict[str, dict[str, str]] = {}
"""This room needs none of these exceptions."""


def aim(name: str, output: Output, unit: Unit) -> float | None:
    """What the perfect agent gets where the end of the range is no aim; None where it is.

    Who answers after 0 s guessed, and who falls silent after 0 s did not react.
    """
    if name == "turn_taking" and unit.dimensions[KIND] == INTERRUPTION:
        return 1 - YIELD / 2  # EVA: max(0, 1 - yield / 2 s)
    if "seconds" in output.statistics:
        return YIELD if name in (*YIELDS, "avg_latency_stop") else RESPONSE
    return None


def asks(name: str, output: str, unit: Unit) -> bool:
    """Whether a metric asks about such a unit at all: most are about one kind of event, or about some categories."""
    if KIND in unit.dimensions:
        turns = (TURN, INTERRUPTION)
        kinds = {
            **dict.fromkeys((*ANSWERS, "turn_taking"), turns),
            **dict.fromkeys(YIELDS, (INTERRUPTION,)),
            "take_over": turns if output == "latency" else (*turns, *TO_IGNORE, PAUSE),
            "selectivity": TO_IGNORE if output == "value" else (output,),
            **{one: (kind,) for one, kind in IGNORED.items()},
        }
        return unit.dimensions[KIND] in kinds[name]
    category = category_named(unit.dimensions.get(CATEGORY, ""))
    if name in TOTALS:
        return category is not None and category.interrupts is (name == "interruption_total_score")
    if name in ("reject_rate", "behaviour"):
        return category is not None and (category.measured is Measured.REJECT) is (name == "reject_rate")
    return True


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """Nothing here takes long."""


def batch(given: Sequence[Record], index: int = 0) -> DuplexBatch:
    """With a judge's labels for conversations that have transcripts and no label of their own."""
    cases = [record.case for record in given if record.case is not None]
    found = DuplexBatch(index, cases, [record.timeline for record in given if record.timeline is not None])
    asked = [one for _, one in Behaviour().asked(found) if isinstance(one, Question)]
    return replace(found, judged={question_key(one): _labelled(one) for one in asked})


def _labelled(question: Question) -> Judgement:
    """Any label, the same for the same words."""
    label = LABELS[len(question.shown["noisy_user"]) % len(LABELS)]
    return Judgement((Verdict({"behaviour": label}),), opinions.MODEL)


def example_batch(given: Sequence[Record]) -> DuplexBatch:
    return batch(given)


@cache
def examples() -> tuple[Record, ...]:
    """The calls of version 1 in examples/duplex, with their true times."""
    return tuple(map(Record, read_conversations(EXAMPLES)))


# --- agents -------------------------------------------------------------------------------------------------


def silent(given: Sequence[Record]) -> list[Record]:
    """Never speaks; files of another agent say nothing about it."""
    return [Record(baselines.silent(record.timeline)) for record in given if record.timeline is not None]


def never_silent(given: Sequence[Record]) -> list[Record]:
    """Speaks from the beginning to the end."""
    return [Record(baselines.never_silent(record.timeline)) for record in given if record.timeline is not None]


def perfect(given: Sequence[Record]) -> list[Record]:
    """Answers every turn after `RESPONSE` and falls silent `YIELD` after every interruption."""
    return [
        Record(None if record.timeline is None else _with_perfect_agent(record.timeline), _perfect_case(record.case))
        for record in given
    ]


def _perfect_case(case: Case | None) -> Case | None:
    if case is None:
        return None
    each = {c.STOP: YIELD, c.RESP: RESPONSE, c.DELAY: RESPONSE}
    facts = {
        name: fact if fact.reason == FILE_MISSING else Fact(max(1, fact.n) * each.get(name, 1.0), max(1, fact.n))
        for name, fact in case.facts.items()
    }
    assert case.category is not None
    label = LABEL_OF.get(case.category.measured, LABELS[1])
    return replace(case, facts=facts, labels=tuple(label for _ in case.labels))


LEAD, ANSWERED, ANSWER = 1.5, 3.0, 1.5
"""Seconds in which the agent speaks before it is interrupted; in which the user waits for an answer; of an answer."""


def _with_perfect_agent(timeline: Timeline) -> Timeline:
    """The same user, who waits for each answer: everything that comes later is moved.

    Labels of which nobody can tell what becomes of them are left out: an interruption that is no utterance, a pause
    that is not inside a turn.
    """
    if timeline.user is None:
        return timeline
    turns = user_turns(timeline)
    inside = [one for one in timeline.labels if any(t.start <= one.start and one.end <= t.end for t in turns)]
    labels = tuple(one for one in timeline.labels if one.kind != PAUSE or one in inside)
    timeline = replace(timeline, user=turns, labels=labels, agent=(), words=None, tool_calls=())
    while stray := {e[1:3] for e in events(timeline) if e.kind == INTERRUPTION and not e.spoken}:
        kept = tuple(one for one in timeline.labels if one.kind != INTERRUPTION or one[:2] not in stray)
        timeline = replace(timeline, labels=kept)
    said = [event for event in events(timeline) if event.spoken]
    moved = _Moved(said)
    agent = []
    for event in (moved.event(event) for event in said):
        if event.kind == INTERRUPTION:
            agent.append(Segment(event.start - LEAD / 2, event.start + YIELD))
        if event.directed:
            agent.append(Segment(event.end + RESPONSE, event.end + RESPONSE + ANSWER))
    timeline = replace(
        timeline,
        user=moved.segments(timeline.user or ()),
        agent=tuple(agent),
        labels=tuple(Label(*moved.span(one.start, one.end), *one[2:]) for one in timeline.labels),
        sentences=None if timeline.sentences is None else moved.segments(timeline.sentences),
        seconds=None,
    )
    category = category_named(timeline.category or "")
    heard = timeline.sentences if timeline.sentences is not None else timeline.user or ()
    asked = heard[int(category is BEFORE) :]
    if asked:
        first = Segment(asked[0].end + RESPONSE, asked[0].end + RESPONSE + ANSWER)
        timeline = replace(timeline, words=(first, *(one for one in agent if one.start > first.start)))
    done = None if category is None else LABEL_OF.get(category.measured)
    return replace(timeline, behaviour=done or timeline.behaviour)


class _Moved:
    """When things happen if the user waits: before every interruption, and after everything that wants an answer."""

    def __init__(self, said: Sequence[Event]) -> None:
        before = [(event.start, LEAD) for event in said if event.kind == INTERRUPTION]
        self.waits = before + [(event.end, ANSWERED) for event in said if event.directed]

    def span(self, start: float, end: float) -> tuple[float, float]:
        begins = start + sum(seconds for moment, seconds in self.waits if moment <= start)
        return begins, max(begins, end + sum(seconds for moment, seconds in self.waits if moment < end))

    def event(self, event: Event) -> Event:
        start, end = self.span(event.start, event.end)
        return event._replace(start=start, end=end)

    def segments(self, given: Sequence[Segment]) -> tuple[Segment, ...]:
        return tuple(Segment(*self.span(one.start, one.end), one.text) for one in given)
