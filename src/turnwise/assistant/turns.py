"""Turns that are made of their rows where they are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from turnwise.assistant.records import Turn
from turnwise.assistant.turn_fields import make_turn
from turnwise.engine.later import Later
from turnwise.engine.rows import FilePortion

Portion: TypeAlias = FilePortion | Sequence[tuple[str, Mapping[str, Any]]]
"""Rows with their places, checked before; of a file, as they stand there."""


class Turns(Later[Turn]):
    """The turns of a portion of rows."""

    def __init__(self, portion: Portion, version: str = "") -> None:
        """`version` is that of turns that name none."""
        self._portion, self._version = portion, version

    def _make(self) -> list[Turn]:
        return [make_turn(row, where, self._version) for where, row in self._portion]

    def __len__(self) -> int:
        return len(self._portion)
