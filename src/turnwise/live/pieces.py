"""Texts in the pieces in which a simulated system says them: words, or characters of scripts without spaces."""

from __future__ import annotations

import re
from itertools import cycle
from unicodedata import category

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
_PIECE = re.compile(rf"[{_UNSPACED}]\s*|[^\s{_UNSPACED}]+\s*")
OLD_PER_NEW = 2
"""Pieces of the old text that follow each of the new one when both are mixed."""


def pieces_of(text: str) -> list[str]:
    """The pieces of a text, each with the space after it: together they are the text."""
    return _PIECE.findall(text.strip())


def mixed(new: list[str], old: list[str]) -> list[str]:
    """The new text with two pieces of the old one after each of its own, over and over.

    So two of three pieces belong to the old text. Those that the new one has, too, would tell nothing and are left out,
    unless there are no others.
    """
    known = {_bare(piece) for piece in new}
    foreign = [piece for piece in old if _bare(piece) and _bare(piece) not in known] or old
    if not new or not foreign:
        return new
    more = cycle(foreign)
    found = [piece for own in new for piece in (own, *(next(more) for _ in range(OLD_PER_NEW)))]
    return [_spaced(piece) for piece in found[:-1]] + [found[-1].rstrip()]


def _spaced(piece: str) -> str:
    return piece if re.match(f"[{_UNSPACED}]", piece) else f"{piece.rstrip()} "


def _bare(piece: str) -> str:
    """A piece as it is compared: without case, spaces and punctuation."""
    return "".join(c for c in piece.casefold() if category(c)[0] in "LMN")
