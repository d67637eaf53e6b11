"""What came of a task, as bytes for the driver: a result, or an exception that is raised again there."""

from __future__ import annotations

import pickle
from typing import Any


def packed(outcome: Any) -> bytes:
    """An outcome that can be unpickled; of an exception that cannot, at least what it says."""
    try:
        content = pickle.dumps(outcome, protocol=5)
        if isinstance(outcome, BaseException):
            pickle.loads(content)  # noqa: S301  (one whose class wants other arguments fails only here)
    except Exception as error:  # whatever the methods of the outcome raise
        return pickle.dumps(RuntimeError(f"{type(outcome).__name__}: {outcome} (it cannot be sent: {error})"))
    return content
