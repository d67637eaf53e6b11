"""From the stored rows of a run to what it showed (outcome.py), in two passes that hold no texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from turnwise.engine.plan import DIAGNOSIS
from turnwise.kernel.bands import Bands
from turnwise.kernel.jsontext import loads
from turnwise.kernel.metric import Direction, Output
from turnwise.report.summary import run_selection, with_calibration
from turnwise.report.tables import metric_label
from turnwise.store.reading import stream_items_with_scores
from turnwise.store.run import Run
from turnwise.store.store import Store
from turnwise.translation.conclusions import PROBE, diagnoses, probes, readings_of
from turnwise.translation.metrics.mcd import MISMATCHED
from turnwise.translation.outcome import Execution, LanguageOutcome, MetricOutcome, SampleOutcome
from turnwise.translation.records import AUDIO, LANGUAGE

ALL = "all"
"""Stands for the language where no sample has one."""

Row = Mapping[str, Any]


@dataclass
class _Tally:
    """What one language showed, metric by metric."""

    pair: str = ""
    total: int = 0
    values: dict[str, list[float | None]] = field(default_factory=dict)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, sample: SampleOutcome, labels: Sequence[str]) -> None:
        self.pair = self.pair or sample.language_pair
        self.total += 1
        for label in labels:
            self.values.setdefault(label, []).append(sample.values.get(label))
            if label in sample.missing:
                self.reasons.setdefault(label, Counter())[sample.missing[label]] += 1


class Outcomes:
    """A finished run, ready to be written down."""

    def __init__(self, store: Store, run: Run) -> None:
        self._store, self._run = store, run
        self._metrics = run_selection(store, run).metrics
        self.outputs: dict[str, Output] = {
            metric_label({"metric": metric.spec.name, "output": output.name}): output
            for metric in self._metrics
            for output in metric.outputs
        }
        """By label, as columns and tables name them."""
        self._results = with_calibration(store, store.rollups(run))

    @property
    def bands(self) -> dict[str, Bands]:
        """The borders of the bands by label, for the metrics that have any in this run."""
        return {label: output.bands for label, output in self.outputs.items() if output.bands is not None}

    def samples(self) -> Iterator[SampleOutcome]:
        """Every sample with its scores, in the order they were measured.

        What nothing in the run could be measured by, for one and the same reason, is said once, in the execution, and
        not of every sample.
        """
        unsaid = [label for label in self.execution.not_measured if len(self.execution.overall[label].reasons) == 1]
        for sample in self._samples():
            missing = {label: reason for label, reason in sample.missing.items() if label not in unsaid}
            yield replace(sample, missing=missing)

    def _samples(self) -> Iterator[SampleOutcome]:
        for item, scores in stream_items_with_scores(self._store, self._run, with_content=True):
            content = loads(item["content"]) if item["content"] else {}
            real = [score for score in scores if not score["variant"]]
            yield self._sample(item, content, real)

    @cached_property
    def execution(self) -> Execution:
        """All that is said about the run."""
        tallies: dict[str, _Tally] = {}
        for sample in self._samples():
            tallies.setdefault(sample.language, _Tally()).add(sample, list(self.outputs))
        run = self._run
        config = run.config
        languages = [self._language(name, tally) for name, tally in tallies.items()]
        return Execution(
            execution_id=execution_id(run),
            run_id=run.id,
            system=run.system,
            version=run.version,
            profile=run.profile,
            started=run.started,
            finished=run.finished or "",
            mode=mode_of(config),
            languages=languages,
            overall=self._overall(tallies),
            findings=[(f["message"], f["count"]) for f in run.findings if f["check"] not in (DIAGNOSIS, PROBE)],
            not_measured=self._not_measured(tallies),
            probes=probes(self._results),
        )

    def _sample(self, item: Row, content: Row, scores: Sequence[Row]) -> SampleOutcome:
        values, bands, missing = {}, {}, {}
        for score in scores:
            label = metric_label({"metric": score["metric"].partition("/")[2], "output": score["output"]})
            if score["value"] is None:
                missing[label] = score["reason"]
                continue
            values[label] = score["value"]
            found = self.outputs[label].bands if label in self.outputs else None
            if found is not None:
                bands[label] = found.of(score["value"])
        audio = {name: Path(content[name]) if name in content else None for name in AUDIO}
        return SampleOutcome(
            id=item["id"],
            uuid=content.get("uuid", ""),
            segment_id=content.get("segment_id", item["id"]),
            user_id=content.get("user_id", ""),
            language=loads(item["dimensions"]).get(LANGUAGE, ALL),
            language_pair=content.get("language_pair", ""),
            source=content.get("source"),
            hypothesis=content.get("hypothesis"),
            references=content.get("references", ()),
            transcript=_transcript(scores),
            values=values,
            bands=bands,
            missing=missing,
            **audio,
        )

    def _language(self, name: str, tally: _Tally) -> LanguageOutcome:
        named = any(r["group"] == {LANGUAGE: name} for r in self._results)
        group = {LANGUAGE: name} if named else {}
        return LanguageOutcome(
            language=name,
            pair=tally.pair,
            metrics={label: self._metric(label, tally.total, [tally], group) for label in self.outputs},
            values=tally.values,
            band_counts={
                label: dict(Counter(bands.of(v) for v in tally.values.get(label, []) if v is not None))
                for label, bands in self.bands.items()
            },
            diagnoses=list(diagnoses(readings_of(self._results, group), self._run.profile)),
        )

    def _overall(self, tallies: Mapping[str, _Tally]) -> dict[str, MetricOutcome]:
        total = sum(tally.total for tally in tallies.values())
        return {label: self._metric(label, total, list(tallies.values()), {}) for label in self.outputs}

    def _metric(self, label: str, total: int, tallies: Sequence[_Tally], group: Mapping[str, str]) -> MetricOutcome:
        output = self.outputs[label]
        values = np.array([v for t in tallies for v in t.values.get(label, []) if v is not None])
        reasons: Counter[str] = Counter()
        for tally in tallies:
            own = tally.reasons.get(label)
            if own is None and not values.size:  # a metric that was not run says why under its first output only
                own = tally.reasons.get(label.partition(".")[0])
            reasons += own or Counter()
        found = self._rolled_up(label, group, "")
        mean = found.get("mean") or found.get("micro")  # as the metric of a user's own rubric calls it
        corpus = found.get("corpus", mean)
        first = found.get(output.primary.name)
        wrong = self._rolled_up(label, group, MISMATCHED).get("mean")
        return MetricOutcome(
            metric=label,
            lower_is_better=output.direction is Direction.LOWER,
            corpus=corpus["value"] if corpus else None,
            mean=mean["value"] if mean else None,
            std=float(values.std()) if values.size else None,
            min=float(values.min()) if values.size else None,
            max=float(values.max()) if values.size else None,
            median=float(np.median(values)) if values.size else None,
            primary="corpus" if output.primary.name == "corpus" else "mean",
            low=first["low"] if first else None,
            high=first["high"] if first else None,
            band=first["band"] if first else None,
            total=total,
            valid=int(values.size),
            skipped=total - int(values.size),
            reasons=dict(reasons),
            mismatched=wrong["value"] if wrong else None,
            signature=self._signature(label),
            calibration=first.get("calibration") if first else None,
        )

    def _rolled_up(self, label: str, group: Mapping[str, str], variant: str) -> dict[str, Row]:
        """The results of a metric in a group by roll-up."""
        return {
            r["rollup"]: r
            for r in self._results
            if metric_label(r) == label and r["group"] == group and r["variant"] == variant
        }

    def _signature(self, label: str) -> str:
        name = label.partition(".")[0]
        return next(metric.signature for metric in self._metrics if metric.spec.name == name)

    def _not_measured(self, tallies: Mapping[str, _Tally]) -> dict[str, str]:
        """Metrics that scored nothing, with the reasons."""
        found = {}
        for label in self.outputs:
            if any(v is not None for t in tallies.values() for v in t.values.get(label, [])):
                continue
            reasons = dict.fromkeys(reason for t in tallies.values() for reason in t.reasons.get(label, ()))
            if reasons:
                found[label] = "; ".join(reasons)
        return found


def mode_of(config: Mapping[str, Any]) -> str:
    """How the data were named."""
    if config.get("data") is not None:
        return "data"
    return "lines" if config.get("hypotheses") is not None else config.get("mode") or "predictions"


def execution_id(run: Run) -> str:
    """The name the execution was given, the folder of its results, or the run's id."""
    given = run.config.get("execution_id")
    folder = run.config.get("out")
    return str(given) if given else Path(folder).name if folder else run.id


def _transcript(scores: Sequence[Row]) -> str | None:
    for score in scores:
        if score["evidence"] is not None and '"transcript"' in score["evidence"]:
            found = loads(score["evidence"]).get("transcript")
            return found if isinstance(found, str) else None
    return None
