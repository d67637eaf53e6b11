"""The assistant room: replies of a policy-bound assistant, scored turn by turn, by code and by people.

`evaluate` and `record_turn` are for a live assistant; they are loaded at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turnwise.assistant.evaluator import ResponseMetrics, evaluate
    from turnwise.assistant.recorder import RecordedTurn, record_turn

_HOME = {
    "ResponseMetrics": "turnwise.assistant.evaluator",
    "evaluate": "turnwise.assistant.evaluator",
    "RecordedTurn": "turnwise.assistant.recorder",
    "record_turn": "turnwise.assistant.recorder",
}

__all__ = ["RecordedTurn", "ResponseMetrics", "evaluate", "record_turn"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'turnwise.assistant' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
