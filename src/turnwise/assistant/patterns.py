"""Regular expressions that cannot run away: RE2, whose time grows with the text and never with its square.

Patterns come from files that people write, and replies may be a megabyte long; Python's own engine needs 5 s for the
document's `per our .+ policy` on 80 kB of the wrong text. What RE2 does not know (look-around, back-references) is
refused when a file is read. Two dialects: `turnwise`, and `javascript`, in which the document wrote its patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import re2

from turnwise.kernel.errors import InputError, shorten

Dialect = Literal["turnwise", "javascript"]
_FLAGS = {"turnwise": "(?im)", "javascript": "(?i)"}
"""Case never counts; in turnwise's dialect `^` and `$` are about lines."""
_JAVASCRIPT = {
    ".": r"[^\n\r\x{2028}\x{2029}]",
    r"\s": r"[\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]",
    **{letter: f"(?-i:[{letter.lower()}{letter.upper()}])" for letter in "sSkK"},
}
"""What JavaScript means by these, where RE2 means something else: to RE2 the long s and the Kelvin sign are an s and a
k in another case."""
_PROBES = ("", "a b", " ")
"""Texts in which a pattern that needs no character (`x*`, but also `\\b`) shows itself."""
LONGEST_SHOWN = 200
"""Characters of a match that are kept as evidence."""
_MEMORY = 16 << 20
"""Bytes a compiled pattern may take."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a pattern matched."""

    start: int
    end: int
    text: str

    @property
    def shown(self) -> str:
        """The text as evidence: of a pattern that took in a megabyte, the beginning."""
        return self.text if len(self.text) <= LONGEST_SHOWN else f"{self.text[: LONGEST_SHOWN - 3]}..."


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of which any one may match; compiled at first use, in every process on its own."""

    sources: tuple[str, ...]
    dialect: Dialect = "turnwise"

    def search(self, text: str) -> Found | None:
        """The first place where any of them matches."""
        compiled = _joined(self.sources, self.dialect)
        match = compiled.search(text) if compiled is not None else None
        return None if match is None else Found(match.start(), match.end(), match.group(0))

    def matches(self, text: str) -> bool:
        """Whether any of them matches anywhere."""
        compiled = _joined(self.sources, self.dialect)
        return compiled is not None and compiled.search(text) is not None

    def find_all(self, text: str) -> Iterator[Found]:
        """Every place where one matches, from left to right, none inside another."""
        compiled = _joined(self.sources, self.dialect)
        for match in compiled.finditer(text) if compiled is not None else ():
            yield Found(match.start(), match.end(), match.group(0))

    def blanked(self, text: str) -> str:
        """The text with a blank in place of everything that matches."""
        found = list(self.find_all(text))
        if not found:
            return text
        ends = [0, *(one.end for one in found)]
        starts = [*(one.start for one in found), len(text)]
        return " ".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def check_patterns(sources: Sequence[str], dialect: Dialect, where: str) -> None:
    """Refuse a pattern that RE2 cannot compile, or that matches nothing at all and so everywhere."""
    for source in sources:
        try:
            compiled = _compile(_FLAGS[dialect] + _translated(source, dialect))
        except re2.error as error:
            message = error.args[0] if error.args else error
            raise InputError(
                "the pattern cannot be used",
                where=where,
                found=f"{shorten(source)}: {message.decode() if isinstance(message, bytes) else message}",
                expected="a regular expression of RE2: no look-around, no back-references",
                remedy="https://github.com/google/re2/wiki/Syntax lists what there is",
            ) from error
        if any((match := compiled.search(text)) and match.start() == match.end() for text in _PROBES):
            raise InputError(
                "the pattern matches the empty text, and so every text",
                where=where,
                found=shorten(source),
                expected="a pattern that needs at least one character",
            )


@cache
def _joined(sources: tuple[str, ...], dialect: Dialect) -> Any:
    """All patterns as one; None where there is none."""
    if not sources:
        return None
    parts = [f"(?:{_translated(source, dialect)})" for source in sources]
    return _compile(_FLAGS[dialect] + "|".join(parts))


def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2.compile(pattern, options=options)


@cache
def _translated(source: str, dialect: Dialect) -> str:
    """A pattern in RE2's own terms."""
    if dialect == "turnwise":
        return source
    found, inside, place = [], False, 0
    while place < len(source):
        width = 2 if source[place] == "\\" else 1
        sign = source[place : place + width]
        inside = (inside or sign == "[") and sign != "]"
        found.append(sign if inside else _JAVASCRIPT.get(sign, sign))
        place += width
    return "".join(found)
