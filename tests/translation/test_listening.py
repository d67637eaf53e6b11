"""The first look into recordings: what is found does not depend on how many are looked into at once."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from turnwise.audio.wave import CLIPPED, SILENT, UnusableAudio
from turnwise.translation.listening import Ear

soundfile = pytest.importorskip("soundfile")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_heard(tmp_path: Path, workers: int) -> None:
    tone = 0.5 * np.sin(np.arange(8000) / 5)
    soundfile.write(tmp_path / "stereo.wav", np.column_stack([tone, tone]), 8000)
    soundfile.write(tmp_path / "silent.wav", np.zeros(160), 16000)
    soundfile.write(tmp_path / "loud.wav", np.sign(tone), 16000)
    stereo, silent, loud = (tmp_path / f"{name}.wav" for name in ("stereo", "silent", "loud"))
    away = Path("https://host/call.wav")
    found = Ear(workers=workers).hear([stereo, silent, loud, away, stereo])
    assert list(found) == [stereo, silent, loud, away]
    assert (found[stereo].seconds, found[stereo].rate, found[stereo].channels) == (1.0, 8000, 2)
    assert found[stereo].mark == hashlib.md5(stereo.read_bytes()).hexdigest()
    troubles = [found[path].trouble for path in (silent, loud)]
    assert [one.reason for one in troubles if isinstance(one, UnusableAudio)] == [SILENT, CLIPPED]
    assert (found[away].mark, found[away].seconds) == ("https://host/call.wav", None)


def test_without_listening_the_size_tells(tmp_path: Path) -> None:
    path = tmp_path / "no.wav"
    path.write_bytes(b"12345")
    assert Ear(listens=False).hear([path])[path].mark == "5"
