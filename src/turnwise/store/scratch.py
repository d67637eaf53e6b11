"""Bytes that are needed again soon and are too many for memory."""

from __future__ import annotations

import tempfile
import weakref
from typing import IO


def scratch_file(owner: object, in_memory: int) -> IO[bytes]:
    """A file without a name that lives as long as its owner; it is on disk only above so many bytes."""
    file = tempfile.SpooledTemporaryFile(max_size=in_memory)  # noqa: SIM115 (closed with its owner)
    weakref.finalize(owner, file.close)
    return file
