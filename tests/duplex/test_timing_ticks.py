"""tau-voice's metrics worked out tick by tick from their definitions, against what the room makes of the same ticks."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import turnwise
from tests.contract.measuring import measure, rolled_up
from tests.contract.rooms import metrics_of
from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.read import read_conversations
from turnwise.kernel.derived import Derived
from turnwise.kernel.metric import Settings

TICK = 0.2
TIC, ASIDE = "vocal_tic", "non_directed_phrase"
KIND_OF = {TIC: "vocal_tic", ASIDE: "non_directed"}
PANEL = (
    *("response_latency_mean", "response_rate", "yield_latency_mean", "yield_rate", "agent_interruption_rate"),
    *("selectivity_backchannel", "selectivity_vocal_tic", "selectivity_non_directed"),
)
COUNTS = (
    *("n_simulations", "response_total", "yield_total", "agent_interrupts_count"),
    *("backchannel_total", "vocal_tic_total", "non_directed_total"),
)


class Tick(NamedTuple):
    user: bool = False
    agent: bool = False
    backchannel: bool = False
    insert: str | None = None


def chunks(ticks: Sequence[Tick]) -> list[dict[str, Any]]:
    """As a simulation keeps them; the insert stands in one of two places."""
    found = []
    for place, tick in enumerate(ticks):
        user: dict[str, Any] = {"contains_speech": tick.user}
        if tick.backchannel:
            user["turn_taking_action"] = {"action": "backchannel"}
        if tick.insert:
            effects = "speech_effects" if place % 2 else "source_effects"
            user[effects] = {"speech_insert": {"type": tick.insert, "text": "hm"}}
        found.append({"tick_id": place, "user_chunk": user, "agent_chunk": {"contains_speech": tick.agent}})
    return found


def write(folder: Path, simulations: Sequence[Sequence[Tick]]) -> Path:
    (folder / "simulations").mkdir(parents=True)
    info = {"audio_native_config": {"tick_duration_seconds": TICK}}
    (folder / "results.json").write_text(json.dumps({"info": info}))
    for number, ticks in enumerate(simulations):
        content = {"id": f"s{number}", "task_id": number, "ticks": chunks(ticks)}
        (folder / "simulations" / f"s{number}.json").write_text(json.dumps(content))
    return folder


# --- the definitions, tick by tick --------------------------------------------------------------------------


class Simulation:
    """What happens in one simulation."""

    def __init__(self, ticks: Sequence[Tick]) -> None:
        self.ticks, self.n = ticks, len(ticks)
        self.user = self.runs([tick.user for tick in ticks])
        if self.user and self.user[-1] == (self.n - 1, self.n):
            self.user.pop()  # a user segment that is the very last tick only is dropped
        self.agent = self.runs([tick.agent for tick in ticks])
        self.latencies: list[int] = []
        self.unanswered = 0
        self.yields: list[int | None] = []
        self.ignored: dict[str, list[bool]] = {"backchannel": [], "vocal_tic": [], "non_directed": []}
        self._answers()
        for start, end in self.user:
            self._event(start, end)
        self._inserts_outside()
        self.interrupts = sum(any(s <= start < e for s, e in self.user) for start, _ in self.agent)

    @staticmethod
    def runs(speaks: Sequence[Any]) -> list[tuple[int, int]]:
        found, place = [], 0
        for value, run in groupby(speaks):
            length = len(list(run))
            if value:
                found.append((place, place + length))
            place += length
        return found

    def speaks(self, tick: int) -> bool:
        return tick < self.n and self.ticks[tick].agent

    def kind(self, start: int, end: int) -> str:
        inserts = {tick.insert for tick in self.ticks[start:end]}
        if self.ticks[start].backchannel:
            return "backchannel"
        if TIC in inserts:
            return "vocal_tic"
        if ASIDE in inserts:
            return "non_directed"
        return "interruption" if self.speaks(start) else "turn"

    def _answers(self) -> None:
        valid = [one for one in self.user if self.kind(*one) != "backchannel" and not self.speaks(one[1])]
        for place, (_, end) in enumerate(valid):
            starts = [start for start, _ in self.agent if start >= end]
            limit = valid[place + 1][0] if place + 1 < len(valid) else self.n
            if starts and starts[0] <= limit:
                self.latencies.append(starts[0] - end)
            elif place + 1 < len(valid):
                self.unanswered += 1

    def silent_after(self, start: int, ticks: int) -> int | None:
        """How many ticks later there is the first one without speech of the agent, within some ticks."""
        return next((n for n in range(1, ticks + 1) if start + n < self.n and not self.speaks(start + n)), None)

    def starts_between(self, start: int, end: int) -> bool:
        return any(start <= first <= end + 10 for first, _ in self.agent)

    def _event(self, start: int, end: int) -> None:
        kind = self.kind(start, end)
        if kind == "interruption":
            self.yields.append(self.silent_after(start, 10))  # 2.0 s
        elif kind in self.ignored:
            wrong = self.silent_after(start, 5) is not None if self.speaks(start) else self.starts_between(start, end)
            self.ignored[kind].append(not wrong)

    def _inserts_outside(self) -> None:
        outside = [
            None if any(start <= place < end for start, end in self.user) else tick.insert
            for place, tick in enumerate(self.ticks)
        ]
        for insert in (TIC, ASIDE):
            for start, end in self.runs([one == insert for one in outside]):
                if not self.speaks(start):
                    self.ignored[KIND_OF[insert]].append(not self.starts_between(start, end))
                elif self.silent_after(start, 5) is not None:
                    self.ignored[KIND_OF[insert]].append(False)  # and what is right is not recorded


def share(parts: Sequence[float], scale: float = 1.0) -> float | None:
    return scale * sum(parts) / len(parts) if parts else None


def expected(simulations: Sequence[Sequence[Tick]]) -> dict[str, float | None]:
    made = [Simulation(ticks) for ticks in simulations]
    latencies = [n for one in made for n in one.latencies]
    yields = [n for one in made for n in one.yields]
    total = len(latencies) + sum(one.unanswered for one in made)
    interrupts = sum(one.interrupts for one in made)
    ignored = {kind: [right for one in made for right in one.ignored[kind]] for kind in made[0].ignored}
    return {
        "response_latency_mean": share(latencies, TICK),
        "response_rate": len(latencies) / total if total else None,
        "yield_latency_mean": share([n for n in yields if n is not None], TICK),
        "yield_rate": share([n is not None for n in yields]),
        "agent_interruption_rate": interrupts / total if total else None,
        **{f"selectivity_{kind}": share(found) for kind, found in ignored.items()},
        "n_simulations": len(made),
        "response_total": total,
        "yield_total": len(yields),
        "agent_interrupts_count": interrupts,
        **{f"{kind}_total": len(found) for kind, found in ignored.items()},
    }


# --- against the room ---------------------------------------------------------------------------------------


def by_the_room(folder: Path) -> dict[str, float | None]:
    """Through the format's reader and the metrics themselves."""
    batch = DuplexBatch(0, (), list(read_conversations(folder)))
    found: dict[str, float | None] = {}
    for name in (*PANEL, *COUNTS):
        metric = metrics_of("duplex")[name]
        assert not isinstance(metric, Derived)
        made = metric(Settings("tau-voice"))
        value = rolled_up(made, made.outputs[0], measure(made, batch))
        found[name] = None if value is None or value != value else value
    return found


_runs = st.lists(st.tuples(st.booleans(), st.integers(1, 3) | st.integers(1, 14)), max_size=10)
TAIL = 12
"""Ticks of silence at the end, so that nobody is cut off."""


@st.composite
def simulations(draw: st.DrawFn) -> list[Tick]:
    sides = [[on for on, length in draw(_runs) for _ in range(length)] for _ in range(2)]
    n = max(len(sides[0]), len(sides[1]), 1)
    user, agent = (side + [False] * (n - len(side)) for side in sides)
    inserts: list[str | None] = [None] * n
    for place, kind, length in draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.sampled_from([TIC, ASIDE]), st.integers(1, 3)), max_size=3)
    ):
        inserts[place : place + length] = [kind] * len(inserts[place : place + length])
    backchannels = draw(st.sets(st.integers(0, n - 1), max_size=n))
    ticks = [Tick(user[i], agent[i], i in backchannels and user[i], inserts[i]) for i in range(n)]
    return ticks + [Tick()] * draw(st.sampled_from([0, 1, TAIL]))


def same(found: dict[str, float | None], wanted: dict[str, float | None]) -> None:
    for name, value in wanted.items():
        assert found[name] == (None if value is None else pytest.approx(value)), name


@settings(max_examples=150)
@given(st.lists(simulations(), min_size=1, max_size=3))
def test_random_ticks_give_what_the_definitions_say(drawn: list[list[Tick]]) -> None:
    with TemporaryDirectory() as folder:
        same(by_the_room(write(Path(folder) / "experiment", drawn)), expected(drawn))


def test_a_whole_run_gives_what_the_definitions_say(tmp_path: Path) -> None:
    """Forty simulations, every run of ticks 1 to 15 long."""
    chance = random.Random(7)

    def side() -> list[bool]:
        return [n % 2 == 1 for n in range(12) for _ in range(chance.randint(1, 15))][:100]

    drawn = []
    for _ in range(40):
        user, agent = side(), side()
        n = min(len(user), len(agent))
        ticks = [
            Tick(
                user[i],
                agent[i],
                user[i] and chance.random() < 0.2,
                chance.choice([TIC, ASIDE]) if chance.random() < 0.03 else None,
            )
            for i in range(n)
        ]
        drawn.append(ticks + [Tick()] * TAIL)
    wanted = expected(drawn)
    assert all(wanted[name] for name in (*PANEL, *COUNTS))  # nothing is 0 or missing, so everything is tested
    result = turnwise.evaluate(
        suite="duplex", recordings=write(tmp_path / "experiment", drawn), profile="tau-voice", resamples=100
    )
    same({name: result.value(name, rollup="pooled") for name in wanted}, wanted)


# --- single rules -------------------------------------------------------------------------------------------


def ticks_of(user: str, agent: str, insert: str = "") -> list[Tick]:
    """U speech, B speech that begins with the action backchannel; A speech; t a cough, n an aside."""
    n = max(len(user), len(agent), len(insert))
    names = {"t": TIC, "n": ASIDE}
    return [
        Tick(u in "UB", a == "A", u == "B", names.get(i))
        for u, a, i in zip(user.ljust(n), agent.ljust(n), insert.ljust(n), strict=True)
    ]


def measured(folder: Path, *drawn: list[Tick]) -> dict[str, float | None]:
    return by_the_room(write(folder / "experiment", drawn))


def test_ten_ticks_are_within_two_seconds(tmp_path: Path) -> None:
    in_time = ticks_of("  UUU", "A" * 12 + " ")  # speaks in ticks 2 to 11; tick 12 is 10 ticks = 2.0 s later
    late = ticks_of("  UUU", "A" * 13 + " ")
    found = measured(tmp_path, in_time, late)
    assert found["yield_total"] == 2
    assert found["yield_rate"] == 0.5
    assert found["yield_latency_mean"] == pytest.approx(2.0)


def test_a_moment_of_silence_is_enough_to_yield(tmp_path: Path) -> None:
    found = measured(tmp_path, ticks_of("  UUUUUU", "AAAA AAAA "))  # silent in tick 4 alone: (4 - 2) x 0.2 s
    assert (found["yield_rate"], found["yield_latency_mean"]) == (1.0, pytest.approx(0.4))


def test_the_last_tick_alone_is_no_speech_of_the_user(tmp_path: Path) -> None:
    found = measured(tmp_path, ticks_of("UU      U", "   AAAAAA"))
    assert (found["yield_total"], found["response_total"]) == (0, 1)
    assert found["response_latency_mean"] == pytest.approx(0.2)  # from the end at tick 2 to the start at tick 3


def test_what_is_rightly_talked_over_beside_speech_is_not_recorded(tmp_path: Path) -> None:
    right = ticks_of("", "A" * 12 + " ", "   t")  # goes on for 9 ticks
    wrong = ticks_of("", "A" * 8 + " ", "   t")  # falls silent after 5 ticks = 1.0 s
    found = measured(tmp_path, right, wrong)
    assert (found["vocal_tic_total"], found["selectivity_vocal_tic"]) == (1, 0.0)
    batch = DuplexBatch(0, (), list(read_conversations(tmp_path / "experiment")))
    metric = metrics_of("duplex")["selectivity"]
    assert not isinstance(metric, Derived)
    outputs = {output.name: output for output in metric.spec.outputs}
    assert rolled_up(metric(), outputs["vocal_tic"], measure(metric(), batch)) == 0.5  # by default both count


def test_a_recording_that_ends_while_the_agent_speaks_shows_no_silence(tmp_path: Path) -> None:
    """The definition asks for the first tick without agent speech; there is none."""
    found = measured(tmp_path, ticks_of("  UUU", "AAAAA"))
    assert found["yield_total"] == 1
    assert found["yield_rate"] == 0.0
