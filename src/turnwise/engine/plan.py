"""What a run will do, known before anything runs: which metric applies to how many records, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from turnwise.kernel.derived import Derived
from turnwise.kernel.metric import Batch, Metric
from turnwise.kernel.selection import carrying

DIAGNOSIS = "diagnosis"
"""The check of a finding that is about the results."""
VERIFY = "verify"
"""The check of a finding that is a point of a checklist; the command that was asked for it prints it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the input, or about the results, that the user should know."""

    check: str
    message: str
    count: int = 1


class Source(Protocol):
    """Checked records of a room, ready to be measured batch by batch."""

    n_items: int
    unit: str
    """The kind of unit that `n_items` counts."""
    findings: list[Finding]

    @property
    def dataset_fingerprint(self) -> str:
        """What was asked; runs with the same fingerprint can be compared."""
        ...

    @property
    def input_fingerprint(self) -> str:
        """Everything that is read; a resumed run must find the same."""
        ...

    @property
    def fields(self) -> Mapping[str, int]:
        """How many records carry each field."""
        ...

    @property
    def dimensions(self) -> Set[str]:
        """What the items can be sliced by."""
        ...

    @property
    def coverage(self) -> Mapping[str, int]:
        """How much of the data set was answered."""
        ...

    def batches(self, done: Set[int] = frozenset()) -> Iterator[Batch]:
        """The batches that are not done yet, in order."""
        ...


@dataclass(frozen=True, slots=True)
class PlannedMetric:
    """One line of a plan."""

    metric: str
    signature: str
    applies_to: int
    """An upper bound: the records that carry every field the metric needs."""
    missing: Mapping[str, int]
    """Needed fields that some records lack, with how many lack them."""
    lacking: str | None = None
    """Why it cannot be measured at all: the needed fields that no record has."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do."""

    items: int
    coverage: Mapping[str, int]
    metrics: Sequence[PlannedMetric]
    findings: Sequence[Finding]

    def as_json(self) -> dict[str, Any]:
        """The plan for `--dry-run --json`."""
        return {
            "items": self.items,
            "coverage": dict(self.coverage),
            "metrics": [asdict(metric) for metric in self.metrics],
            "findings": [asdict(finding) for finding in self.findings],
        }


def make_plan(
    source: Source,
    metrics: Sequence[Metric],
    derived: Sequence[tuple[Derived, str]] = (),
    fields: Mapping[str, int] | None = None,
) -> Plan:
    """Hold the metrics' needs against what the records (and the run) carry; `derived` comes with its signatures."""
    fields, n = source.fields if fields is None else fields, source.n_items
    planned = []
    for spec, sign in [(m.spec, m.signature) for m in metrics] + [(d.spec, sign) for d, sign in derived]:
        carried = {name: min(carrying(fields, name), n) for name in spec.needs}
        missing = {name: n - count for name, count in carried.items() if count < n}
        nowhere = ", no ".join(name.replace("|", " or ") for name, count in carried.items() if not count)
        lacking = f"no {nowhere}" if nowhere else None
        planned.append(PlannedMetric(spec.full_name, sign, min(carried.values(), default=n), missing, lacking))
    return Plan(n, source.coverage, planned, source.findings)
