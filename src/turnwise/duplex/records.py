"""What is evaluated: a conversation of two voices, as one timeline whatever format it was read from.

All times are seconds from the beginning of the recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.kernel.errors import UsageError, near_misses

CONVERSATION = "conversation"
EVENT = "event"
TASK = "benchmark_task"
"""The metadata of a benchmark's recording: it asks one question, and all that the agent says is the answer."""
LANGUAGE, CATEGORY, KIND = "language", "category", "event"

TURN, INTERRUPTION = "turn", "interruption"
BACKCHANNEL, VOCAL_TIC, NON_DIRECTED, NOISE = "backchannel", "vocal_tic", "non_directed", "noise"
PAUSE = "pause"
KINDS = (TURN, INTERRUPTION, BACKCHANNEL, VOCAL_TIC, NON_DIRECTED, NOISE, PAUSE)
"""What the user did: spoke in turn, interrupted, gave a sign of listening, coughed, spoke to somebody else, made a
noise, or paused inside a turn."""
TO_IGNORE = (BACKCHANNEL, VOCAL_TIC, NON_DIRECTED, NOISE)
"""What an agent should neither stop for nor answer."""
_OTHER_NAMES = {
    "user_turn": TURN,
    "speech": TURN,
    "question": TURN,
    "turn_taking": TURN,
    "interrupt": INTERRUPTION,
    "user_interruption": INTERRUPTION,
    "barge_in": INTERRUPTION,
    "bargein": INTERRUPTION,
    "back_channel": BACKCHANNEL,
    "user_backchannel": BACKCHANNEL,
    "tic": VOCAL_TIC,
    "cough": VOCAL_TIC,
    "non_directed_phrase": NON_DIRECTED,
    "non_directed_speech": NON_DIRECTED,
    "nondirected": NON_DIRECTED,
    "side_speech": NON_DIRECTED,
    "side_talk": NON_DIRECTED,
    "talk_to_others": NON_DIRECTED,
    "talking_to_other": NON_DIRECTED,
    "third_party": NON_DIRECTED,
    "third_party_speech": NON_DIRECTED,
    "background_speech": NON_DIRECTED,
    "background_noise": NOISE,
    "pause_handling": PAUSE,
    "hesitation": PAUSE,
}


def kind_named(name: str, where: str | None = None) -> str:
    """The kind that a label names, in any of its spellings."""
    plain = "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())
    kind = _OTHER_NAMES.get(plain, plain)
    if kind not in KINDS:
        raise UsageError(
            f"unknown label {name!r}",
            where=where,
            expected=", ".join(KINDS),
            remedy=near_misses(plain, [*KINDS, *_OTHER_NAMES]) or None,
        )
    return kind


class Segment(NamedTuple):
    """A stretch of speech of one side."""

    start: float
    end: float
    text: str = ""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start

    def holds(self, moment: float) -> bool:
        """Whether there is speech at a moment; the end does not belong to it."""
        return self.start <= moment < self.end


class Label(NamedTuple):
    """What somebody says the user did between two moments."""

    start: float
    end: float
    kind: str
    """One of `KINDS`."""
    text: str = ""
    directed: bool = False
    """The user also said something to the agent meanwhile, so that an answer is due whatever the kind is."""


LATEST = 1e6
"""Seconds; no recording is longer, and times since 1970 are meant to be something else."""
NOT_GIVEN = "speech of the {} is not given"
"""The note of a timeline that knows one side only."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """One conversation: who spoke when."""

    key: str
    user: tuple[Segment, ...] | None = None
    """Speech of the user in order, without overlaps; None where it has to be heard in the audio first."""
    agent: tuple[Segment, ...] | None = None
    labels: tuple[Label, ...] = ()
    sentences: tuple[Segment, ...] | None = None
    """The user's sentences as somebody annotated them; None where nobody did."""
    words: tuple[Segment, ...] | None = None
    """The agent's words as a recogniser timed them; None where there is no transcript, empty where it has no word."""
    user_words: tuple[Segment, ...] | None = None
    """The words on the user's side, in the same way."""
    clean_user: tuple[Segment, ...] | None = None
    """The words on the user's side of a second recording, in which nothing disturbs the agent."""
    clean_agent: tuple[Segment, ...] | None = None
    """What the agent says there."""
    behaviour: str | None = None
    """What the agent did, as a label of the challenge: C_RESPOND, C_RESUME ..."""
    tool_calls: tuple[float, ...] = ()
    """When the agent called a tool."""
    tick: float | None = None
    """The grid of the times, where they have one."""
    seconds: float | None = None
    """The length of the recording."""
    language: str | None = None
    category: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    audio: tuple[Path, ...] = ()
    """One stereo file (user left, agent right), or the user's and the agent's."""
    detected: bool = False
    """Whether voice activity decided where there is speech, rather than an annotation or a log."""
    notes: tuple[str, ...] = ()
    """What was done to the data, and what is suspicious about it."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """What the format has beside, to be kept with the item."""

    @property
    def lacking(self) -> str:
        """Which side nobody knows anything of: its silence would mean nothing. Empty where both are known."""
        return next((note for note in self.notes if note in _LACKING), "")

    @property
    def dimensions(self) -> dict[str, str]:
        """What it can be sliced by."""
        own = {LANGUAGE: self.language, CATEGORY: self.category}
        return {**self.metadata, **{name: value for name, value in own.items() if value is not None}}


_LACKING = frozenset(NOT_GIVEN.format(side) for side in ("user", "agent"))
