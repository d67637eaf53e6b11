"""Addresses at which no scheduler is, or can be: each is told, and soon."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from faulty import Halved, batches, workload

from turnwise.engine.executors import make_executor
from turnwise.kernel.errors import TurnwiseError, UsageError

pytest.importorskip("distributed")

from turnwise.engine.executors import dask_greeting


def test_an_address_where_nobody_listens_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_greeting, "CONNECT_S", 1.0)
    with pytest.raises(TurnwiseError, match="no scheduler answers") as error:
        list(make_executor("tcp://127.0.0.1:9").map(workload(tmp_path, Halved), batches(3)))
    assert error.value.where == "tcp://127.0.0.1:9"


def test_the_reason_behind_a_time_out_is_told() -> None:
    error = OSError("Timed out trying to connect to tcp://nowhere:1 after 10 s")
    assert dask_greeting.told(error) == f"OSError: {error}"
    error.__cause__ = ValueError()
    error.__cause__.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert dask_greeting.told(error) == f"OSError: {error} ([Errno 111] Connection refused)"


def test_what_is_no_scheduler_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A web server, say: it answers, but nothing that Dask would understand."""
    monkeypatch.setattr(dask_greeting, "CONNECT_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=answer_like_a_web_server, args=(server,), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(TurnwiseError, match="no scheduler answers") as error:
            list(make_executor(address).map(workload(tmp_path, Halved), batches(3)))
    assert error.value.where == address
    assert error.value.found


def answer_like_a_web_server(server: socket.socket) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            connection.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")


def test_encryption_without_certificates_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="an encrypted connection needs certificates"):
        list(make_executor("tls://127.0.0.1:9").map(workload(tmp_path, Halved), batches(3)))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:0", "tcp://127.0.0.1:65536", "tcp://user:word@127.0.0.1:8786"])
def test_an_address_that_nobody_can_have_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="this is no address of a scheduler") as error:
        make_executor(address)
    assert error.value.found == address
