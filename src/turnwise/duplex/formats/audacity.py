"""Label tracks of Audacity: `start<TAB>end<TAB>label` per line, in seconds.

A label is `user` or `agent` where somebody speaks (`user: hello` with the words), or a kind of what the user did. Where
each side has a track of its own, every label is speech.
"""

from __future__ import annotations

from pathlib import Path

from turnwise.duplex.formats.annotation import Annotation
from turnwise.duplex.formats.base import Conversations
from turnwise.duplex.formats.files import UTF_16, read_start, text_lines
from turnwise.duplex.formats.listing import Listing
from turnwise.duplex.formats.spans import moment_from_text
from turnwise.duplex.formats.tracks import Tracks
from turnwise.kernel.errors import InputError, shorten

NAME = "audacity"
SUFFIX = ".txt"
_FREQUENCIES = "\\"
"""How a line begins that gives the frequencies of the label before it."""


def is_track(path: Path) -> bool:
    """Whether a text file begins like a label track."""
    data = read_start(path)
    text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8", "ignore")
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        start_and_end = [float(one) for one in first.split("\t")[:2]]
    except ValueError:
        return False
    return len(start_and_end) == 2


def annotate(path: Path, side: str | None, found: Annotation) -> None:
    """Take the labels of a track; `side` says whose speech they are."""
    for where, line in text_lines(path):
        if line.startswith(_FREQUENCIES):
            continue
        parts = line.split("\t", 2)
        if len(parts) < 2:
            raise InputError(
                "the line is no label",
                where=where,
                found=shorten(line),
                expected="start<TAB>end<TAB>label",
                remedy="export the labels from Audacity, or separate them by tabs",
            )
        start, end = (moment_from_text(one, where, name) for one, name in zip(parts, ("start", "end"), strict=False))
        label = parts[2].strip() if len(parts) > 2 else ""
        if side:
            found.say(side, start, end, label, where)
        else:
            found.mark_as_written(label, start, end, where)


def looks_like(found: Listing) -> bool:
    """Whether a text file begins like a label track."""
    return any(is_track(found.root / name) for name in found.ending(SUFFIX))


def read(found: Listing) -> Conversations:
    """A track, or all tracks in a folder."""
    return AudacityTracks(found)


class AudacityTracks(Tracks):
    """Conversations, each one label track or one per side."""

    name = NAME
    suffixes = (SUFFIX,)

    @staticmethod
    def is_track(path: Path) -> bool:
        """Whether it begins like one."""
        return is_track(path)

    @staticmethod
    def annotate(path: Path, side: str | None, found: Annotation) -> None:
        """Take its labels."""
        annotate(path, side, found)
