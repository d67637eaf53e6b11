"""Makes `recordings/` from the scenarios of this folder: what their turns say, as synthetic speech.

Running it again gives the same bytes. The speech is by SVOX Pico (Apache-2.0), which is no part of turnwise and is used
by this script only. Its package is built on installation:

    pip install turnwise wheel setuptools
    pip install ttspico==0.3.2
    python make_examples.py
"""

from __future__ import annotations

import argparse
import re
import sys
import wave
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from turnwise.live.scenario import Turn, load_scenarios

HERE = Path(__file__).resolve().parent
Samples = npt.NDArray[np.float64]

VOICES = {
    ("patient", "en"): ("en-GB", 100),
    ("patient", "es"): ("es-ES", 110),
    ("patient", "de"): ("de-DE", 95),
    ("doctor", "en"): ("en-US", 95),
    ("passenger", "en"): ("en-GB", 110),
    ("passenger", "de"): ("de-DE", 115),
    ("clerk", "en"): ("en-GB", 85),
    ("clerk", "es"): ("es-ES", 85),
}
"""The voice of SVOX Pico, and its pitch in percent, of who speaks which language."""

RATE = 16000
PICO_VOLUME = 50
"""Of 100; louder speech of Pico clips."""
PEAK = 0.5
QUIET = 0.015
"""Frames whose effective value is below this share of the peak count as silence."""
FRAME = 320
"""Samples of 20 ms: drivers send so many at a time, and what is heard is decided by them."""
JOINED = 10
"""Frames of silence between the sentences of one turn."""
LONGEST = 12
"""Frames of silence inside a sentence; a longer pause would be taken for the end of what is said."""


def spoken(text: str, voice: str, pitch: int) -> Samples:
    """One sentence from its first sound to its last; with an engine of its own, because Pico carries state along."""
    import ttspico

    engine = ttspico.TtsEngine(voice)
    engine.volume, engine.pitch = PICO_VOLUME, pitch
    samples = np.frombuffer(engine.speak(text), dtype="<i2").astype(np.int64)
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    peak = int(np.abs(samples).max())
    return with_short_pauses(frames, peak).ravel() * (PEAK / peak)


def with_short_pauses(frames: npt.NDArray[np.int64], peak: int) -> npt.NDArray[np.int64]:
    """The frames from the first that can be heard to the last; the middle of long pauses is taken out."""
    loud = np.flatnonzero((frames**2).sum(axis=1) >= (QUIET * peak) ** 2 * FRAME)
    kept = np.zeros(len(frames), dtype=bool)
    kept[loud[0] : loud[-1] + 1] = True
    for before, after in pairwise(loud):
        if after - before - 1 > LONGEST:
            kept[before + 1 + LONGEST // 2 : after - LONGEST // 2] = False
    return frames[kept]


def uttered(turn: Turn) -> Samples:
    """All that a turn says."""
    assert turn.source_text is not None
    assert turn.language is not None
    voice, pitch = VOICES[turn.participant, turn.language]
    parts: list[Samples] = []
    for sentence in re.split(r"(?<=[.?!]) ", turn.source_text):
        parts += [np.zeros(JOINED * FRAME), spoken(sentence, voice, pitch)]
    return np.concatenate(parts[1:])


def write(path: Path, samples: Samples) -> None:
    """A recording of one channel."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(samples * 32767).astype("<i2").tobytes())


def main() -> None:
    """Make all recordings, here or in another folder."""
    parser = argparse.ArgumentParser(description="Makes the recordings of the scenarios, with synthetic speech.")
    parser.add_argument("--into", type=Path, default=HERE, help="folder to write to; the script's own unless told")
    root = parser.parse_args().into
    try:
        import ttspico  # noqa: F401
    except ImportError:
        sys.exit("The speech needs SVOX Pico, which is not installed. Remedy: pip install ttspico==0.3.2")
    scenarios = load_scenarios([HERE], need_audio=False)
    turns = [turn for scenario in scenarios for turn in scenario.turns if turn.audio_file is not None]
    for turn in turns:
        assert turn.audio_file is not None
        write(root / turn.audio_file.resolve().relative_to(HERE), uttered(turn))
    print(f"{len(turns)} recordings for {len(scenarios)} scenarios in {root}")


if __name__ == "__main__":
    main()
