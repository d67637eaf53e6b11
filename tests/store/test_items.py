"""The items of a run, window by window: whole clusters, no item lost, the dimensions that were asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from turnwise.store import items as items_module
from turnwise.store.columns import stored_series
from turnwise.store.items import StoredItems
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store

Begin = Callable[[Store], Run]
Rows = list[tuple[int, str]]


def write(store: Store, run: Run, rows: Rows) -> None:
    """Items by number and cluster, three to a domain."""
    made = [(n, "exchange", f"i{n}", c, f'{{"domain":"d{i // 3}","id":"i{n}"}}', None) for i, (n, c) in enumerate(rows)]
    store.write_batch(run, BatchRows(0, made, []))


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        ("aaabbcdd", [3, 5, 8]),  # a; b; c and d: never less than two items, but for the last
        ("abababcd", [6, 8]),  # a and b are not complete before the sixth
        ("abcdefga", [8]),
        ("aa", [2]),
    ],
)
def test_windows_hold_whole_clusters(
    store: Store, begin_run: Begin, monkeypatch: pytest.MonkeyPatch, clusters: str, expected: list[int]
) -> None:
    monkeypatch.setattr(items_module, "WINDOW", 2)
    run = begin_run(store)
    numbers = [n if n < 4 else n + 100 for n in range(len(clusters))]  # two batches, numbered apart
    write(store, run, list(zip(numbers, clusters, strict=True)))
    items = StoredItems(store, run)
    assert items.bounds.tolist() == [0, *expected]
    assert items.ends.tolist() == [numbers[end - 1] for end in expected]
    assert len(items) == len(clusters)
    assert items.n_clusters == len(set(clusters))
    tables = [items.window(window) for window in range(len(expected))]
    assert [n for table in tables for n in table.numbers.tolist()] == numbers
    order = list(dict.fromkeys(clusters))
    assert [order[code] for table in tables for code in table.clusters.codes] == list(clusters)
    domains = [table.dimensions["domain"].names[c] for table in tables for c in table.dimensions["domain"].codes]
    assert domains == [f"d{i // 3}" for i in range(len(clusters))]


def test_only_what_is_asked_for_is_kept(store: Store, begin_run: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items_module, "KNOWN_TEXTS", 2)  # every item has an id of its own
    run = begin_run(store)
    write(store, run, [(n, "a") for n in range(7)])
    items = StoredItems(store, run, {"domain"})
    assert items.names == {"domain", "id"}
    assert items.whole().dimensions.keys() == {"domain"}
    assert items.whole().dimensions["domain"].codes.tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_a_run_without_items_has_no_window(store: Store, begin_run: Begin) -> None:
    items = StoredItems(store, begin_run(store))
    assert (len(items), items.ends.tolist(), items.n_clusters) == (0, [], 0)


def test_the_series_of_a_metric_are_found_without_its_rows(store: Store, begin_run: Begin) -> None:
    run = begin_run(store)
    write(store, run, [(0, "a"), (1, "a")])
    row = ("code", "", 1.0, None, "[1,1]", None, "scored", None, None)
    scores = [
        (0, output, variant, item, 0, *row)
        for output, variant in (("value", ""), ("value", "empty"), ("extra", "oracle"))
        for item in (0, 1)
    ]
    store.write_batch(run, BatchRows(1, [], scores))
    first, second = store.metrics(run)[:2]
    assert stored_series(store, run, first) == [("extra", "oracle"), ("value", ""), ("value", "empty")]
    assert stored_series(store, run, second) == []
