"""What an outside reader tripped over: rules and names as people write them, claims that a few clusters cannot bear,
slices that one side lacks, and text from data in every output.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import turnwise
from tests.cli.conftest import EXAMPLES, Cli
from tests.comparison.conftest import Versions
from tests.comparison.keeping import Toy, compared, keep, one, toys
from turnwise.comparison.gate import Gated, check_gate
from turnwise.comparison.rules import make_rules, read_rules
from turnwise.comparison.selectors import choose
from turnwise.comparison.tables import as_plain_text, latex, markdown
from turnwise.kernel.errors import UsageError
from turnwise.store.run import Run
from turnwise.store.store import Store


def gated(store: Store, rules: Sequence[dict[str, Any]], run: Run, baseline: Run | None = None) -> Gated:
    against = None if baseline is None else choose(store, baseline.id)
    return check_gate(make_rules(rules), choose(store, run.id), against)


# Rules


def test_the_mean_is_the_mean_whatever_a_metric_calls_it(kept: Store, tmp_path: Path) -> None:
    """The rules as they are asked for, `rollup: mean`: of 0.8, 0.9 and 1.0, in clusters of two and one, 0.9."""
    run = keep(kept, toys("quality", [0.8, 0.9], [1.0]))
    file = tmp_path / "gate.yaml"
    file.write_text(
        "rules: [{metric: quality, rollup: mean, min: 0.85}, {metric: quality, max_drop: 0.02},"
        " {metric: quality, min_coverage: 0.95}]"
    )
    found = check_gate(read_rules(file), choose(kept, run.id), choose(kept, run.id))
    assert found.passed
    assert found.outcomes[0].checks[0].found == pytest.approx(0.9)
    assert one(compared(kept, run, run, rollup="mean"), "quality", "micro")["a"] == pytest.approx(0.9)


def test_a_ratio_of_sums_is_no_mean(kept: Store) -> None:
    run = keep(kept, toys("hits", [(1.0, 2.0)], [(1.0, 4.0)]))
    with pytest.raises(UsageError, match="hits has no roll-up 'mean'"):
        gated(kept, [{"metric": "hits", "rollup": "mean", "min": 0}], run)


@pytest.mark.parametrize(
    ("limit", "expected"), [("9" * 400, "min is not a number"), ("1e-3", "0.001"), ("'0.5'", "without quotes")]
)
def test_limits_that_are_no_numbers_to_yaml(tmp_path: Path, limit: str, expected: str) -> None:
    file = tmp_path / "gate.yaml"
    file.write_text(f"rules: [{{metric: quality, min: {limit}}}]")
    with pytest.raises(UsageError) as caught:
        read_rules(file)
    assert expected in caught.value.message


def test_a_rule_in_python_that_is_no_mapping() -> None:
    with pytest.raises(UsageError, match="a rule is a mapping"):
        make_rules([5])  # type: ignore[list-item]


def test_a_number_made_of_others_is_covered_as_its_thinnest_input(kept: Store) -> None:
    """Recall was recorded for 5 of 10: F1 rests on no more than that, although it is one number."""
    run = keep(
        kept,
        [Toy(f"t{i}", f"c{i}", {"precision": 1.0, "recall": 1.0 if i < 5 else None}) for i in range(10)],
    )
    found = gated(kept, [{"metric": "f1", "min_coverage": 0.95}, {"metric": "f1", "min_coverage": 0.5}], run)
    assert [outcome.passed for outcome in found.outcomes] == [False, True]
    assert found.outcomes[0].message == "min_coverage 0.95: 0.5000 < 0.95 (5 of 10 scored)"


def test_a_run_that_goes_on_is_warned_of_once(kept: Store) -> None:
    before, run = keep(kept, toys("quality", [0.5], [0.6])), keep(kept, toys("quality", [0.5]), status="running")
    found = gated(kept, [{"metric": "quality", "max_drop": 0.02}], run, before)
    assert sum(run.id in warning for warning in found.warnings) == 1
    assert sum(run.id in warning for warning in gated(kept, [{"metric": "quality", "min": 0}], run).warnings) == 1


# Names


@pytest.mark.parametrize("text", ["system:Clinic, north", "version:1,2", "system:Clinic, north@1,2"])
def test_commas_in_names(kept: Store, text: str) -> None:
    run = keep(kept, toys("quality", [0.5]), system="Clinic, north", version="1,2")
    keep(kept, toys("quality", [0.5]), version="3")
    assert [chosen.run.id for chosen in choose(kept, text)] == [run.id]
    assert len(choose(kept, f"{run.id},version:3")) == 2


# Claims


def test_five_clusters_claim_no_detectable_difference(kept: Store) -> None:
    """Signs of five clusters are all the same in 2 of 32 patterns: no difference at all gets p below 0.0625."""
    a = toys("quality", *([0.0] for _ in range(5)))
    b = toys("quality", *([1.0 + i / 100] for i in range(5)))
    found = compared(kept, keep(kept, a), keep(kept, b))
    row = one(found, "quality")
    assert (row["p"], row["smallest_p"]) == (2 / 32, 2 / 32)
    assert row["detectable"] is None
    assert (row["needed"]["clusters"], row["needed"]["more_clusters"]) == (6, 1)  # 2 of 64 is below 5 %
    assert "would have been found" not in as_plain_text(found)


def test_what_was_seen_and_not_shown_is_not_said_to_be_detectable(kept: Store) -> None:
    """Every value is higher by 0.5; up to the common median, 5.75, lie the first six of both sides all the same."""
    a = toys("delay", *([float(i)] for i in range(12)))
    b = toys("delay", *([float(i) + 0.5] for i in range(12)))
    found = compared(kept, keep(kept, a), keep(kept, b))
    row = one(found, "delay")
    assert row["verdict"] == "no difference shown"
    assert (row["difference"], row["p"], row["smallest_p"]) == (0.5, 1.0, 1.0)
    assert "as many values up to the common percentile" in row["test"]
    assert "would have been found" not in as_plain_text(found)


def test_what_it_would_take_is_said_to_be_before_holm(kept: Store) -> None:
    rng = np.random.default_rng(4)
    records = [
        [Toy(f"t{i}", f"t{i}", {"quality": float(x), "wait": float(y)}) for i, (x, y) in enumerate(rng.random((20, 2)))]
        for _ in range(2)
    ]
    runs = [keep(kept, record) for record in records]
    assert any("before Holm" in note for note in compared(kept, *runs).notes)
    assert not any("before Holm" in note for note in compared(kept, *runs, metrics=["wait"]).notes)


# Slices


def test_a_slot_that_one_side_never_names_counts_where_it_was_named(tmp_path: Path) -> None:
    """All 52 exchanges pair up, so the slices of both sides are those of their own runs.

    In multi-02 the baseline takes a hotel for a restaurant in two exchanges (examples/dialogue/README.md): of its
    12 restaurant price ranges 10 are right; version 2 names none there, and all of its 10 are right.
    """
    sides = [
        turnwise.evaluate(
            {"references": EXAMPLES / "references.jsonl", "predictions": EXAMPLES / name},
            db=str(tmp_path / "runs.sqlite"),
            metrics=["joint_goal_accuracy"],
            by=["slot"],
        )
        for name in ("predictions.jsonl", "predictions_v2.jsonl")
    ]
    found = sides[0].compare(sides[1], "joint_goal_accuracy", by="slot")
    own = [
        {
            r["group"]["slot"]: r["value"]
            for r in side.summary["results"]
            if list(r["group"]) == ["slot"] and r["rollup"] == "micro"
        }
        for side in sides
    ]
    rows = {row["group"]["slot"]: row for row in found if row["group"]}
    both = [slot for slot in rows if slot in own[0] and slot in own[1]]
    assert len(both) > 20
    for slot in both:
        assert (rows[slot]["a"], rows[slot]["b"]) == (pytest.approx(own[0][slot]), pytest.approx(own[1][slot])), slot
    row = rows["restaurant-pricerange"]
    assert (row["a"], row["b"]) == (pytest.approx(10 / 12), 1.0)
    assert (row["n_a"], row["n_b"], row["n_paired"]) == (12, 10, 10)
    assert (row["wins"], row["ties"], row["losses"]) == (0, 10, 0)
    assert row["verdict"] == "no difference shown"
    assert "12 / 10" in as_plain_text(found)


def test_no_slice_on_both_sides_is_said(kept: Store) -> None:
    """Two versions by version: every slice has one side only."""
    a, b = (keep(kept, toys("quality", [0.1], [0.2], version=name)) for name in ("1", "2"))
    found = compared(kept, a, b, by=[("version",)])
    assert "by version: no slice has scores on both sides" in found.notes


# Text from data


HOSTILE = "\x1b[31m![x](http://example.org/p.png)\n`<b>|\u202e"


def test_hostile_names_in_text_markdown_and_latex(kept: Store) -> None:
    """Neither the cursor nor colours move, no picture is fetched, no row breaks, TeX meets no control character."""
    a, b = ([Toy(f"{HOSTILE}{i}", f"c{i}", {"quality": float(x)}) for i in range(3)] for x in (0, 1))
    runs = [keep(kept, a, system=HOSTILE), keep(kept, b, system=HOSTILE)]
    found = compared(kept, *runs)
    for text in (as_plain_text(found), markdown(found), latex(found)):
        assert not {"\x1b", "\u202e"} & set(text)
    assert len(as_plain_text(found).splitlines()) == 3 + len(found.notes) + 4  # title, header, row; heading, plot, line
    assert "](http" not in markdown(found)
    written = latex(found)
    assert r"\textless{}b\textgreater{}" in written
    assert "−" not in written
    assert ".." not in written.replace("...", "")


def test_golden_examples_are_json_lines_and_nothing_else(cli: Cli, versions: Versions, tmp_path: Path) -> None:
    words = ("export", versions.b, "--golden", "2", "--db", versions.db)
    assert "--format latex" in cli(*words, "--format", "latex", code=2).err
    assert "--by" in cli(*words, "--by", "domain", code=2).err
    file = tmp_path / "golden.jsonl"
    cli(*words, "--out", file)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [set(line) for line in lines] == [{"history", "input", "output", "turnwise"}] * 2


# Ratios


def test_one_bad_cluster_beside_forty_that_are_alike_shows_nothing(kept: Store) -> None:
    """A misses twice more in one match, and all others are the same: both ways to swap that match are as far from 0."""
    a = toys("hits", [(1.0, 3.0)], *([(1.0, 1.0)] for _ in range(40)))
    b = toys("hits", *([(1.0, 1.0)] for _ in range(41)))
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "hits")
    assert (row["a"], row["b"]) == (pytest.approx(41 / 43), 1.0)
    assert (row["p"], row["smallest_p"], row["verdict"]) == (1.0, 1.0, "no difference shown")


def test_an_item_on_one_side_only_is_left_out_of_a_ratio(kept: Store) -> None:
    """2 of 4 and 3 of 4 in the two matches that both played; one of these differs, so that p is 1."""
    a = toys("hits", [(1.0, 2.0)], [(1.0, 2.0)], [(0.0, 2.0)])
    b = toys("hits", [(2.0, 2.0)], [(1.0, 2.0)])
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "hits")
    assert (row["a"], row["b"], row["n_only_a"], row["p"]) == (0.5, 0.75, 1, 1.0)
