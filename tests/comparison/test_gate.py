"""Gates: every kind of rule, met and not met, with the numbers; exit codes; JUnit XML; rules that make no sense."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import Cli
from tests.comparison.conftest import Versions
from tests.comparison.keeping import Toy, keep, toys
from turnwise.comparison.gate import Gated, State, check_gate
from turnwise.comparison.gate_report import gate_markdown, junit
from turnwise.comparison.rules import make_rules, read_rules
from turnwise.comparison.selectors import choose
from turnwise.comparison.value import find_output, find_rollup, side_value
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
from turnwise.report.summary import summarise
from turnwise.store.run import Run
from turnwise.store.store import Store


def gated(store: Store, rules: object, run: Run, baseline: Run | None = None, **options: bool) -> Gated:
    chosen = choose(store, run.id), None if baseline is None else choose(store, baseline.id)
    return check_gate(make_rules(rules), *chosen, **options)  # type: ignore[arg-type]


def states(found: Gated) -> list[State]:
    return [check.state for outcome in found.outcomes for check in outcome.checks]


def test_floors_and_ceilings_are_held_against_the_value(kept: Store) -> None:
    run = keep(kept, toys("quality", [0.1, 0.2], [0.6]))  # mean 0.3, macro (0.15 + 0.6) / 2 = 0.375
    rules = [
        {"metric": "quality", "min": 0.3},  # 0.1 + 0.2 + 0.6 is a little less than 0.9
        {"metric": "quality", "min": 0.31},
        {"metric": "quality", "max": 0.3},
        {"metric": "quality", "max": 0.29},
        {"metric": "quality", "rollup": "macro", "min": 0.37, "max": 0.38},
    ]
    found = gated(kept, rules, run)
    assert states(found) == [State.PASSED, State.FAILED, State.PASSED, State.FAILED, State.PASSED, State.PASSED]
    assert [outcome.passed for outcome in found.outcomes] == [True, False, True, False, True]
    assert found.outcomes[1].message.startswith("min 0.31: micro 0.3000")
    assert not found.passed


def test_a_margin_is_met_by_the_whole_interval(kept: Store) -> None:
    """Differences of -0.04, -0.02, 0, 0.02: mean -0.01, error 0.0129, t(3) = 3.182: from -0.051 to 0.031."""
    a = keep(kept, toys("quality", *([0.5] for _ in range(4))))
    b = keep(kept, toys("quality", [0.46], [0.48], [0.5], [0.52]))
    rules = [
        {"metric": "quality", "max_drop": 0.052},
        {"metric": "quality", "max_drop": 0.05},
        {"metric": "quality", "max_drop": 0.005},
        {"metric": "quality", "max_rise": 0.032},
        {"metric": "quality", "max_rise": 0.03},
    ]
    found = gated(kept, rules, b, a)
    assert states(found) == [State.PASSED, State.NOT_SHOWN, State.FAILED, State.PASSED, State.NOT_SHOWN]
    assert "not shown to stay within -0.05" in found.outcomes[1].message
    check = found.outcomes[0].checks[0]
    assert (check.found, check.low, check.high) == pytest.approx((-0.01, -0.0511, 0.0311), abs=2e-4)


def test_a_run_is_no_worse_than_itself_at_any_margin(kept: Store) -> None:
    run = keep(kept, toys("quality", [0.5], [0.7]))
    assert gated(kept, {"metric": "quality", "max_drop": 0, "max_rise": 0}, run, run).passed


def test_a_single_cluster_shows_nothing(kept: Store) -> None:
    a, b = keep(kept, toys("quality", [0.5])), keep(kept, toys("quality", [0.5001]))
    found = gated(kept, {"metric": "quality", "max_drop": 0.1}, b, a)
    assert states(found) == [State.NOT_SHOWN]
    assert "a single cluster" in found.outcomes[0].message


def test_coverage_counts_what_could_have_been_scored(kept: Store) -> None:
    run = keep(kept, toys("quality", [0.5, None], [0.5], [0.5]))
    found = gated(kept, [{"metric": "quality", "min_coverage": 0.75}, {"metric": "quality", "min_coverage": 0.76}], run)
    assert states(found) == [State.PASSED, State.FAILED]
    assert "3 of 4 scored" in found.outcomes[1].message


def test_what_does_not_apply_is_no_gap_in_the_coverage(versions: Versions) -> None:
    """domain_accuracy does not arise for 5 of the 52 exchanges, which name no domain; latency lacks one of 52."""
    store = Store(versions.db)
    try:
        rules = [{"metric": "domain_accuracy", "min_coverage": 1}, {"metric": "system_latency_ms", "min_coverage": 1}]
        found = check_gate(make_rules(rules), choose(store, versions.a))
    finally:
        store.close()
    assert [outcome.checks[0].n for outcome in found.outcomes] == [47, 52]
    assert states(found) == [State.PASSED, State.FAILED]


def test_nothing_scored_fails_and_says_why(kept: Store) -> None:
    run = keep(kept, toys("quality", [None], [None]))
    found = gated(kept, {"metric": "quality", "min": 0, "min_coverage": 0.5}, run)
    assert states(found) == [State.NO_VALUE, State.FAILED]
    assert "no quality: 2" in found.outcomes[0].message


def test_groups(kept: Store) -> None:
    records = [Toy(f"t{i}", f"t{i}", {"quality": float(i)}, {"town": "york" if i < 2 else "hull"}) for i in range(4)]
    run = keep(kept, records)
    found = gated(kept, {"metric": "quality", "group": {"town": "hull"}, "min": 2.5, "max_drop": 0}, run, run)
    assert found.passed
    assert found.outcomes[0].checks[0].found == 2.5
    assert states(gated(kept, {"metric": "quality", "group": {"town": "leeds"}, "min": 0}, run)) == [State.NO_VALUE]
    with pytest.raises(UsageError, match="no item has the dimension 'twon'"):
        gated(kept, {"metric": "quality", "group": {"twon": "hull"}, "min": 0}, run)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"metric": "qualty", "min": 0}, "did you mean quality"),
        ({"metric": "quality.mood", "min": 0}, "has no output 'mood'"),
        ({"metric": "quality", "rollup": "median", "min": 0}, "has no roll-up 'median'"),
        ({"metric": "quality", "max_drop": 0.1}, "compares with a baseline"),
    ],
)
def test_a_rule_that_does_not_fit_the_run_is_an_error(kept: Store, rule: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        gated(kept, rule, keep(kept, toys("quality", [0.5])))


def test_other_data_in_the_baseline_are_refused_where_it_is_used(kept: Store) -> None:
    run, other = (
        keep(kept, toys("quality", [0.5], [0.6])),
        keep(kept, toys("quality", [0.5], [0.6]), dataset_fingerprint="e"),
    )
    assert gated(kept, {"metric": "quality", "min": 0}, run, other).passed
    with pytest.raises(UsageError, match="not the same data"):
        gated(kept, {"metric": "quality", "max_drop": 0.1}, run, other)
    found = gated(kept, {"metric": "quality", "max_drop": 0.1}, run, other, allow_different=True)
    assert any("not the same data" in warning for warning in found.warnings)
    assert "not the same data" in gate_markdown(found)
    assert "not the same data" in junit(found)


def test_the_value_of_a_side_is_that_of_the_summary(versions: Versions) -> None:
    """Value, interval and counts of every roll-up, as `turnwise show` prints them."""
    from turnwise.comparison.sides import make_side
    from turnwise.rooms import register_metrics

    register_metrics()
    store = Store(versions.db)
    try:
        run = store.run(versions.a)
        side = make_side(choose(store, run.id))
        results = summarise(store, run, [("domain",)])
        for result in results:
            name, output = find_output(side, result["metric"], result["output"])
            rollup = find_rollup(result["metric"], output, result["rollup"])
            found = side_value(side, name, output, rollup, result["group"])
            assert found.value == pytest.approx(result["value"])
            assert (found.n_scored, found.n_total) == (result["n_scored"], result["n_total"])
            if not result["group"]:
                assert (found.interval.low, found.interval.high) == pytest.approx((result["low"], result["high"]))
        assert len(results) > 20
    finally:
        store.close()


# The command


def rules_file(folder: Path, text: str) -> Path:
    path = folder / "gate.yaml"
    path.write_text(text, "utf-8")
    return path


GOOD = """
rules:
  - {metric: joint_goal_accuracy, rollup: micro, min: 0.5}
  - {metric: slot_accuracy, max_drop: 0.02}
"""
BAD = GOOD + "  - {metric: system_latency_ms, max_rise: 10, name: 'no slower & <no> worse'}\n"


def test_the_exit_code_says_whether_the_gate_is_met(cli: Cli, versions: Versions, tmp_path: Path) -> None:
    words = ("gate", versions.b, "--baseline", versions.a, "--db", versions.db)
    done = cli(*words, "--rules", rules_file(tmp_path, GOOD))
    assert "passed: 2 rules met" in done.out
    failed = cli(*words, "--rules", rules_file(tmp_path, BAD), code=3)
    assert "FAILED: 1 of 3 rules not met" in failed.err
    assert "no slower & <no> worse: max_rise 10: 399.00 to 550.53" in failed.err
    found = cli(*words, "--rules", rules_file(tmp_path, BAD), "--json", code=3).json()
    assert found["passed"] is False
    assert [rule["passed"] for rule in found["rules"]] == [True, True, False]
    assert found["baseline"]["runs"] == [versions.a]


def test_junit_is_what_ci_reads(cli: Cli, versions: Versions, tmp_path: Path) -> None:
    xml, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    words = ("gate", versions.b, "--baseline", versions.a, "--db", versions.db, "--rules", rules_file(tmp_path, BAD))
    cli(*words, "--junit", xml, "--markdown", markdown, code=3)
    top = ET.fromstring(xml.read_text("utf-8"))
    assert top.tag == "testsuites"
    (suite,) = top
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases][2] == "no slower & <no> worse"
    assert all(case.get("classname") == "turnwise.gate.dialogue" and case.get("time") for case in cases)
    (failure,) = suite.iter("failure")
    assert "151.53" in (failure.get("message") or "")
    assert {p.get("name"): p.get("value") for p in suite.iter("property")}["run"] == versions.b
    assert markdown.read_text("utf-8").startswith("❌ **gate: booking assistant 2 against booking assistant 1**")
    assert "&lt;no>" in markdown.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rules:\n  - {metric: a, mim: 1}\n", ["a rule has no 'mim'", "line 2", "did you mean min"]),
        ("rules:\n  - metric: a\n    min: 0,85\n", ["min is not a number", "line 3", "'0,85'", "rules[0].min"]),
        ("rules:\n  - metric: a\n    min: yes\n", ["min is not a number", "True"]),
        ("rules:\n  - {metric: a, min: .nan}\n", ["min is not a number"]),
        ("rules:\n  - {metric: a, max_drop: -0.1}\n", ["max_drop is a margin", "0 or more"]),
        ("rules:\n  - {metric: a, min_coverage: 95}\n", ["min_coverage is a share", "0 to 1"]),
        ("rules:\n  - {metric: a, min: 2, max: 1}\n", ["nothing can meet the rule"]),
        ("rules:\n  - {metric: a}\n", ["asks for nothing", "min_coverage"]),
        ("rules:\n  - {min: 1}\n", ["needs a metric"]),
        ("rules:\n  - {metric: 7, min: 1}\n", ["metric is not a name", "7"]),
        ("rules:\n  - {metric: a.b, output: c, min: 1}\n", ["names its output twice"]),
        ("rules:\n  - {metric: a, group: york, min: 1}\n", ["group is not a mapping"]),
        ("rules:\n  - metric: a\n    min: 1\n    min: 2\n", ["'min' is given twice", "line 2"]),
        ("rules:\n  - just text\n", ["not a mapping", "'just text'"]),
        ("rules: []\n", ["needs a list of rules"]),
        ("rule: []\n", ["a file of rules has no 'rule'", "did you mean rules"]),
        ("", ["not a mapping"]),
        ("rules: [\n", ["is not YAML"]),
        ("a: 1\n--- \nb: 2\n", ["is not YAML"]),
    ],
)
def test_wrong_rules_are_named_with_file_line_and_remedy(tmp_path: Path, text: str, expected: list[str]) -> None:
    path = rules_file(tmp_path, text)
    with pytest.raises(TurnwiseError) as refused:
        read_rules(path)
    assert refused.value.exit_code == 2
    assert "gate.yaml" in refused.value.message
    for words in expected:
        assert words in refused.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_rules(tmp_path / "none.yaml")
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_rules(tmp_path / "x.yaml")


def test_rules_say_what_they_are() -> None:
    (rule,) = make_rules(
        {"metric": "wer", "rollup": "mean", "group": {"language": "xhosa"}, "max": 0.3, "max_rise": 0.01}
    )
    assert rule.name == "wer (mean) where language=xhosa: max 0.3, max_rise 0.01"
    assert rule.is_relative
    with pytest.raises(UsageError, match="there is no rule"):
        make_rules([])
