"""What the state metrics share: who is missing, and how cells become measurements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.states import Cells, StateTable
from turnwise.kernel.metric import Metric, Parameter
from turnwise.kernel.rollup import BoolArray
from turnwise.kernel.score import Measurement, Parts, Unit, skipped

FIRST = Parameter("first", False, "of alternative reference values only the first is acceptable")
NEEDS = ("reference.state", "prediction.state")
CONTEXT = ("normaliser", "missing")
SOURCE = "MAS4CS evaluation choices, metrics 4 to 6"


class StateMetric(Metric):
    """A metric that reads the encoded states of a batch."""

    missing_counts_as_wrong = True
    """An exchange without a predicted state is wrong (004-20); where nothing can be wrong, it is skipped."""

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """One measurement per exchange."""
        table = batch.states
        findings = self.measure_states(table, table.cells(bool(self.settings.values["first"])))
        for position, (pair, found) in enumerate(zip(batch.pairs, findings, strict=True)):
            if not table.reference_known[position]:
                found = skipped("no reference state")
            elif not table.predicted[position] and (batch.submitted_only or not self.missing_counts_as_wrong):
                found = skipped(MISSING)
            yield pair.unit, "value", found

    def measure_states(self, table: StateTable, cells: Cells) -> Iterator[Measurement]:
        """One measurement for each exchange of the table."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it reads states")


def parts_by_turn(table: StateTable, cells: Cells, chosen: BoolArray, hit: BoolArray, *, ratio: bool) -> list[Parts]:
    """Per exchange the slots of its chosen cells, each with 1 or 0 (for a ratio: over 1)."""
    bounds = np.searchsorted(cells.turn[chosen], np.arange(table.n + 1)).tolist()
    names = np.array(table.slots, dtype=object)[cells.slot[chosen]].tolist()
    hits = hit[chosen].astype(np.int64).tolist()
    ones = [1] * len(hits)
    parts = []
    for start, end in pairwise(bounds):
        columns = (hits[start:end], ones[start:end]) if ratio else (hits[start:end],)
        parts.append(Parts(names[start:end], columns))
    return parts
