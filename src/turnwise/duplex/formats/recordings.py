"""Recordings of conversations, with what may lie beside them: label files by the same name, and tables.

Where a label file says who speaks when, nobody has to listen; otherwise voice activity decides, later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from turnwise.duplex.formats import audacity, rttm, textgrid
from turnwise.duplex.formats.annotation import Annotation
from turnwise.duplex.formats.base import Entry, FileConversations, Tally
from turnwise.duplex.formats.files import read_json
from turnwise.duplex.formats.listing import Listing, audio_head
from turnwise.duplex.formats.roles import side_of, stem
from turnwise.duplex.formats.tables import LABEL_LINES, LABELS, METADATA, Tables, usual_category, usual_language
from turnwise.duplex.records import Timeline
from turnwise.duplex.timeline_json import SPEECH_FIELDS, from_json
from turnwise.kernel.errors import InputError

JSON = ".json"
LABEL_FILES = (audacity.SUFFIX, rttm.SUFFIX, textgrid.SUFFIX, JSON)

NO_TRACK = "a text file beside the recording is no label track and was left out"
NO_SPEECH = "a JSON file beside the recording says nothing about speech and was left out"

Beside = tuple[Path, str | None]
"""A label file, and whose speech it holds."""


@dataclass(frozen=True, slots=True)
class Recording(Entry):
    """A conversation that was recorded."""

    audio: tuple[Path, ...]
    """One stereo file, or the user's and the agent's."""
    beside: tuple[Beside, ...]


class Recordings(FileConversations[Recording]):
    """Recordings. A subclass finds which files make one."""

    def __init__(self, found: Listing, audio: dict[str, tuple[str, ...]], tally: Tally) -> None:
        """The audio files of each conversation, by what its label files are called."""
        keys = {name: found.key(name) for name in audio}
        beside = _beside(found, audio, tally)
        entries = []
        for name, files in audio.items():
            paths = tuple(found.root / file for file in files)
            labels = tuple(beside.get(name, ()))
            entries.append(Recording(keys[name], (*paths, *(path for path, _ in labels)), paths, labels))
        self._tables = Tables(found, set(keys.values()), tally)
        super().__init__(found, entries, self._tables.files, tally)

    def _read(self, entry: Recording) -> Timeline:
        heads = [audio_head(path) for path in entry.audio]
        timeline = self._tables.timeline(entry.key, audio=entry.audio, seconds=max(seconds for _, seconds in heads))
        annotation = Annotation()
        for path, side in entry.beside:
            timeline = _annotate(path, side, annotation, timeline)
        self._tables.annotate(entry.key, annotation)
        return annotation.onto(timeline)


def _annotate(path: Path, side: str | None, annotation: Annotation, timeline: Timeline) -> Timeline:
    """Take what a label file says; a JSON file may say things that are not labels."""
    kind = path.suffix.lower()
    if kind == audacity.SUFFIX and not audacity.is_track(path):
        annotation.note(NO_TRACK)
    elif kind == audacity.SUFFIX:
        audacity.annotate(path, side, annotation)
    elif kind == textgrid.SUFFIX:
        textgrid.annotate(path, side, annotation)
    elif kind == rttm.SUFFIX:
        rttm.annotate(path, side, annotation, timeline.key.rpartition("/")[2])
    else:
        return _told(path, annotation, timeline)
    return timeline


def _told(path: Path, annotation: Annotation, timeline: Timeline) -> Timeline:
    given = read_json(path)
    value = {"labels": given} if isinstance(given, list) else given
    if not isinstance(value, dict) or not SPEECH_FIELDS & value.keys():
        annotation.note(NO_SPEECH)
        return timeline
    told = from_json({**value, "key": timeline.key}, str(path))
    return replace(
        timeline,
        user=told.user,
        agent=told.agent,
        labels=(*timeline.labels, *told.labels),
        sentences=told.sentences,
        words=told.words,
        user_words=told.user_words,
        clean_user=told.clean_user,
        clean_agent=told.clean_agent,
        behaviour=told.behaviour,
        tool_calls=told.tool_calls,
        language=timeline.language or usual_language(told.language),
        category=timeline.category or usual_category(told.category),
        metadata={**told.metadata, **timeline.metadata},
        notes=(*timeline.notes, *told.notes),
    )


def _beside(found: Listing, names: Collection[str], tally: Tally) -> dict[str, list[Beside]]:
    """The label files of each recording; those of none are counted."""
    files: dict[str, list[Beside]] = defaultdict(list)
    for path in _label_files(found):
        plain = stem(path)
        name, side = (plain, None) if plain in names else side_of(plain) or ("", None)
        full = found.root / path
        if name in names:
            files[name].append((full, side))
        elif not found.lone and _is_labels(full):
            tally.add("labels", "label files without a recording were left out", path)
    return files


def _is_labels(path: Path) -> bool:
    """Whether a file is about labels by its name, or by how it begins."""
    kind = path.suffix.lower()
    return kind != JSON and (kind != audacity.SUFFIX or audacity.is_track(path))


def _label_files(found: Listing) -> Iterable[str]:
    """Files that may hold labels; of a single recording, those in its folder that begin with its name."""
    names: Iterable[str] = found.names
    if found.lone:
        names = sorted(path.name for path in found.root.iterdir() if path.name.startswith(found.path.stem))
    reserved = (LABELS, LABEL_LINES, METADATA)
    return [name for name in names if name.lower().endswith(LABEL_FILES) and name.rpartition("/")[2] not in reserved]


def nothing_usable(found: Listing, tally: Tally, expected: str) -> InputError:
    """The error for a folder of recordings of which none can be used."""
    return InputError(
        "no recording can be used",
        where=str(found.path),
        found="; ".join(one.message for one in tally.findings()) or "no WAV or FLAC file",
        expected=expected,
        remedy="check the path, or use another --format",
    )
