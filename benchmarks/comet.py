"""What COMET costs for five systems on the same sources and references, against one: `name  ratio  goal` per line.

The regression class encodes three texts for each translation; sources and references are the same for all systems, so
five systems need seven encodings where one needs three: 7/3 = 2.33 times the time, not 5. A tiny model with random
weights, large enough for the encoder to be what takes the time; one thread, seconds of CPU, a cold cache each time.
First it is checked that the scores are those of unbabel-comet.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

# The tests' tiny models are used; and this file, which Python finds first, must not pass for unbabel-comet's package.
sys.path[0] = str(Path(__file__).parents[1])

import numpy as np  # noqa: E402
import torch  # noqa: E402
from tests.translation.tiny_comet import build_comet, build_encoder, sentences  # noqa: E402

from turnwise.translation.comet import CometScorer, Inputs, load_comet, quiet  # noqa: E402

SEGMENTS = 96
SYSTEMS = 5
REPEATS = 3


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        torch.set_num_threads(1)
        with quiet():
            encoder = build_encoder(folder / "encoder", hidden=256, layers=6)
            build_comet(folder / "model", "regression_metric", encoder, hidden_sizes=[512, 128])
        texts = sentences((SYSTEMS + 2) * SEGMENTS)
        sources, references, *systems = [texts[at : at + SEGMENTS] for at in range(0, len(texts), SEGMENTS)]
        rows = [[Inputs(*row) for row in zip(sources, system, references, strict=True)] for system in systems]
        same_numbers(load(folder, "warm"), rows[0])
        one: list[float] = []
        five: list[float] = []
        for turn in range(REPEATS):  # alternately, so that both meet the same machine
            one.append(seconds(load(folder, f"one-{turn}"), rows[:1]))
            five.append(seconds(load(folder, f"five-{turn}"), rows))
        report(f"comet: {SYSTEMS} systems / 1 system", min(five) / min(one), "<= 2.6")


def load(folder: Path, cache: str) -> CometScorer:
    return load_comet(str(folder / "model"), "cpu", cache=folder / cache)


def seconds(scorer: CometScorer, systems: list[list[Inputs]]) -> float:
    start = time.process_time()
    for rows in systems:
        scorer.score(rows)
    return time.process_time() - start


def same_numbers(scorer: CometScorer, rows: list[Inputs]) -> None:
    samples = [{"src": row.source, "mt": row.hypothesis, "ref": row.reference} for row in rows]
    with quiet():
        wanted = scorer.model.predict(samples, gpus=0, progress_bar=False)["scores"]
    np.testing.assert_allclose(scorer.score(rows), wanted, rtol=0, atol=1e-6)


def report(name: str, ratio: float, goal: str) -> None:
    print(f"{name:45} {ratio:6.2f}  {goal}", flush=True)


if __name__ == "__main__":
    main()
