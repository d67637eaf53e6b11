"""The full-duplex track of HumDial: `{language}/{category}/` with `0001_0001.wav` and `0001_0001_output.wav`.

The first is the user's recording, the second the agent's. Beside them may lie the user's sentences, the words of both
sides, those of the recording without the disturbance, and what somebody says the agent did. Keys are spelt differently
from file to file; what they share is the number at their end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from turnwise.duplex.categories import CATEGORIES, category_named, language_named
from turnwise.duplex.formats.base import Conversations, Entry, FileConversations, Tally
from turnwise.duplex.formats.files import json_lines, list_in, text_in
from turnwise.duplex.formats.listing import Listing, audio_head
from turnwise.duplex.formats.transcripts import read_sentences, read_shown, read_words
from turnwise.duplex.records import Timeline
from turnwise.kernel.errors import InputError, near_misses

NAME = "humdial"
TAGS = "_content_tags.jsonl"
BY_PRODUCT = "clean_"
"""How recordings begin that the challenge's own scripts make of others."""
TRANSCRIPTS = {
    "words": ("", "_output.json"),
    "user_words": ("", ".json"),
    "clean_user": (BY_PRODUCT, ".json"),
    "clean_agent": (BY_PRODUCT, "_output.json"),
}
"""What stands before and after a recording's number in the names of its transcripts."""
_RECORDING = re.compile(r"(\d+_\d+(?:_(?!output\b)[A-Za-z]+)?)(_output)?\.wav")
_NUMBER = re.compile(r"(\d+_\d+(?:_[A-Za-z]+)?)$")


def looks_like(found: Listing) -> bool:
    """Whether an agent's recording is called as in the challenge."""
    return any(match[2] for _, match in _recordings(found))


def read(found: Listing) -> Conversations:
    """A category, a language or all of them."""
    return HumDial(found)


def _recordings(found: Listing) -> Iterator[tuple[str, re.Match[str]]]:
    for path in found.names:
        folder, _, name = path.rpartition("/")
        if match := _RECORDING.fullmatch(name):
            yield folder, match


@dataclass(frozen=True, slots=True)
class Recorded(Entry):
    """A conversation of the challenge."""

    number: str
    language: str | None
    category: str | None
    behaviour: str | None = None


class HumDial(FileConversations[Recorded]):
    """Conversations, each a few files of the same number."""

    name = NAME

    def __init__(self, found: Listing) -> None:
        tally = Tally()
        sides: dict[tuple[str, str], set[bool]] = defaultdict(set)
        for folder, match in _recordings(found):
            sides[folder, match[1]].add(bool(match[2]))
        for name in found.ending(".wav"):
            if name.rpartition("/")[2].startswith(BY_PRODUCT):
                tally.add("input", f"recordings {BY_PRODUCT}*.wav are made of others and were left out", name)
        pairs = []
        for (folder, number), has in sorted(sides.items()):
            if len(has) == 2:
                pairs.append((folder, number))
            else:
                missing = "user" if True in has else "agent"
                tally.add("skipped", f"left out, a recording lacks the {missing}'s side", f"{folder}/{number}")
        if not pairs:
            raise InputError(
                "there is no conversation of the challenge",
                where=str(found.path),
                found="; ".join(one.message for one in tally.findings()) or None,
                expected="LANGUAGE/CATEGORY/ with 0001_0001.wav and 0001_0001_output.wav",
            )
        self._found = found
        self._places = {folder: _place(found, folder, tally) for folder, _ in pairs}
        tags = found.ending(TAGS)
        behaviours = self._behaviours(tags, pairs, tally)
        entries = [self._entry(folder, number, behaviours.get((folder, number))) for folder, number in pairs]
        super().__init__(found, entries, [found.root / name for name in tags], tally)

    def _entry(self, folder: str, number: str, behaviour: str | None) -> Recorded:
        where = self._found.root / folder
        names = [f"{number}_sentence.json", *(before + number + after for before, after in TRANSCRIPTS.values())]
        beside = [where / name for name in names]
        files = (where / f"{number}.wav", where / f"{number}_output.wav", *(one for one in beside if one.is_file()))
        key = self._found.key(f"{folder}/{number}" if folder else number)
        return Recorded(key, files, number, *self._places[folder], behaviour)

    def _read(self, entry: Recorded) -> Timeline:
        audio = entry.files[:2]
        notes: list[str] = []
        seconds = max(audio_head(path)[1] for path in audio)
        beside = {path.name: path for path in entry.files[2:]}
        sentences = beside.get(f"{entry.number}_sentence.json")
        said = {side: beside.get(before + entry.number + after) for side, (before, after) in TRANSCRIPTS.items()}
        words = said["words"]
        return Timeline(
            key=entry.key,
            sentences=read_sentences(sentences, notes) if sentences else None,
            words=read_words(words, notes, seconds) if words else None,
            user_words=read_shown(said["user_words"], notes),
            clean_user=read_shown(said["clean_user"], notes),
            clean_agent=read_shown(said["clean_agent"], notes),
            behaviour=entry.behaviour,
            seconds=seconds,
            language=entry.language,
            category=entry.category,
            audio=audio,
            notes=tuple(notes),
        )

    def _behaviours(
        self, tags: list[str], pairs: list[tuple[str, str]], tally: Tally
    ) -> dict[tuple[str, str], str | None]:
        """What the agent did, by folder and number; None where two labels disagree."""
        found: dict[tuple[str, str], str | None] = {}
        recorded = set(pairs)
        for name in tags:
            folder = self._recordings_of(name)
            for where, row in json_lines(self._found.root / name):
                key = text_in(row.get("key"), where, "key")
                match = _NUMBER.search(key)
                place = (folder or "", match[1] if match else "")
                labels = [text_in(one, where, "behaviour") for one in list_in(row.get("behaviour"), where, "behaviour")]
                if folder is None or place not in recorded:
                    tally.add("labels", "behaviour labels without a recording were left out", f"{name}, {key}")
                elif len(labels) != 1 or found.get(place, labels[0]) != labels[0]:
                    tally.add("labels", "recordings without exactly one behaviour label have none", f"{name}, {key}")
                    found[place] = None
                else:
                    found[place] = labels[0]
        return found

    def _recordings_of(self, tags: str) -> str | None:
        """The folder that a file of labels is about: its own, or the one of its language and category."""
        folder, _, name = tags.rpartition("/")
        if folder in self._places:
            return folder
        language, category = _place(self._found, folder, None)
        by_name = category_named(name.removesuffix(TAGS))
        wanted = (language, by_name.name if by_name else category)
        folders = [one for one, place in self._places.items() if place == wanted]
        return folders[0] if len(folders) == 1 else None


def _place(found: Listing, folder: str, tally: Tally | None) -> tuple[str | None, str | None]:
    """Language and category that the folders around a recording name.

    Of what lies outside the given path only the folder above it counts, and only for a path that is a category.
    """
    root = found.root.resolve()
    inside = folder.split("/") if folder else []
    around = [root.name, *inside] if inside else [root.parent.name, root.name]
    category = category_named(around[-1])
    language = next((known for name in reversed(around) if (known := language_named(name))), None)
    if category is None and not inside:  # the root may be called anything
        return language, None
    if category is None and tally:
        names = [one.name for one in CATEGORIES]
        hint = near_misses(around[-1], names)
        tally.add("input", f"folders that are no category of the challenge{f' ({hint})' if hint else ''}", around[-1])
    return language, category.name if category else around[-1]
