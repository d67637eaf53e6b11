"""Bring slot names and slot values to one spelling before they are compared, by rules that are data.

A normaliser is a YAML file with a name: `none` and `multiwoz-v1` come with turnwise, users can bring theirs.
It rewrites by table and by parsing, never by similarity, and it can list every rewrite it made.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from turnwise.kernel.errors import UsageError, near_misses, shorten

BUILT_IN = ("multiwoz-v1", "none")
DONTCARE = "dontcare"

# Raise this when the code below treats the same rules differently: every digest changes with it.
ENGINE_VERSION = 1
# Rules that still change a value after this many rounds run in a circle.
MAX_ROUNDS = 20
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnknownNormaliser(UsageError, ValueError):
    """No normaliser has this name, or there is no file at this path."""


class BrokenNormaliser(UsageError, ValueError):
    """A normaliser file is not YAML, or not of the shape described in docs/normalisers.md."""


class RuleCycle(UsageError, ValueError):
    """The rules of a user's file would change a value for ever."""


_Text = Annotated[str, StringConstraints(min_length=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _RuleData(_Section):
    slots: list[_Text]
    replace: dict[_Text, str] = {}
    fold_unicode: bool = False
    words: dict[_Text, str] = {}
    drop_leading: list[_Text] = []
    drop_trailing: list[_Text] = []
    parse: Literal["time", "number"] | None = None
    map: dict[_Text, str] = {}


class _Rules(_Section):
    """A normaliser file together with the sections it takes from slots.yaml."""

    canonical: dict[_Text, list[_Text]]
    aliases: dict[_Text, dict[_Text, _Text]]
    absent: list[str]
    dontcare: list[_Text]
    alternatives: list[_Text] = []
    rules: list[_RuleData] = []


class Normaliser:
    """One spelling per slot name and per value. Answers are remembered: asking again is a look-up."""

    name: str
    """`multiwoz-v1`, `none`, or the stem of a user's file."""
    digest: str
    """First 12 hex digits of the SHA-256 of the rules in use, comments aside. Part of metric signatures."""

    def __init__(self, name: str, data: _Rules) -> None:
        """Take the checked content of a file; `load_normaliser` reads one."""
        self.name = name
        # Not sorted: the order of rules and of replacements matters.
        content = json.dumps({"engine": ENGINE_VERSION, **data.model_dump()})
        self.digest = hashlib.sha256(content.encode()).hexdigest()[:12]
        self._canonical = frozenset(f"{d}-{s}" for d, slots in data.canonical.items() for s in slots)
        self._slot_names = frozenset(s for slots in data.canonical.values() for s in slots)
        self._aliases = data.aliases
        self._absent, self._dontcare = frozenset(data.absent), frozenset(data.dontcare)
        self._separator = re.compile(_any_of(data.alternatives))
        self._rules = tuple(_Rule.of(rule) for rule in data.rules)
        self._rules_of: dict[str, tuple[_Rule, ...]] = {}
        self._flat: dict[str, str] = {}
        self._nested: dict[tuple[str, str], str] = {}
        self._value: dict[tuple[str, str], str | None] = {}
        self._values: dict[tuple[str, str], tuple[str, ...]] = {}

    def slot(self, raw: str) -> str:
        """The canonical `domain-slot` of a flat name such as `Hotel-Book Day`."""
        if raw not in self._flat:
            domain, dash, slot = raw.partition("-")
            self._flat[raw] = self.domain_slot(domain, slot) if dash else _squeeze(raw)
        return self._flat[raw]

    def domain_slot(self, domain: str, slot: str) -> str:
        """The canonical `domain-slot` of a nested name such as `{"hotel": {"book day": ...}}`."""
        key = (domain, slot)
        if key not in self._nested:
            place, name = _squeeze(domain), _squeeze(slot)
            aliases = self._aliases.get("*", {}) | self._aliases.get(place, {})
            plain = name.replace("_", "").replace("-", "")
            name = plain if plain in aliases or plain in self._slot_names else name
            self._nested[key] = f"{place}-{aliases.get(name, name)}"
        return self._nested[key]

    @property
    def slot_names(self) -> frozenset[str]:
        """The canonical slots of all domains, without the domain."""
        return self._slot_names

    def known_slot(self, slot: str) -> bool:
        """Whether the canonical table has this `domain-slot`; unknown ones are kept, and worth reporting."""
        return slot in self._canonical

    def value(self, slot: str, raw: str) -> str | None:
        """The normal form of one value of a canonical slot; None means that nothing was said."""
        key = (slot, raw)
        if key not in self._value:
            self._value[key] = self._normal_form(slot, raw)
        return self._value[key]

    def values(self, slot: str, raw: str | Sequence[str]) -> tuple[str, ...]:
        """The acceptable values in a list or a text (`cheap|moderate`), each once, in order; () is absent."""
        if not isinstance(raw, str):
            return tuple(dict.fromkeys(form for item in raw for form in self.values(slot, item)))
        key = (slot, raw)
        if key not in self._values:
            forms = (self.value(slot, part) for part in self.pieces(raw))
            self._values[key] = tuple(dict.fromkeys(form for form in forms if form is not None))
        return self._values[key]

    def state(self, state: Mapping[str, str | list[str]] | None) -> dict[str, tuple[str, ...]]:
        """What a whole state says, however it is written: canonical slots with their values, without absent ones."""
        slots = ((self.slot(raw), value) for raw, value in (state or {}).items())
        return {slot: values for slot, value in slots if (values := self.values(slot, value))}

    def pieces(self, raw: str) -> list[str]:
        """The alternatives that a reference may write into one text: `cheap|moderate`."""
        return self._separator.split(raw)

    def rewrites(self) -> Mapping[tuple[str, str], str | None]:
        """Every `(slot, raw value)` seen so far whose normal form differs from it, in order of appearance."""
        return {key: form for key, form in self._value.items() if form != key[1]}

    def _normal_form(self, slot: str, raw: str) -> str | None:
        if slot not in self._rules_of:
            self._rules_of[slot] = tuple(rule for rule in self._rules if rule.covers(slot))
        text = before = raw.strip().lower()
        # To a fixed point: a normal form is then its own normal form, whatever the order of the rules.
        for _ in range(MAX_ROUNDS):
            if text in self._absent:
                return None
            if text in self._dontcare:
                return DONTCARE
            before = text
            for rule in self._rules_of[slot]:
                text = rule.apply(text)
            if text == before:
                return text
        raise RuleCycle(
            f"normaliser {self.name}: the rules change this value for ever",
            where=f"slot {slot}, value {shorten(raw)}",
            found=f"after {MAX_ROUNDS} rounds {shorten(before)} became {shorten(text)}",
            remedy="look for two rules that undo each other, or a replacement that contains what it replaces",
        )


def load_normaliser(name_or_path: str) -> Normaliser:
    """A built-in normaliser by name, or one from a YAML file by path (its shape: docs/normalisers.md)."""
    if name_or_path in BUILT_IN:
        return Normaliser(name_or_path, _checked(_packaged(name_or_path), f"{name_or_path}.yaml"))
    path = Path(name_or_path)
    if not path.is_file():
        raise UnknownNormaliser(
            f"no normaliser is called {name_or_path!r}, and there is no such file",
            expected=f"{', '.join(BUILT_IN)}, or the path of a YAML file",
            remedy=near_misses(name_or_path, BUILT_IN) or None,
        )
    own = Normaliser(path.stem, _checked(path.read_bytes(), str(path)))
    if own.name in BUILT_IN and own.digest != load_normaliser(own.name).digest:
        raise BrokenNormaliser(
            f"{own.name} is a built-in normaliser, and this file has other rules",
            where=str(path),
            remedy="rename the file: results are labelled with its name",
        )
    return own


def _packaged(name: str) -> bytes:
    return (resources.files("turnwise.dialogue") / "data" / f"{name}.yaml").read_bytes()


def _checked(content: bytes, file: str) -> _Rules:
    own = _read(content, file)
    if not isinstance(own, dict):
        raise BrokenNormaliser("no mapping", where=file, found=shorten(own), expected="rules: [...]")
    try:
        return _Rules.model_validate(_read(_packaged("slots"), "slots.yaml") | own)
    except ValidationError as error:
        first = error.errors()[0]
        # Rules are counted from one, as a reader does: rules > 3 > map > free.
        field = " > ".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"])
        fields = (_RuleData if len(first["loc"]) > 1 else _Rules).model_fields
        unknown = first["type"] == "extra_forbidden"
        raise BrokenNormaliser(
            "a field of a normaliser file has the wrong shape",
            where=f"{file}: {field}",
            found="an unknown field" if unknown else shorten(first["input"]),
            expected=f"only {', '.join(fields)}" if unknown else first["msg"],
            remedy="quote texts: YAML reads a bare yes, no, 4 or 12:30 as something else",
        ) from error


def _read(content: bytes, file: str) -> Any:
    try:
        return yaml.load(content, Loader=_Loader)  # noqa: S506 - both candidates are safe loaders
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
        where = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else file
        raise BrokenNormaliser("not a YAML file", where=where, found=problem, expected="YAML") from error


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule, compiled. Its parts work in the order of the fields."""

    slots: tuple[str, ...]
    replace: tuple[tuple[str, str], ...]
    fold_unicode: bool
    patterns: tuple[tuple[re.Pattern[str], str], ...]
    parse: str | None
    whole: dict[str, str]

    @classmethod
    def of(cls, data: _RuleData) -> _Rule:
        texts = {rf"(?<!\w){re.escape(k)}(?!\w)": v.replace("\\", r"\\") for k, v in data.words.items()}
        texts[rf"^(?:{_any_of(data.drop_leading)} )+(?=.)"] = ""
        texts[rf"(?<=.)(?: {_any_of(data.drop_trailing)})+$"] = ""
        patterns = tuple((re.compile(pattern), new) for pattern, new in texts.items())
        replace = tuple(data.replace.items())
        return cls(tuple(data.slots), replace, data.fold_unicode, patterns, data.parse, data.map)

    def covers(self, slot: str) -> bool:
        return any(fnmatchcase(slot, pattern) for pattern in self.slots)

    def apply(self, text: str) -> str:
        for old, new in self.replace:
            text = text.replace(old, new)
        if self.fold_unicode:
            text = _fold_unicode(text)
        text = " ".join(text.split())
        for pattern, new in self.patterns:
            text = pattern.sub(new, text)
        if self.parse:
            text = _PARSERS[self.parse](text)
        return " ".join(self.whole.get(text, text).split())


def _squeeze(name: str) -> str:
    return "".join(name.lower().split())


def _any_of(texts: Sequence[str]) -> str:
    """A pattern for any of these texts; for none of them, one that never matches."""
    return f"(?:{'|'.join(map(re.escape, texts))})" if texts else "(?!)"


def _fold_unicode(text: str) -> str:
    # Accents go from Latin letters only: in other scripts marks tell words apart.
    bare = re.sub("([a-z])[\u0300-\u036f]+", r"\1", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", bare).lower()


_CLOCK = re.compile(r"([0-9]{1,2})(?: ?[:.] ?([0-9]{2})|([0-9]{2})|:)?(?: ?([ap])\.?m\.?)?")


def _clock_time(text: str) -> str:
    """`5:15 pm`, `9.15`, `0915` and `929` as hh:mm; what is not surely a time of day comes back unchanged."""
    found = _CLOCK.fullmatch(text)
    if not found:
        return text
    hour, minutes, half = int(found[1]), found[2] or found[3], found[4]
    if hour > 24 or int(minutes or 0) > 59 or not (minutes or half):
        return text  # a lone number may be an hour of the morning or of the evening
    if (half == "a" and hour > 12) or (half == "p" and hour in (0, 24)):
        return text  # contradicts itself
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02d}:{minutes or '00'}"


def _integer(text: str) -> str:
    """`04` and `4.0` as `4`; anything else comes back unchanged."""
    found = re.fullmatch(r"0*([0-9]+)(?:\.0+)?", text)
    return found[1] if found else text


_PARSERS: dict[str, Callable[[str], str]] = {"time": _clock_time, "number": _integer}
