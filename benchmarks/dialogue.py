"""The dialogue room against Python's `json.load` of the same files, from one run: `name  ratio  goal` per line.

Everything is included: starting the process, reading, metrics with evidence, all rows stored, 1,000 resamples, the
CSVs. Inform and Success are seconds of CPU on top of a run without them. Without the published predictions, generated
dialogues of the same size stand in for them.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

REPEATS = 5
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
STATE = ("slot_accuracy", "joint_goal_accuracy", "joint_goal_accuracy_without_dontcare", "slot_hallucination")
TURNWISE = str(Path(sys.executable).with_name("turnwise"))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        references, predictions = published() or generated(work, 1000, "published-size")
        peer = lambda: load(references, predictions)  # noqa: E731
        seconds, ours = interleaved(peer, lambda: run(work, references, predictions, "--metrics", *STATE))
        report("dialogue: four state metrics / json.load", ours / seconds, "<= 10")
        seconds, ours = interleaved(peer, lambda: run(work, references, predictions))
        report("dialogue: all metrics / json.load", ours / seconds, "<= 14")
        if (SHARED / "multiwoz_db").exists():
            goals = ["--database", str(SHARED / "multiwoz_db")]
            goals += ["--booked-domains", str(SHARED / "multiwoz_predictions" / "booked_domains.json")]
            plain = min(run(work, references, predictions, "--metrics", *STATE).cpu for _ in range(3))
            wanted = ("--metrics", *STATE, "inform", "success", *goals)
            more = min(run(work, references, predictions, *wanted).cpu for _ in range(3))
            report("dialogue: inform and success, seconds on top", more - plain, "< 1")
        small = generated(work, 1000, "small")
        large = generated(work, 10_000, "large")
        times = [min(run(work, *files, "--metrics", *STATE).seconds for _ in range(2)) for files in (small, large)]
        report("dialogue: 10x the data, time", times[1] / times[0], "<= 11")
        peaks = [run(work, *files, "--metrics", *STATE).memory for files in (small, large)]
        report("dialogue: 10x the data, peak memory", peaks[1] / peaks[0], "about 1")


def report(name: str, ratio: float, goal: str) -> None:
    print(f"{name:45} {ratio:6.2f}  {goal}", flush=True)


def published() -> tuple[Path, Path] | None:
    files = SHARED / "multiwoz21" / "test.json.zip", SHARED / "multiwoz_predictions" / "augpt.json"
    return files if all(file.exists() for file in files) else None


def load(references: Path, predictions: Path) -> None:
    """What the peer does: parse both files, the zipped one unpacked first."""
    for path in (references, predictions):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as file:
                json.load(file)
        elif path.suffix == ".jsonl":
            with path.open() as file:
                for line in file:
                    json.loads(line)
        else:
            with path.open() as file:
                json.load(file)


class Cost(NamedTuple):
    """What one whole run took: seconds, seconds of CPU, bytes at its peak."""

    seconds: float
    cpu: float
    memory: int


def run(work: Path, references: Path, predictions: Path, *options: str) -> Cost:
    """One whole run into a fresh database."""
    out = Path(tempfile.mkdtemp(dir=work))
    command = [TURNWISE, "run", "dialogue", "--references", str(references), "--predictions", str(predictions)]
    command += ["--db", str(out / "runs.sqlite"), "--out", str(out), *options]
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, "
        "stderr=subprocess.DEVNULL); r = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(r.ru_utime + r.ru_stime, r.ru_maxrss)"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", measure, *command], check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    cpu, memory = done.stdout.split()
    return Cost(seconds, float(cpu), int(memory) * 1024)


def interleaved(peer, ours) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """The best of several turns each, taken alternately so that both meet the same machine."""
    peers, own = [], []
    for _ in range(REPEATS):
        start = time.perf_counter()
        peer()
        peers.append(time.perf_counter() - start)
        own.append(ours().seconds)
    return min(peers), min(own)


def generated(work: Path, dialogues: int, name: str) -> tuple[Path, Path]:
    """turnwise JSONL of so many dialogues, with right, wrong, missing and extra slots."""
    draw = random.Random(7)
    slots = [
        f"{domain}-{slot}"
        for domain in ("hotel", "restaurant", "train", "taxi")
        for slot in ("area", "name", "day", "leave", "type")
    ]
    paths = work / f"{name}-references.jsonl", work / f"{name}-predictions.jsonl"
    with paths[0].open("w") as references, paths[1].open("w") as predictions:
        for number in range(dialogues):
            state: dict[str, str] = {}
            tracked: dict[str, str] = {}
            for turn in range(7):
                slot = draw.choice(slots)
                state[slot] = f"value {draw.randrange(40)}"
                if draw.random() < 0.9:
                    tracked[slot] = state[slot] if draw.random() < 0.95 else f"value {draw.randrange(40)}"
                common = {"dialogue_id": f"d{number:06}", "turn_id": turn, "domain": slot.split("-")[0]}
                text = " ".join(draw.choice(slots) for _ in range(20))
                references.write(json.dumps({**common, "user": text, "response": text, "state": state}) + "\n")
                predictions.write(json.dumps({**common, "response": text, "state": tracked}) + "\n")
    return paths


if __name__ == "__main__":
    main()
