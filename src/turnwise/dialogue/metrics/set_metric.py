"""What the metrics that compare sets of names share: who cannot be scored, and how two sets are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.records import Pair
from turnwise.kernel.metric import Metric, Output
from turnwise.kernel.rollup import MACRO_FIRST, MICRO_SECOND
from turnwise.kernel.score import Measurement, Unit, measured, not_applicable, skipped

SOURCE = "MAS4CS evaluation choices, metrics 1 to 3"
_MEANS = (MACRO_FIRST, MICRO_SECOND)
SET_OUTPUTS = (
    Output("accuracy", statistics=("right",), range=(0.0, 1.0), rollups=_MEANS),
    Output("precision", statistics=("hits", "predicted"), range=(0.0, 1.0), rollups=_MEANS),
    Output("recall", statistics=("hits", "expected"), range=(0.0, 1.0), rollups=_MEANS),
)

Names = frozenset[str]


class SetMetric(Metric):
    """Compares a set of names that the reference gives an exchange with the predicted one."""

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """Accuracy, and precision and recall where the metric has them, per exchange."""
        outputs = [output.name for output in self.spec.outputs]
        for pair in batch.pairs:
            for name, found in self._verdicts(batch, pair):
                if name in outputs:
                    yield pair.unit, name, found
                elif name == "accuracy":
                    yield pair.unit, "value", found

    def _verdicts(self, batch: ExchangeBatch, pair: Pair) -> Iterator[tuple[str, Measurement]]:
        expected = self.expected(batch, pair)
        found = None if pair.prediction is None else self.predicted(batch, pair)
        if isinstance(expected, Measurement) or (found is None and batch.submitted_only):
            unscored = expected if isinstance(expected, Measurement) else skipped(MISSING)
            yield from ((name, unscored) for name in ("accuracy", "precision", "recall"))
            return
        given = found or frozenset()
        hits = len(expected & given)
        evidence = None
        if found is None:
            evidence = {"missing": "prediction", "expected": sorted(expected)}
        elif expected != given:
            evidence = {"expected": sorted(expected), "found": sorted(given)}
        yield "accuracy", measured((float(found is not None and expected == given),), evidence=evidence)
        yield "precision", measured((hits, len(given))) if given else not_applicable("nothing predicted")
        yield "recall", measured((hits, len(expected))) if expected else not_applicable("nothing expected")

    def expected(self, batch: ExchangeBatch, pair: Pair) -> Names | Measurement:
        """The right names, or why they are not known."""
        raise NotImplementedError(f"{type(self).__name__} does not say what is expected")

    def predicted(self, batch: ExchangeBatch, pair: Pair) -> Names | None:
        """The names of a prediction that is there; None where it does not give any."""
        raise NotImplementedError(f"{type(self).__name__} does not say what is predicted")
