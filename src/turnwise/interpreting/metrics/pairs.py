"""What the barge-in score is made of, one barge-in at a time: stopping, answering, mixing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.interpreting.barge_in import NO_RESPONSE, Pair
from turnwise.interpreting.batch import Heard
from turnwise.interpreting.metrics.base import CallMetric, Found, declared, milliseconds
from turnwise.interpreting.records import PAIR
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.rollup import MEAN
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped

NO_AUDIO = "no audio came"
NO_TEXT = "no text came"
NO_ANSWER = "the barge-in was not translated"
NO_END = "when the speech of the barge-in ended is not known"
BY_TIMING = "no expected text, or no text came: mixing is known by timing only"


class _PairMetric(CallMetric):
    """A metric of barge-ins."""

    def judge(self, heard: Heard) -> Iterable[Found]:
        """Every barge-in."""
        for pair in heard.pairs(by_the_document=self.by_the_document):
            if heard.asks(pair.barge_in):
                unit = heard.pair_unit(pair.barge_in)
                for output, found in self.judge_pair(pair):
                    yield unit, output, found

    def judge_pair(self, pair: Pair) -> Iterable[tuple[str, Measurement]]:
        """The outputs of one barge-in."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it judges")


def _without(pair: Pair) -> Measurement | None:
    """Why nothing is known about a barge-in; None where something is."""
    if pair.times is None:
        return skipped(pair.reason or "")
    return not_applicable(pair.reason) if pair.reason else None


class CutoffLatency(_PairMetric):
    """From the start of the barge-in to the end of the old translation."""

    spec: ClassVar[MetricSpec] = declared(
        "cutoff_latency",
        "How long is the old translation still there after somebody barges in?",
        (milliseconds(), *(milliseconds(clock, rollups=(MEAN,)) for clock in ("audible", "arrival", "text"))),
        PAIR,
        source="Barge-In Metric Design Specification",
    )

    def judge_pair(self, pair: Pair) -> Iterable[tuple[str, Measurement]]:
        """The one that is scored, and every clock."""
        without = _without(pair)
        if without is not None or pair.times is None:
            yield "value", without or skipped(pair.reason or "")
            return
        times = pair.times
        yield "value", measured((times.cutoff,), evidence={"signal": times.signal, "attribution": pair.attribution})
        yield "audible", _time(times.cutoff_audible, NO_AUDIO)
        yield "arrival", _time(times.cutoff_arrival, "")
        yield "text", _time(times.cutoff_text, NO_TEXT)


class BargeInResponse(_PairMetric):
    """From the barge-in to the first of its own translation."""

    spec: ClassVar[MetricSpec] = declared(
        "barge_in_response",
        "How long does somebody who barges in wait for their translation?",
        (
            milliseconds(least=None),
            *(milliseconds(name, least=None, rollups=(MEAN,)) for name in ("from_end", "text")),
        ),
        PAIR,
        source="Barge-In Metric Design Specification",
    )

    def judge_pair(self, pair: Pair) -> Iterable[tuple[str, Measurement]]:
        """From the start of the speech, from its end, and to the first text."""
        if pair.times is None:
            yield "value", skipped(pair.reason or "")
            return
        times = pair.times
        evidence = {"signal": times.signal, "attribution": pair.attribution}
        yield "value", _time(times.response, NO_ANSWER, evidence)
        yield "from_end", _time(times.response_from_end, NO_ANSWER if times.response is None else NO_END)
        yield "text", _time(times.response_text, NO_TEXT)


class MixingShare(_PairMetric):
    """The words of one of the two translations that belong to the other turn."""

    spec: ClassVar[MetricSpec] = declared(
        "mixing_share",
        "How much of one translation is said in the other?",
        (
            Output(statistics=("share",), direction=Direction.LOWER, range=(0.0, 1.0), rollups=(MEAN,)),
            Output("detected", ("detected",), Direction.LOWER, (0.0, 1.0), (MEAN,)),
        ),
        PAIR,
        source="Barge-In Metric Design Specification",
    )

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The document knows no shares: whether it is mixing is all."""
        return self.spec.outputs[1:] if self.by_the_document else self.spec.outputs

    def judge_pair(self, pair: Pair) -> Iterable[tuple[str, Measurement]]:
        """The share where there is text, and whether it is called mixing."""
        without = _without(pair)
        if without is not None or pair.mixing is None:
            yield self.outputs[0].name, without or skipped(pair.reason or "")
            return
        mixing = pair.mixing
        if not self.by_the_document:
            evidence = {"rule": mixing.rule, "spans": list(mixing.evidence)}
            known = mixing.share is not None
            yield "value", measured((mixing.share or 0.0,), evidence=evidence) if known else not_applicable(BY_TIMING)
        answered = NO_RESPONSE not in pair.caps
        yield "detected", measured((float(mixing.detected),)) if answered else not_applicable(NO_ANSWER)


def _time(value: float | None, without: str, evidence: object = None) -> Measurement:
    return not_applicable(without) if value is None else measured((value,), evidence=evidence)
