"""Events with nothing odd about them are read in one go: what comes out is what reading them step by step gives."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.interpreting.capture_events import events_of, lines_of
from turnwise.interpreting.plain_events import plain_events
from turnwise.interpreting.records import AUDIO, DELTA, LATEST, TEXT, Event, Sent

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


SENT: Json = {"seq": 2, "direction": "out", "t_sent_ms": 500.5, "type": "audio_sent", "turn_id": "t1"}
DONE: Json = {"seq": 3, "direction": "in", "t_arrived_ms": 1900.0, "type": "response_done", "raw": {"kind": "Done"}}
Read = tuple[list[Event], dict[str, list[Sent]]]


def written(*lines: Json) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def step_by_step(data: bytes, notes: Counter[str]) -> Read:
    return events_of(lines_of(data, notes), 5000.0, {"t1"}, notes)


def test_what_is_plain_is_read_as_it_stands() -> None:
    read = plain_events(written(DONE, READ, SENT, HEARD))
    assert read is not None
    found, sent = read
    # In the order of their arrival. Heard from 1400 for 150 of its 200 ms: the rest was cut.
    assert found == [
        Event(0, AUDIO, 1300.5, "patient", None, "r1", "", 1400.0, 1550.0),
        Event(1, DELTA, 1310.5, "patient", None, "r1", "It ", None, None),
    ]
    assert all(type(event) is Event for event in found)
    assert sent == {"t1": [(2, 500.5)]}


def test_no_events_at_all() -> None:
    assert plain_events(b"") is None
    assert step_by_step(b"", Counter()) == ([], {})


@pytest.mark.parametrize(
    "data",
    [
        b"not JSON\n" + written(HEARD),
        written(HEARD)[:-30],
        written(HEARD) + b"\n" + written(READ),
        written(HEARD).replace(b"\n", b",") + written(READ),
        b"[]\n" + written(HEARD),
        b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n" + written(HEARD),
        written(HEARD).replace(b"patient", b"pat\xe9nt"),
        written({**HEARD, "raw": "patient"}).replace(b'"patient"}', b'"pat\xe9nt"}'),
        written({**HEARD, "t_arrived_ms": float("nan")}),
        written({**HEARD, "seq": -5}),
        written({**HEARD, "seq": 10**30}),
        written({**HEARD, "seq": None, "audio": None}),
    ],
    ids=[
        *("text", "cut off", "blank line", "two on a line", "list", "deep", "not UTF-8", "raw is not UTF-8", "NaN"),
        *("negative number", "huge number", "no audio"),
    ],
)
def test_files_that_are_odd_are_left_to_the_careful_way(data: bytes) -> None:
    assert plain_events(data) is None


def test_two_halves_of_an_event_on_two_lines_are_none() -> None:
    halves = b'{"type": "translated_delta", "t_arrived_ms": 5000, "response_id": "r1"\n"text": "spliced"}\n'
    two = b'{"type": "x", "t_arrived_ms": 1},{"type": "x", "t_arrived_ms": 1}\n'  # as many as there are lines, in all
    data = written(HEARD) + halves + two
    assert plain_events(data) is None
    notes: Counter[str] = Counter()
    found, _ = step_by_step(data, notes)
    assert [event.number for event in found] == [0]
    assert notes == {"a line of events.jsonl that is no JSON object, left out": 3}


def test_the_last_of_two_fields_with_one_name_counts() -> None:
    data = written(HEARD).replace(b'"seq": 0', b'"seq": 7, "seq": 9')
    read = plain_events(data)
    assert read == step_by_step(data, Counter())
    assert read is not None
    assert read[0][0].number == 9


LENGTHS = [{"duration_ms": length} for length in (5, -5.0, None)]
ODD = st.sampled_from(
    [None, True, False, 0, 7, -1, -1.0, 0.0, 12.5, LATEST, LATEST * 2, "", "t1", " y ", "out", TEXT, [], {}, *LENGTHS]
)
FIELD = st.sampled_from([*HEARD, "text", "turn_id", "item_id", "t_sent_ms", "raw"])
CHANGES = st.lists(st.tuples(st.integers(0, 3), FIELD, st.booleans(), ODD), max_size=4)


@given(CHANGES)
def test_what_is_read_in_one_go_is_what_step_by_step_gives(changes: list[tuple[int, str, bool, Any]]) -> None:
    """Whatever is changed about the lines: read in one go there is nothing to note, and the same events come out."""
    lines = deepcopy([HEARD, READ, SENT, DONE])
    for place, name, gone, value in changes:
        if gone:
            lines[place].pop(name, None)
        else:
            lines[place][name] = value
    data = written(*lines)
    read = plain_events(data)
    if read is not None:
        notes: Counter[str] = Counter()
        assert repr(read) == repr(step_by_step(data, notes))  # 0 is not 0.0
        assert not notes
