"""Events with nothing odd about them are read in one go: what comes out is what reading them step by step gives."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.interpreting import capture_events
from turnwise.interpreting.capture_events import LATEST, events_of
from turnwise.interpreting.records import AUDIO, DELTA, TEXT, Event

Json = dict[str, Any]

HEARD: Json = {
    "seq": 0,
    "direction": "in",
    "type": AUDIO,
    "t_arrived_ms": 1300.5,
    "participant_id": "patient",
    "response_id": "r1",
    "audio": {"duration_ms": 200.0},
    "t_audible_ms": 1400.0,
    "audible_ms": 150.0,
}
READ: Json = {
    "seq": 1,
    "direction": "in",
    "type": DELTA,
    "t_arrived_ms": 1310.5,
    "participant_id": "patient",
    "response_id": "r1",
    "text": "It ",
}


def test_what_is_plain_is_read_as_it_stands() -> None:
    notes: Counter[str] = Counter()
    found, sent = events_of([HEARD, READ], None, {"t1"}, notes)
    # Heard from 1400 for 150 of its 200 ms: the rest was cut.
    assert found == [
        Event(0, AUDIO, 1300.5, "patient", None, "r1", "", 1400.0, 1550.0),
        Event(1, DELTA, 1310.5, "patient", None, "r1", "It ", None, None),
    ]
    assert all(type(event) is Event for event in found)
    assert (sent, notes) == ({}, {})


@pytest.mark.parametrize("event", [HEARD, READ])
def test_plain_events_are_read_in_one_go(event: Json) -> None:
    assert capture_events._plain(event) == events_of([event], None, set(), Counter())[0][0]


LENGTHS = [{"duration_ms": length} for length in (5, -5.0, None)]
ODD = st.sampled_from(
    [None, True, False, 0, 7, -1, -1.0, 0.0, 12.5, LATEST, LATEST * 2, "", "t1", " y ", "out", TEXT, [], {}, *LENGTHS]
)
FIELD = st.sampled_from([*HEARD, "text", "turn_id", "item_id", "t_sent_ms", "raw"])
CHANGES = st.lists(st.tuples(st.booleans(), FIELD, st.booleans(), ODD), max_size=4)


@given(CHANGES)
def test_odd_events_are_read_step_by_step(changes: list[tuple[bool, str, bool, Any]]) -> None:
    """Every change of a field of either event: the same events, the same notes, whichever way they are read."""
    lines = deepcopy([HEARD, READ])
    for second, name, gone, value in changes:
        if gone and name != "seq":  # which every line has when it has been read
            lines[second].pop(name, None)
        else:
            lines[second][name] = value
    at_once, step_by_step = Counter[str](), Counter[str]()
    found = events_of(deepcopy(lines), 5000.0, {"t1"}, at_once)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capture_events, "_plain", lambda event: None)
        expected = events_of(deepcopy(lines), 5000.0, {"t1"}, step_by_step)
    assert repr((found, at_once)) == repr((expected, step_by_step))  # 0 is not 0.0
