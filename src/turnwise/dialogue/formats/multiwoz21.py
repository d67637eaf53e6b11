"""MultiWOZ 2.1: one JSON object (plain or zipped), dialogue id to goal and log.

The log alternates user and system turns; the state after a user turn stands in the metadata of the system turn that
answers it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from turnwise.dialogue.formats.base import HeldDialogues, Tally, check_ids
from turnwise.dialogue.formats.fields import (
    acts_and_slots,
    goals_from,
    marked_spans,
    slot_pairs,
    text_or_none,
    text_values,
    wrong_type,
)
from turnwise.dialogue.records import Exchange, State, changed_domains, domains_of_names
from turnwise.kernel.errors import InputError, shorten

NAME = "multiwoz-2.1"


def looks_like(data: Any) -> bool:
    """Whether parsed JSON has this format."""
    first = next(iter(data.values()), None) if isinstance(data, dict) else None
    return isinstance(first, dict) and "log" in first


def read(path: Path, data: Any, sha256: str) -> HeldDialogues:
    """All dialogues of parsed JSON."""
    if not isinstance(data, dict):
        raise wrong_type(str(path), "(whole file)", data, "an object: dialogue id to {goal, log}")
    check_ids(data, str(path))
    tally = Tally()
    names: dict[tuple[str, str], str] = {}
    held = {}
    for dialogue_id, dialogue in data.items():
        where = f"{path}, dialogue {dialogue_id}"
        log = dialogue.get("log") if isinstance(dialogue, dict) else None
        if not isinstance(log, list):
            raise wrong_type(where, "log", log, "a list of turns")
        if len(log) % 2:
            tally.notes["dialogues end with a user turn that no system turn answers; that turn is left out"] += 1
        exchanges = _exchanges(dialogue_id, log, where, names)
        if exchanges and "goal" in dialogue:
            exchanges[0] = replace(exchanges[0], goal=goals_from(dialogue["goal"], where))
        held[dialogue_id] = exchanges
    return HeldDialogues(path, NAME, sha256, held, tally)


def _exchanges(dialogue_id: str, log: list[Any], where: str, names: dict[tuple[str, str], str]) -> list[Exchange]:
    exchanges = []
    before: State = {}
    for index in range(len(log) // 2):
        user, system = log[2 * index], log[2 * index + 1]
        place = f"{where}, log entry {2 * index + 1}"
        if not isinstance(user, dict) or not isinstance(system, dict):
            wrong = system if isinstance(user, dict) else user
            raise wrong_type(place, "(turn)", wrong, "an object with text and metadata")
        state = _state(system.get("metadata"), place, names)
        asked = _acts(user, place)
        # A system turn always does something: one without acts is one that nobody annotated.
        acts, act_slots = acts_and_slots(_acts(system, place) or None, place, "dialog_act")
        exchanges.append(
            Exchange(
                dialogue_id=dialogue_id,
                turn_id=str(index),
                user=text_or_none(user.get("text"), place, "text"),
                response=text_or_none(system.get("text"), place, "text"),
                domains=_domains(asked, state, before),
                acts=acts,
                act_slots=act_slots,
                spans=marked_spans(system.get("span_info"), place),
                state=state,
                requested=_requested(asked, place),
                booked=_booked(system["metadata"]),
            )
        )
        before = state
    return exchanges


def _domains(acts: dict[str, Any], state: State, before: State) -> tuple[str, ...]:
    """The domains the user's acts name, those whose state changed first; without acts, those whose state changed."""
    named = domains_of_names(tuple(acts), "-")
    changed = changed_domains(state, before)
    if not named:
        return changed
    return tuple(sorted(named, key=lambda domain: domain not in changed))


def _acts(turn: dict[str, Any], where: str) -> dict[str, Any]:
    acts = turn.get("dialog_act") or {}
    if isinstance(acts, str):  # the corpus writes "No Annotation" where nobody annotated the turn
        return {}
    if not isinstance(acts, dict):
        raise wrong_type(where, "dialog_act", acts, "an object: act to slots")
    return acts


def _requested(acts: dict[str, Any], where: str) -> tuple[str, ...]:
    slots = []
    for act, pairs in acts.items():
        domain, _, kind = act.lower().partition("-")
        if kind == "request":
            slots += [f"{domain}-{slot.lower()}" for slot, _ in slot_pairs(pairs, where, f"dialog_act.{act}")]
    return tuple(dict.fromkeys(slots))


def _booked(metadata: dict[str, Any]) -> tuple[str, ...]:
    """Domains whose booking is there."""
    return tuple(domain for domain, parts in metadata.items() if (parts.get("book") or {}).get("booked"))


def _state(metadata: Any, where: str, names: dict[tuple[str, str], str]) -> dict[str, str | list[str]]:
    if not isinstance(metadata, dict) or not metadata:
        raise InputError(
            "a system turn has no state",
            where=where,
            found=shorten(metadata),
            expected="metadata: {domain: {semi: {...}, book: {...}}}",
            remedy="the log must alternate user and system turns, the user first",
        )
    state: dict[str, str | list[str]] = {}
    for domain, parts in metadata.items():
        if not isinstance(parts, dict):
            raise wrong_type(where, f"metadata.{domain}", parts, "an object with semi and book")
        if "semi" not in parts and "book" not in parts:
            raise wrong_type(where, f"metadata.{domain}", parts, "an object with semi or book")
        for part in ("semi", "book"):
            filled = parts.get(part, {})
            if not isinstance(filled, dict):
                raise wrong_type(where, f"metadata.{domain}.{part}", filled, "an object: slot to value")
            for slot, value in filled.items():
                if value != "" and slot != "booked" and value != "not mentioned":
                    name = names.get((domain, slot)) or names.setdefault((domain, slot), f"{domain}-{slot}")
                    state[name] = (
                        value if type(value) is str else text_values(value, where, f"metadata.{domain}.{slot}")
                    )
    return state
