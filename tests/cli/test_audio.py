"""`turnwise audio resample`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Cli

soundfile = pytest.importorskip("soundfile", reason="soundfile is not installed")
pytest.importorskip("soxr", reason="soxr is not installed")


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    folder = tmp_path / "recordings"
    (folder / "inner").mkdir(parents=True)
    tone = 0.5 * np.sin(np.arange(44100) / 10)
    soundfile.write(folder / "a.wav", tone, 44100)
    soundfile.write(folder / "inner" / "b.flac", np.stack([tone, tone], axis=1), 48000)
    soundfile.write(folder / "phone.wav", tone, 8000)
    (folder / "broken.wav").write_bytes(b"no audio")
    return folder


def test_resample(cli: Cli, recordings: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = cli("audio", "resample", recordings, "--out", out)
    assert done.out.splitlines() == [
        f"{out}: 3 of 4 files, mono, 16000 Hz",
        "1 were of a lower rate: they hold nothing above half of it",
        "skipped, unreadable audio: 1",
    ]
    assert "resampling: 4/4" in done.err
    assert "broken.wav: unreadable audio" in done.err
    assert soundfile.info(out / "inner" / "b.wav").samplerate == 16000
    again = cli("audio", "resample", recordings, "--out", out, code=2)
    assert "--overwrite replaces them" in again.err
    cli("audio", "resample", recordings, "--out", out, "--overwrite")


def test_resample_json(cli: Cli, recordings: Path) -> None:
    found = cli("audio", "resample", recordings, "--rate", 8000, "--workers", 1, "--json").json()
    assert found["out"] == str(recordings.with_name("recordings-8000"))
    assert {k: found[k] for k in ("files", "written", "mixed_down", "resampled", "upsampled")} == {
        "files": 4,
        "written": 3,
        "mixed_down": 1,
        "resampled": 2,
        "upsampled": 0,
    }
    assert [skip["reason"] for skip in found["skipped"]] == ["unreadable audio"]


def test_nothing_could_be_read(cli: Cli, recordings: Path) -> None:
    for name in ("a.wav", "inner/b.flac", "phone.wav"):
        (recordings / name).unlink()
    done = cli("audio", "resample", recordings, code=2)
    assert "no file could be read" in done.err


def test_no_such_folder(cli: Cli, tmp_path: Path) -> None:
    assert "no such folder" in cli("audio", "resample", tmp_path / "nowhere", code=2).err
