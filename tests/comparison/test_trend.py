"""Trends: versions in the order of time, their values those of `turnwise show`, changes where the level changed."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tests.cli.conftest import Cli
from tests.comparison.conftest import Versions
from tests.comparison.keeping import Toy, keep, toys
from tests.report.pages import Page
from turnwise.comparison.trend import Trend, Wanted, make_trend
from turnwise.comparison.trend_views import sparkline, trend_page, trend_svg, trend_table
from turnwise.kernel.errors import UsageError
from turnwise.report.tables import as_text
from turnwise.store.run import INTERRUPTED
from turnwise.store.store import Store


def noisy(level: float, seed: int) -> list[Toy]:
    """Twenty items around a level; their mean is the level to 0.01."""
    values = level + 0.05 * np.random.default_rng(seed).normal(size=20)
    return toys("quality", *([float(v)] for v in values))


def trend(store: Store, metric: str = "quality", **wanted: object) -> Trend:
    return make_trend(store, Wanted(metric, **wanted))  # type: ignore[arg-type]


def test_a_drop_is_flagged_where_it_happened(kept: Store) -> None:
    levels = [0.8, 0.8, 0.8, 0.7, 0.7]
    for number, level in enumerate(levels):
        keep(kept, noisy(level, number), version=f"v{number}")
    found = trend(kept)
    assert [point.label for point in found.points] == ["v0", "v1", "v2", "v3", "v4"]
    assert [point.found.value for point in found.points] == pytest.approx(levels, abs=0.05)
    (change,) = found.changes.points
    assert [point.change is not None for point in found.points] == [False, False, False, True, False]
    assert change.change == pytest.approx(-0.1, abs=0.04)
    assert found.word(change) == "worse"
    errors = [point.found.error for point in found.points]
    expected = [
        np.std([t.numbers["quality"] for t in noisy(level, n)], ddof=1) / 20**0.5 for n, level in enumerate(levels)
    ]
    assert errors == pytest.approx(expected)
    assert found.warnings == ()


def test_a_quiet_series_has_no_change(kept: Store) -> None:
    for number in range(4):
        keep(kept, noisy(0.8, number), version=f"v{number}")
    assert trend(kept).changes.points == ()


def test_runs_of_a_version_are_one_point_unless_every_run_is_asked_for(kept: Store) -> None:
    for version, level in (("a", 0.1), ("b", 0.2), ("a", 0.3)):
        keep(kept, toys("quality", [level], [level + 0.1]), version=version)
    keep(kept, toys("quality", [9.0], [9.0]), version="c", status=INTERRUPTED)
    found = trend(kept)
    assert [point.label for point in found.points] == ["a", "b"]
    assert [point.found.value for point in found.points] == pytest.approx([0.35, 0.25])  # of a, the newest scores
    assert len(trend(kept, each_run=True).points) == 3


def test_versions_inside_one_run_are_points(kept: Store) -> None:
    records = [Toy(f"t{i}", f"t{i}", {"quality": float(i)}, {"version": "old" if i < 3 else "new"}) for i in range(6)]
    records.append(Toy("t6", "t6", {"quality": 9.0}))
    found = trend(kept) if keep(kept, records) else None
    assert found is not None
    assert [(point.label, point.found.value) for point in found.points][:2] == [("old", 1.0), ("new", 4.0)]
    assert found.points[2].found.value == 9.0  # an item without a version is in the run's own, which has no name


def test_other_data_are_warned_of_and_other_settings_refused(kept: Store) -> None:
    numbers = [Toy(f"t{i}", f"t{i}", {"scaled": 0.1 * i}) for i in range(3)]
    keep(kept, numbers, version="1")
    keep(kept, numbers, version="2", dataset_fingerprint="e")
    assert any("not the same data" in warning for warning in trend(kept, "scaled").warnings)
    keep(kept, numbers, version="3", set_={"scale": "2"})
    with pytest.raises(UsageError, match="not measured in one way"):
        trend(kept, "scaled")
    found = trend(kept, "scaled", allow_different=True)
    assert any("scale=1 and scale=2" in warning for warning in found.warnings)
    for text in (as_text(trend_table(found)), trend_page(found), str(found.as_json())):
        assert "scale=1 and scale=2" in text


def test_it_has_to_be_clear_which_series_is_meant(kept: Store) -> None:
    with pytest.raises(UsageError, match="no finished run has a metric"):
        trend(kept)
    keep(kept, toys("quality", [0.1]), system="a")
    keep(kept, toys("quality", [0.1]), system="b")
    with pytest.raises(UsageError, match="several systems"):
        trend(kept)
    assert len(trend(kept, system="b").points) == 1
    with pytest.raises(UsageError, match="has the system 'c'"):
        trend(kept, system="c")
    with pytest.raises(UsageError, match="no roll-up 'median'"):
        trend(kept, system="b", rollup="median")


def test_the_command(cli: Cli, versions: Versions, tmp_path: Path) -> None:
    page, picture = tmp_path / "t.html", tmp_path / "t.svg"
    words = ("trend", "--metric", "system_latency_ms", "--rollup", "mean", "--db", versions.db)
    done = cli(*words, "--html", page, "--svg", picture)
    assert done.out.startswith("dialogue: booking assistant, system_latency_ms (mean), lower is better\n")
    assert re.search(r"▲ worse: \+1[45]\d", done.out)  # 399 before, about 550 after
    assert "not the same data in all versions" in done.out
    found = cli(*words, "--json").json()
    assert [point["version"] for point in found["points"]] == ["1", "2", "3"]
    assert found["points"][1]["change"]["verdict"] == "worse"
    assert found["points"][0]["change"] is None
    read = Page(page.read_text("utf-8"))
    assert read.troubles == []
    assert read.outside == []
    assert ET.fromstring(picture.read_text("utf-8")).tag.endswith("svg")


def test_pictures_hold_what_data_say_as_text(kept: Store) -> None:
    keep(kept, noisy(0.5, 1), version="<script>", system="&\"'")
    keep(kept, toys("quality", [None]), version="]]>", system="&\"'")
    found = trend(kept)
    assert found.points[1].found.value is None
    read = Page(trend_page(found))
    assert read.troubles == []
    assert len(read.having("script")) == 1
    ET.fromstring(trend_svg(found))
    assert "no change could be looked for" in as_text(trend_table(found))


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 2.0, None, 8.0], "▁▂ █"), ([3.0, 3.0], "▄▄"), ([], ""), ([None], "")],
)
def test_sparkline(values: list[float | None], expected: str) -> None:
    assert sparkline(values) == expected
    assert len(sparkline(values, unicode=False)) == len(expected)
    assert sparkline(values, unicode=False).isascii()
