"""Items that are added to a run one by one: all or nothing, by several at once, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from turnwise.kernel.errors import InputError
from turnwise.store.append import append_batch
from turnwise.store.reading import read_scores
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store


def rows(index: int, name: str, value: float = 1.0) -> BatchRows:
    number = index << 20
    item = (number, "turn", name, "session", "{}", '{"said":"x"}')
    score = (0, "value", "", number, 0, "code", "", value, None, f"[{value}]", None, "scored", None, None)
    return BatchRows(index, [item], [score])


def test_every_batch_gets_the_next_number_and_stale_results_go(store: Store, begin_run: Callable[..., Run]) -> None:
    run = begin_run(store)
    store.save_rollups(run, [{"value": 1}])
    before = store.run(run.id).updated
    assert append_batch(store, run, lambda index: rows(index, "a")).index == 0
    assert append_batch(store, run, lambda index: rows(index, "b", 0.5)).index == 1
    assert store.done_batches(run) == {0, 1}
    assert [(score.unit.id, score.value) for score in read_scores(store, run)] == [("a", 1.0), ("b", 0.5)]
    assert store.rollups(run) == []
    assert store.run(run.id).updated >= before


def test_an_item_twice_changes_nothing(store: Store, begin_run: Callable[..., Run]) -> None:
    run = begin_run(store)
    append_batch(store, run, lambda index: rows(index, "a"))
    with pytest.raises(InputError, match="has the turn 'a' already"):
        append_batch(store, run, lambda index: rows(index, "a"))
    with pytest.raises(RuntimeError, match="broken"):
        append_batch(store, run, _broken)
    assert store.done_batches(run) == {0}
    assert store.count_items(run) == 1


def _broken(index: int) -> BatchRows:
    raise RuntimeError("broken")


def test_several_at_once_lose_nothing(store: Store, begin_run: Callable[..., Run]) -> None:
    run = begin_run(store)
    with ThreadPoolExecutor(4) as pool:
        done = list(
            pool.map(lambda name: append_batch(store, run, lambda index: rows(index, str(name))).index, range(20))
        )
    assert sorted(done) == list(range(20))
    assert {score.unit.id for score in read_scores(store, run)} == {str(name) for name in range(20)}
