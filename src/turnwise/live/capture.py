"""A capture: what a system did in one run of a scenario, with every clock.

It is built from the messages themselves, live or read back from a wire log, by the same code: a capture that is built
again from its own log is equal to the first. Three clocks are kept apart: when something was sent, when it arrived,
and when it was heard.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turnwise.audio.playout import Chunk, Playout
from turnwise.kernel.filenames import free_name, plain_name
from turnwise.kernel.jsontext import dumps_clean
from turnwise.live.messages import AUDIO, INVALID, SPEECH_STARTED, STOP, Inbound
from turnwise.live.transports.base import Transport
from turnwise.live.wire import replace_audio, with_audio

FORMAT = "turnwise-capture/1"
LONGEST_TEXT = 2000
"""Characters of a message that is no JSON that are kept."""
LONGEST_INVALID = 20_000
"""Of one that is broken."""
_SECRETS = ("secret", "authorization", "api_key", "apikey", "token", "password")
Json = dict[str, Any]
Put = Callable[[str, bytes, int], int]
Get = Callable[[str, int, int], bytes]


@dataclass
class PlayedTurn:
    """A turn of the scenario as it happened."""

    turn_id: str
    participant_id: str
    about: Json
    """barge_in, source_text, expected_text, expected_language, metadata."""
    start_ms: float | None = None
    end_ms: float | None = None

    def as_json(self) -> Json:
        """As `capture.json` has it; what is unknown is left out."""
        times = {"start_ms": _time(self.start_ms), "end_ms": _time(self.end_ms)}
        facts = {"turn_id": self.turn_id, "participant_id": self.participant_id, **times, **self.about}
        return {name: value for name, value in facts.items() if value is not None}


@dataclass
class Header:
    """What is known before the first message."""

    scenario_id: str
    protocol: str
    started: str
    participants: list[str]
    turns: list[PlayedTurn]
    metrics: list[str] | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    about: Json = field(default_factory=dict)
    """Address without secrets, repeat, description, languages."""

    def as_json(self) -> Json:
        """For the first line of a wire log."""
        turns = [{"turn_id": t.turn_id, "participant_id": t.participant_id, **t.about} for t in self.turns]
        return {
            "format": "turnwise-wire/1",
            "scenario_id": self.scenario_id,
            "protocol": self.protocol,
            "started": self.started,
            "participants": self.participants,
            "turns": turns,
            "metrics": self.metrics,
            "thresholds": dict(self.thresholds),
            **self.about,
        }


def header_from(note: Json) -> Header:
    """The header of a wire log."""
    known = {"format", "scenario_id", "protocol", "started", "participants", "turns", "metrics", "thresholds"}
    turns = [
        PlayedTurn(
            str(turn["turn_id"]),
            str(turn["participant_id"]),
            {name: value for name, value in turn.items() if name not in ("turn_id", "participant_id")},
        )
        for turn in note["turns"]
    ]
    return Header(
        note["scenario_id"],
        note["protocol"],
        note["started"],
        list(note["participants"]),
        turns,
        note.get("metrics"),
        note.get("thresholds") or {},
        {name: value for name, value in note.items() if name not in known},
    )


class Capture:
    """A capture that is being built."""

    def __init__(self, header: Header, transport: type[Transport], put: Put, get: Get | None = None) -> None:
        self.header = header
        self.playouts: dict[str, Playout] = {}
        self.events: list[Json] = []
        self.reason: str | None = None
        self.ended_ms: float | None = None
        self.clock: Json = {}
        self.lateness: list[float] = []
        """Milliseconds by which each frame was late; only their summary is written."""
        self._put, self._get = put, get
        shared = [None] if transport.multiplexed else header.participants
        self.transports: dict[str | None, Transport] = {
            name: transport(header.participants if name is None else [name]) for name in shared
        }
        self._turns = {turn.turn_id: turn for turn in header.turns}
        self._chunks: dict[int, Chunk] = {}
        self._files: dict[tuple[str, str], str] = {}
        self.cut: list[Chunk] = []
        """What the last message that stopped anything cut off."""

    # What happens

    def turn(self, turn_id: str) -> PlayedTurn:
        """A turn by its id."""
        return self._turns[turn_id]

    def turn_started(self, turn_id: str, t_ms: float) -> None:
        """The first frame of a turn was sent."""
        self._turns[turn_id].start_ms = t_ms

    def turn_ended(self, turn_id: str, t_ms: float, place: Json | None) -> None:
        """Its last frame was sent; `place` is where its audio lies."""
        turn = self._turns[turn_id]
        turn.end_ms = t_ms
        event = self._add("out", "audio_sent", t_sent_ms=turn.start_ms)
        event |= {"participant_id": turn.participant_id, "turn_id": turn_id}
        if place is not None:
            event["audio"] = place

    def received(self, t_ms: float, connection: str | None, message: Any) -> tuple[list[Inbound], Any]:
        """A message of the system: what it says, and the message as it is kept; its audio is taken out of it."""
        transport = self.transports[connection]
        if not isinstance(message, dict):
            said = [Inbound(INVALID, problem="no JSON object")]
            self._event(t_ms, connection, said[0], None, transport.in_rate)["raw"] = str(message)[:LONGEST_TEXT]
            return said, str(message)[:LONGEST_TEXT]
        said = transport.read(message)
        sound = next((one for one in said if one.kind == AUDIO), None)
        place: Json | None = None
        if sound is not None:
            name = self.file("in", self._listener(connection, sound.participant))
            begin = self._put(name, sound.audio, transport.rate_of(sound))
            place = {"file": f"audio/{name}", "begin": begin, "bytes": len(sound.audio)}
            replace_audio(message, transport.audio_fields, place)
            kept = message
        elif any(one.kind == INVALID for one in said) and not _has_secret(message):
            kept = message  # as it is: what is wrong with it can be seen, and is found again
        else:
            kept = transport.kept(message)
        for one in said:
            self._event(t_ms, connection, one, place, transport.rate_of(one))["raw"] = kept
        return said, kept

    def restored(self, connection: str | None, kept: Any) -> Any:
        """A kept message with its audio, to be received again."""
        transport = self.transports[connection]
        get = self._get
        if get is None:
            return kept
        return with_audio(
            kept,
            transport.audio_fields,
            lambda place: transport.encoded(get(place["file"], place["begin"], place["bytes"])),
        )

    def _event(self, t_ms: float, connection: str | None, one: Inbound, place: Json | None, rate: int) -> Json:
        event = self._add("in", one.kind, t_arrived_ms=t_ms)
        facts = {
            "participant_id": one.participant or connection,
            "turn_id": one.turn_id,
            "response_id": one.response_id,
            "text": one.text,
            "language": one.language,
            "status": one.status,
            "problem": one.problem,
        }
        event |= {name: value for name, value in facts.items() if value is not None}
        playout = self.playouts.setdefault(self._listener(connection, one.participant), Playout())
        if one.kind == AUDIO and one.audio:
            duration = 1000 * len(one.audio) / 2 / rate
            event["audio"] = {"duration_ms": _time(duration)}
            if place is not None:
                offset = _time(1000 * place["begin"] / 2 / rate)
                event["audio"] = {"file": place["file"], "offset_ms": offset, **event["audio"]}
            self._chunks[event["seq"]] = playout.add(event["seq"], t_ms, duration, one.response_id)
        elif one.kind == STOP and one.cut_ms is not None:
            playout.keep(one.response_id, one.cut_ms, t_ms)
        elif one.kind in (STOP, SPEECH_STARTED):
            everybody = [playout] if one.participant or connection else self.playouts.values()
            self.cut = [chunk for each in everybody for chunk in each.stop(t_ms)]
        return event

    def file(self, prefix: str, who: str) -> str:
        """The WAV file of somebody's audio; two people never share one."""
        if (prefix, who) not in self._files:
            taken = {name.casefold() for name in self._files.values()}
            free = free_name(f"{prefix}-{plain_name(who)}", lambda name: f"{name}.wav" in taken)
            self._files[prefix, who] = f"{free}.wav"
        return self._files[prefix, who]

    def _listener(self, connection: str | None, participant: str | None) -> str:
        return participant or connection or "all"

    def _add(self, direction: str, kind: str, **moment: float | None) -> Json:
        times = {name: _time(value) for name, value in moment.items()}
        self.events.append({"seq": len(self.events), "direction": direction, **times, "type": kind})
        return self.events[-1]

    # What is written

    def finished(self) -> None:
        """Put the audible clock on every piece of audio: what was cut is known only now.

        When the call is over, nothing more is heard.
        """
        for playout in self.playouts.values() if self.ended_ms is not None else ():
            playout.stop(self.ended_ms or 0.0)
        for number, chunk in self._chunks.items():
            event = self.events[number]
            event["t_audible_ms"] = _time(chunk.start)
            event["audible_ms"] = _time(chunk.heard)
            if chunk.cut:
                event["cut"] = True

    def as_json(self) -> Json:
        """`capture.json`."""
        header = self.header
        facts: Json = {
            "format": FORMAT,
            "scenario_id": header.scenario_id,
            "protocol": header.protocol,
            "started": header.started,
            "turns": [turn.as_json() for turn in header.turns],
            "metrics": header.metrics,
            "thresholds": dict(header.thresholds),
            "participants": header.participants,
            **header.about,
            "ended_ms": _time(self.ended_ms),
            "reason": self.reason,
            "clock": self.clock,
            "events": len(self.events),
        }
        return {name: value for name, value in facts.items() if value is not None}

    def write(self, folder: Path) -> None:
        """`capture.json` and `events.jsonl`."""
        self.finished()
        with (folder / "events.jsonl").open("w", encoding="utf-8") as file:
            for event in self.events:
                file.write(dumps_clean(event) + "\n")
        text = json.dumps(self.as_json(), ensure_ascii=False, indent=2, allow_nan=False)
        (folder / "capture.json").write_text(text + "\n", encoding="utf-8")


def _has_secret(message: Json) -> bool:
    """Whether a broken message is too long, or may hold what must not be kept."""
    text = dumps_clean(message)
    return len(text) > LONGEST_INVALID or any(word in text.lower() for word in _SECRETS)


def _time(moment: float | None) -> float | None:
    return None if moment is None else round(moment, 3)
