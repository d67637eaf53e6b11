"""Entities in a response: which are named, and which of them the database did not return."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from turnwise.dialogue.database import Database
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.placeholders import looks_delexicalised
from turnwise.dialogue.records import Pair, reference_domains
from turnwise.dialogue.resources import Resources
from turnwise.dialogue.tables import load_words
from turnwise.kernel.score import JSON

NAMED = ("restaurant", "hotel", "attraction")
"""Domains whose entities go by a name."""
SHORT = 4
"""A name of one word with so few letters may be a common word (`ask`): it counts only where it is written as a name."""
_SHAPES = {
    "phone": re.compile(r"(?<![\d-])(?:\+?\d[\d -]{7,14}\d)(?![\d-])"),
    "postcode": re.compile(r"\b[a-z]{1,2}\d{1,2}[a-z]?[ ,.]?\d[a-z]{2}\b", re.IGNORECASE),
    "trainid": re.compile(r"\btr\d{4}\b", re.IGNORECASE),
}
_WORD = r"[A-Z][\w'’&-]+"
_PROPER_NAME = re.compile(rf"{_WORD}(?: (?:(?:and|of|the|at|on|&) )?{_WORD})+")


class Mention(NamedTuple):
    """An entity, or an attribute that belongs to one, in a response."""

    kind: str
    """`name`, `phone`, `postcode`, `trainid`."""
    text: str
    reason: str | None
    """Why it is invented; None where it is not."""

    @property
    def invented(self) -> bool:
        """Whether the database did not return it."""
        return self.reason is not None

    @property
    def evidence(self) -> JSON:
        """What was found, and what was expected instead."""
        return {self.kind: self.text, "expected": "an entity that the database returns", "found": self.reason}


Places = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _Index:
    """What the database holds, by how it is written."""

    names: re.Pattern[str] | None
    places: dict[tuple[str, str], Places]
    """(kind, plain text) to the entities that have it."""
    texts: frozenset[str]
    """All words of all texts: what a proper name may be made of without being invented."""


def mentions(pair: Pair, resources: Resources, normaliser: Normaliser) -> list[Mention] | None:
    """The entities a response names; None where it names none by its nature: there is no text, or only placeholders."""
    made, database = pair.prediction, resources.database
    if made is None or database is None or not made.response or looks_delexicalised(made.response):
        return None
    known = _index(database)
    state = normaliser.state(made.state)
    said = _plain(" ".join([pair.reference.user or "", made.user or "", *(v for vs in state.values() for v in vs)]))
    found: dict[tuple[str, str], Mention] = {}
    for kind, text in _candidates(made.response, known, pair):
        key = (kind, _key(kind, text))
        if key in found or (kind == "name" and f" {key[1]} " in f" {said} "):
            continue  # said once is enough, and what the user said is not invented
        places = known.places.get(key, ())
        found[key] = Mention(kind, text, _reason(places, database, state, made.state is not None))
    return list(found.values())


def invented(pair: Pair, resources: Resources, normaliser: Normaliser) -> list[Mention]:
    """The mentioned entities that the database did not return."""
    return [mention for mention in mentions(pair, resources, normaliser) or [] if mention.invented]


def names_in(text: str, database: Database) -> str | None:
    """The first entity of the database that a text names, if any."""
    known = _index(database)
    found = known.names.search(text) if known.names is not None else None
    return found[0] if found and len(found[0]) > SHORT else None


def _reason(places: Places, database: Database, state: dict[str, tuple[str, ...]], known: bool) -> str | None:
    if not places:
        return "not in the database"
    if not known:
        return None
    for domain, row in places:
        prefix = f"{domain}-"
        wanted = {slot.removeprefix(prefix): values[0] for slot, values in state.items() if slot.startswith(prefix)}
        if database.matches(domain, row, wanted):
            return None
    return "in the database, but not what the state asks for"


def _candidates(text: str, known: _Index, pair: Pair) -> Iterator[tuple[str, str]]:
    """(kind, text as written) of everything in a response that could be an entity's."""
    taken: list[tuple[int, int]] = []
    for match in known.names.finditer(text) if known.names is not None else ():
        if len(match[0]) > SHORT or (match[0][0].isupper() and match.start() and text[match.start() - 2] not in ".!?"):
            taken.append(match.span())
            yield "name", match[0]
    taxi = "taxi" in (*pair.predicted_domains, *reference_domains(pair.reference))
    for kind, shape in _SHAPES.items():
        if kind == "phone" and taxi:
            continue  # a taxi has whatever number it has
        for match in shape.finditer(text):
            if kind != "phone" or 9 <= sum(c.isdigit() for c in match[0]) <= 13:
                yield kind, match[0]
    for match in _PROPER_NAME.finditer(text):
        inside = any(start < match.end() and match.start() < end for start, end in taken)
        if not inside and any(word not in known.texts for word in _plain(match[0]).split()):
            yield "name", match[0]


@lru_cache(maxsize=4)
def _index(database: Database) -> _Index:
    places: dict[tuple[str, str], list[tuple[str, int]]] = {}
    names: set[str] = set()
    words: set[str] = set(load_words("common"))
    for domain in sorted(database.domains):
        for row, entity in enumerate(database.entities(domain)):
            for column, text in entity.items():
                words.update(_plain(text).split())
                if (column == "name" and domain in NAMED) or column in _SHAPES:
                    places.setdefault((column, _key(column, text)), []).append((domain, row))
            if domain in NAMED and _plain(entity.get("name", "")):
                names.add(_key("name", entity["name"]))
    pattern = "|".join(r"[\W_]+".join(map(re.escape, name.split())) for name in sorted(names, key=len, reverse=True))
    found = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE) if pattern else None
    return _Index(found, {key: tuple(value) for key, value in places.items()}, frozenset(words))


def _plain(text: str) -> str:
    """Lower case, without punctuation."""
    return " ".join(re.sub(r"[^\w]+", " ", text.lower().replace("'s", "s").replace("’s", "s")).split())


def _key(kind: str, text: str) -> str:
    if kind == "name":
        return _plain(text).removeprefix("the ")
    return re.sub(r"[\W_]+", "", text.lower())
