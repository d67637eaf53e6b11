"""What the values of each duplex metric come from beside its own classes: whole modules, for windows and other limits
stand beside the functions that use them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from turnwise.duplex import batch, cases, categories, category_files, experiment, load, opinion, records, timing
from turnwise.duplex.metrics import (
    base,
    challenge,
    responses,
    selectivity,
    tau_voice,
    turn_taking,
    yielding,
)
from turnwise.judge import combine, prompt, verdict
from turnwise.judge import metric as judged
from turnwise.kernel import rollup

Sources = tuple[Callable[..., Any] | type | ModuleType | Path, ...]

_SPEECH: Sources = (timing, records.Segment, records.Label, records.Timeline, batch.Talk, batch.DuplexBatch._heard)
_CASES: Sources = (
    *(cases, categories, category_files, experiment.number, experiment.count, load.missing_case),
    *(base.over_files, *_SPEECH),
)
_LABELS: Sources = (
    *(judged.question, judged.unanswered, combine, prompt, verdict, opinion),
    *(Path(prompt.__file__).parent / "rubrics" / "duplex" / "behaviour.yaml", *_CASES),
)
_ANSWERS: Sources = (responses.pooled_outputs, *_SPEECH)
_YIELDS: Sources = (yielding, responses.pooled_outputs, *_SPEECH)
_IGNORED: Sources = (selectivity, *_SPEECH)

SOURCES: dict[str, Sources] = {
    **dict.fromkeys(("interruption_total_score", "rejection_total_score", "behaviour"), _LABELS),
    **dict.fromkeys(("first_response_delay", "avg_latency_stop", "avg_latency_resp", "reject_rate"), _CASES),
    **dict.fromkeys(("total_delay", "delay_score", "challenge_total"), (challenge, rollup.round_half_up)),
    **dict.fromkeys(("response_latency", "response_rate", "response_latency_mean", "response_total"), _ANSWERS),
    **dict.fromkeys(("stop_latency", "yield_rate", "yield_total"), _YIELDS),
    "yield_latency_mean": (tau_voice, *_YIELDS),
    **dict.fromkeys(("agent_interruption_rate", "agent_interrupts_count", "overlap_ratio", "take_over"), _SPEECH),
    **dict.fromkeys(("selectivity", "backchannel_total", "vocal_tic_total", "non_directed_total"), _IGNORED),
    **dict.fromkeys(("selectivity_backchannel", "selectivity_vocal_tic", "selectivity_non_directed"), _IGNORED),
    "turn_taking": (turn_taking, *_SPEECH),
    "n_simulations": (batch.DuplexBatch._heard,),
}
