"""Conversations and cases for the contract of the duplex room: random ones, and exemplary ones.

Random times lie on a grid of 1/8 s, so that ties and touching segments are frequent and differences are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from turnwise.duplex import cases as c
from turnwise.duplex.cases import FACT_OF, FILE_MISSING, LABEL_OF, LABELS, Case, Fact, conversation_unit, filed_case
from turnwise.duplex.categories import CATEGORIES, Category, category_named
from turnwise.duplex.records import (
    BACKCHANNEL,
    INTERRUPTION,
    KINDS,
    NOISE,
    NON_DIRECTED,
    PAUSE,
    TURN,
    VOCAL_TIC,
    Label,
    Segment,
    Timeline,
)
from turnwise.kernel.score import Unit

GRID = 8
"""Moments per second."""
RESPONSE, YIELD = 0.75, 0.25
"""Seconds after which the exemplary agent answers, and falls silent when it is interrupted."""


@dataclass(frozen=True)
class Record:
    """What a batch is made of: a conversation, or a case of an experiment's files."""

    timeline: Timeline | None = None
    case: Case | None = None

    @property
    def unit(self) -> Unit:
        """What its scores are about."""
        if self.timeline is not None:
            return conversation_unit(self.timeline)
        assert self.case is not None
        return self.case.unit


# --- random conversations -----------------------------------------------------------------------------------

SPELLINGS = [*(one.name for one in CATEGORIES), "backchannel", "others_talk_to_user_before", "pause", "small talk"]
_steps = st.integers(0, 3) | st.integers(0, 24)
_lengths = st.integers(1, 4) | st.integers(1, 40)


@st.composite
def segments(draw: st.DrawFn, most: int = 4) -> tuple[Segment, ...]:
    """Speech of one side: in order, without overlaps, perhaps touching."""
    found: list[Segment] = []
    at = draw(st.integers(0, 16))
    for _ in range(draw(st.integers(0, most))):
        length = draw(_lengths)
        found.append(Segment(at / GRID, (at + length) / GRID))
        at += length + draw(_steps)
    return tuple(found)


@st.composite
def transcripts(draw: st.DrawFn) -> tuple[Segment, ...]:
    """A few words with their times, for a judge to read."""
    said = draw(st.lists(st.sampled_from(["no", "wait", "the harbour", "you see"]), max_size=3))
    return tuple(Segment(float(place), place + 0.5, word) for place, word in enumerate(said))


@st.composite
def _labels(draw: st.DrawFn, user: Sequence[Segment]) -> Label:
    """About one of the user's utterances, about a part of it, or beside all of them."""
    kind = draw(st.sampled_from(KINDS))
    start, end = draw(st.integers(0, 120)), draw(st.integers(0, 16))
    whole = Segment(start / GRID, (start + end) / GRID)
    if user and draw(st.integers(0, 3)):
        whole = draw(st.sampled_from(user))
    later = draw(st.sampled_from([0.0, 0.0, 0.0, 0.125, 0.5]))
    return Label(min(whole.start + later, whole.end), whole.end, kind, "", draw(st.integers(0, 3)) == 0)


@st.composite
def _timelines(draw: st.DrawFn, number: int) -> Timeline:
    """Any side perhaps silent, now and then one that nobody listened to."""
    user, agent = draw(segments()), draw(segments())
    labels = draw(st.lists(_labels(user), max_size=3))
    inner = st.none() | st.just(()) | st.just(user) | segments(2)
    return Timeline(
        key=f"c{number}",
        user=None if draw(st.integers(0, 11)) == 0 else user,
        agent=agent,
        labels=tuple(sorted(labels, key=lambda label: label[:2])),
        sentences=draw(inner),
        words=draw(st.none() | st.just(()) | segments(5) | transcripts()),
        user_words=draw(st.none() | transcripts()),
        behaviour=draw(st.none() | st.sampled_from(LABELS)),
        tool_calls=tuple(sorted(draw(st.lists(st.integers(0, 80).map(lambda n: n / GRID), max_size=2)))),
        seconds=draw(st.none() | st.just(40.0)),
        language=draw(st.sampled_from(["en", "cn", "de", None])),
        category=draw(st.none() | st.sampled_from(SPELLINGS)),
        metadata=draw(st.just({}) | st.just({"domain": "bus"})),
    )


# --- random cases -------------------------------------------------------------------------------------------


@st.composite
def _facts(draw: st.DrawFn, category: Category) -> tuple[dict[str, Fact], tuple[str, ...]]:
    """What one kind of file says: averages, labels, intervals, a delay; or that it is not there."""
    share = st.integers(0, 20).map(lambda n: n / 20)
    times = st.integers(0, 40).map(lambda n: n / GRID)
    own = FACT_OF[category.measured]
    kind = draw(st.sampled_from(["averages", "labels", "intervals", "delay", "missing"]))
    if kind == "labels":
        labels = tuple(draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=3)))
        hits = labels.count(LABEL_OF.get(category.measured, LABELS[1]))
        return {own: Fact(float(hits), len(labels))}, labels
    names = [c.STOP, c.RESP] if category.interrupts else []
    if kind == "missing":
        return dict.fromkeys([own, c.DELAY, *names], Fact(0.0, 0, FILE_MISSING)), ()
    facts = {}
    if kind in ("averages", "delay"):
        facts[c.DELAY] = draw(times.map(Fact) | st.just(Fact(0.0, 0, c.NO_SAMPLE)))
    if kind == "averages":
        facts[own] = Fact(draw(share))
    for name in names if kind != "delay" else ():
        n = draw(st.integers(0, 3))
        facts[name] = Fact(draw(times), n) if n else Fact(0.0, 0, c.NO_INTERVAL)
    return facts, ()


@st.composite
def _cases(draw: st.DrawFn, number: int) -> Case:
    category = draw(st.sampled_from(CATEGORIES))
    facts, labels = draw(_facts(category))
    return filed_case(f"file-{number}", draw(st.sampled_from(["cn", "en"])), category, facts, labels)


@st.composite
def records(draw: st.DrawFn, min_size: int = 0) -> list[Record]:
    """Up to six conversations, now and then with cases beside them."""
    found = [Record(draw(_timelines(number))) for number in range(draw(st.integers(min_size, 6)))]
    if draw(st.booleans()):
        found += [Record(case=draw(_cases(number))) for number in range(draw(st.integers(0, 4)))]
    return found


# --- exemplary conversations --------------------------------------------------------------------------------


@cache
def exemplary() -> tuple[Record, ...]:
    """Conversations in which nobody can time it better, and files that say the same.

    Every turn is answered after `RESPONSE`, the agent falls silent `YIELD` after an interruption, and goes on or keeps
    silent at what is not meant for it.
    """
    talks = [
        Timeline(
            key="interrupted",
            user=(Segment(0.0, 2.0), Segment(5.0, 6.5)),
            agent=(Segment(2.75, 5.25), Segment(7.25, 9.25)),
            labels=(Label(0.0, 2.0, TURN), Label(5.0, 6.5, INTERRUPTION)),
            behaviour="C_RESPOND",
            category="Follow-up Questions",
        ),
        Timeline(
            key="listened to",
            user=(Segment(0.0, 2.0), Segment(4.0, 4.5)),
            agent=(Segment(2.75, 8.0),),
            labels=(Label(4.0, 4.5, BACKCHANNEL),),
            behaviour="C_RESUME",
            category="User Real-time Backchannels",
        ),
        Timeline(
            key="spoken past",
            user=(Segment(0.0, 2.0), Segment(12.0, 13.0)),
            agent=(Segment(2.75, 5.0),),
            labels=(Label(8.0, 8.5, NOISE), Label(9.0, 9.25, VOCAL_TIC), Label(12.0, 13.0, NON_DIRECTED)),
            behaviour="C_RESUME",
            category="Speech Directed at Others",
        ),
        Timeline(
            key="a stranger first",
            user=(Segment(0.0, 1.0), Segment(2.0, 4.0)),
            agent=(Segment(4.75, 6.75),),
            labels=(Label(0.0, 1.0, NON_DIRECTED),),
            category="Third-party Speech_before",
        ),
        Timeline(
            key="a pause",
            user=(Segment(0.0, 4.0),),
            agent=(Segment(4.75, 6.25),),
            labels=(Label(1.5, 2.25, PAUSE),),
            sentences=(Segment(0.0, 4.0),),
            words=(Segment(4.75, 5.25, "that"), Segment(5.5, 6.25, "is all")),
            category="Pause Handling",
        ),
    ]
    filed: list[tuple[str, dict[str, Fact], tuple[str, ...]]] = [
        ("Topic Switching", {c.RESPOND: Fact(3.0, 3)}, ("C_RESPOND",) * 3),
        (
            "Silence or Termination",
            {c.RESPOND: Fact(1.0), c.STOP: Fact(2 * YIELD, 2), c.RESP: Fact(4 * RESPONSE, 4), c.DELAY: Fact(RESPONSE)},
            (),
        ),
        ("Third-party Speech_after", {c.RESUME: Fact(1.0, 1)}, ("C_RESUME",)),
        ("Pause Handling", {c.REJECT: Fact(1.0)}, ()),
    ]
    cases = []
    for number, (name, facts, labels) in enumerate(filed):
        category = category_named(name)
        assert category is not None
        cases.append(filed_case(f"cn/{name}/{number}", "cn", category, facts, labels))
    return (*map(Record, talks), *(Record(case=case) for case in cases))
