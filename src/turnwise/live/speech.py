"""The audio of a turn as it is sent: PCM of 16 bits, one channel, at the rate of the transport.

Recordings are read; what a turn says without a recording is synthesised by a command of the user's choice, run without
a shell, and kept by the hash of command, text and language. Which words are spoken is the scenario's business.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turnwise.audio.wave import CLIPPED, SILENT, UnusableAudio, Wave, at_rate, read_wave
from turnwise.kernel.errors import TurnwiseError, UsageError, shorten
from turnwise.live.say_command import COMMAND_VARIABLE, INSTALL, SayCommand
from turnwise.live.scenario import HANGUP, SAY, SILENCE, Scenario, Turn

Pcm = NDArray[np.int16]

CACHE_VARIABLE = "TURNWISE_CACHE"
TIMEOUT_S = 60.0

_SAID_MOST = 2000  # bytes of what a command printed that an error shows


def scenario_audio(
    scenario: Scenario, rate: int, say_command: SayCommand | None = None, *, cache: Path | None = None
) -> dict[str, Pcm]:
    """The audio of every turn, by its id."""
    return {turn.id: turn_audio(turn, rate, say_command, cache=cache) for turn in scenario.turns}


def turn_audio(
    turn: Turn,
    rate: int,
    say_command: SayCommand | None = None,
    *,
    cache: Path | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Pcm:
    """What a turn sends, read only: the recording, the synthesised text, zeros for silence, nothing for a hang-up.

    Args:
        turn: of a scenario.
        rate: Hz; recordings are mixed to one channel and resampled.
        say_command: what synthesises (`configured_say_command`).
        cache: where synthesised speech is kept; by default in the user's cache folder.
        timeout_s: how long the command may take.

    Raises:
        UnusableAudio: a recording that cannot be read.
        UsageError: no command is configured, or it needs a language that is not known.
        TurnwiseError: the command failed, or wrote no speech.
    """
    if turn.type == HANGUP:
        return _pcm(np.zeros(0))
    if turn.type == SILENCE:
        return _pcm(np.zeros(round((turn.duration_ms or 0) * rate / 1000)))
    if turn.type == SAY:
        return pcm16(said(turn, say_command, cache=cache, timeout_s=timeout_s), rate)
    if turn.audio_file is None:
        raise UsageError(f"turn {turn.id} has no recording", expected="audio_file")
    return _recording(turn.audio_file, rate)


def duration_ms(samples: Pcm, rate: int) -> int:
    """How long audio is; a part of a millisecond counts as a whole one."""
    return math.ceil(len(samples) * 1000 / rate)


def wave_ms(wave: Wave) -> int:
    """The same for a wave."""
    return math.ceil(len(wave.samples) * 1000 / wave.rate)


def pcm16(wave: Wave, rate: int) -> Pcm:
    """A wave as PCM of 16 bits at a rate; what was PCM of 16 bits at that rate comes out as it was."""
    return _pcm(at_rate(wave, rate).samples)


def _pcm(samples: NDArray[np.floating[Any]]) -> Pcm:
    found: Pcm = np.clip(np.rint(samples * 32768.0), -32768, 32767).astype(np.int16)
    found.flags.writeable = False
    return found


# Recordings


def _recording(file: Path, rate: int) -> Pcm:
    try:
        stat = file.stat()
        version = (stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError):
        version = (0, 0)  # reading it says what is wrong
    return _decoded(file, version, rate)


@lru_cache(maxsize=32)
def _decoded(file: Path, version: tuple[int, int], rate: int) -> Pcm:
    """Many runs of a scenario share its audio. A quiet or an overdriven recording is played as it is."""
    return pcm16(read_wave(file, rate=None, tolerate=(SILENT, CLIPPED)), rate)


# Synthesis


def default_cache() -> Path:
    """`TURNWISE_CACHE`, or the user's cache folder."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given).expanduser() / "speech"
    from platformdirs import user_cache_path

    return user_cache_path("turnwise", appauthor=False) / "speech"


def said(
    turn: Turn, say_command: SayCommand | None, *, cache: Path | None = None, timeout_s: float = TIMEOUT_S
) -> Wave:
    """The text of a turn as speech, from the cache if it has been said before."""
    known = kept(turn, say_command, cache=cache)
    if known is not None:
        return known
    command = _usable(turn, say_command)
    with tempfile.TemporaryDirectory(prefix="turnwise-say-") as folder:
        out = Path(folder) / "speech.wav"
        _run(turn, command, out, timeout_s)
        try:
            wave = _speech(out)
        except UnusableAudio as error:
            what = f"the command that says turn {turn.id} wrote no speech: {error.reason}"
            raise TurnwiseError(what, where=command.name, found=error.found, expected="a WAV file at {out}") from error
        _keep(out, _kept_file(turn, command, cache))
    return wave


def kept(turn: Turn, say_command: SayCommand | None, *, cache: Path | None = None) -> Wave | None:
    """The same if it has been said before; nothing is run."""
    command = _usable(turn, say_command)
    with suppress(UnusableAudio):  # not there, or not whole: it is said again
        return _speech(_kept_file(turn, command, cache))
    return None


def _usable(turn: Turn, say_command: SayCommand | None) -> SayCommand:
    if say_command is None:
        what = f"nothing is configured to say what turn {turn.id} says"
        expected = f"--say-command, {COMMAND_VARIABLE} or say_command in the scenario"
        raise UsageError(what, found=f"text {shorten(turn.text)}", expected=expected, remedy=INSTALL)
    if say_command.needs_language and not turn.language:
        what = f"{say_command.origin} needs the language of turn {turn.id}, which is not known"
        raise UsageError(what, expected=f"source_language of participant {turn.participant}")
    return say_command


def _speech(file: Path) -> Wave:
    return read_wave(file, rate=None, tolerate=(CLIPPED,))


def _kept_file(turn: Turn, command: SayCommand, cache: Path | None) -> Path:
    """By the hash of command, text and language; and of the state of files that the command names, such as a script."""
    folder = command.folder or Path()
    files = []
    for word in command.words:
        with suppress(OSError, ValueError):
            stat = (folder / word).stat()
            files.append([word, stat.st_mtime_ns, stat.st_size])
    known = [list(command.words), turn.text, turn.language, files]
    return (cache or default_cache()) / f"{hashlib.sha256(json.dumps(known).encode()).hexdigest()}.wav"


def _keep(out: Path, kept: Path) -> None:
    """Appears complete or not at all; a folder that cannot be written costs time and nothing else."""
    begun = kept.with_name(f".{kept.stem}-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(out, begun)
        begun.replace(kept)
    except OSError:
        with suppress(OSError):
            begun.unlink()


def _run(turn: Turn, command: SayCommand, out: Path, timeout_s: float) -> None:
    words = command.filled(turn.text or "", turn.language or "", out)
    given = (turn.text or "").encode() if command.reads_input else b""

    def failed(what: str, found: str | None = None, remedy: str | None = None) -> TurnwiseError:
        what = f"the command that says turn {turn.id} {what}"
        return TurnwiseError(what, where=command.name, found=found, remedy=remedy)

    with tempfile.TemporaryFile() as printed:
        try:
            # A session of its own: when it takes too long, what it started is ended with it.
            process = subprocess.Popen(  # noqa: S603  (no shell; the command is the user's)
                words,
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd=command.folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            found = getattr(error, "strerror", None) or str(error)
            raise failed("cannot be started", f"{words[0]}: {found}", INSTALL) from error
        try:
            process.communicate(given, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise failed(f"did not end within {timeout_s:g} s", _tail(printed)) from error
        finally:
            _end(process)
        if process.returncode:
            raise failed(f"ended with exit code {process.returncode}", _tail(printed))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of it, whether it took too long or somebody pressed Ctrl-C."""
    if process.poll() is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


def _tail(printed: Any) -> str:
    size = printed.seek(0, os.SEEK_END)
    printed.seek(max(0, size - _SAID_MOST))
    text = " ".join(printed.read().decode("utf-8", "replace").split())
    return text or "it printed nothing"
