"""turnwise evaluates AI that converses: every score with its interval, its evidence and its signature.

The names below are loaded at first use, so that `import turnwise` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from turnwise.api import Result, evaluate
    from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
    from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output, Parameter
    from turnwise.kernel.registry import register
    from turnwise.kernel.score import Measurement, Score, Status, Unit, measured, not_applicable, skipped

_HOME = {
    "evaluate": "turnwise.api",
    "Result": "turnwise.api",
    "TurnwiseError": "turnwise.kernel.errors",
    "InputError": "turnwise.kernel.errors",
    "UsageError": "turnwise.kernel.errors",
    "Direction": "turnwise.kernel.metric",
    "Metric": "turnwise.kernel.metric",
    "MetricSpec": "turnwise.kernel.metric",
    "Output": "turnwise.kernel.metric",
    "Parameter": "turnwise.kernel.metric",
    "register": "turnwise.kernel.registry",
    "Measurement": "turnwise.kernel.score",
    "Score": "turnwise.kernel.score",
    "Status": "turnwise.kernel.score",
    "Unit": "turnwise.kernel.score",
    "measured": "turnwise.kernel.score",
    "not_applicable": "turnwise.kernel.score",
    "skipped": "turnwise.kernel.score",
}

__all__ = [
    "Direction",
    "InputError",
    "Measurement",
    "Metric",
    "MetricSpec",
    "Output",
    "Parameter",
    "Result",
    "Score",
    "Status",
    "TurnwiseError",
    "Unit",
    "UsageError",
    "__version__",
    "evaluate",
    "measured",
    "not_applicable",
    "register",
    "skipped",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'turnwise' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
