"""Pictures of results as PNG files, drawn by matplotlib (extra `report`) without its global state.

Every function writes a picture, also when there is nothing to draw: then it says so in words. The same data give the
same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import ceil, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from turnwise.kernel.bands import Bands
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.extras import import_extra
from turnwise.report.correlation import FEWEST, spearman
from turnwise.report.thresholds import COLOURS, MISSING, NEUTRAL, ORDER, spans

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150
LONGEST = 28
"""Longer names are cut: they would leave no room for the picture."""
COLUMNS = 3
"""Histograms in one row."""
_INK, _PALE = "#1b1f24", "#5c6670"

Series = Mapping[str, Sequence[float | None]]


def plots_available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def distributions(path: Path, series: Series, *, title: str = "", bands: Mapping[str, Bands] | None = None) -> Path:
    """A histogram for each metric, the mean and the median marked, the bands shaded where they are known."""
    shown = {name: kept for name, values in series.items() if (kept := _numbers(values))}
    if not shown:
        return _only_words(path, title, "No metric has a value: there is nothing to distribute.")
    columns = min(COLUMNS, len(shown))
    rows = ceil(len(shown) / columns)
    figure = _figure(max(4.2 * columns, 5.6), 2.7 * rows + 0.7, title)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axis, (name, values) in zip(axes, shown.items(), strict=False):
        _histogram(axis, values, (bands or {}).get(name))
        axis.set_title(f"{_label(name)}  (n = {len(values)} of {len(series[name])})", fontsize=10)
    for axis in axes[len(shown) :]:
        axis.set_axis_off()
    note = "solid: mean, dashed: median" + ("; shaded: bands from poor (orange) to excellent (blue)" if bands else "")
    figure.supxlabel(note, fontsize=8.5, color=_PALE)
    return _save(figure, path)


def correlations(path: Path, series: Series, *, title: str = "") -> Path:
    """Spearman's rho between every two metrics over the samples that have both, with n in each cell."""
    names = [name for name, values in series.items() if _numbers(values)]
    if len(names) < 2:
        return _only_words(path, title, "A correlation needs two metrics with values.")
    size = max(4.8, 0.95 * len(names) + 2.2)
    figure = _figure(size, size * 0.9, title)
    axis = figure.subplots()
    colours = import_module("matplotlib.colors").LinearSegmentedColormap.from_list(
        "rho", [COLOURS["poor"], "#ffffff", COLOURS["excellent"]]
    )
    grid = np.ones((len(names), len(names), 3))
    for row, first in enumerate(names):
        for column, second in enumerate(names):
            found = spearman(series[first], series[second])
            if found.value is not None:
                grid[row, column] = colours((found.value + 1) / 2)[:3]
            text = found.text if found.n < FEWEST else f"{found.text}\nn = {found.n}"
            colour = _readable(grid[row, column]) if found.value is not None else _PALE
            axis.text(column, row, text, ha="center", va="center", fontsize=8.5, color=colour)
    axis.imshow(grid, aspect="auto", interpolation="nearest")
    _grid_labels(axis, names, names)
    figure.supxlabel("Spearman's rho over samples that have both values", fontsize=8.5, color=_PALE)
    return _save(figure, path)


def stacked_shares(path: Path, counts: Mapping[str, Mapping[str, int]], *, title: str = "") -> Path:
    """For each metric the share of samples in each band, and of those without a value (`missing`)."""
    shown = {name: count for name, count in counts.items() if sum(count.values())}
    if not shown:
        return _only_words(path, title, "No metric with quality bands was measured.")
    order = [*ORDER, MISSING]
    figure = _figure(8.4, 0.5 * len(shown) + 1.8, title)
    axis = figure.subplots()
    for row, count in enumerate(shown.values()):
        left, total = 0.0, sum(count.values())
        for band in order:
            share = count.get(band, 0) / total
            axis.barh(row, share, left=left, color=COLOURS[band], height=0.68, edgecolor="white", linewidth=0.8)
            if share >= 0.06:
                colour = _readable(_rgb(COLOURS[band]))
                axis.text(left + share / 2, row, f"{share:.0%}", ha="center", va="center", fontsize=8.5, color=colour)
            left += share
    axis.set_yticks(range(len(shown)), [f"{_label(name)} (n = {sum(c.values())})" for name, c in shown.items()])
    axis.set_ylim(len(shown) - 0.5, -0.5)
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axis.tick_params(labelsize=9, length=0)
    _bare(axis)
    patch = import_module("matplotlib.patches").Patch
    handles = [patch(color=COLOURS[band], label=band) for band in order]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(order), fontsize=8.5, frameon=False)
    return _save(figure, path)


def heatmap(
    path: Path,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    bands: Sequence[Sequence[str | None]],
    lower_is_better: Collection[str] = (),
    title: str = "",
) -> Path:
    """Rows by columns with each value written in its cell.

    A cell has the colour of its band; in a column without bands, a grey that is the darker the better its place among
    the rows.
    """
    if not any(_numbers(row) for row in values):
        return _only_words(path, title, "Nothing was measured.")
    longest = max(len(_label(name)) for name in rows)
    figure = _figure(max(5.6, 1.05 * len(columns) + 0.1 * longest + 1.2), 0.42 * len(rows) + 2.5, title)
    axis = figure.subplots()
    grid = np.ones((len(rows), len(columns), 3))
    for column, name in enumerate(columns):
        places = _places([row[column] for row in values], name in lower_is_better)
        for row, place in enumerate(places):
            value, band = values[row][column], bands[row][column]
            if place is not None:
                grey = 0.96 - 0.5 * place
                grid[row, column] = _rgb(COLOURS[band]) if band else (grey, grey, grey)
            text = "–" if place is None or value is None else _short(value)
            axis.text(column, row, text, ha="center", va="center", fontsize=9, color=_readable(grid[row, column]))
    axis.imshow(grid, aspect="auto", interpolation="nearest")
    _grid_labels(axis, [f"{name} ↓" if name in lower_is_better else name for name in columns], rows)
    patch = import_module("matplotlib.patches").Patch
    handles = [patch(color=COLOURS[band], label=band) for band in ORDER]
    handles.append(patch(color=(0.46, 0.46, 0.46), label="no bands: darker is better"))
    if any(name in lower_is_better for name in columns):
        handles.append(patch(color="none", label="↓ lower is better"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8.5, frameon=False, columnspacing=1.2)
    return _save(figure, path)


# Parts of a picture


def _histogram(axis: Axes, values: Sequence[float], bands: Bands | None) -> None:
    low, high = min(values), max(values)
    pad = (high - low) * 0.04 or max(abs(low) * 0.05, 0.5)
    axis.hist(values, bins=min(20, max(5, ceil(len(values) ** 0.5))), color=NEUTRAL, edgecolor="white", linewidth=0.6)
    axis.set_xlim(low - pad, high + pad)
    axis.margins(y=0.1)
    for span in spans(bands) if bands else ():
        left, right = max(span.low, low - pad), min(span.high, high + pad)
        if left < right:
            axis.axvspan(left, right, color=COLOURS.get(span.band, NEUTRAL), alpha=0.28, zorder=0, linewidth=0)
    axis.axvline(float(np.mean(values)), color=_INK, linewidth=1.4)
    axis.axvline(float(np.median(values)), color=_INK, linewidth=1.4, linestyle=(0, (4, 2)))
    axis.locator_params(axis="y", integer=True, nbins=5)
    axis.tick_params(labelsize=8.5, length=2)
    _bare(axis)


def _grid_labels(axis: Axes, columns: Sequence[str], rows: Sequence[str]) -> None:
    labels = [_label(name) for name in columns]
    if max(map(len, labels)) > 9:
        axis.set_xticks(range(len(columns)), labels, rotation=35, ha="right", rotation_mode="anchor", fontsize=9)
    else:
        axis.set_xticks(range(len(columns)), labels, fontsize=9)
    axis.set_yticks(range(len(rows)), [_label(name) for name in rows], fontsize=9)
    axis.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axis.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axis.grid(which="minor", color="white", linewidth=1.6)
    axis.tick_params(which="both", length=0)
    _bare(axis)


def _bare(axis: Axes) -> None:
    for side in ("top", "right", "left", "bottom"):
        axis.spines[side].set_visible(False)


def _only_words(path: Path, title: str, words: str) -> Path:
    figure = _figure(5.6, 2.2, title)
    axis = figure.subplots()
    axis.set_axis_off()
    axis.text(0.5, 0.5, words, ha="center", va="center", fontsize=10.5, color=_PALE, wrap=True)
    return _save(figure, path)


def _figure(width: float, height: float, title: str) -> Figure:
    module = import_extra("matplotlib.figure", "report", "drawing pictures")
    agg = import_extra("matplotlib.backends.backend_agg", "report", "drawing pictures")
    figure: Figure = module.Figure(figsize=(width, height), dpi=DPI, layout="constrained", facecolor="white")
    agg.FigureCanvasAgg(figure)
    engine: Any = figure.get_layout_engine()
    engine.set(h_pad=0.1, w_pad=0.08)
    if title:
        figure.suptitle(_label(title, int(width * 9)), fontsize=12, color=_INK)
    return figure


def _save(figure: Figure, path: Path) -> Path:
    try:
        figure.savefig(path, format="png", metadata={"Software": None})
    except OSError as error:
        raise TurnwiseError(f"{path} cannot be written", found=error.strerror or str(error)) from error
    return path


# Words and numbers


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [float(value) for value in values if value is not None and isfinite(value)]


def _places(values: Sequence[float | None], lower_is_better: bool) -> list[float | None]:
    """The place of each value among its like, from 0 (worst) to 1 (best); halfway where all are the same."""
    distinct = sorted(set(_numbers(values)), reverse=lower_is_better)
    most = len(distinct) - 1
    place = {value: index / most if most else 0.5 for index, value in enumerate(distinct)}
    return [None if value is None else place.get(float(value)) for value in values]


def _short(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def _label(text: str, longest: int = LONGEST) -> str:
    """A name on one line that the font can draw and that is no formula."""
    known = _drawable()
    flat = "".join(c if ord(c) in known else "?" for c in " ".join(str(text).split()))
    cut = flat if len(flat) <= longest else f"{flat[: longest - 1]}…"
    return cut.replace("$", r"\$")


@cache
def _drawable() -> Collection[int]:
    """Characters of the font: matplotlib warns about each one it does not have."""
    manager: Any = import_module("matplotlib.font_manager")
    return frozenset(manager.get_font(manager.findfont("DejaVu Sans")).get_charmap())


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _readable(background: Sequence[float]) -> str:
    """Black or white, whichever stands out more."""
    red, green, blue = (float(part) for part in background[:3])
    return _INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "#ffffff"
