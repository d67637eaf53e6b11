"""Selectors, several runs on one side, repeats, what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.comparison.keeping import ROOM, Toy, compared, keep, one, toys
from turnwise.comparison.selectors import choose, choose_both
from turnwise.kernel.errors import UsageError
from turnwise.store.run import INTERRUPTED
from turnwise.store.store import Store

TWO = toys("quality", [0.1], [0.2])


@pytest.fixture
def anywhere(toy_room: None, db: str) -> Iterator[Store]:
    """On SQLite and on PostgreSQL."""
    store = Store(db)
    yield store
    store.close()


def test_runs_are_named_as_show_takes_them(kept: Store) -> None:
    first, second = keep(kept, TWO), keep(kept, TWO)
    assert [c.run.id for c in choose(kept, "latest")] == [second.id]
    assert [c.run.id for c in choose(kept, first.id[:-1] if first.id[:-1] != second.id[:-1] else first.id)] == [
        first.id
    ]
    assert [c.run.id for c in choose(kept, f"{second.id}, {first.id}")] == [first.id, second.id]
    with pytest.raises(UsageError, match="there is no run 'nobody'"):
        choose(kept, "nobody")
    with pytest.raises(UsageError, match="comma"):
        choose(kept, f"{first.id},")


def test_versions_of_runs_and_of_items(anywhere: Store) -> None:
    """A run of version 1, one of version 2, one with items of both and of none (which have the run's own, 3)."""
    keep(anywhere, TWO, version="1")
    keep(anywhere, TWO, version="2", system="t")
    mixed = [
        Toy("x", "x", {"quality": 0.5}, {"version": "1"}),
        Toy("y", "y", {"quality": 0.6}, {"version": "10"}),
        Toy("z", "z", {"quality": 0.7}),
    ]
    keep(anywhere, mixed, version="3")
    keep(anywhere, TWO, version="1", status=INTERRUPTED)
    assert [c.run.version for c in choose(anywhere, "version:1")] == ["1", "3"]
    assert [c.run.version for c in choose(anywhere, "version:3")] == ["3"]
    assert [c.run.version for c in choose(anywhere, "system:s")] == ["1", "3"]
    assert [c.run.version for c in choose(anywhere, "system:t@2")] == ["2"]
    found = compared(anywhere, "version:1", "version:3", allow_different=True)
    assert (one(found, "quality")["n_a"], one(found, "quality")["n_b"]) == (3, 1)
    with pytest.raises(UsageError, match="no finished run has the version '11'"):
        choose(anywhere, "version:11")
    with pytest.raises(UsageError, match="no finished run has the system 'u'"):
        choose(anywhere, "system:u")


def test_like_patterns_in_a_version_are_only_letters(kept: Store) -> None:
    keep(kept, [Toy("x", "x", {"quality": 0.5}, {"version": "1a0"})])
    for pattern in ("1%", "1_0", '1"', "1A0"):
        with pytest.raises(UsageError, match="no finished run"):
            compared(kept, f"version:{pattern}", f"version:{pattern}")


def test_the_newest_score_of_an_item_counts(kept: Store) -> None:
    """c0 is measured twice, first 0.9, then 0.3; c1 and c2 once each."""
    keep(kept, toys("quality", [0.9], [0.5]), version="1")
    keep(kept, toys("quality", [0.3], [], [0.4]), version="1")
    b = keep(kept, toys("quality", [0.4], [0.6], [0.5]), version="2")
    found = compared(kept, "version:1", b)
    row = one(found, "quality")
    assert (row["a"], row["n_paired"]) == (pytest.approx((0.3 + 0.5 + 0.4) / 3), 3)
    assert any("measured more than once; the newest scores count" in note for note in found.notes)


def test_or_all_of_them_as_repeats(kept: Store) -> None:
    """Three seeds of A: items of 1, 1, 0 and 0, 1, 0; B solves both in two seeds of two."""
    for first, second in ((1.0, 0.0), (1.0, 1.0), (0.0, 0.0)):
        keep(kept, toys("solved", [first], [second]), version="1")
    for _ in range(2):
        keep(kept, toys("solved", [1.0], [1.0]), version="2")
    found = compared(kept, "version:1", "version:2", as_repeats=True)
    row, twice = one(found, "solved"), one(found, "solved", "pass^2")
    assert (row["a"], row["b"], row["n_paired"]) == (0.5, 1.0, 2)
    # pass^2 of A: C(2,2)/C(3,2) = 1/3 and C(1,2)/C(3,2) = 0.
    assert (twice["a"], twice["b"]) == pytest.approx((1 / 6, 1.0))
    assert not [r for r in found if r["rollup"] == "pass^4"]  # nobody has four trials


def test_repeats_take_the_variance_apart(kept: Store) -> None:
    """Worked out by hand: the variance of the items' differences, less what the repeats add to it."""
    a = toys("solved", [[1.0, 0.0]], [[1.0, 1.0]], [[0.0, 0.0]])
    b = toys("solved", [[1.0, 1.0]], [[1.0, 0.0]], [[1.0, 1.0]])
    found = compared(kept, keep(kept, a), keep(kept, b))
    parts = one(found, "solved")["repeats"]
    # Within: A (0.5 + 0 + 0) / 3 = 1/6, B the same; each item has 2 repeats, so the noise is 1/12 + 1/12 = 1/6.
    # Differences of means: 0.5, -0.5, 1; variance 7/12. Between: 7/12 - 1/6 = 5/12.
    assert parts["variance_between_items"] == pytest.approx(5 / 12)
    assert parts["variance_between_repeats"] == pytest.approx(1 / 3)
    assert parts["share_of_repeats"] == pytest.approx((1 / 6) / (7 / 12))
    assert one(found, "solved", "pass^2")["a"] == pytest.approx(1 / 3)
    assert any("29% of the variance" in note for note in found.notes)


def test_other_data_profiles_and_settings_are_refused_with_the_reason(kept: Store) -> None:
    run = keep(kept, TWO)
    for other, word in (
        (keep(kept, TWO, dataset_fingerprint="e"), "not the same data"),
        (keep(kept, TWO, profile="spec"), "not the same profile"),
    ):
        with pytest.raises(UsageError, match=word) as refused:
            compared(kept, run, other)
        assert "--allow-different" in (refused.value.remedy or "")
        found = compared(kept, run, other, allow_different=True)
        assert any(word in warning for warning in found.warnings)


def test_another_way_of_measuring_is_refused_for_that_metric_alone(kept: Store) -> None:
    numbers = [Toy(f"t{i}", f"t{i}", {"scaled": 0.1 * i, "quality": 0.2 * i}) for i in range(3)]
    a, b = keep(kept, numbers), keep(kept, numbers, set_={"scale": "2"})
    with pytest.raises(UsageError, match="way of measuring") as refused:
        compared(kept, a, b)
    assert refused.value.found == "scaled: scale=1 and scale=2"
    assert one(compared(kept, a, b, metrics=["quality"]), "quality")["difference"] == 0.0
    found = compared(kept, a, b, allow_different=True)
    assert found.warnings == ("not the same way of measuring: scaled: scale=1 and scale=2",)
    assert len(one(found, "scaled")["signatures"]) == 2


def test_runs_of_two_rooms_are_not_compared(kept: Store) -> None:
    a = keep(kept, TWO, version="1")
    from turnwise.kernel.selection import Selection
    from turnwise.store.run import FINISHED, Run

    other = Run(
        suite="dialogue",
        system="s",
        version="1",
        profile="turnwise",
        dataset_fingerprint="d",
        turnwise_version="0",
        config={},
        environment={},
    )
    b = kept.end(kept.begin(other, Selection().signatures), FINISHED)
    with pytest.raises(UsageError, match="not runs of one room"):
        choose_both(kept, a.id, b.id)
    with pytest.raises(UsageError, match="several rooms"):
        choose_both(kept, "version:1", "version:1")
    chosen, _ = choose_both(kept, "version:1", "version:1", ROOM)
    assert [c.run.id for c in chosen] == [a.id]


def test_nothing_in_common_is_said(kept: Store) -> None:
    with pytest.raises(UsageError, match="no metric in common"):
        compared(kept, keep(kept, TWO), keep(kept, toys("recall", [1.0])))


def test_a_run_that_was_interrupted_is_compared_with_a_warning(kept: Store) -> None:
    found = compared(kept, keep(kept, TWO), keep(kept, TWO, status=INTERRUPTED))
    assert any("is interrupted" in warning for warning in found.warnings)


def test_metrics_that_one_side_lacks_are_named(kept: Store) -> None:
    both = [Toy("t", "t", {"quality": 0.1, "recall": 1.0})]
    found = compared(kept, keep(kept, both), keep(kept, toys("quality", [0.1])), allow_different=True)
    assert "only in A: recall" in found.notes
