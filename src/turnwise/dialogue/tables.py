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

from turnwise.dialogue.normalise import Normaliser, load_normaliser
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.signature import digest

LARGEST = 1_000_000
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
    acts: dict[_Name, _Action] | None = None
    meets: dict[_Action, list[_Action]] | None = None
    slots: dict[_Name, _Name] | None = None
    intents: dict[_Name, Literal["book", "search"]] | None = None


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
    slots = ("".join(slot.replace("_", " ").split()) for slot in data.slots)
    return TransferTable(name, _digest(data), tuple(dict.fromkeys(slots)))


def load_actions(path: Path | None = None) -> ActionTable:
    """The table of a file, or the one that comes with turnwise; a section a file lacks stays the built-in one."""
    own, name = _read(path, "actions", _ActionData)
    built_in, _ = _read(None, "actions", _ActionData)
    data = built_in.model_copy(update=own.model_dump(exclude_none=True))
    meets: dict[str, tuple[str, ...]] = {action: tuple(met) for action, met in (data.meets or {}).items()}
    patterns, intents = ((section or {}).items() for section in (data.acts, data.intents))
    return ActionTable(name, _digest(data), tuple(patterns), meets, data.slots or {}, tuple(intents))


@cache
def load_words(name: str) -> frozenset[str]:
    """A list of words that comes with turnwise."""
    return frozenset(_read(None, name, _WordData)[0].words)


@cache
def _names() -> Normaliser:
    return load_normaliser("none")


def _slot(domain: str, name: str) -> str:
    """The canonical name, without its domain, of `bookday`, `book day` or `hotel-bookday`."""
    return _names().domain_slot(domain, name.removeprefix(f"{domain}-")).partition("-")[2]


def _digest(data: _Table) -> str:
    return digest([json.dumps(data.model_dump())])  # not sorted: the order of patterns matters


def _short(value: Any) -> str:
    """What was found; of what holds many or deep things, only how many: aliases can make a small file a huge tree."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    small = len(inner) <= 5 and not any(isinstance(one, list | dict) for one in inner)
    return shorten(value) if small else f"{type(value).__name__} of {len(inner)}"


_T = TypeVar("_T", bound=_Table)


def _read(path: Path | None, built_in: str, shape: type[_T]) -> tuple[_T, str]:
    where = f"{built_in}.yaml" if path is None else str(path)
    try:
        own = resources.files("turnwise.dialogue") / "data" / where
        content = own.read_bytes() if path is None else path.read_bytes()
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{where} cannot be read", where=where, found=what, expected="a YAML file", remedy="check the path"
        ) from error
    try:
        data = yaml.load(content, Loader=_Loader)  # noqa: S506 - both candidates are safe loaders
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:  # a date that is none, and the like
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
        place = f"{where}, line {mark.line + 1}, column {mark.column + 1}" if mark else where
        raise InputError(
            "this is not YAML",
            where=place,
            found=" ".join(problem.split()),
            expected="YAML, as UTF-8",
            remedy="docs/dialogue.md shows the built-in file; quote texts that look like dates or numbers",
        ) from error
    if len(content) > LARGEST:
        raise InputError(
            f"{where} is too large for a table",
            where=where,
            found=f"{len(content)} bytes",
            expected=f"at most {LARGEST}",
            remedy="docs/dialogue.md shows the built-in file",
        )
    try:
        return shape.model_validate(data), built_in if path is None else path.stem
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{where} does not have the shape of {built_in}.yaml",
            where=f"{where}: {' > '.join(str(part) for part in first['loc']) or 'the whole file'}",
            found=_short(first["input"]),
            expected=f"{first['msg']}; sections: {', '.join(shape.model_fields)}",
            remedy="docs/dialogue.md shows the built-in file; quote texts, because YAML reads a bare no as false",
        ) from error
