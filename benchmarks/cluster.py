"""Engines against each other: inline, two processes, two Dask workers, on the same whole runs: `name  ratio  goal`.

Two loads: MCD over pairs of recordings (much to compute per byte), and the nine objective metrics of assistant turns
(many rows to send and to write). A run is everything from the files to the rolled-up results in a store, workers
started and ended included. First it is checked that all engines keep the same rows. `--stages` also prints where the
driver's time goes. What the machine itself allows is measured in the same way: two `inline` runs at once, which have
nothing to do with each other, against one; two cores that share a cache, a clock or a host are less than twice one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from turnwise.assistant.scales import OBJECTIVE
from turnwise.engine.job import prepare, run_job
from turnwise.engine.options import parse_options
from turnwise.rooms import get_suite, register_metrics
from turnwise.store.reading import stream_scores
from turnwise.store.store import Store

ENGINES = ("inline", "processes:2", "dask:2")
RATE = 16000


class Load(NamedTuple):
    """What is run."""

    name: str
    room: str
    options: dict[str, Any]


class Times(NamedTuple):
    """Seconds of a run."""

    reading: float
    rest: float

    @property
    def whole(self) -> float:
        return self.reading + self.rest


def main() -> None:
    # numba looks for a package called coverage and would find the benchmark of that name beside this file.
    here = Path(__file__).resolve().parent
    sys.path = [place for place in sys.path if Path(place or ".").resolve() != here]
    wishes = argparse.ArgumentParser(description=__doc__)
    wishes.add_argument("--pairs", type=int, default=500)
    wishes.add_argument("--seconds", type=float, default=10.0, help="length of a recording: a read sentence")
    wishes.add_argument("--turns", type=int, default=100_000)
    wishes.add_argument("--repeats", type=int, default=3)
    wishes.add_argument("--stages", action="store_true", help="print where the driver's time goes")
    chosen = wishes.parse_args()
    register_metrics()
    with TemporaryDirectory() as place:
        folder = Path(place)
        if chosen.pairs:
            load = spoken(folder, chosen.pairs, chosen.seconds)
            ceiling(load, folder)
            compare(load, folder, chosen)
        if chosen.turns:
            ceiling(typed(folder, chosen.turns // 10), folder)
            compare(typed(folder, chosen.turns), folder, chosen)
            growth(folder, chosen)


def compare(load: Load, folder: Path, chosen: argparse.Namespace) -> None:
    times: dict[str, list[Times]] = {engine: [] for engine in ENGINES}
    marks = set()
    for turn in range(chosen.repeats):
        for engine in ENGINES:  # alternately, so that all meet the same machine
            found, mark = run(load, engine, folder, check=turn == 0)
            times[engine].append(found)
            marks.add(mark)
    assert len(marks - {None}) == 1, "the engines do not keep the same rows"
    best = {engine: min(found, key=lambda one: one.whole) for engine, found in times.items()}
    if chosen.stages:
        for engine, one in best.items():
            print(f"  {load.name}, {engine}: {one.reading:.1f} s to read, {one.rest:.1f} s to measure, keep, roll up")
    whole = {engine: one.whole for engine, one in best.items()}
    report(f"{load.name}: processes:2, times as fast", whole["inline"] / whole["processes:2"], ">= 1.8")
    report(f"{load.name}: 2 Dask workers, times as fast", whole["inline"] / whole["dask:2"], ">= 1.7")
    report(f"{load.name}: Dask / processes", whole["dask:2"] / whole["processes:2"], "<= 1.10")


def ceiling(load: Load, folder: Path) -> None:
    """How much two cores of this machine do in the time of one."""
    alone, _ = run(load, "inline", folder)
    places = [folder / name for name in ("one", "other")]
    context = multiprocessing.get_context("spawn")
    runs = [context.Process(target=run_apart, args=(load, place)) for place in places]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    both = max(float((place / "seconds").read_text()) for place in places)
    report(f"{load.name}: two inline runs at once, times as fast", 2 * alone.whole / both, "(the machine)")


def run_apart(load: Load, folder: Path) -> None:
    """A whole run in a process of its own."""
    register_metrics()
    folder.mkdir(exist_ok=True)
    (folder / "seconds").write_text(str(run(load, "inline", folder)[0].whole))


def growth(folder: Path, chosen: argparse.Namespace) -> None:
    """Ten times the items, on two processes."""
    small, _ = run(typed(folder, chosen.turns // 10), "processes:2", folder)
    large, _ = run(typed(folder, chosen.turns), "processes:2", folder)
    report("cluster: 10 times the turns, time", large.whole / small.whole, "<= 10.5")


def run(load: Load, engine: str, folder: Path, *, check: bool = False) -> tuple[Times, int | None]:
    """One whole run; with a mark of everything it kept, if that is to be checked."""
    suite = get_suite(load.room)
    path = folder / "runs.sqlite"
    for old in folder.glob("runs.sqlite*"):
        old.unlink()
    store = Store(str(path))
    options = parse_options(suite, {**load.options, "engine": engine})
    start = time.perf_counter()
    prepared = prepare(suite, options)
    read = time.perf_counter()
    outcome = run_job(suite, options, store=store, prepared=prepared)
    end = time.perf_counter()
    mark = None
    if check:
        mark = 0
        for row in stream_scores(store, outcome.run):
            mark ^= hash(json.dumps({name: str(field) for name, field in row.items() if name != "run"}))
    store.close()
    return Times(read - start, end - read), mark


def report(name: str, ratio: float, goal: str) -> None:
    print(f"{name:68} {ratio:6.2f}  {goal}", flush=True)


# Loads


def spoken(folder: Path, pairs: int, seconds: float = 10.0) -> Load:
    """Pairs of recordings, voices of different melodies; no recording twice."""
    import soundfile

    draw = np.random.default_rng(12)
    voices = [babble(draw, seconds) for _ in range(20)]
    lines = []
    for number in range(pairs):
        names = [f"{number}-{side}.wav" for side in ("hypothesis", "reference")]
        for name in names:
            own_voice = np.roll(voices[draw.integers(len(voices))], draw.integers(RATE)) * draw.uniform(0.7, 1.0)
            soundfile.write(folder / name, own_voice, RATE, subtype="PCM_16")
        own = dict(zip(("hypothesis_audio", "reference_audio"), names, strict=True))
        lines.append({"id": f"p{number}", "language": "swahili", "source": "-", "reference": "-", **own})
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    options = {"data": folder / "pairs.jsonl", "metrics": ["mcd"]}
    return Load("cluster: MCD", "translation", options)


def babble(draw: np.random.Generator, seconds: float) -> np.ndarray:
    """Harmonics that wander, louder and softer some four times a second."""
    at = np.arange(round(RATE * seconds)) / RATE
    pitch = draw.uniform(100, 220) * (1 + 0.1 * np.sin(2 * np.pi * draw.uniform(0.5, 3) * at))
    phase = np.cumsum(2 * np.pi * pitch / RATE)
    voice = sum(np.sin(k * phase) / k for k in range(1, 20))
    loudness = 0.2 * (1.1 + np.sin(2 * np.pi * draw.uniform(3, 5) * at))
    return np.asarray(loudness * voice / 4 + 0.001 * draw.standard_normal(len(at)))


def typed(folder: Path, count: int) -> Load:
    """Assistant turns of some 250 words with three chunks of some 100."""
    path = folder / f"turns-{count}.jsonl"
    if not path.exists():
        draw = random.Random(12)
        words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(20_000)]
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(turn(draw, words, number)) + "\n" for number in range(count))
    options = {"turns": path, "metrics": list(OBJECTIVE), "embedding": "none"}
    return Load("cluster: assistant turns", "assistant", options)


def turn(draw: random.Random, words: list[str], number: int) -> dict[str, Any]:
    text: Callable[[int], str] = lambda length: " ".join(draw.choices(words, k=length)).capitalize() + "."  # noqa: E731
    return {
        "session_id": f"s{number // 5}",
        "turn": number % 5 + 1,
        "version": "b",
        "query": f"What about {text(15)}",
        "response": f"I see. {text(100)} Per our Attendance policy, {text(20)} {text(110)} Would you like a note?",
        "chunks": [{"text": text(100), "title": "policy", "similarity": 0.5} for _ in range(3)],
        "processing_time_ms": draw.uniform(500, 4000),
        "scenario": draw.choice(("attendance", "discipline", "leave", "payroll")),
    }


if __name__ == "__main__":
    main()
