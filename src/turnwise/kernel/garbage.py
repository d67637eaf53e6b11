"""The garbage collector, kept from looking too often while there is much to do and little to be found."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from turnwise.kernel.shared import SharedSetting

SELDOM = (100_000, 50, 1000)
"""Thresholds of the three generations."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the garbage collector look seldom.

    Records are trees without cycles, and going over a million of them again and again costs a third of a run.
    """
    with _RARE.wanted():
        yield


@contextmanager
def _seldom() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


_RARE = SharedSetting(_seldom)
