"""What the values of each interpreting metric come from beside its own classes: functions, modules and word lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from turnwise.audio import playout
from turnwise.interpreting import (
    attribution,
    barge_in,
    capture_events,
    capture_files,
    curves,
    emissions,
    expected,
    instance_fields,
    instances,
    kinds,
    lag,
    mixing,
    plain_events,
    playback,
    records,
    shown,
    summaries,
)
from turnwise.interpreting.batch import Heard, InterpretingBatch
from turnwise.interpreting.metrics import completeness, error_rates, overlap, pairs, target_language
from turnwise.judge import combine, prompt, verdict
from turnwise.judge import metric as judged
from turnwise.kernel import spans, text

Sources = tuple[Callable[..., Any] | type | ModuleType | Path, ...]

_DATA = Path(records.__file__).with_name("data")
_TURNS: Sources = (
    attribution,
    summaries,
    expected,
    capture_events,
    capture_files,
    plain_events,
    playback,
    playout,
    records,
    spans.merged_spans,
    text,
)
_BARGE_INS: Sources = (
    *(barge_in, curves, mixing, Heard.pairs, kinds, _DATA / "barge_in_kinds.yaml"),
    *_TURNS,
)
_RUBRICS = Path(prompt.__file__).parent / "rubrics" / "interpreting"
_JUDGED: Sources = (
    *(judged.question, judged.unanswered, judged._measurement, combine, prompt, verdict, shown),
    *(InterpretingBatch.pieces_in, *_BARGE_INS),
)
_LAG: Sources = (lag, emissions, instances, instance_fields, *_TURNS)

SOURCES: dict[str, Sources] = {
    "barge_in": _BARGE_INS,
    **dict.fromkeys(("cutoff_latency", "barge_in_response", "mixing_share"), (pairs._time, *_BARGE_INS)),
    **dict.fromkeys(("wer", "cer"), (error_rates, *_TURNS)),
    "completeness": (completeness.content_words, completeness.function_words, _DATA / "function_words.yaml", *_TURNS),
    "target_language": (target_language, *_TURNS),
    **{
        name: (*_JUDGED, _RUBRICS / f"{name}.yaml")
        for name in ("semantic_mixing", "judged_completeness", "intent_preservation", "terminology")
    },
    "latency": _TURNS,
    "overlap": (overlap._twice, spans, *_TURNS),
    **dict.fromkeys(("al", "laal", "ap", "dal", "atd", "yaal", "start_offset", "end_offset", "erasure"), _LAG),
}
