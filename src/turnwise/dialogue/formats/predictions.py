"""The field's prediction format for MultiWOZ: dialogue id to a list of turns with state, response, active domains.

Turns have no ids; they pair up with the reference exchanges by position.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turnwise.dialogue.formats.base import HeldDialogues, check_ids
from turnwise.dialogue.formats.fields import SEE_FIELDS, nested_state, text_or_none, texts, wrong_type
from turnwise.dialogue.records import Exchange
from turnwise.kernel.errors import InputError

NAME = "multiwoz-predictions"


def looks_like(data: Any) -> bool:
    """Whether parsed JSON has this format."""
    first = next(iter(data.values()), None) if isinstance(data, dict) else None
    return isinstance(first, list)


def read(path: Path, data: Any, sha256: str) -> HeldDialogues:
    """All dialogues of parsed JSON."""
    if not isinstance(data, dict):
        raise wrong_type(str(path), "(whole file)", data, "an object: dialogue id to a list of turns")
    check_ids(data, str(path))
    names: dict[tuple[str, str], str] = {}
    held = {}
    for dialogue_id, turns in data.items():
        where = f"{path}, dialogue {dialogue_id}"
        if not isinstance(turns, list):
            raise wrong_type(where, "(turns)", turns, "a list of turns")
        held[dialogue_id] = [_exchange(dialogue_id, turn, f"{where}, turn {i}", names) for i, turn in enumerate(turns)]
    return HeldDialogues(path, NAME, sha256, held)


def _exchange(dialogue_id: str, turn: Any, where: str, names: dict[tuple[str, str], str]) -> Exchange:
    if not isinstance(turn, dict):
        raise wrong_type(where, "(turn)", turn, "an object with state and response")
    if "state" not in turn and "response" not in turn:
        raise InputError(
            "a turn has neither state nor response",
            where=where,
            found=", ".join(turn) or "{}",
            expected="state, response, or both",
            remedy=SEE_FIELDS,
        )
    domains = texts(turn.get("active_domains"), where, "active_domains")
    state = turn.get("state")
    return Exchange(
        dialogue_id=dialogue_id,
        response=text_or_none(turn.get("response"), where, "response"),
        domains=None if domains is None else tuple(domain.lower() for domain in domains),
        state=None if state is None else nested_state(state, where, names),
    )
