"""The first word with a scheduler that is running already: whether it is one, and can be reached.

Imported only where the package `distributed` is there.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from distributed import Security
from distributed.comm import connect

from turnwise.kernel.errors import UsageError

CONNECT_S = 10.0


def reach(address: str) -> None:
    """Connect to a scheduler and let go again: a client that fails to begin hangs on for long when it ends."""
    arguments = Security().get_connection_args("client")
    if address.startswith("tls:") and arguments.get("ssl_context") is None:
        raise UsageError(
            "an encrypted connection needs certificates",
            where=address,
            found="none in the configuration of Dask",
            remedy="set distributed.comm.tls there (ca-file, client.cert, client.key), or use tcp://",
        )

    async def greet() -> None:
        # Connecting gives up by itself, but not where something else than a scheduler answers.
        found = await asyncio.wait_for(connect(address, timeout=CONNECT_S, **arguments), CONNECT_S + 1)
        await found.close()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(greet())
    else:  # a notebook has a loop of its own
        with ThreadPoolExecutor(1) as apart:
            apart.submit(asyncio.run, greet()).result()


def told(error: BaseException) -> str:
    """What an error of a connection says, and what is behind it: an unknown host is first of all a time-out."""
    behind = error
    while behind.__cause__ is not None:
        behind = behind.__cause__
    said = f"{type(error).__name__}: {str(error) or 'what is there does not speak as a scheduler does'}"
    return said if behind is error or not str(behind) else f"{said} ({behind})"
