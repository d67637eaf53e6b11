"""Lines and fields of a log of simultaneous translation, each checked; what cannot be used is refused with its place.

What the fields mean together is in `instances`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from turnwise.interpreting.records import LATEST
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads

BOM = b"\xef\xbb\xbf"
DELAYS, ELAPSED = ("delays", "emission_cu"), ("elapsed", "emission_ca")
"""What SimulEval calls them, and OmniSTEval once it has cut a recording into segments."""
SEGMENT_FIELDS = ("emission_cu", "docid", "time_to_recording_end")
"""One of these says that the line is a segment of a recording: a word may have come before the segment began."""

NOT_TIMED = "elapsed is 0 throughout: computing was not timed"
GOES_BACK = "elapsed goes back in time"
TOO_EARLY = "elapsed is earlier than the delay"

Json = Mapping[str, Any]


def lines_of(path: Path) -> Iterator[tuple[str, bytes]]:
    """Place and content of every line that is not blank."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                content = (line.removeprefix(BOM) if number == 1 else line).strip()
                if content:
                    yield f"{path}, line {number}", content
    except OSError as error:
        found = error.strerror or str(error)
        raise InputError(f"{path} cannot be read", found=found, expected="a log, e.g. instances.log") from error


def object_in(line: bytes, where: str) -> Json:
    """The JSON object in a line."""
    try:
        row = loads(line)
    except JSONDecodeError as error:
        remedy = "write the line again: it may have been cut off when the run was stopped"
        if b"NaN" in line or b"Infinity" in line:
            remedy = "NaN and Infinity are not JSON: write a number, or leave out the line"
        raise InputError(
            "the line is not JSON",
            where=f"{where}, column {error.colno}",
            found=f"{error.msg}: {shorten(line.decode('utf-8', 'replace'))}",
            expected="one JSON object per line",
            remedy=remedy,
        ) from error
    if not isinstance(row, dict):
        raise InputError("the line is not a JSON object", where=where, found=shorten(row), expected='{"index": 0, ...}')
    return row


def text_in(row: Json, name: str, where: str) -> str:
    """A text that must be there."""
    value = row.get(name)
    if name not in row:
        raise missing(row, name, where, "a text")
    if not isinstance(value, str):
        raise InputError(f"{name} is not a text", where=where, found=shorten(value), expected="a text")
    return value


def number_in(row: Json, name: str, where: str) -> float:
    """A number that must be there."""
    if name not in row:
        raise missing(row, name, where, "milliseconds")
    value = row[name]
    if not is_number(value):
        raise InputError(f"{name} is not a number", where=where, found=shorten(value), expected="milliseconds")
    return float(value)


def source_ms_in(row: Json, where: str) -> float:
    """How long the source lasts."""
    source_ms = number_in(row, "source_length", where)
    if source_ms <= 0:
        raise InputError(
            "the source has no length",
            where=where,
            found=f"source_length: {row['source_length']}",
            expected="more than 0 ms: nothing lags behind a source that does not last",
            remedy="leave out the line, or give the length of the source",
        )
    return source_ms


def delays_in(row: Json, where: str) -> tuple[float, ...]:
    """The delays, which never become less; negative ones only in a segment."""
    name = next((name for name in DELAYS if row.get(name) is not None), None)
    if name is None:
        raise missing(row, DELAYS[0], where, f"{' or '.join(DELAYS)}: one time per output word")
    delays = times_in(row[name], name, where)
    if delays and delays[0] < 0 and not any(field in row for field in SEGMENT_FIELDS):
        raise InputError(
            "a delay is negative",
            where=f"{where}, {name}[0]",
            found=str(delays[0]),
            expected="milliseconds from the beginning of the source",
        )
    back = next((place for place in range(1, len(delays)) if delays[place] < delays[place - 1]), None)
    if back is not None:
        raise InputError(
            "the delays go back in time",
            where=f"{where}, {name}[{back}]",
            found=f"{delays[back]} after {delays[back - 1]}",
            expected="what has been read of the source never becomes less",
        )
    return delays


def elapsed_in(row: Json, delays: Sequence[float], where: str) -> tuple[tuple[float, ...] | None, tuple[str, ...]]:
    """Times with computing, and what is odd about them; SimulEval writes none, or zeros, where it did not time it."""
    name = next((name for name in ELAPSED if row.get(name) not in (None, [])), None)
    if name is None:
        return None, ()
    elapsed = times_in(row[name], name, where)
    if len(elapsed) != len(delays):
        raise InputError(
            f"there are not as many times in {name} as delays",
            where=where,
            found=f"{len(elapsed)} in {name}, {len(delays)} delays",
            expected="one of each per output word",
        )
    if not any(elapsed) and any(delays):
        return None, (NOT_TIMED,)
    goes_back = any(later < earlier for earlier, later in pairwise(elapsed))
    too_early = any(time < delay for time, delay in zip(elapsed, delays, strict=True))
    return elapsed, tuple(note for note, holds in ((GOES_BACK, goes_back), (TOO_EARLY, too_early)) if holds)


def durations_in(row: Json, pieces: int, where: str) -> tuple[float, ...] | None:
    """How long each piece of speech lasts; `intervals` hold the same as [start, duration]. None for text."""
    if row.get("durations") is not None:
        durations = times_in(row["durations"], "durations", where)
    elif row.get("intervals") is not None:
        durations = _durations_of(row["intervals"], where)
    else:
        return None
    if len(durations) != pieces or min(durations, default=0) < 0:
        raise InputError(
            "the durations do not fit the delays",
            where=where,
            found=f"{len(durations)} durations, the shortest {min(durations, default=0)} ms; {pieces} delays",
            expected="one duration of 0 ms or more per delay",
        )
    return durations


def _durations_of(intervals: Any, where: str) -> tuple[float, ...]:
    spans = intervals if isinstance(intervals, list) else [intervals]
    for place, span in enumerate(spans):
        if not isinstance(span, list) or len(span) != 2:
            raise InputError(
                "an interval is not a pair",
                where=f"{where}, intervals[{place}]",
                found=shorten(span),
                expected="[start, duration] in milliseconds",
            )
    return tuple(times_in(span, f"intervals[{place}]", where)[1] for place, span in enumerate(spans))


def times_in(values: Any, name: str, where: str) -> tuple[float, ...]:
    """A list of numbers."""
    if not isinstance(values, list):
        raise InputError(f"{name} is not a list", where=where, found=shorten(values), expected="a list of milliseconds")
    for place, value in enumerate(values):
        if not is_number(value):
            raise InputError(
                f"{name} holds something that is no time",
                where=f"{where}, {name}[{place}]",
                found=shorten(value),
                expected="milliseconds as a number",
            )
    return tuple(values)


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number, and no larger than a time can be; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LATEST


def missing(row: Json, name: str, where: str, expected: str) -> InputError:
    """The error for a field that is not there."""
    return InputError(
        f"{name} is missing",
        where=where,
        found=shorten(", ".join(row), 120),
        expected=expected,
        remedy="name the fields as SimulEval does",
    )
