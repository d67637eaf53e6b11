"""Functions called in processes of this machine: what comes back, in which order, and what errors do."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from turnwise.engine.executors.nursery import METHOD, warm
from turnwise.engine.parallel import in_parallel
from turnwise.kernel.errors import InputError, TurnwiseError


def squared(number: int) -> tuple[int, int]:
    time.sleep(0.01)
    return number * number, os.getpid()


def fussy(number: int) -> int:
    if number % 3 == 2:
        raise InputError("two is too many", where=f"line {number}", found=str(number), expected="0 or 1")
    return number


def deadly(number: int, driver: int, marks: str, times: int) -> int:
    """Number 2 kills the process it is tried in, for the first few times; the driver takes so long that it is tried."""
    if os.getpid() == driver:
        assert number != 2, "what killed a process was tried in the driver"
        time.sleep(1)
    elif number == 2 and len(list(Path(marks).iterdir())) < times:
        (Path(marks) / f"{os.getpid()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_order_of_the_calls(workers: int) -> None:
    found = list(in_parallel(squared, [(n,) for n in range(300)], workers))
    assert [square for square, _ in found] == [n * n for n in range(300)]
    assert {process for _, process in found} >= {os.getpid()}  # which does not wait for the others to start
    assert len({process for _, process in found}) == workers


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_error_is_raised_with_all_it_says(workers: int) -> None:
    with pytest.raises(InputError, match="two is too many") as caught:
        list(in_parallel(fussy, [(n,) for n in range(9)], workers))
    assert (caught.value.where, caught.value.found, caught.value.expected) == ("line 2", "2", "0 or 1")


@pytest.mark.parametrize("workers", [2, 3])
def test_what_a_killed_process_had_in_hand_is_done_by_another(tmp_path: Path, workers: int) -> None:
    calls = [(n, os.getpid(), str(tmp_path), 1) for n in range(60)]
    assert list(in_parallel(deadly, calls, workers)) == list(range(60))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("workers", [2, 3])
def test_what_kills_every_process_does_not_get_to_this_one(tmp_path: Path, workers: int) -> None:
    found = in_parallel(deadly, [(n, os.getpid(), str(tmp_path), 99) for n in range(8)], workers)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(TurnwiseError, match="kills every process"):
        next(found)
    assert len(list(tmp_path.iterdir())) in (2, 3)  # 1 is blamed for a death if it was done and not sent yet


ABANDONED = """
import os
import time
from turnwise.engine.parallel import in_parallel


def tell(folder, place):
    open(os.path.join(folder, str(os.getpid())), "w").close()
    time.sleep(0.1)


if __name__ == "__main__":
    list(in_parallel(tell, [("FOLDER", n) for n in range(10_000)], 3))
"""


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    folder = tmp_path / "marks"
    folder.mkdir()
    script = tmp_path / "abandoned.py"
    script.write_text(ABANDONED.replace("FOLDER", str(folder)))
    driver = subprocess.Popen([sys.executable, script], cwd=tmp_path)
    deadline = time.monotonic() + 60
    while len(list(folder.iterdir())) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = {int(mark.name) for mark in folder.iterdir()}
    assert len(workers) == 3
    driver.kill()
    driver.wait()
    deadline = time.monotonic() + 20
    while any(map(running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in workers if running(pid)] == []


def running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_process_of_the_users_own_can_be_interrupted() -> None:
    warm(())
    with multiprocessing.get_context(METHOD).Pool(1) as pool:
        assert pool.apply(signal.getsignal, (signal.SIGINT,)) is signal.default_int_handler


SCRIPT = """
import turnwise

print("read")
turns = [{"session_id": f"s{n}", "turn": 1, "query": "May I?", "response": "You may."} for n in range(4)]
metrics = ["response_length_appropriate"]
result = turnwise.evaluate({"turns": turns}, suite="assistant", metrics=metrics, engine="ENGINE")
print("scored", len(result.summary["results"]) > 0)
"""


@pytest.mark.parametrize("engine", ["processes:2", "dask:2"])
def test_workers_do_not_run_a_script_without_a_guard_again(tmp_path: Path, engine: str) -> None:
    script = tmp_path / "evaluation.py"
    script.write_text(SCRIPT.replace("ENGINE", engine))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("read\nscored True\n", 0), done.stderr


OWN_METRIC = """
import turnwise


@turnwise.register
class Words(turnwise.Metric):
    spec = turnwise.MetricSpec(
        room="assistant", name="words", version=1, question="How long are the replies?", unit="turn",
        outputs=(turnwise.Output(statistics=("words",), range=(0.0, None)),), needs=("response",),
    )

    def measure(self, batch):
        for turn in batch.turns:
            yield turn.unit, "value", turnwise.measured((len(turn.response.split()),))


if __name__ == "__main__":
    replies = ["You may.", "No.", "Ask her.", "Not in the summer."]
    turns = [{"session_id": f"s{n}", "turn": 1, "query": "May I?", "response": r} for n, r in enumerate(replies)]
    result = turnwise.evaluate({"turns": turns}, suite="assistant", metrics=["words"], engine="ENGINE")
    print(*{one["value"] for one in result.summary["results"] if not one["group"]})
"""


@pytest.mark.parametrize("engine", ["processes:2", "dask:2"])
def test_a_metric_of_the_script_is_measured_by_workers(tmp_path: Path, engine: str) -> None:
    script = tmp_path / "evaluation.py"
    script.write_text(OWN_METRIC.replace("ENGINE", engine))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("2.25\n", 0), done.stderr  # (2 + 1 + 2 + 4) / 4 words


@pytest.mark.parametrize("engine", ["processes:2", "dask:2"])
@pytest.mark.parametrize("source", ["stdin", "command"])
def test_a_metric_of_no_file_is_told_where_workers_should_find_it(tmp_path: Path, engine: str, source: str) -> None:
    """As in a notebook: no other process can import what it defines."""
    script = OWN_METRIC.replace("ENGINE", engine)
    command, given = (["-c", script], None) if source == "command" else (["-"], script)
    command = [sys.executable, *command]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert done.returncode == 1
    assert "attribute 'Words' on <module '__main__'" in done.stderr
    assert "module that workers can import" in done.stderr or "metrics of an importable module" in done.stderr
