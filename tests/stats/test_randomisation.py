"""Random signs and deals: every pattern once where all are gone through, fair and independent where they are drawn."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from turnwise.stats.randomisation import (
    BLOCK,
    all_deals,
    all_signed_sums,
    deals,
    deals_are_enumerated,
    flips_are_enumerated,
    signed_sums,
)


def signs_of(sums: np.ndarray, rows: int) -> np.ndarray:
    """Sums of +-1, +-2, +-4, ... say which signs they were made with: (sum + 2^rows - 1) / 2 in binary."""
    numbers = ((sums[:, 0] + 2**rows - 1) / 2).astype(np.int64)
    assert np.array_equal(numbers * 2 - (2**rows - 1), sums[:, 0])
    return np.asarray(numbers[:, None] >> np.arange(rows) & 1)


def powers(rows: int) -> np.ndarray:
    return 2.0 ** np.arange(rows)[:, None]


def test_all_patterns_of_signs_but_for_a_change_of_all() -> None:
    found = {round(float(x), 6) for x in all_signed_sums(np.array([[1.0], [10.0], [100.0]]))[:, 0]}
    every = {round(a * 1 + b * 10 + c * 100, 6) for a, b, c in product((-1, 1), repeat=3)}
    assert len(found) == 4
    assert found | {-x for x in found} == every


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 40])
def test_every_row_enters_with_a_sign(rows: int) -> None:
    sums = np.concatenate(list(signed_sums(powers(rows), 200, seed=1)))
    assert sums.shape == (200, 1)
    assert signs_of(sums, rows).shape == (200, rows)


def test_signs_are_fair_and_independent() -> None:
    rows, draws = 20, 40_000
    signs = 2.0 * signs_of(np.concatenate(list(signed_sums(powers(rows), draws, seed=2))), rows) - 1
    # A mean of 40,000 fair signs has the standard error 0.005; so has the mean of a product of two independent ones.
    products = signs.T @ signs / draws
    assert np.abs(signs.mean(axis=0)).max() < 5 * 0.005
    assert np.abs(products - np.eye(rows)).max() < 5 * 0.005
    # Nor does one draw resemble the next.
    assert np.abs((signs[1:] * signs[:-1]).mean(axis=0)).max() < 5 * 0.005


def test_columns_are_summed_with_the_same_signs() -> None:
    rows = np.column_stack([powers(10)[:, 0], 3 * powers(10)[:, 0]])
    sums = np.concatenate(list(signed_sums(rows, 100, seed=3)))
    np.testing.assert_allclose(sums[:, 1], 3 * sums[:, 0])


def test_the_same_seed_gives_the_same_draws() -> None:
    first, again, other = (np.concatenate(list(signed_sums(powers(12), 50, seed))) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("columns", [1, 100])
def test_blocks_stay_small(columns: int) -> None:
    blocks = [block.shape for block in signed_sums(np.ones((3, columns)), 300_000 // columns, seed=6)]
    assert sum(rows for rows, _ in blocks) == 300_000 // columns
    assert all(rows * width <= BLOCK for rows, width in blocks)
    assert all(block.size <= max(BLOCK, 5000) for block in deals(2, 5000, 120, seed=6))


def test_when_all_patterns_are_gone_through() -> None:
    assert [flips_are_enumerated(k, 8192) for k in (0, 1, 14, 15)] == [False, True, True, False]
    # 5 of 10: 252 deals.
    assert deals_are_enumerated(5, 10, 252)
    assert not deals_are_enumerated(5, 10, 251)


def test_all_deals_are_all_subsets_once() -> None:
    dealt = all_deals(3, 7)
    assert dealt.shape == (comb(7, 3), 7)
    assert (dealt.sum(axis=1) == 3).all()
    assert len({tuple(row) for row in dealt.tolist()}) == 35


def test_deals_are_fair() -> None:
    dealt = np.concatenate(list(deals(3, 10, 40_000, seed=7)))
    assert (dealt.sum(axis=1) == 3).all()
    # Every cluster in 3 of 10 deals, every two of them in 3/10 * 2/9 = 1/15; standard errors are 0.0023 and 0.0012.
    together = dealt.T.astype(float) @ dealt / len(dealt)
    assert np.abs(np.diag(together) - 0.3).max() < 5 * 0.0023
    assert np.abs(together[~np.eye(10, dtype=bool)] - 1 / 15).max() < 5 * 0.0012


@pytest.mark.parametrize(("first", "clusters"), [(0, 3), (4, 3)])
def test_impossible_deals_are_refused(first: int, clusters: int) -> None:
    with pytest.raises(ValueError, match=f"cannot choose {first} of {clusters}"):
        list(deals(first, clusters, 10))
