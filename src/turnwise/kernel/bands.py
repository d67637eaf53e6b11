"""Bands: the words (excellent, good, fair, poor) a document puts on a range of values.

Borders are half-open and belong to exactly one band; the metric (and its convention) decides which.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import ge, gt, le, lt

_OPERATORS = {">=": ge, "<=": le, ">": gt, "<": lt}


@dataclass(frozen=True, slots=True)
class Band:
    """A name and the condition that a value must meet to enter it; the worst band has none."""

    name: str
    condition: str = ""

    def __post_init__(self) -> None:
        if self.condition:
            self._parsed()

    def admits(self, value: float) -> bool:
        """Whether `value` meets the condition."""
        if not self.condition:
            return True
        symbol, border = self._parsed()
        return bool(_OPERATORS[symbol](value, border))

    def _parsed(self) -> tuple[str, float]:
        symbol = self.condition[:2] if self.condition[:2] in _OPERATORS else self.condition[:1]
        if symbol not in _OPERATORS:
            raise ValueError(f"band {self.name}: {self.condition!r} is not a condition like '>=15'")
        return symbol, float(self.condition[len(symbol) :])


@dataclass(frozen=True, slots=True)
class Bands:
    """Bands from the worst to the best; a value is in the last one that admits it.

    >>> bleu = Bands((Band("poor"), Band("fair", ">=15"), Band("good", ">=30"), Band("excellent", ">50")))
    >>> bleu.of(30.0), bleu.of(50.0), bleu.of(50.1)
    ('good', 'good', 'excellent')
    """

    bands: tuple[Band, ...]

    def __post_init__(self) -> None:
        if not self.bands or self.bands[0].condition:
            raise ValueError("the first band is the worst one and has no condition")
        if any(not band.condition for band in self.bands[1:]):
            raise ValueError("only the first band may be without a condition")

    def of(self, value: float) -> str:
        """The band of a value."""
        return next(band.name for band in reversed(self.bands) if band.admits(value))
