"""The metrics of the duplex room, by name; nothing is imported until one is used."""

from __future__ import annotations

from turnwise.kernel.registry import REGISTRY

ROOM = "duplex"
_HERE = "turnwise.duplex.metrics"
METRICS = {
    "interruption_total_score": f"{_HERE}.totals:InterruptionTotal",
    "rejection_total_score": f"{_HERE}.totals:RejectionTotal",
    "first_response_delay": f"{_HERE}.first_response_delay:FirstResponseDelay",
    "avg_latency_stop": f"{_HERE}.latencies:AverageStop",
    "avg_latency_resp": f"{_HERE}.latencies:AverageResponse",
    "total_delay": f"{_HERE}.challenge:TOTAL_DELAY",
    "delay_score": f"{_HERE}.challenge:DELAY_SCORE",
    "challenge_total": f"{_HERE}.challenge:CHALLENGE_TOTAL",
    "behaviour": f"{_HERE}.behaviour:Behaviour",
    "reject_rate": f"{_HERE}.reject_rate:RejectRate",
    "take_over": f"{_HERE}.take_over:TakeOver",
    "response_latency": f"{_HERE}.responses:ResponseLatency",
    "response_rate": f"{_HERE}.responses:ResponseRate",
    "yield_rate": f"{_HERE}.yielding:YieldRate",
    "stop_latency": f"{_HERE}.yielding:StopLatency",
    "agent_interruption_rate": f"{_HERE}.agent_interruption_rate:AgentInterruptionRate",
    "overlap_ratio": f"{_HERE}.overlap_ratio:OverlapRatio",
    "selectivity": f"{_HERE}.selectivity:Selectivity",
    "turn_taking": f"{_HERE}.turn_taking:TurnTaking",
    "response_latency_mean": f"{_HERE}.tau_voice:ResponseLatencyMean",
    "yield_latency_mean": f"{_HERE}.tau_voice:YieldLatencyMean",
    "selectivity_backchannel": f"{_HERE}.tau_voice:SelectivityBackchannel",
    "selectivity_vocal_tic": f"{_HERE}.tau_voice:SelectivityVocalTic",
    "selectivity_non_directed": f"{_HERE}.tau_voice:SelectivityNonDirected",
    "n_simulations": f"{_HERE}.tau_counts:Simulations",
    "response_total": f"{_HERE}.tau_counts:ResponseTotal",
    "yield_total": f"{_HERE}.tau_counts:YieldTotal",
    "backchannel_total": f"{_HERE}.tau_counts:BackchannelTotal",
    "vocal_tic_total": f"{_HERE}.tau_counts:VocalTicTotal",
    "non_directed_total": f"{_HERE}.tau_counts:NonDirectedTotal",
    "agent_interrupts_count": f"{_HERE}.tau_counts:AgentInterrupts",
}

REGISTRY.add_lazy(ROOM, METRICS)
