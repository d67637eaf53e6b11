"""Turns in frames, whatever file they come from, and the exchanges they make: MultiWOZ 2.2 in both layouts, and SGD."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.dialogue.formats.base import Tally, check_ids, read_json
from turnwise.dialogue.formats.fields import SEE_FIELDS, text_values, wrong_type
from turnwise.dialogue.records import ActSlot, Exchange, State, domain_of, domains_of_names, folded_intent
from turnwise.kernel.errors import InputError, shorten

SCHEMA = "schema.json"
SPEAKERS = ("USER", "SYSTEM")
NO_INTENT = ("", "NONE")


class Frame(NamedTuple):
    """What a user turn says about one service."""

    service: str | None
    intent: str | None
    """None where the file does not say."""
    state: State
    requested: tuple[str, ...] | None


class Said(NamedTuple):
    """What a system turn does; None where nobody says."""

    acts: tuple[str, ...] | None = None
    act_slots: tuple[ActSlot, ...] | None = None
    spans: tuple[tuple[str, str], ...] | None = None


class Turn(NamedTuple):
    """One turn, whatever layout it was read from."""

    place: str
    speaker: str
    text: str | None
    frames: Sequence[Frame] = ()
    said: Said = Said()


def dialogues_in(data: Any, path: Path) -> Iterator[tuple[str, Any, str]]:
    """The id, the turns as they are and the place of every dialogue of a list."""
    if not isinstance(data, list):
        raise wrong_type(str(path), "(whole file)", data, "a list of dialogues {dialogue_id, services, turns}")
    seen = set()
    for number, dialogue in enumerate(data):
        place = f"{path}, dialogue number {number + 1}"
        if not isinstance(dialogue, dict):
            raise wrong_type(place, "(dialogue)", dialogue, "an object {dialogue_id, services, turns}")
        given = dialogue.get("dialogue_id")
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise wrong_type(place, "dialogue_id", given, "text or a whole number")
        dialogue_id = str(given)
        check_ids([dialogue_id], place)
        if dialogue_id in seen:
            raise InputError(
                f"dialogue {dialogue_id} is there twice",
                where=place,
                found=shorten(dialogue_id),
                expected="an id of its own for every dialogue",
                remedy="leave one of the two out, or give it another id",
            )
        seen.add(dialogue_id)
        yield dialogue_id, dialogue.get("turns"), f"{path}, dialogue {dialogue_id}"


def speaker_of(raw: Any, place: str) -> str:
    """`USER` or `SYSTEM`; also as the class numbers 0 and 1."""
    if isinstance(raw, int) and not isinstance(raw, bool) and raw in (0, 1):
        return SPEAKERS[raw]
    if isinstance(raw, str) and raw.upper() in SPEAKERS:
        return raw.upper()
    raise InputError(
        "field 'speaker' has an unknown value",
        where=place,
        found=shorten(raw),
        expected="USER or SYSTEM",
        remedy=SEE_FIELDS,
    )


def one_value(raw: Any, where: str, name: str) -> str | list[str]:
    """A text, or a list where there are alternatives."""
    values = text_values(raw, where, name)
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def beside(path: Path, name: str) -> Path | None:
    """A file of that name in the folder (of the file) or the one above."""
    folder = (path if path.is_dir() else path.parent).resolve()
    return next((found for found in (folder / name, folder.parent / name) if found.is_file()), None)


class FrameNotes:
    """What is worth saying about the frames of a file, gathered while its dialogues are read."""

    def __init__(self, path: Path, *, complete: bool = False) -> None:
        self.tally = Tally()
        self._complete = complete
        """Whether every user turn should have a frame for every service, as in MultiWOZ."""
        self._schema = _schema(path, self.tally)
        self._unknown: dict[tuple[str | None, str], list[str]] = {}
        self._idle_frames = 0
        self._lost: list[str] = []

    def intent(self, frame: Frame, place: str) -> str | None:
        """The intent of a frame in the schema's spelling; noted if the schema does not know it."""
        intent = frame.intent
        if intent is None or intent in NO_INTENT:
            return intent
        if folded_intent(intent) != intent.strip().lower():
            self.tally.notes[f"intent {intent} is read as {folded_intent(intent)}, its name in the schema"] += 1
            intent = folded_intent(intent)
        services = [frame.service] if frame.service is not None else self._schema or ()
        if self._schema is not None and not any(intent in self._schema.get(service, ()) for service in services):
            self._unknown.setdefault((frame.service, intent), []).append(place)
        return intent

    def dialogue(self, users: Iterable[Turn]) -> None:
        """Look for slots that vanish because their service has no frame any more."""
        filled: set[str] = set()
        for turn in users:
            self._idle_frames += sum(frame.intent in NO_INTENT for frame in turn.frames)
            present = {domain_of(slot) for frame in turn.frames for slot in frame.state}
            here = present | {frame.service.lower() for frame in turn.frames if frame.service}
            if filled - here:
                self._lost.append(turn.place)
            filled |= present

    def write(self) -> None:
        """Put what was found into the tally."""
        for (service, intent), places in self._unknown.items():
            of = "" if service is None else f" of service {service}"
            message = f"intent {intent}{of} is not in {SCHEMA}; kept as it is, first in {places[0]}"
            self.tally.notes[message] += len(places)
        if self._complete and self._lost and not self._idle_frames:
            message = (
                "states are incomplete, this looks like an active_only export: frames without an intent are missing, "
                f"and with them the slots of earlier domains, first in {self._lost[0]}; use the export with all frames"
            )
            self.tally.notes[message] += len(self._lost)


def _schema(path: Path, tally: Tally) -> dict[str, set[str]] | None:
    """Intents by service, from the `schema.json` that belongs to the file."""
    found = beside(path, SCHEMA)
    if found is None:
        return None
    services, _ = read_json(found)
    try:
        return {service["service_name"]: {intent["name"] for intent in service["intents"]} for service in services}
    except (TypeError, KeyError):
        tally.notes[f"{found} is not a list of services with intents; intents are not checked against it"] += 1
        return None


def exchanges_of(dialogue_id: str, turns: Sequence[Turn], where: str, notes: FrameNotes) -> list[Exchange]:
    """User turns with the system turns that answer them."""
    order = "user and system in turn, the user first"
    if not turns:
        raise InputError(
            "the dialogue has no turn", where=where, found="[]", expected=order, remedy="leave the dialogue out"
        )
    for number, turn in enumerate(turns):
        if turn.speaker != SPEAKERS[number % 2]:
            raise InputError(
                f"two {turn.speaker.lower()} turns in a row" if number else "the dialogue begins with a system turn",
                where=turn.place,
                found=f"{turn.speaker}: {shorten(turn.text)}",
                expected=order,
                remedy="join turns of the same speaker, or leave the dialogue out",
            )
    if len(turns) % 2:
        notes.tally.notes["dialogues end with a user turn that no system turn answers; that turn is left out"] += 1
    pairs = list(zip(turns[::2], turns[1::2], strict=False))  # the last user turn may have no answer
    notes.dialogue(user for user, _ in pairs)
    return [_exchange(dialogue_id, index, user, system, notes) for index, (user, system) in enumerate(pairs)]


def _exchange(dialogue_id: str, index: int, user: Turn, system: Turn, notes: FrameNotes) -> Exchange:
    read_intents = [(frame, notes.intent(frame, user.place)) for frame in user.frames]
    unknown = bool(user.frames) and all(intent is None for _, intent in read_intents)
    active = [(frame, intent) for frame, intent in read_intents if intent is not None and intent not in NO_INTENT]
    domains = [
        domain
        for frame, intent in active
        for domain in ((frame.service.lower(),) if frame.service else domains_of_names((intent,), "_"))
    ]
    asked = [frame.requested for frame in user.frames if frame.requested is not None]
    return Exchange(
        dialogue_id=dialogue_id,
        turn_id=str(index),
        user=user.text,
        response=system.text,
        domains=None if unknown else tuple(dict.fromkeys(domains)),
        intents=None if unknown else tuple(dict.fromkeys(intent for _, intent in active)),
        acts=system.said.acts,
        act_slots=system.said.act_slots,
        spans=system.said.spans,
        state=_state(user),
        requested=tuple(dict.fromkeys(slot for slots in asked for slot in slots)) if asked or not user.frames else None,
    )


def _state(user: Turn) -> State:
    """The slots of all frames, also of those without an intent."""
    state: dict[str, str | list[str]] = {}
    for frame in user.frames:
        for slot, value in frame.state.items():
            if state.setdefault(slot, value) != value:
                raise InputError(
                    f"two frames of a turn give slot {slot!r} different values",
                    where=user.place,
                    found=f"{shorten(state[slot])} and {shorten(value)}",
                    expected="a slot in one frame only; a list where there are alternatives",
                    remedy="join the two frames",
                )
    return state
