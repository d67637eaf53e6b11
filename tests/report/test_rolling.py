"""Roll-ups shared among processes: the same results, in the same order, as in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.toys import Toy, derived, evaluated
from turnwise.report import summary
from turnwise.store.store import Store

TOYS = [
    Toy(
        f"{n % 60}/{n}",
        f"{n % 60}",
        {"precision": n % 7 / 7, "recall": None if n % 5 == 0 else 0.5, "hits": (n % 3, 3), "hits.mood": n, "delay": n},
        {"colour": ("red", "blue", "green")[n % 3]},
    )
    for n in range(240)
]


@pytest.mark.parametrize("workers", [2, 3, 8])
def test_results_do_not_depend_on_who_makes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    store = Store(str(tmp_path / "runs.sqlite"))
    twice = derived("twice", lambda x: 2 * x["precision"], "precision")
    made = evaluated(store, TOYS, twice, metrics=["precision", "recall", "hits", "delay", "twice"])
    by = [("colour",)]
    alone = summary.summarise(store, made.run, by, selection=made.selection, resamples=200)
    called: list[int] = []
    in_parallel = summary.in_parallel
    monkeypatch.setattr(summary, "in_parallel", lambda one, calls, n: (called.append(n), in_parallel(one, calls, n))[1])
    shared = summary.summarise(store, made.run, by, selection=made.selection, resamples=200, workers=workers)
    store.close()
    assert called == [workers]
    assert shared == alone
    assert {result["metric"] for result in alone} == {"precision", "recall", "hits", "delay", "twice"}


def test_a_database_in_memory_is_nobody_elses() -> None:
    store = Store(":memory:")
    made = evaluated(store, TOYS, metrics=["precision", "recall"])
    alone = summary.summarise(store, made.run, selection=made.selection, resamples=200)
    assert summary.summarise(store, made.run, selection=made.selection, resamples=200, workers=4) == alone
    store.close()
