"""The rooms under contract, each with its adapter, and the metrics that turnwise itself registers there."""

from __future__ import annotations

from types import ModuleType

from tests.contract import (
    assistant_adapter,
    dialogue_adapter,
    duplex_adapter,
    interpreting_adapter,
    translation_adapter,
)
from turnwise.kernel.registry import REGISTRY, AnyMetric
from turnwise.rooms import register_metrics

ADAPTERS: dict[str, ModuleType] = {
    adapter.ROOM: adapter
    for adapter in (dialogue_adapter, assistant_adapter, translation_adapter, duplex_adapter, interpreting_adapter)
}
"""An adapter offers ROOM, CONTEXT, COVERED, SOURCES; the exceptions NO_PERFECT_INPUT, NO_PERFECT_SETTINGS,
NO_BEST_VALUE, NOT_IN_EXAMPLES, NO_BASELINES, UNSCORED_BASELINES, BATCH_VARIANTS and NEEDS_MODEL, each with its reason;
OTHER_PAGES; `stand_in(patch)`, which replaces what a test cannot wait for; `records(min_size)`, a strategy for lists of
records of whole clusters, each with its `unit`; `exemplary()`, records whose references nobody can do better than;
`batch(records, index)`; `examples()` and `example_batch(records)`; and the systems `perfect`, `silent` and
`never_silent`, each from records to the same records with other predictions.

It may offer GIVEN_BY_PEOPLE, metrics that people score and code does not, with the reason; OTHER_CONTEXTS, settings of
a run under which the contract holds, too; `aim(name, output, unit)`, what the perfect system gets where the end of the
range is no aim; and `asks(name, output, unit)`, whether a metric is about such a unit at all."""


def metrics_of(room: str) -> dict[str, AnyMetric]:
    """Short name to metric; what plug-ins and other tests register is not under this contract."""
    register_metrics()
    found = {}
    for full_name in REGISTRY.names(room):
        metric = REGISTRY.get(full_name)
        if getattr(metric, "__module__", "turnwise").startswith("turnwise"):
            found[metric.spec.name] = metric
    return found
