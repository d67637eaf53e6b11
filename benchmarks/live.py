"""How punctual the driver is: 100 scenarios at once against the simulator, 60 s each: `name  value  goal` per line.

The simulator runs in a process of its own, and says at its end how many messages it has sent. Beside it the same number
of callers that simply sleep 20 ms after every frame, to show why the clock counts from the beginning: what sending
takes adds up. `--seconds` and `--parallel` shorten it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import signal
import subprocess
import sys
import time
import wave
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml

from turnwise.live.address import make_address
from turnwise.live.drive import Driven, drive
from turnwise.live.scenario import load_scenarios

RATE, FRAME_MS = 16000, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--parallel", type=int, default=100)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        load(Path(folder), given.seconds, given.parallel)
        with Simulator() as system:
            for callers in (1, 50):
                errors = np.abs(measured_times(Path(folder) / f"exact-{callers}", system.address, callers))
                about = f"live: audible times, {callers} at once"
                report(f"{about}: median error, ms", float(np.median(errors)), "<= 40")
                report(f"{about}: p95 error, ms", float(np.percentile(errors, 95)), "<= 90")
            plain = asyncio.run(sleeping(system.address, given.parallel, min(given.seconds, 20)))
            report("live: the same with sleep(0.02): drift, ms", plain, "")


def load(folder: Path, seconds: int, callers: int) -> None:
    """Many callers at once: how late their frames are, what is lost, and what it costs."""
    scenarios = load_scenarios([written(folder, seconds)])
    with Simulator() as system:
        spent = time.process_time()
        found = drive(scenarios, make_address(system.address), "acs", folder / "out", repeat=callers, parallel=callers)
        spent = time.process_time() - spent
    clocks = [one.capture.clock for one in found]
    frames = sum(clock["frames"] for clock in clocks)
    late = [ms for one in found for ms in one.capture.lateness]
    report("live: frames late, p99 of all frames, ms", float(np.percentile(late, 99)), "< 10")
    report("live: frames late, p99 of the worst caller, ms", max(clock["late_p99_ms"] for clock in clocks), "< 10")
    report("live: drift, worst caller, ms", max(abs(clock["drift_ms"]) for clock in clocks), "< 20")
    report("live: callers that ended early", sum(one.capture.reason is not None for one in found), "0")
    report("live: messages of the system that were lost", system.messages - arrived(found), "0")
    report("live: frames sent", frames, "")
    report("live: driver, microseconds of CPU per frame", 1e6 * spent / frames, "< 100")
    report("live: simulator, microseconds of CPU per frame", 1e6 * system.seconds / frames, "< 100")


def arrived(found: list[Driven]) -> int:
    """Messages of the system in the wire logs."""
    logs = ((one.folder / "wire.jsonl").read_bytes() for one in found)
    return sum(log.count(b'"direction":"in"') for log in logs)


class Simulator:
    """`turnwise simulate` in another process, as long as the block lasts; then what it sent and what it cost."""

    def __enter__(self) -> Simulator:
        command = [sys.executable, "-c", "from turnwise.cli import main; main()", "simulate", "--port", "0"]
        self._before = self._spent()
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        self.address = next(word for word in self._process.stderr.readline().split() if word.startswith("ws://"))
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        _, said = self._process.communicate(timeout=30)
        self.messages = int(said.split()[2])  # "100 connections, 26000 messages sent"
        self.seconds = self._spent() - self._before

    def _spent(self) -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime


def written(folder: Path, seconds: int) -> Path:
    """Somebody who speaks for two seconds every ten."""
    tone(folder / "tone.wav", 2)
    turn = {"type": "play_audio", "participant": "caller", "audio_file": "tone.wav"}
    turns = [{**turn, "id": f"t{n}", "start_at_ms": n * 10_000} for n in range(max(1, seconds // 10))]
    tail = seconds * 1000 - turns[-1]["start_at_ms"] - 2000
    scenario = {"id": "load", "participants": {"caller": {}}, "turns": turns, "tail_silence_ms": tail}
    path = folder / "load.yaml"
    path.write_text(yaml.safe_dump(scenario))
    return path


def tone(path: Path, seconds: int) -> None:
    at = np.arange(seconds * RATE) / RATE
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((0.3 * np.sin(2 * np.pi * 220 * at) * 32767).astype("<i2").tobytes())


def measured_times(folder: Path, address: str, callers: int) -> np.ndarray:
    """How far what was heard lies from what the simulator is told to do: `good` answers at 800 ms and stops at 200."""
    folder.mkdir()
    tone(folder / "tone.wav", 1)
    turn = {"type": "play_audio", "participant": "caller", "audio_file": "tone.wav"}
    turns = [{**turn, "id": "one", "start_at_ms": 0}, {**turn, "id": "two", "start_at_ms": 3000, "barge_in": True}]
    path = folder / "exact.yaml"
    path.write_text(
        yaml.safe_dump({"id": "exact", "participants": {"caller": {}}, "turns": turns, "tail_silence_ms": 1500})
    )
    found = drive(
        load_scenarios([path]),
        make_address(address),
        "acs",
        folder / "out",
        repeat=max(callers, 5),
        parallel=callers,
    )
    errors = []
    for one in found:
        heard = [event for event in one.capture.events if event.get("audible_ms")]
        first, second = one.capture.header.turns
        old = [event for event in heard if event["response_id"].endswith("-1")]
        new = [event for event in heard if event["response_id"].endswith("-2")]
        stopped = old[-1]["t_audible_ms"] + old[-1]["audible_ms"]
        errors += [
            old[0]["t_audible_ms"] - first.start_ms - 800,
            stopped - second.start_ms - 200,
            new[0]["t_audible_ms"] - second.start_ms - 800,
        ]
    return np.array(errors)


async def sleeping(address: str, callers: int, seconds: int) -> float:
    """How far callers who sleep after every frame are behind at the end, in milliseconds."""
    from websockets.asyncio.client import connect

    frame = json.dumps({"kind": "AudioData", "audioData": {"data": "A" * 856, "participantRawID": "x", "silent": True}})

    async def call() -> float:
        async with connect(address, compression=None) as socket:
            start = time.perf_counter()
            for _ in range(seconds * 1000 // FRAME_MS):
                await socket.send(frame)
                await asyncio.sleep(FRAME_MS / 1000)
            return 1000 * (time.perf_counter() - start) - seconds * 1000

    return max(await asyncio.gather(*(call() for _ in range(callers))))


def report(name: str, value: float, goal: str) -> None:
    print(f"{name:50} {value:10.2f}  {goal}", flush=True)


if __name__ == "__main__":
    main()
