"""Data in every layout the room reads, written in a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import soundfile

PREDICTED = ("segment_id", "user_id", "src_text", "predicted_tgt_text", "ground_truth_tgt_text", "iso_code")
MAPPED = ("segment_id", "user_id", "src_text", "tgt_text", "tgt_audio", "iso_code")
RATE = 16000


def lines(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def table(path: Path, columns: Sequence[str], *rows: Sequence[str], separator: str = "|") -> Path:
    return lines(path, *(separator.join(row) for row in [columns, *rows]))


def predictions(
    folder: Path, *rows: tuple[str, str, str, str, str], iso: str = "xho", model: str = "m", truth: bool = True
) -> Path:
    """The document's two tables: (segment, user, source, predicted, ground truth) per row."""
    table(folder / f"nmt_predictions_{model}.csv", PREDICTED, *((*row, iso) for row in rows))
    if truth:
        mapped = ((s, u, source, target, "", iso) for s, u, source, _, target in rows)
        table(folder / "mapped_metadata_test.csv", MAPPED, *mapped)
    return folder


def tone(path: Path, seed: int = 0, seconds: float = 0.5, rate: int = RATE, channels: int = 1, **options: str) -> Path:
    """A recording with a spectrum of its own: a few gliding partials."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    partials = [np.sin(2 * np.pi * (f * time + g * time**2)) for f, g in draw.uniform((100, -200), (3500, 400), (6, 2))]
    samples = 0.08 * np.sum(partials, axis=0)
    soundfile.write(path, np.column_stack([samples] * channels) if channels > 1 else samples, rate, **options)
    return path


def speech(folder: Path, keys: Sequence[tuple[str, str]], iso: str = "xho", tts: str = "t") -> None:
    """The document's three audio folders for some samples; the prediction is close to the reference."""
    for number, (segment, user) in enumerate(keys):
        name = f"Segment={segment}_User={user}_Language="
        tone(folder / "src_audio" / f"{name}en_src.wav", 100 + number)
        tone(folder / "processed_audio_normalized" / f"{name}{iso}.wav", number)
        tone(folder / f"predicted_tgt_audio_{tts}" / f"{name}{iso}_pred.wav", number, seconds=0.55)


def ground_truth(folder: Path, name: str, texts: Mapping[str, str], metadata: str | None, audio: bool = True) -> Path:
    """One sample of reference data."""
    sample = folder / name
    sample.mkdir(parents=True)
    for file, text in texts.items():
        (sample / f"{file}.txt").write_text(text, "utf-8")
    if metadata is not None:
        (sample / "metadata.json").write_text(metadata, "utf-8")
    if audio:
        tone(sample / "source_audio.wav", 1)
        tone(sample / "target_audio.wav", 2)
    return sample
