"""What the pictures of a call show: its turns, where they are heard, its barge-ins, the words out of place.

Everything comes from what a run keeps of a call and from the result of its barge-ins; nothing is measured here. The
places of things are seconds, as everywhere in pictures; latencies are told in milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

from turnwise.interpreting.word_marks import Piece, marked_pieces
from turnwise.kernel.spans import Span
from turnwise.report.timeline import System, broken_into_systems, count, levels

HEARD, NOTHING_CAME, NOBODY = "heard", "nothing came", "nobody speaks"
"""The name of the lane of a translation; what stands in an empty one; what stands in place of lanes."""
_TOUCHING = -0.005
"""Seconds by which two stretches may overlap, since times are kept rounded, before they need lanes of their own."""
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DrawnTurn:
    """What somebody said, and its translation."""

    number: int
    """From 1, in the order of their start."""
    id: str
    participant: str
    start: float
    end: float
    barge_in: bool = False
    source: str = ""
    expected: str = ""
    came: str = ""
    heard: tuple[Span, ...] = ()
    """When the translation is heard."""
    text_at: tuple[float, ...] = ()
    """When its text arrived."""

    @property
    def extent(self) -> Span | None:
        """From the first to the last that is drawn of the translation: as it is heard, else as its text arrived."""
        moments = [moment for span in self.heard for moment in span] or self.text_at
        return (min(moments), max(moments)) if moments else None


@dataclass(frozen=True)
class Lane:
    """What a participant said, or its translations."""

    name: str
    heard: bool
    """Whether it is the lane of the translations."""
    turns: Sequence[DrawnTurn]
    extents: Sequence[Span]
    """From the first to the last of each turn."""

    @cached_property
    def levels(self) -> list[int]:
        """For each turn; more than one level only where turns overlap."""
        return levels(self.extents, _TOUCHING)

    @property
    def depth(self) -> int:
        """How many levels it takes, at least one."""
        return max(1, count(self.levels))

    def bars(self, n: int) -> Sequence[Span]:
        """When the turn at place `n` is spoken, or its translation heard."""
        return self.turns[n].heard if self.heard else (self.extents[n],)

    def free_until(self, n: int) -> float:
        """When the next turn on the same level begins."""
        begin = self.extents[n][0]
        others = (m for m, level in enumerate(self.levels) if level == self.levels[n] and m != n)
        return min((start for m in others if (start := self.extents[m][0]) >= begin), default=inf)


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A barge-in."""

    at: float | None
    """None: it never began."""
    turn: str
    previous: str | None = None
    facts: Json = field(default_factory=dict)
    """What the result says about it; empty where barge-ins were not measured."""
    response: Span | None = None
    """From when to when the time to the new translation counts."""

    @property
    def cutoff(self) -> Span | None:
        """From the barge-in to the end of the old translation."""
        late = self.facts.get("cutoff_latency_ms")
        return None if self.at is None or late is None else (self.at, self.at + late / 1000)

    @property
    def label(self) -> str:
        """`barge-in, self correction: 94.2`, and what is worst about it."""
        kind = self.facts.get("kind")
        said = f"barge-in{', ' + plain(kind) if kind else ''}{': ' + self.told_score if self.facts else ''}"
        silent = self.facts.get("signal") and self.response is None
        worst = ("no response" if silent else "", "mixed content" if self.facts.get("mixing_detected") else "")
        return ", ".join(filter(None, (said, *worst)))

    @property
    def told_score(self) -> str:
        """The score, or that there is none."""
        score = self.facts.get("score")
        return "not scored" if score is None else f"{score:.1f}"

    @property
    def marks(self) -> list[tuple[Span, str, bool]]:
        """The brackets: where, what they say, and whether it is the light one."""
        found = []
        if self.cutoff is not None:
            found.append((self.cutoff, f"cutoff {milliseconds(self.facts['cutoff_latency_ms'])}", False))
        if self.response is not None:
            found.append((self.response, f"response {milliseconds(self.facts['response_time_ms'])}", True))
        return found


@dataclass(frozen=True, slots=True)
class DrawnCall:
    """A call with a live interpreter."""

    key: str
    turns: tuple[DrawnTurn, ...]
    pairs: tuple[DrawnPair, ...]
    content: Json
    """What was kept of it."""
    result: Json | None = None
    """Of its barge-ins, in the document's shape; None where they were not measured."""

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        ended = self.content.get("ended_ms")
        return None if ended is None else ended / 1000

    @property
    def participants(self) -> list[str]:
        """Who spoke, in the order of their first turn."""
        return list(dict.fromkeys(turn.participant for turn in self.turns))

    def turn(self, turn_id: str | None) -> DrawnTurn | None:
        """The turn of that id, if it began."""
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    def of(self, participant: str) -> list[DrawnTurn]:
        """What somebody said."""
        return [turn for turn in self.turns if turn.participant == participant]

    @property
    def lanes(self) -> list[Lane]:
        """For everybody who spoke a lane of that, and one of the translations."""
        found = []
        for name in self.participants:
            turns = self.of(name)
            found.append(Lane(name, False, turns, [(turn.start, turn.end) for turn in turns]))
            came = [(turn, turn.extent) for turn in turns if turn.extent is not None]
            found.append(Lane(HEARD, True, [turn for turn, _ in came], [extent for _, extent in came]))
        return found

    def systems(self, longest: float) -> list[System]:
        """The rows of a picture of it, of about `longest` seconds at most."""
        spans = [(turn.start, turn.end) for turn in self.turns]
        spans += [turn.extent for turn in self.turns if turn.extent is not None]
        spans += [span for pair in self.pairs for span, _, _ in pair.marks]
        return broken_into_systems(spans, self.seconds, longest)

    @property
    def heading(self) -> str:
        """What is known about it, in a line."""
        scenario = self.content.get("scenario_id", "")
        long = "" if self.seconds is None else f"{self.seconds:.1f} s"
        named = "" if scenario == self.key else scenario
        return ", ".join(filter(None, (named, self.content.get("protocol"), long, self.verdict)))

    @property
    def verdict(self) -> str:
        """The score of all its barge-ins, or why there is none; nothing where they were not measured."""
        if self.result is None:
            return ""
        score, details = self.result["score"], self.result["details"]
        if score is None:
            return str(self.result["reason"] or "")
        side = "reached" if details["passed"] else "not reached"
        return f"barge-in {score:.1f}, threshold {details['threshold']:g} {side}"

    @property
    def description(self) -> str:
        """What happens in it, as its scenario says."""
        return str(self.content.get("description", ""))

    @property
    def notes(self) -> list[str]:
        """What is odd about it."""
        content = self.content
        early, strays, unsaid = (content.get(key) for key in ("ended_early", "before_anybody_spoke", "not_spoken"))
        return [
            *([f"the call ended early: {early}"] if early else []),
            *([f"never spoken: {', '.join(unsaid)}"] if unsaid else []),
            *([f"pieces of a translation that came before anybody spoke: {strays}"] if strays else []),
            *content.get("notes", ()),
        ]

    def pieces(self, turn: DrawnTurn) -> list[Piece]:
        """What came of a turn, with the words that belong to another one marked."""
        found = [one for pair in self.pairs for one in pair.facts.get("mixing_evidence", ()) if "words" in one]
        return marked_pieces(turn.came, [one["words"] for one in found if one["turn_id"] == turn.id])


def drawn_call(key: str, content: Json, result: Json | None) -> DrawnCall:
    """A call as pictures show it, from what was kept of it and of its barge-ins."""
    ended = content.get("ended_ms")
    turns = tuple(_turn(number, one, ended) for number, one in enumerate(content.get("turns", ()), start=1))
    if result is None:
        pairs = tuple(DrawnPair(turn.start, turn.id) for turn in turns if turn.barge_in)
    else:
        ends = {one.get("turn_id", ""): one.get("end_ms") for one in content.get("turns", ())}
        pairs = tuple(_pair(one, ends.get(one["barge_in_turn_id"])) for one in result["details"]["turns"])
    return DrawnCall(key, turns, pairs, content, result)


def _turn(number: int, one: Json, ended: float | None) -> DrawnTurn:
    start = one["start_ms"]
    end = next((moment for moment in (one.get("end_ms"), ended) if moment is not None), start)
    return DrawnTurn(
        number,
        one.get("turn_id", ""),
        one.get("participant_id", ""),
        start / 1000,
        max(start, end) / 1000,
        one.get("barge_in", False),
        one.get("source_text", ""),
        one.get("expected_text", ""),
        one.get("text", ""),
        tuple((first / 1000, last / 1000) for first, last in one.get("audible", ())),
        tuple(sorted({moment / 1000 for moment in one.get("text_ms", ())})),
    )


def _pair(facts: Json, speech_end: float | None) -> DrawnPair:
    """Response times of either profile have one end in common, which the time from the end of the speech places."""
    at, took, from_end = (facts.get(key) for key in ("barge_in_start_ms", "response_time_ms", "response_from_end_ms"))
    response = None
    if at is not None and took is not None:
        came = at + took if from_end is None or speech_end is None else speech_end + from_end
        response = ((came - took) / 1000, came / 1000)
    start = None if at is None else at / 1000
    return DrawnPair(start, facts["barge_in_turn_id"], facts["previous_turn_id"], facts, response)


def milliseconds(value: float) -> str:
    """`450 ms`."""
    return f"{value:.0f} ms"


def plain(name: str) -> str:
    """`self_correction` as words."""
    return name.replace("_", " ")
