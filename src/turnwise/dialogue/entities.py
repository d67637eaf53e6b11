"""Entities in a response: which are named, and which of them the database did not return."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from turnwise.dialogue.acting import actions
from turnwise.dialogue.database import Database
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.placeholders import looks_delexicalised
from turnwise.dialogue.records import Exchange, Pair, reference_domains
from turnwise.dialogue.resources import Resources
from turnwise.dialogue.tables import load_words
from turnwise.kernel.score import JSON

NAMED = ("restaurant", "hotel", "attraction")
"""Domains whose entities go by a name."""
SHORT = 5
"""A name with so few letters may be a common word (`ask`, `place`): it counts only where it is written as a name."""
SHAPES = {
    "phone": re.compile(r"(?<![\d-])(?:\+?\d[\d -]{7,14}\d)(?![\d-])"),
    "postcode": re.compile(r"\b[a-z]{1,2}\d[a-z\d]?[ ,.]?\d[a-z]{2}\b", re.IGNORECASE),
    "trainid": re.compile(r"\btr\d{4}\b", re.IGNORECASE),
}
"""Attributes that belong to one entity, by how they are written."""
_WORD = r"[A-Z][\w'’&-]+"
_OFFERED = re.compile(
    r"(?:\b(?i:recommend|suggest|called|named|try|found|offer|booked|about|there is|there's|i have)\b"
    r"(?: (?:you|at|to|a table at|a room at|is))?(?: (?i:the))?) "
    rf"({_WORD}(?: (?:(?:and|of|the|at|on|&) )?{_WORD})*)"
)
"""A proper name behind words that offer something: the only names that are recognised without the database."""


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
    def evidence(self) -> dict[str, JSON]:
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


def mentions(pair: Pair, resources: Resources, normaliser: Normaliser) -> list[Mention]:
    """The entities that a response, or an act, names."""
    made, database = pair.prediction, resources.database
    if made is None or database is None:
        return []
    known = _index(database)
    state = normaliser.state(made.state)
    user = " ".join([pair.reference.user or "", made.user or "", *(v for vs in state.values() for v in vs)])
    text = "" if made.response is None or looks_delexicalised(made.response) else made.response
    honest = "fail" in (actions(made, resources.actions) or ())  # what is named instead need not be what was asked for
    found: dict[tuple[str, str], Mention] = {}
    for kind, written in (*_candidates(text, known, pair, database), *_named_by_acts(made, database)):
        key = (kind, _key(kind, written))
        if key in found or _said(key, user):
            continue  # said once is enough, and what the user said is not invented
        places = known.places.get(key) or _similar(key, database)
        found[key] = Mention(kind, written, _reason(places, database, state, made.state is not None and not honest))
    return list(found.values())


def invented(pair: Pair, resources: Resources, normaliser: Normaliser) -> list[Mention]:
    """The mentioned entities that the database did not return."""
    return [mention for mention in mentions(pair, resources, normaliser) if mention.invented]


def joined(text: str) -> str:
    """Letters and digits only: `CB4 1HA` is `cb41ha`."""
    return re.sub(r"[\W_]+", "", text.lower())


def _said(key: tuple[str, str], user: str) -> bool:
    kind, text = key
    return f" {text} " in f" {_plain(user)} " if kind == "name" else text in joined(user)


def _similar(key: tuple[str, str], database: Database) -> Places:
    """The entities whose name is as similar as a search by name requires."""
    kind, text = key
    found = []
    for domain in NAMED if kind == "name" else ():
        # Without the column everything would be found.
        rows = database.find(domain, {"name": text}) if database.values(domain, "name") else 0
        found += [(domain, row) for row in range(len(database.entities(domain))) if rows >> row & 1]
    return tuple(found)


def _acts(pair: Pair) -> tuple[str, ...]:
    return (pair.prediction.acts or ()) if pair.prediction is not None else ()


def _named_by_acts(made: Exchange, database: Database) -> Iterator[tuple[str, str]]:
    for said in made.act_slots or ():
        listed = said.act.partition("-")[0].strip().lower() in database.domains
        if listed and said.slot.strip().lower() == "name" and said.value.strip().lower() not in _NO_NAME:
            yield "name", said.value


_NO_NAME = ("", "?", "none", "dontcare")


def _reason(places: Places, database: Database, state: dict[str, tuple[str, ...]], wanted: bool) -> str | None:
    """Why an entity is invented; `wanted` asks whether it also meets the state."""
    if not places:
        return "not in the database"
    spoken = {slot.partition("-")[0] for slot in state}
    # Where the same thing is listed in several domains (MultiWOZ lists its trains as buses, too), the one that counts
    # is the one the state speaks about.
    relevant = [place for place in places if place[0] in spoken]
    if not wanted or not relevant:
        return None
    for domain, row in relevant:
        prefix = f"{domain}-"
        asked = {slot.removeprefix(prefix): values for slot, values in state.items() if slot.startswith(prefix)}
        if database.matches(domain, row, asked):
            return None
    return "in the database, but not what the state asks for"


def _candidates(text: str, known: _Index, pair: Pair, database: Database) -> Iterator[tuple[str, str]]:
    """(kind, text as written) of everything in a response that could be an entity's."""
    if not text:
        return
    taken: list[tuple[int, int]] = []
    for match in known.names.finditer(text) if known.names is not None else ():
        inside = match.start() > 1 and text[match.start() - 2] not in ".!?"
        if len(match[0]) > SHORT or (match[0][0].isupper() and inside):
            taken.append(match.span())
            yield "name", match[0]
    domains = {*pair.predicted_domains, *reference_domains(pair.reference)}
    if domains and not domains & set(database.domains):
        return  # it may well be something that this database does not list
    taxi = "taxi" in domains or "taxi" in text.lower() or any(act.lower().startswith("taxi-") for act in _acts(pair))
    for kind, shape in SHAPES.items():
        if kind == "phone" and taxi:
            continue  # a taxi has whatever number it has
        for match in shape.finditer(text):
            if kind != "phone" or 9 <= sum(c.isdigit() for c in match[0]) <= 13:
                yield kind, match[0]
    for match in _OFFERED.finditer(text):
        inside = any(start < match.end(1) and match.start(1) < end for start, end in taken)
        if not inside and any(word not in known.texts for word in _plain(match[1]).split()):
            yield "name", match[1]


@lru_cache(maxsize=4)
def _index(database: Database) -> _Index:
    places: dict[tuple[str, str], list[tuple[str, int]]] = {}
    names: set[str] = set()
    words: set[str] = set(load_words("common"))
    for domain in sorted(database.domains):
        for row, entity in enumerate(database.entities(domain)):
            for column, text in entity.items():
                words.update(_plain(text).split())
                if (column == "name" and domain in NAMED) or column in SHAPES:
                    places.setdefault((column, _key(column, text)), []).append((domain, row))
            if domain in NAMED and _plain(entity.get("name", "")):
                names.add(_key("name", entity["name"]))
    pattern = "|".join(r"[\W_]+".join(map(_as_written, name.split())) for name in sorted(names, key=len, reverse=True))
    found = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE) if pattern else None
    return _Index(found, {key: tuple(value) for key, value in places.items()}, frozenset(words))


def _plain(text: str) -> str:
    """Lower case, without punctuation."""
    return " ".join(re.sub(r"[^\w]+", " ", re.sub(r"\s?['’]s\b", "s", text.lower())).split())


def _as_written(word: str) -> str:
    """A pattern for a plain word: `johns` is also `john's`."""
    return rf"{re.escape(word[:-1])}(?:\s?['’])?s" if len(word) > 2 and word.endswith("s") else re.escape(word)


def _key(kind: str, text: str) -> str:
    return _plain(text).removeprefix("the ") if kind == "name" else joined(text)
