"""Settings of the whole process: they hold while anybody wants them, and then everything is as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from turnwise.kernel.garbage import SELDOM, rare_collections
from turnwise.kernel.shared import SharedSetting
from turnwise.kernel.threads import one_thread


class Lamp:
    """Counts how often it was switched on, and is off when it was switched off as often."""

    def __init__(self) -> None:
        self.on = self.switched = 0
        self.colour = "red"

    @contextmanager
    def light(self) -> Iterator[None]:
        self.on, self.switched = self.on + 1, self.switched + 1
        try:
            yield
        finally:
            self.on -= 1


def test_whoever_comes_second_finds_it_made_and_whoever_leaves_last_undoes_it() -> None:
    lamp = Lamp()
    setting = SharedSetting(lamp.light)
    first, second = setting.wanted(), setting.wanted()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)  # the first to come is the first to go
    assert (lamp.on, lamp.switched) == (1, 1)
    second.__exit__(None, None, None)
    assert lamp.on == 0
    with setting.wanted():
        assert (lamp.on, lamp.switched) == (1, 2)


def test_it_is_made_again_when_what_it_depends_on_has_changed() -> None:
    lamp = Lamp()
    setting = SharedSetting(lamp.light, depends_on=lambda: lamp.colour)
    with setting.wanted():
        lamp.colour = "blue"
        with setting.wanted(), setting.wanted():
            assert (lamp.on, lamp.switched) == (2, 2)
    assert lamp.on == 0


def test_an_error_inside_undoes_it() -> None:
    lamp = Lamp()
    setting = SharedSetting(lamp.light)
    with pytest.raises(ZeroDivisionError), setting.wanted():
        _ = 1 // 0
    assert lamp.on == 0


def test_two_threads_that_overlap_leave_collector_and_libraries_as_they_were() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    before = gc.get_threshold()
    assert before != SELDOM
    both_inside, one_left = Barrier(2), Barrier(2)
    seen: list[tuple[tuple[int, int, int], set[int]]] = []

    def leaves_first() -> None:
        with one_thread(), rare_collections():
            both_inside.wait(10)
        one_left.wait(10)

    def goes_on() -> None:
        with one_thread(), rare_collections():
            both_inside.wait(10)
            one_left.wait(10)
            seen.append((gc.get_threshold(), blas_threads()))

    with threadpool_limits(limits=2, user_api="blas"):
        allowed = blas_threads()
        threads = [Thread(target=leaves_first), Thread(target=goes_on)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert seen == [(SELDOM, {1})]
        assert blas_threads() == allowed
    assert gc.get_threshold() == before


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
