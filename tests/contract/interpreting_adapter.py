"""The interpreting room for the contract of metrics: what is covered, and systems whose scores are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import cycle, pairwise

import pytest

from tests.contract import opinions
from tests.contract.interpreting_records import PLAYED, Record, model_calls, played, records
from tests.contract.interpreting_sources import SOURCES
from turnwise.interpreting import baselines
from turnwise.interpreting.batch import InterpretingBatch
from turnwise.interpreting.metrics import judged
from turnwise.interpreting.records import AUDIO, DELTA, SCENARIO, Call, Event, Turn
from turnwise.judge.records import Question
from turnwise.kernel.score import Unit

__all__ = ["SOURCES", "records"]

ROOM = "interpreting"
CONTEXT = opinions.CONTEXT

PAIRS = ("cutoff_latency", "barge_in_response", "mixing_share")
TEXTS = ("wer", "cer", "completeness", "target_language")
LAGS = ("al", "laal", "ap", "dal", "atd", "yaal", "start_offset", "end_offset")
JUDGED = (judged.SemanticMixing, judged.JudgedCompleteness, judged.IntentPreservation, judged.Terminology)
BY_JUDGE = tuple(metric.spec.name for metric in JUDGED)
COVERED = ("barge_in", *PAIRS, *TEXTS, *BY_JUDGE, "latency", "overlap", *LAGS, "erasure")

NO_BEST_VALUE = {
    **dict.fromkeys(LAGS, "who is ahead of the speaker guesses, and there is no bound to that"),
    **dict.fromkeys(("latency", "barge_in_response"), "who answers at once has not listened"),
}
"""Metrics without a best value, and why."""

NO_PERFECT_INPUT = {
    **NO_BEST_VALUE,
    **dict.fromkeys(BY_JUDGE, "a judge is asked also where nobody says what should come"),
    "overlap": "where people speak at once, translations that keep pace are heard at once",
    "target_language": "the text that is expected need not be in the language that is, and may be too short to tell",
}
NO_PERFECT_SETTINGS: dict[tuple[str, str, object], str] = {}
NOT_IN_EXAMPLES: dict[str, str] = {}
NO_BASELINES = dict.fromkeys(BY_JUDGE, "a judge is asked about real translations only")

_NOTHING_SAID = "it says nothing, so there is nothing to time"
UNSCORED_BASELINES = {
    **{(name, "silent"): _NOTHING_SAID for name in (*LAGS, "latency", "barge_in_response")},
    ("mixing_share", "silent"): "it says nothing that could be mixed",
    ("target_language", "silent"): "it says nothing, in no language",
    ("overlap", "silent"): "it says nothing that could overlap",
    ("erasure", "silent"): "it shows nothing that could be taken back",
}
"""Systems that a metric does not score, and why; the page says `no score`."""

OTHER_PAGES: dict[str, str] = {}
NEEDS_MODEL: dict[str, str] = {}
BATCH_VARIANTS: dict[str, dict[str, str]] = {}
"""This room needs none of these exceptions."""


def asks(name: str, output: str, unit: Unit) -> bool:
    """Whether a metric asks about such a unit: the score of barge-ins is about calls that have one."""
    return name != "barge_in" or unit.dimensions[SCENARIO] in ("patient_correction", "doctor_interrupts")


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """Nothing here takes long."""


def batch(given: Sequence[Record], index: int = 0) -> InterpretingBatch:
    calls = [record.call for record in given if record.call is not None]
    instances = [record.instance for record in given if record.instance is not None]
    found = InterpretingBatch(index, calls, instances, wants_all=False)
    answered: InterpretingBatch = opinions.answered(found, JUDGED, _as_expected)
    return answered


def _as_expected(question: Question) -> float:
    """100 for a translation that is word for word what is expected, after one that is as far as it goes; else 0."""
    shown = question.shown
    before = shown.get("previous_translation", "")
    as_far_as_it_goes = shown.get("previous_expected", before).startswith(before)
    return 100.0 if as_far_as_it_goes and shown["translation"] == shown.get("expected") else 0.0


def example_batch(given: Sequence[Record]) -> InterpretingBatch:
    return batch(given)


def examples() -> tuple[Record, ...]:
    """The scenarios of examples/interpreting, as they are played."""
    assert len(played()) == len(PLAYED)
    return tuple(map(Record, played()))


@cache
def exemplary() -> tuple[Record, ...]:
    """Calls with an interpreter that nobody can better; of one of them there is text alone."""
    found = perfect([Record(call) for call in model_calls()])
    written = [replace(call, key=f"{call.key}, written", events=_without_audio(call)) for call in map(_call, found[:1])]
    return (*found, *map(Record, written))


def _call(record: Record) -> Call:
    assert record.call is not None
    return record.call


def _without_audio(call: Call) -> tuple[Event, ...]:
    return tuple(event for event in call.events if event.kind != AUDIO)


# --- interpreters -------------------------------------------------------------------------------------------


def silent(given: Sequence[Record]) -> list[Record]:
    """Never says anything; a log of another system says nothing about it."""
    return [Record(call) for call in baselines.silent(batch(given)).calls]


def perfect(given: Sequence[Record]) -> list[Record]:
    """The room's own ideal, on calls in which everything can be done that is asked for."""
    possible = [Record(_possible(record.call)) for record in given if record.call is not None]
    return [Record(call) for call in baselines.ideal(batch(possible)).calls]


def _possible(call: Call) -> Call:
    """Without barge-ins at which nobody can do right.

    Who has begun at the same moment has said nothing yet that could be stopped, or translated before the next begins.
    Where nothing is to be translated, no answer is right, and the score wants one.
    """
    begun: set[float] = set()
    turns: list[Turn] = []
    for turn in call.turns:
        says_something = turn.expected_text is None or bool(turn.expected_text.split())
        can = turn.start is None or (says_something and turn.start not in begun)
        turns.append(replace(turn, barge_in=turn.barge_in and can))
        if turn.speaks and turn.start is not None:
            begun.add(turn.start)
    return replace(call, turns=tuple(turns))


WORD_MS = 300.0
"""How long a word of the babbler takes."""


def never_silent(given: Sequence[Record]) -> list[Record]:
    """Speaks from the beginning to the end: the words of who spoke last, as they are, again and again.

    It names the turn that began last, so that it seems to have stopped and begun anew.
    """
    calls = [record.call for record in given if record.call is not None]
    return [Record(replace(call, events=tuple(_babble(call)))) for call in calls]


def _babble(call: Call) -> Iterator[Event]:
    spoken = call.spoken
    last = max((turn.end or turn.start or 0.0 for turn in spoken), default=0.0)
    moments = [0.0, *(turn.start or 0.0 for turn in spoken), last if call.ended is None else max(last, call.ended)]
    for turn, (begin, end) in zip([None, *spoken], pairwise(moments), strict=True):
        words = cycle((turn.source_text if turn is not None and turn.source_text else "la").split())
        who, name = (None, None) if turn is None else (turn.participant or None, turn.id)
        at = begin
        while at < end:
            until = min(at + WORD_MS, end)
            yield Event(0, AUDIO, at, who, name, None, "", at, until)
            yield Event(0, DELTA, at, who, name, None, f"{next(words)} ")
            at = until
