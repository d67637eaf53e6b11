"""What a worker of this machine made, on its way to the driver: through a file, whatever carries the messages.

A message of some megabytes is sent in many pieces, and each interrupts the thread that measures in the meantime. A file
that is read and deleted at once stays in memory.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from turnwise.kernel.errors import TurnwiseError

SMALL = 64 << 10
"""Bytes that are not worth a file."""


class Parcel(NamedTuple):
    """Where to find what was made."""

    path: str


def posted(content: bytes, folder: str | None) -> bytes | Parcel:
    """Something for a driver that reads the same folder; as it is where there is no folder, or no room in it."""
    if folder is None or len(content) < SMALL:
        return content
    path = Path(folder, f"{uuid4().hex}.parcel")
    try:
        path.write_bytes(content)
    except OSError:  # a full disk, for one
        with suppress(OSError):
            path.unlink()
        return content
    return Parcel(str(path))


def unpacked(sent: bytes | Parcel) -> bytes:
    """What was sent; a parcel can be opened once, and then is not found."""
    if not isinstance(sent, Parcel):
        return sent
    path = Path(sent.path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TurnwiseError(
            "what a worker made cannot be read",
            where=sent.path,
            found=error.strerror or str(error),
            remedy="set TMPDIR to another folder, or use --engine processes",
        ) from error
    with suppress(OSError):  # the folder goes at the end of the run
        path.unlink()
    return content
