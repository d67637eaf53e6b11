"""Ctrl-C and kill: nothing that was answered is lost, and nothing that was answered is asked again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.judge.asked import GOOD, ask_about
from tests.judge.server import Reply, Request, Server, completion
from turnwise.judge.ask import Judge

N = 60
SCRIPT = """
import sys
from pathlib import Path
from tests.judge.asked import ask_about, settings_for
from turnwise.judge.ask import Judge

judge = Judge(settings_for(sys.argv[1], highest_concurrency=8), cassette=Path(sys.argv[2]))
try:
    judge.ask(ask_about({n}), lambda *now: print(*now, flush=True))
except KeyboardInterrupt:
    print("interrupted", judge.tally.calls, flush=True)
    sys.exit(130)
print("done", judge.tally.calls, flush=True)
"""


def start(server: Server, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT.format(n=N), server.url, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def recorded(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.json")}


def slowly(seconds: float) -> Callable[[Request], Reply]:
    return lambda _: Reply(body=completion(GOOD).body, delay_s=seconds)


def wait_until(happened: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_ctrl_c_waits_for_what_is_under_way(tmp_path: Path) -> None:
    with Server(slowly(0.4)) as server:
        process = start(server, tmp_path)
        wait_until(lambda: len(server.requests) >= 10)
        process.send_signal(signal.SIGINT)
        said, wrong = process.communicate(timeout=60)
        asked = len(server.requests)
        assert process.returncode == 130, wrong
        assert asked < N
        # Every request that reached the server was answered, recorded and counted.
        assert said.splitlines()[-1] == f"interrupted {asked}"
        assert len(list(tmp_path.glob("*/*/*.json"))) == asked
        assert "Traceback" not in wrong
        again = start(server, tmp_path)
        again.communicate(timeout=60)
        assert again.returncode == 0
    assert set(server.prompts.values()) == {1}
    assert len(server.prompts) == N


def test_ctrl_c_does_not_wait_for_ever(tmp_path: Path) -> None:
    with Server(slowly(30)) as server:
        process = start(server, tmp_path)
        wait_until(lambda: len(server.requests) >= 4)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
        assert time.monotonic() - begun < 20
        assert process.returncode == 130
        assert said.splitlines()[-1] == "interrupted 0"


def test_a_second_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    with Server(slowly(30)) as server:
        process = start(server, tmp_path)
        wait_until(lambda: len(server.requests) >= 4)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert time.monotonic() - begun < 4
        assert process.returncode == 130


@pytest.mark.parametrize("seed", range(3))
def test_killed_again_and_again(tmp_path: Path, seed: int) -> None:
    """Killed at any moment and started again until it is done: the same record as without, nothing asked in vain."""
    dice = random.Random(seed)
    with Server(slowly(0.05)) as server:
        for _ in range(3):
            before = len(server.requests)
            process = start(server, tmp_path / "killed")
            wait_until(lambda before=before: len(server.requests) > before + dice.randrange(1, 15))  # type: ignore[misc]
            time.sleep(dice.uniform(0, 0.06))
            os.kill(process.pid, signal.SIGKILL)
            process.communicate(timeout=60)
            kept = recorded(tmp_path / "killed")
        last = start(server, tmp_path / "killed")
        _, wrong = last.communicate(timeout=120)
        assert last.returncode == 0, wrong
    with Server(slowly(0.001)) as other:
        process = start(other, tmp_path / "whole")
        process.communicate(timeout=120)
    assert recorded(tmp_path / "killed") == recorded(tmp_path / "whole")
    assert kept.items() <= recorded(tmp_path / "killed").items()
    # Only what was under way at one of the three kills (at most 8 each time) can have been asked twice.
    assert len(server.prompts) == N
    assert sum(server.prompts.values()) - N <= 3 * 8
    judge = Judge(None, replay=tmp_path / "killed")
    assert all(judge.judgement(question).verdicts for question in ask_about(N))


def test_what_was_recorded_before_a_kill_is_not_asked_again(tmp_path: Path) -> None:
    with Server(slowly(0.05)) as server:
        process = start(server, tmp_path)
        wait_until(lambda: len(recorded(tmp_path)) >= 15)
        process.kill()
        process.communicate(timeout=60)
        answered, on_record = len(server.prompts), len(recorded(tmp_path)) - 1
        assert answered < N
        before = dict(server.prompts)
        last = start(server, tmp_path)
        said, _ = last.communicate(timeout=120)
        assert said.splitlines()[-1] == f"done {N - on_record}"
    twice = [prompt for prompt, count in server.prompts.items() if count > 1]
    assert len(twice) == answered - on_record
    assert set(twice) <= set(before)
