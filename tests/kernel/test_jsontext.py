"""JSON texts: many vectors in one call are written as each alone; plain text is left as it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.kernel.jsontext import clean, dumps, dumps_vectors

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)


@given(st.lists(st.lists(NUMBERS, max_size=4).map(tuple)))
def test_many_vectors_are_written_as_each_alone(vectors: list[tuple[float, ...]]) -> None:
    assert dumps_vectors(vectors) == [dumps(vector) for vector in vectors]


def test_the_numbers_of_numpy_are_numbers() -> None:
    assert dumps_vectors([(np.float64(0.5), np.int64(2)), (1.0,)]) == ["[0.5,2]", "[1.0]"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [("plain", "plain"), ("a\x00b", "a\\x00b"), ("né", "né"), ("half \ud800", "half \\ud800"), ("", "")],
)
def test_text_that_any_database_can_hold(text: str, kept: str) -> None:
    assert clean(text) == kept
