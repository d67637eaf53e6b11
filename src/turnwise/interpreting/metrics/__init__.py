"""The metrics of the interpreting room, by name; nothing is imported until one is used."""

from __future__ import annotations

from turnwise.kernel.registry import REGISTRY

ROOM = "interpreting"
_HERE = "turnwise.interpreting.metrics"
METRICS = {
    "barge_in": f"{_HERE}.barge_in:BargeIn",
    "cutoff_latency": f"{_HERE}.pairs:CutoffLatency",
    "barge_in_response": f"{_HERE}.pairs:BargeInResponse",
    "mixing_share": f"{_HERE}.pairs:MixingShare",
    "wer": f"{_HERE}.error_rates:WordErrorRate",
    "cer": f"{_HERE}.error_rates:CharacterErrorRate",
    "completeness": f"{_HERE}.completeness:Completeness",
    "target_language": f"{_HERE}.target_language:TargetLanguage",
    "semantic_mixing": f"{_HERE}.judged:SemanticMixing",
    "judged_completeness": f"{_HERE}.judged:JudgedCompleteness",
    "intent_preservation": f"{_HERE}.judged:IntentPreservation",
    "terminology": f"{_HERE}.judged:Terminology",
    "latency": f"{_HERE}.latency:Latency",
    "overlap": f"{_HERE}.overlap:Overlap",
    "al": f"{_HERE}.lag:AverageLagging",
    "laal": f"{_HERE}.lag:LengthAdaptiveAverageLagging",
    "ap": f"{_HERE}.lag:AverageProportion",
    "dal": f"{_HERE}.lag:DifferentiableAverageLagging",
    "atd": f"{_HERE}.lag:AverageTokenDelay",
    "yaal": f"{_HERE}.lag:YetAnotherAverageLagging",
    "start_offset": f"{_HERE}.lag:StartOffset",
    "end_offset": f"{_HERE}.lag:EndOffset",
    "erasure": f"{_HERE}.lag:NormalisedErasure",
}

REGISTRY.add_lazy(ROOM, METRICS)
