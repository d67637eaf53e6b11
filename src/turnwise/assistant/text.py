"""Texts as the patterns see them: straight quotation marks, sentences, words, letters of another script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_STRAIGHT = str.maketrans({"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "\u00a0": " ", "\u202f": " "})
_ENDS = re.compile(r"""[.!?…。！？]["')\]*_]*\s+|[。！？]|\n\s*\n|\n(?=[ \t]*(?:[-*•#>]|\d{1,3}[.)]\s))""")
"""Where a sentence may end: a full stop and a blank, an empty line, or a line before an item of a list."""
_ABBREVIATIONS = frozenset(
    {
        *("mr", "mrs", "ms", "mx", "dr", "prof", "st", "jr", "sr", "no", "nos", "sec", "art", "e.g", "i.e", "eg", "ie"),
        *("vs", "approx", "dept", "ext", "inc", "co", "corp", "u.s", "u.k", "a.m", "p.m"),
    }
)
_LONGEST = 12
"""Characters before a full stop in which an abbreviation is looked for."""
_LATIN_ENDS = 0x0250
"""Latin letters with all their accents lie below it, and in one block above."""
_LATIN_ADDITIONAL = range(0x1E00, 0x1F00)


def straightened(text: str) -> str:
    """Typographic apostrophes, quotation marks and blanks as those of a keyboard.

    >>> straightened("That’s it")
    "That's it"
    """
    return text if text.isascii() else text.translate(_STRAIGHT)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends; a line break inside one does not end it.

    >>> text = "Per our policy, call Dr. Who.  Then write. 1. One"
    >>> [text[start:end] for start, end in sentences(text)]
    ['Per our policy, call Dr. Who.', 'Then write.', '1.', 'One']
    """
    cuts = [0]
    for match in _ENDS.finditer(text):
        stop = match.start()
        if text[stop] != "." or not _is_abbreviation(text[max(0, stop - _LONGEST) : stop]):
            cuts.append(match.end())
    for start, end in pairwise([*cuts, len(text)]):
        part = text[start:end].rstrip()
        own = part.lstrip()
        if own:
            yield start + len(part) - len(own), start + len(part)


def _is_abbreviation(before: str) -> bool:
    words = before.split()
    return bool(words) and words[-1].lstrip("(\"'[").lower() in _ABBREVIATIONS


def count_words(text: str) -> int:
    """Words, as blanks set them apart."""
    return len(text.split())


def utf16_length(text: str) -> int:
    """The length that JavaScript gives: a character outside the basic plane counts 2."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_prefix(text: str, length: int) -> str:
    """JavaScript's `substring(0, length)`."""
    if text[:length].isascii():
        return text[:length]
    return text.encode("utf-16-le", "surrogatepass")[: 2 * length].decode("utf-16-le", "replace")


def mostly_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin; a text without letters is.

    >>> mostly_latin("Café 3"), mostly_latin("お大事に OK")
    (True, False)
    """
    if text.isascii():
        return True
    letters = [ord(character) for character in text if character.isalpha()]
    latin = sum(point < _LATIN_ENDS or point in _LATIN_ADDITIONAL for point in letters)
    return 2 * latin >= len(letters)
