"""Pictures: there, of a sensible size, the same each time, and no warning whatever the data."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from turnwise.kernel.bands import Band, Bands
from turnwise.kernel.errors import TurnwiseError
from turnwise.report import plots
from turnwise.report.correlation import Correlation, spearman
from turnwise.report.thresholds import declared, spans

BLEU = Bands((Band("poor"), Band("fair", ">=15"), Band("good", ">=30"), Band("excellent", ">50")))
MCD = Bands((Band("poor"), Band("fair", "<=8"), Band("good", "<=6"), Band("excellent", "<4.5")))
ODD = "a language with a name that does not end $x^2$ 中文 \n and goes on"

needs_matplotlib = pytest.mark.skipif(not plots.plots_available(), reason="matplotlib is not installed")


def size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def column(seed: int, count: int = 40) -> list[float | None]:
    values = np.random.default_rng(seed).uniform(0, 70, count)
    return [None if i % 9 == 0 else float(v) for i, v in enumerate(values)]


def grid(rows: int, columns: int, band: str | None = None) -> tuple[list[list[float | None]], list[list[str | None]]]:
    values = [column(row, columns) for row in range(rows)]
    return values, [[band if value is not None else None for value in row] for row in values]


def draw_heatmap(path: Path, rows: int, columns: int) -> Path:
    values, bands = grid(rows, columns, "good")
    names = [f"{ODD} {n}" for n in range(rows)]
    return plots.heatmap(path, names, [f"m{n}" for n in range(columns)], values, bands=bands, lower_is_better={"m0"})


DRAWINGS: dict[str, Callable[[Path], Path]] = {
    "distributions": lambda p: plots.distributions(p, {"bleu": column(1), "ter": column(2)}, bands={"bleu": BLEU}),
    "one sample": lambda p: plots.distributions(p, {"bleu": [3.0]}, title=ODD * 5, bands={"bleu": BLEU}),
    "all the same": lambda p: plots.distributions(p, {"mcd": [0.0] * 9}, bands={"mcd": MCD}),
    "no value": lambda p: plots.distributions(p, {"bleu": [None, float("nan")]}),
    "no series": lambda p: plots.distributions(p, {}),
    "five metrics": lambda p: plots.distributions(p, {f"{ODD}{n}": column(n) for n in range(5)}),
    "correlations": lambda p: plots.correlations(p, {"bleu": column(1), "chrf": column(2), "flat": [1.0] * 40}),
    "few pairs": lambda p: plots.correlations(p, {"bleu": [1.0, None, 2.0], "chrf": [None, 3.0, 4.0]}),
    "one metric": lambda p: plots.correlations(p, {"bleu": column(1)}),
    "shares": lambda p: plots.stacked_shares(p, {"bleu": {"good": 3, "poor": 1, "missing": 2}, ODD: {"fair": 1}}),
    "no shares": lambda p: plots.stacked_shares(p, {"bleu": {"good": 0}}),
    "heatmap": lambda p: draw_heatmap(p, 3, 4),
    "one cell": lambda p: plots.heatmap(p, ["xhosa"], ["bleu"], [[3.0]], bands=[["poor"]]),
    "twenty languages": lambda p: draw_heatmap(p, 20, 6),
    "nothing measured": lambda p: plots.heatmap(p, ["xhosa"], ["bleu"], [[None]], bands=[[None]]),
    "no languages": lambda p: plots.heatmap(p, [], [], [], bands=[]),
}


@needs_matplotlib
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_picture_is_there_and_the_same_twice(name: str, tmp_path: Path) -> None:
    first, second = (DRAWINGS[name](tmp_path / file) for file in ("a.png", "b.png"))
    width, height = size(first)
    assert 600 <= width <= 4000
    assert 250 <= height <= 4000
    assert first.read_bytes() == second.read_bytes()


@needs_matplotlib
def test_a_folder_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(TurnwiseError, match="nowhere"):
        plots.correlations(tmp_path / "nowhere" / "a.png", {})


def test_without_matplotlib_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(TurnwiseError, match=r"turnwise\[report\]"):
        plots.stacked_shares(tmp_path / "a.png", {})


@pytest.mark.parametrize(
    ("values", "lower", "places"),
    [
        ([10.0, 30.0, 20.0], False, [0.0, 1.0, 0.5]),
        ([10.0, 30.0, 20.0], True, [1.0, 0.0, 0.5]),
        ([5.0, None, 5.0], False, [0.5, None, 0.5]),
        ([5.0, 5.0, 9.0], True, [1.0, 1.0, 0.0]),
    ],
)
def test_places_run_from_the_worst_to_the_best(
    values: list[float | None], lower: bool, places: list[float | None]
) -> None:
    assert plots._places(values, lower) == places


# What the pictures and the page share


def test_spearman_is_that_of_scipy() -> None:
    from scipy.stats import spearmanr

    random = np.random.default_rng(1)
    first, second = random.integers(0, 6, 50).astype(float), random.normal(size=50)
    expected = spearmanr(first, second).statistic
    assert spearman(first.tolist(), second.tolist()).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "expected", "text"),
    [
        # Ranks 1 2 3 and 1 3 2: 1 - 6 * (0 + 1 + 1) / (3 * 8) = 0.5
        ([1, 2, 3, None], [10, 30, 20, 40], Correlation(0.5, 3), "0.50"),
        ([1, 2, 3], [6, 5, 4], Correlation(-1.0, 3), "-1.00"),
        ([1, 2], [1, 2], Correlation(None, 2), "n<3"),
        ([1, 2, 3], [7, 7, 7], Correlation(None, 3), "constant"),
        ([1, 2, float("nan")], [1, 2, 3], Correlation(None, 2), "n<3"),
    ],
)
def test_spearman_by_hand(first: list[float], second: list[float], expected: Correlation, text: str) -> None:
    found = spearman(first, second)
    assert found == expected
    assert found.text == text


def test_spans_name_every_border_once() -> None:
    assert [(s.band, s.words) for s in spans(BLEU)] == [
        ("excellent", "> 50"),
        ("good", "30 ≤ x ≤ 50"),
        ("fair", "15 ≤ x < 30"),
        ("poor", "< 15"),
    ]
    assert [(s.band, s.low, s.high, s.words) for s in spans(MCD)] == [
        ("excellent", -np.inf, 4.5, "< 4.5"),
        ("good", 4.5, 6, "4.5 ≤ x ≤ 6"),
        ("fair", 6, 8, "6 < x ≤ 8"),
        ("poor", 8, np.inf, "> 8"),
    ]


def test_bands_of_unknown_metrics_are_left_out() -> None:
    assert declared("translation", ["nobody_knows.it"]) == {}
