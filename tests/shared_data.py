"""Where the real data for validation lie: beside the repository, never in it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = (Path(__file__).parents[2] / "shared" / "data").resolve()


def shared(*parts: str) -> Path:
    """The path of a file or folder in the shared data; the test that asks is skipped where it is not there."""
    path = SHARED_DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"real data not found at {path}")
    return path
