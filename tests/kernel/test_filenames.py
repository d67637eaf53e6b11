"""Names of anything as names of files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.kernel.filenames import LONGEST_BYTES, free_name, plain_name


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("patient", "patient"),
        ("8:acs:1/2", "8_acs_1_2"),
        ("../../etc", "_.._etc"),
        ("..", "_"),
        ("", "_"),
        ("dr. Ångström", "dr._Ångström"),
        ("患者", "患者"),
        ("x" * 300, "x" * 120),
        ("患" * 100, "患" * 40),  # three bytes each
    ],
)
def test_a_name_that_any_file_system_takes(name: str, plain: str) -> None:
    assert plain_name(name) == plain


@given(st.text())
def test_whatever_it_was_called(name: str) -> None:
    plain = plain_name(name)
    assert 0 < len(plain.encode()) <= LONGEST_BYTES
    assert not set(plain) & set('/\\:*?"<>|\0 \n')
    assert not plain.startswith(".")


def test_no_two_are_the_same() -> None:
    taken: set[str] = set()
    names = []
    for name in ("A", "a", "a", "b"):
        names.append(free_name(plain_name(name), taken.__contains__))
        taken.add(names[-1].casefold())
    assert names == ["A", "a_2", "a_3", "b"]
