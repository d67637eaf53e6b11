"""Conversations in every layout the room reads, written in a few words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

RATE = 8000
Span = tuple[float, float]
Interval = tuple[float, float, str]


def text(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode(encoding))
    return path


def values(path: Path, content: Any) -> Path:
    return text(path, json.dumps(content))


def lines(path: Path, *rows: Any) -> Path:
    """JSON lines."""
    return text(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def audio(path: Path, *channels: Sequence[Span], seconds: float = 2.0) -> Path:
    """A recording with one channel for each list of stretches in which there is sound; by default one, all sound."""
    path.parent.mkdir(parents=True, exist_ok=True)
    time = np.arange(round(seconds * RATE)) / RATE
    tone = 0.3 * np.sin(2 * np.pi * 440 * time)
    spans = channels or [[(0.0, seconds)]]
    heard = [tone * np.any([(s <= time) & (time < e) for s, e in one] or [time < 0], axis=0) for one in spans]
    soundfile.write(path, np.column_stack(heard), RATE)
    return path


# tau-voice


def tick(user: Any = False, agent: Any = False, **more: Any) -> dict[str, Any]:
    """A tick; `more` goes to the user's chunk."""
    return {
        "user_chunk": {"contains_speech": user, **more},
        "agent_chunk": {"contains_speech": agent},
    }


def insert(kind: str, words: str = "hm") -> dict[str, Any]:
    return {"speech_insert": {"type": kind, "text": words}}


def simulation(path: Path, ticks: Iterable[Mapping[str, Any]], **about: Any) -> Path:
    numbered = [{"tick_id": n, **one} for n, one in enumerate(ticks)]
    return values(path, {"id": path.stem, "task_id": "7", "trial": 1, "ticks": numbered, **about})


# EVA


def start(side: str, when: float) -> dict[str, Any]:
    return {"timestamp": int(when * 1000), "event_type": "audio_start", "user": side, "audio_timestamp": when}


def end(side: str, when: float) -> dict[str, Any]:
    return {**start(side, when), "event_type": "audio_end"}


# TextGrids


def long_grid(tiers: Mapping[str, Sequence[Interval]], seconds: float = 10.0) -> str:
    """Praat's text file."""
    head = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
    parts = [head, f"xmin = 0 \nxmax = {seconds} \ntiers? <exists> \nsize = {len(tiers)} \nitem []: \n"]
    for number, (name, intervals) in enumerate(tiers.items(), 1):
        parts.append(f'    item [{number}]:\n        class = "IntervalTier" \n        name = "{name}" \n')
        parts.append(f"        xmin = 0 \n        xmax = {seconds} \n        intervals: size = {len(intervals)} \n")
        for place, (begin, finish, words) in enumerate(intervals, 1):
            quoted = words.replace('"', '""')
            parts.append(f"        intervals [{place}]:\n            xmin = {begin} \n            xmax = {finish} \n")
            parts.append(f'            text = "{quoted}" \n')
    return "".join(parts)


def short_grid(tiers: Mapping[str, Sequence[Interval]], seconds: float = 10.0) -> str:
    """Praat's short text file."""
    rows = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "0", f"{seconds}", "<exists>", f"{len(tiers)}"]
    for name, intervals in tiers.items():
        rows += ['"IntervalTier"', f'"{name}"', "0", f"{seconds}", f"{len(intervals)}"]
        for begin, finish, words in intervals:
            quoted = words.replace('"', '""')
            rows += [f"{begin}", f"{finish}", f'"{quoted}"']
    return "\n".join(rows) + "\n"
