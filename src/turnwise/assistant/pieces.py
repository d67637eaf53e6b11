"""What a judge can be shown of a turn, by the names that rubrics use.

History and context are lists in JSON: what is said in a turn cannot pass for a turn of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from turnwise.assistant.records import Turn
from turnwise.judge.records import Pieces
from turnwise.kernel.jsontext import dumps_clean

Histories = Mapping[str, Sequence[str]]
"""By the id of a turn, the exchanges before it, each as JSON."""


def turn_pieces(turn: Turn, before: Sequence[str]) -> Pieces:
    """The pieces of a turn, with what was said before it; None for what is not there, or was not recorded."""
    return {
        "history": f"[{','.join(before)}]" if before else None,
        "query": turn.query,
        "response": turn.response,
        "context": None if turn.chunks is None else dumps_clean([_passage(chunk.content()) for chunk in turn.chunks]),
        "feedback": _feedback(turn),
    }


def histories(turns: Iterable[Turn]) -> Histories:
    """Query and reply of the turns of the same session before each turn, oldest first.

    The number of a turn says which were before it, in whatever order they were recorded.
    """
    said: dict[str, list[str]] = {}
    found: dict[str, Sequence[str]] = {}
    for turn in sorted(turns, key=lambda one: one.turn):
        before = said.setdefault(turn.session_id, [])
        found[turn.id] = tuple(before)
        before.append(dumps_clean({"query": turn.query, "response": turn.response}))
    return found


def _passage(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """A retrieved passage as it was given to the assistant; how similar it is said to be is left out."""
    return {name: chunk[name] for name in ("title", "text") if name in chunk}


def _feedback(turn: Turn) -> str | None:
    notes = [turn.category, turn.improvement_notes] if turn.improvement_notes else []
    return ": ".join(filter(None, notes)) or None
