"""Derived metrics that are made of the inputs that are there, that ask for dimensions, and whose bands are settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from turnwise.kernel.bands import Band, Bands
from turnwise.kernel.derived import Derived, Input, When
from turnwise.kernel.metric import MetricSpec, Output, Settings
from turnwise.kernel.rollup import FloatArray
from turnwise.report.derive import derived_per_unit
from turnwise.report.series import Series
from turnwise.store.columns import Codes, ItemTable, ScoreColumns, no_parts

ITEMS = ItemTable(
    np.arange(4),
    Codes(np.array([0, 0, 1, 1]), ["c", "d"]),
    {"kind": Codes(np.array([0, 1, -1, 0]), ["x", "y"])},
)


def mean_of_both(inputs: dict[str, FloatArray], *, factor: str = "1", kind: list[str] | None = None) -> FloatArray:
    values = np.stack([inputs["a"], inputs["b"]])
    weights = np.where([one == "x" for one in kind or [""] * values.shape[1]], float(factor), 1.0)
    found: FloatArray = np.nanmean(values, axis=0) * weights
    return found


def _bands(*, factor: str = "1") -> Bands:
    return Bands((Band("low"), Band("high", f">={factor}")))


def spec(*context: str) -> MetricSpec:
    return MetricSpec(
        room="toys", name="both", version=1, question="?", unit="item", outputs=(Output(),), context=context
    )


def series(name: str, values: list[float]) -> Series:
    numbers = np.array(values)
    reasons = np.where(np.isnan(numbers), 0, -1)
    columns = ScoreColumns(
        *("value", "", ITEMS.numbers, np.zeros(4, dtype=np.int64), numbers, numbers[:, None]),
        *([None] * 4, Codes(reasons, ["why"]), no_parts(1)),
    )
    return Series(name, "s", Output(), "", lambda s: s[..., 0], None, columns, ITEMS.rows_of(ITEMS.numbers))


NAN = float("nan")
INPUTS = {"a": series("a", [1.0, 2.0, NAN, NAN]), "b": series("b", [3.0, NAN, NAN, 5.0])}


def made(function: Callable[..., FloatArray] = mean_of_both, **more: object) -> Derived:
    return Derived(spec("factor"), (Input("a"), Input("b")), function, **more)  # type: ignore[arg-type]


def test_a_missing_input_is_missing_unless_the_metric_takes_what_there_is() -> None:
    whole = derived_per_unit(made(), "s", "", INPUTS, ITEMS).columns
    assert whole.values.tolist() == pytest.approx([2.0, NAN, NAN, NAN], nan_ok=True)
    partial = derived_per_unit(made(partial=True), "s", "", INPUTS, ITEMS).columns
    assert partial.values.tolist() == pytest.approx([2.0, 2.0, NAN, 5.0], nan_ok=True)
    assert [partial.reasons.names[code] for code in partial.reasons.codes.tolist() if code >= 0] == [
        "no input has a value"
    ]


def test_no_row_yet_is_missing_for_every_item() -> None:
    nothing = derived_per_unit(made(partial=True), "s", "", {}, ITEMS).columns
    assert np.isnan(nothing.values).all()
    assert nothing.reasons.codes.tolist() == [0, 0, 0, 0]


def test_the_function_takes_dimensions_and_settings_of_the_run() -> None:
    """The first and the last unit are of kind x and count ten times; the second is y; the third has no kind."""
    settings = Settings(context={"factor": "10", "other": "1"})
    derived = made(partial=True, dimensions=("kind",), settings=settings)
    found = derived_per_unit(derived, "s", "", INPUTS, ITEMS).columns
    assert found.values.tolist() == pytest.approx([20.0, 2.0, NAN, 50.0], nan_ok=True)
    assert derived.context == {"factor": "10"}
    absent = replace(derived, dimensions=("kind",))
    without = ItemTable(ITEMS.numbers, ITEMS.clusters, {})
    assert derived_per_unit(absent, "s", "", INPUTS, without).columns.values[0] == 2.0


def test_bands_follow_the_settings_of_the_run() -> None:
    derived = made(bands=_bands, settings=Settings(context={"factor": "3"}))
    assert derived.output.bands is not None
    assert [derived.output.bands.of(value) for value in (2.9, 3.0)] == ["low", "high"]
    assert derived_per_unit(derived, "s", "", INPUTS, ITEMS).output.bands == derived.output.bands
    assert made().output == Output()


@pytest.mark.parametrize("more", [{"partial": True}, {"dimensions": ("kind",)}])
def test_after_roll_up_there_are_no_units(more: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="only a unit has dimensions"):
        made(when=When.AFTER_ROLLUP, **more)
