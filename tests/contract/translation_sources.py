"""What the values of each translation metric come from beside its own classes: functions and modules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from turnwise.audio import cepstra, dtw, mcd, quality, recognise, wave
from turnwise.judge import combine, prompt, verdict
from turnwise.judge import metric as judged
from turnwise.kernel import operations
from turnwise.kernel import text as spoken
from turnwise.translation import batch, blaser, comet, comet_files, ngrams, sonar, sonar_models, text, transcripts
from turnwise.translation import pieces as translation_pieces
from turnwise.translation.metrics import base, dnsmos
from turnwise.translation.metrics import blaser as blaser_metric
from turnwise.translation.metrics import comet as comet_metric
from turnwise.translation.metrics import mcd as mcd_metric
from turnwise.translation.sonar import checkpoint, head, layers, sound, speech, tokens
from turnwise.translation.sonar import text as sonar_text

Sources = tuple[Callable[..., Any] | type | ModuleType | Path, ...]

OPERATION_METRICS = ("system_latency_ms", "system_tokens", "system_cost")

_HEARD: Sources = (transcripts.hear, transcripts._heard, recognise, wave)
_TEXTS: Sources = (base.references_of, base.text_pair, ngrams)
_BLEU: Sources = (text.bleu_statistics, text.bleu_value, text._given, text._bleu, text._closest)
_CHRF: Sources = (
    *(text.chrf_statistics, text.chrf_value, text._given, text._chrf_words, text._pairs),
    *(text._compared, text._best, text._added),
)
_TER: Sources = (text.ter_statistics, text.ter_value, text._given, text._ter)
_SPOKEN: Sources = (spoken.spoken_form, spoken._Silent, base.references_of, *_HEARD)

SOURCES: dict[str, Sources] = {
    "bleu": (*_BLEU, *_TEXTS, *_HEARD),
    "chrf": (*_CHRF, *_TEXTS, *_HEARD),
    "chrf++": (*_CHRF, *_TEXTS, *_HEARD),
    "ter": (*_TER, *_TEXTS, *_HEARD),
    "comet": (comet_metric, comet, comet_files),
    "adequacy": (
        *(judged.question, judged.unanswered, judged._measurement, combine, prompt, verdict, translation_pieces),
        *(base.source_of, Path(prompt.__file__).parent / "rubrics" / "translation" / "adequacy.yaml"),
    ),
    "mcd": (cepstra, dtw, mcd, wave, mcd_metric._Listener, base.unusable, batch.SampleBatch.partners),
    "blaser": (
        *(blaser_metric, blaser, sonar_models, sonar, checkpoint, head, layers, sound, speech, sonar_text, tokens),
        Path(sonar_models.__file__).with_name("data") / "sonar.yaml",
    ),
    "asr_bleu": (*_BLEU, ngrams, *_SPOKEN),
    "wer": _SPOKEN,
    "cer": _SPOKEN,
    "dnsmos": (dnsmos._opinions, quality, wave, base.unusable),
    **dict.fromkeys(OPERATION_METRICS, (operations.operation_spec, batch.SampleBatch.operations)),
}
