"""From what a user types for a side of a comparison to the runs that are meant, and to the items of them that count.

A side is a run's name (as `turnwise show` takes it), `version:X`, `system:NAME`, `system:NAME@VERSION`, or several of
these with commas between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select

from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.jsontext import dumps, loads
from turnwise.store import schema
from turnwise.store.run import FINISHED, Run
from turnwise.store.store import Store

VERSION = "version"
SYSTEM = "system"
LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A run, or the items of one version in it."""

    store: Store
    run: Run
    version: str | None = None
    """Only items of this version: their own `version` where the data give them one, else the run's."""


def choose(store: Store, text: str) -> list[Chosen]:
    """The runs that a side names, the oldest first."""
    found: dict[int, Chosen] = {}
    for part in _parts(store, text):
        if not part:
            raise UsageError(f"{text!r} names no run before or after a comma", expected="RUN, or RUN,RUN")
        for chosen in _choose_one(store, part):
            before = found.get(chosen.run.key)
            whole = before is not None and before.version != chosen.version
            found[chosen.run.key] = replace(chosen, version=None) if whole else chosen
    return [found[key] for key in sorted(found)]


def _parts(store: Store, text: str) -> list[str]:
    """What stands between the commas, unless they belong to the name of a system or version."""
    parts = [one.strip() for one in text.split(",")]
    kind, _, name = text.strip().partition(":")
    if len(parts) > 1 and kind in (VERSION, SYSTEM):
        runs = _finished(store)
        if kind == VERSION:
            whole = name in {run.version for run in runs} or bool(_runs_with_items(store, name))
        else:
            whole = name in {one for run in runs for one in (run.system, f"{run.system}@{run.version}")}
        if whole:
            return [text.strip()]
    return parts


def choose_both(store: Store, a: str, b: str, room: str | None = None) -> tuple[list[Chosen], list[Chosen]]:
    """The runs of both sides, which have to be of one room."""
    sides = [choose(store, text) for text in (a, b)]
    rooms = [_rooms(side) for side in sides]
    common = [name for name in rooms[0] if name in rooms[1]]
    if room is not None:
        common = [name for name in common if name == room]
    if len(common) != 1:
        raise UsageError(
            "A and B are not runs of one room" if not common else "A and B have runs of several rooms",
            found=f"{', '.join(rooms[0])} (A) and {', '.join(rooms[1])} (B)",
            expected=f"runs of {room}" if room else None,
            remedy=f"choose one: --room {common[0]}" if common else "turnwise runs lists what there is",
        )
    first, second = ([one for one in side if one.run.suite == common[0]] for side in sides)
    return first, second


def one_room(chosen: Sequence[Chosen], what: str, room: str | None = None) -> list[Chosen]:
    """The runs of the one room that is meant."""
    rooms = _rooms(chosen)
    if room is None and len(rooms) > 1:
        raise UsageError(f"{what} has runs of several rooms", found=", ".join(rooms), remedy=f"--room {rooms[0]}")
    kept = [one for one in chosen if room is None or one.run.suite == room]
    if not kept:
        raise UsageError(f"{what} has no run of the room {room}", found=", ".join(rooms) or "no run at all")
    return kept


def _choose_one(store: Store, part: str) -> list[Chosen]:
    kind, colon, name = part.partition(":")
    if colon and kind == VERSION:
        return _of_version(store, name)
    if colon and kind == SYSTEM:
        return _of_system(store, name)
    return [Chosen(store, store.run(part))]


def _of_version(store: Store, version: str) -> list[Chosen]:
    runs = _finished(store)
    holding = _runs_with_items(store, version)
    found = [Chosen(store, run, version) for run in runs if run.version == version or run.key in holding]
    if not found:
        raise _nothing(f"version:{version}", version, (run.version for run in runs), "no finished run has the version")
    return found


def _of_system(store: Store, name: str) -> list[Chosen]:
    runs = _finished(store)
    found = [Chosen(store, run) for run in runs if run.system == name]
    if not found and "@" in name:  # a system may have an @ in its name, so the whole name is tried first
        system, _, version = name.rpartition("@")
        of_version = {chosen.run.key: chosen for chosen in _versions_of(store, runs, version)}
        found = [of_version[run.key] for run in runs if run.system == system and run.key in of_version]
    if not found:
        known = [run.system for run in runs] + [f"{run.system}@{run.version}" for run in runs if run.version]
        raise _nothing(f"system:{name}", name, known, "no finished run has the system")
    return found


def _versions_of(store: Store, runs: Sequence[Run], version: str) -> list[Chosen]:
    holding = _runs_with_items(store, version)
    return [Chosen(store, run, version) for run in runs if run.version == version or run.key in holding]


def _runs_with_items(store: Store, version: str) -> set[int]:
    """Runs that hold items whose own version is this one, such as the two sides of an A/B test in one log."""
    written = dumps({VERSION: version})[1:-1]
    table = schema.items
    query = select(table.c.run, table.c.dimensions).where(table.c.dimensions.contains(written, autoescape=True))
    with store.reading() as connection:  # SQLite looks at letters without their case
        return {run for run, text in connection.execute(query.distinct()) if loads(text).get(VERSION) == version}


def _finished(store: Store) -> list[Run]:
    return [run for run in reversed(store.runs()) if run.status == FINISHED]


def _rooms(side: Iterable[Chosen]) -> list[str]:
    return list(dict.fromkeys(chosen.run.suite for chosen in side))


def _nothing(selector: str, name: str, known: Iterable[str], why: str) -> UsageError:
    names = [one for one in dict.fromkeys(known) if one]
    return UsageError(
        f"{selector} selects no run: {why} {name!r}",
        expected=", ".join(names[:20]) or "no run that has finished",
        remedy=near_misses(name, names) or "turnwise runs lists them",
    )
