"""Reading the fields of a mapping, each as what it has to be; what it is not is a problem with line and field."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from turnwise.kernel.errors import near_misses, shorten
from turnwise.live.scenario_yaml import Problems, described, is_null, line_of, members

MOST_MS = 24 * 60 * 60 * 1000
"""A day: what is longer is a typing error."""

_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")


class Fields:
    """A mapping of the file. Every method notes what is wrong and then gives None, as for a field that is missing."""

    def __init__(self, node: MappingNode, path: str, problems: Problems) -> None:
        self.node, self.path, self.problems = node, path, problems
        self._members = members(node)
        for name, (key, _) in self._members.items():
            problems.lines[self.field(name)] = line_of(key)

    @property
    def names(self) -> list[str]:
        """The keys that are there."""
        return list(self._members)

    def field(self, name: str) -> str:
        """The whole name of a field."""
        return f"{self.path}.{name}" if self.path else name

    def line(self, name: str) -> int:
        """Where a field is; the mapping, if it is not there."""
        return line_of(self._members[name][0]) if name in self._members else line_of(self.node)

    def wrong(
        self,
        name: str,
        what: str,
        *,
        found: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        """Note a problem with a field."""
        line, field = self.line(name), self.field(name)
        self.problems.add(line, field, what, found=found, expected=expected, remedy=remedy)

    def given(self, name: str) -> Node | None:
        """The value of a field that is there and not null."""
        found = self._members.get(name)
        return None if found is None or is_null(found[1]) else found[1]

    def needed(self, name: str, example: str) -> Node | None:
        """The value of a field that has to be there."""
        node = self.given(name)
        if node is None:
            found = "nothing" if name in self._members else None
            self.wrong(name, f"{name} is missing", found=found, expected=example)
        return node

    def refuse_others(self, known: Collection[str], owner: str) -> None:
        """Note every key that is not known."""
        for name in self._members:
            if name not in known:
                remedy = near_misses(name, known) or None
                self.wrong(name, f"{owner} has no {shorten(name)}", expected=", ".join(known), remedy=remedy)

    # Values

    def text(self, name: str) -> str | None:
        """Text, whatever it looks like."""
        node = self.given(name)
        if node is None:
            return None
        if not isinstance(node, ScalarNode):
            self.wrong(name, f"{name} is not text", found=described(node), expected="text")
            return None
        return str(node.value)

    def name(self, name: str) -> str | None:
        """Text that names something: one line, not blank, no spaces around it."""
        text = self.text(name)
        if text is not None and not is_name(text):
            expected = "one line of text that is not blank and has no spaces around it"
            self.wrong(name, f"{name} is no name", found=shorten(text), expected=expected)
            return None
        return text

    def language(self, name: str) -> str | None:
        """A language code."""
        text = self.text(name)
        if text is not None and not _LANGUAGE.fullmatch(text):
            expected = "a language code, such as en, pt-BR or no"
            self.wrong(name, f"{name} is no language code", found=shorten(text), expected=expected)
            return None
        return text

    def one_of(self, name: str, choices: Sequence[str]) -> str | None:
        """One of a few words."""
        text = self.text(name)
        if text is not None and text not in choices:
            what, remedy = f"there is no {name} {shorten(text)}", near_misses(text, choices) or None
            self.wrong(name, what, found=shorten(text), expected=", ".join(choices), remedy=remedy)
            return None
        return text

    def milliseconds(self, name: str, least: int = 0) -> int | None:
        """A whole number of milliseconds."""
        node = self.given(name)
        if node is None:
            return None
        expected = f"a whole number of milliseconds from {least} to {MOST_MS}"
        if not isinstance(node, ScalarNode) or node.style or not _WHOLE.fullmatch(node.value):
            self.wrong(name, f"{name} is not a time", found=described(node), expected=expected)
            return None
        value = int(node.value[:20])  # Python refuses to read thousands of digits; twenty are too many as it is
        if not least <= value <= MOST_MS:
            what = f"{name} is below {least}" if value < least else f"{name} is longer than a day"
            self.wrong(name, what, found=described(node), expected=expected)
            return None
        return value

    def flag(self, name: str) -> bool | None:
        """`true` or `false`, in no other spelling."""
        node = self.given(name)
        if node is None:
            return None
        if not isinstance(node, ScalarNode) or node.style or node.value not in ("true", "false"):
            self.wrong(name, f"{name} is neither true nor false", found=described(node), expected="true or false")
            return None
        return bool(node.value == "true")

    def number(self, name: str) -> float | None:
        """A finite number."""
        node = self.given(name)
        plain = isinstance(node, ScalarNode) and not node.style and _NUMBER.fullmatch(node.value)
        value = float(node.value) if node is not None and plain else math.nan
        if not math.isfinite(value):
            found = "nothing" if node is None else described(node)
            self.wrong(name, f"{name} is not a number", found=found, expected="a number, such as 70 or 0.5")
            return None
        return value

    def words(self, name: str, *, any_text: bool = False) -> tuple[str, ...] | None:
        """A list of names, or of any text."""
        node = self.given(name)
        if node is None:
            return None
        if not isinstance(node, SequenceNode):
            remedy = f"{name}: [{node.value}]" if isinstance(node, ScalarNode) and len(node.value) < 40 else None
            self.wrong(name, f"{name} is not a list", found=described(node), expected="a list of text", remedy=remedy)
            return None
        words = []
        for place, item in enumerate(node.value):
            if isinstance(item, ScalarNode) and (any_text or (is_name(item.value) and not is_null(item))):
                words.append(str(item.value))
            else:
                field = f"{self.field(name)}[{place}]"
                self.problems.add(line_of(item), field, "this is not text", found=described(item), expected="text")
        return tuple(words)

    def mapping(self, name: str, expected: str) -> Fields | None:
        """A mapping in the mapping."""
        node = self.given(name)
        return None if node is None else as_fields(node, self.field(name), self.problems, expected)

    def items(self, name: str, expected: str) -> Iterator[Fields]:
        """A list of mappings."""
        node = self.given(name)
        if node is not None and not isinstance(node, SequenceNode):
            self.wrong(name, f"{name} is not a list", found=described(node), expected=expected)
        elif node is not None:
            for place, item in enumerate(node.value):
                fields = as_fields(item, f"{self.field(name)}[{place}]", self.problems, expected)
                if fields is not None:
                    yield fields


def as_fields(node: Node, path: str, problems: Problems, expected: str) -> Fields | None:
    """The fields of a node that has to be a mapping."""
    if isinstance(node, MappingNode):
        return Fields(node, path, problems)
    owner = path or "the file"
    problems.add(line_of(node), path, f"{owner} is not a mapping", found=described(node), expected=expected)
    return None


def is_name(text: str) -> bool:
    """Whether a text can name something in a table."""
    return bool(text) and text == text.strip() and text.isprintable()
