"""The pytest plug-in in a pytest of its own: inert unless asked for, a test for each rule, a fixture."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.comparison.conftest import Versions

PLUGIN = "turnwise.pytest_plugin"
RULES = """
rules:
  - {metric: joint_goal_accuracy, min: 0.5}
  - {metric: slot_accuracy, max_drop: 0.02}
  - {metric: system_latency_ms, max_rise: 10}
"""
TESTS = """
import sys

def test_met(turnwise_gate):
    found = turnwise_gate({"metric": "joint_goal_accuracy", "min": 0.5})
    assert found.outcomes[0].checks[0].n == 52

def test_not_met(turnwise_gate):
    turnwise_gate([{"metric": "joint_goal_accuracy", "min": 0.5}, {"metric": "joint_goal_accuracy", "max": 0.6}])

def test_inert():
    assert "turnwise.comparison" not in sys.modules
    assert "numpy" not in sys.modules
"""


def run_pytest(folder: Path, *words: object) -> tuple[int, str]:
    """A pytest of its own: of the plug-ins only ours, found as an installed one is; not configured as this one."""
    path = [os.environ.get("PYTHONPATH", "")]
    if not any(point.value == PLUGIN for point in entry_points(group="pytest11")):  # not installed since it was added
        made = folder / "site" / "gates-1.dist-info"
        made.mkdir(parents=True, exist_ok=True)
        (made / "METADATA").write_text("Metadata-Version: 2.1\nName: gates\nVersion: 1\n")
        (made / "entry_points.txt").write_text(f"[pytest11]\nturnwise = {PLUGIN}\n")
        path.append(str(made.parent))
    others = [word for name in ("hypothesispytest", "xdist", "cacheprovider") for word in ("-p", f"no:{name}")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *others, *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -W error\n")
    (tmp_path / "gate.yaml").write_text(RULES)
    (tmp_path / "test_own.py").write_text(TESTS)
    return tmp_path


def test_it_is_registered() -> None:
    """As the package says, whether or not it was installed since."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    assert re.search(rf'\[project\.entry-points\.pytest11\]\nturnwise = "{re.escape(PLUGIN)}"', text)


def test_inert_unless_asked_for(folder: Path) -> None:
    code, out = run_pytest(folder, "-k", "inert", "-q")
    assert code == 0, out
    assert "1 passed" in out
    code, out = run_pytest(folder, "--help")
    assert "--turnwise-gate=FILE" in out


def test_a_test_for_each_rule(folder: Path, versions: Versions) -> None:
    words = ("--turnwise-gate", "gate.yaml", "--turnwise-run", versions.b, "--turnwise-baseline", versions.a)
    code, out = run_pytest(folder, *words, "--turnwise-db", versions.db, "-v", "-k", "gate.yaml")
    assert code == 1, out
    assert "gate.yaml::joint_goal_accuracy: min 0.5 PASSED" in out
    assert "gate.yaml::slot_accuracy: max_drop 0.02 PASSED" in out
    assert "gate.yaml::system_latency_ms: max_rise 10 FAILED" in out
    assert "max_rise 10: 399.00 to 550.53, difference 151.53" in out
    assert "Traceback" not in out
    assert "1 failed, 2 passed" in out
    code, out = run_pytest(folder, *words, "--turnwise-db", versions.db, "gate.yaml", "-q")
    assert "1 failed, 2 passed" in out  # the file named among the tests: nothing twice


def test_the_fixture(folder: Path, versions: Versions) -> None:
    code, out = run_pytest(folder, "--turnwise-run", versions.b, "--turnwise-db", versions.db, "-k", "met")
    assert code == 1, out
    assert "1 failed, 1 passed" in out
    assert "max 0.6: micro 0.8077" in out
    assert "min 0.5: micro" not in out  # what is met is not complained about


def test_wrong_rules_stop_it(folder: Path, versions: Versions) -> None:
    (folder / "gate.yaml").write_text("rules: [{metric: joint_goal_accuracy, mim: 1}]\n")
    code, out = run_pytest(folder, "--turnwise-gate", "gate.yaml", "--turnwise-db", versions.db)
    assert code != 0
    assert "a rule has no 'mim'" in out
    assert "Traceback" not in out
    (folder / "gate.yaml").write_text("rules: [{metric: nothing, min: 1}]\n")
    words = ("--turnwise-gate", "gate.yaml", "--turnwise-run", versions.b, "--turnwise-db", versions.db)
    code, out = run_pytest(folder, *words, "-k", "gate.yaml")
    assert code == 1
    assert "has a metric 'nothing'" in out
