"""The rooms there are, by name; a room is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from turnwise.kernel.errors import UsageError, near_misses

if TYPE_CHECKING:
    from turnwise.engine.job import Suite

ROOMS = {"dialogue": "turnwise.dialogue"}


def get_suite(name: str) -> Suite:
    """The suite of a room."""
    if name not in ROOMS:
        raise UsageError(
            f"there is no room {name!r}", expected=", ".join(ROOMS), remedy=near_misses(name, ROOMS) or None
        )
    suite: Suite = import_module(f"{ROOMS[name]}.suite").SUITE
    return suite


def register_metrics() -> None:
    """Make the metrics of all rooms known to the registry, by name only."""
    for package in ROOMS.values():
        import_module(f"{package}.metrics")
