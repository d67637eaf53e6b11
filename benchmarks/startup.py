"""How long it takes to start, against `python -c pass` in the same run: `name  ratio  goal` per line."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

REPEATS = 15
TURNWISE = str(Path(sys.executable).with_name("turnwise"))
COMMANDS = {
    "pass": [sys.executable, "-c", "pass"],
    "turnwise --help": [TURNWISE, "--help"],
    "import turnwise": [sys.executable, "-c", "import turnwise"],
}
GOALS = {"turnwise --help": "<= 16", "import turnwise": "<= 3"}


def main() -> None:
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(REPEATS):
        for name, command in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[name] = min(best[name], time.perf_counter() - start)
    for name, goal in GOALS.items():
        print(f"startup: {name} / python -c pass".ljust(45), f"{best[name] / best['pass']:6.2f}  {goal}")


if __name__ == "__main__":
    main()
