"""Text as it is heard: what is left of a sentence when case and punctuation are gone, and its words."""

from __future__ import annotations

import re
import unicodedata

_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x9FFF),  # Han
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""Scripts that are written without spaces between words."""
UNSPACED_CLASS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _UNSPACED)
"""The same for a regular expression, inside brackets."""
_ANY_UNSPACED = re.compile(f"[{UNSPACED_CLASS}]")


class _Silent(dict[int, str]):
    """What each character becomes: punctuation, symbols and control characters are spaces; filled as needed."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        self[point] = " " if unicodedata.category(character)[0] in "PSC" and character != "'" else character
        return self[point]


_SILENT = _Silent({ord("’"): "'"})


def spoken_form(text: str) -> str:
    """What of a text can be heard: lower case, no punctuation but apostrophes within words, single spaces.

    >>> spoken_form("It's 5 o'clock -- 'now', she said.")
    "it's 5 o'clock now she said"
    """
    kept = text.casefold().translate(_SILENT)
    return " ".join(word for part in kept.split() if (word := part.strip("'")))


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script that is written without spaces."""
    point = ord(character)
    return point >= _UNSPACED[0][0] and any(first <= point <= last for first, last in _UNSPACED)


def spoken_words(text: str) -> list[str]:
    """The words that are heard; where none are written apart, every character is one.

    >>> spoken_words("It hurts, here: 这里疼")
    ['it', 'hurts', 'here', '这', '里', '疼']
    """
    return words_of(spoken_form(text))


def words_of(spoken: str) -> list[str]:
    """The words of a text that is in its spoken form already."""
    if spoken.isascii() or not _ANY_UNSPACED.search(spoken):
        return spoken.split()
    return "".join(f" {c} " if is_unspaced(c) else c for c in spoken).split()
