"""One thread for linear algebra while something is measured or resampled.

A product of matrices rounds differently with another number of threads, so the last digit of a value would depend on
the cores of the machine; and workers on all cores would get into each other's way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import threadpoolctl

from turnwise.kernel.shared import SharedSetting


@contextmanager
def one_thread() -> Iterator[None]:
    """Libraries of linear algebra that are loaded use one thread inside, whichever thread asks."""
    with _LIMITED.wanted():
        yield


@contextmanager
def _limited() -> Iterator[None]:
    _take_control()
    with _libraries(_modules()).limit(limits=1, user_api="blas"):
        yield
        _take_control()


def _take_control() -> None:
    """Newer versions of threadpoolctl obey only the thread that was first to set a limit, and ignore the others."""
    give_up = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if give_up is not None:
        give_up(force=True)


@lru_cache(maxsize=1)
def _libraries(modules: int) -> threadpoolctl.ThreadpoolController:
    """What is loaded; looked for again only after something was imported, for that takes a millisecond."""
    return threadpoolctl.ThreadpoolController()


def _modules() -> int:
    return len(sys.modules)


_LIMITED = SharedSetting(_limited, depends_on=_modules)
