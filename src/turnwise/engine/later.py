"""Records that are made when somebody looks at them: where they are measured, not where they are sent from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar, overload

T = TypeVar("T")


class Later(Sequence[T]):
    """A sequence whose elements are read or parsed at the first look; one that is sent is made anew where it arrives.

    A subclass says how they are made, and how many there are.
    """

    @abstractmethod
    def _make(self) -> list[T]: ...

    @cached_property
    def _made(self) -> list[T]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> list[T]: ...

    def __getitem__(self, place: int | slice) -> T | list[T]:
        return self._made[place]

    def __iter__(self) -> Iterator[T]:
        return iter(self._made)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_made"}
