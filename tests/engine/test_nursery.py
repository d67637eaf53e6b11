"""Where worker processes come from, and what is said where they cannot be started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turnwise.engine.executors.nursery import METHOD
from turnwise.kernel.cores import cores

START = "from turnwise.engine.executors.nursery import warm; warm(())"


@pytest.mark.skipif(METHOD != "forkserver", reason="no server is started here")
def test_a_temporary_folder_with_a_long_name_is_told(tmp_path: Path) -> None:
    folder = tmp_path / ("c" * 100)
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", START], env={**os.environ, "TMPDIR": str(folder)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "worker processes cannot be started" in done.stderr
    assert f"where: {folder}" in done.stderr
    assert "found: AF_UNIX path too long" in done.stderr


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen here")
def test_cores_are_those_that_the_process_may_use() -> None:
    given = os.sched_getaffinity(0)
    assert cores() == len(given)
    try:
        os.sched_setaffinity(0, {min(given)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, given)
