"""Small pictures inside a page, as SVG: a histogram and a bar of shares. The colours are the page's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, isfinite, sqrt

import numpy as np

from turnwise.kernel.bands import Bands
from turnwise.report.html import class_name, number, text
from turnwise.report.thresholds import MISSING, ORDER

_WIDTH, _HEIGHT, _FOOT = 240, 72, 16
_BINS = 20


def histogram(values: Sequence[float | None], label: str, bands: Bands | None = None) -> str:
    """Bars in the colour of the band at their middle, a line at the mean, the ends of the range below.

    Args:
        values: None is left out.
        label: what is shown, for who cannot see it.
        bands: of the metric, if it has any.
    """
    kept = [float(value) for value in values if value is not None and isfinite(value)]
    if not kept:
        return '<p class="soft">no value</p>'
    low, high = min(kept), max(kept)
    flat = low == high
    mean = float(np.mean(kept))
    at = _WIDTH / 2 if flat else _WIDTH * (mean - low) / (high - low)
    said = f"{label}: {len(kept)} values from {number(low)} to {number(high)}, mean {number(mean)}"
    bars = _bar(low, low, 0.4, 0.6, 1.0, len(kept), bands) if flat else _bars(kept, bands)
    return (
        f'<svg viewBox="-1 0 {_WIDTH + 2} {_HEIGHT + _FOOT}" role="img" aria-label="{text(said)}">{bars}'
        f'<line class="axis" x1="0" x2="{_WIDTH}" y1="{_HEIGHT}" y2="{_HEIGHT}"/>'
        f'<line class="mean" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{_HEIGHT}"/>'
        f"{_ends(low, high, flat)}</svg>"
    )


def share_bar(counts: Mapping[str, int], label: str) -> str:
    """One bar of the width of the page, split into bands from the best to the worst, then what is missing."""
    total = sum(counts.values())
    if not total:
        return '<p class="soft">no sample</p>'
    parts, left = [], 0.0
    for band in (*ORDER, MISSING):
        share = counts.get(band, 0) / total
        if share:
            parts.append(
                f'<rect class="{band}" x="{left:.2f}" y="0" width="{share * _WIDTH:.2f}" height="10">'
                f"<title>{band}: {counts[band]} of {total} ({share:.0%})</title></rect>"
            )
        left += share * _WIDTH
    return (
        f'<svg viewBox="0 0 {_WIDTH} 10" preserveAspectRatio="none" style="height:1.1rem" role="img" '
        f'aria-label="{text(label)}: {text(share_words(counts))}">{"".join(parts)}</svg>'
    )


def share_words(counts: Mapping[str, int]) -> str:
    """`excellent 3, good 5, missing 1`, without what is 0."""
    return ", ".join(f"{band} {counts[band]}" for band in (*ORDER, MISSING) if counts.get(band))


def _bars(values: Sequence[float], bands: Bands | None) -> str:
    counts, edges = np.histogram(values, bins=min(_BINS, max(5, ceil(sqrt(len(values))))))
    share = 1 / len(counts)
    return "".join(
        _bar(float(low), float(high), n * share, (n + 1) * share, float(count / counts.max()), int(count), bands)
        for n, (low, high, count) in enumerate(zip(edges[:-1], edges[1:], counts, strict=True))
        if count
    )


def _bar(low: float, high: float, left: float, right: float, tall: float, count: int, bands: Bands | None) -> str:
    """A bar for the values from `low` to `high`; places and height are shares of the picture."""
    style = class_name(bands.of((low + high) / 2)) if bands else "plain"
    said = f"{number(low)}: {count}" if low == high else f"{number(low)} to {number(high)}: {count}"
    height = max(1.0, _HEIGHT * tall)
    return (
        f'<rect class="{style}" x="{left * _WIDTH + 0.5:.1f}" y="{_HEIGHT - height:.1f}" '
        f'width="{(right - left) * _WIDTH - 1:.1f}" height="{height:.1f}"><title>{said}</title></rect>'
    )


def _ends(low: float, high: float, flat: bool) -> str:
    base = _HEIGHT + 13
    if flat:
        return f'<text x="{_WIDTH / 2:.0f}" y="{base}" text-anchor="middle">{number(low)}</text>'
    return (
        f'<text x="0" y="{base}">{number(low)}</text>'
        f'<text x="{_WIDTH}" y="{base}" text-anchor="end">{number(high)}</text>'
    )
