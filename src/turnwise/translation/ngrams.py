"""Clipped n-gram matches of many segments at once, exactly, with one sort per portion of the corpus.

Every position of a text becomes one 64-bit key: its segment, the n-gram of the highest order that starts there, and
whose text it is. In the sorted keys the n-grams of every lower order stand side by side as well, since they are
prefixes. Nothing is hashed, so nothing collides. What the matches mean is left to the metrics.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from turnwise.kernel.rollup import FloatArray, IntArray

PORTION = 1 << 18
"""Positions sorted together: their keys, 2 MB, stay in a processor's cache."""
KEY_BITS = 64
SPACE = ord(" ")

_Keys = npt.NDArray[np.uint64]


def character_matches(segments: Sequence[Sequence[str]], order: int) -> FloatArray:
    """Matches (n, order) of character n-grams: the first text of each segment against the others.

    An n-gram of the first text matches as often as it occurs there, but no more often than in that other text that
    has it most often (Papineni et al. 2002).

    Args:
        segments: texts without spaces, two or more for each segment.
        order: the highest; a column for each from 1 on.
    """
    found = [_matches(_coded_characters(segments[part], order), order) for part in _portions(segments)]
    return np.concatenate([np.empty((0, order)), *found])


def word_matches(segments: Sequence[Sequence[Sequence[str]]], order: int) -> FloatArray:
    """The same as `character_matches` for n-grams of words: each text is a list of words."""
    found = [_matches(_coded_words(segments[part], order), order) for part in _portions(segments)]
    return np.concatenate([np.empty((0, order)), *found])


def ngram_counts(lengths: Sequence[int], order: int) -> FloatArray:
    """How many n-grams (n, order) of each order texts of these lengths have: length - order + 1, or none."""
    return np.maximum(np.asarray(lengths, dtype=np.float64)[:, None] - np.arange(order), 0.0)


class _Coded(NamedTuple):
    """Texts as integers, one after the other; each is followed by a gap of zeros, so that no n-gram spans two."""

    codes: IntArray
    """1 or more for a character or word, 0 in a gap."""
    lengths: IntArray
    """(texts,), the gap of each included."""
    owners: IntArray
    """(texts,), the segment of each, from 0 on without a hole."""
    sides: IntArray
    """(texts,), 0 for the text that is scored, 1 and more for its references."""


def _portions(segments: Sequence[Sequence[Sequence[str]]]) -> Iterator[slice]:
    start = size = 0
    for end, texts in enumerate(segments, 1):
        size += sum(map(len, texts))
        if size >= PORTION or end == len(segments):
            yield slice(start, end)
            start, size = end, 0


def _coded_characters(segments: Sequence[Sequence[str]], order: int) -> _Coded:
    """Characters by their rank among those of the portion; the texts have no space, so spaces can be the gaps."""
    gap = " " * (order - 1)
    text = gap.join([*chain.from_iterable(segments), ""])
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    code = np.zeros(max(SPACE, int(points.max(initial=0))) + 1, dtype=np.int64)
    code[points] = 1
    code[SPACE] = 0
    np.cumsum(code, out=code)
    code[SPACE] = 0
    return _laid_out(code[points], segments, order)


def _coded_words(segments: Sequence[Sequence[Sequence[str]]], order: int) -> _Coded:
    """Words by when they first occur in their segment; few bits are enough for that."""
    gap = [0] * (order - 1)
    codes: list[int] = []
    for texts in segments:
        code = defaultdict[str, int](count(1).__next__)
        for words in texts:
            codes += map(code.__getitem__, words)
            codes += gap
    return _laid_out(np.array(codes, dtype=np.int64), segments, order)


def _laid_out(codes: IntArray, segments: Sequence[Sequence[Sequence[str]]], order: int) -> _Coded:
    lengths = np.array([len(text) for texts in segments for text in texts], dtype=np.int64) + order - 1
    texts = np.array([len(texts) for texts in segments], dtype=np.int64)
    owners = np.repeat(np.arange(len(segments)), texts)
    sides = np.arange(len(owners)) - np.repeat(np.cumsum(texts) - texts, texts)
    return _Coded(codes, lengths, owners, sides)


def _matches(coded: _Coded, order: int) -> FloatArray:
    """Matches (segments, order) of one portion, in smaller parts where its keys would not fit."""
    segments, sides = int(coded.owners[-1]) + 1, int(coded.sides.max()) + 1
    spare = KEY_BITS - (segments - 1).bit_length() - (sides - 1).bit_length()
    if _width(coded.codes) * order > spare:
        coded = _recoded(coded)
    width = _width(coded.codes)
    if width * order <= spare:
        return _sorted_matches(coded, order, width, segments, sides)
    if segments == 1:
        return _counted_matches(coded, order)
    return np.concatenate([_matches(half, order) for half in _halves(coded, segments // 2)])


def _width(codes: IntArray) -> int:
    return int(codes.max(initial=1)).bit_length()


def _recoded(coded: _Coded) -> _Coded:
    """Codes by rank within the segment, which has far fewer characters than, say, all of Chinese."""
    owners = np.repeat(coded.owners, coded.lengths)
    size = int(coded.codes.max(initial=0)) + 1
    # The zero of every segment takes part, gap or no gap, so that it is the first of its segment.
    zeros = np.arange(int(coded.owners[-1]) + 1) * size
    distinct, rank = np.unique(np.concatenate([zeros, owners * size + coded.codes]), return_inverse=True)
    first = np.searchsorted(distinct, zeros)
    return coded._replace(codes=rank[len(zeros) :] - first[owners])


def _halves(coded: _Coded, segments: int) -> Iterator[_Coded]:
    """The first so many segments, and the rest."""
    text = int(np.searchsorted(coded.owners, segments))
    position = int(coded.lengths[:text].sum())
    yield _Coded(coded.codes[:position], coded.lengths[:text], coded.owners[:text], coded.sides[:text])
    owners = coded.owners[text:] - segments
    yield _Coded(coded.codes[position:], coded.lengths[text:], owners, coded.sides[text:])


def _sorted_matches(coded: _Coded, order: int, width: int, segments: int, sides: int) -> FloatArray:
    """Pack, sort, and compare neighbours: a run of keys that agree in their first n codes is one n-gram."""
    side_bits = (sides - 1).bit_length()
    keys = _keys(coded, order, width, side_bits)
    matches = np.zeros((segments, order))
    if not len(keys):
        return matches
    keys.sort()
    step = np.empty_like(keys)
    step[0] = np.iinfo(np.uint64).max  # the first key always starts a run
    np.bitwise_xor(keys[1:], keys[:-1], out=step[1:])
    side = keys & np.uint64((1 << side_bits) - 1)
    seen = [np.concatenate([[0], np.cumsum(side == k, dtype=np.int32)]) for k in range(sides)]
    for n in range(1, order + 1):
        shift = side_bits + (order - n) * width
        starts = np.flatnonzero(step >= np.uint64(1 << shift))
        bounds = np.append(starts, len(keys))
        scored, *others = (np.diff(running[bounds]) for running in seen)
        for other in others[1:]:
            np.maximum(others[0], other, out=others[0])
        clipped = np.minimum(scored, others[0])
        prefixes = keys[starts] >> np.uint64(shift)
        clipped[prefixes & np.uint64((1 << width) - 1) == 0] = 0  # the n-gram would end in the gap
        owners = (prefixes >> np.uint64(n * width)).astype(np.int64)
        matches[:, n - 1] = np.bincount(owners, clipped, segments)
    return matches


def _keys(coded: _Coded, order: int, width: int, side_bits: int) -> _Keys:
    """One key for each position that is not in a gap: segment, `order` codes, side."""
    codes = coded.codes.astype(np.uint64)
    count = len(codes) - order + 1
    keys = np.repeat(coded.owners.astype(np.uint64), coded.lengths)[:count]
    for k in range(order):
        keys <<= np.uint64(width)
        keys |= codes[k : k + count]
    keys <<= np.uint64(side_bits)
    keys |= np.repeat(coded.sides.astype(np.uint64), coded.lengths)[:count]
    placed: _Keys = keys[codes[:count] != 0]
    return placed


def _counted_matches(coded: _Coded, order: int) -> FloatArray:
    """The same for a single segment with too many distinct codes for any key, by counting."""
    ends = np.cumsum(coded.lengths)[:-1]
    texts = [part[part != 0].tolist() for part in np.split(coded.codes, ends)]
    matches = np.zeros((1, order))
    for n in range(1, order + 1):
        scored, *others = (Counter(zip(*(text[k:] for k in range(n)), strict=False)) for text in texts)
        most: Counter[tuple[int, ...]] = Counter()
        for other in others:
            most |= other
        matches[0, n - 1] = (scored & most).total()
    return matches
