"""What the simulated system does: a good interpreter, and faults that real ones have, at times that are known."""

from __future__ import annotations

from dataclasses import dataclass, replace

from turnwise.kernel.errors import UsageError, near_misses


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an interruption is handled; times in milliseconds from the first sound of the utterance."""

    name: str
    response_ms: float = 800.0
    """When the answer begins."""
    cutoff_ms: float | None = 200.0
    """When an answer that is being heard is cut off by the next utterance; None: never."""
    answer_ms: float = 6000.0
    """How long an answer is at least."""
    longer_ms: float | None = 2000.0
    """By how much it is longer than what it answers: an interpreter is behind, and goes on when the speaker is done.
    None: it always lasts `answer_ms`."""
    answers_interruptions: bool = True
    mixes: bool = False
    """Whether two of three words of the next answer are from the one that was cut off."""
    resumes_ms: float | None = None
    """So long after the cut the rest of the old answer comes after all; None: never."""
    faults: float = 0.0
    """How often a message is broken, late or followed by a closed connection, as a share."""


BEHAVIOURS = {
    behaviour.name: behaviour
    for behaviour in (
        Behaviour("good"),
        Behaviour("slow_cutoff", cutoff_ms=2500.0),
        Behaviour("mixing", cutoff_ms=700.0, mixes=True),
        Behaviour("no_response", answers_interruptions=False),
        Behaviour("never_stops", cutoff_ms=None),
        Behaviour("paused_and_resumed", resumes_ms=600.0, response_ms=3000.0),
        Behaviour("flaky", faults=0.02),
    )
}


def behaviour_named(name: str, response_ms: float | None = None, cutoff_ms: float | None = None) -> Behaviour:
    """A behaviour, with other times if they are given."""
    if name not in BEHAVIOURS:
        remedy = near_misses(name, BEHAVIOURS) or None
        raise UsageError(f"there is no behaviour {name!r}", expected=", ".join(BEHAVIOURS), remedy=remedy)
    found = BEHAVIOURS[name]
    for option, value in (("--response-ms", response_ms), ("--cutoff-ms", cutoff_ms)):
        if value is not None and value < 0:
            raise UsageError(f"{option} is below 0", found=f"{value:g}")
    if cutoff_ms is not None and found.cutoff_ms is None:
        raise UsageError(f"{name} never cuts anything off", found=f"--cutoff-ms {cutoff_ms:g}")
    if response_ms is not None:
        found = replace(found, response_ms=response_ms)
    return found if cutoff_ms is None else replace(found, cutoff_ms=cutoff_ms)
