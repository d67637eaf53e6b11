"""Tables that say what a booking needs, what carries over and what an act does: YAML files a user can replace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from turnwise.dialogue.normalise import load_normaliser
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.signature import digest

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Name = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True, to_lower=True)]
_Action = Literal["book", "search", "request", "inform", "offer", "fail"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _PolicyData(_Table):
    booking: dict[_Name, list[_Name | Annotated[list[_Name], Field(min_length=1)]]]


class _TransferData(_Table):
    slots: list[_Name]


class _ActionData(_Table):
    acts: dict[_Name, _Action]
    meets: dict[_Action, list[_Action]] = {}
    slots: dict[_Name, _Name] = {}
    intents: dict[_Name, Literal["book", "search"]] = {}


class _WordData(_Table):
    words: list[_Name]


@dataclass(frozen=True, slots=True)
class PolicyTable:
    """The slots each booking needs."""

    name: str
    digest: str
    required: Mapping[str, tuple[tuple[str, ...], ...]]
    """Domain to its requirements; each is met by any one of its slots."""

    def missing(self, domain: str, filled: Iterable[str]) -> list[str]:
        """The requirements of a domain that `filled`, canonical `domain-slot` names, does not meet."""
        have = set(filled)
        return [
            " or ".join(f"{domain}-{slot}" for slot in choice)
            for choice in self.required.get(domain, ())
            if not any(f"{domain}-{slot}" in have for slot in choice)
        ]


@dataclass(frozen=True, slots=True)
class TransferTable:
    """The slots that can carry over from one domain to the next."""

    name: str
    digest: str
    slots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ActionTable:
    """What each act does."""

    name: str
    digest: str
    patterns: tuple[tuple[str, str], ...]
    meets: Mapping[str, tuple[str, ...]]
    slots: Mapping[str, str]
    """The short slot names of acts, in full."""
    intents: tuple[tuple[str, str], ...]
    _known: dict[str, str | None] = field(default_factory=dict, compare=False)

    def action(self, act: str, slots: Iterable[str] = ()) -> str | None:
        """The action of an act that says something about `slots`; None for an act the table does not know."""
        found = (self._action(f"{act}({slot})") for slot in slots)
        return next((action for action in found if action), None) or self._action(act)

    def _action(self, act: str) -> str | None:
        if act not in self._known:
            name = act.strip().lower()
            plain = [(p, a) for p, a in self.patterns if p.endswith(")") == name.endswith(")")]
            self._known[act] = next((action for pattern, action in plain if fnmatchcase(name, pattern)), None)
        return self._known[act]

    def intent(self, name: str) -> str | None:
        """What a user with this intent wants done: book or search; None for an intent the table does not know."""
        return next((wish for pattern, wish in self.intents if fnmatchcase(name, pattern)), None)

    def accepts(self, expected: str, done: Iterable[str]) -> bool:
        """Whether any of the actions meets the expected one."""
        return bool({expected, *self.meets.get(expected, ())} & set(done))


def load_policy(path: Path | None = None) -> PolicyTable:
    """The rules of a file, or those that come with turnwise."""
    data, name = _read(path, "policy", _PolicyData)
    required = {
        domain: tuple(
            tuple(_slot(domain, one) for one in ([choice] if isinstance(choice, str) else choice)) for choice in slots
        )
        for domain, slots in data.booking.items()
    }
    return PolicyTable(name, _digest(data), required)


def load_transfer(path: Path | None = None) -> TransferTable:
    """The slots of a file, or those that come with turnwise."""
    data, name = _read(path, "transferable", _TransferData)
    return TransferTable(name, _digest(data), tuple(dict.fromkeys(data.slots)))


def load_actions(path: Path | None = None) -> ActionTable:
    """The table of a file, or the one that comes with turnwise."""
    data, name = _read(path, "actions", _ActionData)
    meets: dict[str, tuple[str, ...]] = {action: tuple(met) for action, met in data.meets.items()}
    return ActionTable(name, _digest(data), tuple(data.acts.items()), meets, data.slots, tuple(data.intents.items()))


@cache
def load_words(name: str) -> frozenset[str]:
    """A list of words that comes with turnwise."""
    return frozenset(_read(None, name, _WordData)[0].words)


def _slot(domain: str, name: str) -> str:
    """The canonical name, without its domain, of `bookday`, `book day` or `hotel-bookday`."""
    return load_normaliser("none").domain_slot(domain, name.removeprefix(f"{domain}-")).partition("-")[2]


def _digest(data: _Table) -> str:
    return digest([json.dumps(data.model_dump())])  # not sorted: the order of patterns matters


_T = TypeVar("_T", bound=_Table)


def _read(path: Path | None, built_in: str, shape: type[_T]) -> tuple[_T, str]:
    where = f"{built_in}.yaml" if path is None else str(path)
    try:
        own = resources.files("turnwise.dialogue") / "data" / where
        content = own.read_bytes() if path is None else path.read_bytes()
    except OSError as error:
        what = error.strerror or str(error)
        raise InputError(
            f"{where} cannot be read", where=where, found=what, expected="a YAML file", remedy="check the path"
        ) from error
    try:
        return shape.model_validate(yaml.load(content, Loader=_Loader)), built_in if path is None else path.stem  # noqa: S506
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
        place = f"{where}, line {mark.line + 1}, column {mark.column + 1}" if mark else where
        raise InputError(
            "this is not YAML",
            where=place,
            found=" ".join(problem.split()),
            expected="YAML, as UTF-8",
            remedy="docs/dialogue.md shows the built-in file",
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{where} does not have the shape of {built_in}.yaml",
            where=f"{where}: {' > '.join(str(part) for part in first['loc']) or 'the whole file'}",
            found=shorten(first["input"]),
            expected=f"{first['msg']}; sections: {', '.join(shape.model_fields)}",
            remedy="docs/dialogue.md shows the built-in file; quote texts, because YAML reads a bare no as false",
        ) from error
