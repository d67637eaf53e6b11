"""Logs of simultaneous translation: SimulEval's `instances.log` and its relatives, one JSON object per line.

Read as a stream, one record per line. What a tool really writes is read; what no tool writes, and would end in a wrong
number, is refused with its place. What is odd but does no harm is noted on the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnwise.interpreting.instance_fields import (
    Json,
    delays_in,
    durations_in,
    elapsed_in,
    lines_of,
    missing,
    number_in,
    object_in,
    source_ms_in,
    text_in,
)
from turnwise.interpreting.lag import Emission
from turnwise.kernel.errors import InputError, shorten

END_MARK = "</s>"
"""The end of a sentence. Where it stands in the output it counts as a word, and has a delay like any other."""
WORD, CHARACTER, SUBWORD, SPEECH = "word", "character", "subword", "piece of speech"
NO_SUBWORDS = "delays are of subwords: how many the reference has is not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One translated source."""

    index: str
    where: str
    """File and line."""
    prediction: str
    """What was put out: text, or the file of a spoken translation."""
    reference: str | None
    source: str | None
    """The file of the source, where it is named."""
    source_ms: float
    delays: tuple[float, ...]
    """How much of the source had been read when each unit came out."""
    elapsed: tuple[float, ...] | None = None
    """The same and all computing so far; None where that was not timed."""
    durations: tuple[float, ...] | None = None
    """How long each piece of speech lasts; None for text."""
    unit: str = WORD
    """What a delay is of: `word`, `character`, `subword` or `piece of speech`."""
    reference_words: int | None = None
    """Length of the reference in units; None where there is none, or its units cannot be counted."""
    document: str | None = None
    """The recording that this is a segment of."""
    recording_ms: float | None = None
    """The end of that recording, from the beginning of the segment."""
    notes: tuple[str, ...] = ()

    @property
    def unaware(self) -> Emission:
        """For the computation-unaware measures."""
        return Emission(
            self.delays, self.source_ms, self.reference_words, self.durations, recording_ms=self.recording_ms
        )

    @property
    def aware(self) -> Emission | None:
        """For the computation-aware measures; None where computing was not timed."""
        if self.elapsed is None:
            return None
        return Emission(
            self.elapsed,
            self.source_ms,
            self.reference_words,
            self.durations,
            read_ms=self.delays,
            cumulative=True,
            recording_ms=self.recording_ms,
        )

    def as_json(self) -> dict[str, Any]:
        """What is kept of it: everything that is known."""
        known = {name: getattr(self, name) for name in self.__slots__ if name != "index"}
        return {name: value for name, value in known.items() if value is not None and (value or name != "notes")}


def read_instances(path: Path) -> Iterator[Instance]:
    """The instances of a log, in its order.

    Raises:
        InputError: the file cannot be read, is empty, or a line cannot be used; the line is named.
    """
    places: dict[str, str] = {}
    for where, line in lines_of(path):
        instance = read_instance(object_in(line, where), where)
        first = places.setdefault(instance.index, where)
        if first != where:
            raise InputError(
                f"index {instance.index} stands twice in the log",
                where=where,
                found=f"the same index in {first}",
                expected="an index of its own for every line",
                remedy="keep one of the two: a run that was started again may have written both",
            )
        yield instance
    if not places:
        raise InputError("there is no instance in the log", where=str(path), expected="one JSON object per line")


def read_instance(row: Json, where: str) -> Instance:
    """The instance that a line holds."""
    delays = delays_in(row, where)
    _refuse_written_source(row, delays, where)
    prediction = text_in(row, "prediction", where)
    reference = text_in(row, "reference", where).strip() if row.get("reference") is not None else ""
    durations = durations_in(row, len(delays), where)
    elapsed, notes = elapsed_in(row, delays, where)
    unit = SPEECH if durations is not None else _unit(row, prediction, reference, len(delays), where)
    in_recording = row.get("time_to_recording_end") is not None
    return Instance(
        index=_index(row, where),
        where=where,
        prediction=prediction,
        reference=reference or None,
        source=_source(row),
        source_ms=source_ms_in(row, where),
        delays=delays,
        elapsed=elapsed,
        durations=durations,
        unit=unit,
        reference_words=_reference_words(reference, unit),
        document=_name(row.get("docid")),
        recording_ms=number_in(row, "time_to_recording_end", where) if in_recording else None,
        notes=(*notes, NO_SUBWORDS) if unit == SUBWORD and reference else notes,
    )


def _index(row: Json, where: str) -> str:
    """The index as text; without one, the file of the source."""
    name = _name(row["index"]) if row.get("index") is not None else _source(row)
    if name is None and "index" not in row:
        raise missing(row, "index", where, "a number or a text")
    if name is None:
        found = shorten(row["index"])
        raise InputError("the index cannot be used", where=where, found=found, expected="a number or a text")
    return name


def _name(value: object) -> str | None:
    """A number or text as text; None for anything else and for blanks."""
    return str(value).strip() or None if isinstance(value, str | int) and not isinstance(value, bool) else None


def _source(row: Json) -> str | None:
    """The file of the source: SimulEval puts it first in a list of what is known of it."""
    source = row.get("source")
    return _name(source[0] if isinstance(source, list) and source else source)


def _refuse_written_source(row: Json, delays: Sequence[float], where: str) -> None:
    """SimulEval's logs of text input look alike, but count words of the source where others have milliseconds."""
    source, length = row.get("source"), row.get("source_length")
    if not isinstance(source, str) or not isinstance(length, int) or length != len(source.split()):
        return
    if all(isinstance(delay, int) and delay <= length for delay in delays):
        raise InputError(
            "the delays count words of a written source, not milliseconds",
            where=where,
            found=f"source_length {length}, and a source of {length} words: {shorten(source)}",
            expected="a log of speech input",
        )


def _unit(row: Json, prediction: str, reference: str, delays: int, where: str) -> str:
    """What the delays are of, by their number."""
    words = prediction.split()
    subwords = row.get("prediction_spm")
    if isinstance(subwords, list) and len(subwords) == delays:
        return SUBWORD
    if delays == len(words):
        # Where every word is one character it may be either; a longer reference without a space has no words.
        single = all(len(word) == 1 for word in words)
        return CHARACTER if words and single and len(reference) > 1 and " " not in reference else WORD
    if words and words[-1] == END_MARK and delays == len(words) - 1:
        return WORD
    if delays in (len("".join(words)), len(prediction)):
        return CHARACTER
    raise InputError(
        "there are not as many delays as words",
        where=where,
        found=f"{delays} delays, {len(words)} words: {shorten(prediction)}",
        expected=f"one delay per word, {END_MARK} included, or per character",
        remedy="write the prediction as it was put out, before any processing",
    )


def _reference_words(reference: str, unit: str) -> int | None:
    """Words are what stands between single spaces, as SimulEval and OmniSTEval count them."""
    if not reference or unit not in (WORD, CHARACTER):
        return None
    return len(reference.split(" ")) if unit == WORD else len(reference)
