"""Models are loaded once per process, by however many threads."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from turnwise.kernel.once import once


def test_threads_that_ask_at_once_get_the_same() -> None:
    made: list[str] = []

    @once
    def model(name: str) -> list[str]:
        """A large file."""
        time.sleep(0.05)
        made.append(name)
        return [name]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(model, ["a", "b", "a", "a"]))
    assert sorted(made) == ["a", "b"]
    assert found == [["a"], ["b"], ["a"], ["a"]]
    assert found[0] is found[2] is found[3]
    assert (model.__name__, model.__doc__) == ("model", "A large file.")
    model.cache_clear()
    assert model("a") is not found[0]


def test_an_error_is_not_kept() -> None:
    tried: list[int] = []

    @once
    def model() -> str:
        tried.append(1)
        if len(tried) == 1:
            raise OSError("no room")
        return "loaded"

    with pytest.raises(OSError, match="no room"):
        model()
    assert (model(), len(tried)) == ("loaded", 2)
