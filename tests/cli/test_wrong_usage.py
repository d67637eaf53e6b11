"""What users can do wrong: every mistake ends with exit code 2 (or 1), a message that helps, and no traceback."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLE, EXAMPLES, PROGRAM, Cli

COMMANDS = [[], ["demo"], ["run"], ["run", "dialogue"], ["run", "suite"], ["runs"], ["show"], ["metrics"], ["export"]]
COMMANDS += [["doctor"], ["db"], ["db", "upgrade"]]


# Help


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help(cli: Cli, command: list[str]) -> None:
    done = cli(*command, "--help")
    assert done.out.startswith("Usage: ")
    assert done.out == cli(*command, "-h").out
    if command not in ([], ["run"], ["db"]):  # those that only lead to others
        assert "Example" in done.out
        assert "--json" in done.out


def test_help_lists_every_command(cli: Cli) -> None:
    listed = cli("--help").out
    for name in ("demo", "run", "runs", "show", "metrics", "export", "doctor", "db"):
        assert f"  {name} " in listed


def test_version(cli: Cli) -> None:
    from turnwise import __version__

    assert cli("--version").out == f"turnwise {__version__}\n"


# Words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), ["Usage"]),
        (("rnu",), ["rnu", "run"]),
        (("run", "dialog", "--json"), ["dialog", "dialogue"]),
        (("run", "dialogue", "--reference", "x"), ["--reference", "--references"]),
        (("run", "dialogue", *EXAMPLE, "--metrisc", "x"), ["--metrics"]),
        (("run", "dialogue", *EXAMPLE, "stray"), ["stray"]),
        (("run", "dialogue"), ["'predictions' is missing", "turnwise run dialogue --help"]),
        (("run", "dialogue", *EXAMPLE[2:]), ["'references' is missing", "turnwise run dialogue --help"]),
        (("run", "dialogue", *EXAMPLE[:2]), ["'predictions' is missing"]),
        (("run", "dialogue", *EXAMPLE, "--metrics"), ["--metrics"]),
        (("run", "dialogue", *EXAMPLE, "--db", ""), ["--db names no database"]),
        (("run", "dialogue", "--resume", " "), ["--resume names no run", "turnwise runs"]),
        (("run", "dialogue", *EXAMPLE, "--metrics", "slot_acuracy"), ["did you mean slot_accuracy"]),
        (("run", "dialogue", *EXAMPLE, "--metrics", "duplex/slot_accuracy"), ["duplex"]),
        (("run", "dialogue", *EXAMPLE, "--profile", "specs"), ["did you mean spec?", "turnwise or spec"]),
        (("run", "dialogue", *EXAMPLE, "--normaliser", "non"), ["did you mean none?"]),
        (("run", "dialogue", *EXAMPLE, "--normaliser", EXAMPLES / "README.md"), ["README.md"]),
        (("run", "dialogue", *EXAMPLE, "--normaliser", EXAMPLES), ["no such file"]),
        (("run", "dialogue", *EXAMPLE, "--reference-format", "json"), ["unknown format 'json'", "jsonl"]),
        (("run", "dialogue", *EXAMPLE, "--prediction-format", "multiwoz"), ["multiwoz-2.1"]),
        (("run", "dialogue", *EXAMPLE, "--set", "scop=all"), ["--set scop", "did you mean scope?"]),
        (("run", "dialogue", *EXAMPLE, "--set", "scope=al"), ["--set scope", "did you mean all?"]),
        (("run", "dialogue", *EXAMPLE, "--set", "first=maybe"), ["--set first", "true or false"]),
        (("run", "dialogue", *EXAMPLE, "--set", "scope"), ["NAME=VALUE"]),
        (("run", "dialogue", *EXAMPLE, "--set", "=all"), ["NAME=VALUE"]),
        (("run", "dialogue", *EXAMPLE, "--metrics", "slot_accuracy", "--set", "scope=all"), ["no chosen metric"]),
        (("run", "dialogue", *EXAMPLE, "--executor", "procesess"), ["did you mean processes?"]),
        (("run", "dialogue", *EXAMPLE, "--workers", "0"), ["--workers"]),
        (("run", "dialogue", *EXAMPLE, "--workers", "two"), ["--workers"]),
        (("run", "dialogue", *EXAMPLE, "--resamples", "5"), ["resamples", "100"]),
        (("run", "dialogue", *EXAMPLE, "--resamples", "many"), ["--resamples"]),
        (("run", "dialogue", *EXAMPLE, "--by", ""), ["--by"]),
        (("run", "dialogue", "--references", "nothing.jsonl", *EXAMPLE[2:]), ["nothing.jsonl cannot be read"]),
        (("run", "dialogue", *EXAMPLE[:2], "--predictions", EXAMPLES), ["is a folder, not a file"]),
        (("run", "dialogue", *EXAMPLE[:2], "--predictions", EXAMPLES / "README.md"), ["README.md", "not JSON"]),
        (("run", "nothing.yaml"), ["nothing.yaml cannot be read"]),
        (("show",), ["RUN"]),
        (("show", "nothing"), ["there is no run 'nothing'"]),
        (("export", "nothing"), ["there is no run 'nothing'"]),
        (("runs", "--db", "mysql://localhost/x"), ["mysql is not supported", "postgresql://"]),
        (("db",), ["Usage"]),
        (("db", "upgrad"), ["upgrade"]),
    ],
)  # fmt: skip
def test_wrong_words(cli: Cli, words: tuple[object, ...], said: list[str]) -> None:
    done = cli(*words, code=2)
    assert [word for word in said if word not in done.err + done.out] == [], done.err


def test_wrong_usage_makes_no_database(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "runs.sqlite"
    cli("run", "dialogue", "--db", db, code=2)
    cli("run", "dialogue", *EXAMPLE, "--db", db, "--metrics", "nothing", code=2)
    assert not db.exists()


# Files and databases


def test_out_that_is_a_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "results"
    path.write_text("mine", encoding="utf-8")
    for place in (path, path / "inside"):
        done = cli("run", "dialogue", *EXAMPLE, "--resamples", 100, "--out", place, code=2)
        assert f"--out {place} cannot be a folder" in done.err
    assert path.read_text(encoding="utf-8") == "mine"


def test_out_with_a_folder_where_a_file_should_go(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "summary.json").mkdir()
    done = cli("run", "dialogue", *EXAMPLE, "--resamples", 100, "--out", tmp_path, code=1)
    assert "summary.json cannot be written" in done.err
    [run] = cli("runs", "--json").json()
    assert run["status"] == "failed"


@pytest.mark.parametrize("place", ["{file}", "{file}/runs.sqlite", "{folder}", "/proc/nothing/runs.sqlite"])
@pytest.mark.parametrize("command", [("runs",), ("run", "dialogue", *EXAMPLE), ("show", "latest"), ("db", "upgrade")])
def test_databases_that_cannot_be_opened(cli: Cli, tmp_path: Path, command: tuple[object, ...], place: str) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("not a database, but long enough to be looked at " * 100, encoding="utf-8")
    db = place.format(file=notes, folder=tmp_path)
    done = cli(*command, "--db", db, code=1)
    assert db in done.err or "notes.txt" in done.err
    assert notes.read_text(encoding="utf-8").startswith("not a database")


def test_a_server_that_does_not_answer(cli: Cli) -> None:
    done = cli("runs", "--db", "postgresql://user:secret@127.0.0.1:1/x", code=1)
    assert "the database cannot be opened" in done.err
    assert "secret" not in done.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(cli: Cli, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert "cannot be opened" in cli("runs", "--db", tmp_path / "runs.sqlite", code=1).err
        done = cli("run", "dialogue", *EXAMPLE, "--out", tmp_path / "results", code=2)
        assert "cannot be a folder" in done.err
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ["has no exchange"]),
        (b'{"dialogue_id": "hotel-01", "turn_id": 0, "sta', ["line 1", "ends in the middle"]),
        (b'{"dialogue_id": "x", "turn_id": 0, "state": {}}\n', ["no predicted dialogue is in the references"]),
        (b'{"dialogue_id": "hotel-01", "turn_id": 99, "state": {}}\n', ["turn_id"]),
        (b'{"dialogue_id": "hotel-01", "turn_id": 0}\n', ["nothing to measure"]),
        (b'{"dialogue_id": "hotel-01", "turn_id": 0, "state": 5}\n', ["line 1", "'state'"]),
        (b"\xff\xfe\x00", ["UTF-8"]),
    ],
)
def test_predictions_that_cannot_be_used(cli: Cli, tmp_path: Path, content: bytes, said: list[str]) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(content)
    done = cli("run", "dialogue", *EXAMPLE[:2], "--predictions", path, "--json", code=2)
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert [word for word in said if word not in done.err] == [], done.err


def test_aliased_states_are_refused_unless_allowed(cli: Cli, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (EXAMPLES / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    last = {line["dialogue_id"]: line["state"] for line in lines}
    path = tmp_path / "p.jsonl"
    aliased = [json.dumps({**line, "state": last[line["dialogue_id"]]}) for line in lines]
    path.write_text("\n".join(aliased), encoding="utf-8")
    words = ("run", "dialogue", *EXAMPLE[:2], "--predictions", path, "--resamples", 100)
    assert "--allow-constant-state" in cli(*words, code=2).err
    assert "the predicted state is the same in every exchange" in cli(*words, "--allow-constant-state").err


# Standard output


@pytest.mark.parametrize("words", [("export", "latest"), ("metrics",), ("runs",), ("show", "latest", "--json")])
def test_output_that_nobody_reads(kept: tuple[str, str], words: tuple[str, ...]) -> None:
    """`turnwise ... | head -1`: the reader has gone before anything was printed."""
    read, write = os.pipe()
    os.close(read)
    options = () if words == ("metrics",) else ("--db", kept[0])
    done = subprocess.run([PROGRAM, *words, *options], stdout=write, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(write)
    assert done.stderr == b""
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_cannot_show_every_character(program: Cli, tmp_path: Path, encoding: str) -> None:
    line = {"dialogue_id": "北京", "turn_id": 0, "domain": "旅馆", "state": {"旅馆-区": "北"}}
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    words = ("--references", path, "--predictions", path, "--db", "runs.sqlite", "--by", "domain", "--resamples", 100)
    program("run", "dialogue", *words, PYTHONIOENCODING=encoding)
    program("show", "latest", "--db", "runs.sqlite", "--item", "北京/0", PYTHONIOENCODING=encoding)
    assert program("show", "latest", "--db", "runs.sqlite", "--json", PYTHONIOENCODING=encoding).json()
    assert program("export", "latest", "--db", "runs.sqlite", PYTHONIOENCODING=encoding).out


def test_on_a_terminal(tmp_path: Path) -> None:
    """Tables by rich, a progress bar that goes away, and the same numbers."""
    main, worker = pty.openpty()
    words = ["run", "dialogue", *map(str, EXAMPLE), "--resamples", "100", "--db", str(tmp_path / "runs.sqlite")]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1"}
    process = subprocess.Popen([PROGRAM, *words], stdin=worker, stdout=worker, stderr=worker, env=environment)
    os.close(worker)
    shown = b""
    while select.select([main], [], [], 60)[0]:
        try:
            shown += os.read(main, 65536)
        except OSError:  # the other end is closed
            break
    os.close(main)
    assert process.wait(60) == 0
    text = shown.decode()
    assert "0.4038" in text
    assert "─" in text
    assert "Traceback" not in text
