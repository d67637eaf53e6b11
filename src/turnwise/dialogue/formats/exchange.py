"""An exchange from a JSON object in turnwise's own form: every field checked, unknown columns kept as metadata."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from turnwise.dialogue.formats.fields import (
    SEE_FIELDS,
    acts_and_slots,
    goals_from,
    nested_state,
    real_intents,
    slot_pairs,
    text_or_none,
    texts,
    wrong_type,
)
from turnwise.dialogue.records import ACTIONS, OPERATIONS, Exchange
from turnwise.kernel.errors import InputError, near_misses, shorten
from turnwise.kernel.jsontext import finite

KNOWN = {
    "dialogue_id",
    "turn_id",
    "user",
    "response",
    "domain",
    "intents",
    "acts",
    "spans",
    "state",
    "requested",
    "action",
    "booked",
    "goal",
    "reward",
    "metadata",
    *OPERATIONS,
}
"""Fields with a meaning; any other one is metadata."""


def exchange_from(
    raw: Any, where: str, names: dict[tuple[str, str], str] | None = None, notes: Counter[str] | None = None
) -> Exchange:
    """An exchange from its JSON object, every field checked; unknown columns become metadata and are noted."""
    if not isinstance(raw, dict):
        raise InputError(
            "an exchange is not a JSON object", where=where, found=shorten(raw), expected="{...}", remedy=SEE_FIELDS
        )
    get = raw.get
    state, goal, acts, act_slots = get("state"), get("goal"), None, None
    action, action_domain = (None, None) if get("action") is None else _action(raw["action"], where)
    if get("acts") is not None:
        acts, act_slots = acts_and_slots(raw["acts"], where)
    return Exchange(
        dialogue_id=_id(raw, "dialogue_id", where) or _missing_id(where, raw),
        turn_id=_id(raw, "turn_id", where),
        domains=None if get("domain") is None else _folded(texts(raw["domain"], where, "domain"), keep_empty=False),
        state=None if state is None else nested_state(state, where, {} if names is None else names),
        action=action,
        action_domain=action_domain,
        operations={name: _number(raw[name], where, name) for name in OPERATIONS if get(name) is not None},
        metadata=_metadata(raw, where, notes),
        user=text_or_none(get("user"), where, "user"),
        response=text_or_none(get("response"), where, "response"),
        intents=None if get("intents") is None else real_intents(texts(raw["intents"], where, "intents")),
        acts=acts,
        act_slots=act_slots,
        spans=None if get("spans") is None else _spans(raw["spans"], where),
        requested=None if get("requested") is None else texts(raw["requested"], where, "requested"),
        booked=None if get("booked") is None else _folded(texts(raw["booked"], where, "booked"), keep_empty=True),
        goal=None if goal is None else goals_from(goal, where),
        rewards=None if get("reward") is None else _rewards(raw["reward"], where),
    )


def _folded(names: tuple[str, ...] | None, *, keep_empty: bool) -> tuple[str, ...]:
    folded = [name.strip().lower() for name in names or ()]
    return tuple(folded if keep_empty else filter(None, folded))


def _id(raw: dict[str, Any], name: str, where: str) -> str | None:
    value = raw.get(name)
    if value is None:
        return None
    if type(value) is str and value.isalnum():
        return value
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise wrong_type(where, name, value, "text or a whole number")
    text = str(value)
    if not text.strip() or "\x00" in text:
        raise InputError(
            f"field {name!r} is empty or has a NUL character",
            where=where,
            found=shorten(value),
            expected="readable text",
            remedy=SEE_FIELDS,
        )
    return text


def _missing_id(where: str, raw: dict[str, Any]) -> str:
    found = ", ".join(list(raw)[:8]) or "an empty object"
    raise InputError(
        "field 'dialogue_id' is missing",
        where=where,
        found=found,
        expected="text or a whole number",
        remedy=SEE_FIELDS,
    )


def _action(value: Any, where: str) -> tuple[str | None, str | None]:
    """One of the actions, and the domain it names: `book_hotel`, `find_train`; `request_info` names none."""
    text = text_or_none(value, where, "action")
    if text is None:
        return None, None
    first, _, rest = text.strip().lower().partition("_")
    action = "search" if first == "find" else first
    if action not in ACTIONS:
        raise InputError(
            "field 'action' has an unknown value",
            where=where,
            found=shorten(text),
            expected=" | ".join(ACTIONS),
            remedy=near_misses(text, ACTIONS) or SEE_FIELDS,
        )
    return action, rest if rest not in ("", "info") else None


def _spans(raw: Any, where: str) -> tuple[tuple[str, str], ...] | None:
    """`[[slot, value], ...]` or `[{"slot": ..., "value": ...}, ...]`."""
    if raw is None:
        return None
    if not isinstance(raw, list):
        raise wrong_type(where, "spans", raw, "a list of [slot, value] pairs")
    pairs = [[span.get("slot"), span.get("value")] if isinstance(span, dict) else span for span in raw]
    return tuple(slot_pairs(pairs, where, "spans"))


def _rewards(raw: Any, where: str) -> tuple[float, ...] | None:
    """One number, or one per trial."""
    if raw is None:
        return None
    rewards = tuple(_number(one, where, "reward") for one in (raw if isinstance(raw, list) else [raw]))
    if max(rewards, default=0) > 1:
        raise InputError(
            "field 'reward' is out of range",
            where=where,
            found=shorten(raw),
            expected="between 0 (failed) and 1 (solved)",
            remedy="divide by the highest reward there is",
        )
    return rewards


def _number(value: Any, where: str, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(where, name, value, "a number")
    if not 0 <= value <= sys.float_info.max:
        raise InputError(
            f"field {name!r} is out of range",
            where=where,
            found=shorten(value),
            expected="0 or more, finite",
            remedy="leave it out where it is not known",
        )
    return float(value)


def _metadata(raw: dict[str, Any], where: str, notes: Counter[str] | None) -> dict[str, str]:
    given = raw.get("metadata") or {}
    if not isinstance(given, dict):
        raise wrong_type(where, "metadata", given, "an object of texts")
    if raw.keys() <= KNOWN and all(type(value) is str for value in given.values()):
        return given  # the usual case, quickly
    others = {name: value for name, value in raw.items() if name not in KNOWN}
    both = {**given, **others}
    scalars = {name: value for name, value in both.items() if isinstance(value, str | int | float) and finite(value)}
    if notes is not None:
        for name in (name for name in others if name in scalars):
            notes[f"column {name!r} is not a field of an exchange; it is kept as metadata to slice by"] += 1
        for name in (name for name in both if name not in scalars):
            notes[f"column {name!r} is left out: it is not text or a finite number"] += 1
    return {name: str(value) for name, value in scalars.items()}
