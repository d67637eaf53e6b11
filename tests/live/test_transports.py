"""What every protocol promises: nothing raises, what one half writes the other reads, nothing documented is lost."""

from __future__ import annotations

import copy
import json
import timeit
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.live.documented import BASE64, DOCUMENTED
from turnwise.kernel.errors import UsageError
from turnwise.live.messages import AUDIO, CONTROL, INVALID, STOP, Inbound
from turnwise.live.transports import TRANSPORTS, transport_named
from turnwise.live.transports.base import FRAME_MS, Transport

NAMES = sorted(TRANSPORTS)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just(BASE64),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def call(name: str, *participants: str) -> Transport:
    return transport_named(name)(participants or ("patient",))


def frame_of(transport: Transport, seed: int = 0) -> bytes:
    samples = np.random.default_rng(seed).integers(-32768, 32768, transport.out_rate * FRAME_MS // 1000)
    return samples.astype("<i2").tobytes()


def answers(transport: Transport, message: Any) -> list[Inbound]:
    """Read a message, and let everything about it be heard and cut."""
    said = transport.read(message)
    for one in said:
        assert isinstance(json.dumps(transport.heard("patient", one)), str)
        transport.heard(None, Inbound(STOP, response_id=one.response_id, cut_ms=10))
    return said


def test_an_unknown_protocol_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="acs, openai-realtime, twilio"):
        transport_named("twillio")


@pytest.mark.parametrize("name", NAMES)
@given(message=json_values)
def test_no_json_value_raises(name: str, message: Any):
    assert all(one.kind in {CONTROL, INVALID} for one in answers(call(name), message))
    call(name).system_read(message)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_no_documented_message_with_a_wrong_value_raises(name: str, data: st.DataObject):
    message = copy.deepcopy(data.draw(st.sampled_from([message for message, _ in DOCUMENTED[name]])))
    for _ in range(data.draw(st.integers(1, 3))):
        holder: Any = message
        while isinstance(holder, dict | list) and holder:
            key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
            if not isinstance(holder[key], dict | list) or data.draw(st.booleans()):
                holder[key] = data.draw(json_values)
                break
            holder = holder[key]
    transport = call(name)
    for one in answers(transport, message):
        assert (one.problem is None) == (one.kind != INVALID)
        assert len(one.audio) % 2 == 0
    transport.system_read(message)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("message", [None, [], "media", 3, True, [{"kind": "AudioData"}]])
def test_what_is_no_object_is_invalid(name: str, message: Any):
    [one] = call(name).read(message)
    assert (one.kind, one.problem) == (INVALID, "not an object")
    assert call(name).system_read(message) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_message_nested_a_thousand_deep_is_read(name: str):
    deep: Any = "x"
    for _ in range(1000):
        deep = {"inner": [deep]}
    for key in ("type", "kind", "event"):
        assert call(name).read({key: "unheard.of", "part": deep})[0].kind in {CONTROL, INVALID}


@pytest.mark.parametrize(
    ("name", "message", "kinds"),
    [(name, message, kinds) for name in NAMES for message, kinds in DOCUMENTED[name]],
    ids=lambda value: (
        str(value.get("kind") or value.get("Kind") or value.get("type") or value.get("event"))
        if isinstance(value, dict)
        else ""
    ),
)
def test_every_documented_message_is_understood_or_kept(name: str, message: dict[str, Any], kinds: list[str]):
    transport, before = call(name), copy.deepcopy(message)
    said = transport.read(message)
    assert [one.kind for one in said] == kinds
    assert message == before
    for one in said:
        kept = json.dumps(one.details)
        assert BASE64 not in kept
        assert "ek_abc" not in kept
        if one.kind == CONTROL and one.text is None:
            assert one.details == transport.kept(message)
            assert one.details.keys() >= message.keys() - {"audio", "delta"}


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_a_frame_is_that_of_json(name: str):
    one, other = call(name, 'dr. "Ångström"'), call(name, 'dr. "Ångström"')
    for attribute in ("stream_sid", "_started_ms"):
        if hasattr(one, attribute):
            setattr(other, attribute, getattr(one, attribute))
    silence = bytes(len(frame_of(one)))
    for number in range(120):
        pcm, silent = (silence, True) if number % 3 else (frame_of(one, number), False)
        frame = one.frame('dr. "Ångström"', pcm, 20.0 * number, silent)
        assert other.frame_text('dr. "Ångström"', pcm, 20.0 * number, silent) == json.dumps(frame)


@pytest.mark.parametrize("name", NAMES)
def test_the_system_hears_what_a_caller_says(name: str):
    caller, system = call(name, "patient"), transport_named(name)(["patient"])
    for message in caller.hello():
        assert system.system_read(message) == []
    pcm = frame_of(caller)
    [(participant, heard, _)] = system.system_read(json.loads(caller.frame_text("patient", pcm, 20.0, False)))
    assert participant == "patient"
    said, got = np.frombuffer(pcm, "<i2").astype(int), np.frombuffer(heard, "<i2").astype(int)
    if name == "twilio":
        # Half a step is 1/64 to 1/32 of the magnitude plus 132; the loudest, 32768, becomes 32124: 644 < 32900/32.
        assert np.all(np.abs(said - got) <= (np.abs(said) + 132) / 32)
    else:
        assert heard == pcm
    assert caller.decoded(caller.encoded(heard)) == heard


@pytest.mark.parametrize("name", NAMES)
def test_a_caller_hears_what_the_system_says(name: str):
    caller, system = call(name, "patient"), transport_named(name)([])
    for message in caller.hello():
        system.system_read(message)
    pcm = caller.decoded(caller.encoded(frame_of(caller)))
    messages = [*system.system_hello(), *system.system_audio("patient", pcm, "r-1")]
    messages += [*system.system_audio("patient", pcm, "r-1"), *system.system_stop("patient", "r-1", 5.0)]
    said = [one for message in messages for one in caller.read(json.loads(json.dumps(message)))]
    assert all(one.kind != INVALID for one in said)
    assert [one.audio for one in said if one.kind == AUDIO] == [pcm, pcm]
    assert {one.participant for one in said if one.kind in {AUDIO, STOP}} == {"patient"}
    assert [one.kind for one in said].count(STOP) == 1
    assert said[-1].kind == STOP
    if name != "twilio":
        assert {one.response_id for one in said if one.kind in {AUDIO, STOP}} == {"r-1"}


@pytest.mark.parametrize("name", NAMES)
def test_a_connection_is_named_by_nothing_secret(name: str):
    caller = call(name)
    words = json.dumps([*caller.hello(), *caller.goodbye()]).lower()
    assert not any(word in words for word in ("authorization", "bearer", "api_key", "secret", "token"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("silent", [True, False])
def test_frames_are_made_fast(name: str, silent: bool):
    """About 6 us of speech and 2 us of silence on one core; the bound is wide, since tests run beside others."""
    caller = call(name)
    pcm = bytes(len(frame_of(caller))) if silent else frame_of(caller)
    spent = min(timeit.repeat(lambda: caller.frame_text("patient", pcm, 1234.0, silent), number=200, repeat=7)) / 200
    assert spent < 60e-6
