"""Duplex without audio, against Python's `json.load`; and the timing metrics against hearing: `name  ratio  goal`.

10,000 conversations of intervals, as the challenge keeps them, are read, checked and averaged. The timing metrics of an
hour of conversation are held against the time it takes to hear it, measured by a minute of it.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from turnwise.audio.voice import detect_channels
from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.category_files import read_intervals
from turnwise.duplex.metrics import METRICS
from turnwise.duplex.records import Segment, Timeline
from turnwise.kernel.registry import REGISTRY

CONVERSATIONS = 10_000
REPEATS = 5


def main() -> None:
    chance = random.Random(1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "Follow-up Questions_latency_results.json"
        path.write_text(json.dumps({"results": [intervals(chance, n) for n in range(CONVERSATIONS)]}, indent=2))
        peer = best(lambda: json.load(path.open()))
        own = best(lambda: read_intervals(path.read_bytes()))
    report("duplex: 10,000 conversations of intervals / json.load", own / peer, "<= 3")
    hour = Timeline("hour", *speech(chance, 3600), seconds=3600.0)
    metrics = best(lambda: measured([hour]))
    minute = best(lambda: detect_channels(noise_and_bursts(hour, 60), 16000), 1)
    report("duplex: timing metrics of an hour / hearing it", metrics / (60 * minute), "< 0.02")


def intervals(chance: random.Random, number: int) -> dict[str, object]:
    def some(least: int, most: int) -> list[list[float]]:
        found, at = [], 0.0
        for _ in range(chance.randint(least, most)):
            start = round(at + 4 * chance.random(), 3)
            at = round(start + 2 * chance.random(), 3)
            found.append([start, at])
        return found

    key = f"repeat_{number // 100:04d}_{number % 100:04d}"
    return {"key": key, "latency_stop_list": some(0, 2), "latency_resp_list": some(1, 3)}


def speech(chance: random.Random, seconds: float) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Turns of two to eight seconds, one in four begun before the other has ended."""
    lanes: tuple[list[Segment], list[Segment]] = ([], [])
    at, side = 0.5, 0
    while at < seconds - 10:
        end = at + chance.uniform(2, 8)
        lanes[side].append(Segment(at, end))
        at = end + (chance.uniform(-0.8, -0.2) if chance.random() < 0.25 else chance.uniform(0.3, 2))
        side = 1 - side
    return tuple(lanes[0]), tuple(lanes[1])


def measured(timelines: list[Timeline]) -> int:
    batch = DuplexBatch(0, (), timelines)
    found = 0
    for name in METRICS:
        metric = REGISTRY.get(f"duplex/{name}")
        if isinstance(metric, type):
            found += len(list(metric().measure(batch)))
    return found


def noise_and_bursts(timeline: Timeline, seconds: int) -> list[np.ndarray]:
    """A minute with sound where somebody speaks: hearing takes as long for a buzz as for words."""
    rate = 16000
    at = np.arange(seconds * rate) / rate
    voice = 0.1 * sum(np.sin(2 * np.pi * 140 * k * at) / k for k in range(1, 9)) * (0.6 + 0.4 * np.sin(25 * at))
    generator = np.random.default_rng(0)
    channels = []
    for lane in (timeline.user or (), timeline.agent or ()):
        sound = generator.normal(0, 0.001, len(at))
        for segment in lane:
            span = slice(int(segment.start * rate), min(len(at), int(segment.end * rate)))
            sound[span] += voice[span]
        channels.append(sound)
    return channels


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def report(name: str, ratio: float, goal: str) -> None:
    print(f"{name:55} {ratio:8.4f}  {goal}", flush=True)


if __name__ == "__main__":
    main()
