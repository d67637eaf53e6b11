"""From names to metrics with their settings: which ones a run uses, with the inputs of derived ones pulled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from turnwise.kernel.derived import Derived, When
from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import Metric, MetricSpec, resolve_settings, signed_values
from turnwise.kernel.registry import REGISTRY, AnyMetric, Registry
from turnwise.kernel.signature import digest, signature


@dataclass(frozen=True, slots=True)
class Selection:
    """The metrics of a run: measured ones, and derived ones with their signatures, inputs first."""

    metrics: list[Metric] = field(default_factory=list)
    derived: list[tuple[Derived, str]] = field(default_factory=list)

    @property
    def signatures(self) -> list[tuple[str, str]]:
        """(full name, signature) of every metric, in the order of their numbers in the run."""
        measured = [(metric.spec.full_name, metric.signature) for metric in self.metrics]
        return measured + [(derived.spec.full_name, sign) for derived, sign in self.derived]

    @property
    def plain_signatures(self) -> list[tuple[str, str]]:
        """The same for scores without a variant."""
        measured = [(metric.spec.full_name, metric.signed_as("", metric.signature)) for metric in self.metrics]
        return measured + [(derived.spec.full_name, sign) for derived, sign in self.derived]


def select_metrics(
    room: str,
    names: Sequence[str] | None = None,
    *,
    profile: str = "turnwise",
    overrides: Mapping[str, str] | None = None,
    context: Mapping[str, str] | None = None,
    carried: Mapping[str, int] | None = None,
    registry: Registry = REGISTRY,
) -> Selection:
    """The named metrics of a room, or all but the optional ones whose needs no record carries."""
    if names is None:
        found = [registry.get(name) for name in registry.names(room)]
        chosen = [metric for metric in found if _wanted(metric.spec, profile, carried)]
    else:
        chosen = [registry.get(name if "/" in name else f"{room}/{name}") for name in dict.fromkeys(names)]
    ordered: dict[str, AnyMetric] = {}
    for metric in chosen:
        _add_with_inputs(metric, ordered, registry, ())
    settings = resolve_settings([m.spec for m in ordered.values()], profile, overrides or {}, context or {})
    selection = Selection()
    signs: dict[str, Callable[[str], str]] = {}
    for name, metric in ordered.items():
        if isinstance(metric, Derived):
            metric = metric.settled(settings[name])
            made_of = digest([signs[f"{room}/{i.metric}"](i.variant) for i in metric.inputs])
            told = {**signed_values(metric.spec, metric.values), **metric.context, "inputs": made_of}
            sign = signature(name, metric.spec.version, profile, told)
            selection.derived.append((metric, sign))
            signs[name] = partial(_always, sign)
        else:
            made = metric(settings[name])
            selection.metrics.append(made)
            signs[name] = partial(made.signed_as, signature=made.signature)
    return selection


def _always(signature: str, variant: str) -> str:
    """The signature of a derived metric is that of all its variants."""
    return signature


def _wanted(spec: MetricSpec, profile: str, carried: Mapping[str, int] | None) -> bool:
    if spec.profiles and profile not in spec.profiles:
        return False
    return not spec.optional or carried is None or all(carrying(carried, name) for name in spec.needs)


def carrying(fields: Mapping[str, int], need: str) -> int:
    """How many records can carry a needed field, or one of several that will do (`a|b`), at most."""
    return sum(fields.get(name, 0) for name in need.split("|"))


def _add_with_inputs(
    metric: AnyMetric, ordered: dict[str, AnyMetric], registry: Registry, above: tuple[str, ...]
) -> None:
    name = metric.spec.full_name
    if name in above:
        raise UsageError("metrics are made of each other", found=" -> ".join((*above, name)))
    if isinstance(metric, Derived):
        for needed in metric.inputs:
            found = registry.get(f"{metric.spec.room}/{needed.metric}")
            late = isinstance(found, Derived) and found.when is When.AFTER_ROLLUP
            if late and metric.when is When.PER_UNIT:
                raise UsageError(f"{name} is made per unit, but its input {needed.metric} exists only after roll-up")
            _add_with_inputs(found, ordered, registry, (*above, name))
    ordered.setdefault(name, metric)
