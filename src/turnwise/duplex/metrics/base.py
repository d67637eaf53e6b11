"""What the metrics of the room share: which profiles they belong to, their roll-ups, and how they go over a batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

from turnwise.duplex.batch import DuplexBatch, Talk
from turnwise.duplex.cases import FILE_MISSING, INPUTS_MISSING, RESPOND, RESUME, Case, Fact, conversation_unit
from turnwise.duplex.records import CATEGORY, LANGUAGE
from turnwise.kernel.metric import SPEC, TURNWISE, Metric, Output
from turnwise.kernel.rollup import MACRO, MEAN, P50, P90, P95, Rollup, mean, pool
from turnwise.kernel.score import Measurement, Unit, measured, not_applicable, skipped

TAU_VOICE = "tau-voice"
OWN = (TURNWISE, SPEC)
"""The profiles of most metrics; the third one is another tool's, with that tool's metrics."""

LEVEL = "level"
CATEGORIES, CONVERSATIONS, RECORDINGS = "categories", "conversations", "recordings"
"""What a case is: the average of a category, a conversation of a known category, or any conversation."""
AVERAGES_ONLY = "only the averages of the categories are known"
FACT_OF_LABELS = (RESPOND, RESUME)
LABEL = "label"
DELAYS_ONLY = "only the average delay of each category is known"

POOLED = Rollup("pooled", (pool(),), primary=True)
POOLED_MEAN = Rollup("pooled", (mean(),), primary=True)
"""tau-voice's name for the mean over the events of all conversations."""
SPREAD = (MEAN, P50, P90, P95, MACRO)
"""For times."""
SHARE = (MEAN, MACRO)
"""For what is so or not."""
BY_FILE = (CATEGORY, LANGUAGE)

Found = tuple[Unit, str, Measurement]


class CaseMetric(Metric):
    """A total of the challenge: every case has a fact for it, or none."""

    facts: ClassVar[dict[str, tuple[str, ...]]]
    """For each output the facts that may stand for it."""
    scale: ClassVar[float] = 1.0
    pools: ClassVar[bool] = False
    """Whether a fact's sum and number are kept, rather than its mean."""

    @property
    def level(self) -> str:
        """What a case is in this run."""
        return self.settings.context.get(LEVEL, RECORDINGS)

    @property
    def is_spec(self) -> bool:
        """Whether the document is followed to the letter."""
        return self.settings.profile == SPEC

    def measure(self, batch: DuplexBatch) -> Iterable[Found]:
        """The facts of every case that is asked."""
        for case in batch.cases:
            if not self.asks(case):
                continue
            for output, names in self.facts.items():
                name = next((name for name in names if name in case.facts), None)
                if name is not None:
                    yield case.unit, output, _whose(case, name, self.judged(output, case.facts[name]))
        for talk in batch.talks:
            if talk.unusable:
                yield conversation_unit(talk.timeline), next(iter(self.facts)), skipped(talk.unusable)

    def asks(self, case: Case) -> bool:
        """Whether a case counts."""
        return True

    def judged(self, output: str, fact: Fact) -> Measurement:
        """The measurement of a fact."""
        if fact.reason in INPUTS_MISSING:
            return skipped(fact.reason)
        if fact.n == 0:
            return self.nothing(fact)
        if self.pools:
            return measured((fact.total, float(fact.n)))
        return measured((self.scale * fact.total / fact.n,))

    def nothing(self, fact: Fact) -> Measurement:
        """A mean of nothing: the document takes it for 0, where a whole category has nothing."""
        if self.is_spec and self.level == CATEGORIES:
            return measured((0.0, 1.0) if self.pools else (0.0,))
        return not_applicable(fact.reason)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The roll-ups go over categories where there are any; averages of averages have no interval."""
        why_none = AVERAGES_ONLY if self.level == CATEGORIES else ""
        return tuple(
            replace(output, rollups=self.rollups(output), no_interval=why_none, voided_by=FILE_MISSING)
            for output in self.spec.outputs
        )

    def rollups(self, output: Output) -> tuple[Rollup, ...]:
        """The roll-ups of an output in this run."""
        raise NotImplementedError


def _whose(case: Case, fact: str, found: Measurement) -> Measurement:
    """What is made of a judge's label is the judge's; where the judge gave none, that is why nothing is found."""
    if case.opinion is None or fact not in FACT_OF_LABELS:
        return found
    own = case.opinion.found
    return own if own.label is None else found._replace(source=own.source, rater=own.rater, evidence={LABEL: own.label})


def over_files(first: Any, digits: int | None) -> Rollup:
    """The document's rule: a value for each category and language, then their plain mean."""
    return Rollup("mean", (first(by=BY_FILE), mean(digits=digits)), primary=True)


class EventMetric(Metric):
    """A metric of what the user did, one event at a time."""

    both_sides: ClassVar[bool] = True
    """Whether it takes the speech of both; silence of a side that nobody knows anything of means nothing."""

    def measure(self, batch: DuplexBatch) -> Iterable[Found]:
        """Every conversation; one that cannot be used is counted once."""
        for talk in batch.talks:
            lacking = talk.unusable or (talk.timeline.lacking if self.both_sides else "")
            if lacking:
                first = talk.events[0] if talk.events else None
                if first is None or talk.asks(first):
                    yield talk.unit(first), self.spec.outputs[0].name, skipped(lacking)
            else:
                yield from self.judge(talk)

    def judge(self, talk: Talk) -> Iterable[Found]:
        """The events of one conversation that the metric asks about."""
        raise NotImplementedError


class TalkMetric(Metric):
    """A metric of whole conversations."""

    def measure(self, batch: DuplexBatch) -> Iterable[Found]:
        """Every conversation."""
        for talk in batch.talks:
            unit = conversation_unit(talk.timeline)
            lacking = talk.unusable or talk.timeline.lacking
            if lacking:
                yield unit, self.spec.outputs[0].name, skipped(lacking)
            else:
                for output, found in self.judge(talk):
                    yield unit, output, found

    def judge(self, talk: Talk) -> Iterable[tuple[str, Measurement]]:
        """The outputs of one conversation."""
        raise NotImplementedError
