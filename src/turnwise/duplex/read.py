"""From a path to conversations: which format it is, and its reader.

Formats are asked in three rounds; the first round in which one fits decides, and two that fit are an error:

1. layouts with names of their own: tau-voice, EVA, Full-Duplex-Bench, HumDial;
2. recordings: pairs of mono files, stereo files;
3. annotations without recordings: Audacity, RTTM, TextGrid, and turnwise's own JSON lines.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.duplex.formats import (
    audacity,
    eva,
    full_duplex_bench,
    humdial,
    pairs,
    rttm,
    stereo,
    tau_voice,
    textgrid,
    timelines,
)
from turnwise.duplex.formats.base import Conversations
from turnwise.duplex.formats.listing import AUDIO, Listing, listing
from turnwise.kernel.errors import InputError, UsageError, near_misses


class Format(NamedTuple):
    """How a format is told and read."""

    name: str
    looks_like: Callable[[Listing], bool]
    read: Callable[[Listing], Conversations]


ROUNDS = tuple(
    tuple(Format(module.NAME, module.looks_like, module.read) for module in modules)
    for modules in (
        (tau_voice, eva, full_duplex_bench, humdial),
        (pairs, stereo),
        (audacity, rttm, textgrid, timelines),
    )
)
READERS = {one.name: one for formats in ROUNDS for one in formats}
FORMATS = tuple(READERS)


def read_conversations(path: Path | list[dict[str, Any]], format: str | None = None) -> Conversations:  # noqa: A002
    """Conversations in a named format, or in the one they look like; a list holds timelines as JSON objects."""
    name = None if format is None else format.strip().lower().replace("-", "_").replace(" ", "_")
    if name is not None and name not in READERS:
        raise UsageError(
            f"unknown format {format!r}", expected=", ".join(FORMATS), remedy=near_misses(name, FORMATS) or None
        )
    if not isinstance(path, Path):
        if name not in (None, timelines.NAME):
            raise UsageError(f"conversations in memory are {timelines.NAME}", found=f"format {format!r}")
        return timelines.held(path)
    found = listing(path)
    return (READERS[name] if name else _detected(found)).read(found)


def _detected(found: Listing) -> Format:
    for formats in ROUNDS:
        fitting = [one for one in formats if one.looks_like(found)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = " or ".join(one.name for one in fitting)
            raise InputError(
                "more than one format fits",
                where=str(found.path),
                found=", ".join(one.name for one in fitting),
                expected="one of them alone",
                remedy=f"say which with --format {names}",
            )
    if found.ending(*AUDIO):
        return READERS[stereo.NAME]  # which says why none of the recordings can be used
    raise InputError(
        "the format is not known",
        where=str(found.path),
        found=", ".join(found.names[:5]) + (f" and {len(found.names) - 5} more" if len(found.names) > 5 else ""),
        expected=f"one of {', '.join(FORMATS)}",
        remedy="check the path, or name the format with --format",
    )
