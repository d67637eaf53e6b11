"""Placeholders in delexicalised responses: one name for what different systems write differently.

`[value_name]`, `[hotel_name]` and `[name]` all stand for a name; only the second says whose.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from turnwise.dialogue.records import DOMAINS

SLOTS = frozenset(
    (
        *("address", "area", "arrive", "bookday", "bookpeople", "bookstay", "booktime", "car", "choice", "day"),
        *("department", "departure", "destination", "duration", "entrancefee", "food", "internet", "leave", "name"),
        *("openhours", "parking", "people", "phone", "place", "postcode", "price", "pricerange", "ref", "stars"),
        *("stay", "time", "trainid", "type"),
    )
)
"""What a placeholder can stand for; brackets around anything else (`[laughs]`) do not make one."""
_ALIASES = {
    "arriveby": "arrive",
    "arrivetime": "arrive",
    "carmodel": "car",
    "cartype": "car",
    "count": "choice",
    "fee": "entrancefee",
    "id": "trainid",
    "leaveat": "leave",
    "leavetime": "leave",
    "phonenumber": "phone",
    "post": "postcode",
    "postalcode": "postcode",
    "reference": "ref",
    "referencenumber": "ref",
    "train": "trainid",
}
_BRACKETS = re.compile(r"[\[<{]([^\[\]<>{}]{1,40})[\]>}]")
_OPENING = re.compile(r"[\[<{]")
_BETWEEN = re.compile(r"[\s_.\-]+")


class Placeholder(NamedTuple):
    """A slot that a response leaves open."""

    slot: str
    """Canonical: `name`, `ref`, `trainid`."""
    domain: str | None = None
    """Where the placeholder itself names one. Only trains have ids, however they are written."""


@lru_cache(maxsize=100_000)
def placeholders(text: str) -> frozenset[Placeholder]:
    """The placeholders of a response, each once.

    >>> sorted(placeholders("[hotel_name] is at [value_address]; your reference is [ref]"))[1]
    Placeholder(slot='name', domain='hotel')
    """
    folded = (_fold(inside) for inside in _BRACKETS.findall(text)) if _OPENING.search(text) else ()
    return frozenset(placeholder for placeholder in folded if placeholder is not None)


def looks_delexicalised(text: str) -> bool:
    """Whether a response has placeholders where values would be."""
    return bool(placeholders(text))


def _fold(inside: str) -> Placeholder | None:
    """`hotel_name`, `value_name`, `price range`; None for what is no placeholder."""
    words = _BETWEEN.split(inside.strip().lower())
    domain = words[0] if words[0] in DOMAINS else None
    if len(words) > 1 and (domain or words[0] == "value"):
        words = words[1:]
    name = "".join(words)
    slot = _ALIASES.get(name, name)
    if slot == "trainid":
        # The database numbers its hotels and restaurants, too; nobody tells a user that number.
        return Placeholder(slot, "train") if domain in (None, "train", "bus") else None
    return Placeholder(slot, domain) if slot in SLOTS else None
