"""The fields of a rubric file: the YAML as plain data, what each room can show a judge, and checks with clear errors.

Nothing is guessed from how a value looks: `no` is a label, not false; `2026-11-16` is text, not a date.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml.nodes import Node, ScalarNode

from turnwise.kernel.errors import UsageError, near_misses, shorten
from turnwise.kernel.jsontext import clean

PIECES: Mapping[str, Mapping[str, str]] = {
    "dialogue": {
        "history": "what was said before this exchange, oldest first",
        "user": "what the user said",
        "response": "the system's response",
        "reference": "a response that a person wrote or approved; one good response among others",
        "state": "what the system believes the user wants, as slots and values",
        "database": "what the system's database holds for the user's request",
        "policy": "the rules that the system has to keep",
        "goal": "what the user was told to get done; the system does not know it",
    },
    "assistant": {
        "history": "the session before this turn, oldest first",
        "query": "the user's message",
        "response": "the assistant's reply",
        "context": "the passages that were retrieved for the reply",
        "feedback": "what a tester noted about the reply",
    },
    "translation": {
        "source": "the text that was translated",
        "reference": "a translation by a person; one good translation among others",
        "hypothesis": "the translation to be judged",
        "source_language": "the language of the source",
        "target_language": "the language it was to be translated into",
    },
    "interpreting": {
        "source": "what the speaker said",
        "expected": "a translation by a person of what the speaker said; one good translation among others",
        "translation": "what the interpreter delivered for this turn",
        "previous_source": "what the speaker of the turn before said",
        "previous_expected": "a translation by a person of the turn before",
        "previous_translation": "what the interpreter delivered for the turn before",
        "source_language": "the language of the speaker",
        "target_language": "the language it was to be translated into",
        "terms": "terms with their agreed translations",
    },
    "duplex": {
        "category": "the kind of situation, as the data set calls it",
        "clean_user": "the user's words with their times in seconds, in the recording without the disturbance",
        "clean_agent": "the agent's words with their times in seconds, in the recording without the disturbance",
        "noisy_user": "the words on the user's side with their times in seconds, in the recording with the disturbance",
        "noisy_agent": "the agent's words with their times in seconds, in the recording with the disturbance",
        "events": "what happened on the user's side, with times in seconds",
    },
}
"""By room: what a rubric may name in `needs` and `sees`, with what the judge is told about it."""
UNITS: Mapping[str, tuple[str, ...]] = {
    "dialogue": ("exchange", "dialogue"),
    "assistant": ("turn",),
    "translation": ("sample",),
    "interpreting": ("turn", "pair"),
    "duplex": ("conversation",),
}
"""By room: what a judge can be asked about; the first is taken where a rubric names none."""
RESERVED = ("reasoning", "spans", "value", "self_consistency")
"""No score may be called so: the answer and the metric have their own use for them."""
LONGEST_NAME = 60
LARGEST_FILE = 1 << 20
"""Bytes. A rubric takes a few thousand, and all of it is sent with every question."""
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


class Fields:
    """A mapping of a rubric, read field by field; every complaint names the file and the field."""

    def __init__(self, content: object, where: str, path: str = "", known: Collection[str] = ()) -> None:
        self.where, self.path = where, path
        if not isinstance(content, Mapping):
            self.wrong("", f"{path or 'a rubric'} is not a mapping of fields", content, ", ".join(known) or None)
        self.content = content
        for name in content if known else ():
            if name not in known:
                remedy = near_misses(str(name), known) or "leave it out"
                self.wrong(str(name), f"there is no field {name!r} here", expected=", ".join(known), remedy=remedy)

    def wrong(
        self, name: str, what: str, found: object = ..., expected: str | None = None, remedy: str | None = None
    ) -> NoReturn:
        """Refuse a field."""
        field = ".".join(part for part in (self.path, name) if part)
        where = f"{self.where}, {field}" if field else self.where
        shown = None if found is ... else "nothing" if found is None else shorten(found)
        raise UsageError(what, where=where, found=shown, expected=expected, remedy=remedy)

    def has(self, name: str) -> bool:
        """Whether something is given."""
        return self.content.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """A text that says something; the default, where there is one and nothing is given."""
        value = self.content.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            remedy = "put it in quotes" if isinstance(value, int | float) else None
            self.wrong(name, f"{name} has to be text", value, "a text that is not empty", remedy)
        return value.strip()

    def name(self, name: str) -> str:
        """A text that can be the name of a metric or an output."""
        value = self.text(name)
        check_name(self, name, value)
        return value

    def choice(self, name: str, known: Sequence[str], default: str) -> str:
        """One of several words."""
        value = self.text(name, default)
        if value not in known:
            remedy = near_misses(value, known) or None
            self.wrong(name, f"{name} cannot be {value!r}", expected=" or ".join(known), remedy=remedy)
        return value

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = default if self.content.get(name) is None else self.content[name]
        if not isinstance(value, bool):
            self.wrong(name, f"{name} is neither true nor false", value, "true or false")
        return value

    def number(self, name: str) -> float:
        """A finite number."""
        value = self.content.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not is_finite(value):
            self.wrong(name, f"{name} is not a number", value, "a number, such as 1 or 0.5")
        return float(value)

    def whole(self, name: str, default: int) -> int:
        """A whole number from 1 on."""
        value = default if self.content.get(name) is None else self.content[name]
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.wrong(name, f"{name} is not a whole number from 1 on", value, "1, 2, 3 ...")
        return value

    def names(self, name: str, known: Collection[str]) -> tuple[str, ...]:
        """A list of known names, none of them twice; empty where nothing is given."""
        value = self.content.get(name)
        if value is None:
            return ()
        if isinstance(value, str) or not isinstance(value, Sequence):
            remedy = f"{name}: [{value}]" if isinstance(value, str) and len(value) < LONGEST_NAME else None
            self.wrong(name, f"{name} is not a list", value, "a list of names", remedy)
        for place, one in enumerate(value):
            if not isinstance(one, str) or one not in known:
                remedy = near_misses(str(one), known) or None
                self.wrong(f"{name}[{place}]", f"there is no {one!r} to see", expected=", ".join(known), remedy=remedy)
            if one in value[:place]:
                self.wrong(f"{name}[{place}]", f"{one} stands there twice", remedy="keep one of them")
        return tuple(value)

    def texts(self, name: str) -> dict[str, str]:
        """A mapping of texts to texts; empty where nothing is given."""
        value = self.content.get(name)
        inner = Fields({} if value is None else value, self.where, self._inner(name))
        return {str(key).strip(): inner.text(key) for key in inner.content}

    def mapping(self, name: str, known: Collection[str] = ()) -> Fields:
        """A mapping within the mapping."""
        return Fields(self.content.get(name), self.where, self._inner(name), known)

    def _inner(self, name: str) -> str:
        return f"{self.path}.{name}".lstrip(".")


def check_name(fields: Fields, name: str, value: str) -> None:
    """Refuse what cannot be the name of a metric or of one of its outputs."""
    if not _NAME.fullmatch(value) or len(value) > LONGEST_NAME:
        plain = re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_").lstrip("0123456789_")
        remedy = f"for example {plain[:LONGEST_NAME].strip('_')}" if plain else None
        expected = f"lower-case letters, digits and underscores, a letter first, at most {LONGEST_NAME} characters"
        fields.wrong(name, f"{shorten(value)} cannot be a name", expected=expected, remedy=remedy)


def is_finite(value: float) -> bool:
    """Whether a number can be calculated with; whole numbers that no float can hold are not."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def plain(content: object, where: str) -> Any:
    """The same as JSON would have it: keys are text, and there is nothing but text, numbers, lists and mappings."""
    if isinstance(content, Mapping):
        return {plain(str(key), where): plain(value, where) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value, where) for value in content]
    if isinstance(content, str) and clean(content) != content:
        found, expected = shorten(content), "no NUL, no half of a surrogate pair"
        raise UsageError("a text has a character that nothing can send", where=where, found=found, expected=expected)
    if content is None or isinstance(content, str | bool | int | float):
        return content
    raise UsageError("a rubric has no place for this", where=where, found=shorten(content), expected="text or numbers")


# A file


class _Loader(yaml.SafeLoader):
    """YAML without guesses: only true, false, null and plain numbers are anything but text; keys always are."""

    yaml_implicit_resolvers: Any = {}  # noqa: RUF012  (how PyYAML declares it)

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        # A few aliases of aliases make a file of a hundred bytes as large as the memory.
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(problem="aliases (*name) are not for rubrics", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Keys as they are written; one that is given twice is refused."""
        found: dict[Any, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise yaml.constructor.ConstructorError(problem="a key has to be text", problem_mark=key.start_mark)
            if key.value in found:
                problem = f"{key.value!r} is given twice"
                raise yaml.constructor.ConstructorError(problem=problem, problem_mark=key.start_mark)
            found[key.value] = self.construct_object(value, deep=True)
        return found


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_mapping)
for _tag, _form, _first in (
    ("bool", r"(?:true|false)\Z", "tf"),
    ("null", r"(?:null|~|)\Z", ["n", "~", ""]),
    ("int", r"-?(?:0|[1-9][0-9]{0,17})\Z", "-0123456789"),
    ("float", r"-?[0-9]{1,18}\.[0-9]{1,18}\Z", "-0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_form), list(_first))


def read_file(path: Path) -> Mapping[str, Any]:
    """The one mapping that a rubric file is."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with NUL in it
        found = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} cannot be read", found=found, remedy="check the path") from error
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{path} is too large for a rubric", expected=f"at most {LARGEST_FILE >> 20} MB")
    try:
        root = yaml.load(data.decode("utf-8-sig"), Loader=_Loader)  # noqa: S506  (a safe loader)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text", found=str(error), remedy="save it as UTF-8") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        remedy = "put text that has a colon, a question mark, a comma or brackets in it in quotes"
        what = f"{path} is not YAML that a rubric can be read from"
        raise UsageError(what, found=_problem(error), remedy=remedy) from error
    if not isinstance(root, Mapping):
        found = "nothing" if root is None else shorten(root)
        raise UsageError(f"{path} is not a rubric", found=found, expected="fields: name, question, needs, scores ...")
    return root


def _problem(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    said = getattr(error, "problem", None) or (str(error) if str(error) else type(error).__name__)
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return place + " ".join(str(said).split())
