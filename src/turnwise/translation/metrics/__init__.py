"""The metrics of the translation room, by name; nothing is imported until one is used."""

from __future__ import annotations

from turnwise.kernel.registry import REGISTRY

ROOM = "translation"
METRICS = {
    "bleu": "turnwise.translation.metrics.bleu:Bleu",
    "chrf": "turnwise.translation.metrics.chrf:Chrf",
    "chrf++": "turnwise.translation.metrics.chrf:ChrfPlusPlus",
    "ter": "turnwise.translation.metrics.ter:Ter",
    "comet": "turnwise.translation.metrics.comet:Comet",
    "adequacy": "turnwise.translation.metrics.adequacy:Adequacy",
    "mcd": "turnwise.translation.metrics.mcd:MelCepstralDistance",
    "blaser": "turnwise.translation.metrics.blaser:Blaser",
    "asr_bleu": "turnwise.translation.metrics.asr:AsrBleu",
    "wer": "turnwise.translation.metrics.asr:WordErrorRate",
    "cer": "turnwise.translation.metrics.asr:CharacterErrorRate",
    "dnsmos": "turnwise.translation.metrics.dnsmos:DnsMos",
    "system_latency_ms": "turnwise.translation.metrics.operations:SystemLatency",
    "system_tokens": "turnwise.translation.metrics.operations:SystemTokens",
    "system_cost": "turnwise.translation.metrics.operations:SystemCost",
}

REGISTRY.add_lazy(ROOM, METRICS)
