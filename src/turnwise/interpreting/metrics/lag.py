"""Lag of simultaneous translation, on the source's clock (`cu`) and with computation (`ca`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.interpreting import lag
from turnwise.interpreting.batch import InterpretingBatch
from turnwise.interpreting.emissions import CA, CU, NO_ELAPSED, NO_WORDS, Emitted
from turnwise.interpreting.lag import Emission
from turnwise.interpreting.metrics.base import NOT_WANTED, Found, declared
from turnwise.interpreting.records import TURN
from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output
from turnwise.kernel.rollup import MEAN
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped

UNDEFINED = "not defined here: no reference, or no word before the end of the source"
NOT_REVISED = "a log of delays does not tell what was revised"


def _declared(name: str, question: str, source: str, statistic: str = "milliseconds") -> MetricSpec:
    outputs = tuple(Output(output, (statistic,), Direction.LOWER, (None, None), (MEAN,)) for output in (CU, CA))
    return declared(name, question, outputs, TURN, needs=("emission",), source=source)


class LagMetric(Metric):
    """A metric of when the words of a translation came."""

    def measure(self, batch: InterpretingBatch) -> Iterable[Found]:
        """Every turn or instance."""
        unwanted = {
            one.unit.id
            for heard in batch.heard
            if not batch.wants(heard, self.spec.name)
            for one in batch.emitted_in(heard)
        }
        outputs = [output.name for output in self.spec.outputs]
        for emitted in batch.emitted:
            unit = emitted.unit
            is_wanted = not unwanted or unit.id not in unwanted
            for output in outputs:
                yield unit, output, self.judge(emitted, output) if is_wanted else not_applicable(NOT_WANTED)

    def judge(self, emitted: Emitted, output: str) -> Measurement:
        """One output of one turn or instance."""
        emission = emitted.emission(output)
        if emission is None:
            return skipped(emitted.reason or NO_ELAPSED)
        if not emission.delays:
            return not_applicable(NO_WORDS)
        value = self.of(emission)
        return not_applicable(UNDEFINED) if value is None else measured((value,))

    def of(self, emission: Emission) -> float | None:
        """The number; None where it is not defined."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it computes")


class AverageLagging(LagMetric):
    """AL: how far the words are behind a translation that keeps pace with the speaker."""

    spec: ClassVar[MetricSpec] = _declared(
        "al", "How far behind the speaker are the words of the translation?", "Ma et al. (2019, 2020)"
    )

    def of(self, emission: Emission) -> float | None:
        """As `lag.al`."""
        return lag.al(emission)


class LengthAdaptiveAverageLagging(LagMetric):
    """LAAL: AL that does not reward long translations."""

    spec: ClassVar[MetricSpec] = _declared(
        "laal",
        "How far behind the speaker are the words, if saying more than the reference earns nothing?",
        "Papi et al. (2022); Polák et al. (2022)",
    )

    def of(self, emission: Emission) -> float | None:
        """As `lag.laal`."""
        return lag.laal(emission)


class AverageProportion(LagMetric):
    """AP: the share of the source that a word waits for, on average."""

    spec: ClassVar[MetricSpec] = _declared(
        "ap", "What share of the source does a word of the translation wait for?", "Cho and Esipova (2016)", "share"
    )

    def of(self, emission: Emission) -> float | None:
        """As `lag.ap`."""
        return lag.ap(emission)


class DifferentiableAverageLagging(LagMetric):
    """DAL: AL in which every word takes its time."""

    spec: ClassVar[MetricSpec] = _declared(
        "dal", "How far behind the speaker are the words, if each takes its time?", "Cherry and Foster (2019)"
    )

    def of(self, emission: Emission) -> float | None:
        """As `lag.dal`."""
        return lag.dal(emission)


class AverageTokenDelay(LagMetric):
    """ATD: from the end of a piece of source to the end of the piece of translation with the same number."""

    spec: ClassVar[MetricSpec] = _declared(
        "atd", "How long after a piece of the source does the piece of the translation end?", "Kano et al. (2023)"
    )

    def of(self, emission: Emission) -> float | None:
        """As `lag.atd`."""
        return lag.atd(emission)


class YetAnotherAverageLagging(LagMetric):
    """YAAL: LAAL over the words that came while the speaker still spoke."""

    spec: ClassVar[MetricSpec] = _declared(
        "yaal", "How far behind the speaker are the words that come while they still speak?", "Polák et al. (2025)"
    )

    def of(self, emission: Emission) -> float | None:
        """As `lag.yaal`."""
        return lag.yaal(emission)


class StartOffset(LagMetric):
    """The first word after the beginning of the source."""

    spec: ClassVar[MetricSpec] = _declared(
        "start_offset", "How long after the speaker begins does the translation begin?", "Ma et al. (2020), SimulEval"
    )

    def of(self, emission: Emission) -> float | None:
        """As `lag.start_offset`."""
        return lag.start_offset(emission)


class EndOffset(LagMetric):
    """The last word after the end of the source."""

    spec: ClassVar[MetricSpec] = _declared(
        "end_offset", "How long after the speaker ends does the translation end?", "Ma et al. (2020), SimulEval"
    )

    def of(self, emission: Emission) -> float | None:
        """As `lag.end_offset`."""
        return lag.end_offset(emission)


class NormalisedErasure(LagMetric):
    """Words that were taken back, over the words of the final translation."""

    spec: ClassVar[MetricSpec] = declared(
        "erasure",
        "How much of what was shown is taken back?",
        (Output(statistics=("ratio",), direction=Direction.LOWER, range=(0.0, None), rollups=(MEAN,)),),
        TURN,
        needs=("emission",),
        source="Arivazhagan et al. (2020)",
    )

    def judge(self, emitted: Emitted, output: str) -> Measurement:
        """From the versions of the translation."""
        if emitted.hypotheses is None:
            return not_applicable(emitted.reason or NOT_REVISED)
        value = lag.erasure(emitted.hypotheses)
        return not_applicable(NO_WORDS) if value is None else measured((value,))
