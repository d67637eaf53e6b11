"""Reading audio: one channel of floating-point samples, with a record of what was done to get it.

Audio that cannot be measured raises `UnusableAudio` with a short reason, which a metric turns into a counted skip.
Whole folders are the business of `turnwise.audio.folder`; features live elsewhere, too.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from turnwise.audio.remote import read_url, url_of
from turnwise.kernel.errors import InputError, UsageError, shorten
from turnwise.kernel.extras import import_extra

Samples = NDArray[np.floating[Any]]

MISSING = "no audio file"
UNREADABLE = "unreadable audio"
TRUNCATED = "truncated audio"
EMPTY = "audio without samples"
NOT_FINITE = "audio with samples that are no numbers"
SILENT = "silent audio"
CLIPPED = "clipped audio"

SILENT_PEAK = 10 ** (-60 / 20)
"""A recording whose samples span less than twice this (-60 dBFS) is silent. A constant offset is no sound."""
FULL_SCALE = 1 - 2**-15
"""The largest sample of 16 bits; from here on a sample counts as clipped."""
CLIPPED_MOST = 0.01
"""The largest share of clipped samples that is accepted. A file normalised to its peak has a few of them."""

SOXR = "soxr_hq"
FFT = "fft"

_BLOCK = 1 << 20  # frames read at once: a header that promises the impossible does not fill the memory
_STREAMED = 0x7FFFF000  # sizes from here on are put there by programs that write to a pipe


class UnusableAudio(InputError):
    """Audio that cannot be measured; `reason` is short and the same for all files with the same trouble."""

    @property
    def reason(self) -> str:
        """The trouble in a few words, to be counted."""
        return self.what


@dataclass(frozen=True, slots=True, eq=False)
class Wave:
    """One channel of samples between -1 and 1, and what was done to get it."""

    samples: Samples
    """Read only. Of single precision for a file of that kind at its own rate, else of double precision."""
    rate: int
    original_rate: int
    """The rate before anything was resampled."""
    channels: int
    """Channels of the file."""
    encoding: str
    """Format and sample type of the file, e.g. `WAV PCM_16`."""
    clipped_share: float
    """Share of the file's samples at full scale."""
    steps: tuple[str, ...] = ()
    """What was done: mixed down, resampled."""
    source: str = ""

    @property
    def seconds(self) -> float:
        """Duration."""
        return len(self.samples) / self.rate

    @property
    def upsampled(self) -> bool:
        """Whether the rate is higher than the file's, so that the upper part of the spectrum is empty."""
        return self.original_rate < self.rate


def extra(package: str) -> Any:
    """A package of the extra `audio`, imported now."""
    return import_extra(package, "audio", "audio")


def read_wave(
    path: str | Path, rate: int | None = 16000, *, channel: int | None = None, tolerate: Collection[str] = ()
) -> Wave:
    """Read a file as one channel at `rate`; None keeps the rate of the file.

    Args:
        path: WAV, FLAC or another format of libsndfile; or its URL (`https://`, `s3://`, `gs://`).
        rate: Hz; audio at another rate is resampled in memory, and the wave's steps say so.
        channel: which channel of several, from 0; None takes their mean.
        tolerate: troubles that are let pass, e.g. `(SILENT, CLIPPED)`.

    Raises:
        UnusableAudio: missing, unreadable, truncated, empty, not finite, silent or clipped.
    """
    soundfile = extra("soundfile")
    url = url_of(path)
    name = url or str(Path(path))
    file = _fetched(url) if url else Path(path)
    if isinstance(file, Path):
        _check_file(file)
    try:
        wave = _decode(soundfile, file, name, channel)
    except soundfile.SoundFileError as error:
        raise UnusableAudio(UNREADABLE, where=name, found=_said(error), expected="WAV or FLAC") from error
    _check(wave, tolerate)
    return wave if rate is None else at_rate(wave, rate)


def from_samples(samples: Any, rate: int, *, source: str = "samples", tolerate: Collection[str] = ()) -> Wave:
    """Samples in memory as a wave, after the same checks."""
    values = np.array(samples, dtype=np.float64)
    if values.ndim != 1:
        raise UsageError("samples of one channel are wanted", where=source, found=f"an array of shape {values.shape}")
    if rate <= 0:
        raise UsageError("a sample rate is above 0", where=source, found=str(rate))
    share = float(np.mean(np.abs(values) >= FULL_SCALE)) if values.size else 0.0
    wave = Wave(_frozen(values), rate, rate, 1, "samples", share, source=source)
    _check(wave, tolerate)
    return wave


def at_rate(wave: Wave, rate: int, how: str = SOXR) -> Wave:
    """The wave at another rate, by soxr or by the discrete Fourier transform of the whole signal."""
    if rate == wave.rate:
        return wave
    if rate <= 0:
        raise UsageError("a sample rate is above 0", found=str(rate))
    if how == FFT:
        samples = fourier_resample(wave.samples, int(len(wave.samples) * rate / wave.rate))
    else:
        samples = extra("soxr").resample(wave.samples.astype(np.float64), wave.rate, rate, quality="HQ")
    if not samples.size:
        raise UnusableAudio(EMPTY, where=wave.source, found=f"{len(wave.samples)} samples at {wave.rate} Hz")
    step = f"resampled from {wave.rate} to {rate} Hz ({how})"
    return replace(wave, samples=_frozen(samples), rate=rate, steps=(*wave.steps, step))


def fourier_resample(samples: Samples, count: int) -> Samples:
    """So many samples for the same duration, by cutting or padding the spectrum of the whole signal.

    The bin at the smaller Nyquist frequency stands for two, +f and -f: it is doubled when the spectrum is cut and
    halved when it is padded. That is what `scipy.signal.resample` does without a window; here always in
    double precision.
    """
    if count == 0:
        return samples[:0]
    before = len(samples)
    smaller = min(count, before)
    spectrum = np.fft.rfft(samples.astype(np.float64))[: smaller // 2 + 1]
    if smaller % 2 == 0 and count != before:
        spectrum[-1] *= 2 if count < before else 0.5
    resampled: Samples = np.fft.irfft(spectrum, count) * (count / before)
    return resampled


# One file


def _check_file(file: Path) -> None:
    try:
        if not file.is_file():
            found = "a folder" if file.is_dir() else "nothing there"
            raise UnusableAudio(MISSING, where=str(file), found=found, remedy="check the path")
        with file.open("rb") as stream:
            size = file.stat().st_size
            missing = _missing_bytes(stream, size)
    except OSError as error:
        raise UnusableAudio(UNREADABLE, where=str(file), found=error.strerror or str(error)) from error
    _check_size(str(file), size, missing)


def _check_size(name: str, size: int, missing: int) -> None:
    if size == 0:
        raise UnusableAudio(EMPTY, where=name, found="a file of 0 bytes")
    if missing:
        found = f"the header promises {missing} bytes of samples more than there are"
        raise UnusableAudio(TRUNCATED, where=name, found=found, remedy="copy or record the file again")


def _fetched(url: str) -> BytesIO:
    """A file that lies elsewhere, after the same checks."""
    try:
        content = read_url(url)
    except FileNotFoundError as error:
        raise UnusableAudio(MISSING, where=url, found="nothing there", remedy="check the URL") from error
    except OSError as error:
        raise UnusableAudio(UNREADABLE, where=url, found=str(error) or type(error).__name__) from error
    _check_size(url, len(content), _missing_bytes(BytesIO(content), len(content)))
    return BytesIO(content)


def _missing_bytes(stream: BinaryIO, size: int) -> int:
    """Bytes of samples that the header of a WAV file promises and the file does not have.

    libsndfile reads what is there and says nothing.
    """
    head = stream.read(12)
    if head[:4] not in (b"RIFF", b"RIFX", b"RF64") or head[8:] != b"WAVE":
        return 0
    order = ">" if head[:4] == b"RIFX" else "<"
    long_size: int | None = None
    while len(chunk := stream.read(8)) == 8:
        name, length = struct.unpack(f"{order}4sI", chunk)
        if name == b"ds64":
            sizes = stream.read(16)
            long_size = struct.unpack("<QQ", sizes)[1] if len(sizes) == 16 else None
            stream.seek(length - len(sizes), os.SEEK_CUR)
        elif name == b"data":
            if length >= _STREAMED:
                length = long_size if head[:4] == b"RF64" and long_size else 0
            return max(0, int(length) - (size - stream.tell()))
        else:
            stream.seek(length + length % 2, os.SEEK_CUR)
    return 0


def _decode(soundfile: Any, file: Path | BytesIO, name: str, channel: int | None) -> Wave:
    """Samples block by block, mixed down; what is wrong with single samples is found on the way."""
    blocks: list[Samples] = []
    done = clipped = 0
    with soundfile.SoundFile(file) as stream:
        channels, promised = int(stream.channels), int(stream.frames)
        precision = "float32" if stream.subtype == "FLOAT" and (channels == 1 or channel is not None) else "float64"
        if channel is not None and not 0 <= channel < channels:
            raise UsageError(f"no channel {channel}", where=name, found=f"{channels} channels, counted from 0")
        while True:
            try:
                block = stream.read(_BLOCK, dtype=precision, always_2d=True)
            except soundfile.SoundFileError as error:
                if stream.format == "FLAC":
                    found = f"{_said(error)} after {done} of {promised} samples"
                    raise UnusableAudio(TRUNCATED, where=name, found=found) from error
                raise
            if not len(block):
                break
            chosen = block if channel is None else block[:, [channel]]
            clipped += int(np.count_nonzero(np.abs(chosen) >= FULL_SCALE))
            blocks.append(chosen[:, 0] if chosen.shape[1] == 1 else chosen.mean(axis=1))
            done += len(block)
        if stream.format == "FLAC" and done < promised < 1 << 62:
            raise UnusableAudio(TRUNCATED, where=name, found=f"{done} of {promised} samples")
        encoding, rate = f"{stream.format} {stream.subtype}", int(stream.samplerate)
    steps: tuple[str, ...] = ()
    mixed = 1
    if channels > 1 and channel is None:
        steps, mixed = (f"mixed down from {channels} channels",), channels
    elif channels > 1:
        steps = (f"channel {channel} of {channels}",)
    samples = blocks[0] if len(blocks) == 1 else np.concatenate(blocks) if blocks else np.empty(0)
    share = clipped / (done * mixed) if done else 0.0
    return Wave(_frozen(samples), rate, rate, channels, encoding, share, steps, name)


def _check(wave: Wave, tolerate: Collection[str]) -> None:
    samples = wave.samples

    def complain(reason: str, found: str) -> None:
        if reason not in tolerate:
            raise UnusableAudio(reason, where=wave.source, found="; ".join([found, *wave.steps]))

    if not samples.size:
        # Nothing can be done with no samples or with samples that are no numbers: these two are never let pass.
        raise UnusableAudio(EMPTY, where=wave.source, found="0 samples")
    low, high = float(samples.min()), float(samples.max())
    if not np.isfinite(high - low):
        first = int(np.argmin(np.isfinite(samples)))
        raise UnusableAudio(NOT_FINITE, where=wave.source, found=f"{samples[first]} at sample {first}")
    if (high - low) / 2 < SILENT_PEAK:
        complain(SILENT, f"samples from {low:.2g} to {high:.2g}")
    if wave.clipped_share > CLIPPED_MOST:
        peak = max(-low, high)
        complain(CLIPPED, f"{wave.clipped_share:.1%} of the samples at or beyond full scale, peak {peak:.3g}")


def _frozen(samples: Samples) -> Samples:
    samples.flags.writeable = False
    return samples


def _said(error: Exception) -> str:
    return shorten(str(getattr(error, "error_string", error)))
