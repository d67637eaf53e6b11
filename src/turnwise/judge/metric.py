"""Metrics that ask: what a judge says about a unit, as rows like any other.

A judged metric computes nothing. Before a run measures, every question of every judged metric is put to the judge and
the answers go on record; each batch then carries its own (`batch.judged`), so that measuring is the same wherever and
whenever it is done, and needs neither network nor key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from turnwise.judge.combine import Combined, combine, evidence_of
from turnwise.judge.prompt import PROMPT_VERSION
from turnwise.judge.records import CONSISTENCY, Dimension, Judged, Judgement, Pieces, Question, Rubric, question_key
from turnwise.judge.rubric import rubric_from
from turnwise.kernel.jsontext import dumps_clean
from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output, Settings
from turnwise.kernel.registry import REGISTRY, Registry
from turnwise.kernel.rollup import MACRO, MEAN, MICRO, Rollup, share
from turnwise.kernel.score import Measurement, Source, Unit, failed, labelled, measured, not_applicable, skipped

JUDGE = "judge"
"""What every judged metric needs; a run that has one carries it for every record."""
CONTEXT = (JUDGE, "judge_repeats", "judge_temperature", "judge_parameters")
NO_JUDGE = f"no {JUDGE}"

Asked = tuple[Unit, Question | Measurement]
"""A unit with what is asked about it, or why nothing is."""


class BatchWithPieces(Protocol):
    """A batch whose units a judge can be shown."""

    judged: Judged

    def pieces(self, unit_kind: str) -> Iterator[tuple[Unit, Pieces]]:
        """Per unit of a kind, what there is to see of it, by the names that rubrics use; None for what is not there."""
        ...


class JudgedMetric(Metric):
    """A rubric as a metric; a room's own are subclasses that name theirs."""

    rubric: ClassVar[Rubric]
    variant: ClassVar[str] = ""
    """Keeps a judge's opinion apart from people's, where both have the metric."""

    def asked(self, batch: BatchWithPieces) -> Iterator[Asked]:
        """What the judge is asked about each unit of a batch."""
        for unit, pieces in batch.pieces(self.rubric.unit):
            yield unit, question(self.rubric, unit, pieces)

    def measure(self, batch: BatchWithPieces) -> Iterable[tuple[Unit, str, Measurement]]:
        """The judge's answers, as they are on record."""
        for unit, asked in self.asked(batch):
            if isinstance(asked, Measurement):
                yield unit, self.spec.outputs[0].name, asked._replace(variant=self.variant, source=Source.JUDGE)
                continue
            judgement = batch.judged.get(question_key(asked))
            for output, found in self._found(judgement):
                rater = judgement.model if judgement else ""
                yield unit, output, found._replace(variant=self.variant, source=Source.JUDGE, rater=rater)

    def _found(self, judgement: Judgement | None) -> Iterator[tuple[str, Measurement]]:
        if judgement is None:
            yield self.spec.outputs[0].name, skipped(NO_JUDGE)
            return
        combined = combine(self.rubric, judgement)
        if combined is None:
            missing = unanswered(judgement)
            yield from ((output.name, missing) for output in self.spec.outputs if output.name != CONSISTENCY)
            return
        for dimension in self.rubric.dimensions:
            yield output_name(self.rubric, dimension), _measurement(self.rubric, dimension, combined)
        if combined.consistency is not None:
            yield CONSISTENCY, measured((combined.consistency,))

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Only what can have rows: without a judge the first says that there is none; repeats alone can disagree."""
        if JUDGE not in self.settings.context:
            return self.spec.outputs[:1]
        repeated = "judge_repeats" in self.settings.context
        return tuple(output for output in self.spec.outputs if repeated or output.name != CONSISTENCY)

    @property
    def signed(self) -> dict[str, Any]:
        """With the rubric, the wording around it, and who is asked."""
        nobody = {JUDGE: "none"}
        rubric = f"{self.rubric.name}:{self.rubric.hash}"
        return {**nobody, **super().signed, "rubric": rubric, "prompt": PROMPT_VERSION}


def question(rubric: Rubric, unit: Unit, pieces: Pieces) -> Question | Measurement:
    """A rubric's question about a unit, or what is missing to ask it."""
    shown = {name: _text(pieces[name]) for name in (*rubric.needs, *rubric.sees) if pieces.get(name) is not None}
    missing = [name for name in rubric.needs if name not in shown]
    return skipped(f"no {missing[0]}") if missing else Question(rubric, unit, shown)


def unanswered(judgement: Judgement) -> Measurement:
    """What is kept of a question that nobody gave a readable answer to: a reason that can be counted, and all of it."""
    failure = judgement.failures[0]
    if failure.limited:
        return skipped(failure.reason)
    return failed(failure.reason.partition(": ")[0], evidence=evidence_of(judgement))


def _measurement(rubric: Rubric, dimension: Dimension, combined: Combined) -> Measurement:
    evidence = combined.evidence if dimension.name == rubric.primary else None
    value = combined.scores[dimension.name]
    if value is None:
        return not_applicable("the judge says that it does not apply", evidence=evidence)
    return labelled(value, evidence=evidence) if isinstance(value, str) else measured((value,), evidence=evidence)


def _text(piece: Any) -> str:
    return piece if isinstance(piece, str) else dumps_clean(piece)


def output_name(rubric: Rubric, dimension: Dimension) -> str:
    """The rubric's main question is the metric's value; the others go by their names."""
    return "value" if dimension.name == rubric.primary else dimension.name


def judged_spec(
    rubric: Rubric,
    *,
    rollups: tuple[Rollup, ...] = (MICRO, MACRO),
    needs: Sequence[str] = (),
    optional: bool = True,
    components: tuple[str, ...] = (),
    source: str = "",
) -> MetricSpec:
    """The declaration of a rubric's metric."""
    direction = Direction.LOWER if rubric.lower_is_better else Direction.HIGHER
    first = rubric.dimension(rubric.primary)
    dimensions = [first, *(one for one in rubric.dimensions if one is not first)]
    outputs = [_output(output_name(rubric, one), one, direction, rollups) for one in dimensions]
    consistency = Output(CONSISTENCY, ("share",), range=(0.0, 1.0), rollups=(MEAN,))
    return MetricSpec(
        room=rubric.room,
        name=rubric.name,
        version=rubric.version,
        question=rubric.question,
        unit=rubric.unit,
        outputs=(*outputs, consistency),
        needs=(JUDGE, *needs),
        context=CONTEXT,
        components=components,
        source=source,
        optional=optional,
        baselines=False,
    )


def _output(name: str, dimension: Dimension, direction: Direction, rollups: tuple[Rollup, ...]) -> Output:
    if dimension.scale is None:
        shares = tuple(
            Rollup(f"share of {label}", (share(label),), primary=not n) for n, label in enumerate(dimension.labels)
        )
        return Output(name, (), Direction.NEITHER, (0.0, 1.0), shares)
    return Output(name, ("score",), direction, (dimension.scale.low, dimension.scale.high), rollups)


class RubricMetric(JudgedMetric):
    """The metric of a user's own rubric, made when the rubric is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Its class was made at run time, so a worker makes it again from what it was made of.
        return _rebuilt, (dict(self.rubric.content), self.rubric.room, self.settings)


def rubric_metric(rubric: Rubric) -> type[RubricMetric]:
    """The metric class of a rubric."""
    return type(RubricMetric.__name__, (RubricMetric,), {"rubric": rubric, "spec": judged_spec(rubric)})


def _rebuilt(content: Mapping[str, Any], room: str, settings: Settings) -> RubricMetric:
    return rubric_metric(rubric_from(content, f"rubric {content.get('name')}", room))(settings)


def registry_with(rubrics: Iterable[Rubric]) -> Registry:
    """All metrics, and those of a run's own rubrics."""
    own = [rubric_metric(rubric) for rubric in rubrics]
    return REGISTRY.with_own(own) if own else REGISTRY
