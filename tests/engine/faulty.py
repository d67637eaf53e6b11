"""Records that are numbers, and metrics that go wrong on some of them: what the tests of executors measure.

A module of its own, so that worker processes can import it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from turnwise.engine.measure import Workload
from turnwise.kernel.metric import Item, Metric, MetricSpec, Output, Parameter, Settings
from turnwise.kernel.score import Measurement, Unit, measured

Found = tuple[Unit, str, Measurement]


@dataclass
class Numbers:
    """Some numbers; each is a unit, called by its batch and its place."""

    index: int
    numbers: list[float]
    first: int = 0

    def units(self) -> list[Unit]:
        return [Unit(f"{self.index}/{self.first + i}", f"c{self.index}", {}, "number") for i in range(self.size)]

    @property
    def size(self) -> int:
        return len(self.numbers)

    def items(self) -> Iterator[Item]:
        yield from (Item(unit, {"n": n}) for unit, n in zip(self.units(), self.numbers, strict=True))

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, Numbers]]:
        for place, unit in enumerate(self.units()):
            yield unit, Numbers(self.index, [self.numbers[place]], self.first + place)


@dataclass
class Filed(Numbers):
    """Numbers of a file in the folder that whoever looks was started in."""

    files: ClassVar[list[str]] = ["/proc/self/cwd/numbers.csv", "/nowhere"]


@dataclass
class Unlistable(Numbers):
    """Numbers that cannot be read without dying: a damaged file that a library trips over."""

    def items(self) -> Iterator[Item]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from ()


class Halved(Metric):
    """Half of each number and its square: two outputs, nothing goes wrong."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room="dialogue",
        name="halved",
        version=1,
        question="?",
        unit="number",
        outputs=(Output("half"), Output("square")),
    )

    def measure(self, batch: Any) -> Iterable[Found]:
        for unit, number in zip(batch.units(), batch.numbers, strict=True):
            yield unit, "half", measured((number / 2,))
            yield unit, "square", measured((number * number,))


class Deadly(Metric):
    """Kills the process that measures a number of 1000 and more; `marks` is a folder where it notes each death."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room="dialogue",
        name="deadly",
        version=1,
        question="?",
        unit="number",
        outputs=(Output("value"), Output("other")),
        parameters=(Parameter("marks", "", "a folder"),),
    )

    def measure(self, batch: Any) -> Iterable[Found]:
        for unit, number in zip(batch.units(), batch.numbers, strict=True):
            if number >= 1000:
                (Path(self.settings.values["marks"]) / f"{os.getpid()}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield unit, "value", measured((number,))
            yield unit, "other", measured((-number,))


class Slow(Metric):
    """Takes a moment per batch and notes which process did it, in the folder `marks`."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room="dialogue",
        name="slow",
        version=1,
        question="?",
        unit="number",
        parameters=(Parameter("marks", "", "a folder"), Parameter("seconds", 0.05, "per batch")),
    )

    def measure(self, batch: Any) -> Iterable[Found]:
        (Path(self.settings.values["marks"]) / f"{os.getpid()}").touch()
        time.sleep(self.settings.values["seconds"])
        yield from ((unit, "value", measured((n,))) for unit, n in zip(batch.units(), batch.numbers, strict=True))


class Raising(Workload):
    """A workload that is broken itself, which no item can be blamed for."""

    def __call__(self, batch: Any) -> Any:
        raise ConnectionError(f"batch {batch.index} is not served")


class PickyError(Exception):
    """An error that can be pickled and not unpickled."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"{number}: {what}")


class Picky(Workload):
    """A workload that is broken itself, and says so in an error of its own."""

    def __call__(self, batch: Any) -> Any:
        raise PickyError(7, "the real trouble")


def workload(marks: Path, *metrics: type[Metric], **values: Any) -> Workload:
    chosen = [one(Settings(values={"marks": str(marks), **values})) for one in metrics]
    return Workload(list(enumerate(chosen)))


def batches(count: int, size: int = 4, **special: float) -> list[Numbers]:
    """`count` batches of `size` numbers; `b3_1=5.0` puts another number into batch 3 at place 1."""
    made = [Numbers(i, [float(i * size + k) for k in range(size)]) for i in range(count)]
    for name, number in special.items():
        batch, _, place = name[1:].partition("_")
        made[int(batch)].numbers[int(place)] = number
    return made
