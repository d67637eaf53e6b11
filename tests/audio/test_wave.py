"""Reading audio, good and bad; folders of it."""

from __future__ import annotations

import os
import pickle
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import signal

from tests.audio import signals as s
from turnwise.audio import wave as w
from turnwise.audio.folder import resample_folder
from turnwise.audio.wave import UnusableAudio, at_rate, fourier_resample, from_samples, read_wave
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError

soundfile = pytest.importorskip("soundfile", reason="soundfile is not installed")
pytest.importorskip("soxr", reason="soxr is not installed")

TONE = s.tone(440, 0.5, 16000)


def written(path: Path, samples: Any, rate: int = 16000, subtype: str = "PCM_16") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, subtype=subtype)
    return path


def trouble(path: Path, **options: Any) -> UnusableAudio:
    with pytest.raises(UnusableAudio) as caught:
        read_wave(path, **options)
    assert caught.value.where == str(path)
    assert caught.value.exit_code == 2
    return caught.value


# Good files


@pytest.mark.parametrize(
    ("name", "subtype", "precision"),
    [
        ("a.wav", "PCM_16", 2**-15),
        ("a.wav", "PCM_24", 2**-23),
        ("a.wav", "PCM_32", 2**-31),
        ("a.wav", "PCM_U8", 2**-7),
        ("a.wav", "FLOAT", 2**-24),
        ("a.wav", "DOUBLE", 0),
        ("a.flac", "PCM_16", 2**-15),
        ("a.flac", "PCM_24", 2**-23),
    ],
)
def test_reads(tmp_path: Path, name: str, subtype: str, precision: float) -> None:
    wave = read_wave(written(tmp_path / name, TONE, subtype=subtype))
    assert np.abs(wave.samples - TONE).max() <= precision
    assert (wave.rate, wave.original_rate, wave.channels, wave.steps) == (16000, 16000, 1, ())
    assert wave.encoding == f"{name[2:].upper()} {subtype}"
    assert wave.seconds == 0.5
    assert not wave.upsampled
    with pytest.raises(ValueError, match="read-only"):
        wave.samples[0] = 1


def test_stereo_is_mixed_down(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", np.stack([TONE, 0.5 * TONE], axis=1), subtype="DOUBLE")
    wave = read_wave(path)
    assert wave.samples == pytest.approx(0.75 * TONE)
    assert (wave.channels, wave.steps) == (2, ("mixed down from 2 channels",))
    right = read_wave(path, channel=1)
    assert right.samples == pytest.approx(0.5 * TONE)
    assert right.steps == ("channel 1 of 2",)
    with pytest.raises(UsageError, match="no channel 2"):
        read_wave(path, channel=2)


def test_channels_that_cancel_are_silent(tmp_path: Path) -> None:
    error = trouble(written(tmp_path / "a.wav", np.stack([TONE, -TONE], axis=1)))
    assert error.reason == w.SILENT
    assert "mixed down from 2 channels" in str(error.found)


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000])
def test_resamples_in_memory(tmp_path: Path, rate: int) -> None:
    path = written(tmp_path / "a.wav", s.tone(440, 0.5, rate), rate)
    before = path.read_bytes()
    wave = read_wave(path)
    assert (wave.rate, wave.original_rate, len(wave.samples)) == (16000, rate, 8000)
    assert wave.steps == (f"resampled from {rate} to 16000 Hz (soxr_hq)",)
    assert wave.upsampled == (rate == 8000)
    middle = slice(1000, 7000)  # filters ring at the ends
    assert wave.samples[middle] == pytest.approx(TONE[middle], abs=1e-3)
    assert path.read_bytes() == before
    kept = read_wave(path, rate=None)
    assert (kept.rate, kept.steps) == (rate, ())


@pytest.mark.parametrize("before", [1000, 1001])
@pytest.mark.parametrize("after", [500, 501, 1000, 1600, 1601])
def test_fourier_resampling_equals_scipy(before: int, after: int) -> None:
    samples = np.random.default_rng(before).standard_normal(before)
    assert fourier_resample(samples, after) == pytest.approx(signal.resample(samples, after), abs=1e-12)


def test_a_header_of_unknown_length(tmp_path: Path) -> None:
    """Programs that write to a pipe do not know the length and put the largest number there."""
    path = written(tmp_path / "a.wav", TONE)
    content = bytearray(path.read_bytes())
    place = content.index(b"data") + 4
    content[4:8] = content[place : place + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(content)
    assert len(read_wave(path).samples) == 8000


def test_chunks_after_the_samples(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", TONE)
    path.write_bytes(path.read_bytes() + b"note" + struct.pack("<I", 4) + b"text")
    assert len(read_wave(path).samples) == 8000


def test_from_samples() -> None:
    given = TONE.copy()
    wave = from_samples(given, 16000)
    given[:] = 0
    assert wave.samples == pytest.approx(TONE)
    with pytest.raises(UsageError, match="one channel"):
        from_samples(np.zeros((2, 3)), 16000)
    with pytest.raises(UsageError, match="above 0"):
        from_samples(TONE, 0)
    with pytest.raises(UsageError, match="above 0"):
        at_rate(wave, -1)


# Bad files


def test_no_file(tmp_path: Path) -> None:
    assert trouble(tmp_path / "a.wav").reason == w.MISSING
    assert trouble(tmp_path).found == "a folder"


@pytest.mark.parametrize("content", [b"hello", b"RIFF\x24\x00\x00\x00WAVE", os.urandom(5000)])
def test_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    assert trouble(path).reason == w.UNREADABLE


@pytest.mark.parametrize("suffix", ["wav", "flac"])
@pytest.mark.parametrize("share", [0.99, 0.5, 0.3])
def test_truncated(tmp_path: Path, suffix: str, share: float) -> None:
    path = written(tmp_path / f"a.{suffix}", s.noise(0.1, 2, 16000))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert trouble(path).reason == w.TRUNCATED


def test_truncated_says_by_how_much(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", TONE)
    path.write_bytes(path.read_bytes()[:-1000])
    assert trouble(path).found == "the header promises 1000 bytes of samples more than there are"


def test_truncated_64_bit_wav(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, TONE, 16000, subtype="PCM_16", format="RF64")
    assert len(read_wave(path).samples) == 8000
    path.write_bytes(path.read_bytes()[:-1000])
    assert trouble(path).reason == w.TRUNCATED


def test_without_samples(tmp_path: Path) -> None:
    assert trouble(written(tmp_path / "a.wav", np.empty(0))).reason == w.EMPTY
    (tmp_path / "b.wav").write_bytes(b"")
    assert trouble(tmp_path / "b.wav").found == "a file of 0 bytes"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(tmp_path: Path, value: float) -> None:
    samples = TONE.copy()
    samples[77] = value
    error = trouble(written(tmp_path / "a.wav", samples, subtype="FLOAT"), tolerate=(w.CLIPPED,))
    assert (error.reason, error.found) == (w.NOT_FINITE, f"{value} at sample 77")


@pytest.mark.parametrize("samples", [np.zeros(8000), np.full(8000, 0.3), 0.0009 * np.sign(TONE)])
def test_silent(tmp_path: Path, samples: Any) -> None:
    path = written(tmp_path / "a.wav", samples)
    assert trouble(path).reason == w.SILENT
    assert len(read_wave(path, tolerate=(w.SILENT,)).samples) == 8000


def test_quiet_is_not_silent(tmp_path: Path) -> None:
    assert read_wave(written(tmp_path / "a.wav", 0.01 * TONE)).seconds == 0.5


def test_clipped(tmp_path: Path) -> None:
    """A sine of amplitude 2 is beyond 1 for two thirds of the time: 1 - 2 asin(1/2) / (pi/2) / 2 = 2/3."""
    path = written(tmp_path / "a.wav", np.clip(4 * TONE, -1, 1))
    error = trouble(path)
    assert error.reason == w.CLIPPED
    assert "66." in str(error.found)
    assert read_wave(path, tolerate=(w.CLIPPED,)).clipped_share == pytest.approx(2 / 3, abs=0.01)


def test_a_normalised_peak_is_not_clipped(tmp_path: Path) -> None:
    voice = s.vowel(120, s.AH, 0.5, 16000)
    wave = read_wave(written(tmp_path / "a.wav", voice / np.abs(voice).max()))
    assert 0 < wave.clipped_share < w.CLIPPED_MOST


def test_float_samples_beyond_full_scale(tmp_path: Path) -> None:
    error = trouble(written(tmp_path / "a.wav", 32768 * TONE, subtype="FLOAT"))
    assert error.reason == w.CLIPPED
    assert "peak 1.64e+04" in str(error.found)


def test_trouble_survives_a_process_boundary(tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(trouble(tmp_path / "a.wav")))
    assert isinstance(again, UnusableAudio)
    assert again.reason == w.MISSING


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.wav", TONE)
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(TurnwiseError, match=r'pip install "turnwise\[audio\]"') as caught:
        read_wave(path)
    assert not isinstance(caught.value, InputError)  # never a skip


# Folders


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    folder = tmp_path / "recordings"
    for number in range(8):
        written(folder / f"speaker{number % 2}" / f"{number}.wav", s.tone(300 + number, 0.1, 44100), 44100)
    written(folder / "stereo.FLAC", np.stack([TONE, TONE], axis=1))
    written(folder / "phone.wav", s.tone(300, 0.1, 8000), 8000)
    written(folder / "silent.wav", np.zeros(1600))
    (folder / "notes.txt").write_text("not audio")
    (folder / "broken.wav").write_bytes(b"no audio")
    cut = written(folder / "cut.wav", TONE)
    cut.write_bytes(cut.read_bytes()[:-100])
    return folder


def test_folder(recordings: Path) -> None:
    before = {path: path.read_bytes() for path in recordings.rglob("*") if path.is_file()}
    seen: list[tuple[int, int]] = []
    done = resample_folder(recordings, workers=1, progress=lambda *count: seen.append(count))
    assert done.out == recordings.with_name("recordings-16000")
    assert len(done.files) == 13
    assert done.reasons == {w.UNREADABLE: 1, w.TRUNCATED: 1}
    assert seen == [(n, 13) for n in range(1, 14)]
    made = sorted(str(path.relative_to(done.out)) for path in done.out.rglob("*") if path.is_file())
    assert made == sorted(file.target for file in done.written)
    assert "speaker1/3.wav" in made
    for file in done.written:
        about = soundfile.info(done.out / file.target)
        assert (about.samplerate, about.channels, about.format, about.subtype) == (16000, 1, "WAV", "PCM_16")
        assert about.duration == pytest.approx(file.seconds)
    assert [file.source for file in done.written if file.upsampled] == ["phone.wav"]
    assert {path: path.read_bytes() for path in before} == before


def test_folder_in_processes(recordings: Path, tmp_path: Path) -> None:
    alone = resample_folder(recordings, tmp_path / "one", workers=1)
    together = resample_folder(recordings, tmp_path / "two", workers=2)
    assert together.files == alone.files
    for file in alone.written:
        assert (tmp_path / "one" / file.target).read_bytes() == (tmp_path / "two" / file.target).read_bytes()


def test_folder_does_not_overwrite(recordings: Path) -> None:
    done = resample_folder(recordings, rate=8000)
    with pytest.raises(UsageError, match="11 files are there already"):
        resample_folder(recordings, rate=8000)
    assert resample_folder(recordings, rate=8000, overwrite=True).files == done.files
    with pytest.raises(UsageError, match="originals"):
        resample_folder(recordings, recordings, overwrite=True)


def test_results_inside_the_folder_are_no_input(recordings: Path) -> None:
    done = resample_folder(recordings, recordings / "made")
    again = resample_folder(recordings, recordings / "made", overwrite=True)
    assert again.files == done.files


def test_two_files_of_one_name(recordings: Path) -> None:
    written(recordings / "stereo.wav", TONE)
    with pytest.raises(InputError, match=r"stereo\.FLAC and stereo\.wav"):
        resample_folder(recordings)


def test_no_audio(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        resample_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no audio files"):
        resample_folder(tmp_path)
