"""Makes the files of this folder from `texts.yaml`: tables, lines, and speech by eSpeak NG.

Running it again gives the same bytes: each utterance is spoken in a process of its own with a fixed seed, because
eSpeak NG carries state from one utterance to the next. eSpeak NG is not part of turnwise; it is under the GPL and
used by this script only:

    pip install "turnwise[audio]" espeakng-loader==0.2.4
    python make_examples.py
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import multiprocessing
import re
import sys
import wave
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from turnwise.audio.wave import at_rate, from_samples

HERE = Path(__file__).parent
RATE = 16000
ISO = {"swahili": "swh", "xhosa": "xho"}
NMT_MODELS = ("nmt_v1", "nmt_v2")
SPOKEN = {"swahili": {"tts_v1": "nmt_v1", "tts_v2": "nmt_v2"}, "xhosa": {"tts_v1": "nmt_v1"}}
"""Whose texts each speech model speaks."""
PREDICTIONS = ("segment_id", "user_id", "src_text", "predicted_tgt_text", "ground_truth_tgt_text", "iso_code")
MAPPED = ("segment_id", "user_id", "src_text", "tgt_text", "tgt_audio", "iso_code")

BEFORE_S, AFTER_S = 0.12, 0.2
"""Silence around the speech."""
CUT_OFF_S = 0.6
"""How much is left of the speech that is cut off."""
ROOM_NOISE_DBFS = -66.0
"""Recordings have a little noise; the speech of a system has none."""
QUIET = 0.01
"""Samples below this share of the peak count as the silence that eSpeak NG puts around speech."""

LANGUAGE_TAG = re.compile(r"^(>>\w+<<|__\w+__)\s*")
RESPELLED = {"gq": "g", "rh": "kh", "kh": "k", "th": "t", "ph": "p", "bh": "b", "ty": "ch"} | dict.fromkeys("cqx", "k")
"""How a Swahili voice is made to read Xhosa: no lisped `th`, and a stop for each click, which it does not have."""


@dataclass(frozen=True, slots=True)
class Voice:
    """A way of speaking; `variant` is one of eSpeak NG's, `words_per_minute` and `pitch` are its parameters."""

    variant: str
    words_per_minute: int
    pitch: int
    peak: float
    recorded: bool = False


SPEAKERS = {11: Voice("m3", 236, 50, 0.7, recorded=True), 12: Voice("f5", 242, 50, 0.7, recorded=True)}
SYSTEMS = {
    ("tts_v1", 11): Voice("m7", 240, 30, 0.5),
    ("tts_v1", 12): Voice("m7", 240, 30, 0.5),  # one voice for everybody
    ("tts_v2", 11): Voice("m1", 244, 44, 0.6),
    ("tts_v2", 12): Voice("f2", 234, 56, 0.6),  # close to the speaker
}
ENGLISH_WPM_LESS = 90
"""English is spoken more slowly, so that a recogniser understands it and all files last about as long."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One file of speech."""

    file: Path
    text: str
    language: str
    voice: Voice
    fault: str | None = None


# Speech


def speak(utterance: Utterance, root: Path) -> None:
    """Write the file of one utterance below `root`. To be called once in a process."""
    samples = _at_16_khz(*_synthesise(utterance), utterance.voice.peak)
    if utterance.voice.recorded:
        noise = np.random.default_rng(zlib.crc32(utterance.file.as_posix().encode()))
        samples = samples + noise.normal(0.0, 10 ** (ROOM_NOISE_DBFS / 20), len(samples))
    if utterance.fault == "silent":
        samples = np.zeros_like(samples)
    elif utterance.fault == "cut off":
        samples = samples[: round(CUT_OFF_S * RATE)]
    path = root / utterance.file
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(samples * 32767).astype("<i2").tobytes())


def _synthesise(utterance: Utterance) -> tuple[np.ndarray, int]:
    """Samples of eSpeak NG and their rate."""
    import espeakng_loader

    library = ctypes.CDLL(espeakng_loader.get_library_path())
    synchronous, utf8, rate_parameter, pitch_parameter = 2, 1, 1, 3  # from speak_lib.h
    rate = library.espeak_Initialize(synchronous, 0, espeakng_loader.get_data_path().encode(), 0)
    if rate <= 0:
        raise RuntimeError(f"eSpeak NG does not start: {rate}")
    library.espeak_ng_SetRandSeed(ctypes.c_long(1))
    spoken: list[bytes] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    def collect(samples: int | None, count: int, _events: int | None) -> int:
        if samples and count > 0:
            spoken.append(ctypes.string_at(samples, 2 * count))
        return 0

    library.espeak_SetSynthCallback(collect)
    english = utterance.language == "english"
    voice = f"{'en' if english else 'sw'}+{utterance.voice.variant}"
    if library.espeak_SetVoiceByName(voice.encode()) != 0:
        raise RuntimeError(f"eSpeak NG has no voice {voice}")
    words_per_minute = utterance.voice.words_per_minute - (ENGLISH_WPM_LESS if english else 0)
    library.espeak_SetParameter(rate_parameter, words_per_minute, 0)
    library.espeak_SetParameter(pitch_parameter, utterance.voice.pitch, 0)
    text = _as_spoken(utterance).encode() + b"\0"
    if library.espeak_Synth(text, ctypes.c_size_t(len(text)), 0, 1, 0, utf8, None, None) != 0:
        raise RuntimeError(f"eSpeak NG does not speak {utterance.text!r}")
    return np.frombuffer(b"".join(spoken), dtype="<i2") / 32768, rate


def _as_spoken(utterance: Utterance) -> str:
    text = LANGUAGE_TAG.sub("", utterance.text)
    if utterance.language == "xhosa":
        pattern = "|".join(RESPELLED)  # the longer ones stand first
        text = re.sub(pattern, lambda found: RESPELLED[found[0]], text.lower())
    return text


def _at_16_khz(samples: np.ndarray, rate: int, peak: float) -> np.ndarray:
    """Trimmed, resampled, with the same silence around all speech, and with this peak."""
    loud = np.flatnonzero(np.abs(samples) > QUIET * np.abs(samples).max())
    speech = at_rate(from_samples(samples[loud[0] : loud[-1] + 1], rate), RATE).samples
    speech = speech * (peak / np.abs(speech).max())
    return np.pad(speech, (round(BEFORE_S * RATE), round(AFTER_S * RATE)))


# What there is to speak and to write


def rows(texts: dict[str, Any]) -> list[tuple[dict[str, Any], int]]:
    """Segment and user: first all of one user, then all of the other."""
    return [(segment, user) for user in SPEAKERS for segment in texts["segments"] if user in segment["users"]]


def audio_name(segment: int, user: int, language: str, ending: str = "") -> str:
    """The name of an audio file in the document's layout."""
    return f"Segment={segment}_User={user}_Language={language}{ending}.wav"


def utterances(texts: dict[str, Any]) -> Iterator[Utterance]:
    """All speech."""
    faults = {(item["language"], item["segment"], item["user"]): item["fault"] for item in texts["tts_v1_faults"]}
    for language, iso in ISO.items():
        folder = Path("languages", language)
        for segment, user in rows(texts):
            number, speaker = segment["id"], SPEAKERS[user]
            source = folder / "src_audio" / audio_name(number, user, "en", "_src")
            reference = folder / "processed_audio_normalized" / audio_name(number, user, iso)
            yield Utterance(source, segment["source"], "english", speaker)
            yield Utterance(reference, segment[language]["reference"], language, speaker)
            for tts, nmt in SPOKEN[language].items():
                predicted = folder / f"predicted_tgt_audio_{tts}" / audio_name(number, user, iso, "_pred")
                fault = faults.get((language, number, user)) if tts == "tts_v1" else None
                if text := segment[language][nmt]:
                    yield Utterance(predicted, text, language, SYSTEMS[tts, user], fault)
    for sample in texts["ground_truth"]:
        folder = Path("ground_truth", "audio_to_audio", sample["id"])
        from_english = "eng" in (sample["metadata"].get("source_language"), sample["metadata"].get("source_lang"))
        languages = ("english", "swahili") if from_english else ("swahili", "english")
        yield Utterance(folder / "source_audio.wav", sample["source"], languages[0], SPEAKERS[12])
        yield Utterance(folder / "target_audio.wav", sample["target"], languages[1], SPEAKERS[11])


def write_tables(texts: dict[str, Any], root: Path) -> None:
    """The tables of each language, and all rows of the first system in one file of JSON lines."""
    lines = []
    for language, iso in ISO.items():
        folder = root / "languages" / language
        mapped = []
        for segment, user in rows(texts):
            start, text = (segment["id"], user, segment["source"]), segment[language]
            audio = f"processed_audio_normalized/{audio_name(segment['id'], user, iso)}"
            mapped.append((*start, text["reference"], audio, iso))
            line = {"id": f"{iso}-{segment['id']}-{user}", "source": segment["source"], "hypothesis": text["nmt_v1"]}
            line |= {"reference": text["reference"], "language": language, "domain": segment["domain"]}
            lines.append(json.dumps(line, ensure_ascii=False))
        _write_table(folder / "mapped_metadata_test.csv", MAPPED, mapped)
        for model in NMT_MODELS:
            predicted = [
                (segment["id"], user, segment["source"], segment[language][model], segment[language]["reference"], iso)
                for segment, user in rows(texts)
            ]
            _write_table(folder / f"nmt_predictions_{model}.csv", PREDICTIONS, predicted)
    _write_lines(root / "data.jsonl", lines)


def write_texts(texts: dict[str, Any], root: Path) -> None:
    """The Swahili texts as plain lines, and the texts of the reference data."""
    segments = [segment for segment, _ in rows(texts)]
    _write_lines(root / "lines" / "source.txt", [segment["source"] for segment in segments])
    _write_lines(root / "lines" / "reference.txt", [segment["swahili"]["reference"] for segment in segments])
    for model in NMT_MODELS:
        name = f"hypothesis_{model.removeprefix('nmt_')}.txt"
        _write_lines(root / "lines" / name, [segment["swahili"][model] for segment in segments])
    for sample in texts["ground_truth"]:
        folder = root / "ground_truth" / "audio_to_audio" / sample["id"]
        _write_lines(folder / "metadata.json", [json.dumps(sample["metadata"], indent=2)])
        for name in ("source", "target", "transcribed"):
            _write_lines(folder / f"{name}.txt", [sample[name]])


def _write_table(path: Path, header: Sequence[str], content: Sequence[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="|", lineterminator="\n").writerows([header, *content])


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def main() -> None:
    """Make all files, here or in another folder."""
    parser = argparse.ArgumentParser(description="Makes the example of a translation system, with synthetic speech.")
    parser.add_argument("--into", type=Path, default=HERE, help="folder to write to; the script's own unless told")
    root = parser.parse_args().into
    try:
        import espeakng_loader  # noqa: F401
    except ImportError:
        sys.exit("The speech needs eSpeak NG, which is not installed. Remedy: pip install espeakng-loader==0.2.4")
    texts = yaml.safe_load((HERE / "texts.yaml").read_text(encoding="utf-8"))
    write_tables(texts, root)
    write_texts(texts, root)
    speech = list(utterances(texts))
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=fresh, max_tasks_per_child=1) as pool:
        list(pool.map(speak, speech, repeat(root)))
    print(f"{len(speech)} files of speech, with tables and texts, in {root}")


if __name__ == "__main__":
    main()
