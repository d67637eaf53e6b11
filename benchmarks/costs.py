"""What a further item costs in each room: seconds of CPU and bytes in the store. A table in docs/scale.md has them.

Each load is evaluated twice, with N and with 3 N items; the difference over 2 N is what one more item costs, without
what a run costs anyhow. Each evaluation is a process of its own. `python benchmarks/costs.py translation` makes one.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import turnwise

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"


class Load(NamedTuple):
    """Something to evaluate."""

    what: str
    items: int
    make: Callable[[Path, int], dict[str, Any]]
    """Writes so many items into a folder; what `turnwise.evaluate` is called with."""


def main() -> None:
    # numba looks for a package called coverage and would find the benchmark of that name beside this file.
    sys.path = [place for place in sys.path if Path(place or ".").resolve() != HERE]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads", nargs="*", metavar="LOAD", help=", ".join(LOADS))
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(evaluated(LOADS[given.loads[0]], given.child)))
        return
    for name in given.loads or LOADS:
        load = LOADS[name]
        (cpu, stored), (more_cpu, more_stored) = (measured(name, n) for n in (load.items, 3 * load.items))
        seconds, size = (more_cpu - cpu) / (2 * load.items), (more_stored - stored) / (2 * load.items)
        print(f"{load.what:60} {1000 * seconds:8.2f} ms {size / 1000:8.2f} kB", flush=True)


def measured(name: str, items: int) -> tuple[float, float]:
    command = [sys.executable, __file__, name, "--child", str(items)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    cpu, stored = json.loads(done.stdout)
    return cpu, stored


def evaluated(load: Load, items: int) -> tuple[float, int]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        options = load.make(folder, items)
        before = used()
        turnwise.evaluate(**options, db=str(folder / "costs.sqlite"))
        cpu = used() - before
        return cpu, sum(file.stat().st_size for file in folder.glob("costs.sqlite*"))


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def neighbour(name: str) -> Any:
    """Another benchmark, whose data is used here."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Loads


def dialogue(folder: Path, items: int, metrics: list[str] | None = None) -> dict[str, Any]:
    scale = neighbour("scale")
    sides = {
        "references": scale.exchanges(items, predicted=False),
        "predictions": scale.exchanges(items, predicted=True),
    }
    return {"records": sides, "metrics": metrics, "by": ["language"]}


def states(folder: Path, items: int) -> dict[str, Any]:
    return dialogue(folder, items, ["slot_accuracy", "joint_goal_accuracy"])


def assistant(folder: Path, items: int) -> dict[str, Any]:
    options = neighbour("cluster").typed(folder, items).options
    return {"records": {"turns": options.pop("turns")}, "suite": "assistant", **options}


def translation(folder: Path, items: int) -> dict[str, Any]:
    draw = random.Random(3)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(20_000)]
    path = folder / "segments.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(items):
            reference = draw.choices(words, k=20)
            hypothesis = [word if draw.random() < 0.7 else draw.choice(words) for word in reference]
            line = {"id": str(number), "reference": " ".join(reference), "hypothesis": " ".join(hypothesis)}
            file.write(json.dumps(line) + "\n")
    return {"records": {"data": path}, "suite": "translation", "metrics": ["bleu", "chrf", "ter"]}


def speech(folder: Path, items: int) -> dict[str, Any]:
    options = neighbour("cluster").spoken(folder, items).options
    return {"records": {"data": options["data"]}, "suite": "translation", "metrics": options["metrics"]}


def duplex(folder: Path, items: int) -> dict[str, Any]:
    recordings = sorted((EXAMPLES / "duplex" / "recordings").glob("*.wav"))
    for number in range(items):
        shutil.copyfile(recordings[number % len(recordings)], folder / f"call-{number:06}.wav")
    return {"records": {"recordings": folder}, "suite": "duplex"}


def interpreting(folder: Path, items: int) -> dict[str, Any]:
    captures = neighbour("interpreting")
    captures.copied(EXAMPLES / "interpreting" / "captures" / "version-2", folder / "captures", items)
    return {"records": {"captures": folder / "captures"}, "suite": "interpreting"}


LOADS = {
    "states": Load("dialogue, an exchange: slot accuracy, joint goal accuracy", 30_000, states),
    "dialogue": Load("dialogue, an exchange: all metrics", 30_000, dialogue),
    "assistant": Load("assistant, a turn of 250 words: all objective metrics", 4_000, assistant),
    "translation": Load("translation, a segment of 20 words: BLEU, chrF, TER", 10_000, translation),
    "speech": Load("translation, a pair of recordings of 10 s: MCD", 60, speech),
    "duplex": Load("duplex, a recording of 12 s: all metrics", 24, duplex),
    "interpreting": Load("interpreting, a captured call: all metrics", 500, interpreting),
}


if __name__ == "__main__":
    main()
