"""Signatures: equal exactly when the numbers were made in the same way."""

from __future__ import annotations

import hashlib

from hypothesis import example, given
from hypothesis import strategies as st

from turnwise.kernel.signature import digest, signature


def test_one_line_with_the_settings_in_order() -> None:
    parts = {"scope": "active", "first": False, "normaliser": "multiwoz-v1:ab12", "limit": 2, "threshold": 0.5}
    assert signature("dialogue/slot_hallucination", 3, "spec", parts) == (
        "dialogue/slot_hallucination|v3|profile=spec"
        "|first=false|limit=2|normaliser=multiwoz-v1:ab12|scope=active|threshold=0.5"
    )


def test_without_settings() -> None:
    assert signature("dialogue/system_cost", 1, "turnwise", {}) == "dialogue/system_cost|v1|profile=turnwise"


def test_the_order_of_the_settings_does_not_matter() -> None:
    assert signature("r/m", 1, "p", {"b": 1, "a": 2}) == signature("r/m", 1, "p", {"a": 2, "b": 1})


def test_truth_values_are_written_as_a_user_types_them() -> None:
    assert signature("r/m", 1, "p", {"first": True}).endswith("|first=true")


@given(st.dictionaries(st.sampled_from("abc"), st.text(max_size=6)))
def test_it_is_one_line_and_its_fields_can_be_taken_apart(parts: dict[str, str]) -> None:
    text = signature("r/m", 1, "p", parts)
    assert "\n" not in text
    head, version, profile, *fields = text.split("|")
    assert (head, version, profile) == ("r/m", "v1", "profile=p")
    assert [field.split("=")[0] for field in fields] == sorted(parts)
    assert all(field.count("=") == 1 for field in fields)


@given(st.text(max_size=6), st.text(max_size=6))
@example("a|b=c", "a%7Cb%3Dc")
@example("\n", "%0A")
@example("%", "%25")
def test_different_settings_never_look_alike(one: str, other: str) -> None:
    same = signature("r/m", 1, "p", {"key": one}) == signature("r/m", 1, "p", {"key": other})
    assert same == (one == other)


def test_a_value_cannot_pose_as_another_setting() -> None:
    assert signature("r/m", 1, "p", {"a": "1|b=2"}) != signature("r/m", 1, "p", {"a": "1", "b": "2"})


def test_version_and_profile_count() -> None:
    made = {signature("r/m", v, p, {}) for v in (1, 2) for p in ("turnwise", "spec")}
    assert len(made) == 4


def test_a_digest_is_the_hash_of_compact_json_with_sorted_keys() -> None:
    # What is hashed is written out: {"a":"ü","b":[1,2]} in UTF-8.
    expected = hashlib.sha256('{"a":"ü","b":[1,2]}'.encode()).hexdigest()
    assert digest({"b": [1, 2], "a": "ü"}) == expected[:12]
    assert digest({"b": [1, 2], "a": "ü"}, length=64) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values)
@example([1, 2], [2, 1])
@example(1, "1")
@example(None, [])
def test_digests_tell_values_apart(one: object, other: object) -> None:
    # repr tells 1 from True, which == does not.
    same = repr(_sorted(one)) == repr(_sorted(other))
    assert (digest(one) == digest(other)) == same


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
