"""Keys as they are pressed on a terminal; words of lines, where standard input is anything else."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

_END = "\x04"
"""Ctrl-D."""
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|O?.)?", re.DOTALL)
"""What an arrow, a function key or Alt with a key sends."""


@contextmanager
def pressed_keys() -> Iterator[Iterator[str]]:
    """The keys one by one, until the input ends. On a terminal no Enter is needed, and keys are not echoed."""
    if not (sys.stdin.isatty() and sys.stdout.isatty() and _has_termios()):
        yield (word.lower() for line in sys.stdin for word in line.split())
        return
    with _unbuffered(sys.stdin):
        yield _raw_keys(sys.stdin.fileno())


def _has_termios() -> bool:
    try:
        import termios  # noqa: F401
    except ImportError:  # not a POSIX system
        return False
    return True


@contextmanager
def _unbuffered(terminal: IO[str]) -> Iterator[None]:
    """Let the terminal hand over every key at once; whatever happens, it is left as it was found."""
    import termios
    import tty

    fd = terminal.fileno()
    saved = termios.tcgetattr(fd)

    def again(*_: Any) -> None:
        tty.setcbreak(fd, termios.TCSADRAIN)  # the shell took the terminal back when the program was stopped

    handlers = {signal.SIGCONT: again, signal.SIGTERM: _leave, signal.SIGHUP: _leave}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        tty.setcbreak(fd, termios.TCSADRAIN)
        yield
    finally:
        # What was typed too much is thrown away: the shell would take it for commands.
        termios.tcsetattr(fd, termios.TCSAFLUSH, saved)
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, _frame: Any) -> None:
    raise SystemExit(128 + number)


def _raw_keys(fd: int) -> Iterator[str]:
    while True:
        try:
            data = os.read(fd, 64)
        except OSError:  # the terminal is gone
            return
        if not data:
            return
        for key in _ESCAPE.sub(b"", data).decode(errors="ignore"):
            if key == _END:
                return
            if not key.isspace():
                yield key.lower()
