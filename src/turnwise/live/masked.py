"""Text messages as the frames of a WebSocket's client (RFC 6455, section 5.2): whole, and masked with a random key.

The library does the same; but it asks the system for a key each time, which takes longer than all else it does.
"""

from __future__ import annotations

import os
from struct import pack

from turnwise.kernel.extras import import_extra

_TEXT, _MASKED = 0x81, 0x80
"""A text in one frame; that it is masked."""
KEY_BYTES = 4
_KEYS_AT_ONCE = 1024


class MaskedFrames:
    """Makes frames of messages."""

    def __init__(self) -> None:
        self._apply_mask = import_extra("websockets.frames", "live", "calling a live system").apply_mask
        self._keys, self._place = b"", 0

    def frame(self, payload: bytes) -> bytes:
        """A text message, as UTF-8, in one frame."""
        length, key = len(payload), self._key()
        if length < 126:
            head = pack("!BB", _TEXT, _MASKED | length)
        elif length < 1 << 16:
            head = pack("!BBH", _TEXT, _MASKED | 126, length)
        else:
            head = pack("!BBQ", _TEXT, _MASKED | 127, length)
        masked: bytes = self._apply_mask(payload, key)
        return b"".join((head, key, masked))

    def _key(self) -> bytes:
        if self._place == len(self._keys):
            self._keys, self._place = os.urandom(KEY_BYTES * _KEYS_AT_ONCE), 0
        self._place += KEY_BYTES
        return self._keys[self._place - KEY_BYTES : self._place]
