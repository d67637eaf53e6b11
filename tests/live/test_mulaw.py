"""Mu-law against the tables of ITU-T G.711 (table 2a/G.711), built here from their steps and not from bit tricks."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import pytest

from turnwise.live.transports import mulaw


def decision_values() -> list[int]:
    """The 14-bit magnitudes at which a code begins: steps of 1, 15 of 2, then 16 each of 4, 8 ... 256."""
    values = [0, 1]
    for width in (2, 4, 8, 16, 32, 64, 128, 256):
        values += [values[-1] + width * n for n in range(1, 16 if width == 2 else 17)]
    return values


def levels() -> list[float]:
    """The magnitude a code stands for: 0 for the first, then the middle of its step."""
    edges = decision_values()
    return [0, *((edges[n] + edges[n + 1]) / 2 for n in range(1, 128))]


def test_the_steps_end_where_the_published_table_says():
    edges = decision_values()
    assert len(edges) == 129
    assert [edges[16 * n] for n in range(1, 9)] == [31, 95, 223, 479, 991, 2015, 4063, 8159]


def test_every_sample_gets_the_code_of_its_step():
    edges = decision_values()
    pcm = np.arange(-32768, 32768).astype("<i2")
    coded = mulaw.encode(pcm.tobytes())
    for sample, code in zip(range(-32768, 32768), coded, strict=True):
        # 16-bit samples are four times the 14-bit numbers of the table.
        step = min(bisect_right(edges, abs(sample) / 4) - 1, 127)
        assert code == (0x7F if sample < 0 else 0xFF) - step, sample


def test_every_code_stands_for_the_middle_of_its_step():
    decoded = np.frombuffer(mulaw.decode(bytes(range(256))), dtype="<i2")
    for code in range(256):
        sign, step = (1, 0xFF - code) if code >= 0x80 else (-1, 0x7F - code)
        assert decoded[code] == sign * 4 * levels()[step], code


@pytest.mark.parametrize(
    ("sample", "code"),
    [(0, 0xFF), (3, 0xFF), (4, 0xFE), (-1, 0x7F), (-4, 0x7E), (32767, 0x80), (-32768, 0x00), (1000, 0xCE)],
)
def test_known_codes(sample: int, code: int):
    # 1000/4 = 250: the segment 223 ... 479 has steps of 16 and 48 codes before it; 48 + 1 = 49 = 0xFF - 0xCE.
    assert mulaw.encode(np.array([sample], dtype="<i2").tobytes()) == bytes([code])


@pytest.mark.parametrize(("code", "sample"), [(0xFF, 0), (0x7F, 0), (0x80, 32124), (0x00, -32124), (0xCE, 988)])
def test_known_samples(code: int, sample: int):
    # 0xCE: step 49 is 239 ... 255 in 14 bits, its middle 247, times four 988.
    assert np.frombuffer(mulaw.decode(bytes([code])), dtype="<i2")[0] == sample


def test_what_was_decoded_codes_to_itself_but_for_the_negative_zero():
    coded = bytes(range(256))
    assert mulaw.encode(mulaw.decode(coded)) == coded.replace(b"\x7f", b"\xff")


def test_nothing_is_nothing():
    assert mulaw.encode(b"") == b""
    assert mulaw.decode(b"") == b""
