"""Bands as a report shows them: their order, their colours, the ranges between their borders.

Which value is in which band is decided by `turnwise.kernel.bands`; this module only draws and words it.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from turnwise.kernel.bands import Bands
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.registry import REGISTRY

ORDER = ("excellent", "good", "fair", "poor")
"""From the best to the worst."""
MISSING = "missing"
COLOURS = {"excellent": "#0072b2", "good": "#56b4e9", "fair": "#f0c24b", "poor": "#d55e00", MISSING: "#c4c8cc"}
"""Told apart with every common kind of colour vision (after Okabe and Ito)."""
NEUTRAL = "#7f8c99"
"""For values without bands."""

_OPPOSITE = {">=": "<", "<=": ">", ">": "≤", "<": "≥"}
_SHOWN = {">=": "≥", "<=": "≤", ">": ">", "<": "<"}


class Span(NamedTuple):
    """The range of one band on the axis of its metric."""

    band: str
    low: float
    high: float
    words: str
    """The range with its borders, e.g. `15 ≤ x < 30`."""


def spans(bands: Bands) -> list[Span]:
    """The range of each band, from the best to the worst.

    >>> from turnwise.kernel.bands import Band
    >>> [span.words for span in spans(Bands((Band("poor"), Band("fair", ">=15"), Band("good", ">30"))))]
    ['> 30', '15 ≤ x ≤ 30', '< 15']
    """
    found = []
    better: str | None = None
    for band in reversed(bands.bands):
        low, high, words = _between(band.condition or None, better)
        found.append(Span(band.name, low, high, words))
        better = band.condition
    return found


def declared(room: str, labels: Iterable[str]) -> dict[str, Bands]:
    """The bands that metrics declare, by label (`bleu`, `dnsmos.signal`); those without any are left out."""
    found = {}
    for label in labels:
        name, _, output = label.partition(".")
        try:
            outputs = REGISTRY.get(f"{room}/{name}").spec.outputs
        except TurnwiseError:  # a report is drawn also where the metric that made the numbers is not installed
            continue
        bands = next((o.bands for o in outputs if not output or o.name == output), None)
        if bands is not None:
            found[label] = bands
    return found


def _split(condition: str) -> tuple[str, float]:
    symbol = condition[:2] if condition[:2] in _SHOWN else condition[:1]
    return symbol, float(condition[len(symbol) :])


def _between(own: str | None, better: str | None) -> tuple[float, float, str]:
    """The range that meets a band's own condition and not that of the next better one."""
    low, high, words = -inf, inf, []
    for condition, holds in ((own, True), (better, False)):
        if condition is None:
            continue
        symbol, border = _split(condition)
        shown = _SHOWN[symbol] if holds else _OPPOSITE[symbol]
        if shown in (">", "≥"):
            low = border
        else:
            high = border
        words.append((shown, border))
    return low, high, _words(words)


def _words(conditions: list[tuple[str, float]]) -> str:
    if len(conditions) < 2:
        return " ".join(f"{symbol} {border:g}" for symbol, border in conditions) or "any"
    (above, low), (below, high) = sorted(conditions, key=lambda condition: condition[0] in ("<", "≤"))
    return f"{low:g} {'<' if above == '>' else '≤'} x {below} {high:g}"
