"""A metric from another package, through the command line: a package is built, installed and used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "dialogue"
COMMAND = Path(sys.executable).with_name("turnwise")

MODULE = '''
from turnwise import Metric, MetricSpec, Output, measured, skipped


class ResponseLength(Metric):
    """Words in the system's response."""

    spec = MetricSpec(
        room="dialogue",
        name="{name}",
        version=1,
        question="How long are the answers?",
        unit="exchange",
        outputs=(Output(statistics=("words",), range=(0.0, None)),),
        needs=("prediction.response",),
    )

    def measure(self, batch):
        for pair in batch.pairs:
            response = pair.prediction.response if pair.prediction else None
            yield pair.unit, "value", skipped("no response") if response is None else measured((len(response.split()),))
'''

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "tiny-plugin"
version = "0.1"

[project.entry-points."turnwise.metrics"]
"dialogue/response_length" = "tiny_plugin:ResponseLength"

[tool.hatch.build.targets.wheel]
include = ["tiny_plugin.py"]
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip installed the plug-in, as a user would."""
    project, site = tmp_path_factory.mktemp("plugin"), tmp_path_factory.mktemp("site")
    (project / "pyproject.toml").write_text(PROJECT)
    (project / "tiny_plugin.py").write_text(MODULE.format(name="response_length"))
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet", "--target", str(site)]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *options, str(project)]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return site


def put(site: Path, module: str, source: str, entry_points: Mapping[str, str]) -> Path:
    """Lay a package down by hand, the way an installer leaves it."""
    (site / f"{module}.py").write_text(textwrap.dedent(source))
    name = module.replace("_", "-")
    info = site / f"{module}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    lines = "".join(f"{key} = {path}\n" for key, path in entry_points.items())
    (info / "entry_points.txt").write_text(f"[turnwise.metrics]\n{lines}")
    (info / "RECORD").write_text("")
    return site


def turnwise(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("TURNWISE_DEBUG", None)
    return subprocess.run(
        [str(COMMAND), *words], capture_output=True, text=True, timeout=120, env=environment, check=False
    )


def run(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    files = ["--references", str(EXAMPLES / "references.jsonl"), "--predictions", str(EXAMPLES / "predictions.jsonl")]
    return turnwise(site, "run", "dialogue", *files, "--db", str(folder / "runs.sqlite"), *words)


def words_by_dialogue() -> dict[str, list[int]]:
    """Word counts of the example's responses, from the file itself."""
    found: dict[str, list[int]] = {}
    for line in (EXAMPLES / "predictions.jsonl").read_text("utf-8").splitlines():
        exchange = json.loads(line)
        found.setdefault(exchange["dialogue_id"], []).append(len(exchange["response"].split()))
    return found


def assert_clear_error(done: subprocess.CompletedProcess[str], *facts: str) -> None:
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "fault of turnwise" not in done.stderr
    assert done.stdout == ""
    for fact in facts:
        assert fact in done.stderr


# --- one that works -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A run with the plug-in's metric: the folder of its database, and its summary."""
    folder = tmp_path_factory.mktemp("kept")
    done = run(installed, folder, "--metrics", "response_length", "--json")
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_it_is_used_from_the_command_line(kept: tuple[Path, dict[str, Any]]) -> None:
    _, summary = kept
    whole = {result["rollup"]: result for result in summary["results"] if not result["group"]}
    counts = words_by_dialogue()
    everything = [count for own in counts.values() for count in own]
    assert whole["micro"]["value"] == pytest.approx(sum(everything) / len(everything))
    assert whole["macro"]["value"] == pytest.approx(sum(sum(own) / len(own) for own in counts.values()) / len(counts))
    # One exchange of the references has no prediction (examples/dialogue/README.md).
    assert (whole["micro"]["n_scored"], whole["micro"]["n_total"]) == (len(everything), 52)
    assert whole["micro"]["missing"] == {"no response": 52 - len(everything)}
    assert whole["micro"]["low"] < whole["micro"]["value"] < whole["micro"]["high"]
    assert whole["micro"]["signature"] == "dialogue/response_length|v1|profile=turnwise"
    assert {result["metric"] for result in summary["results"]} == {"response_length"}


def test_the_value_of_one_exchange_by_hand(installed: Path, kept: tuple[Path, dict[str, Any]]) -> None:
    # "The number is 555 0114." has 5 words.
    database = str(kept[0] / "runs.sqlite")
    done = turnwise(installed, "show", "latest", "--item", "hotel-01/3", "--db", database, "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)["scores"]
    assert [(score["metric"], score["value"]) for score in scores] == [("dialogue/response_length", 5.0)]


def test_it_is_listed_and_described(installed: Path) -> None:
    done = turnwise(installed, "metrics", "--json")
    assert done.returncode == 0, done.stderr
    names = [metric["metric"] for metric in json.loads(done.stdout)]
    assert "dialogue/response_length" in names
    assert "dialogue/joint_goal_accuracy" in names
    done = turnwise(installed, "metrics", "response_length")
    assert "How long are the answers?" in done.stdout


def test_a_default_run_takes_it_along(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    planned = [metric["metric"] for metric in json.loads(done.stdout)["metrics"]]
    assert {"dialogue/response_length", "dialogue/slot_accuracy"} <= set(planned)


def test_worker_processes_know_it_too(installed: Path, tmp_path: Path) -> None:
    options = ["--metrics", "response_length", "--executor", "processes", "--workers", "2", "--json"]
    done = run(installed, tmp_path, *options)
    assert done.returncode == 0, done.stderr
    (value,) = (r["value"] for r in json.loads(done.stdout)["results"] if not r["group"] and r["primary"])
    everything = [count for own in words_by_dialogue().values() for count in own]
    assert value == pytest.approx(sum(everything) / len(everything))


def test_a_number_of_numpy_is_a_number(tmp_path: Path) -> None:
    """Whoever measures with numpy hands over numpy.float64; JSON libraries differ in what they make of it."""
    source = "import numpy as np\n" + MODULE.format(name="response_length").replace("len(", "np.float64(len(", 1)
    source = source.replace(".split()),))", ".split())),))")
    site = put(tmp_path, "numpy_plugin", source, {"dialogue/response_length": "numpy_plugin:ResponseLength"})
    done = run(site, tmp_path, "--metrics", "response_length", "--json")
    assert done.returncode == 0, done.stderr
    (value,) = (r["value"] for r in json.loads(done.stdout)["results"] if not r["group"] and r["primary"])
    everything = [count for own in words_by_dialogue().values() for count in own]
    assert value == pytest.approx(sum(everything) / len(everything))


def test_without_the_package_the_name_is_unknown(tmp_path: Path) -> None:
    done = run(tmp_path, tmp_path, "--metrics", "response_length")
    assert_clear_error(done, "there is no metric 'response_length' in the room 'dialogue'")
    assert done.returncode == 2


# --- ones that do not ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import a_package_nobody_has", "No module named 'a_package_nobody_has'"),
        ("raise RuntimeError('no licence found')", "no licence found"),
        ("class ResponseLength: pass", "ResponseLength"),
    ],
    ids=["missing package", "exception", "not a metric"],
)
def test_a_plugin_that_cannot_be_imported(tmp_path: Path, source: str, found: str) -> None:
    site = put(tmp_path, "bad_plugin", source, {"dialogue/response_length": "bad_plugin:ResponseLength"})
    done = run(site, tmp_path, "--metrics", "response_length")
    assert_clear_error(done, "dialogue/response_length", "bad-plugin", found)


def test_a_plugin_with_a_name_that_is_taken(tmp_path: Path) -> None:
    source = MODULE.format(name="slot_accuracy")
    site = put(tmp_path, "rival_plugin", source, {"dialogue/slot_accuracy": "rival_plugin:ResponseLength"})
    for done in (run(site, tmp_path, "--metrics", "slot_accuracy"), turnwise(site, "metrics")):
        assert_clear_error(
            done,
            "two metrics are called dialogue/slot_accuracy",
            "turnwise.dialogue.metrics.slot_accuracy:SlotAccuracy",
            "rival_plugin:ResponseLength",
        )


def test_a_plugin_without_a_room(tmp_path: Path) -> None:
    source = MODULE.format(name="response_length")
    site = put(tmp_path, "roomless_plugin", source, {"response_length": "roomless_plugin:ResponseLength"})
    assert_clear_error(turnwise(site, "metrics"), "roomless-plugin", "'response_length'", "room/name")


def test_a_plugin_that_fails_while_measuring_costs_its_units_only(tmp_path: Path) -> None:
    source = MODULE.format(name="response_length").replace("len(response.split())", "1 / (len(response) % 2)")
    site = put(tmp_path, "shaky_plugin", source, {"dialogue/response_length": "shaky_plugin:ResponseLength"})
    done = run(site, tmp_path, "--metrics", "response_length", "slot_accuracy", "--json")
    assert done.returncode == 0, done.stderr
    results = {r["metric"]: r for r in json.loads(done.stdout)["results"] if not r["group"] and r["primary"]}
    lengths = [
        len(json.loads(line)["response"]) for line in (EXAMPLES / "predictions.jsonl").read_text("utf-8").splitlines()
    ]
    odd = sum(length % 2 for length in lengths)
    # 1 / 1 where the length is odd; a division by zero where it is even
    assert (results["response_length"]["value"], results["response_length"]["n_scored"]) == (1.0, odd)
    assert results["response_length"]["missing"]["ZeroDivisionError: division by zero"] == len(lengths) - odd
    assert results["slot_accuracy"]["n_scored"] == 51
