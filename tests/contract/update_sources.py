"""The hash of every metric's source, and the script that notes it anew: python -m tests.contract.update_sources.

A value that changes without its version is the one mistake that no reader of a report can notice. So a changed source
fails a test until its metric's version goes up, or until somebody states by running this script that no value changes.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

from turnwise.kernel.derived import Derived
from turnwise.kernel.metric import Metric
from turnwise.kernel.registry import AnyMetric

NOTED = Path(__file__).with_name("metric_sources.json")


def source_hash(metric: AnyMetric, functions: tuple[Any, ...]) -> str:
    """SHA-256 over the metric's class, the classes it builds on below `Metric`, and the functions, modules and files
    it uses."""
    if isinstance(metric, Derived):
        own: list[Any] = [metric.function]
    else:
        own = [kind for kind in metric.__mro__ if issubclass(kind, Metric) and kind is not Metric]
    texts = [_text(thing) for thing in (*own, *functions)]
    # The order in which functions are listed says nothing about values.
    return hashlib.sha256("\n\n".join(sorted(texts)).encode()).hexdigest()


def _text(thing: Any) -> str:
    """The source of a class, a function or a module; the content of a file."""
    return thing.read_text("utf-8") if isinstance(thing, Path) else textwrap.dedent(inspect.getsource(thing)).strip()


def current() -> dict[str, dict[str, Any]]:
    """Version and hash of every metric of the rooms, by full name."""
    from tests.contract.rooms import ADAPTERS, metrics_of

    found = {}
    for room, adapter in ADAPTERS.items():
        for name, metric in metrics_of(room).items():
            sources = adapter.SOURCES.get(name, ())
            found[f"{room}/{name}"] = {"version": metric.spec.version, "sha256": source_hash(metric, sources)}
    return dict(sorted(found.items()))


def noted() -> dict[str, dict[str, Any]]:
    """What was noted last."""
    found: dict[str, dict[str, Any]] = json.loads(NOTED.read_text()) if NOTED.exists() else {}
    return found


def main() -> None:
    before, after = noted(), current()
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if old is None or new is None:
            print(f"{name}: {'added' if old is None else 'removed'}")
        elif old["version"] == new["version"]:
            print(f"{name}: source changed, version still {new['version']}: no value may have changed")
        else:
            print(f"{name}: version {old['version']} -> {new['version']}")
    NOTED.write_text(json.dumps(after, indent=2) + "\n")


if __name__ == "__main__":
    main()
