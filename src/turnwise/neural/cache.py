"""Embeddings kept for later runs, by the hash of the model and the hash of what was embedded, never by file names.

Each one is a file of its own that appears complete or not at all, so that any number of processes may read and write.
A folder that cannot be written, or a file that is not what it should be, costs time and changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER_VARIABLE = "TURNWISE_CACHE"
Embedding = NDArray[np.float32]

_MAGIC = b"TWE1"
_HEAD = struct.Struct("<4sII")  # magic, numbers, check sum of what follows
_MOST_NUMBERS = 1 << 16
_MOST_IN_MEMORY = 20_000


def default_folder() -> Path:
    """`TURNWISE_CACHE`, or the user's cache folder."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given).expanduser() / "embeddings"
    from platformdirs import user_cache_path

    return user_cache_path("turnwise", appauthor=False) / "embeddings"


def audio_key(samples: NDArray[np.floating[Any]], rate: int) -> str:
    """What a recording is known by: its samples and their rate."""
    digest = hashlib.sha256(f"audio {rate} {len(samples)} ".encode())
    digest.update(np.ascontiguousarray(samples, dtype="<f4").data)
    return digest.hexdigest()


def text_key(text: str, language: str) -> str:
    """What a text is known by: itself and its language."""
    return hashlib.sha256(f"text {language}\0{text}".encode()).hexdigest()


class EmbeddingCache:
    """Embeddings by model and content, in a folder, or for this process only."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._memory: dict[str, Embedding] = {}

    def get_many(self, keys: Sequence[str]) -> list[Embedding | None]:
        """The embedding of each key, `model/content`; None where there is none."""
        return [self._get(key) for key in keys]

    def put_many(self, keys: Sequence[str], embeddings: Iterable[NDArray[np.floating[Any]]]) -> None:
        """Keep embeddings, as single precision."""
        for key, embedding in zip(keys, embeddings, strict=True):
            numbers = np.array(embedding, dtype="<f4")
            if numbers.ndim != 1 or not 0 < numbers.size <= _MOST_NUMBERS:
                raise ValueError(f"an embedding is a row of 1 to {_MOST_NUMBERS} numbers, found {numbers.shape}")
            if self.folder is None or not _write(_file(self.folder, key), numbers):
                self._remember(key, numbers)

    def _get(self, key: str) -> Embedding | None:
        known = self._memory.get(key)
        return known if known is not None or self.folder is None else _read(_file(self.folder, key))

    def _remember(self, key: str, numbers: Embedding) -> None:
        while len(self._memory) >= _MOST_IN_MEMORY:
            del self._memory[next(iter(self._memory))]
        numbers.flags.writeable = False
        self._memory[key] = numbers


def _file(folder: Path, key: str) -> Path:
    """One folder per model, so that what a model left can be removed; names are hashes, whatever a key contains."""
    model = hashlib.sha256(key.rpartition("/")[0].encode()).hexdigest()
    content = hashlib.sha256(key.encode()).hexdigest()
    return folder / model[:16] / content[:2] / content


def _read(file: Path) -> Embedding | None:
    try:
        with file.open("rb") as stream:
            data = stream.read(_HEAD.size + 4 * _MOST_NUMBERS + 1)
    except OSError:
        return None
    if len(data) < _HEAD.size:
        return None
    magic, numbers, check = _HEAD.unpack_from(data)
    body = data[_HEAD.size :]
    if magic != _MAGIC or len(body) != 4 * numbers or zlib.crc32(body) != check:
        return None
    return np.frombuffer(body, dtype="<f4").astype(np.float32)


def _write(file: Path, numbers: Embedding) -> bool:
    """Whether it could be written."""
    body = numbers.tobytes()
    begun: Path | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".new-", delete=False) as stream:
            begun = Path(stream.name)
            stream.write(_HEAD.pack(_MAGIC, numbers.size, zlib.crc32(body)) + body)
        begun.replace(file)
    except OSError:
        if begun is not None:
            with suppress(OSError):
                begun.unlink()
        return False
    return True
