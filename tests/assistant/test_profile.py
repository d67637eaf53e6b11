"""The profile of an organisation: what it changes, and what is wrong with a file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from turnwise.assistant import evaluate
from turnwise.assistant.composites import composite_context, qualities
from turnwise.assistant.patterns import Patterns
from turnwise.assistant.profile import built_in, load_profile
from turnwise.assistant.scales import OBJECTIVE
from turnwise.kernel.errors import InputError

CLUB = Path(__file__).parents[2] / "examples" / "assistant" / "club.yaml"


def written(folder: Path, text: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_section_that_is_not_there_stays(tmp_path: Path) -> None:
    own = load_profile(written(tmp_path, "length: {min_words: 2, max_words: 3}\n"))
    assert (own.min_words, own.max_words) == (2, 3)
    assert own.citation == built_in("hr").citation
    assert own.label.startswith("own:")
    assert own.digest != built_in("hr").digest


def test_weights_do_not_change_what_the_replies_are_measured_by(tmp_path: Path) -> None:
    own = load_profile(written(tmp_path, "production_ready: 0.9\nweights: {objective: {citation_accuracy: 2}}\n"))
    assert own.digest == built_in("hr").digest
    assert composite_context(own)["production_ready"] == "0.9"


@pytest.mark.parametrize(
    ("scenario", "response", "appropriate"),
    [
        ("", "Email them.", True),
        ("attendance", "Call them.", True),
        ("Attendance ", "Call them.", True),
        ("attendance", "Email them.", False),
        ("attendance", "Call them, then email them.", False),  # one of the two is not on the list
        ("attendance", "Wait.", False),
        ("payroll", "Email them.", True),
    ],
)
def test_a_scenario_may_list_its_actions(scenario: str, response: str, appropriate: bool) -> None:
    found = evaluate("q", response, [], 1, False, scenario=scenario, patterns=CLUB)
    assert found.appropriate_action_suggested is appropriate


def test_a_scenario_may_weigh_otherwise() -> None:
    """club.yaml: a citation counts 2 in compliance, the time one half everywhere.

    Elsewhere (1 + 0 + 0.5 * 1) / (1 + 1 + 0.5) = 1.5 / 2.5 = 0.6; there (2 + 0 + 0.5) / (2 + 1 + 0.5) = 2.5 / 3.5.
    """
    context = composite_context(load_profile(CLUB))
    values = {OBJECTIVE[0]: 1.0, OBJECTIVE[1]: 0.0, "processing_time_acceptable": 1.0}
    assert qualities(values, context).objective == pytest.approx(0.6)
    found = qualities(values, context, "Compliance")
    assert found.objective == pytest.approx(2.5 / 3.5)
    assert found.made_of["objective"]["weights"] == {OBJECTIVE[0]: 2.0, "processing_time_acceptable": 0.5}
    # compliance 3 and four others 1: (4 + 3 * 2) / (1 + 3) / 5 for ratings 4 and 2.
    rated = qualities({"empathy_score": 4, "compliance_score": 2}, context, "compliance")
    assert rated.subjective == pytest.approx((4 + 3 * 2) / 4 / 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("citation: ['(?<=our) policy']", "no look-around"),
        ("citation: ['(policy']", "missing \\)"),
        ("citation: ['x*']", "matches the empty text"),
        ("citation: ['(a{1000}){1000}']", "invalid repetition"),
        ("citations: ['policy']", "did you mean citation"),
        ("citation: policy", "valid list"),
        ("[1, 2]", "no sections"),
        ("a: 'b", "not YAML"),
        ("length: {min_words: 9, max_words: 3}", "min_words 9 is more than max_words 3"),
        ("scenarios: {attendance: {actions: [telephone]}}", "allows an action that the file does not have"),
        ("weights: {objective: {citation: 2}}", "there is no 'citation'"),
        ("weights: {overall: {objective: 0.5, subjective: 0.6}}", "add up to 1.1, not to 1"),
        ("weights: {objective: {citation_accuracy: -1}}", "greater than or equal to 0"),
        ("production_ready: 1.5", "less than or equal to 1"),
        ("processing_time_ms: .inf", "finite"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=message) as error:
        load_profile(path)
    assert str(path) in error.value.message


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_profile(tmp_path / "absent.yaml")
    with pytest.raises(InputError, match="the document's patterns"):
        load_profile(CLUB, "spec")


def test_no_pattern_runs_for_ever(tmp_path: Path) -> None:
    """Nested repeats, and the document's own pattern on a megabyte of its beginnings: Python's engine takes hours."""
    own = load_profile(written(tmp_path, "citation: ['(a+)+$', '(?:x|x?y|xy?)*z!']"))
    start = time.perf_counter()
    assert not own.citation.matches("a" * 100_000 + "b" + "xy" * 100_000)
    assert not built_in("spec").citation.matches("per our " * 125_000)
    assert not built_in("hr").citation.matches("per our " * 125_000)
    assert time.perf_counter() - start < 20


def test_blanking_keeps_what_lies_between() -> None:
    masks = Patterns((r"\bcall out\b", r"\bno show\b"))
    assert masks.blanked("a call out, no show b no") == "a  ,   b no"
    assert Patterns(()).blanked("a call") == "a call"
