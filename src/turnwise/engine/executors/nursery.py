"""Where worker processes come from: a server that has imported what they will need, and forks them.

It is started at the beginning of a run, so that it imports while the data is being read, once for all workers. A fork
of the driver itself may hang, if it has threads or database connections.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from turnwise.kernel.errors import TurnwiseError

MAIN = "__main__"
METHOD = "forkserver" if hasattr(os, "fork") and sys.platform != "darwin" else "spawn"
"""Libraries of macOS that numpy stands on do not survive a fork."""
_PRELOAD = "turnwise.engine.executors.interrupts_off"
_PRELOADED = "turnwise.engine.executors.interrupts_on"
_ONE_AT_A_TIME = RLock()


def warm(modules: Sequence[str]) -> None:
    """Start the server, which imports these; one that runs already, for an earlier run, stays as it is."""
    if METHOD == "forkserver":
        from multiprocessing import forkserver

        # Modules by name, and not the user's script, which is on the list where nothing else is.
        multiprocessing.set_forkserver_preload([_PRELOAD, *modules, _PRELOADED])
        try:
            forkserver.ensure_running()
        except OSError as error:  # its socket is a file there, and the name of a socket is short
            raise TurnwiseError(
                "worker processes cannot be started",
                where=tempfile.gettempdir(),
                found=error.strerror or str(error),
                remedy="set TMPDIR to a folder that can be written to, with a name of less than 80 characters",
            ) from error


def hire(target: Any, arguments: tuple[Any, ...], name: str, *, script: bool = False) -> BaseProcess:
    """A new process that runs a function of turnwise; `script`: it also needs what the user's script defines.

    What a notebook or a script without a file defines, no other process can have: it says so itself.
    """
    warm(())
    context: Any = multiprocessing.get_context(METHOD)
    process: BaseProcess = context.Process(target=target, args=arguments, daemon=True, name=name)
    if script and Path(getattr(sys.modules[MAIN], "__file__", None) or "").is_file():
        process.start()
    else:
        with script_left_alone():
            process.start()
    return process


def needs_script(work: bytes) -> bool:
    """Whether a pickled workload holds something that the user's script defines, a metric of its own."""
    return MAIN.encode() in work


@contextmanager
def script_left_alone() -> Iterator[None]:
    """A process that starts now does not run the user's script again, which may well evaluate something itself."""
    with _ONE_AT_A_TIME:
        script = sys.modules[MAIN]
        sys.modules[MAIN] = ModuleType(MAIN)
        try:
            yield
        finally:
            sys.modules[MAIN] = script
