"""Exchanges from a generator through the dialogue room: `name  ratio  goal` per line.

    python benchmarks/scale.py                          # 100,000 and 1,000,000 exchanges
    python benchmarks/scale.py 1_000_000 10_000_000     # an hour or two, and 30 GB of disk
    python benchmarks/scale.py --metrics slot_accuracy joint_goal_accuracy -- 100_000

Each size is a process of its own, which makes the exchanges one by one, evaluates them into a database in a file, and
tells how long it took, how much memory it had at its peak and how large the database became. `--all-metrics` takes
every metric of the room, latencies with their percentiles among them.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOMAINS = ("hotel", "restaurant", "train", "taxi")
SLOTS = ("area", "name", "day", "leave", "type")
METRICS = ("slot_accuracy", "joint_goal_accuracy")
MOST_BYTES = 1 << 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exchanges", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--metrics", nargs="+", default=list(METRICS))
    parser.add_argument("--all-metrics", action="store_true")
    parser.add_argument("--folder", help="for the database and the spooled records (default: the system's)")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    metrics = None if options.all_metrics else options.metrics
    if options.child:
        print(json.dumps(evaluate(options.child, metrics, options.folder)))
        return
    costs = []
    for n in options.exchanges:
        costs.append(measured(n, options))
        described = "{seconds:.0f} s, {cpu:.0f} s of CPU, {mb:.0f} MB of memory, {stored:.0f} bytes stored per exchange"
        print(f"scale: {n:,} exchanges: {described.format(**costs[-1])}", flush=True)
    for (n, small), (m, large) in zip(
        pairs := list(zip(options.exchanges, costs, strict=True)), pairs[1:], strict=False
    ):
        report(f"scale: {m / n:g} times the exchanges, CPU time", large["cpu"] / small["cpu"], f"<= {1.05 * m / n:g}")
        report(f"scale: {m / n:g} times the exchanges, peak memory", large["mb"] / small["mb"], "about 1")
    report("scale: the largest, peak memory / 1 GB", costs[-1]["mb"] * 2**20 / MOST_BYTES, "< 1")


def report(name: str, ratio: float, goal: str) -> None:
    print(f"{name:45} {ratio:6.2f}  {goal}", flush=True)


def measured(n: int, options: argparse.Namespace) -> dict[str, float]:
    """One size in a process of its own."""
    command = [sys.executable, __file__, "--child", str(n), "--metrics", *options.metrics]
    command += ["--all-metrics"] if options.all_metrics else []
    command += ["--folder", options.folder] if options.folder else []
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def evaluate(n: int, metrics: list[str] | None, folder: str | None) -> dict[str, float]:
    import turnwise

    if folder:
        tempfile.tempdir = folder
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as work:
        database = Path(work) / "scores.sqlite"
        sides = {"references": exchanges(n, predicted=False), "predictions": exchanges(n, predicted=True)}
        result = turnwise.evaluate(sides, metrics=metrics, db=str(database), by=["language"])
        assert result.summary["run"]["coverage"]["exchanges_predicted"] == n
        stored = sum(file.stat().st_size for file in database.parent.glob(f"{database.name}*")) / n
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024, "stored": stored}


def exchanges(n: int, *, predicted: bool) -> Iterator[dict[str, Any]]:
    """Dialogues of 6 to 10 exchanges with up to five slots, 86 % of them tracked rightly; the same at every call."""
    draw = random.Random(7)
    made, number = 0, 0
    while made < n:
        turns = min(n - made, draw.randrange(6, 11))
        language = draw.choice(("en", "de", "sw"))
        state: dict[str, str] = {}
        tracked: dict[str, str] = {}
        for turn in range(turns):
            domain = DOMAINS[(number + turn // 4) % 4]
            slot = f"{domain}-{draw.choice(SLOTS)}"
            state[slot] = f"value {draw.randrange(40)}"
            if draw.random() < 0.9:
                tracked[slot] = state[slot] if draw.random() < 0.95 else f"value {draw.randrange(40)}"
            if len(state) > 5:
                first = next(iter(state))
                state.pop(first)
                tracked.pop(first, None)
            latency = 100 + draw.randrange(900)
            common = {"dialogue_id": f"d{number:08}", "turn_id": turn, "domain": domain, "language": language}
            if predicted:
                yield {**common, "response": "Here is what I found.", "state": dict(tracked), "latency_ms": latency}
            else:
                yield {**common, "user": "Something in the north, please.", "state": dict(state)}
        made += turns
        number += 1


if __name__ == "__main__":
    main()
