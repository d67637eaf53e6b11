"""Mu-law (ITU-T G.711): the 8-bit samples of the telephone network, from and to PCM16.

Both directions are one look-up in a table, because a caller's frame is coded fifty times a second per participant.
Nothing here resamples: the code has no rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BIAS = 132
"""Added to a magnitude before its segment is sought: 33 in the 14-bit numbers of G.711, 132 in 16 bits."""
LOUDEST = 32767 - BIAS
"""Magnitudes above this are clipped; a louder one would leave the last segment."""


def encode(pcm: bytes) -> bytes:
    """PCM16 little-endian as mu-law, one byte per sample."""
    coded: bytes = _CODES[np.frombuffer(pcm, dtype="<u2")].tobytes()
    return coded


def decode(coded: bytes) -> bytes:
    """Mu-law as PCM16 little-endian, two bytes per sample."""
    return _LEVELS[np.frombuffer(coded, dtype=np.uint8)].tobytes()


def _codes() -> NDArray[np.uint8]:
    """The code of each 16-bit sample, in the order of the sample's bits read as an unsigned number.

    With m = min(|x|, 32635) + 132: segment s = floor(log2 m) - 7, step q = (m >> (s + 3)) mod 16; the code is the
    complement of sign * 128 + s * 16 + q (the line carries every bit inverted).
    """
    sample = np.arange(1 << 16, dtype=np.int32)
    sample[1 << 15 :] -= 1 << 16
    magnitude = np.minimum(np.abs(sample), LOUDEST) + BIAS
    # frexp gives the exponent exactly, where a logarithm would have to be trusted at the powers of two.
    segment = np.frexp(magnitude.astype(np.float64))[1].astype(np.int32) - 8
    step = (magnitude >> (segment + 3)) & 0xF
    code: NDArray[np.uint8] = (~(((sample < 0) << 7) | (segment << 4) | step) & 0xFF).astype(np.uint8)
    return code


def _levels() -> NDArray[np.int16]:
    """The sample each code stands for: the middle of its step, (8 q + 132) 2^s - 132 with the sign of its first bit."""
    code = ~np.arange(1 << 8, dtype=np.int32) & 0xFF
    level = ((((code & 0xF) << 3) + BIAS) << ((code >> 4) & 0x7)) - BIAS
    signed: NDArray[np.int16] = np.where(code & 0x80, -level, level).astype("<i2")
    return signed


_CODES = _codes()
_LEVELS = _levels()
