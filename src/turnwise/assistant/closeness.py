"""How close a cited sentence is to what was retrieved: the cosine of character trigrams weighted by TF-IDF.

It needs no model. Where one is installed, `embedding.py` takes its place; the signature of a score says which it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from turnwise.assistant.text import sentences
from turnwise.kernel.rollup import FloatArray, IntArray

TFIDF = "tfidf-char3"
_BITS = 21
"""Of a code point; three of them make a number."""


class Comparer(Protocol):
    """Compares a text with others; cosines, one for each."""

    def __call__(self, span: str, passages: Sequence[Passages]) -> list[float]:
        """For each retrieved chunk, how close its closest passage is to the span."""
        ...


@dataclass(frozen=True, slots=True)
class Passages:
    """A retrieved chunk, in lower case and with single blanks, and the sentences in it."""

    text: str
    bounds: tuple[tuple[int, int], ...]
    """Where the sentences begin and end; none where only the whole chunk is compared."""

    @property
    def texts(self) -> list[str]:
        """The whole chunk and each of its sentences."""
        return [self.text, *(self.text[start:end] for start, end in self.bounds)]


def plain(text: str) -> str:
    """A text as it is compared: case and the kind of blanks do not count."""
    return " ".join(text.casefold().split())


def passages_of(chunk: str, *, whole: bool = False) -> Passages:
    """A chunk's passages: itself and, unless it is taken as a whole, each of its sentences.

    A sentence that is quoted word for word from a chunk of ten is not an inaccurate quotation; compared with the whole
    chunk it would look like one.
    """
    if whole:
        return Passages(plain(chunk), ())
    parts = [plain(chunk[start:end]) for start, end in sentences(chunk)]
    ends = np.cumsum([len(part) + 1 for part in parts]).tolist()
    bounds = tuple((end - len(part) - 1, end - 1) for part, end in zip(parts, ends, strict=True))
    return Passages(" ".join(parts), bounds if len(bounds) > 1 else ())


def closest(span: str, passages: Sequence[Passages], compare: Comparer) -> list[float]:
    """For each chunk, how close its closest passage is: 0 to 1; 1 if it is the same text."""
    own = plain(span)
    if not passages:
        return []
    found = compare(own, passages)
    return [
        1.0 if own in chunk.texts else min(1.0, max(0.0, round(value, 9)))
        for chunk, value in zip(passages, found, strict=True)
    ]


def tfidf(span: str, passages: Sequence[Passages]) -> list[float]:
    """The cosine of the span with the closest passage of each chunk.

    A text is a vector with one element for each trigram g of characters in it: tf(g) * idf(g), with tf the number of
    times it occurs and idf(g) = ln((1 + n) / (1 + df(g))) + 1, where n counts the chunks and the span, and df those
    that have g. Texts of less than three characters have no trigram: 0.
    """
    grams = [_trigrams(span), *(_trigrams(chunk.text) for chunk in passages)]
    lengths = [len(one) for one in grams]
    vocabulary, codes = np.unique(np.concatenate(grams), return_inverse=True)
    size = len(vocabulary)
    if not size:
        return [0.0] * len(passages)
    ends = np.cumsum(lengths)
    documents = np.repeat(np.arange(len(grams)), lengths)
    present = np.zeros((len(grams), size), dtype=bool)
    present[documents, codes] = True
    frequency = present.sum(axis=0)
    idf = np.log((1 + len(grams)) / (1 + frequency)) + 1
    wanted = np.bincount(codes[: lengths[0]], minlength=size) * idf
    norm = float(np.sqrt(wanted @ wanted))
    rows, owners = _rows(passages, codes, ends.tolist())
    cosines = _cosines(rows, wanted, idf) / norm if norm else np.zeros(len(rows))
    best = np.zeros(len(passages))
    np.maximum.at(best, owners, cosines)
    found: list[float] = best.tolist()
    return found


def _rows(passages: Sequence[Passages], codes: IntArray, ends: Sequence[int]) -> tuple[list[IntArray], IntArray]:
    """The trigrams of every passage, and the chunk that each passage is of."""
    rows, owners = [], []
    for number, chunk in enumerate(passages):
        start, end = ends[number], ends[number + 1]
        rows.append(codes[start:end])
        rows += [codes[start + first : min(end, start + last - 2)] for first, last in chunk.bounds]
        owners += [number] * (1 + len(chunk.bounds))
    return rows, np.array(owners, dtype=np.int64)


def _cosines(rows: Sequence[IntArray], wanted: FloatArray, idf: FloatArray) -> FloatArray:
    """The cosine of each row of trigrams with the wanted vector, but for the norm of the latter."""
    size = len(idf)
    numbers = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    cells, counts = np.unique(numbers * size + np.concatenate(rows), return_counts=True)
    row, gram = cells // size, cells % size
    weights = counts * idf[gram]
    dots = np.bincount(row, weights=weights * wanted[gram], minlength=len(rows))
    norms = np.sqrt(np.bincount(row, weights=weights * weights, minlength=len(rows)))
    return np.divide(dots, norms, out=np.zeros(len(rows)), where=norms > 0)


def _trigrams(text: str) -> IntArray:
    """Each three characters in a row as one number."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    if len(points) < 3:
        return np.zeros(0, dtype=np.int64)
    return points[:-2] | points[1:-1] << _BITS | points[2:] << 2 * _BITS
