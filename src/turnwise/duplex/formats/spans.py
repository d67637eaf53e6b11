"""Times and stretches of speech as files give them: checked, put in order, joined where they overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, isfinite
from numbers import Real
from typing import Any

from turnwise.duplex.records import LATEST, Segment
from turnwise.kernel.errors import InputError, shorten

USER, AGENT = "user", "agent"
SIDES = {
    **dict.fromkeys(("user", "caller", "customer"), USER),
    **dict.fromkeys(("agent", "assistant", "system", "model", "bot"), AGENT),
}
"""What the two sides are called in files."""

JOINED = "overlapping speech of the {} was joined"
SORTED = "speech of the {} was not in order and was sorted"
EMPTY = "speech of the {} without any length was left out"


def side_named(name: str) -> str | None:
    """`user` or `agent` for any of their names."""
    return SIDES.get(name.strip().lower())


def moment(value: Any, where: str, name: str, latest: float = LATEST) -> float:
    """A time in seconds; a log may count them from 1970."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(
            f"{name} is not a number",
            where=where,
            found=shorten(value),
            expected="seconds from the beginning of the recording",
            remedy="write numbers, without quotes and units",
        )
    try:
        number = float(value)
    except OverflowError:
        number = inf
    return _checked(number, value, where, name, latest)


def moment_from_text(text: str, where: str, name: str, latest: float = LATEST) -> float:
    """A time in seconds as a text file has it."""
    try:
        if "_" in text:  # Python would read 1_0 as 10
            raise ValueError(text)
        value = float(text)
    except ValueError:
        raise InputError(
            f"{name} is not a number",
            where=where,
            found=shorten(text),
            expected="seconds from the beginning of the recording, e.g. 12.34",
        ) from None
    return _checked(value, text, where, name, latest)


def _checked(value: float, written: Any, where: str, name: str, latest: float = LATEST) -> float:
    if not 0 <= value <= latest:
        raise InputError(
            f"{name} is {'negative' if value < 0 else 'too large' if isfinite(value) else 'no finite number'}",
            where=where,
            found=shorten(written),
            expected=f"seconds from the beginning of the recording, 0 to {latest:,.0f}",
        )
    return value


def ordered(start: float, end: float, where: str) -> tuple[float, float]:
    """A beginning and an end that does not come before it."""
    if end < start:
        raise InputError(
            "something ends before it begins",
            where=where,
            found=f"from {start:g} to {end:g}",
            expected="the beginning first",
            remedy="exchange the two, or remove it",
        )
    return start, end


def in_order(segments: Iterable[Segment], side: str) -> tuple[tuple[Segment, ...], list[str]]:
    """Speech of one side in order and without overlaps, and what had to be done for that.

    Stretches that only touch stay apart: somebody, or a log, says that they are two.
    """
    given = list(segments)
    found = [one for one in given if one.end > one.start]
    notes = [EMPTY.format(side)] if len(found) < len(given) else []
    by_time = sorted(found, key=lambda one: one[:2])
    if by_time != found:
        notes.append(SORTED.format(side))
    joined: list[Segment] = []
    for one in by_time:
        if joined and one.start < joined[-1].end:
            joined[-1] = _union(joined[-1], one)
        else:
            joined.append(one)
    if len(joined) < len(by_time):
        notes.append(JOINED.format(side))
    return tuple(joined), notes


def merged(segments: Sequence[Segment], gap: float) -> tuple[Segment, ...]:
    """Stretches at most `gap` seconds apart as one."""
    found: list[Segment] = []
    for one in sorted(segments, key=lambda one: one[:2]):
        if found and one.start - found[-1].end <= gap:
            found[-1] = _union(found[-1], one)
        else:
            found.append(one)
    return tuple(found)


def _union(one: Segment, other: Segment) -> Segment:
    text = " ".join(filter(None, (one.text.strip(), other.text.strip())))
    return Segment(min(one.start, other.start), max(one.end, other.end), text)
