"""Full-Duplex-Bench, 1.0 and 1.5: a folder per sample with what the user said, what the agent said, and its words.

Version 1.5 has transcripts of both sides, once more without the disturbance, for a judge to compare.

The recordings may be missing where a transcript is there: then the agent's speech is its words, and the user's is not
known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turnwise.duplex.formats.base import Conversations, Entry, FileConversations, settled
from turnwise.duplex.formats.files import list_in, object_in, read_json, text_in
from turnwise.duplex.formats.listing import Listing, audio_head
from turnwise.duplex.formats.transcripts import read_shown, read_words, span_of
from turnwise.duplex.records import INTERRUPTION, PAUSE, TASK, TURN, Label, Timeline, kind_named
from turnwise.kernel.errors import InputError

NAME = "full_duplex_bench"
INPUT, OUTPUT, WORDS = "input.wav", "output.wav", "output.json"
KINDS = {"interrupt.json": INTERRUPTION, "pause.json": PAUSE, "turn_taking.json": TURN}
"""The annotations of version 1.0."""
METADATA = "metadata.json"
"""The annotation of version 1.5; what it marks is told by the folder of the task."""
OVERLAPS = ("user_interruption", "user_backchannel", "talking_to_other", "background_speech")
TASKS = (*OVERLAPS, "pause_handling", "turn_taking", "backchannel")
_FILES = (INPUT, OUTPUT, WORDS, *KINDS, METADATA)
SHOWN = USER_WORDS, CLEAN_USER, CLEAN_AGENT = "input.json", "clean_input.json", "clean_output.json"
"""Transcripts that only a judge reads."""


def looks_like(found: Listing) -> bool:
    """Whether a folder has an output of the agent together with an input or an annotation."""
    return any(files & {OUTPUT, WORDS} for files in _samples(found).values())


def read(found: Listing) -> Conversations:
    """A sample, the samples of a task, or those of all tasks."""
    return FullDuplexBench(found)


def _samples(found: Listing) -> dict[str, set[str]]:
    """The folders that hold a sample, with what they have of it: at least two files, or it is something else."""
    folders: dict[str, set[str]] = {}
    for path in found.having(*_FILES, *SHOWN):
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, set()).add(name)
    return {
        folder: files
        for folder, files in folders.items()
        if len(files.difference(SHOWN)) > 1 and files & {INPUT, OUTPUT, WORDS}
    }


class FullDuplexBench(FileConversations[Entry]):
    """Samples, each a folder."""

    name = NAME

    def __init__(self, found: Listing) -> None:
        samples = _samples(found)
        if not samples:
            raise InputError(
                "there is no sample of Full-Duplex-Bench",
                where=str(found.path),
                expected=f"TASK/ID/ with {INPUT}, {OUTPUT}, {WORDS} and an annotation such as interrupt.json",
                remedy="check the path, or use another --format",
            )
        entries = [
            Entry(found.key(folder), tuple(found.root / folder / name for name in [*_FILES, *SHOWN] if name in files))
            for folder, files in samples.items()
        ]
        super().__init__(found, entries)

    def _read(self, entry: Entry) -> Timeline:
        files = {path.name: path for path in entry.files}
        folder = entry.files[0].parent
        task = folder.resolve().parent.name
        notes: list[str] = []
        audio: tuple[Path, ...] = ()
        seconds = None
        if INPUT in files and OUTPUT in files:
            audio = (files[INPUT], files[OUTPUT])
            seconds = max(audio_head(path)[1] for path in audio)
        elif WORDS not in files:
            raise InputError(
                "a recording lacks the other side",
                where=str(folder),
                found=", ".join(files),
                expected=f"{INPUT} and {OUTPUT}, or {WORDS}",
            )
        context: dict[str, str] = {}
        labels = [label for name in KINDS if name in files for label in _labels(files[name], context)]
        if METADATA in files:
            labels.append(_overlap(files[METADATA], task, context))
        if not labels and _task(task) == "backchannel":  # the user keeps the turn from the beginning to the end
            labels.append(Label(0.0, seconds or 0.0, PAUSE))
        return settled(
            Timeline(
                key=entry.key,
                labels=tuple(labels),
                words=read_words(files[WORDS], notes, seconds) if WORDS in files else None,
                user_words=read_shown(files.get(USER_WORDS), notes),
                clean_user=read_shown(files.get(CLEAN_USER), notes),
                clean_agent=read_shown(files.get(CLEAN_AGENT), notes),
                seconds=seconds,
                metadata={TASK: task},
                audio=audio,
                notes=tuple(notes),
                context=context,
            ),
            str(folder),
        )


def _task(folder: str) -> str | None:
    """The task that a folder is called after, as in `candor_pause_handling`."""
    plain = folder.lower().replace("-", "_")
    return next((task for task in TASKS if task in plain), None)


def _labels(path: Path, context: dict[str, str]) -> list[Label]:
    """The events of an annotation of version 1.0."""
    given: Any = read_json(path)
    labels = []
    for place, one in enumerate([given] if isinstance(given, dict) else list_in(given, str(path), "the annotation")):
        where = f"{path}, [{place}]"
        event = object_in(one, where, "an event")
        if before := text_in(event.get("context"), where, "context"):
            context["context"] = before
        start, end = span_of(event, where)
        kind = KINDS[path.name]
        # What is annotated as turn taking is where the agent's turn begins: a moment, not something the user says.
        said = text_in(event.get("interrupt"), where, "interrupt")
        labels.append(Label(start, start if kind == TURN else end, kind, said))
    return labels


def _overlap(path: Path, folder: str, context: dict[str, str]) -> Label:
    """The one event of an annotation of version 1.5."""
    where = str(path)
    given = object_in(read_json(path), where, "the annotation")
    task = _task(folder)
    if task not in OVERLAPS:
        raise InputError(
            "the folder does not tell which task this is",
            where=where,
            found=folder,
            expected=", ".join(OVERLAPS),
            remedy="name the folder above the sample after its task",
        )
    if before := text_in(given.get("context_text"), where, "context_text"):
        context["context"] = before
    text = text_in(given.get("current_turn_text"), where, "current_turn_text")
    return Label(*span_of(given, where, "timestamps"), kind_named(task), text)
