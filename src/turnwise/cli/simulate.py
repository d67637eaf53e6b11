"""`turnwise simulate`: a live system with chosen faults, to drive against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def simulate(
    protocol: Annotated[str, typer.Option(metavar="acs|openai-realtime|twilio", help="What it speaks.")] = "acs",
    behaviour: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="good, slow_cutoff, mixing, no_response, never_stops, paused_and_resumed or flaky.",
        ),
    ] = "good",
    cutoff_ms: Annotated[
        float | None, typer.Option(metavar="N", help="When an interrupted answer is cut off, from the interruption.")
    ] = None,
    response_ms: Annotated[
        float | None, typer.Option(metavar="N", help="When an answer begins, from the start of what it answers.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the faults of flaky.")] = 0,
    scenario: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Answer with the expected texts of scenarios (files or folders)."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any.")] = 8765,
) -> None:
    """Be a live system with known faults at known times, until Ctrl-C.

    Example: turnwise simulate --behaviour slow_cutoff --cutoff-ms 2500
    """
    import asyncio
    import signal
    from contextlib import suppress

    from turnwise.cli.console import say
    from turnwise.kernel.errors import TurnwiseError
    from turnwise.live.behaviours import behaviour_named
    from turnwise.live.simulator import Simulator, texts_of
    from turnwise.live.transports import transport_named

    simulator = Simulator(
        transport_named(protocol),
        behaviour_named(behaviour, response_ms, cutoff_ms),
        texts_of(scenario or ()),
        seed,
    )

    async def serve() -> None:
        try:
            server = await simulator.serve(host, port)
        except OSError as error:
            raise TurnwiseError(
                f"{host}:{port} cannot be listened on",
                found=error.strerror or str(error),
                remedy="choose another --port",
            ) from error
        over = asyncio.Event()
        with suppress(NotImplementedError):  # Windows
            for end in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(end, over.set)
        async with server:
            at = server.sockets[0].getsockname()[1]
            say(f"{behaviour} on ws://{host}:{at}/ ({protocol}); Ctrl-C ends it")
            await over.wait()
        say(f"{simulator.connections} connections, {simulator.messages} messages sent")

    asyncio.run(serve())
