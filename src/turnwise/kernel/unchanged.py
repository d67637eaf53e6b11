"""Files that are read more than once: whether one is still what it was at the first look."""

from __future__ import annotations

import os
from pathlib import Path

from turnwise.kernel.errors import InputError

FileState = tuple[int, ...]
"""Its size, and when its content and what is known of it were changed."""


def state_of(found: os.stat_result) -> FileState:
    """What tells a file from another in its place, and from what it was before.

    The number of a file would tell the same, but some network drives give it another one whenever it is opened.
    """
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def changed(path: Path) -> InputError:
    """The error for a file, or a folder, that changes while it is evaluated."""
    return InputError(
        f"{path} changed while it was being read",
        found="another size, time or file than at the beginning",
        expected="files that nobody writes to",
        remedy="start the run again, on a copy if need be",
    )
