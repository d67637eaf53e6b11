"""Bringing a folder of audio to one rate and one channel, in parallel, as 16-bit WAV files in the same tree.

What cannot be read is counted with its reason and does not stop the rest.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from turnwise.audio.wave import CLIPPED, SILENT, UnusableAudio, extra, read_wave
from turnwise.kernel.cores import cores
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError

SUFFIXES = (".wav", ".flac")
_FEW = 8  # files; below that, starting processes takes longer than the work


@dataclass(frozen=True, slots=True)
class Resampled:
    """What became of one file; paths are relative to their folders."""

    source: str
    target: str
    original_rate: int | None = None
    channels: int | None = None
    seconds: float | None = None
    upsampled: bool = False
    reason: str | None = None
    """Why nothing was written; None where something was."""
    found: str | None = None


@dataclass(frozen=True, slots=True)
class ResampledFolder:
    """What became of a folder."""

    folder: Path
    out: Path
    rate: int
    files: Sequence[Resampled]

    @property
    def written(self) -> list[Resampled]:
        """Files that were written."""
        return [file for file in self.files if file.reason is None]

    @property
    def skipped(self) -> list[Resampled]:
        """Files that could not be read."""
        return [file for file in self.files if file.reason is not None]

    @property
    def reasons(self) -> dict[str, int]:
        """How many files were skipped for each reason, the most frequent first."""
        return dict(Counter(file.reason for file in self.skipped if file.reason).most_common())


def resample_folder(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    rate: int = 16000,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ResampledFolder:
    """Write every WAV and FLAC file below `folder` to `out` as mono WAV of 16 bits at `rate`.

    Args:
        folder: where the audio is; folders inside it are kept.
        out: where it goes; by default `FOLDER-RATE` beside the folder. Never the folder itself.
        rate: Hz.
        workers: processes; one per core by default.
        overwrite: replace files that are there already.
        progress: called with the files done and their number.
    """
    extra("soundfile"), extra("soxr")  # missing packages are one error, not one per file
    source = Path(folder)
    target = Path(out) if out is not None else source.resolve().with_name(f"{source.resolve().name}-{rate}")
    if rate <= 0:
        raise UsageError("a sample rate is above 0", found=str(rate))
    pairs = _pairs(source, target, overwrite)
    done: list[Resampled] = []
    with _mapping(min(workers or cores(), len(pairs)), len(pairs)) as run:
        for result in run(partial(_resample_one, source, target, rate), pairs):
            done.append(result)
            if progress:
                progress(len(done), len(pairs))
    return ResampledFolder(source, target, rate, done)


def _pairs(folder: Path, out: Path, overwrite: bool) -> list[tuple[str, str]]:
    """Source and target of each file, relative to their folders; raises before anything is written."""
    if not folder.is_dir():
        raise InputError("no such folder", where=str(folder), remedy="check the path")
    if out.resolve() == folder.resolve():
        raise UsageError("the originals would be lost", where=str(out), remedy="name another folder with --out")
    own = out.resolve()
    found = [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in SUFFIXES and path.is_file() and own not in path.resolve().parents
    ]
    if not found:
        raise InputError("no audio files", where=str(folder), expected="files that end in .wav or .flac")
    targets: dict[Path, Path] = {}
    for path in found:
        wanted = path.with_suffix(".wav")
        if wanted in targets:
            names = f"{targets[wanted]} and {path}"
            raise InputError("two files would get the same name", where=str(folder), found=names, remedy="rename one")
        targets[wanted] = path
    there = [name for name in targets if (out / name).exists()]
    if there and not overwrite:
        raise UsageError(
            f"{len(there)} files are there already",
            where=str(out),
            found=", ".join(map(str, there[:3])) + (", ..." if len(there) > 3 else ""),
            remedy="--overwrite replaces them, --out names another folder",
        )
    return [(str(path), str(name)) for name, path in targets.items()]


_Run = Callable[[Callable[[tuple[str, str]], Resampled], Iterable[tuple[str, str]]], Iterator[Resampled]]


@contextmanager
def _mapping(workers: int, files: int) -> Iterator[_Run]:
    """`map` in this process or in a pool of them; results come in the order of the files."""
    if workers == 1 or files < _FEW:
        yield map
        return
    # Not "fork": a forked copy of a parent with threads may hang.
    context = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start)
    try:
        yield partial(pool.map, chunksize=max(1, min(16, files // (4 * workers))))
    except BrokenProcessPool as error:
        found = "it was killed, or ran out of memory"
        raise TurnwiseError("a worker process died", found=found, remedy="use fewer --workers") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business


def _resample_one(folder: Path, out: Path, rate: int, names: tuple[str, str]) -> Resampled:
    source, target = names
    try:
        # Silence and clipping are the business of whoever measures; they can be written as well as anything.
        wave = read_wave(folder / source, rate, tolerate=(SILENT, CLIPPED))
    except UnusableAudio as error:
        return Resampled(source, target, reason=error.reason, found=error.found)
    path = out / target
    path.parent.mkdir(parents=True, exist_ok=True)
    # A file that was begun is never taken for a whole one. The process is in its name: two may write at once.
    begun = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        extra("soundfile").write(begun, wave.samples, rate, subtype="PCM_16", format="WAV")
        begun.replace(path)
    finally:
        begun.unlink(missing_ok=True)
    return Resampled(source, target, wave.original_rate, wave.channels, wave.seconds, wave.upsampled)
