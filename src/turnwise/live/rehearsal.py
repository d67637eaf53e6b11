"""Scenarios against the simulated system, both in this process: to try a scenario out, to show one, to test against.

The system listens on loopback, on a port of its own, in a thread of its own: it shares no event loop with the caller,
as a real one does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from turnwise.kernel.errors import TurnwiseError
from turnwise.live.address import Address
from turnwise.live.behaviours import Behaviour
from turnwise.live.drive import Driven, drive
from turnwise.live.scenario import Scenario
from turnwise.live.simulator import Simulator, texts_of
from turnwise.live.transports import transport_named

LOOPBACK = "127.0.0.1"
CLOSING_S = 10.0
"""How long the system may take to hang up on everybody."""


def rehearse(
    scenarios: Sequence[Scenario],
    behaviour: Behaviour,
    protocol: str,
    out: Path,
    *,
    seed: int = 0,
    repeat: int = 1,
    parallel: int = 1,
    timeout_s: float | None = None,
    say_command: str | None = None,
    told: Callable[[Scenario, int, str], None] | None = None,
) -> list[Driven]:
    """Play scenarios against a system that behaves as it is told, and that answers with their expected texts.

    Args:
        scenarios: as `load_scenarios` gives them.
        behaviour: of the system (`behaviour_named`).
        protocol: what both speak.
        out: where captures go, a folder each.
        seed: of the system's faults.
        repeat: times each scenario is played; this and all that follows is `drive`'s.
        parallel: scenarios that are played side by side.
        timeout_s: for one scenario.
        say_command: what synthesises turns of type `say`.
        told: hears of each scenario that begins and ends.

    Raises:
        TurnwiseError: the extra `live` is not installed, or loopback cannot be listened on.
    """
    texts = texts_of([scenario.path for scenario in scenarios if scenario.path is not None])
    simulator = Simulator(transport_named(protocol), behaviour, texts, seed)
    with listening(simulator) as port:
        return drive(
            scenarios,
            Address(f"ws://{LOOPBACK}:{port}/{{scenario}}"),
            protocol,
            out,
            repeat=repeat,
            parallel=parallel,
            timeout_s=timeout_s,
            say_command=say_command,
            told=told,
        )


@contextmanager
def listening(simulator: Simulator) -> Iterator[int]:
    """The simulator as long as the context lasts; gives the port of loopback on which it listens."""
    ready: Future[tuple[int, Callable[[], object]]] = Future()

    async def serve() -> None:
        async with await simulator.serve(LOOPBACK, 0) as server:
            loop, over = asyncio.get_running_loop(), asyncio.Event()
            ready.set_result((server.sockets[0].getsockname()[1], lambda: loop.call_soon_threadsafe(over.set)))
            await over.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)  # whoever waits for the port gets to know

    thread = Thread(target=run, name="turnwise-simulator", daemon=True)
    thread.start()
    try:
        port, end = ready.result()
    except OSError as error:
        raise TurnwiseError(f"{LOOPBACK} cannot be listened on", found=error.strerror or str(error)) from error
    try:
        yield port
    finally:
        end()
        thread.join(CLOSING_S)
