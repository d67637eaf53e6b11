"""Which domains the reference dialogues had booked at each exchange, where a file of its own says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from turnwise.dialogue.formats.base import read_json
from turnwise.dialogue.records import Exchange, folded_id
from turnwise.kernel.errors import InputError, shorten

Booked: TypeAlias = Mapping[str, Sequence[tuple[str, ...]]]
"""Dialogue id, in lower case and without `.json`, to the domains booked so far at each exchange."""

_SHAPE = '{"dialogue id": [[], ["hotel"], ...]}: one list of domains per exchange'


def read_booked_domains(path: Path) -> Booked:
    """A JSON file: dialogue id to a list that holds, for each exchange, the domains booked up to there."""
    data, _ = read_json(path)
    if not isinstance(data, dict) or not data:
        raise _wrong_shape(str(path), data, _SHAPE)
    booked: dict[str, list[tuple[str, ...]]] = {}
    for dialogue_id, turns in data.items():
        where = f"{path}, dialogue {dialogue_id}"
        folded = folded_id(dialogue_id)
        if folded in booked:
            raise InputError(
                "a dialogue is there twice",
                where=where,
                found=f"two ids that differ only in case or in .json: {dialogue_id}",
                expected="each dialogue once",
                remedy="keep one of the two",
            )
        booked[folded] = _turns(turns, where)
    return booked


def with_booked(exchanges: Sequence[Exchange], booked: Booked) -> list[Exchange]:
    """The exchanges of a reference dialogue with the booked domains of the file; as they are if it has none of it."""
    turns = booked.get(folded_id(exchanges[0].dialogue_id)) if exchanges else None
    if turns is None:
        return list(exchanges)
    return [replace(exchange, booked=domains) for exchange, domains in zip(exchanges, turns, strict=True)]


def _turns(turns: Any, where: str) -> list[tuple[str, ...]]:
    if not isinstance(turns, list):
        raise _wrong_shape(where, turns, "a list with one list of domains per exchange")
    found = []
    for number, domains in enumerate(turns):
        if not isinstance(domains, list) or not all(isinstance(domain, str) for domain in domains):
            raise _wrong_shape(f"{where}, exchange {number}", domains, 'a list of domains such as ["hotel"], or []')
        found.append(tuple(domain.lower() for domain in domains))
    return found


def _wrong_shape(where: str, found: Any, expected: str) -> InputError:
    return InputError(
        "the file of booked domains has the wrong shape",
        where=where,
        found=shorten(found),
        expected=expected,
        remedy="docs/metrics/dialogue/success.md shows the file",
    )
