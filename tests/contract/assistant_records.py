"""Turns for the contract of the assistant room: random ones, and exemplary ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import strategies as st

from turnwise.assistant.records import Chunk, Turn

CITED = "According to the Attendance Policy, managers document every absence and escalate the third one to HR."
PERFECT = " ".join(
    [
        "Got it, and thanks for telling me.",
        CITED,
        "I would like to understand a little better what has happened before I say more. " * 6,
        "Would you like me to schedule a call for you?",
    ]
)
"""Acknowledges, cites word for word, is long enough, suggests one action, asks, and gives no guidance yet."""
FREE = {"processing_time_ms": 0.0, "tokens": 0.0, "cost": 0.0}


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """Nothing here is slow."""


# --- random turns -------------------------------------------------------------------------------------------

QUERIES = [
    *("", " ", "My employee didn't show up", "What is the overtime rule?", "Is Charlie allowed to swap shifts?"),
    *("うちの従業員が来ません", "OUR TEAM IS LATE", "What Is The Policy On Leave Here?", "who is on call?"),
]
REPLIES = [
    *(
        "",
        " \n",
        "ok",
        "That's a tough situation.",
        "Per our policy, call them.",
        PERFECT,
        "ポリシーによると、電話してください。",
    ),
    *(
        "You should call the employee. Would you also like me to draft a follow-up email?",
        "Policy: attendance\n1. Wait",
    ),
    *("Got it. Here's what I would do. Next steps: none", "per our per our per our", "word " * 120, "a" * 300),
    *("According to the\nAttendance Policy, shifts count. Per our Leave policy, days count.", "🙂 ’ok’ — \u2028?"),
]
CHUNKS = [
    *(
        "",
        "x",
        "Managers document every absence. They call first.",
        CITED,
        "猫がマットに座った。",
        "Policy: attendance",
    ),
    "Shifts count.\n\nDays count.\n- and so do hours",
]

_similarities = st.none() | st.floats(-0.5, 1.5) | st.sampled_from([0.0, 0.5, 1.0])
_chunks = st.builds(Chunk, st.sampled_from(CHUNKS) | st.text(max_size=12), st.sampled_from(["", "A"]), _similarities)
_amounts = st.none() | st.integers(0, 5000).map(float) | st.floats(0, 5000)


@st.composite
def _turns(draw: st.DrawFn, number: int) -> Turn:
    """Any field missing or empty."""
    return Turn(
        session_id=draw(st.sampled_from(["s1", "s2", "日本"])),
        turn=number,
        version=draw(st.sampled_from(["", "fc26922"])),
        query=draw(st.none() | st.sampled_from(QUERIES) | st.text(max_size=12)),
        response=draw(st.none() | st.sampled_from(REPLIES) | st.text(max_size=40)),
        chunks=draw(st.none() | st.lists(_chunks, max_size=3).map(tuple)),
        processing_time_ms=draw(_amounts),
        is_first_response=draw(st.none() | st.booleans()),
        scenario=draw(st.sampled_from(["", "attendance"])),
        metadata=draw(st.just({}) | st.just({"site": "north"})),
        tokens=draw(_amounts),
        cost=draw(_amounts),
    )


@st.composite
def records(draw: st.DrawFn, min_size: int = 0) -> list[Turn]:
    """A few turns in any order."""
    return [draw(_turns(number)) for number in range(draw(st.integers(min_size, 4)))]


# --- exemplary turns ----------------------------------------------------------------------------------------


@cache
def exemplary() -> tuple[Turn, ...]:
    """A first reply that asks, as it should, and a second one that has everything."""
    common: dict[str, Any] = {"response": PERFECT, "chunks": (Chunk(CITED, "Attendance Policy", 1.0),), **FREE}
    return (
        Turn(session_id="s", turn=1, query="My employee didn't show up", is_first_response=True, **common),
        Turn(session_id="s", turn=2, query="What now?", is_first_response=False, **common),
    )
