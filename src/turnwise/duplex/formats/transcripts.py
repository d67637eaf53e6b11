"""Words and sentences with their times, as recognisers and annotators write them beside a recording.

`{"text": ..., "chunks": [{"text": ..., "timestamp": [start, end]}]}` is what the agent said, `{"speech_segments":
[{"xmin": ..., "xmax": ..., "text": ...}]}` what the user said.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from turnwise.duplex.formats.files import list_in, object_in, read_json, text_in
from turnwise.duplex.formats.spans import moment, ordered
from turnwise.duplex.records import Segment
from turnwise.kernel.errors import InputError, shorten

UNTIMED = "words without a time got it from their neighbours"
UNSORTED_WORDS = "words of the agent were not in order and were sorted"
UNSORTED_SENTENCES = "sentences of the user were not in order and were sorted"
OVERLAPPING_SENTENCES = "sentences of the user overlap"
UNREADABLE = "a transcript for the judge could not be read and was left out"


def read_words(path: Path, notes: list[str], seconds: float | None = None) -> tuple[Segment, ...]:
    """The words of a transcript; one without an end lasts until the next one, or to the end of the recording."""
    where = str(path)
    chunks = list_in(object_in(read_json(path), where, "the transcript").get("chunks"), where, "chunks")
    times = [stamps(object_in(one, where, "a chunk"), f"{where}, chunks[{n}]") for n, one in enumerate(chunks)]
    words = []
    before = 0.0
    for place, (start, end) in enumerate(times):
        here = f"{where}, chunks[{place}]"
        if start is None or end is None:
            _note(notes, UNTIMED)
        start = before if start is None else start
        if end is None:
            following = next((one for one, _ in times[place + 1 :] if one is not None), seconds)
            end = max(start, start if following is None else following)
        words.append(Segment(*ordered(start, end, here), text_in(chunks[place].get("text"), here, "text")))
        before = end
    return _sorted(words, notes, UNSORTED_WORDS)


def read_shown(path: Path | None, notes: list[str]) -> tuple[Segment, ...] | None:
    """The words of a transcript that only a judge reads: without it everything else can still be measured."""
    try:
        return None if path is None else read_words(path, [])
    except InputError:
        _note(notes, UNREADABLE)
        return None


def read_sentences(path: Path, notes: list[str]) -> tuple[Segment, ...]:
    """The sentences of an annotation, as they are: one that overlaps another may be somebody else's."""
    where = str(path)
    given = list_in(
        object_in(read_json(path), where, "the annotation").get("speech_segments"), where, "speech_segments"
    )
    found = []
    for place, one in enumerate(given):
        here = f"{where}, speech_segments[{place}]"
        sentence = object_in(one, here, "a sentence")
        start, end = (moment(sentence.get(name), here, name) for name in ("xmin", "xmax"))
        found.append(Segment(*ordered(start, end, here), text_in(sentence.get("text"), here, "text")))
    sentences = _sorted(found, notes, UNSORTED_SENTENCES)
    if any(one.end > other.start for one, other in pairwise(sentences)):
        _note(notes, OVERLAPPING_SENTENCES)
    return sentences


def stamps(value: dict[str, Any], where: str, name: str = "timestamp") -> tuple[float | None, float | None]:
    """Beginning and end in a list of two; a recogniser may leave either open."""
    pair = list_in(value.get(name), where, name)
    if len(pair) != 2:
        raise InputError(f"{name} is no pair", where=where, found=shorten(pair), expected="[start, end] in seconds")
    start, end = (None if one is None else moment(one, where, name) for one in pair)
    if start is not None and end is not None:
        ordered(start, end, where)
    return start, end


def span_of(value: dict[str, Any], where: str, name: str = "timestamp") -> tuple[float, float]:
    """The same where both have to be there."""
    start, end = stamps(value, where, name)
    return moment(start, where, name), moment(end, where, name)


def _sorted(segments: list[Segment], notes: list[str], note: str) -> tuple[Segment, ...]:
    by_time = sorted(segments, key=lambda one: one.start)
    if by_time != segments:
        _note(notes, note)
    return tuple(by_time)


def _note(notes: list[str], note: str) -> None:
    if note not in notes:
        notes.append(note)
