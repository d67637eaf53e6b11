"""What local workers make goes through a file: as it was, once, and another way where there is no file to be had."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from faulty import Halved, batches, workload

from turnwise.engine.executors import make_executor
from turnwise.engine.executors.inline import InlineExecutor
from turnwise.engine.executors.parcel import SMALL, Parcel, posted, unpacked

LARGE = os.urandom(SMALL)


def test_what_is_large_goes_through_a_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    sent = posted(LARGE, str(tmp_path))
    assert isinstance(sent, Parcel)
    assert [Path(sent.path)] == list(tmp_path.iterdir())
    assert unpacked(sent) == LARGE
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        unpacked(sent)


@pytest.mark.parametrize("content", [b"", b"x", LARGE[1:]])
def test_what_is_small_goes_as_it_is(tmp_path: Path, content: bytes) -> None:
    assert posted(content, str(tmp_path)) is content
    assert unpacked(content) is content
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", [None, "gone"])
def test_without_a_folder_it_goes_as_it_is(tmp_path: Path, folder: str | None) -> None:
    assert posted(LARGE, folder and str(tmp_path / folder)) is LARGE


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_half(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", write_half)
    assert posted(LARGE, str(tmp_path)) is LARGE
    assert list(tmp_path.iterdir()) == []


def test_a_parcel_that_somebody_threw_away_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from turnwise.engine.executors import dask_tasks

    lost: list[Parcel] = []

    def careless(sent: bytes | Parcel) -> bytes:
        if isinstance(sent, Parcel) and not lost:
            lost.append(sent)
            Path(sent.path).unlink()
        return unpacked(sent)

    monkeypatch.setattr(dask_tasks, "unpacked", careless)
    work, numbers = workload(tmp_path, Halved), batches(6, 2000)
    rows = sorted(make_executor("dask:1").map(work, numbers), key=lambda one: one.index)
    assert len(lost) == 1
    assert rows == list(InlineExecutor().map(work, numbers))
