"""A room of toys: records that carry the numbers to be reported, and metrics that report them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from turnwise.engine.measure import Workload
from turnwise.kernel.derived import Derived, Input, When
from turnwise.kernel.metric import Item, Metric, MetricSpec, Output
from turnwise.kernel.registry import Registry
from turnwise.kernel.rollup import MACRO, P50, Rollup, ratio
from turnwise.kernel.score import Measurement, Unit, measured, skipped
from turnwise.kernel.selection import Selection, select_metrics
from turnwise.report.summary import summarise
from turnwise.store.run import Run
from turnwise.store.store import Store

ROOM = "toys"
KIND = "toy"
RATIO = Rollup("ratio", (ratio(0, 1),), primary=True)


def spec(name: str, *outputs: Output, part: str | None = None) -> MetricSpec:
    return MetricSpec(
        room=ROOM, name=name, version=1, question="?", unit=KIND, outputs=outputs or (Output(),), part=part
    )


@dataclass(frozen=True)
class Toy:
    """A record: its numbers by metric (or metric.output); None is a number that was not recorded."""

    id: str
    cluster: str
    numbers: Mapping[str, Any]
    dimensions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ToyBatch:
    index: int
    toys: Sequence[Toy]

    def units(self) -> Iterator[tuple[Unit, Toy]]:
        for toy in self.toys:
            yield Unit(toy.id, toy.cluster, toy.dimensions, KIND), toy

    def items(self) -> Iterator[Item]:
        for unit, _ in self.units():
            yield Item(unit, None)

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, ToyBatch]]:
        for unit, toy in self.units():
            yield unit, ToyBatch(self.index, [toy])


class Reported(Metric):
    """Reports the numbers of its name: a number, a statistics vector, or a list of either for repeats."""

    def measure(self, batch: ToyBatch) -> Iterator[tuple[Unit, str, Measurement]]:
        for unit, toy in batch.units():
            for output in self.spec.outputs:
                label = Input(self.spec.name, output.name).label
                if label not in toy.numbers:
                    continue
                found = toy.numbers[label]
                for repeat, number in enumerate(found if isinstance(found, list) else [found]):
                    vector = number if isinstance(number, tuple) else (number,)
                    made = skipped(f"no {label}") if number is None else measured(vector)
                    yield unit, output.name, made._replace(repeat=repeat)


class Precision(Reported):
    spec: ClassVar[MetricSpec] = spec("precision")


class Recall(Reported):
    spec: ClassVar[MetricSpec] = spec("recall", Output(range=(0.0, 1.0)))


class Hits(Reported):
    """A ratio of sums; beside it the mean of something else."""

    spec: ClassVar[MetricSpec] = spec(
        "hits", Output(statistics=("hits", "shots"), rollups=(RATIO, MACRO)), Output("mood")
    )


class Delay(Reported):
    """Only percentiles, which cannot be added up."""

    spec: ClassVar[MetricSpec] = spec("delay", Output(rollups=(P50,)))


def registry_with(*derived: Derived) -> Registry:
    registry = Registry()
    registry._plugins_read = True  # what happens to be installed is not looked at
    for metric in (Precision, Recall, Hits, Delay, *derived):
        registry.register(metric)
    return registry


def derived(name: str, function: Any, *inputs: str, when: When = When.PER_UNIT, **output: Any) -> Derived:
    """A derived metric of inputs written `metric` or `metric.output`."""
    given = tuple(Input(*label.split(".")) for label in inputs)
    return Derived(spec(name, Output(**output)), given, function, when)


class Evaluated:
    """Toys, measured and kept in a store; results are made when asked for."""

    def __init__(self, store: Store, toys: Sequence[Toy], selection: Selection, **variants: Any) -> None:
        self.store, self.selection = store, selection
        run = Run(
            suite=ROOM,
            system="s",
            version="",
            profile="turnwise",
            dataset_fingerprint="d",
            turnwise_version="0",
            config={"by": []},
            environment={},
        )
        self.run = store.begin(run, selection.signatures)
        rows = Workload(list(enumerate(selection.metrics)), variants)(ToyBatch(0, toys))
        store.write_batch(self.run, rows)

    def results(self, *by: tuple[str, ...]) -> list[dict[str, Any]]:
        return summarise(self.store, self.run, by, selection=self.selection, resamples=400)

    def one(self, metric: str, rollup: str | None = None, variant: str = "", **group: str) -> dict[str, Any]:
        """The one result of a metric for a group; the primary roll-up unless another is named."""
        by = [tuple(group)] if group else []
        (found,) = (
            result
            for result in self.results(*by)
            if result["metric"] == metric
            and result["group"] == group
            and result["variant"] == variant
            and (result["rollup"] == rollup if rollup else result["primary"])
        )
        return found


def evaluated(store: Store, toys: Sequence[Toy], *made_of: Derived, metrics: Sequence[str] | None = None) -> Evaluated:
    """Measure toys with the metrics that the derived ones need (or the named ones)."""
    names = list(metrics) if metrics is not None else [one.spec.name for one in made_of]
    return Evaluated(store, toys, select_metrics(ROOM, names, registry=registry_with(*made_of)))
