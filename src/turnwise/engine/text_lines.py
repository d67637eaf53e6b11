"""The lines of a text file, one after the other: where each begins, and what is wrong with one that is not UTF-8."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.unchanged import FileState, state_of

BOM = b"\xef\xbb\xbf"


class Lines:
    """The decoded lines of an open file, and where the last one began."""

    def __init__(self, path: Path, file: IO[bytes], position: int = 0, number: int = 1) -> None:
        self._path, self._file = path, file
        self.position = position
        """Where the next line begins."""
        self.start = position
        self.number = number - 1

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        line = self._file.readline()
        if not line:
            raise StopIteration
        self.start, self.number = self.position, self.number + 1
        self.position += len(line)
        return decoded(line.removeprefix(BOM) if self.start == 0 else line, f"{self._path}, line {self.number}")


def decoded(data: bytes, where: str) -> str:
    """Text in UTF-8; anything else is refused with its place."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            "the text is not UTF-8",
            where=f"{where}, byte {error.start + 1}",
            found=shorten(data[max(0, error.start - 10) : error.start + 10]),
            expected="UTF-8",
            remedy=_remedy(data),
        ) from error


def _remedy(data: bytes) -> str:
    """What to do about bytes that are not UTF-8, by how they begin."""
    if data.startswith(b"\x1f\x8b"):
        return "it is compressed: unpack it first, e.g. with gunzip"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is UTF-16: save it as UTF-8, e.g. iconv -f utf-16 -t utf-8"
    return "save the file as UTF-8, e.g. iconv -f latin1 -t utf-8"


def opened(path: Path) -> IO[bytes]:
    """A file that is there, open for reading."""
    try:
        if path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "a pipe or a device"
            raise InputError(
                f"{path} is not a regular file", found=what, remedy="files are read more than once: save it as a file"
            )
        return path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read", found=error.strerror or str(error), remedy="check the path"
        ) from error


def state_of_open(file: IO[bytes]) -> FileState:
    """What tells whether a file that is open has changed since."""
    return state_of(os.fstat(file.fileno()))
