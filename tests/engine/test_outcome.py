"""What workers send back: results, and errors that say what they said where they were raised."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from faulty import Halved, Picky, batches, workload

from turnwise.engine.executors import make_executor
from turnwise.engine.executors.member import Member
from turnwise.engine.executors.outcome import packed
from turnwise.kernel.errors import InputError, TurnwiseError


def test_results_and_errors_come_out_as_they_went_in() -> None:
    assert pickle.loads(packed({"rows": [1, 2]})) == {"rows": [1, 2]}
    error = pickle.loads(packed(InputError("a line", where="file, line 3", found="x")))
    assert (type(error), error.what, error.where, error.found) == (InputError, "a line", "file, line 3", "x")


def test_what_cannot_be_sent_is_told_in_words() -> None:
    error = pickle.loads(packed(lambda: None))
    assert isinstance(error, RuntimeError)
    assert "it cannot be sent" in str(error)


@pytest.mark.parametrize("engine", ["processes:1", "dask:1"])
def test_an_error_that_cannot_be_made_again_says_what_it_said(tmp_path: Path, engine: str) -> None:
    """Its class wants two arguments, and keeps one: that is found only where it is unpickled."""
    work = Picky(workload(tmp_path, Halved).metrics)
    with pytest.raises(RuntimeError, match="PickyError: 7: the real trouble"):
        list(make_executor(engine).map(work, batches(2)))


def test_a_function_that_a_process_cannot_load_is_told() -> None:
    member = Member(b"cno_such_module_anywhere\nfunction\n.", 1)
    try:
        member.give(3, "first")
        while (received := member.received()) is None:
            assert member.connection.poll(20)
    finally:
        member.dismiss()
    what, error = received
    assert what == "first"
    assert isinstance(error, TurnwiseError)
    assert error.what == "a worker process cannot load what it should do"
    assert error.found == "ModuleNotFoundError: No module named 'no_such_module_anywhere'"
