"""One thread for linear algebra while something is measured or resampled.

A product of matrices rounds differently with another number of threads, so the last digit of a value would depend on
the cores of the machine; and workers on all cores would get into each other's way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Libraries of linear algebra that are loaded use one thread inside."""
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """What is loaded; looked for again only after something was imported, for that takes a millisecond."""
    return ThreadpoolController()
