"""What lies at a path, and what can be told of a file without reading all of it or understanding any of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.audio.wave import extra
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import clean

AUDIO = (".wav", ".flac")


class Listing(NamedTuple):
    """What lies at a path: one file, or all files below a folder."""

    path: Path
    """As it was given."""
    root: Path
    """The folder that names are relative to."""
    names: tuple[str, ...]
    """Relative to the root, with forward slashes, in order."""
    lone: bool = False
    """Whether the path is a file."""

    def ending(self, *suffixes: str) -> list[str]:
        """The names that end so, whatever their case."""
        return [name for name in self.names if name.lower().endswith(suffixes)]

    def having(self, *names: str) -> list[str]:
        """The paths of files that are called so."""
        return [path for path in self.names if path.rpartition("/")[2] in names]

    def key(self, name: str) -> str:
        """A folder's or file's name as the key of a conversation; the root goes by its own name."""
        return clean(name) if name else clean(self.root.resolve().name) or "conversation"


def listing(path: Path) -> Listing:
    """The file, or all files of the folder; hidden ones are left out."""
    try:
        if path.is_dir():
            names = tuple(sorted(_walk(path)))
            if not names:
                raise InputError(
                    "the folder is empty", where=str(path), expected="conversations", remedy="check the path"
                )
            return Listing(path, path, names)
        if path.exists() and not path.is_file():
            found = "a pipe or a device"
            raise InputError(f"{path} is not a regular file", found=found, remedy="save it as a file first")
        with path.open("rb"):
            return Listing(path, path.parent, (path.name,), True)
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{shorten(str(path))} cannot be read", found=found, remedy="check the path") from error


def _is_data(path: Path) -> bool:
    """Whether there is something to read: a pipe would be waited for."""
    return not path.name.startswith(".") and (path.is_file() or path.is_symlink())


def _walk(folder: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise error

    seen = set()
    for where, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(where)
        folders[:] = [] if real in seen else sorted(name for name in folders if not name.startswith((".", "__")))
        prefix = Path(where).relative_to(folder).as_posix()
        if real not in seen:
            yield from (
                name if prefix == "." else f"{prefix}/{name}" for name in sorted(files) if _is_data(Path(where) / name)
            )
        seen.add(real)


def digest(path: Path) -> str:
    """The SHA-256 of a file's content."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read", found=error.strerror, remedy="check the path") from error


def audio_head(path: Path) -> tuple[int, float]:
    """Channels and seconds of a recording, by its header."""
    soundfile: Any = extra("soundfile")
    try:
        head = soundfile.info(path)
    except (soundfile.SoundFileError, OSError) as error:
        found = shorten(str(getattr(error, "error_string", error)))
        raise InputError("unreadable audio", where=str(path), found=found, expected="WAV or FLAC") from error
    if not head.frames:
        raise InputError("audio without samples", where=str(path), found="0 samples")
    return int(head.channels), head.frames / head.samplerate
