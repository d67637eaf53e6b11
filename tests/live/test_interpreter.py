"""The simulated interpreter on a counted clock: what is set is what is heard, whatever was said and for how long."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest

from tests.live.virtual import run_virtually
from turnwise.audio.playout import Playout
from turnwise.live.behaviours import Behaviour, behaviour_named
from turnwise.live.interpreter import CHUNK_MS, FASTER, LOUD, Interpreter, Utterance, is_loud
from turnwise.live.messages import AUDIO, RESPONSE_DONE, STOP, TEXT, TEXT_DELTA
from turnwise.live.transports.acs import Acs

FRAME_MS = 20
SILENCE = bytes(640)
VOICE = (12_000).to_bytes(2, "little") * 320
OLD, NEW = "my head has hurt a little since yesterday", "sorry it is my neck"
Said = tuple[str, int, int]
"""Who speaks, from when and for how long, in milliseconds."""


@dataclass
class Heard:
    """What became of a conversation."""

    audible: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By response, when it is first and last heard, in milliseconds."""
    pieces: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    deltas: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    done: dict[str, list[str]] = field(default_factory=dict)


def held(
    behaviour: Behaviour | str,
    said: Sequence[Said],
    *,
    until_ms: int = 20_000,
    flagged: bool = True,
    quiet: Sequence[tuple[int, int]] = (),
) -> Heard:
    """A conversation; within `quiet` (from, to) the speakers pause, although it is their turn."""
    chosen = behaviour_named(behaviour) if isinstance(behaviour, str) else behaviour
    return run_virtually(_held(chosen, said, until_ms, flagged, quiet))


async def _held(
    behaviour: Behaviour, said: Sequence[Said], until_ms: int, flagged: bool, quiet: Sequence[tuple[int, int]]
) -> Heard:
    loop, sent = asyncio.get_running_loop(), []
    start = loop.time()

    async def send(messages: list[dict[str, Any]]) -> None:
        sent.extend((1000 * (loop.time() - start), message) for message in messages)

    call: list[Utterance] = []
    people = {
        name: Interpreter(name, behaviour, Acs([]), send, [OLD, NEW, "third"], random.Random(0), call)
        for name in dict.fromkeys(name for name, _, _ in said)
    }
    for number in range(until_ms // FRAME_MS):
        now = number * FRAME_MS
        await asyncio.sleep(start + now / 1000 - loop.time())
        for name, interpreter in people.items():
            turn = any(who == name and begin <= now < begin + length for who, begin, length in said)
            pause = any(begin <= now < end for begin, end in quiet)
            interpreter.hear(VOICE if turn and not pause else SILENCE, not turn if flagged else None)
    for interpreter in people.values():
        for task in list(interpreter.tasks):
            task.cancel()
    return _heard(sent, {one.response_id: one for one in call})


def _heard(sent: list[tuple[float, dict[str, Any]]], call: dict[str, Utterance]) -> Heard:
    found, reader, playouts = Heard(), Acs([]), dict[str, Playout]()
    for number, (at, message) in enumerate(sent):
        for one in reader.read(message):
            playout = playouts.setdefault(one.participant or "", Playout())
            name = one.response_id or ""
            if one.kind == AUDIO:
                playout.add(number, at, 1000 * len(one.audio) / 2 / 16_000, name)
            elif one.kind == STOP:
                playout.stop(at)
            elif one.kind == TEXT_DELTA:
                found.deltas.setdefault(name, []).append((at, one.text or ""))
            elif one.kind == TEXT:
                found.texts[name] = one.text or ""
            elif one.kind == RESPONSE_DONE:
                found.done.setdefault(name, []).append(one.status or "")
    for playout in playouts.values():
        for chunk in playout.chunks:
            if chunk.heard:
                found.pieces.setdefault(str(chunk.response), []).append((chunk.start, chunk.end))
    found.audible = {name: (pieces[0][0], pieces[-1][1]) for name, pieces in found.pieces.items()}
    return found


def gaps(pieces: list[tuple[float, float]]) -> list[float]:
    return [after[0] - before[1] for before, after in pairwise(pieces)]


NEAR = pytest.approx


def test_an_answer_begins_when_it_is_said_to_and_is_heard_without_a_gap() -> None:
    heard = held("good", [("a", 1000, 1500)])
    assert heard.audible == {"a-1": NEAR((1800, 7800), abs=1)}  # 1000 + 800; 6 s are more than 1.5 + 2
    assert max(gaps(heard.pieces["a-1"])) < 1
    assert "".join(delta for _, delta in heard.deltas["a-1"]) == heard.texts["a-1"] == OLD
    assert heard.done == {"a-1": ["completed"]}


@pytest.mark.parametrize("seconds", [1, 4, 5, 9, 18])
@pytest.mark.parametrize("flagged", [True, False])
def test_an_answer_outlasts_what_was_said(seconds: int, flagged: bool) -> None:
    heard = held("good", [("a", 0, 1000 * seconds)], until_ms=30_000, flagged=flagged)
    length = max(6000, 1000 * seconds + 2000)
    assert heard.audible == {"a-1": NEAR((800, 800 + length), abs=1)}
    assert max(gaps(heard.pieces["a-1"])) < 1


@pytest.mark.parametrize(("name", "cutoff", "response"), [("good", 200, 800), ("slow_cutoff", 2500, 2520)])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1500, 3000),  # while it is heard
        (1500, 6500),  # shortly before its end, at 6800
        (8000, 9500),  # a long turn, and a while after it
        (12_000, 12_500),
    ],
)
def test_an_interruption_cuts_off_and_is_answered(
    name: str, cutoff: int, response: int, first: int, second: int
) -> None:
    heard = held(name, [("a", 0, first), ("a", second, 1000)], until_ms=30_000)
    # Nothing is answered before the cut: 2500 + 20 ms.
    assert heard.audible["a-1"] == NEAR((800, second + cutoff), abs=1)
    assert heard.audible["a-2"][0] == NEAR(second + response, abs=1)
    assert max(gaps(heard.pieces["a-1"])) < 1
    assert heard.texts["a-2"] == NEW


def test_another_participant_interrupts_too() -> None:
    heard = held("good", [("a", 0, 8000), ("b", 5000, 1000)])
    assert heard.audible["a-1"] == NEAR((800, 5200), abs=1)
    assert heard.audible["b-1"][0] == NEAR(5800, abs=1)


def test_an_interruption_that_comes_before_the_answer() -> None:
    """The answer was to begin at 800; the next utterance, at 700, cuts it off at 900."""
    heard = held("good", [("a", 0, 200), ("a", 700, 500)])
    assert heard.audible["a-1"] == NEAR((800, 900), abs=1)
    assert heard.audible["a-2"][0] == NEAR(1500, abs=1)
    assert heard.done["a-1"] == ["cancelled"]  # the answer of 6 s was still being sent


def test_after_the_end_nothing_is_interrupted() -> None:
    heard = held("no_response", [("a", 0, 1000), ("a", 7000, 1000)])
    assert heard.audible == {"a-1": NEAR((800, 6800), abs=1), "a-2": NEAR((7800, 13_800), abs=1)}


def test_no_answer_to_an_interruption() -> None:
    heard = held("no_response", [("a", 0, 1000), ("a", 3000, 1000)])
    assert heard.audible == {"a-1": NEAR((800, 3200), abs=1)}
    assert "a-2" not in heard.texts


def test_never_stops_and_then_answers() -> None:
    heard = held("never_stops", [("a", 0, 1000), ("a", 3000, 1000)])
    assert heard.audible == {"a-1": NEAR((800, 6800), abs=1), "a-2": NEAR((6800, 12_800), abs=1)}


def test_two_answers_of_a_system_that_never_stops_do_not_interleave() -> None:
    """The second is due at 1400, while the first is being sent until 800 + 6000 / 5."""
    heard = held("never_stops", [("a", 0, 100), ("a", 600, 100)])
    assert heard.audible == {"a-1": NEAR((800, 6800), abs=1), "a-2": NEAR((6800, 12_800), abs=1)}


def test_paused_and_resumed() -> None:
    heard = held("paused_and_resumed", [("a", 0, 1000), ("a", 4000, 1000)], until_ms=30_000)
    first = heard.pieces["a-1"]
    # Its answer is late, 3000; cut off at 4200, 1200 ms of it are heard. The other 4800 ms come from 4800 on, to 9600.
    assert (first[0][0], first[-1][1]) == NEAR((3000, 9600), abs=1)
    assert sum(end - start for start, end in first) == NEAR(6000, abs=1)
    assert max(gaps(first)) == NEAR(600, abs=1)
    assert heard.audible["a-2"] == NEAR((9600, 15_600), abs=1)  # 4000 + 3000 would be in the middle of it


def test_who_interrupts_what_was_resumed() -> None:
    """At 8000 the rest of the first answer is heard (until 9600): it is cut off again, at 8200, and resumed at 8800."""
    said = [("a", 0, 1000), ("a", 4000, 1000), ("a", 8000, 1000)]
    heard = held("paused_and_resumed", said, until_ms=40_000)
    pauses = [gap for gap in gaps(heard.pieces["a-1"]) if gap > 1]
    assert pauses == NEAR([600, 600], abs=1)
    # 6000 ms of answer, two pauses of 600 ms, from 3000 on.
    assert heard.audible["a-1"] == NEAR((3000, 3000 + 6000 + 1200), abs=1)


def test_mixing_has_two_words_of_the_old_answer_for_each_of_the_new() -> None:
    heard = held("mixing", [("a", 0, 1000), ("a", 3000, 1000)])
    words = heard.texts["a-2"].split()
    old = [word for word in words if word in OLD.split() and word not in NEW.split()]
    assert [word for word in words if word in NEW.split()] == NEW.split()
    assert len(old) / len(words) == 2 / 3
    assert heard.audible["a-1"][1] == NEAR(3700, abs=1)
    assert heard.texts["a-1"] == OLD


def test_what_was_mixed_is_not_mixed_again() -> None:
    heard = held("mixing", [("a", 0, 1000), ("a", 3000, 1000), ("a", 6000, 1000)])
    # Of the second answer's own words, the third repeats the first two.
    assert heard.texts["a-3"].split() == ["third", *NEW.split()[:2]]


def test_words_come_with_the_audio_they_belong_to() -> None:
    """Eight words over 6 s: 750 ms each; the n-th has been sent with the piece that ends at or after n x 750."""
    heard = held("good", [("a", 0, 1000)])
    came = [at for at, _ in heard.deltas["a-1"]]
    pieces = [-(-750 * n // CHUNK_MS) for n in range(1, 9)]
    assert came == NEAR([800 + (piece - 1) * CHUNK_MS / FASTER for piece in pieces], abs=1)


def test_a_pause_within_a_turn_does_not_end_it_where_the_caller_says_so() -> None:
    turn = [("a", 0, 4000)]
    assert list(held("good", turn, quiet=[(1500, 2500)]).texts) == ["a-1"]
    assert list(held("good", turn, quiet=[(1500, 2500)], flagged=False).texts) == ["a-1", "a-2"]
    assert list(held("good", turn, quiet=[(1000, 3000)]).texts) == ["a-1", "a-2"]  # more than 1.5 s


def test_short_answers_may_be_asked_for() -> None:
    quick = replace(behaviour_named("good"), response_ms=100, answer_ms=500, longer_ms=600)
    heard = held(quick, [("a", 0, 700)])
    assert heard.audible == {"a-1": NEAR((100, 100 + 700 + 600), abs=1)}
    assert max(gaps(heard.pieces["a-1"])) < 1


def test_answers_that_always_last_as_long() -> None:
    quick = replace(behaviour_named("good"), answer_ms=2500, longer_ms=None)
    heard = held(quick, [("a", 0, 4000)])
    assert heard.audible == {"a-1": NEAR((800, 3300), abs=1)}


@pytest.mark.parametrize(("level", "loud"), [(LOUD * 1.01, True), (LOUD * 0.99, False), (0.0, False)])
def test_speech_is_what_reaches_the_level(level: float, loud: bool) -> None:
    # A square wave: its root mean square is its height. 10^(-45/20) x 32768 = 184.27.
    height = round(level * 32768)
    pcm = b"".join((height if n % 2 else -height).to_bytes(2, "little", signed=True) for n in range(320))
    assert is_loud(pcm, SILENCE) == loud


def test_nothing_is_no_speech() -> None:
    assert not is_loud(b"", SILENCE)
    assert not is_loud(SILENCE, SILENCE)
