"""A conversation drawn in a terminal: two lanes, and what the pictures of a conversation say in words.

Which moments are worth a bracket is not decided here; the marks tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnwise.duplex.marks import FIRST_RESPONSE, RESPONSE, STOP, Mark
from turnwise.duplex.records import Label, Segment, Timeline
from turnwise.report.timeline import System, broken_into_systems
from turnwise.report.timeline_text import SOFT, Bracket, Line, TextSheet

_SHORT = {STOP: "stop", RESPONSE: "response", FIRST_RESPONSE: "first response"}
_GUTTER = 7
_USER, _AGENT, _BOTH = "36", "32", "31"
_KINDS = {STOP: "35", RESPONSE: "33", FIRST_RESPONSE: "34"}


def systems(timeline: Timeline, marks: Sequence[Mark], longest: float) -> list[System]:
    """The rows of a picture, of about `longest` seconds at most."""
    spans = [*map(ordered, marks), *((call, call) for call in timeline.tool_calls)]
    spans += [one[:2] for side in (timeline.user, timeline.agent, timeline.labels) for one in side or ()]
    return broken_into_systems(spans, timeline.seconds, longest)


def ordered(mark: Mark) -> tuple[float, float]:
    """The ends of a bracket from left to right: that of an answer that came too early ends before it starts."""
    return min(mark.start, mark.end), max(mark.start, mark.end)


def overlaps(timeline: Timeline) -> list[Segment]:
    """From when to when both speak."""
    user, agent = timeline.user or (), timeline.agent or ()
    found, i, j = [], 0, 0
    while i < len(user) and j < len(agent):
        both = Segment(max(user[i].start, agent[j].start), min(user[i].end, agent[j].end))
        found += [both] if both.seconds > 0 else []
        i, j = (i + 1, j) if user[i].end < agent[j].end else (i, j + 1)
    return found


def heading(timeline: Timeline) -> str:
    """What is known about a conversation, in a line."""
    length = "" if timeline.seconds is None else f"{timeline.seconds:.1f} s"
    how = "speech found by voice activity" if timeline.detected else ""
    return ", ".join(filter(None, (*timeline.dimensions.values(), length, how)))


def mark_words(mark: Mark) -> str:
    """`stop 0.42 s yielded`; negative for an answer that came too early."""
    return f"{_SHORT.get(mark.kind, mark.kind)} {mark.seconds:.2f} s {mark.note}".strip()


def label_words(label: Label) -> str:
    """`backchannel`, and whether an answer is due nevertheless."""
    return f"{label.kind}{' (directed)' if label.directed else ''}"


def lane_note(segments: Sequence[Segment] | None) -> str:
    """Why a lane is empty; nothing where it is not."""
    return "not known: it has to be heard in the audio" if segments is None else "" if segments else "no speech"


def draw_text(
    timeline: Timeline, marks: Sequence[Mark], width: int | None = None, colour: bool = False, encoding: str = "utf-8"
) -> str:
    """A conversation in lines of text: two lanes, what the user did above them, the latencies below.

    Args:
        timeline: who spoke when.
        marks: the latencies.
        width: of a line, at least 60; None is that of the terminal, but 160 at most.
        colour: with ANSI colours; nothing is said by colour alone.
        encoding: of the terminal. If it has no block characters, the lanes are drawn in ASCII.
    """
    return "\n".join(_Drawing(timeline, marks, width, colour, encoding).lines()) + "\n"


class _Drawing(TextSheet):
    def __init__(
        self, timeline: Timeline, marks: Sequence[Mark], width: int | None, colour: bool, encoding: str
    ) -> None:
        super().__init__(width, colour, encoding, _GUTTER)
        self.timeline, self.both = timeline, overlaps(timeline)
        self.systems = systems(timeline, marks, self.longest)
        self.end = self.systems[-1].end
        shape = {True: self.glyphs.dashed, False: self.glyphs.mark}
        self.labels = [
            Bracket(one.start, one.end, label_words(one), self.glyphs.label, _USER) for one in timeline.labels
        ]
        self.marks = [Bracket(*ordered(m), mark_words(m), shape[m.seconds < 0], _KINDS.get(m.kind, "")) for m in marks]

    def lines(self) -> Iterator[str]:
        yield from map(self.bold, self.wrapped(f"{self.timeline.key}  {heading(self.timeline)}"))
        for system in self.systems:
            yield from ("", *(self.rest(system) if system.quiet else self.rows(system)))
        for note in self.timeline.notes:
            yield from ("", *self.wrapped(f"note: {note}"))

    def rows(self, system: System) -> Iterator[str]:
        above, legend = self.brackets(system, self.labels)
        below, more = self.brackets(system, self.marks)
        yield self.axis(system)
        yield from reversed(above)
        yield self.lane(system, "user", self.timeline.user, self.glyphs.speech, _USER)
        if both := [one for one in self.both if system.shows(*one[:2])]:
            yield self.lane(system, "both", both, self.glyphs.both, _BOTH)
        yield self.lane(system, "agent", self.timeline.agent, self.glyphs.speech, _AGENT)
        if calls := [Segment(call, call) for call in self.timeline.tool_calls if system.shows(call, call)]:
            yield self.lane(system, "tools", calls, self.glyphs.point, _AGENT)
        yield from (*below, *(line for said in legend + more for line in self.wrapped(said, " " * _GUTTER)))

    def lane(self, system: System, name: str, segments: Sequence[Segment] | None, glyphs: str, colour: str) -> str:
        line = Line(self.columns)
        self.fill(line, system, [one[:2] for one in segments or ()], glyphs, colour)
        line.put(0, lane_note(segments), SOFT)
        return self.finished(line, name)
