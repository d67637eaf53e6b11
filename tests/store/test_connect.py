"""Opening a database: what `--db` means, what is said when it cannot be opened, and several processes at once."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest
from sqlalchemy import text

from turnwise.cli import main
from turnwise.kernel.errors import StoreError, UsageError
from turnwise.store import connect as connecting
from turnwise.store.connect import connect, database_url, default_path, describe
from turnwise.store.run import BatchRows, Run
from turnwise.store.schema import HEAD
from turnwise.store.store import Store

PASSWORD = "s3cret-w0rd"


@pytest.fixture
def closed_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_tests_cannot_leave_this_machine() -> None:
    with pytest.raises(ConnectionRefusedError, match="stay on this machine"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)  # an address that is reserved for documentation
    with socket.socket(socket.AF_INET6) as probe, pytest.raises(ConnectionRefusedError, match="2001:db8::1"):
        probe.connect_ex(("2001:db8::1", 80))


# What --db means


def test_without_a_name_the_database_lies_in_the_data_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TURNWISE_DB", str(tmp_path / "named.sqlite"))
    assert database_url(None).database == str(tmp_path / "named.sqlite")
    assert database_url(str(tmp_path / "given.sqlite")).database == str(tmp_path / "given.sqlite")
    monkeypatch.delenv("TURNWISE_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "turnwise" / "turnwise.sqlite"
    Store(None).close()
    assert default_path().is_file()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg", "postgresql+psycopg2"])
def test_a_postgresql_url_always_uses_psycopg(scheme: str) -> None:
    url = database_url(f"{scheme}://ann:{PASSWORD}@127.0.0.1:5433/evals")
    assert (url.drivername, url.port, url.database) == ("postgresql+psycopg", 5433, "evals")
    assert describe(url) == "postgresql://ann:***@127.0.0.1:5433/evals"


def test_a_database_is_described_with_everything_but_its_password() -> None:
    url = database_url(f"postgresql://ann@/evals?host=/run/pg&password={PASSWORD}")
    assert unquote(describe(url)).startswith("postgresql://ann@/evals?host=/run/pg")
    assert PASSWORD not in describe(url)


def test_a_tilde_is_the_home_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert database_url("~/runs.sqlite").database == str(tmp_path / "runs.sqlite")


@pytest.mark.parametrize("db", ["mysql://ann:s3cret-w0rd@host/db", "postgresql://ann:s3cret-w0rd@host:port/db"])
def test_a_url_that_cannot_be_used_is_refused_without_its_password(db: str) -> None:
    with pytest.raises(UsageError, match="--db") as error:
        database_url(db)
    assert "postgresql://user:password@host/database" in str(error.value)
    assert PASSWORD not in str(error.value)


def test_folders_of_a_new_database_are_made(tmp_path: Path) -> None:
    Store(str(tmp_path / "a b" / "ünï" / "runs.sqlite")).close()
    assert (tmp_path / "a b" / "ünï" / "runs.sqlite").is_file()


# What cannot be opened


def truncated(path: Path) -> None:
    Store(str(path)).close()
    path.write_bytes(path.read_bytes()[:5000])


BROKEN: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("dialogue_id,turn_id\n" * 100),
    "a few bytes": lambda path: path.write_bytes(b"\x00\x01"),
    "cut off": truncated,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_is_not_a_database(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "notes.txt"
    BROKEN[kind](path)
    before = path.read_bytes()
    with pytest.raises(StoreError) as error:
        Store(str(path))
    assert error.value.where == str(path)
    assert error.value.remedy is not None
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    path.touch()
    Store(str(path)).close()
    assert path.stat().st_size > 0


@pytest.mark.parametrize("table", ["runs", "items"])
def test_the_database_of_another_program_is_not_taken_over(tmp_path: Path, table: str) -> None:
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as other:
        other.execute(f"CREATE TABLE {table} (name TEXT, price REAL)")
    other.close()
    with pytest.raises(StoreError) as error:
        Store(str(path))
    assert error.value.where == str(path)


def test_a_folder_is_not_a_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="--db is a folder") as error:
        Store(str(tmp_path))
    assert error.value.where == str(tmp_path)


@pytest.mark.parametrize("below", ["runs.sqlite", "deeper/runs.sqlite"])
def test_a_path_below_a_file_cannot_be_made(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be opened") as error:
        Store(str(tmp_path / "file" / below))
    assert str(tmp_path / "file") in str(error.value)


def test_a_busy_database_says_so(sqlite_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(sqlite_path).close()
    monkeypatch.setattr(connecting, "BUSY_SECONDS", 0.1)
    holder = sqlite3.connect(sqlite_path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    store = Store(sqlite_path)
    with pytest.raises(StoreError, match="the database is busy"), store.writing():
        pass
    holder.execute("ROLLBACK")
    with store.writing():
        pass
    store.close()
    holder.close()


def addresses(port: int) -> list[str]:
    at = f"127.0.0.1:{port}"
    return [f"postgresql://ann:{PASSWORD}@{at}/db", f"postgresql://{at}/db?user=ann&password={PASSWORD}"]


@pytest.mark.parametrize("place", [0, 1], ids=["password in front", "password in the query"])
def test_a_server_that_does_not_answer(closed_port: int, place: int) -> None:
    began = time.monotonic()
    with pytest.raises(StoreError, match="cannot be opened") as error:
        Store(addresses(closed_port)[place])
    assert time.monotonic() - began < 15
    assert f"127.0.0.1:{closed_port}" in str(error.value)
    assert PASSWORD not in str(error.value)


@pytest.mark.parametrize("command", [["runs"], ["db", "upgrade"], ["doctor"]], ids=" ".join)
@pytest.mark.parametrize("kind", ["server", "file"])
def test_commands_say_that_the_database_cannot_be_opened(
    command: list[str],
    kind: str,
    closed_port: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "notes.txt").write_text("dialogue_id,turn_id\n" * 100)
    db = addresses(closed_port)[0] if kind == "server" else str(tmp_path / "notes.txt")
    monkeypatch.setattr(sys, "argv", ["turnwise", *command, "--db", db])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    said = "".join(capsys.readouterr())
    assert "internal error" not in said
    assert ("127.0.0.1" if kind == "server" else "notes.txt") in said
    assert PASSWORD not in said


def test_a_database_that_the_server_does_not_have(postgres_server: Callable[[str], str]) -> None:
    with pytest.raises(StoreError, match="cannot be opened") as error:
        Store(postgres_server("nowhere"))
    assert 'database "nowhere" does not exist' in str(error.value)


def test_a_user_who_may_not_make_tables(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS guest")
        admin.execute(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
    with pytest.raises(StoreError) as error:
        Store(postgres_url.replace("postgres:", f"guest:{PASSWORD}"))
    assert "permission denied" in str(error.value)
    assert "file" not in error.value.what  # it is a server
    assert PASSWORD not in str(error.value)


def test_a_database_of_another_version_says_how_to_go_on(db: str) -> None:
    Store(db).close()
    engine = connect(db, check=False)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    engine.dispose()
    with pytest.raises(StoreError, match="another version of turnwise") as error:
        Store(db)
    assert (error.value.found, error.value.expected) == ("schema 0000", f"schema {HEAD}")
    assert "turnwise db upgrade" in str(error.value.remedy)


# Several processes

WRITER = """
import sys, time
from pathlib import Path
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store
db, folder, writer, n_batches, n_items = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), *map(int, sys.argv[4:])
(folder / f"ready{writer}").touch()
while not (folder / "go").exists():
    time.sleep(0.001)
store = Store(db)
run = store.begin(Run(suite="dialogue", system=f"writer {writer}", version="", profile="turnwise",
                      dataset_fingerprint="f", turnwise_version="0", config={}, environment={}), [("dialogue/x", "s")])
for batch in range(n_batches):
    items, scores = [], []
    for place in range(n_items):
        number = batch << 20 | place
        items.append((number, "exchange", f"{batch}/{place}", str(batch), "{}", "x" * 200))
        scores.append((0, "value", "", number, 0, "code", "", writer * 1000 + batch, None, None, None, "scored",
                       None, None))
    store.write_batch(run, BatchRows(batch, items, scores))
store.end(run, "finished")
store.close()
"""
N_WRITERS, N_BATCHES, N_ITEMS = 4, 40, 25


def test_four_processes_make_one_database_and_lose_nothing(db: str, tmp_path: Path) -> None:
    """All of them open the database that is not there yet at the same moment, then write as fast as they can."""
    arguments = [[db, str(tmp_path), str(writer), str(N_BATCHES), str(N_ITEMS)] for writer in range(N_WRITERS)]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, *a], stderr=subprocess.PIPE, text=True) for a in arguments
    ]
    while len(list(tmp_path.glob("ready*"))) < N_WRITERS:
        assert all(writer.poll() is None for writer in writers)
        time.sleep(0.01)
    (tmp_path / "go").touch()
    complaints = [writer.communicate(timeout=120)[1] for writer in writers]
    assert complaints == [""] * N_WRITERS
    store = Store(db)
    runs = {run.system: run for run in store.runs()}
    assert {run.status for run in runs.values()} == {"finished"}
    for writer in range(N_WRITERS):
        run = runs.pop(f"writer {writer}")
        assert store.done_batches(run) == set(range(N_BATCHES))
        assert store.count_items(run) == N_BATCHES * N_ITEMS
        with store.reading() as connection:
            total = connection.scalar(text(f"SELECT SUM(value) FROM scores WHERE run = {run.key}"))
        # 1000 scores of 1000 w + batch, and the batches 0 to 39 add up to 780, 25 times
        assert total == 1_000_000 * writer + 25 * 780
    assert runs == {}
    store.close()


def test_readers_do_not_wait_for_a_writer(
    db: str, begin_run: Callable[..., Run], make_batch: Callable[..., BatchRows]
) -> None:
    writer, reader = Store(db), Store(db)
    run = begin_run(writer)
    with writer.writing() as connection:
        connection.execute(text(f"INSERT INTO batches VALUES ({run.key}, 7)"))
        assert reader.done_batches(run) == set()
    assert reader.done_batches(run) == {7}
    writer.close()
    reader.close()
