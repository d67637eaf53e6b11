"""Ctrl-C in the middle of a write: it waits, what was written is kept, and the database is free afterwards."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread, Timer

import pytest

from turnwise.kernel.interrupts import undisturbed
from turnwise.store.run import INTERRUPTED, BatchRows, Run
from turnwise.store.store import Store


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """As in a terminal; what runs in the background may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_a_batch_that_is_being_written_is_kept_and_the_run_can_be_ended(
    tmp_path: Path, begin_run: Callable[..., Run]
) -> None:
    store = Store(str(tmp_path / "runs.sqlite"))
    run = begin_run(store)
    items = [(number, "exchange", f"i{number}", "c", "{}", None) for number in range(300_000)]
    # The signal comes while the driver of SQLite is at work.
    Timer(0.1, press).start()
    with pytest.raises(KeyboardInterrupt):
        store.write_batch(run, BatchRows(0, items, []))
    begun = time.monotonic()
    store.end(run, INTERRUPTED)
    assert time.monotonic() - begun < 30  # a lock would be waited for twice as long
    assert store.count_items(run) == len(items)
    assert store.run(run.id).status == INTERRUPTED
    store.close()


def test_the_second_one_does_not_wait() -> None:
    seen = []

    def press_twice() -> None:
        with undisturbed():
            press()
            seen.append("first")
            press()
            seen.append("second")

    with pytest.raises(KeyboardInterrupt):
        press_twice()
    assert seen == ["first"]


def test_who_ignores_it_goes_on() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with undisturbed():
        press()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_elsewhere_than_in_the_main_thread_nothing_changes(tmp_path: Path, begin_run: Callable[..., Run]) -> None:
    store = Store(str(tmp_path / "runs.sqlite"))
    run = begin_run(store)
    item = (0, "exchange", "i", "c", "{}", None)
    thread = Thread(target=store.write_batch, args=(run, BatchRows(0, [item], [])))
    thread.start()
    thread.join(20)
    assert store.count_items(run) == 1
    store.close()
