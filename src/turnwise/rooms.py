"""The rooms there are, by name; a room is imported when it is used."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING

from turnwise.kernel.errors import UsageError, near_misses

if TYPE_CHECKING:
    from turnwise.engine.suite import Suite

ROOMS = {
    "dialogue": "turnwise.dialogue",
    "assistant": "turnwise.assistant",
    "translation": "turnwise.translation",
    "duplex": "turnwise.duplex",
    "interpreting": "turnwise.interpreting",
}


def check_room(name: str, known: Collection[str], where: str | None = None) -> None:
    """Refuse a room that does not exist."""
    if name not in known:
        remedy = near_misses(name, known) or "turnwise run --help lists the rooms"
        raise UsageError(f"there is no room {name!r}", where=where, expected=", ".join(sorted(known)), remedy=remedy)


def get_suite(name: str) -> Suite:
    """The suite of a room."""
    check_room(name, ROOMS)
    suite: Suite = import_module(f"{ROOMS[name]}.suite").SUITE
    return suite


def register_metrics() -> None:
    """Make the metrics of all rooms known to the registry, by name only."""
    for package in ROOMS.values():
        import_module(f"{package}.metrics")
