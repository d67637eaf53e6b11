"""Errors a user can cause. Each one says what went wrong, where, what was found, what was expected and how to fix it.

The command line prints them without a traceback and ends with their exit code; a library caller catches
`TurnwiseError`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TurnwiseError(Exception):
    """Something failed that the user can understand and usually repair (exit code 1)."""

    exit_code = 1

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.what, self.where, self.found, self.expected, self.remedy = what, where, found, expected, remedy
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """The whole error, one fact per line."""
        facts = [("where", self.where), ("found", self.found), ("expected", self.expected), ("remedy", self.remedy)]
        return "\n".join([self.what, *(f"  {name}: {text}" for name, text in facts if text)])

    def __reduce__(self) -> tuple[object, ...]:
        # The default would hand the joined message to __init__; worker processes send errors back pickled.
        return (_rebuild, (type(self), self.what, self.where, self.found, self.expected, self.remedy))


def _rebuild(
    kind: type[TurnwiseError], what: str, where: str | None, found: str | None, expected: str | None, remedy: str | None
) -> TurnwiseError:
    return kind(what, where=where, found=found, expected=expected, remedy=remedy)


class InputError(TurnwiseError):
    """The data to be evaluated cannot be used as they are (exit code 2)."""

    exit_code = 2


class UsageError(TurnwiseError):
    """The command or call itself is wrong (exit code 2)."""

    exit_code = 2


class StoreError(TurnwiseError):
    """The database cannot be reached, is of another version, or is busy (exit code 1)."""


def near_misses(name: str, known: Iterable[str]) -> str:
    """`did you mean ...?` for a name nobody knows, or the empty string."""
    folded = {one.casefold(): one for one in known}
    close = [folded[one] for one in difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.6)]
    return f"did you mean {' or '.join(close)}?" if close else ""


def shorten(value: object, limit: int = 80) -> str:
    """A value as it was found, short enough for one line of an error message."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
