"""What fails is called by its name: the disk, the address, the protocol, or whoever pressed Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.live.servers import broken, serving, simulated, write_scenario
from turnwise.live.address import make_address
from turnwise.live.connection import refusal
from turnwise.live.drive import Driven, drive
from turnwise.live.scenario import load_scenarios
from turnwise.live.wire import Sounds, WireLog


def driven(folder: Path, address: str, **options: Any) -> Driven:
    (found,) = drive(load_scenarios([write_scenario(folder)]), make_address(address), "acs", folder / "out", **options)
    return found


def failing_after(calls: int, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that works so many times, until the disk is full."""
    left = calls

    def fails(*words: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device", "captures/x")
        return method(*words)

    return fails


# What cannot be written


@pytest.mark.parametrize(("kind", "method"), [(Sounds, "put"), (WireLog, "_flush"), (WireLog, "write")])
def test_a_full_disk_is_no_failed_connection(
    kind: type[Any], method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, method, failing_after(3, getattr(kind, method)))
    with simulated() as address:
        one = driven(tmp_path, address)
    assert one.capture.reason == "the capture could not be written: No space left on device (captures/x)"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    with simulated() as address:
        one = driven(tmp_path, address)
    assert (one.capture.reason or "").startswith("the capture could not be written: ")


def test_one_that_cannot_be_written_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put = Sounds.put

    def fails(self: Sounds, name: str, pcm: bytes, rate: int) -> int:
        if "01" in str(self._folder):
            raise OSError(errno.ENOSPC, "No space left on device")
        return put(self, name, pcm, rate)

    monkeypatch.setattr(Sounds, "put", fails)
    scenarios = load_scenarios([write_scenario(tmp_path, barge_in_ms=1800, tail_ms=300)])
    with simulated() as address:
        full, sound = drive(scenarios, make_address(address), "acs", tmp_path / "out", repeat=2, parallel=2)
    assert full.capture.reason == "the capture could not be written: No space left on device"
    assert sound.capture.reason is None
    assert json.loads((full.folder / "capture.json").read_text())["reason"] == full.capture.reason


# What the connection says


def test_a_message_that_is_too_large(tmp_path: Path) -> None:
    async def sends(socket: Any) -> None:
        await socket.send("x" * ((16 << 20) + 1))
        await asyncio.sleep(3)

    with broken(sends) as address:
        assert driven(tmp_path, address).capture.reason == "the system sent a message of more than 16 MB"


def test_more_than_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwise.live.listening.MOST_WAITING", 1 << 20)

    async def sends(socket: Any) -> None:
        await socket.send(json.dumps({"type": "x", "part": "y" * (1 << 20)}))
        await asyncio.sleep(3)

    with broken(sends) as address:
        assert driven(tmp_path, address).capture.reason == "the system flooded the call: more than 1 MB wait to be read"


def test_a_message_in_pieces_is_read(tmp_path: Path) -> None:
    async def sends(socket: Any) -> None:
        await socket.send(['{"type": "transcript", ', '"text": "Hallo", ', '"target_language": "de"}'])
        async for _ in socket:
            pass

    with broken(sends) as address:
        one = driven(tmp_path, address)
    assert one.capture.reason is None
    assert [event["text"] for event in one.capture.events if event["type"] == "translated_text"] == ["Hallo"]


def test_a_protocol_that_is_broken(tmp_path: Path) -> None:
    async def breaks(socket: Any) -> None:
        socket.transport.write(b"\xf1\x00")  # reserved bits
        await asyncio.sleep(3)

    with broken(breaks) as address:
        assert "the system broke the protocol (1002" in (driven(tmp_path, address).capture.reason or "")


def test_tls_to_a_port_without(tmp_path: Path) -> None:
    with simulated() as address:
        one = driven(tmp_path, address.replace("ws://", "wss://"))
    reason = one.capture.reason or ""
    assert "no TLS was agreed on" in reason
    assert reason.endswith("a system without TLS is called with ws://")


def test_what_does_not_speak_websocket(tmp_path: Path) -> None:
    async def start() -> Any:
        async def gibberish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.write(b"\x15\x03\x01\x00\x02\x02\x46\r\n\r\n")  # what a server with TLS answers to plain text
            await writer.drain()
            writer.close()

        return await asyncio.start_server(gibberish, "127.0.0.1", 0)

    with serving(start) as address:
        reason = driven(tmp_path, address).capture.reason or ""
    assert reason == (
        "the system does not answer as a WebSocket does; if it listens with TLS, its address begins with wss://"
    )


def test_a_certificate_that_is_not_trusted() -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "self-signed certificate"
    assert refusal(error, secure=True) == (
        "the system's certificate is not trusted: self-signed certificate (--ca names an authority)"
    )
    assert refusal(ConnectionRefusedError(111, "Connection refused"), secure=True) == (
        "the connection failed: Connection refused"
    )


# Clocks


def test_frames_say_when_they_were_spoken_by_the_scenarios_clock(tmp_path: Path) -> None:
    async def slow(socket: Any) -> None:
        async for _ in socket:
            pass

    with broken(slow) as address:
        one = driven(tmp_path, address)
    lines = [json.loads(line) for line in (one.folder / "wire.jsonl").read_text().splitlines()]
    started = datetime.fromisoformat(lines[0]["note"]["started"])
    frames = [line for line in lines if line["direction"] == "out" and line["message"]["kind"] == "AudioData"]
    for frame in frames:
        spoken = datetime.fromisoformat(frame["message"]["audioData"]["timestamp"])
        assert abs(spoken - started - timedelta(milliseconds=frame["t_ms"])) <= timedelta(milliseconds=2)  # rounding
    assert min(line["t_ms"] for line in lines) >= 0


# Ctrl-C


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_who_ends_it_is_told_what_was_kept(end: signal.Signals, tmp_path: Path) -> None:
    path, out = write_scenario(tmp_path, tail_ms=30_000), tmp_path / "out"
    with simulated() as address:
        command = [sys.executable, "-c", "from turnwise.cli import main; main()", "drive", str(path)]
        program = subprocess.Popen(
            [*command, "--url", address, "--out", str(out), "--repeat", "2", "--parallel", "2"],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        log = out / "correction-01" / "wire.jsonl"
        for _ in range(600):
            if log.is_file() and log.stat().st_size > 20_000:
                break
            time.sleep(0.05)
        program.send_signal(end)
        _, said = program.communicate(timeout=30)
    assert program.returncode == 130  # what shells expect of a program that was interrupted
    assert "Traceback" not in said
    for number in (1, 2):
        folder = out / f"correction-{number:02d}"
        assert f"correction #{number}: interrupted; what happened so far is in {folder}" in said
        assert json.loads((folder / "capture.json").read_text())["reason"] == "interrupted"


def test_the_simulator_says_what_it_sent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from turnwise.cli import main; main()", "simulate", "--port", "0"]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert program.stderr is not None
    address = next(word for word in program.stderr.readline().split() if word.startswith("ws://"))
    one = driven(tmp_path, address)
    program.send_signal(signal.SIGTERM)
    _, said = program.communicate(timeout=30)
    lines = [json.loads(line) for line in (one.folder / "wire.jsonl").read_text().splitlines()]
    count = sum(line["direction"] == "in" for line in lines)
    assert said.strip() == f"1 connections, {count} messages sent"
    assert program.returncode == 0
