"""What is loaded before anything is asked for: next to nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numpy", "sqlalchemy", "pydantic", "pydantic_core", "yaml", "alembic", "scipy", "torch", "pyarrow", "psycopg"}


def modules(code: str) -> set[str]:
    """Top-level names of what an interpreter has loaded after running `code`, printed behind a mark."""
    script = f"{code}\nprint('MODULES', *sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{script}"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("MODULES")[2].split())


COMMAND = """
from turnwise.cli import main
sys.argv = ["turnwise", *{words!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""


def test_import_loads_nothing() -> None:
    loaded = modules("import turnwise; turnwise.__version__; dir(turnwise)")
    assert loaded & (HEAVY | {"typer", "click", "rich", "json"}) == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    assert modules(COMMAND.format(words=words)) & (HEAVY | {"rich"}) == set()


@pytest.mark.parametrize("words", [["run", "--help"], ["run", "dialogue", "--help"], ["show", "--help"]])
def test_help_of_a_command_loads_little(words: list[str]) -> None:
    by_typer = {"pydantic", "pydantic_core"}  # it checks the types of options with it
    assert modules(COMMAND.format(words=words)) & (HEAVY | {"rich"}) <= by_typer


def test_metrics_are_listed_by_name_without_being_imported() -> None:
    code = "from turnwise.rooms import register_metrics; from turnwise.kernel.registry import REGISTRY\n"
    code += "register_metrics(); assert REGISTRY.names('dialogue')\n"
    code += "assert 'turnwise.dialogue.metrics.slot_accuracy' not in sys.modules"
    modules(code)


def test_names_come_when_they_are_used() -> None:
    code = "import turnwise\nfor name in turnwise.__all__:\n    assert getattr(turnwise, name)\n"
    assert "numpy" in modules(code + "    assert name in dir(turnwise)")


def test_a_name_that_is_not_there() -> None:
    modules("import turnwise\ntry:\n    turnwise.evalute\nexcept AttributeError as e:\n    assert 'evalute' in str(e)")


WATCHED = """
import os, sys

def watch(event, args):
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if writes or event.startswith("socket."):
        os._exit(7)

sys.dont_write_bytecode = True
sys.addaudithook(watch)
import turnwise, turnwise.api, turnwise.cli.app
"""


def test_import_writes_no_file_and_opens_no_socket(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("nothing")
    done = subprocess.run([sys.executable, "-c", WATCHED], cwd=folder, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
