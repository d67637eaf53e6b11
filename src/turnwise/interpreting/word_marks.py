"""Words that were counted in a text as it is heard, found again in the text as it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from turnwise.kernel.text import is_unspaced, spoken_form, spoken_words

Piece = tuple[str, bool]
"""A part of a text, and whether it is marked."""
_APOSTROPHES = "'’"


def marked_pieces(text: str, spans: Iterable[Sequence[int]]) -> list[Piece]:
    """A text in pieces, those between the first and the last word of each span marked.

    Args:
        text: as it is written.
        spans: from which word of `spoken_words(text)` to which, the end left out.

    >>> marked_pieces("Left knee, no: right!", [(0, 1), (3, 4)])
    [('Left', True), (' knee, no: ', False), ('right', True), ('!', False)]
    """
    places = list(_places(text))
    if [spoken_form(text[start:end]) for start, end in places] != spoken_words(text):
        return [(text, False)] if text else []  # a script that cannot be traced back: nothing is marked wrongly
    chosen = {n for first, after in spans for n in range(first, after)}
    found: list[Piece] = []
    done = 0
    for strange, group in groupby(range(len(places)), key=chosen.__contains__):
        words = list(group)
        if strange:
            start, end = places[words[0]][0], places[words[-1]][1]
            found += [(text[done:start], False), (text[start:end], True)]
            done = end
    return [piece for piece in (*found, (text[done:], False)) if piece[0]]


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where the words stand."""
    start: int | None = None
    for n, character in enumerate(f"{text} "):
        kept = character in _APOSTROPHES or bool(spoken_form(character))
        alone = kept and is_unspaced(character)
        if start is not None and (alone or not kept):
            yield from _stripped(text, start, n)
            start = None
        if alone:
            yield n, n + 1
        elif kept and start is None:
            start = n


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Without the quotation marks around it; nothing where it is nothing else."""
    while start < end and text[start] in _APOSTROPHES:
        start += 1
    while start < end and text[end - 1] in _APOSTROPHES:
        end -= 1
    if start < end:
        yield start, end
