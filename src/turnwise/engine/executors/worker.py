"""A worker process: takes from a pipe what a function is to be applied to, and sends back what came of it.

It ends when its pipe does, so a parent that is killed leaves nobody behind.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any, cast

from turnwise.engine.executors.outcome import packed
from turnwise.kernel.errors import TurnwiseError

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""How many threads libraries use; read when they are loaded, so for those that were not there before the process."""


def prepare_process(environment: Mapping[str, str], threads: int) -> None:
    """The first thing a worker process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    os.environ.clear()  # the server that forked us may be older than the parent's settings
    os.environ.update(environment)
    for name in THREADS:
        os.environ.setdefault(name, str(threads))


def serve(connection: Connection, environment: Mapping[str, str], threads: int) -> None:
    """Work until the pipe ends. The function comes first; what it needs is imported with it."""
    prepare_process(environment, threads)
    received: SimpleQueue[bytes] = SimpleQueue()
    ready: SimpleQueue[bytes] = SimpleQueue()
    # What is sent while we compute is taken from the pipe at once, and what we send waits for no reader: otherwise
    # both sides could wait for each other.
    Thread(target=_receive, args=(connection, received), daemon=True).start()
    Thread(target=_send, args=(connection, ready), daemon=True).start()
    work = _loaded(received.get())
    while True:
        content = received.get()
        try:
            outcome = work(pickle.loads(content))  # noqa: S301  (our own parent sent it)
        except Exception as error:  # it is raised again in the parent
            outcome = error
        ready.put(packed(outcome))


def _loaded(content: bytes) -> Callable[[Any], Any]:
    """The function; one that cannot be loaded here is an error of whatever it is applied to."""
    try:
        return cast("Callable[[Any], Any]", pickle.loads(content))  # noqa: S301
    except Exception as error:
        return partial(_not_loaded, error)


def _not_loaded(error: Exception, _: Any) -> Any:
    raise TurnwiseError(
        "a worker process cannot load what it should do",
        found=f"{type(error).__name__}: {error}",
        expected="metrics of an importable module",
        remedy="move what a notebook or a script defines to a module of its own, or use --engine inline",
    ) from error


def _receive(connection: Connection, received: SimpleQueue[bytes]) -> None:
    try:
        while True:
            received.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


def _send(connection: Connection, ready: SimpleQueue[bytes]) -> None:
    try:
        while True:
            connection.send_bytes(ready.get())
    except OSError:
        os._exit(0)
