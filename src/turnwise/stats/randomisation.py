"""Sums under random relabelling: every cluster's sign flipped, or every cluster dealt to one of two sides.

Tests are built from these sums in paired.py and unpaired.py. Nothing here knows what is summed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from math import comb

import numpy as np
import numpy.typing as npt

from turnwise.stats.leave_one_out import BoolArray, FloatArray

SEED = 20240229
DRAWS = 10_000

# Words of eight bytes in a block of sums, in the tables of one lot of rows, in a block of random numbers: 2 MB.
BLOCK = 1 << 18
BYTE = 8
# Row i holds the eight signs that the byte i stands for.
_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0

UIntArray = npt.NDArray[np.uint8]


def flips_are_enumerated(clusters: int, draws: int) -> bool:
    """Whether all patterns of signs, up to a change of all of them, are no more than the draws asked for."""
    return clusters >= 1 and 2 ** (clusters - 1) <= draws


def all_signed_sums(rows: FloatArray) -> FloatArray:
    """Return the sums of the rows (m, d) under all 2^(m-1) patterns of signs in which the last row keeps its own.

    The other half are these sums with all signs changed.
    """
    m = len(rows)
    patterns = np.arange(2 ** (m - 1))[:, None] >> np.arange(m) & 1
    return np.asarray((1.0 - 2.0 * patterns) @ rows, dtype=np.float64)


def signed_sums(rows: FloatArray, draws: int, seed: int = SEED) -> Iterator[FloatArray]:
    """Yield the sums of the rows (m, d) under random signs, in blocks (b, d) of at most 2 MB, `draws` in all.

    Eight rows at a time: a table holds their sum under each of the 256 patterns of signs, and a random byte chooses
    one. A draw so costs m / 8 look-ups of a vector instead of m multiplications (Arlazarov and others 1970, the
    "four Russians").
    """
    m, d = rows.shape
    groups = -(-m // BYTE)
    padded = np.zeros((groups * BYTE, d))
    padded[:m] = rows
    eights = padded.reshape(groups, BYTE, d)
    random = np.random.default_rng(seed)
    size = max(1, min(draws, BLOCK // max(1, d)))
    for start in range(0, draws, size):
        yield _looked_up(eights, min(size, draws - start), random)


def _looked_up(eights: FloatArray, draws: int, random: np.random.Generator) -> FloatArray:
    """Sum one random row of each group's table; tables and bytes are made for as many groups as fit a block."""
    d = eights.shape[2]
    sums, term = np.zeros((draws, d)), np.empty((draws, d))
    lot = max(1, min(BLOCK // (256 * max(1, d)), BLOCK * 8 // draws))
    for start in range(0, len(eights), lot):
        tables = _SIGNS @ eights[start : start + lot]
        chosen = _random_bytes(random, len(tables), draws)
        for table, row in zip(tables, chosen, strict=True):
            np.take(table, row, axis=0, out=term, mode="clip")  # a byte is never outside; "raise" would copy
            sums += term
    return sums


def _random_bytes(random: np.random.Generator, rows: int, columns: int) -> UIntArray:
    """Whole words are drawn, because drawing bytes one by one takes ten times as long."""
    words = -(-columns // BYTE)
    drawn = random.integers(0, 2**64 - 1, size=(rows, words), dtype=np.uint64, endpoint=True)
    return drawn.view(np.uint8)[:, :columns]


def deals_are_enumerated(first: int, clusters: int, draws: int) -> bool:
    """Whether all choices of `first` of the clusters are no more than the draws asked for."""
    return comb(clusters, first) <= draws


def all_deals(first: int, clusters: int) -> BoolArray:
    """Return every choice of `first` of the clusters, as rows (choices, clusters)."""
    count = comb(clusters, first)
    flat = np.fromiter(chain.from_iterable(combinations(range(clusters), first)), np.int64, count * first)
    dealt = np.zeros((count, clusters), dtype=np.bool_)
    dealt[np.arange(count)[:, None], flat.reshape(count, first)] = True
    return dealt


def deals(first: int, clusters: int, draws: int, seed: int = SEED) -> Iterator[BoolArray]:
    """Yield random choices of `first` of the clusters, in blocks (b, clusters) of at most 2 MB or one row.

    Every cluster draws a number, and the `first` smallest are chosen: several times as fast as shuffling.
    """
    if not 1 <= first <= clusters:
        raise ValueError(f"cannot choose {first} of {clusters} clusters")
    random = np.random.default_rng(seed)
    size = max(1, min(draws, BLOCK // clusters))
    for start in range(0, draws, size):
        shape = (min(size, draws - start), clusters)
        drawn = random.integers(0, 2**64 - 1, size=shape, dtype=np.uint64, endpoint=True)
        yield drawn <= np.partition(drawn, first - 1, axis=1)[:, first - 1 : first]
