"""Scoring stored captures with every metric, against `json.loads` on their event lines in the same run.

The captures are copies of five calls to the simulated interpreter, as `turnwise drive` keeps them. `--from DIR` takes
others: those of `examples/interpreting/captures/version-2` have no raw messages, so that there is less to parse and as
much to score. `--captures N` makes it shorter.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import turnwise
from turnwise.live.behaviours import behaviour_named
from turnwise.live.rehearsal import rehearse
from turnwise.live.scenario import load_scenarios

EXAMPLES = Path(__file__).parents[1] / "examples" / "interpreting"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captures", type=int, default=10_000)
    parser.add_argument("--from", dest="source", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name) / "captures"
        copied(given.source or driven(Path(name) / "driven"), folder, given.captures)
        lines = [line for file in folder.glob("*/events.jsonl") for line in file.read_bytes().splitlines()]
        start = time.perf_counter()
        for line in lines:
            json.loads(line)
        loads = time.perf_counter() - start
        count, size = len(lines), sum(map(len, lines))
        del lines
        start = time.perf_counter()
        result = turnwise.evaluate({"captures": folder}, suite="interpreting", db=f"sqlite:///{name}/runs.db")
        scoring = time.perf_counter() - start
    rows = len(result.summary["results"])
    print(f"{given.captures} captures, {count} events, {size / 1e6:.0f} MB, {rows} results")
    print(f"json.loads {loads:.1f} s, scoring {scoring:.1f} s: {scoring / loads:.2f} times (goal: at most 4)")


def driven(folder: Path) -> Path:
    """The example scenarios, played once to a good interpreter."""
    scenarios = load_scenarios([EXAMPLES])
    rehearse(scenarios, behaviour_named("good"), "acs", folder, parallel=len(scenarios))
    return folder


def copied(source: Path, folder: Path, count: int) -> None:
    """So many captures, each a copy of one of the examples under a name of its own."""
    examples = sorted(path.parent for path in source.glob("*/capture.json"))
    for n in range(count):
        example = examples[n % len(examples)]
        inner = folder / f"{example.name}-{n:05d}"
        inner.mkdir(parents=True)
        for name in ("capture.json", "events.jsonl"):
            shutil.copyfile(example / name, inner / name)


if __name__ == "__main__":
    main()
