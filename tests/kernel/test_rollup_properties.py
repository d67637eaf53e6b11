"""What every roll-up must fulfil: shards add up, order does not matter, a group is its own data set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.rows import chosen, roll_up, rollup, rows
from turnwise.kernel.rollup import (
    CLUSTER,
    ITEM,
    MACRO,
    MICRO,
    P50,
    P95,
    TOTAL,
    FloatArray,
    Pooled,
    Rollup,
    Rows,
    compile_rollup,
    mean,
    pass_k,
    percentile,
    pool,
    ratio,
    ratio_value,
    share,
    total,
)

quick = settings(max_examples=15, deadline=None)
N_CLUSTERS, N_DOMAINS, N_LANGUAGES, N_GROUPS = 6, 3, 2, 3

ROLLUPS = {
    "micro": MICRO,
    "macro": MACRO,
    "total": TOTAL,
    "pool": rollup(pool()),
    "pool by cluster": rollup(pool(by=(CLUSTER,)), mean()),
    "pool by domain": rollup(pool(by=("domain",)), mean()),
    "total by domain": rollup(total(by=("domain",)), mean()),
    "total by cluster": rollup(total(by=(CLUSTER,)), mean()),
    "ratio of sums": rollup(ratio(0, 1)),
    "ratio by domain": rollup(ratio(0, 1, by=("domain",)), mean()),
    "share": rollup(share("yes")),
    "share by domain": rollup(share("yes", by=("domain",)), mean()),
    "mean by domain": rollup(mean(by=("domain",)), mean()),
    "nested": rollup(mean(by=("language", "domain")), mean(by=("language",)), mean()),
    "cluster, then domain": rollup(mean(by=(CLUSTER, "domain")), mean(by=("domain",)), mean()),
    "pass^2": rollup(pass_k(2), mean()),
    "p50": P50,
    "p95": P95,
    "p50 of clusters": rollup(mean(by=(CLUSTER,)), percentile(50)),
}
ADDITIVE = {name: found for name, found in ROLLUPS.items() if found.additive}
every = pytest.mark.parametrize("name", ROLLUPS)


def nothing_is_zero(statistics: FloatArray) -> FloatArray:
    """A value that is 0, not missing, where there is nothing (as that of slot_hallucination)."""
    return np.where(statistics[..., 1] == 0, 0.0, ratio_value(statistics))


VALUES = {"ratio": ratio_value, "nothing is zero": nothing_is_zero}


@st.composite
def some_rows(draw: st.DrawFn, min_size: int = 1, max_size: int = 25) -> Rows:
    """Rows of repeated items; an item has one cluster, one domain and one language, as in a data set."""
    kinds = draw(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4), st.integers(0, 4)), max_size=max_size))
    kinds = kinds or [(0, 1, 1)] * min_size
    items = [item for item, _, _ in kinds]
    statistics = [(min(a, b), b) for _, a, b in kinds]
    labels = ["yes" if a % 2 else "no" for _, a, _ in kinds]
    values = [float(a >= b) for _, a, b in kinds]
    return rows(
        values,
        statistics=statistics,
        labels=labels,
        item=items,
        cluster=[item % N_CLUSTERS for item in items],
        domain=[item % N_DOMAINS for item in items],
        language=[item % N_LANGUAGES for item in items],
    )


def compiled(name: str, data: Rows, value: str = "ratio") -> Pooled:
    zeros = np.zeros(len(data), dtype=np.int64)
    found = compile_rollup(ROLLUPS[name], data, zeros, 1, N_CLUSTERS, VALUES[value])
    assert isinstance(found, Pooled)
    return found


@every
@quick
@given(some_rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(name: str, data: Rows, random: object) -> None:
    order = list(range(len(data)))
    random.shuffle(order)  # type: ignore[attr-defined]
    zeros = np.zeros(len(data), dtype=np.int64)
    straight = roll_up(ROLLUPS[name], data, zeros, 1, ratio_value, N_CLUSTERS)
    shuffled = roll_up(ROLLUPS[name], chosen(data, order), zeros, 1, ratio_value, N_CLUSTERS)
    np.testing.assert_allclose(shuffled, straight, rtol=1e-12)


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.parametrize("value", ["ratio", "nothing is zero"])
@quick
@given(some_rows(), st.integers(1, N_CLUSTERS - 1))
def test_shards_add_up(name: str, value: str, data: Rows, border: int) -> None:
    """pooled(a) + pooled(b) = pooled(a + b), where no cluster is torn apart."""
    if {dimension for step in ROLLUPS[name].steps for dimension in step.by} - {CLUSTER, ITEM}:
        # Totals are laid out by the levels that occur, so both shards get a row of every level.
        data = with_every_level(data)
    whole = compiled(name, data, value)
    shard = data.keys[CLUSTER] < border
    parts = [compiled(name, chosen(data, np.flatnonzero(keep)), value) for keep in (shard, ~shard)]
    np.testing.assert_allclose(parts[0].totals + parts[1].totals, whole.totals, rtol=1e-12)
    np.testing.assert_array_equal(parts[0].present | parts[1].present, whole.present)
    merged = whole.value(parts[0].totals.sum(axis=0) + parts[1].totals.sum(axis=0))
    np.testing.assert_allclose(merged, whole.point(), rtol=1e-12)


def with_every_level(data: Rows) -> Rows:
    """Two more items of each domain and language, in the first and in the last cluster."""
    cells = [(c, d, g) for c in (0, N_CLUSTERS - 1) for d in range(N_DOMAINS) for g in range(N_LANGUAGES)]
    values = [*data.values.tolist(), *(1.0 for _ in cells)]
    keys = {name: codes.tolist() for name, codes in data.keys.items()}
    more = {
        CLUSTER: [c for c, _, _ in cells],
        ITEM: [100 + i for i in range(len(cells))],
        "domain": [d for _, d, _ in cells],
        "language": [g for _, _, g in cells],
    }
    statistics = [*data.statistics.tolist(), *([1, 2] for _ in cells)]
    labels = [*(data.labels or ()), *("no" for _ in cells)]
    return rows(values, statistics=statistics, labels=labels, **{name: keys[name] + more[name] for name in keys})


@every
@pytest.mark.parametrize("value", ["ratio", "nothing is zero"])
@quick
@given(some_rows(), st.lists(st.integers(0, N_GROUPS - 1), min_size=8, max_size=8))
def test_a_group_is_rolled_up_as_if_it_were_all_there_is(
    name: str, value: str, data: Rows, group_of_item: list[int]
) -> None:
    groups = np.array([group_of_item[item] for item in data.keys[ITEM].tolist()], dtype=np.int64)
    together = roll_up(ROLLUPS[name], data, groups, N_GROUPS, VALUES[value], N_CLUSTERS)
    for group in set(groups.tolist()):
        alone = chosen(data, np.flatnonzero(groups == group))
        zeros = np.zeros(len(alone), dtype=np.int64)
        expected = roll_up(ROLLUPS[name], alone, zeros, 1, VALUES[value], N_CLUSTERS)[0]
        np.testing.assert_allclose(together[group], expected, rtol=1e-12)


@every
@quick
@given(some_rows())
def test_point_is_the_value_of_the_sum_and_lies_among_the_values(name: str, data: Rows) -> None:
    zeros = np.zeros(len(data), dtype=np.int64)
    found = float(roll_up(ROLLUPS[name], data, zeros, 1, ratio_value, N_CLUSTERS)[0])
    if "total" not in name and not np.isnan(found):
        assert 0.0 <= found <= 1.0  # every value, ratio and share of these rows is


@every
def test_nothing_to_roll_up_is_missing(name: str) -> None:
    """A data set without a scored row: no number, and no exception."""
    nothing = chosen(rows([0.0], statistics=[(0, 1)], labels=["no"], domain=[0], language=[0]), [])
    found = roll_up(ROLLUPS[name], nothing, [], 2, ratio_value, n_clusters=3)
    assert found.shape == (2,)
    # A sum over nothing is 0 here; who reports it looks at the counts.
    assert np.isnan(found).all() or ROLLUPS[name] is TOTAL


@quick
@given(some_rows(), st.sampled_from(sorted(ADDITIVE)))
def test_a_resample_that_draws_every_cluster_twice_changes_no_mean(data: Rows, name: str) -> None:
    found = compiled(name, data)
    doubled = found.value(2 * found.totals.sum(axis=0))
    if "total" not in name:
        np.testing.assert_allclose(doubled, found.point(), rtol=1e-12)


@quick
@given(some_rows())
def test_means_written_out_a_second_time(data: Rows) -> None:
    """Micro, macro, by domain and nested with plain loops."""
    keyed = list(
        zip(data.values.tolist(), *(data.keys[k].tolist() for k in (CLUSTER, "domain", "language")), strict=True)
    )
    zeros = np.zeros(len(data), dtype=np.int64)

    def average(numbers: list[float]) -> float:
        return sum(numbers) / len(numbers)

    def by(*places: int) -> dict[tuple[int, ...], float]:
        levels: dict[tuple[int, ...], list[float]] = {}
        for row in keyed:
            levels.setdefault(tuple(int(row[place]) for place in places), []).append(row[0])
        return {level: average(numbers) for level, numbers in levels.items()}

    languages: dict[int, list[float]] = {}
    for (language, _), number in by(3, 2).items():
        languages.setdefault(language, []).append(number)
    expected = {
        "micro": average([row[0] for row in keyed]),
        "macro": average(list(by(1).values())),
        "mean by domain": average(list(by(2).values())),
        "nested": average([average(numbers) for numbers in languages.values()]),
    }
    for name, number in expected.items():
        found = roll_up(ROLLUPS[name], data, zeros, 1, ratio_value, N_CLUSTERS)[0]
        assert found == pytest.approx(number), name


def test_names_of_rollups_do_not_change_numbers() -> None:
    data = rows([0.0, 1.0, 1.0])
    for name in ("micro", "mean", "anything"):
        assert roll_up(Rollup(name, (mean(),)), data, [0, 0, 0], 1)[0] == pytest.approx(2 / 3)
