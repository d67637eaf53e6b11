"""Recordings inside a page: re-encoded small, each one once, up to a budget; beyond it, links to the files."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from turnwise.audio.wave import CLIPPED, SILENT, UNREADABLE, UnusableAudio, Wave, extra, read_wave
from turnwise.kernel.errors import TurnwiseError
from turnwise.report.html import text

RATE = 16000
LONGEST_SECONDS = 1800
_MP3, _WAV = "MP3", "WAV"
_TYPES = {_MP3: "audio/mpeg", _WAV: "audio/wav"}
_BYTES_PER_SECOND = {_MP3: 1_000, _WAV: 2 * RATE}
"""The least that a second takes: a file that cannot fit is not decoded."""
_NO_ROOM = "beyond the budget of this page"
_BASE64 = 4 / 3


class Recordings:
    """What a page plays. `listen` gives the HTML for one recording; the counters say what became of all."""

    def __init__(self, folder: Path, budget_bytes: int) -> None:
        """`folder` is where the page lies: links are relative to it."""
        self._folder = folder.absolute()
        self._left = budget_bytes
        self._names: dict[Path, str] = {}
        self._soundfile = _soundfile()
        self._form = _MP3 if self._soundfile and _writes_mp3(self._soundfile) else _WAV
        self._noted: dict[str, set[Path]] = {}

    def listen(self, path: Path, label: str, about: str) -> str:
        """A button that makes a player; a link where the recording is not in the page; words where there is no file."""
        file = path.absolute()
        name, data = self._names.get(file), ""
        if name is None and (encoded := self._embedded(file)) is not None:
            name = self._names[file] = f"audio-{len(self._names) + 1}"
            data = f'<script type="text/plain" id="{name}" data-type="{_TYPES[self._form]}">{encoded}</script>'
        if name is not None:
            said = text(f"play the {label} audio of {about}")
            button = (
                f'<button type="button" class="play" data-audio="{name}" aria-label="{said}">{text(label)}</button>'
            )
            return button + data
        if not file.is_file():
            return f"<small>{text(label)}: no such file</small>"
        return f'<small><a href="{text(self._link(file))}">{text(label)} file</a></small>'

    @property
    def embedded(self) -> int:
        """Recordings inside the page."""
        return len(self._names)

    @property
    def notes(self) -> list[str]:
        """Why recordings are not in the page, with how many."""
        return [f"{len(paths)} not embedded: {why}" for why, paths in self._noted.items()]

    def _embedded(self, file: Path) -> str | None:
        """The recording in base64, if it can be read and fits."""
        if any(file in paths for paths in self._noted.values()):
            return None
        encoded, why = self._attempt(file)
        if encoded is None:
            self._noted.setdefault(why, set()).add(file)
        else:
            self._left -= len(encoded)
        return encoded

    def _attempt(self, file: Path) -> tuple[str | None, str]:
        """The recording, or None and why not."""
        if self._soundfile is None:
            return None, 'the extra "audio" is not installed'
        try:
            seconds = float(self._soundfile.info(file).duration) if file.is_file() else 0.0
            if seconds > LONGEST_SECONDS:
                return None, f"longer than {LONGEST_SECONDS // 60} minutes"
            if seconds * _BYTES_PER_SECOND[self._form] * _BASE64 > self._left:
                return None, _NO_ROOM
            encoded = self._encode(read_wave(file, RATE, tolerate=(SILENT, CLIPPED)))
        except UnusableAudio as error:
            return None, error.reason
        except (TurnwiseError, OSError, self._soundfile.SoundFileError):
            return None, UNREADABLE
        return (encoded, "") if len(encoded) <= self._left else (None, _NO_ROOM)

    def _encode(self, wave: Wave) -> str:
        buffer = io.BytesIO()
        subtype = "MPEG_LAYER_III" if self._form == _MP3 else "PCM_16"
        samples = np.clip(wave.samples, -1, 1)
        self._soundfile.write(buffer, samples, wave.rate, format=self._form, subtype=subtype)
        return base64.b64encode(buffer.getvalue()).decode("ascii")

    def _link(self, file: Path) -> str:
        try:
            return quote(Path(os.path.relpath(file, self._folder)).as_posix())
        except ValueError:  # another drive
            return file.as_uri()


def _soundfile() -> Any:
    try:
        extra("soxr")
        return extra("soundfile")
    except TurnwiseError:
        return None


def _writes_mp3(soundfile: Any) -> bool:
    """Whether this libsndfile does: it may since 1.1, if it was built so, and only trying shows it."""
    try:
        soundfile.write(io.BytesIO(), np.zeros(RATE), RATE, format=_MP3, subtype="MPEG_LAYER_III")
    except (soundfile.SoundFileError, ValueError, OSError):
        return False
    return True
