"""Whether the system told the user what they asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turnwise.dialogue.acting import bookings, mentioned, said_by_acts
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.placeholders import placeholders
from turnwise.dialogue.records import Exchange, Pair, domain_of, reference_domains
from turnwise.dialogue.resources import Resources

TELLING = ("inform", "offer", "book")
# Values that can be recognised without knowing them.
_SHAPES = {
    "phone": re.compile(r"\b0?\d{4,5}[ -]?\d{3}[ -]?\d{2,3}\b|\b\d{3}[ -]\d{3}[ -]\d{4}\b"),
    "postcode": re.compile(r"\b[a-z]{1,2}\d{1,2}[a-z]? ?\d[a-z]{2}\b", re.IGNORECASE),
    "trainid": re.compile(r"\btr\d{4}\b", re.IGNORECASE),
    "ref": re.compile(r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{8}\b"),
}


def answered(pairs: Sequence[Pair], slot: str, first: int, resources: Resources, normaliser: Normaliser) -> bool:
    """Whether an exchange from `first` on gives the user a value for a canonical slot (004-15).

    By an act that says it (where acts are known without their slots: by one that tells something in that domain), a
    marked span, a placeholder, or a text with such a value: one of the database, one that the reference gives, or one
    that has the shape of a telephone number, postcode, train id or booking reference.
    """
    known = _reference_values(pairs, slot, resources, normaliser)
    for pair in pairs[first:]:
        made = pair.prediction
        if made is None:
            continue
        told = mentioned(said_by_acts(made), resources, normaliser)
        if slot in told or f"booking-{slot.partition('-')[2]}" in told or _in_text(made, slot, known, resources):
            return True
        if made.act_slots is None and _tells(pair, domain_of(slot), resources):
            return True
    return False


def _tells(pair: Pair, domain: str, resources: Resources) -> bool:
    """Whether an act, or else the action, tells the user something in a domain; what exactly is not known."""
    made = pair.prediction
    if made is None:
        return False
    if made.acts is None:
        return made.action in TELLING and domain in (*pair.predicted_domains, *reference_domains(pair.reference))
    for act in made.acts:
        own = act.partition("-")[0].strip().lower()
        about = bookings(pair, resources) if own == "booking" else (own,)
        if resources.actions.action(act) in TELLING and domain in about:
            return True
    return False


def _reference_values(pairs: Sequence[Pair], slot: str, resources: Resources, normaliser: Normaliser) -> set[str]:
    found: set[str] = set()
    for pair in pairs:
        found |= mentioned(said_by_acts(pair.reference), resources, normaliser).get(slot, set())
    return found


def _in_text(made: Exchange, slot: str, known: set[str], resources: Resources) -> bool:
    text = made.response
    if not text:
        return False
    domain, _, name = slot.partition("-")
    for placeholder in placeholders(text):
        if placeholder.slot == name and placeholder.domain in (None, domain):
            return True
    lowered = text.lower()
    listed = resources.database.values(domain, name) if resources.database is not None else frozenset()
    if any(_has(lowered, value) for value in known | listed):
        return True
    shape = _SHAPES.get(name)
    return bool(shape and not listed and shape.search(text))


def _has(text: str, value: str) -> bool:
    """Whether a text holds a value as whole words."""
    at = text.find(value) if value else -1
    while at >= 0:
        end = at + len(value)
        if not (at and text[at - 1].isalnum()) and not text[end : end + 1].isalnum():
            return True
        at = text.find(value, at + 1)
    return False
