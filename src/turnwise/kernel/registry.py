"""Find a metric by name without importing it.

Rooms hand in a table of names and import paths; packages add their own through the entry-point group
`turnwise.metrics` (`"room/name" = "package.module:Class"`); a decorator registers a class that is already there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeVar

from turnwise.kernel.derived import Derived
from turnwise.kernel.errors import TurnwiseError, UsageError, near_misses
from turnwise.kernel.metric import Metric

ENTRY_POINT_GROUP = "turnwise.metrics"

AnyMetric = type[Metric] | Derived
M = TypeVar("M", type[Metric], Derived)


class DuplicateMetric(TurnwiseError):
    """Two metrics of one room want the same name."""


class BrokenPlugin(TurnwiseError):
    """A registered metric cannot be imported or is not a metric."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Where a metric can be imported from."""

    path: str
    origin: str


class Registry:
    """Metrics by full name, `room/name`."""

    def __init__(self) -> None:
        self._entries: dict[str, Placeholder | AnyMetric] = {}
        self._plugins_read = False

    def add_lazy(self, room: str, table: Mapping[str, str], origin: str = "turnwise") -> None:
        """Register names with their import paths (`package.module:Attribute`); nothing is imported."""
        for name, path in table.items():
            self._add(f"{room}/{name}", Placeholder(path, origin))

    def register(self, metric: M) -> M:
        """Register a metric that is already imported; usable as a decorator."""
        self._add(metric.spec.full_name, metric)
        return metric

    def names(self, room: str | None = None) -> list[str]:
        """Full names in the order of registration, without importing a metric."""
        self._read_plugins()
        return [name for name in self._entries if room is None or name.startswith(f"{room}/")]

    def get(self, full_name: str) -> AnyMetric:
        """The metric; imports it at first use."""
        self._read_plugins()
        entry = self._entries.get(full_name)
        if entry is None:
            raise self._unknown(full_name)
        if isinstance(entry, Placeholder):
            entry = self._entries[full_name] = _import_metric(full_name, entry)
        return entry

    def with_own(self, metrics: Iterable[AnyMetric]) -> Registry:
        """A registry that knows these as well, in front of all others: a run's own, which nobody installed."""
        found = Registry()
        self._read_plugins()
        found._entries = {**self._entries, **{metric.spec.full_name: metric for metric in metrics}}
        found._plugins_read = True
        return found

    def _add(self, full_name: str, entry: Placeholder | AnyMetric) -> None:
        present = self._entries.get(full_name)
        if present is not None and _path(present) != _path(entry):
            raise DuplicateMetric(
                f"two metrics are called {full_name}",
                found=f"{_path(present)} and {_path(entry)}",
                remedy="rename one of them, or uninstall the package that brings it",
            )
        if present is None or not isinstance(entry, Placeholder):  # a class that was written anew replaces itself
            self._entries[full_name] = entry

    def _read_plugins(self) -> None:
        if self._plugins_read:
            return
        for entry in entry_points(group=ENTRY_POINT_GROUP):
            room, slash, name = entry.name.partition("/")
            origin = entry.dist.name if entry.dist else "an installed package"
            if not slash or not room or not name:
                raise BrokenPlugin(
                    f"{origin} registers a metric as {entry.name!r}",
                    expected='an entry point called "room/name", e.g. "dialogue/response_length"',
                    remedy=f"fix the package, or uninstall it: pip uninstall {origin}",
                )
            self.add_lazy(room, {name: entry.value}, origin)
        self._plugins_read = True

    def _unknown(self, full_name: str) -> UsageError:
        room, _, name = full_name.partition("/")
        known = [n.partition("/")[2] for n in self.names(room)]
        return UsageError(
            f"there is no metric {name!r} in the room {room!r}",
            expected=", ".join(known) or "no metric: the room has none",
            remedy=near_misses(name, known) or f"turnwise metrics --room {room} lists them",
        )


def _path(entry: Placeholder | AnyMetric) -> str:
    if isinstance(entry, Placeholder):
        return entry.path
    if isinstance(entry, Derived):
        return f"derived:{entry.spec.full_name}:{id(entry)}"
    return f"{entry.__module__}:{entry.__qualname__}"


def _import_metric(full_name: str, placeholder: Placeholder) -> AnyMetric:
    module, _, attribute = placeholder.path.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:  # a plug-in may raise anything; its name is what the user needs
        raise BrokenPlugin(
            f"the metric {full_name} cannot be imported from {placeholder.path}",
            where=f"package {placeholder.origin}",
            found=f"{type(error).__name__}: {error}",
            remedy=f"reinstall or uninstall {placeholder.origin}",
        ) from error
    is_metric = isinstance(found, Derived) or (isinstance(found, type) and issubclass(found, Metric))
    name = getattr(getattr(found, "spec", None), "full_name", None)
    if not is_metric or name != full_name:
        raise BrokenPlugin(
            f"{placeholder.path} is not the metric {full_name}",
            where=f"package {placeholder.origin}",
            found=name or repr(found),
            expected=f"a subclass of turnwise.Metric whose spec says {full_name}",
        )
    metric: AnyMetric = found
    return metric


REGISTRY = Registry()
"""The one registry of the process; rooms add to it when they are imported."""


def register(metric: M) -> M:
    """Register a metric class in the process-wide registry: `@turnwise.register`."""
    return REGISTRY.register(metric)
