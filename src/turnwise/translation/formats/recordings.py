"""Folders of recordings that are named after segment, user and language, as the document names them."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from turnwise.translation.languages import language_name

_NAME = re.compile(
    r"Segment=(?P<segment>.+)_User=(?P<user>.+?)_Language=(?P<code>[^_.]+)(?P<tail>_pred|_src|)\.(?:wav|flac)",
    re.IGNORECASE,
)
_WHOLE_NUMBER = re.compile(r"\d+\.0")

Key = tuple[str, str]
"""Segment and user."""


class Recordings:
    """The recordings of one language and kind in a folder."""

    def __init__(self, path: Path, languages: Collection[str], ending: str) -> None:
        """Look at the folder; `ending` is what the name of a recording should end with: `xho_pred`."""
        self.path, self._ending = path, ending
        self.names: dict[Key, str] = {}
        self.others: list[str] = []
        """Files of another language or kind, and second files of one segment and user."""
        tail = "".join(ending.partition("_")[1:])
        for file in sorted(path.iterdir()) if path.is_dir() else ():
            found = _NAME.fullmatch(file.name)
            if not found or found["tail"].lower() != tail or language_name(found["code"]) not in languages:
                self.others.append(file.name)
                continue
            key = plain_id(found["segment"]), plain_id(found["user"])
            # Of two files that claim a place, the one with the exact name has it.
            first = file.name if file.name == self._name(key) else self.names.get(key, file.name)
            self.others += [name for name in (self.names.get(key, first), file.name) if name != first]
            self.names[key] = first

    def find(self, key: Key) -> Path | None:
        """The recording of a sample, or where it should be; None where there is no recording of anything."""
        return self.path / self.names.get(key, self._name(key)) if self.names else None

    def _name(self, key: Key) -> str:
        return f"Segment={key[0]}_User={key[1]}_Language={self._ending}.wav"


def plain_id(text: str) -> str:
    """An id as text; 11.0, as spreadsheets and data frames write whole numbers, is 11."""
    plain = text.strip()
    return plain[:-2] if _WHOLE_NUMBER.fullmatch(plain) else plain
