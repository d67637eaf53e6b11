"""Names of anything as names of files: what any file system takes, and no two of them the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain, count
from pathlib import Path

LONGEST_BYTES = 120
"""Of the UTF-8 of a name; file systems take 255 with what is put before and after it."""
_NOT_PLAIN = re.compile(r"[^\w.+-]+")


def plain_name(name: str) -> str:
    """A name that any file system takes: letters, digits and `. _ + -`, not too long and not hidden."""
    short = _NOT_PLAIN.sub("_", name).strip(".").encode()[:LONGEST_BYTES]
    return short.decode(errors="ignore") or "_"


def free_name(plain: str, taken: Callable[[str], bool]) -> str:
    """The name, numbered if it is taken; who asks compares without case, as some file systems do."""
    numbered = chain([plain], (f"{plain}_{number}" for number in count(2)))
    return next(name for name in numbered if not taken(name.casefold()))


def absolute(path: Path) -> Path:
    """The whole path, links followed; links that lead in a circle are left for whoever opens it to complain about."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
