"""Whether the system told the user what they asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turnwise.dialogue.acting import ANY, act_domain, actions, asked_slot, mentioned, said_by_acts
from turnwise.dialogue.entities import SHAPES, joined
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.placeholders import placeholders
from turnwise.dialogue.records import Pair, reference_domains
from turnwise.dialogue.resources import Resources

TELLING = ("inform", "offer", "book")
_REFERENCE = re.compile(r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{8}\b")
_SHAPES = {**SHAPES, "ref": _REFERENCE}
"""Values that can be recognised without knowing them."""
SHORTEST = 3
"""Shorter values (`4`, `no`) occur in any text, so they show nothing."""


def answered(pairs: Sequence[Pair], slot: str, first: int, resources: Resources, normaliser: Normaliser) -> bool:
    """Whether an exchange from `first` on gives the user a value for a canonical slot (004-15).

    By an act that says it, a marked span, a placeholder, or a text with such a value: one of the database, one that the
    reference gives, or one that has the shape of a telephone number, postcode, train id or booking reference. Where
    neither acts with slots nor a text that can be checked is there, an act that tells something in that domain will do.
    """
    known = _known_values(pairs, slot, resources, normaliser)
    return any(_answers(pair, slot, known, resources, normaliser) for pair in pairs[first:])


def _known_values(pairs: Sequence[Pair], slot: str, resources: Resources, normaliser: Normaliser) -> frozenset[str]:
    """The values of a slot that the references tell the user, and those in the database."""
    domain, _, name = slot.partition("-")
    found: frozenset[str] = frozenset()
    if resources.database is not None:
        domains = resources.database.domains if domain == ANY else (domain,)
        found = found.union(*(resources.database.values(one, name) for one in domains))
    for pair in pairs:
        told = mentioned(said_by_acts(pair.reference, pair, resources), resources, normaliser)
        found = found.union(*(values for said, values in told.items() if _same(said, slot)))
    return frozenset(value for value in found if len(value) >= SHORTEST and value != "yes")


def _same(said: str, slot: str) -> bool:
    """Whether a slot is the one that was asked for; a request that names no domain is about any."""
    domain, _, name = slot.partition("-")
    return said.partition("-")[2] == name if domain == ANY else said == slot


def _answers(pair: Pair, slot: str, known: frozenset[str], resources: Resources, normaliser: Normaliser) -> bool:
    made = pair.prediction
    if made is None:
        return False
    domain, _, name = slot.partition("-")
    text = made.response or ""
    told = [asked_slot(f"{p.domain or domain}-{p.slot}", resources, normaliser) for p in placeholders(text)]
    told += mentioned(said_by_acts(made, pair, resources), resources, normaliser)
    if any(_same(said, slot) for said in told):
        return True
    shape = _SHAPES.get(name)
    written = {joined(match[0]) for match in shape.finditer(text)} if shape is not None else set()
    if written & set(map(joined, known)) if known else written:
        return True
    done = actions(made, resources.actions)
    if done is not None and not set(done) & set(TELLING):
        return False  # a question with a value in it is no answer
    if known and text:
        return any(_has(text.lower(), value) for value in known)
    return made.act_slots is None and _tells(pair, domain, resources)


def _tells(pair: Pair, domain: str, resources: Resources) -> bool:
    """Whether an act, or else the action, tells the user something in a domain; what exactly is not known."""
    made = pair.prediction
    if made is None:
        return False
    if made.acts is None:
        about = (ANY, *pair.predicted_domains, *reference_domains(pair.reference))
        return made.action in TELLING and domain in about
    telling = (act for act in made.acts if resources.actions.action(act) in TELLING)
    return any(domain in (ANY, act_domain(act, pair, resources)) for act in telling)


def _has(text: str, value: str) -> bool:
    """Whether a text holds a value as whole words."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not (at and text[at - 1].isalnum()) and not text[end : end + 1].isalnum():
            return True
        at = text.find(value, at + 1)
    return False
