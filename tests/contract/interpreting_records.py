"""Calls and instances of a log for the contract of the interpreting room: random ones, and the ones it is shown by.

Random times lie on a grid of 125 ms, so that ties are frequent; now and then one lies beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from turnwise.interpreting.batch import Heard, instance_unit
from turnwise.interpreting.capture_files import in_order
from turnwise.interpreting.instances import Instance
from turnwise.interpreting.load import from_scenario
from turnwise.interpreting.metrics import METRICS
from turnwise.interpreting.records import AUDIO, DELTA, TEXT, TRANSLATION, Call, Event, Turn
from turnwise.kernel.score import Unit
from turnwise.live.scenario import load_scenarios

GRID_MS = 125.0
EXAMPLES = Path(__file__).parents[2] / "examples" / "interpreting"


@dataclass(frozen=True)
class Record:
    """What a batch is made of: a call, or an instance of a log."""

    call: Call | None = None
    instance: Instance | None = None

    @property
    def unit(self) -> Unit:
        """What its scores are about."""
        if self.call is not None:
            return Heard(self.call).unit
        assert self.instance is not None
        return instance_unit(self.instance)


# --- random calls -------------------------------------------------------------------------------------------

EXPECTED = (
    "It hurts in my left knee.",
    "Sorry, no, it hurts in my right knee, and very much.",
    "Der Bus fährt um acht Uhr am Hafen ab.",
    "我的左膝盖很疼。",
    "Knee knee knee.",
    "...",
    "",
)
PIECES = (
    *("It ", "hurts ", "my left", "right knee", " very much", "Sorry,", "no", "Hafen ", "acht Uhr", "左膝", "盖很疼"),
    *("", " ", "?!", "unheard of"),
)
SAID = ("Me duele la rodilla.", "Perdón, no, la otra.", "Por cierto", "")
_IDS = ("one", "two", "three", "one#barge_in", "4")
_moments = st.integers(0, 64).map(lambda n: n * GRID_MS) | st.floats(0, 8000, allow_subnormal=False)
_lengths = st.integers(0, 24).map(lambda n: n * GRID_MS) | st.floats(0, 3000, allow_subnormal=False)


def rarely(draw: st.DrawFn, of: int = 6) -> bool:
    return draw(st.integers(1, of)) == of


@st.composite
def _turns(draw: st.DrawFn, name: str) -> Turn:
    """One that never began, now and then; one of which nobody knows when it ended, what it says or should become."""
    start = None if rarely(draw, 8) else draw(_moments)
    end = None if start is None or rarely(draw) else start + draw(_lengths)
    return Turn(
        name,
        draw(st.sampled_from(["patient", "patient", "doctor", ""])),
        start,
        end,
        barge_in=draw(st.booleans()),
        source_text=draw(st.none() | st.sampled_from(SAID)),
        expected_text=None if rarely(draw) else draw(st.sampled_from(EXPECTED)),
        expected_language=draw(st.sampled_from([None, "en", "de", "zh-Hans", "tlh"])),
        type=draw(st.sampled_from(["play_audio"] * 6 + ["say", "silence", "hangup"])),
        first_sent=draw(st.none() | (st.just(start) if start is None else _lengths.map(lambda later: start + later))),
        sent=tuple(draw(st.lists(st.integers(0, 99), max_size=2))),
        metadata=draw(st.just({}) | st.just({"barge_in_kind": "addition"}) | st.just({"terms": {"rodilla": "knee"}})),
    )


@st.composite
def _events(draw: st.DrawFn, turns: Sequence[Turn], with_ids: bool) -> Event:
    """Audio that is heard, later perhaps, or cut off before; a piece of text, or a whole one."""
    kind = draw(st.sampled_from(TRANSLATION))
    arrived = draw(_moments)
    heard = arrived + draw(_lengths) if kind == AUDIO else None
    ids = st.sampled_from([turn.id for turn in turns]) if turns else st.none()
    return Event(
        0,
        kind,
        arrived,
        draw(st.sampled_from(["patient", "doctor", None])),
        draw(st.none() | ids) if with_ids else None,
        draw(st.sampled_from([None, "r1", "r2", "r3"])) if with_ids else None,
        draw(st.sampled_from(PIECES)) if kind in (DELTA, TEXT) else "",
        heard,
        None if heard is None else heard + draw(st.just(0.0) | _lengths),
    )


@st.composite
def _calls(draw: st.DrawFn, number: int) -> Call:
    turns = [draw(_turns(name)) for name in draw(st.permutations(_IDS))[: draw(st.integers(0, 4))]]
    events = draw(st.lists(_events(turns, draw(st.booleans())), max_size=8))
    some = st.sets(st.sampled_from(sorted(METRICS))).map(frozenset)
    return Call(
        f"call-{number}",
        draw(st.sampled_from(["correction", "exchange"])),
        tuple(in_order(turns)),
        tuple(event._replace(number=place) for place, event in enumerate(sorted(events, key=lambda one: one.arrived))),
        draw(st.sampled_from(["acs", ""])),
        draw(st.just({}) | st.just({"barge_in": 95.0})),
        draw(some) if rarely(draw) else None,
        draw(st.none() | st.just(20_000.0)),
        draw(st.none() | st.just("the system closed the connection")),
        notes=draw(st.just(()) | st.just(("an event whose text is no text",))),
    )


@st.composite
def _instances(draw: st.DrawFn, number: int) -> Instance:
    delays = tuple(sorted(draw(st.lists(_moments, max_size=5))))
    spoken = rarely(draw)
    reference = None if rarely(draw) else "a reference of six words here"
    return Instance(
        index=str(number),
        where=f"instances.log, line {number + 1}",
        prediction=" ".join("word" for _ in delays),
        reference=reference,
        source=None,
        source_ms=draw(_lengths) + GRID_MS,
        delays=delays,
        elapsed=None if rarely(draw, 3) else tuple(delay + place * 10 for place, delay in enumerate(delays, 1)),
        durations=tuple(300.0 for _ in delays) if spoken else None,
        reference_words=None if reference is None or spoken else 6,
    )


@st.composite
def records(draw: st.DrawFn, min_size: int = 0) -> list[Record]:
    """Up to four calls, now and then with instances of a log beside them."""
    found = [Record(draw(_calls(number))) for number in range(draw(st.integers(min_size, 4)))]
    if draw(st.booleans()):
        found += [Record(instance=draw(_instances(number))) for number in range(draw(st.integers(0, 3)))]
    return found


# --- calls to show what a system is worth -------------------------------------------------------------------

PLAYED = {
    "patient_correction": {"statement": (500, 2060), "correction": (2900, 5840)},
    "doctor_interrupts": {"complaint": (500, 2940), "question": (2800, 5120), "answer": (10400, 12860)},
    "fast_exchange": {
        "where": (500, 1680),
        "harbour": (1980, 3220),
        "which_ticket": (3520, 4560),
        "return_ticket": (4860, 6180),
        "price": (6480, 7540),
        "money": (7840, 8680),
    },
    "no_barge_in": {"question": (500, 2380), "answer": (8100, 11080)},
    "long_monologue": {"history": (500, 18740)},
}
"""From when to when the turns of the examples are spoken, in milliseconds, if the system answers after 800 ms."""
TAIL_MS = 6000
"""How long everybody listens after the last turn."""


@cache
def played() -> tuple[Call, ...]:
    """The scenarios of examples/interpreting as they are played; what the system did is left to systems."""
    found = []
    for scenario in load_scenarios([EXAMPLES], need_audio=False):
        times = PLAYED[scenario.id]
        turns = tuple(Turn(name, "", float(start), float(end)) for name, (start, end) in times.items())
        ended = float(max(end for _, end in times.values()) + TAIL_MS)
        found.append(from_scenario(Call(scenario.id, scenario.id, turns, protocol="acs", ended=ended), scenario))
    assert {call.key for call in found} == set(PLAYED)
    return tuple(found)


@cache
def model_calls() -> tuple[Call, ...]:
    """Three conversations that leave everybody the time for everything."""
    said, meant = "The pain in my left knee began last week.", "Sorry, I was wrong: it is the right shoulder."
    asked = "Espere un momento, por favor, ¿desde cuándo le duele la rodilla?"
    pain, sorry = "El dolor en la rodilla izquierda empezó hace una semana.", "Perdón, me equivoqué: el hombro derecho."
    wait = "Wait a moment, please, since when?"
    knee = {"terms": {"rodilla": "knee", "hombro": "shoulder"}}
    statement = Turn(*("statement", "patient", 500.0, 4500.0, False, pain, said, "en"), first_sent=500.0, metadata=knee)
    correction = Turn(
        *("correction", "patient", 3500.0, 6500.0, True, sorry, meant, "en"), first_sent=3500.0, metadata=knee
    )
    question = Turn("question", "doctor", 3500.0, 6500.0, True, wait, asked, "es", first_sent=3500.0)
    return (
        Call("correction", "correction", (statement, correction), ended=12_000.0),
        Call("interruption", "interruption", (statement, question), ended=12_000.0),
        Call("one", "one", (statement,), ended=12_000.0),
    )
