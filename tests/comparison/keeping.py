"""Runs of toys in a store: records that carry the numbers to be compared, and metrics that report them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.report.toys import KIND, ROOM, Delay, Hits, Precision, Recall, Reported, Toy, ToyBatch, derived, spec
from turnwise.comparison.compare import Comparison, Options, compare_sides
from turnwise.comparison.selectors import choose_both
from turnwise.comparison.sides import make_sides
from turnwise.engine.measure import Workload
from turnwise.kernel.derived import Derived, When
from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output, Parameter
from turnwise.kernel.registry import REGISTRY
from turnwise.kernel.rollup import MACRO, MICRO, Rollup, mean, pass_k, share, total
from turnwise.kernel.score import Measurement, Unit, labelled
from turnwise.kernel.selection import select_metrics
from turnwise.store.run import FINISHED, Run
from turnwise.store.store import Store

__all__ = ["KIND", "ROOM", "Toy", "compared", "keep", "one", "toy_room", "toys"]


class Quality(Reported):
    """A number without a range: a plain mean."""

    spec: ClassVar[MetricSpec] = spec("quality", Output(rollups=(MICRO, MACRO)))


class Wait(Reported):
    """Less is better."""

    spec: ClassVar[MetricSpec] = spec(
        "wait", Output(direction=Direction.LOWER, rollups=(MICRO, Rollup("total", (total(),))))
    )


class Solved(Reported):
    """Trials."""

    spec: ClassVar[MetricSpec] = spec(
        "solved",
        Output(range=(0.0, 1.0), rollups=(MICRO, *(Rollup(f"pass^{k}", (pass_k(k), mean())) for k in (1, 2, 4)))),
    )


class ByTown(Reported):
    """Every town counts the same."""

    spec: ClassVar[MetricSpec] = spec(
        "by_town", Output(rollups=(Rollup("towns", (mean(by=("town",)), mean()), primary=True),))
    )


class Scaled(Reported):
    """Has a setting, so that it can be measured in two ways."""

    spec: ClassVar[MetricSpec] = replace(spec("scaled"), parameters=(Parameter("scale", 1, "A factor."),))


class Averaged(Reported):
    """Averages of samples that nobody kept, which are no total once one of them is missing."""

    spec: ClassVar[MetricSpec] = spec(
        "averaged", Output(range=(0.0, 1.0), no_interval="only averages are known", voided_by="no averaged")
    )


class Outcome(Metric):
    """A label."""

    spec: ClassVar[MetricSpec] = spec(
        "outcome",
        Output(
            "value",
            (),
            Direction.NEITHER,
            (0.0, 1.0),
            tuple(Rollup(f"share of {w}", (share(w),)) for w in ("yes", "no")),
        ),
    )

    def measure(self, batch: ToyBatch) -> Iterator[tuple[Unit, str, Measurement]]:
        for unit, toy in batch.units():
            if "outcome" in toy.numbers:
                yield unit, "value", labelled(toy.numbers["outcome"])


def _f1(inputs: Any) -> Any:
    p, r = inputs["precision"], inputs["recall"]
    return 2 * p * r / (p + r)


F1 = derived("f1", _f1, "precision", "recall", when=When.AFTER_ROLLUP, range=(0.0, 1.0))
PRODUCT = derived("product", lambda inputs: inputs["precision"] * inputs["recall"], "precision", "recall")
METRICS = (Precision, Recall, Hits, Delay, Quality, Wait, Solved, ByTown, Scaled, Averaged, Outcome, F1, PRODUCT)


@pytest.fixture
def toy_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The metrics of the room of toys, known for the length of a test."""
    REGISTRY.names()  # the plug-ins are read once
    known = {metric.spec.full_name: metric for metric in METRICS}
    monkeypatch.setattr(REGISTRY, "_entries", {**REGISTRY._entries, **known})


def keep(
    store: Store, records: Sequence[Toy], *, status: str = FINISHED, set_: dict[str, str] | None = None, **changes: Any
) -> Run:
    """Measure records by every metric whose numbers one of them has, and keep the run."""
    found = {name.partition(".")[0] for toy in records for name in toy.numbers}
    names = [metric.spec.name for metric in METRICS if metric.spec.name in found]
    names += [d.spec.name for d in (F1, PRODUCT) if {i.metric for i in d.inputs} <= found]
    values: dict[str, Any] = {
        "suite": ROOM,
        "system": "s",
        "version": "",
        "profile": "turnwise",
        "dataset_fingerprint": "d",
        "turnwise_version": "0",
        "environment": {},
        **changes,
    }
    selection = select_metrics(ROOM, names, profile=values["profile"], overrides=set_ or {})
    config = {"by": [], "metrics": [name.partition("/")[2] for name, _ in selection.signatures], "set": set_ or {}}
    run = store.begin(Run(**values, config=config), selection.signatures)
    store.write_batch(run, Workload(list(enumerate(selection.metrics)))(ToyBatch(0, records)))
    return store.end(run, status) if status != "running" else run


def toys(metric: str, *clusters: Sequence[Any], **dimensions: str) -> list[Toy]:
    """Toys `c0/0`, `c0/1`, ... with the numbers of one metric, cluster by cluster; None is a number nobody recorded."""
    return [
        Toy(f"c{c}/{i}", f"c{c}", {metric: number}, dimensions)
        for c, numbers in enumerate(clusters)
        for i, number in enumerate(numbers)
    ]


def compared(store: Store, a: Run | str, b: Run | str, *, as_repeats: bool = False, **options: Any) -> Comparison:
    """Compare two runs (or selectors) of a store."""
    texts = tuple(side if isinstance(side, str) else side.id for side in (a, b))
    chosen = choose_both(store, texts[0], texts[1])
    return compare_sides(*make_sides(*chosen, (texts[0], texts[1]), as_repeats=as_repeats), Options(**options))


def one(found: Comparison, metric: str, rollup: str | None = None, **group: str) -> dict[str, Any]:
    """The one line of a metric's output `value`."""
    (row,) = (
        row
        for row in found
        if (row["metric"], row["output"]) == (metric, "value")
        and row["group"] == group
        and (row["rollup"] == rollup if rollup else row["primary"])
    )
    return row


def all_signs(k: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Every pattern of k signs."""
    return 1.0 - 2.0 * (np.arange(2**k)[:, None] >> np.arange(k) & 1)


__all__ += ["F1", "PRODUCT", "Derived", "all_signs"]
