"""Texts in pieces, and two of them mixed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.live.pieces import mixed, pieces_of


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It hurts, very  much.", ["It ", "hurts, ", "very  ", "much."]),
        ("我头疼。", ["我", "头", "疼", "。"]),
        ("我用 iPhone 打电话", ["我", "用 ", "iPhone ", "打", "电", "话"]),
        ("  ", []),
        ("", []),
    ],
)
def test_the_pieces_of_a_text(text: str, pieces: list[str]) -> None:
    assert pieces_of(text) == pieces


@given(st.text())
def test_pieces_are_the_text(text: str) -> None:
    assert "".join(pieces_of(text)) == text.strip()


def test_two_of_the_old_after_each_of_the_new() -> None:
    new, old = pieces_of("sorry, very much"), pieces_of("my head hurts")
    assert "".join(mixed(new, old)) == "sorry, my head very hurts my much head hurts"


def test_what_both_have_tells_nothing() -> None:
    """Of "my head hurts a bit" only "a" and "bit" are not in the new text, whatever their case and punctuation."""
    new, old = pieces_of("My head, hurts"), pieces_of("my head hurts a bit.")
    assert "".join(mixed(new, old)).split() == ["My", "a", "bit.", "head,", "a", "bit.", "hurts", "a", "bit."]


def test_scripts_without_spaces() -> None:
    assert "".join(mixed(pieces_of("脖子"), pieces_of("头疼"))) == "脖头疼子头疼"


def test_texts_that_are_the_same_and_texts_that_are_none() -> None:
    same = pieces_of("yes indeed")
    assert "".join(mixed(same, same)) == "yes yes indeed indeed yes indeed"
    assert mixed(same, []) == same
    assert mixed([], same) == []
