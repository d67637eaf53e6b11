"""Frames of a client, read back by the library's own parser."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, SERVER, Protocol

from turnwise.live.masked import MaskedFrames


@pytest.mark.parametrize("length", [0, 1, 125, 126, 1050, 65_535, 65_536, 200_000])
def test_a_message_arrives_as_it_was(length: int) -> None:
    text = ("åß☂" * length)[:length]
    payload = text.encode()
    reader = Protocol(SERVER, state=OPEN, max_size=None)
    reader.receive_data(MaskedFrames().frame(payload))
    [event] = reader.events_received()
    assert isinstance(event, Frame)
    assert (event.opcode, event.fin, bytes(event.data)) == (Opcode.TEXT, True, payload)


def test_every_message_has_a_key_of_its_own() -> None:
    frames = MaskedFrames()
    # 2 bytes of head, then the key; 3000 keys are more than are drawn at once.
    keys = [frames.frame(b"x")[2:6] for _ in range(3000)]
    assert len(set(keys)) > 2990  # of 2^32; that two of them are the same happens once in a thousand runs
