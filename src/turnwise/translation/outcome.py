"""What a run of the room showed, in the words of the document: per metric, per language, per sample.

Made from stored rows alone; the files and the page of a run are written from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOutcome:
    """One metric over the samples of one language, or of all."""

    metric: str
    """`bleu`, `chrf++`, `dnsmos.signal`."""
    lower_is_better: bool
    corpus: float | None = None
    """From pooled statistics; the mean, for metrics that have no other corpus value."""
    mean: float | None = None
    std: float | None = None
    """Of these samples (divided by n)."""
    min: float | None = None
    max: float | None = None
    median: float | None = None
    primary: str = "corpus"
    """Whether the corpus value or the mean is the one to report, with this interval and band."""
    low: float | None = None
    high: float | None = None
    band: str | None = None
    """excellent, good, fair or poor; None where the document has no bands for the metric."""
    total: int = 0
    valid: int = 0
    skipped: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why samples have no score, with how many."""
    mismatched: float | None = None
    """The mean for wrong pairs: what the number looks like where nothing fits."""
    signature: str = ""
    calibration: str | None = None
    """Of a judge's scores: whether anybody has compared them with people's."""

    @property
    def value(self) -> float | None:
        """The number to report."""
        return self.corpus if self.primary == "corpus" else self.mean


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOutcome:
    """One sample with its scores."""

    id: str
    uuid: str
    segment_id: str
    user_id: str
    language: str
    language_pair: str
    source: str | None = None
    hypothesis: str | None = None
    references: Sequence[str] = ()
    transcript: str | None = None
    """What a recogniser heard in the spoken translation."""
    source_audio: Path | None = None
    hypothesis_audio: Path | None = None
    reference_audio: Path | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    """By metric; what is missing is not in it."""
    bands: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    """By metric, why there is no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageOutcome:
    """All that is said about one language."""

    language: str
    pair: str
    metrics: Mapping[str, MetricOutcome]
    values: Mapping[str, Sequence[float | None]]
    """By metric, one entry for each sample in the order of the data: for distributions and correlations."""
    band_counts: Mapping[str, Mapping[str, int]]
    """By metric that has bands, how many samples are in each (`excellent`, `good`, `fair`, `poor`)."""
    diagnoses: Sequence[str] = ()
    """Sentences about this language's numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A whole run."""

    execution_id: str
    run_id: str
    system: str
    version: str
    profile: str
    started: str
    finished: str
    mode: str
    """`predictions`, `ground_truth`, `lines` or `data`."""
    languages: Sequence[LanguageOutcome]
    overall: Mapping[str, MetricOutcome]
    findings: Sequence[tuple[str, int]] = ()
    """What the checks of the input found, with how often."""
    not_measured: Mapping[str, str] = field(default_factory=dict)
    """By metric, why nothing of the run could be measured by it, and the remedy."""
    probes: Sequence[tuple[str, str, float | None, bool]] = ()
    """Metric, probe (`identity`, `shuffled`, `source copied`, `empty`), value, whether it came out as it must."""
