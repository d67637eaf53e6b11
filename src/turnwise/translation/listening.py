"""The first look into recordings, several at once: what tells each from another, and whether it can be used."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from turnwise.audio.remote import url_of
from turnwise.audio.wave import read_wave
from turnwise.kernel.errors import TurnwiseError


@dataclass(frozen=True, slots=True)
class Heard:
    """What is known of a recording before anything is measured."""

    mark: str
    """What tells whether it is still the same: its content, its size where nobody listens, or where it lies."""
    seconds: float | None = None
    """None where nobody listened, or it cannot be used."""
    rate: int = 0
    channels: int = 0
    trouble: TurnwiseError | None = None


@dataclass(frozen=True, slots=True)
class Ear:
    """Looks into recordings, as many at once as there are workers: decoding leaves the interpreter alone."""

    listens: bool = True
    workers: int = 1

    def hear(self, paths: Iterable[Path]) -> Mapping[Path, Heard]:
        """Each recording, once."""
        chosen = list(dict.fromkeys(paths))
        if self.workers == 1 or len(chosen) == 1:
            return dict(zip(chosen, map(self._hear, chosen), strict=True))
        with ThreadPoolExecutor(self.workers) as pool:
            return dict(zip(chosen, pool.map(self._hear, chosen), strict=True))

    def _hear(self, path: Path) -> Heard:
        url = url_of(path)
        if url:  # whoever measures it fetches it; a million of them are not fetched twice
            return Heard(url)
        if not self.listens:
            return Heard(str(path.stat().st_size))
        with path.open("rb") as file:
            mark = hashlib.file_digest(file, "md5").hexdigest()
        try:
            wave = read_wave(path, rate=None)
        except TurnwiseError as error:
            return Heard(mark, trouble=error)
        return Heard(mark, wave.seconds, wave.rate, wave.channels)
