"""The translation room for the contract of metrics: what is covered, and systems whose scores are known beforehand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.contract import opinions
from tests.contract.translation_records import Parrot, exemplary, first_text, records, stand_in
from tests.contract.translation_sources import OPERATION_METRICS, SOURCES
from turnwise.judge.records import Question
from turnwise.translation.batch import SampleBatch
from turnwise.translation.formats.predictions import PredictionSamples
from turnwise.translation.metrics.adequacy import Adequacy
from turnwise.translation.metrics.mcd import MISMATCHED
from turnwise.translation.records import Sample

__all__ = ["SOURCES", "exemplary", "records", "stand_in"]

ROOM = "translation"
EXAMPLES = Path(__file__).parents[2] / "examples" / "translation" / "languages"
_CONTEXT = {"references": "var", "mcd_convention": "literature", "recogniser": Parrot.name, "dnsmos": "real"}
CONTEXT = {**_CONTEXT, **opinions.CONTEXT}

ON_TEXT = ("bleu", "chrf", "chrf++", "ter")
ON_TRANSCRIPTS = ("asr_bleu", "wer", "cer")

NEEDS_MODEL = {
    "comet": "no package brings weights; tests/translation/test_comet.py scores with tiny models of its own",
    "blaser": "no package brings weights; tests/translation/sonar scores with tiny models of its own",
}
"""Metrics that score nothing without a model, and where they are scored; here they must say what is missing."""

NO_BEST_VALUE = {"dnsmos": "a prediction of people's opinions has no bound that a recording could reach"}
"""Metrics without a best value, and why."""

NO_PERFECT_INPUT = {
    "dnsmos": "it looks at one recording, and the reference recording may itself be noisy",
    **dict.fromkeys(OPERATION_METRICS, "the best cost is 0, and no translation has it by being equal to its reference"),
}

NO_PERFECT_SETTINGS = {
    (name, "effective_order", False): "a sentence of less than four words has no 4-gram, so that its BLEU is 0"
    for name in ("bleu", "asr_bleu")
}
"""The profile `spec` sets it, too."""

NOT_IN_EXAMPLES = dict.fromkeys(ON_TRANSCRIPTS, "no recogniser for the languages of the examples")

NO_BASELINES = {
    **dict.fromkeys(OPERATION_METRICS, "a system that is no system costs nothing"),
    "adequacy": "a judge is asked about real translations only",
}

UNSCORED_BASELINES = {
    (name, "silent"): "it says nothing, so there is no recording to measure"
    for name in ("mcd", "dnsmos", *ON_TRANSCRIPTS)
}
"""Systems that a metric does not score, and why; the page says `no score`."""

BATCH_VARIANTS = {"mcd": {MISMATCHED: "which other reference a translation is held against depends on the batch"}}
"""What a metric yields beside the real scores that depends on the other samples of a batch, and why."""

OTHER_PAGES = dict.fromkeys(OPERATION_METRICS, "operations")

COVERED = (*ON_TEXT, "mcd", *ON_TRANSCRIPTS, "dnsmos", "adequacy", *NEEDS_MODEL, *OPERATION_METRICS)


def batch(samples: Sequence[Sample], index: int = 0) -> SampleBatch:
    found: SampleBatch = opinions.answered(SampleBatch(index, list(samples)), [Adequacy], _as_referenced)
    return found


def _as_referenced(question: Question) -> float:
    """100 for a translation that is the reference, or one of several, word for word; else 0."""
    shown, said = question.shown.get("reference", ""), question.shown["hypothesis"]
    return 100.0 if said == shown or json.dumps(said, ensure_ascii=False) in shown else 0.0


def example_batch(samples: Sequence[Sample]) -> SampleBatch:
    return batch(samples)


@cache
def examples() -> tuple[Sample, ...]:
    """The samples of both languages in examples/translation, by the system's version 1."""
    found = PredictionSamples(EXAMPLES, [], "nmt_v1", "tts_v1")
    return tuple(found.read(range(len(found.order))))


# --- systems ------------------------------------------------------------------------------------------------


def perfect(samples: Sequence[Sample]) -> list[Sample]:
    """Says and sounds like the reference; of several reference texts the first that says something."""
    return [
        replace(s, hypothesis=first_text(s.references), hypothesis_audio=s.reference_audio, is_reference=False)
        for s in samples
    ]


def silent(samples: Sequence[Sample]) -> list[Sample]:
    """Says nothing: an empty text, no recording."""
    return [replace(s, hypothesis="", hypothesis_audio=None, is_reference=False) for s in samples]


def never_silent(samples: Sequence[Sample]) -> list[Sample]:
    """Repeats the source, as text and as a recording."""
    return [replace(s, hypothesis=s.source, hypothesis_audio=s.source_audio, is_reference=False) for s in samples]
