"""Turns that are made of their rows when somebody looks at them: where they are measured, not where they are sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, overload

from turnwise.assistant.records import Turn
from turnwise.assistant.turn_fields import make_turn
from turnwise.engine.rows import FilePortion

Portion: TypeAlias = FilePortion | Sequence[tuple[str, Mapping[str, Any]]]
"""Rows with their places, checked before; of a file, as they stand there."""


class Turns(Sequence[Turn]):
    """The turns of a portion of rows."""

    def __init__(self, portion: Portion, version: str = "") -> None:
        """`version` is that of turns that name none."""
        self._portion, self._version = portion, version

    @cached_property
    def _made(self) -> list[Turn]:
        return [make_turn(row, where, self._version) for where, row in self._portion]

    @overload
    def __getitem__(self, place: int) -> Turn: ...

    @overload
    def __getitem__(self, place: slice) -> list[Turn]: ...

    def __getitem__(self, place: int | slice) -> Turn | list[Turn]:
        return self._made[place]

    def __iter__(self) -> Iterator[Turn]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._portion)

    def __reduce__(self) -> tuple[Any, ...]:
        return Turns, (self._portion, self._version)
