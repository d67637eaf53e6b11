"""Fields of an exchange as files write them, checked: each has a type, and what is wrong is named with its place."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

from turnwise.dialogue.records import ActSlot, Goal, domain_of
from turnwise.kernel.errors import InputError, shorten


def wrong_type(where: str, name: str, found: Any, expected: str) -> InputError:
    """The error for a field of the wrong type."""
    return InputError(
        f"field {name!r} has the wrong type", where=where, found=shorten(found), expected=expected, remedy=SEE_FIELDS
    )


SEE_FIELDS = "docs/dialogue.md describes the fields and the formats"


def text_values(value: Any, where: str, name: str) -> str | list[str]:
    """A slot's value: text, a number or truth value as text, or a list of those (alternatives)."""
    if type(value) is str:
        return value
    if isinstance(value, list):
        return [scalar_text(v, where, name) for v in value]
    return scalar_text(value, where, name)


def scalar_text(value: Any, where: str, name: str) -> str:
    """Text, or a number or truth value written as text; null is the empty text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return str(value)
    raise wrong_type(where, name, value, "text, a number, or a list of those (alternatives)")


def nested_state(raw: Any, where: str, names: dict[tuple[str, str], str]) -> dict[str, str | list[str]]:
    """A state given as {domain: {slot: value}} or flat {domain-slot: value}, as a flat one. `names` is a memo."""
    if not isinstance(raw, dict):
        raise wrong_type(where, "state", raw, "an object: {slot: value} or {domain: {slot: value}}")
    state: dict[str, str | list[str]] = {}
    for key, value in raw.items():
        if type(key) is not str:
            raise wrong_type(where, "state", key, "slot names that are text")
        if not isinstance(value, dict):
            state[key] = text_values(value, where, f"state.{key}")
            continue
        for slot, inner in value.items():
            name = names.get((key, slot)) or names.setdefault((key, slot), f"{key}-{slot}")
            state[name] = inner if type(inner) is str else text_values(inner, where, f"state.{key}.{slot}")
    return state


def text_or_none(value: Any, where: str, name: str) -> str | None:
    """A text, or nothing."""
    if value is None or isinstance(value, str):
        return value
    raise wrong_type(where, name, value, "text")


def texts(value: Any, where: str, name: str) -> tuple[str, ...] | None:
    """A list of texts, one text, or nothing."""
    if value is None:
        return None
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise wrong_type(where, name, value, "a list of texts")


Acts = tuple[tuple[str, ...] | None, tuple[ActSlot, ...] | None]
_NEXT_SLOT = re.compile(r",(?=[^,=]+=)")
_WITH_SLOTS = re.compile(r"([^()]+)\((.*)\)", re.DOTALL)


def acts_and_slots(raw: Any, where: str, name: str = "acts") -> Acts:
    """The types of acts and what they say.

    `["Hotel-Inform"]`, `["Hotel-Inform(area=north, stars=4)"]` or `{"Hotel-Inform": [["area", "north"]]}`.
    """
    if isinstance(raw, dict):
        if not all(isinstance(act, str) and act.strip() for act in raw):
            raise wrong_type(where, name, raw, "acts that are text")
        slots = tuple(
            ActSlot(act, *pair) for act, pairs in raw.items() for pair in slot_pairs(pairs, where, f"{name}.{act}")
        )
        return tuple(raw), slots
    acts = texts(raw, where, name)
    if acts is None:
        return None, None
    given = [(act.strip(), _WITH_SLOTS.fullmatch(act.strip())) for act in acts]
    for act, match in given:
        if not act or (match is None and ("(" in act or ")" in act)):
            raise wrong_type(where, name, act, "acts such as Hotel-Inform or Hotel-Inform(area=north)")
    types = dict.fromkeys(match[1].strip() if match else act for act, match in given)
    # Acts of which none says anything were written without their slots, unless they never have any.
    if not any(match for _, match in given) and not all(act.lower().startswith("general-") for act, _ in given):
        return tuple(types), None
    found: list[ActSlot] = []
    for match in (match for _, match in given if match):
        pieces = (piece.partition("=") for piece in _NEXT_SLOT.split(match[2]) if piece.strip())
        found += [ActSlot(match[1].strip(), slot.strip(), value.strip()) for slot, _, value in pieces]
    return tuple(types), tuple(found)


def slot_pairs(raw: Any, where: str, name: str) -> list[tuple[str, str]]:
    """`[[slot, value], ...]`; a slot alone has no value."""
    if not isinstance(raw, list) or not all(
        isinstance(p, list) and 1 <= len(p) <= 2 and isinstance(p[0], str) for p in raw
    ):
        raise wrong_type(where, name, raw, "a list of [slot, value] pairs")
    return [(pair[0], scalar_text(pair[1], where, name) if len(pair) > 1 else "") for pair in raw]


def marked_spans(raw: Any, where: str) -> tuple[tuple[str, str], ...] | None:
    """The `span_info` of MultiWOZ, `[[act, slot, value, start, end], ...]`, as slots and values."""
    if raw is None:
        return None
    if not isinstance(raw, list) or not all(isinstance(span, list) and len(span) >= 3 for span in raw):
        raise wrong_type(where, "span_info", raw, "a list of [act, slot, value, start, end]")
    return tuple(span_of(str(act), str(slot), str(value)) for act, slot, value, *_ in raw)


def span_of(act: str, slot: str, value: str) -> tuple[str, str]:
    """`Hotel-Inform`, `area` and `north` as (`hotel-area`, `north`)."""
    return f"{domain_of(act)}-{slot.lower()}", value


def goals_from(raw: Any, where: str) -> dict[str, Goal]:
    """`{domain: {"info": {slot: value}, "reqt": [slot], "book": {slot: value}}}`; what has none of them is no goal."""
    if not isinstance(raw, dict):
        raise wrong_type(where, "goal", raw, "an object: domain to {info, reqt, book}")
    goals = {}
    for domain, parts in raw.items():
        if not isinstance(domain, str) or not domain.strip():
            raise wrong_type(where, "goal", domain, "domains that are text")
        if not isinstance(parts, dict) or not parts.keys() & {"info", "reqt", "book"}:
            continue
        info, asked, book = parts.get("info") or {}, parts.get("reqt"), parts.get("book")
        if not isinstance(info, dict) or not isinstance(book, dict | None):
            raise wrong_type(where, f"goal.{domain}", parts, "info and book as objects: slot to value")
        goals[domain.lower()] = Goal(
            _filled(info, where, f"goal.{domain}.info"),
            texts(asked, where, f"goal.{domain}.reqt") or (),
            None if not book else _filled(book, where, f"goal.{domain}.book"),
        )
    return goals


def _filled(slots: dict[str, Any], where: str, name: str) -> dict[str, str]:
    """Slots with their values; truth values are notes of the corpus (`invalid`), not slots."""
    return {slot: scalar_text(value, where, name) for slot, value in slots.items() if not isinstance(value, bool)}


def real_intents(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Without the ways to write that there is none."""
    if names is None:
        return None
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip().lower() not in ("", "none")))
