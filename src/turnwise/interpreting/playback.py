"""When the audio of a capture is heard, worked out from its events where the capture does not say.

A capture needs no more than arrival and duration of each piece of audio, and the messages that stop it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turnwise.audio.playout import Chunk, Playout
from turnwise.interpreting.records import AUDIO

Json = Mapping[str, Any]
_STOPS = frozenset(
    {
        "stop_audio",
        "stopaudio",
        "stop",
        "clear",
        "truncate",
        "conversation.item.truncated",
        "output_audio_buffer.cleared",
        "speech_started",
        "input_audio_buffer.speech_started",
    }
)
"""Types of events, and of the messages behind them, that throw away what has not been heard yet."""
ALL = ""


def name_of(value: object) -> str | None:
    """A text or a number as a name; None where it is neither, or empty."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def stops(event: Json) -> bool:
    """Whether an event cuts what is still to be heard."""
    kind = str(event.get("type", "")).lower()
    if kind in _STOPS:
        return True
    raw = event.get("raw")
    if kind != "control" or not isinstance(raw, Mapping):
        return False
    return any(str(raw.get(key, "")).lower() in _STOPS for key in ("kind", "type", "event", "Kind"))


def heard(events: Sequence[Json], ended: float | None) -> dict[int, tuple[float, float]]:
    """From when to when each piece of audio is heard, by its place in the events (which are in order of arrival)."""
    playouts: dict[str, Playout] = {}
    chunks: dict[int, Chunk] = {}
    for place, event in enumerate(events):
        arrived = event["t_arrived_ms"]
        listener = name_of(event.get("participant_id")) or ALL
        if event["type"] == AUDIO:
            duration = float((event.get("audio") or {}).get("duration_ms") or 0.0)
            playout = playouts.setdefault(listener, Playout())
            chunks[place] = playout.add(place, arrived, duration, event.get("response_id"))
        elif stops(event):
            keep = _kept_ms(event)
            for playout in _concerned(playouts, listener):
                if keep is None:
                    playout.stop(arrived)
                else:
                    playout.keep(event.get("response_id"), keep, arrived)
    for playout in playouts.values() if ended is not None else ():
        playout.stop(ended or 0.0)
    return {place: (chunk.start, chunk.start + chunk.heard) for place, chunk in chunks.items()}


def _concerned(playouts: Mapping[str, Playout], listener: str) -> list[Playout]:
    """Whom a stop message silences: everybody, if it names nobody; audio for nobody in particular, too."""
    if listener == ALL:
        return list(playouts.values())
    return [playouts[name] for name in (listener, ALL) if name in playouts]


def _kept_ms(event: Json) -> float | None:
    """How much of a response a truncation leaves."""
    raw = event.get("raw")
    kept = raw.get("audio_end_ms") if isinstance(raw, Mapping) else None
    return float(kept) if isinstance(kept, int | float) and event.get("response_id") else None
