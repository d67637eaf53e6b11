"""A run that was killed goes on where it stopped and ends with the same rows, as if nothing had happened.

Real processes are killed here: at twenty random moments, and at each step of a run. A plug-in metric writes down every
exchange it is asked about, so that measuring anything twice that was already kept would be seen.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import select, text, update

from turnwise.cli import main
from turnwise.dialogue import load
from turnwise.dialogue.suite import SUITE
from turnwise.engine.job import run_job
from turnwise.engine.options import engine_of, parse_options, stored_options
from turnwise.engine.run import Interrupted
from turnwise.store import schema
from turnwise.store.run import Run
from turnwise.store.store import Store

TURNWISE = str(Path(sys.executable).with_name("turnwise"))
METRICS = ("slot_accuracy", "joint_goal_accuracy", "system_latency_ms", "witness")
Turnwise = Callable[..., tuple[int, str]]
"""`turnwise run dialogue` with these arguments: its exit code and what it said on standard error."""
Rows = dict[str, list[tuple[Any, ...]]]
TABLES = (schema.batches, schema.items, schema.scores, schema.run_metrics, schema.rollups)

WITNESS = """
import os
from turnwise.kernel.metric import Metric, MetricSpec
from turnwise.kernel.score import measured

class Witness(Metric):
    spec = MetricSpec(room="dialogue", name="witness", version=1, question="Who was measured?", unit="exchange")

    def measure(self, batch):
        log = os.open(os.environ["WITNESS_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for pair in batch.pairs:
            os.write(log, f"{pair.unit.id}\\n".encode())
            yield pair.unit, "value", measured((float(len(pair.reference.state)),))
        os.close(log)
"""

# Runs when Python starts: smaller batches, a note of when the run begins and ends, a wait before a run is taken over
# until two want it, a signal at the n-th call of a function.
AT_START = """
import os
if "BATCH" in os.environ:
    from turnwise.dialogue import load
    load.BATCH_EXCHANGES = int(os.environ["BATCH"])
if "CLOCK" in os.environ:
    import time
    from turnwise.store.store import Store
    def timed(original):
        def call(*arguments, **named):
            with open(os.environ["CLOCK"], "a") as file:
                print(time.process_time(), file=file)
            return original(*arguments, **named)
        return call
    Store.begin, Store.end = timed(Store.begin), timed(Store.end)
if "GATE" in os.environ:
    import pathlib, time
    from turnwise.store.store import Store
    gate, reopen = pathlib.Path(os.environ["GATE"]), Store.reopen
    def together(*arguments):
        (gate / str(os.getpid())).touch()
        deadline = time.monotonic() + 10
        while len(list(gate.iterdir())) < 2 and time.monotonic() < deadline:
            time.sleep(0.001)
        return reopen(*arguments)
    Store.reopen = together
if "KILL_AT" in os.environ:
    import functools, importlib, itertools
    place, _, number = os.environ["KILL_AT"].partition("#")
    module, _, names = place.partition(":")
    *owners, name = names.split(".")
    owner = functools.reduce(getattr, owners, importlib.import_module(module))
    calls, original = itertools.count(1), getattr(owner, name)
    def counted(*arguments, **named):
        if next(calls) == int(number):
            os.kill(os.getpid(), int(os.environ.get("KILL_WITH", "9")))
        return original(*arguments, **named)
    setattr(owner, name, counted)
"""


@dataclass(frozen=True)
class Site:
    """A folder with generated data and the plug-in; starts `turnwise` there."""

    folder: Path

    def command(self, db: str, name: str, *more: str) -> list[str]:
        data = ["--references", str(self.folder / "references.jsonl")]
        data += ["--predictions", str(self.folder / "predictions.jsonl")]
        options = ["--system", name, "--resamples", "100", "--metrics", *METRICS]
        return [TURNWISE, "run", "dialogue", *data, *options, *self.places(db, name), *more]

    def resume(self, db: str, name: str, run: Run, *more: str) -> list[str]:
        return [TURNWISE, "run", "dialogue", "--resume", run.id, *self.places(db, name), *more]

    def places(self, db: str, name: str) -> list[str]:
        return ["--db", db, "--out", str(self.folder / name)]

    def environment(self, log: str, **more: str) -> dict[str, str]:
        path = {"PYTHONPATH": str(self.folder / "plugin"), "WITNESS_LOG": str(self.folder / f"{log}.log")}
        return {**os.environ, "OPENBLAS_NUM_THREADS": "1", **path, **more}

    def start(self, command: list[str], log: str, **environment: str) -> subprocess.Popen[str]:
        pipes: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(
            command,
            env=self.environment(log, **environment),
            start_new_session=True,
            # Tests that run in the background of a shell would hand down that Ctrl-C is to be ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            **pipes,
        )

    def finish(self, command: list[str], log: str, **environment: str) -> tuple[int, str]:
        """The exit code and what was said on standard error."""
        process = self.start(command, log, **environment)
        said = process.communicate(timeout=120)[1]
        return process.returncode, said

    def measured(self, log: str) -> Counter[str]:
        path = self.folder / f"{log}.log"
        return Counter(path.read_text().split()) if path.exists() else Counter()


def make_site(folder: Path, dialogues: int, seed: int = 7) -> Site:
    """Dialogues of 16 exchanges: a state that grows, predicted with some mistakes and gaps."""
    rng = random.Random(seed)
    slots = ["hotel-area", "hotel-stars", "train-day", "train-leaveat", "taxi-departure", "restaurant-food"]
    values = ["north", "centre", "4", "monday", "dontcare", "10:15", "cambridge", "thai"]
    with (folder / "references.jsonl").open("w") as references, (folder / "predictions.jsonl").open("w") as predictions:
        for d in range(dialogues):
            state: dict[str, str] = {}
            for turn in range(16):
                state = {**state, rng.choice(slots): rng.choice(values)}
                place = {"dialogue_id": f"d{d:03}", "turn_id": turn}
                domain = rng.choice(slots).partition("-")[0]
                references.write(json.dumps({**place, "domain": domain, "state": state}) + "\n")
                if rng.random() > 0.03:
                    guess = {s: v if rng.random() < 0.95 else rng.choice(values) for s, v in state.items()}
                    predicted = {**place, "state": guess, "latency_ms": rng.randint(100, 900)}
                    predictions.write(json.dumps(predicted) + "\n")
    plugin = folder / "plugin"
    (plugin / "witness-1.0.dist-info").mkdir(parents=True)
    (plugin / "witness.py").write_text(WITNESS)
    (plugin / "sitecustomize.py").write_text(AT_START)
    (plugin / "witness-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: witness\nVersion: 1.0\n")
    entry = "[turnwise.metrics]\ndialogue/witness = witness:Witness\n"
    (plugin / "witness-1.0.dist-info" / "entry_points.txt").write_text(entry)
    return Site(folder)


def find_run(db: str, name: str) -> Run | None:
    """The run of that system, if it has begun."""
    if "://" not in db and not Path(db).exists():
        return None
    store = Store(db)
    try:
        return next((run for run in store.runs() if run.system == name), None)
    finally:
        store.close()


def rows(db: str, run: Run) -> Rows:
    """Every row of a run by table, all columns but the run's key."""
    found = {}
    store = Store(db)
    with store.reading() as connection:
        for table in TABLES:
            query = select(*table.columns[1:]).where(table.c.run == run.key).order_by(*table.primary_key.columns)
            found[table.name] = [tuple(row) for row in connection.execute(query)]
    store.close()
    return found


def files(folder: Path) -> dict[str, Any]:
    """The files of a run; of the summary only its results."""
    found: dict[str, Any] = {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith(".")}
    return {**found, "summary.json": json.loads(found["summary.json"])["results"]}


def seal(db: str, run: Run) -> None:
    """From now on, changing or deleting what was kept of a run fails (SQLite)."""
    store = Store(db)
    with store.writing() as connection:
        for table in ("batches", "items", "scores"):
            for what in ("UPDATE", "DELETE"):
                refuse = f"BEGIN SELECT RAISE(ABORT, '{what} of kept {table}'); END"
                name, which = f"{what}_{table}_{run.key}", f"ON {table} WHEN OLD.run = {run.key}"
                connection.execute(text(f"CREATE TRIGGER {name} BEFORE {what} {which} {refuse}"))
    store.close()


def check_after_kill(site: Site, db: str, name: str, expected: Expected, *more: str, **environment: str) -> str:
    """Resume what a kill left behind, hold it against the undisturbed run; says in which state the kill found it."""
    run = find_run(db, name)
    if run is None:
        code, said = site.finish(site.command(db, name), f"{name}.again", **environment)
        assert code == 0, said
        state, run = "not begun", find_run(db, name)
    elif run.status == "finished":
        code, said = site.finish(site.resume(db, name, run), f"{name}.again", **environment)
        assert (code, f"run {run.id} has finished" in said) == (2, True), said
        assert site.measured(f"{name}.again") == Counter()
        state = "finished"
    else:
        assert run.status == "interrupted"
        kept = rows(db, run)
        if "://" not in db:
            seal(db, run)
        code, said = site.finish(site.resume(db, name, run, *more), f"{name}.again", **environment)
        assert code == 0, said
        ids = exchanges(kept)
        assert set(ids) <= set(site.measured(name))
        assert all(set(kept[table]) <= set(expected.rows[table]) for table in ("batches", "items", "scores"))
        missing = Counter(exchanges(expected.rows)) - Counter(ids)
        assert site.measured(f"{name}.again") == missing, "what was kept was measured again, or not everything was"
        state = f"{len(kept['batches'])} batches, {'with' if kept['rollups'] else 'without'} roll-ups"
    assert run is not None
    ended = find_run(db, name)
    assert ended is not None
    assert (ended.id, ended.status) == (run.id, "finished")
    assert rows(db, run) == expected.rows
    assert files(site.folder / name) == expected.files
    return state


def exchanges(found: Rows) -> list[str]:
    """The ids of the items that are exchanges: the metrics here measure those."""
    return [row[2] for row in found["items"] if row[1] == "exchange"]


@dataclass(frozen=True)
class Expected:
    """What a run ends with that nobody disturbs."""

    rows: Rows
    files: dict[str, Any]


def undisturbed(site: Site, db: str, name: str, **environment: str) -> Expected:
    code, said = site.finish(site.command(db, name), name, **environment)
    assert code == 0, said
    run = find_run(db, name)
    assert run is not None
    found = rows(db, run)
    ids = exchanges(found)
    assert site.measured(name) == Counter(ids) == Counter(set(ids))
    assert len(found["scores"]) == len(METRICS) * len(ids)
    return Expected(found, files(site.folder / name))


# Killed at random moments


@dataclass(frozen=True)
class Moment:
    """When to kill: a share of the way from the start to the beginning of the run, or from there to its end.

    Ways are measured in computing time, and the second in units of the first: a busy machine slows both down.
    """

    begun: bool
    share: float

    def kill(self, process: subprocess.Popen[str], clock: Path, begin: float, end: float) -> None:
        watched = psutil.Process(process.pid)
        target = math.inf if self.begun else self.share * begin
        while process.poll() is None and _computed(watched) < target:
            if target == math.inf and clock.exists() and (found := clock.read_text().split("\n")[:-1]):
                own = float(found[0])
                target = own + self.share * (end - begin) * own / begin
            time.sleep(0.002)
        process.kill()
        process.communicate()


def _computed(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def test_twenty_random_kills(tmp_path: Path) -> None:
    """Four while it starts and loads, sixteen from there to its last word: four batches, roll-up, writing files."""
    site = make_site(tmp_path, 200)
    clocks = [tmp_path / "one.clock", tmp_path / "two.clock"]
    rng = random.Random(20)
    moments = [Moment(False, (i + rng.random()) / 4) for i in range(4)]
    moments += [Moment(True, (i + rng.random()) / 16) for i in range(16)]
    with ThreadPoolExecutor(2) as pool:
        pair = [
            pool.submit(undisturbed, site, str(clock.with_suffix(".sqlite")), clock.stem, CLOCK=str(clock))
            for clock in clocks
        ]
        expected, other = (one.result() for one in pair)
        assert (expected.rows, expected.files) == (other.rows, other.files)
        assert [row[0] for row in expected.rows["batches"]] == [0, 1, 2, 3]
        begin, end = map(float, clocks[0].read_text().split())

        def trial(number: int) -> str:
            db, name, clock = str(tmp_path / f"{number}.sqlite"), f"kill{number}", tmp_path / f"{number}.clock"
            process = site.start(site.command(db, name), name, CLOCK=str(clock))
            moments[number].kill(process, clock, begin, end)
            try:
                return check_after_kill(site, db, name, expected)
            except AssertionError as error:
                return f"FAILED at {moments[number]}: {error}"

        states = list(pool.map(trial, range(len(moments))))
    print(Counter(states))
    assert [state for state in states if state.startswith("FAILED")] == []
    assert len({state for state in states if "batches" in state}) >= 2, states


# Killed at each step

STEPS = {
    "turnwise.store.store:Store.begin#1": "not begun",
    "turnwise.engine.job:carry_out#1": "0 batches, without roll-ups",
    "turnwise.store.store:Store._insert#4": "0 batches, without roll-ups",  # items are written, scores are not
    "turnwise.store.store:Store._insert#7": "1 batches, without roll-ups",
    "turnwise.store.store:Store.write_batch#3": "2 batches, without roll-ups",
    "turnwise.engine.job:summarise#1": "4 batches, without roll-ups",
    "turnwise.store.store:Store.save_rollups#1": "4 batches, without roll-ups",
    "turnwise.report.files:CsvWriter.write#20": "4 batches, with roll-ups",
    "turnwise.store.store:Store.add_artifacts#1": "4 batches, with roll-ups",
    "turnwise.store.store:Store.end#1": "4 batches, with roll-ups",
}


def test_a_kill_at_each_step(db: str, tmp_path: Path) -> None:
    site = make_site(tmp_path, 8)
    small = {"BATCH": "32"}  # two dialogues
    steps = list(STEPS)[2::2] if "://" in db else list(STEPS)
    expected = undisturbed(site, db, "undisturbed", **small)

    def trial(numbered: tuple[int, str]) -> str:
        number, step = numbered
        name = f"step{number}"
        code, said = site.finish(site.command(db, name), name, KILL_AT=step, **small)
        assert code == -signal.SIGKILL, f"{step}: {said}"
        return check_after_kill(site, db, name, expected, **small)

    with ThreadPoolExecutor(2) as pool:
        states = list(pool.map(trial, enumerate(steps)))
    assert states == [STEPS[step] for step in steps]


def test_a_run_resumed_in_worker_processes_equals_the_inline_one(tmp_path: Path, sqlite_path: str) -> None:
    site, small = make_site(tmp_path, 8), {"BATCH": "32"}
    expected = undisturbed(site, sqlite_path, "undisturbed", **small)
    kill = {"KILL_AT": "turnwise.store.store:Store.write_batch#2", **small}
    assert site.finish(site.command(sqlite_path, "apart"), "apart", **kill)[0] == -signal.SIGKILL
    workers = ("--executor", "processes", "--workers", "2")
    state = check_after_kill(site, sqlite_path, "apart", expected, *workers, **small)
    assert state == "1 batches, without roll-ups"


def test_two_resumes_at_once(tmp_path: Path, sqlite_path: str) -> None:
    """Both saw an interrupted run. One goes on with it; the other is told that it is running, or has finished."""
    site, small = make_site(tmp_path, 8), {"BATCH": "16"}
    expected = undisturbed(site, sqlite_path, "undisturbed", **small)
    kill = {"KILL_AT": "turnwise.store.store:Store.write_batch#2", **small}
    assert site.finish(site.command(sqlite_path, "twice"), "twice", **kill)[0] == -signal.SIGKILL
    run = find_run(sqlite_path, "twice")
    assert run is not None
    command, gate = site.resume(sqlite_path, "twice", run), tmp_path / "gate"
    gate.mkdir()
    with ThreadPoolExecutor(2) as pool:
        ends = sorted(pool.map(lambda log: site.finish(command, log, GATE=str(gate), **small), ("left", "right")))
    assert [code for code, _ in ends] == [0, 2], ends
    assert re.search(f"run {run.id} (is still running|has finished)", ends[1][1])
    ended = find_run(sqlite_path, "twice")
    assert ended is not None
    assert ended.status == "finished"
    assert rows(sqlite_path, run) == expected.rows
    left, right = site.measured("left"), site.measured("right")
    assert not left or not right


# Ctrl-C


@pytest.mark.parametrize("executor", ["inline", "processes"])
def test_ctrl_c_keeps_what_was_measured(tmp_path: Path, sqlite_path: str, executor: str) -> None:
    site, small = make_site(tmp_path, 8), {"BATCH": "32"}
    expected = undisturbed(site, sqlite_path, "undisturbed", **small)
    interrupt = {"KILL_AT": "turnwise.store.store:Store.write_batch#2", "KILL_WITH": str(int(signal.SIGINT)), **small}
    code, said = site.finish(site.command(sqlite_path, "c", "--executor", executor), "c", **interrupt)
    run = find_run(sqlite_path, "c")
    assert run is not None
    assert (code, run.status) == (1, "interrupted")
    assert f"run {run.id} was interrupted" in said
    assert f"--resume {run.id}" in said
    assert "Traceback" not in said
    code, said = site.finish(site.resume(sqlite_path, "c", run), "c.again", **small)
    assert code == 0, said
    assert rows(sqlite_path, run) == expected.rows


def test_the_command_that_ctrl_c_prints_goes_on_with_the_run(tmp_path: Path, sqlite_path: str) -> None:
    site, small = make_site(tmp_path, 8), {"BATCH": "32"}
    interrupt = {"KILL_AT": "turnwise.store.store:Store.write_batch#2", "KILL_WITH": str(int(signal.SIGINT)), **small}
    _, said = site.finish(site.command(sqlite_path, "c"), "c", **interrupt)
    printed = re.search(r"turnwise (run dialogue .*--resume .*)", said)
    assert printed is not None
    code, said = site.finish([TURNWISE, *shlex.split(printed[1])], "c.again", **small)
    assert code == 0, said
    run = find_run(sqlite_path, "c")
    assert run is not None
    assert run.status == "finished"
    assert (site.folder / "c" / "summary.json").exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
def test_a_kill_leaves_no_worker_behind(tmp_path: Path, sqlite_path: str) -> None:
    site = make_site(tmp_path, 40)
    workers = ("--executor", "processes", "--workers", "2")
    process = site.start(site.command(sqlite_path, "orphans", *workers), "orphans", BATCH="16")
    while not site.measured("orphans"):  # a worker is at work
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 5
    while (left := members(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    assert left == []


def members(session: int) -> list[int]:
    """Living processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, own = stat.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(own) == session and state not in "ZX":
            found.append(int(stat.parent.name))
    return found


# What is refused


@pytest.fixture
def interrupted(
    sqlite_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[Run, Turnwise]:
    """A run of this process that was interrupted after two of four batches, and `turnwise run dialogue` with --db."""
    make_site(tmp_path, 8)
    monkeypatch.setattr(load, "BATCH_EXCHANGES", 32)
    data = {name: tmp_path / f"{name}.jsonl" for name in ("references", "predictions")}
    options = parse_options(SUITE, {**data, "metrics": METRICS[:2], "resamples": 100})
    store = Store(sqlite_path)
    written, write = [0], Store.write_batch

    def until_interrupted(*arguments: Any) -> None:
        written[0] += 1
        if written[0] == 3:
            raise KeyboardInterrupt
        write(*arguments)

    monkeypatch.setattr(Store, "write_batch", until_interrupted)
    with pytest.raises(Interrupted):
        run_job(SUITE, options, store=store)
    run = store.run("latest")
    assert (run.status, store.done_batches(run)) == ("interrupted", {0, 1})
    store.close()

    def turnwise(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["turnwise", "run", "dialogue", *arguments, "--db", sqlite_path])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), capsys.readouterr().err

    return run, turnwise


def everything(db: str) -> tuple[Run, Rows]:
    store = Store(db)
    (run,) = store.runs()
    store.close()
    return run, rows(db, run)


def test_another_engine_takes_the_place_of_all_that_was_said_of_the_first(
    interrupted: tuple[Run, Turnwise], sqlite_path: str
) -> None:
    """A run that began with four workers is resumed with one: nobody said four of it."""
    run, _ = interrupted
    store = Store(sqlite_path)
    config = {**run.config, "executor": "processes", "workers": 4}
    with store.writing() as connection:
        connection.execute(update(schema.runs).where(schema.runs.c.key == run.key).values(config=json.dumps(config)))
    assert engine_of(stored_options(SUITE, store, run.id, {})) == ("processes", 4)
    assert engine_of(stored_options(SUITE, store, run.id, {"engine": "processes:2"})) == ("processes:2", None)
    store.close()


@pytest.mark.parametrize("side", ["references", "predictions"])
def test_data_that_changed_are_refused(
    interrupted: tuple[Run, Turnwise], tmp_path: Path, sqlite_path: str, side: str
) -> None:
    run, turnwise = interrupted
    before = everything(sqlite_path)
    path = tmp_path / f"{side}.jsonl"
    original = path.read_text()
    path.write_text(original.replace('"4"', '"5"', 1))
    code, said = turnwise("--resume", run.id)
    assert code == 2
    assert f"run {run.id} cannot be resumed: the data changed since it began" in said
    assert everything(sqlite_path) == before
    path.unlink()
    code, said = turnwise("--resume", run.id)
    assert (code, path.name in said) == (2, True)
    assert everything(sqlite_path) == before
    path.write_text(original)
    assert turnwise("--resume", run.id)[0] == 0
    assert everything(sqlite_path)[0].status == "finished"


@pytest.mark.parametrize(
    "settings",
    [
        "--set first=true",
        "--normaliser none",
        "--profile spec",
        "--metrics slot_accuracy",
        "--metrics joint_goal_accuracy,slot_accuracy",
        "--submitted-only",
        "--baselines",
        "--resamples 200",
        "--by slot,domain",
        "--system other",
        "--version 9",
    ],
)
def test_other_settings_are_refused(interrupted: tuple[Run, Turnwise], sqlite_path: str, settings: str) -> None:
    run, turnwise = interrupted
    before = everything(sqlite_path)
    code, said = turnwise("--resume", run.id, *settings.split())
    assert (code, f"run {run.id} cannot be resumed" in said) == (2, True), said
    assert everything(sqlite_path) == before


def test_a_run_that_still_runs_is_not_resumed(interrupted: tuple[Run, Turnwise], sqlite_path: str) -> None:
    run, turnwise = interrupted
    store = Store(sqlite_path)
    store.reopen(run)  # this process is alive
    store.close()
    code, said = turnwise("--resume", run.id)
    assert (code, f"run {run.id} is still running" in said) == (2, True)


def test_an_unknown_run_is_not_resumed(interrupted: tuple[Run, Turnwise]) -> None:
    _, turnwise = interrupted
    code, said = turnwise("--resume", "never")
    assert (code, "there is no run 'never'" in said) == (2, True)
