"""The rubrics that come with turnwise: complete, and in step with the rooms they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnwise.judge.records import Rubric
from turnwise.judge.rubric import FIELDS, packaged_rubric, packaged_rubrics
from turnwise.judge.rubric_fields import PIECES, UNITS
from turnwise.kernel.errors import UsageError

NAMES = {
    "dialogue": ["response_quality"],
    "assistant": [
        *("actionability_score", "clarity_score", "compliance_score", "empathy_score", "professionalism_score"),
    ],
    "translation": ["adequacy"],
    "interpreting": ["intent_preservation", "judged_completeness", "semantic_mixing", "terminology"],
    "duplex": ["behaviour"],
}
ALL = [rubric for room in NAMES for rubric in packaged_rubrics(room)]


@pytest.mark.parametrize("room", NAMES)
def test_what_comes_with_each_room(room: str) -> None:
    assert [rubric.name for rubric in packaged_rubrics(room)] == NAMES[room]
    assert all(rubric.room == room for rubric in packaged_rubrics(room))


@pytest.mark.parametrize("rubric", ALL, ids=lambda rubric: rubric.name)
def test_every_scale_has_its_anchors(rubric: Rubric) -> None:
    assert rubric.guidance
    for dimension in rubric.dimensions:
        if dimension.scale is None:
            assert all(dimension.labels.values())
            continue
        steps = {(1.0, 5.0): ["1", "2", "3", "4", "5"], (0.0, 100.0): ["0", "20", "40", "60", "80", "100"]}
        assert list(dimension.scale.anchors) == steps[dimension.scale.low, dimension.scale.high]


def test_response_quality_is_the_documents() -> None:
    rubric = packaged_rubric("dialogue", "response_quality")
    names = ["correctness", "completeness", "clarity", "policy_adherence", "overall"]
    assert [one.name for one in rubric.dimensions] == names
    assert [one.name for one in rubric.dimensions if one.optional] == ["policy_adherence"]
    assert rubric.primary == "overall"


def test_the_assistants_scales_are_those_that_people_rate_by() -> None:
    from turnwise.assistant.scales import scales

    for scale in scales().values():
        rubric = packaged_rubric("assistant", scale.metric)
        dimension = rubric.dimension(rubric.primary)
        assert (rubric.question, dimension.name, dimension.asks) == (scale.question, scale.name, scale.question)
        assert dimension.scale is not None
        assert dimension.scale.anchors == {
            str(level.score): f"{level.name}: {level.description}"
            + (f". For example: {level.example}" if level.example else "")
            for level in scale.levels
        }


def test_units_and_labels_are_those_of_the_rooms() -> None:
    from turnwise.assistant.records import UNIT as TURN
    from turnwise.dialogue.records import DIALOGUE, UNIT
    from turnwise.duplex.categories import LABELS
    from turnwise.duplex.records import CONVERSATION
    from turnwise.interpreting.records import PAIR
    from turnwise.interpreting.records import TURN as INTERPRETED
    from turnwise.rooms import ROOMS
    from turnwise.translation.records import UNIT as SAMPLE

    assert set(UNITS) == set(ROOMS)
    assert UNITS["dialogue"] == (UNIT, DIALOGUE)
    assert UNITS["interpreting"] == (INTERPRETED, PAIR)
    assert (UNITS["assistant"], UNITS["translation"], UNITS["duplex"]) == ((TURN,), (SAMPLE,), (CONVERSATION,))
    assert tuple(packaged_rubric("duplex", "behaviour").dimensions[0].labels) == LABELS


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="did you mean response_quality"):
        packaged_rubric("dialogue", "respons_quality")
    with pytest.raises(UsageError, match="did you mean dialogue"):
        packaged_rubrics("dialog")


def test_the_page_has_every_field_and_every_piece() -> None:
    page = (Path(__file__).parents[2] / "docs" / "judge_rubrics.md").read_text(encoding="utf-8")
    fields = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert fields == list(FIELDS)
    for room, pieces in PIECES.items():
        units = ", ".join(f"`{unit}`" for unit in UNITS[room]).replace(
            "`pair`", "`pair` (a barge-in and the turn before it)"
        )
        assert f"| {room} | {units} | {', '.join(f'`{piece}`' for piece in pieces)} |" in page
