"""What label files say about one conversation: who speaks when, and what the user did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from turnwise.duplex.formats.spans import AGENT, SIDES, USER, in_order, ordered, side_named
from turnwise.duplex.records import KINDS, Label, Segment, Timeline, kind_named
from turnwise.kernel.errors import InputError, UsageError, near_misses, shorten

BEYOND = "labels or speech lie beyond the end of the recording"
SLACK = 0.5
"""Seconds that something may lie beyond the end: annotators round."""


class Annotation:
    """Speech and labels of one conversation, gathered from one file or several."""

    def __init__(self) -> None:
        self.speech: dict[str, list[Segment]] = {}
        """By side; a side that nobody mentions is not there."""
        self.labels: list[Label] = []
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Something worth saying, once."""
        if text not in self.notes:
            self.notes.append(text)

    def say(self, side: str, start: float, end: float, text: str, where: str) -> None:
        """Speech of one side."""
        self.speech.setdefault(side, []).append(Segment(*ordered(start, end, where), text))

    def mark(self, name: str, start: float, end: float, text: str, where: str) -> None:
        """Something under a name: a side speaks, or the user did something of a kind."""
        side = side_named(name)
        if side:
            self.say(side, start, end, text, where)
        else:
            self.labels.append(Label(*ordered(start, end, where), _kind(name, where), text))

    def mark_as_written(self, label: str, start: float, end: float, where: str) -> None:
        """The same where name and words are one text: `interruption`, or `user: hello`."""
        name, _, words = label.partition(":")
        self.mark(name.strip(), start, end, words.strip(), where)

    def onto(self, timeline: Timeline) -> Timeline:
        """The conversation with all this in it."""
        sides: dict[str, tuple[Segment, ...] | None] = {USER: timeline.user, AGENT: timeline.agent}
        notes = [*timeline.notes, *self.notes]
        for side, segments in self.speech.items():
            sides[side], more = in_order([*(sides[side] or ()), *segments], side)
            notes += more
        labels = tuple(sorted((*timeline.labels, *self.labels), key=lambda label: label[:2]))
        things: Sequence[Segment | Label] = [*(sides[USER] or ()), *(sides[AGENT] or ()), *labels]
        if timeline.seconds is not None and any(one.end > timeline.seconds + SLACK for one in things):
            notes.append(BEYOND)
        return replace(timeline, user=sides[USER], agent=sides[AGENT], labels=labels, notes=tuple(dict.fromkeys(notes)))


def _kind(name: str, where: str) -> str:
    try:
        return kind_named(name)
    except UsageError as error:
        hint = error.remedy or near_misses(name, SIDES)
        raise InputError(
            "a label says neither who speaks nor what the user did" if name else "a label has no text",
            where=where,
            found=shorten(name),
            expected=f"user or agent, or one of {', '.join(KINDS)}; words may follow a colon",
            remedy=hint or None,
        ) from error
