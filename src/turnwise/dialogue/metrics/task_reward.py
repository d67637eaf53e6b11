"""Task reward: what a simulator's own check gave each trial of a task, and how reliably the task is solved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.records import DIALOGUE
from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.rollup import MACRO, MICRO, Rollup, mean, pass_k
from turnwise.kernel.score import Measurement, Unit, measured, skipped

MOST_TRIALS = 4


class TaskReward(Metric):
    """The recorded reward of each trial; pass^k is the chance that k trials of a task all succeed."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="task_reward",
        version=1,
        question="How often, and how reliably, was the task solved?",
        unit=DIALOGUE,
        outputs=(
            Output(
                statistics=("reward",),
                range=(0.0, 1.0),
                rollups=(
                    MICRO,
                    MACRO,
                    *(Rollup(f"pass^{k}", (pass_k(k), mean())) for k in range(1, MOST_TRIALS + 1)),
                ),
            ),
        ),
        needs=("prediction.rewards",),
        components=("supervisor",),
        source="tau-bench (Yao et al. 2024): pass^k",
        optional=True,
        baselines=False,
    )

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """One measurement per trial."""
        for dialogue in batch.dialogues:
            made = [pair.prediction for pair in dialogue.pairs if pair.prediction is not None]
            rewards = next((prediction.rewards for prediction in made if prediction.rewards is not None), None)
            for trial, reward in enumerate(rewards or ()):
                yield dialogue.unit, "value", measured((reward,))._replace(repeat=trial)
            if not rewards:
                yield dialogue.unit, "value", skipped("no reward")
