"""Makes `recordings/` and `recordings_v2/` from `conversations.yaml`: synthetic telephone calls and their true times.

Every sentence is spoken by SVOX Pico, brought to 8 kHz and trimmed: it begins and ends with the first and the last
sample that reaches `QUIET` of its peak. That is put where `conversations.yaml` says, and so its true times are known.
"""

from __future__ import annotations

import csv
import json
import re
import wave
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

HERE = Path(__file__).parent
FOLDERS = {"v1": "recordings", "v2": "recordings_v2"}
COLUMNS = ("key", "language", "domain", "scenario")
SIDES = ("user", "agent")
Samples = npt.NDArray[np.float64]

RATE = 8000
"""Of a telephone; Pico speaks at twice that."""
PASSED_HZ = 3700
"""What lies above is filtered out before every second sample is dropped."""
PEAK = 0.5
JOINED_S = 0.2
"""Between the sentences of one utterance."""
AFTER_S = 0.6
"""After the last word of either version."""
QUIET = 0.01
"""Samples below this share of the peak count as silence before and after the speech."""
FADE_S = 0.01
"""Speech that is cut off dies away in this time."""
NOISE_DBFS = -60.0
PICO_VOLUME = 50
"""Of 100; louder speech of Pico clips."""
LABEL_DIGITS = 2
"""An annotator is not more exact than this."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something said without a pause, and where it lies in the recording."""

    side: str
    start: int
    """In samples, as everything here."""
    samples: Samples
    text: str
    """What was meant to be said; it ends in three points where it was cut off."""
    kind: str | None = None

    @property
    def end(self) -> int:
        """Where its last sample has passed."""
        return self.start + len(self.samples)


# Speech


def spoken(text: str, voice: Mapping[str, Any]) -> Samples:
    """One sentence without the silence around it; with an engine of its own, because Pico carries state along."""
    import ttspico

    engine = ttspico.TtsEngine(voice["voice"])
    engine.volume, engine.pitch = PICO_VOLUME, voice["pitch"]
    samples = np.frombuffer(engine.speak(text), dtype="<i2").astype(np.int64)
    return trimmed(halved(samples))


def halved(samples: npt.NDArray[np.int64]) -> Samples:
    """At half the rate. The filter has whole numbers, so that no machine rounds otherwise."""
    at = np.arange(-63, 64)
    ideal = np.sinc(at * PASSED_HZ / RATE) * PASSED_HZ / RATE
    taps = np.round(ideal * np.blackman(len(at)) * 2**15).astype(np.int64)
    return np.convolve(samples, taps, mode="same")[::2] / 2**15


def trimmed(samples: Samples) -> Samples:
    """Without what is quiet before and after."""
    loud = np.flatnonzero(np.abs(samples) >= QUIET * np.abs(samples).max())
    return samples[loud[0] : loud[-1] + 1]


def uttered(sentences: Sequence[str], voice: Mapping[str, Any], peak: float) -> Samples:
    """Sentences after each other, all with the same peak."""
    gap = np.zeros(round(JOINED_S * RATE))
    parts: list[Samples] = []
    for sentence in sentences:
        samples = spoken(sentence, voice)
        parts += [samples * (peak / np.abs(samples).max()), gap]
    return np.concatenate(parts[:-1])


def cut_off(samples: Samples, length: int) -> Samples:
    """No more than so many samples. Where they end in a silence, the speech ends before it."""
    if len(samples) <= length:
        return samples
    fade = round(FADE_S * RATE)
    kept = samples[:length].copy()
    kept[-fade:] *= np.linspace(1.0, 0.0, fade)
    return trimmed(kept)


# Conversations


def moment(written: float | str, said: Mapping[str, Utterance]) -> int:
    """Seconds, or the start or end of something said plus seconds, as a sample: `question.end + 0.7`."""
    if isinstance(written, str):
        found = re.fullmatch(r"(\w+)\.(start|end)(?: \+ ([\d.]+))?", written)
        if found is None:
            raise ValueError(f"{written!r} is no moment")
        return int(getattr(said[found[1]], found[2])) + round(float(found[3] or 0) * RATE)
    return round(written * RATE)


def utterances(conversation: Mapping[str, Any], version: str, voices: Mapping[str, Any]) -> list[Utterance]:
    """All that is said with one version of the agent, the user first."""
    named: dict[str, Utterance] = {}
    found = []
    sides = [
        *(("user", one) for one in conversation["user"]),
        *(("agent", one) for one in conversation["agent"][version]),
    ]
    for side, one in sides:
        sentences = [one["say"]] if isinstance(one["say"], str) else one["say"]
        start = moment(one["from"], named)
        samples = uttered(sentences, voices[side], one.get("peak", PEAK))
        text = " ".join(sentences)
        if "until" in one:
            samples = cut_off(samples, moment(one["until"], named) - start)
            text = f"{text.rstrip('.')} ..."
        made = Utterance(side, start, samples, text, one.get("kind"))
        found.append(made)
        named[one.get("name", "")] = made
    return found


def labels(conversation: Mapping[str, Any], said: Sequence[Utterance]) -> list[tuple[float, float, str]]:
    """What an annotator writes: the kind of everything the user says, and the pauses inside a turn."""
    user = [one for one in said if one.side == "user"]
    named = {one["name"]: made for one, made in zip(conversation["user"], user, strict=True)}
    spans = [(one.start, one.end, str(one.kind)) for one in user]
    spans += [(moment(p["from"], named), moment(p["until"], named), "pause") for p in conversation.get("pauses", ())]
    return sorted(
        (round(start / RATE, LABEL_DIGITS), round(end / RATE, LABEL_DIGITS), kind) for start, end, kind in spans
    )


def channels(said: Iterable[Utterance], length: int, key: str) -> npt.NDArray[np.int16]:
    """Both sides beside each other, with a faint noise that is the same whenever the key is."""
    mixed = np.zeros((length, len(SIDES)))
    for place, side in enumerate(SIDES):
        noise = np.random.default_rng(zlib.crc32(f"{key} {side}".encode()))
        mixed[:, place] = noise.normal(0.0, 10 ** (NOISE_DBFS / 20), length)
    for one in said:
        mixed[one.start : one.end, SIDES.index(one.side)] += one.samples
    return np.round(mixed * 32767).astype("<i2")


def truth(conversation: Mapping[str, Any], said: Sequence[Utterance], length: int) -> dict[str, Any]:
    """The conversation as a line of turnwise's own format."""
    found: dict[str, Any] = {"key": conversation["key"]}
    for side in SIDES:
        found[side] = [
            {"start": one.start / RATE, "end": one.end / RATE, "text": one.text} for one in said if one.side == side
        ]
    found["labels"] = [{"start": a, "end": b, "label": kind} for a, b, kind in labels(conversation, said)]
    about = {name: conversation[name] for name in COLUMNS[1:]}
    return {**found, "seconds": length / RATE, **about}


# Files


def write_recording(folder: Path, conversation: Mapping[str, Any], said: Sequence[Utterance], length: int) -> None:
    """The sound, and the label file beside it."""
    key = conversation["key"]
    with wave.open(str(folder / f"{key}.wav"), "wb") as file:
        file.setnchannels(len(SIDES))
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(channels(said, length, key).tobytes())
    lines = [
        f"{start:.{LABEL_DIGITS}f}\t{end:.{LABEL_DIGITS}f}\t{kind}" for start, end, kind in labels(conversation, said)
    ]
    _write_lines(folder / f"{key}.txt", lines)


def make_recordings(root: Path) -> int:
    """All recordings of both versions with what lies beside them; says how many."""
    given = yaml.safe_load((HERE / "conversations.yaml").read_text(encoding="utf-8"))
    truths: dict[str, list[str]] = {version: [] for version in FOLDERS}
    for folder in FOLDERS.values():
        (root / folder).mkdir(parents=True, exist_ok=True)
    for conversation in given["conversations"]:
        voices = given["voices"][conversation["language"]]
        said = {version: utterances(conversation, version, voices) for version in FOLDERS}
        length = max(one.end for all_said in said.values() for one in all_said) + round(AFTER_S * RATE)
        for version, folder in FOLDERS.items():
            write_recording(root / folder, conversation, said[version], length)
            truths[version].append(json.dumps(truth(conversation, said[version], length), ensure_ascii=False))
    for version, folder in FOLDERS.items():
        _write_lines(root / folder / "truth.jsonl", truths[version])
        with (root / folder / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
            rows = [[conversation[name] for name in COLUMNS] for conversation in given["conversations"]]
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return len(FOLDERS) * len(given["conversations"])


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
