"""Scenarios against a live system, several at a time, each with a folder of its own."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from turnwise.live.address import Address
from turnwise.live.capture import Capture, Header, PlayedTurn
from turnwise.live.say_command import configured_say_command
from turnwise.live.scenario import Scenario
from turnwise.live.session import Office, Session
from turnwise.live.speech import duration_ms, scenario_audio
from turnwise.live.transports import transport_named
from turnwise.live.voices import Pcm

SPARE_S = 60.0
"""Beyond the length of a scenario, unless a time-out is given."""


@dataclass(frozen=True, slots=True)
class Driven:
    """What became of one run of a scenario."""

    scenario: Scenario
    folder: Path
    capture: Capture


def drive(
    scenarios: Sequence[Scenario],
    address: Address,
    protocol: str,
    out: Path,
    *,
    repeat: int = 1,
    parallel: int = 1,
    timeout_s: float | None = None,
    say_command: str | None = None,
    told: Callable[[Scenario, int, str], None] | None = None,
) -> list[Driven]:
    """Play every scenario so many times; `told` hears of each one that begins and ends."""
    transport = transport_named(protocol)
    # All audio is made before the first call: nobody waits on the line for a synthesiser.
    audio = {scenario.id: _audio(scenario, transport.out_rate, say_command) for scenario in scenarios}
    jobs = [(scenario, number) for number in range(repeat) for scenario in scenarios]

    async def run_all() -> list[Driven]:
        _end_on_terminate()
        free, office = asyncio.Semaphore(parallel), Office()
        taken: set[Path] = set()

        async def one(place: int, scenario: Scenario, number: int) -> Driven:
            async with free:
                folder = _free(out, scenario.id if repeat == 1 else f"{scenario.id}-{number + 1:02d}", taken)
                taken.add(folder)
                if told:
                    told(scenario, number, "started")
                own = address.for_scenario(scenario.id)
                session = Session(
                    scenario,
                    audio[scenario.id],
                    transport,
                    own,
                    folder,
                    header_of(scenario, protocol, own, number),
                    timeout_s or _length_s(scenario, audio[scenario.id], transport.out_rate) + SPARE_S,
                    office,
                    place,
                )
                try:
                    capture = await session.run()
                except asyncio.CancelledError:
                    if told:
                        told(scenario, number, f"interrupted; what happened so far is in {folder}")
                    raise
                if told:
                    told(scenario, number, capture.reason or "done")
                return Driven(scenario, folder, capture)

        return list(await asyncio.gather(*(one(place, *job) for place, job in enumerate(jobs))))

    try:
        with _no_collections():
            return asyncio.run(run_all())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None  # it was told to end


@contextmanager
def _no_collections() -> Iterator[None]:
    """Calls without the garbage collector: it would go over all that was captured while frames are due.

    With 100 callers it makes one frame of a hundred some 10 ms later. It would find little: events have no cycles.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _end_on_terminate() -> None:
    """Whoever is told to end ends as with Ctrl-C: captures so far are kept."""
    task = asyncio.current_task()
    if task is not None and threading.current_thread() is threading.main_thread():
        with suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def header_of(scenario: Scenario, protocol: str, address: Address, number: int) -> Header:
    """What a capture says of the scenario it is of."""
    turns = [
        PlayedTurn(
            turn.id,
            turn.participant,
            {
                "type": turn.type,
                "barge_in": turn.barge_in,
                "source_text": turn.source_text or (turn.text if turn.type == "say" else None),
                "expected_text": turn.expected_text,
                "expected_language": turn.expected_language,
                "metadata": dict(turn.metadata),
            },
        )
        for turn in scenario.turns
    ]
    languages = {
        name: {"source_language": who.source_language, "target_language": who.target_language}
        for name, who in scenario.participants.items()
    }
    about: dict[str, Any] = {
        "url": address.shown,
        "repeat": number,
        "languages": languages,
        "tags": list(scenario.tags),
    }
    if scenario.description:
        about["description"] = scenario.description
    return Header(
        scenario.id,
        protocol,
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        list(scenario.participants),
        turns,
        None if scenario.metrics is None else list(scenario.metrics),
        scenario.thresholds,
        about,
    )


def _audio(scenario: Scenario, rate: int, say_command: str | None) -> dict[str, Pcm]:
    return scenario_audio(scenario, rate, configured_say_command(scenario, say_command))


def _length_s(scenario: Scenario, audio: dict[str, Pcm], rate: int) -> float:
    """How long it takes at least."""
    planned = scenario.schedule({turn: duration_ms(pcm, rate) for turn, pcm in audio.items()})
    return (max(one.earliest_end_ms for one in planned.values()) + scenario.tail_silence_ms) / 1000


def _free(out: Path, name: str, taken: set[Path]) -> Path:
    """A folder of that name that is not there yet: an earlier capture is never written over."""
    names = chain([name], (f"{name}-{n:02d}" for n in count(2)))
    return next(out / one for one in names if out / one not in taken and not (out / one).exists())
