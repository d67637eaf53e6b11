"""Another system in the same store with exactly the same scores: more often a mix-up of files than a coincidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turnwise.store.run import FINISHED, Run
from turnwise.store.store import Store

LOOKED_AT = 20
"""The newest so many runs of other systems."""

Values = dict[tuple[str, ...], float]


def same_scores(store: Store, run: Run, results: Sequence[Mapping[str, Any]]) -> list[Run]:
    """Finished runs of other systems on the same data with which every value that both have is the same."""
    values = _values(results)
    others = [
        other
        for other in store.runs(run.suite)
        if other.dataset_fingerprint == run.dataset_fingerprint
        and other.status == FINISHED
        and other.system != run.system
    ]
    found = []
    for other in others[:LOOKED_AT]:
        theirs = _values(store.rollups(other))
        shared = values.keys() & theirs.keys()
        telling = {values[key] for key in shared} - {0.0, 1.0}  # all right or all wrong is no sign of anything
        if len(telling) > 1 and all(values[key] == theirs[key] for key in shared):
            found.append(other)
    return found


def _values(results: Sequence[Mapping[str, Any]]) -> Values:
    """What is measured in the same way has the same signature."""
    return {
        (r["signature"], r["output"], r["rollup"], *(f"{k}={v}" for k, v in sorted(r["group"].items()))): r["value"]
        for r in results
        if not r["variant"] and r["value"] is not None
    }
