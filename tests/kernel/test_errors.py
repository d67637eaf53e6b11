"""Errors: what, where, found, expected, remedy; they cross process borders whole."""

from __future__ import annotations

import pickle
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.kernel.errors import InputError, StoreError, TurnwiseError, UsageError, near_misses, shorten
from turnwise.kernel.registry import BrokenPlugin, DuplicateMetric

KINDS = [TurnwiseError, InputError, UsageError, StoreError, BrokenPlugin, DuplicateMetric]
facts = st.none() | st.text(max_size=10)


def test_one_fact_per_line_and_only_those_that_are_known() -> None:
    error = InputError("line 3 is no JSON", where="a.jsonl", found="'{'", expected="an object", remedy="close it")
    assert error.message == (
        "line 3 is no JSON\n  where: a.jsonl\n  found: '{'\n  expected: an object\n  remedy: close it"
    )
    assert str(error) == error.message
    assert UsageError("no such room", remedy="").message == "no such room"
    assert UsageError("no such room", expected="dialogue").message == "no such room\n  expected: dialogue"


@pytest.mark.parametrize(
    ("kind", "code"), [(TurnwiseError, 1), (StoreError, 1), (BrokenPlugin, 1), (InputError, 2), (UsageError, 2)]
)
def test_exit_codes(kind: type[TurnwiseError], code: int) -> None:
    assert kind("x").exit_code == code


@pytest.mark.parametrize("kind", KINDS)
@given(st.text(max_size=10), facts, facts, facts, facts)
def test_an_error_comes_back_from_a_worker_as_it_was(
    kind: type[TurnwiseError],
    what: str,
    where: str | None,
    found: str | None,
    expected: str | None,
    remedy: str | None,
) -> None:
    error = kind(what, where=where, found=found, expected=expected, remedy=remedy)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.what, again.where, again.found, again.expected, again.remedy) == (
        what,
        where,
        found,
        expected,
        remedy,
    )
    assert str(again) == str(error)


def test_one_except_catches_all_of_them() -> None:
    assert all(issubclass(kind, TurnwiseError) for kind in KINDS)


KNOWN = ["slot_accuracy", "joint_goal_accuracy", "slot_hallucination", "system_cost"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [("slot_acuracy", "slot_accuracy"), ("slot-accuracy", "slot_accuracy"), ("sytem_cost", "system_cost")],
)
def test_a_typing_mistake_is_understood(typed: str, first: str) -> None:
    assert near_misses(typed, KNOWN).startswith(f"did you mean {first}")
    assert near_misses(typed, KNOWN).endswith("?")


def test_nothing_is_suggested_where_nothing_is_close() -> None:
    assert near_misses("bleu", KNOWN) == ""
    assert near_misses("bleu", []) == ""


def test_at_most_three_are_suggested() -> None:
    text = near_misses("slot_a", [f"slot_{letter}" for letter in string.ascii_lowercase])
    assert text.count(" or ") == 2


def test_names_may_come_from_anything_that_can_be_iterated() -> None:
    assert near_misses("hotl", iter(["hotel"])) == "did you mean hotel?"


@given(st.text(max_size=200), st.integers(10, 80))
def test_a_found_value_fits_on_a_line(text: str, limit: int) -> None:
    shown = shorten(text, limit)
    assert len(shown) <= limit
    assert "\n" not in shown
    if len(repr(text)) <= limit:
        assert shown == repr(text)
    else:
        assert shown == repr(text)[: limit - 3] + "..."
