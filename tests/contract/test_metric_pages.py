"""Every metric has a page, and what the page says of a silent and of a never-silent system is what they score (G5)."""

from __future__ import annotations

import re
from math import isnan
from pathlib import Path

import pytest

from tests.contract.measuring import best, measure, rolled_up
from tests.contract.rooms import ADAPTERS, metrics_of
from turnwise.kernel.derived import Derived
from turnwise.kernel.metric import Direction, MetricSpec, Settings

PAGES = Path(__file__).parents[2] / "docs" / "metrics"
SPECS = {
    f"{room}/{name}": metric.spec
    for room in ADAPTERS
    for name, metric in metrics_of(room).items()
    if name not in ADAPTERS[room].OTHER_PAGES
}
SCORED = [
    full_name
    for full_name, spec in SPECS.items()
    if spec.name not in {*ADAPTERS[spec.room].NO_BASELINES, *ADAPTERS[spec.room].NEEDS_MODEL}
    and spec.name not in getattr(ADAPTERS[spec.room], "GIVEN_BY_PEOPLE", ())
    and not isinstance(metrics_of(spec.room)[spec.name], Derived)
]
SYSTEMS = {"silent": r"\|\s*silent\b", "never_silent": r"\|\s*never[- ]silent\b"}
HEADINGS = ("Formula", "When it does not apply", "Roll-ups", "Baselines", "Worked example", "Source")

every_page = pytest.mark.parametrize("full_name", SPECS)


def page(full_name: str) -> str:
    path = PAGES / f"{full_name}.md"
    assert path.is_file(), f"{full_name} has no page: write {path.relative_to(PAGES.parents[1])}"
    return path.read_text("utf-8")


def row(full_name: str, system: str) -> str:
    """The line of the page's table of baselines about a system."""
    found = [line for line in page(full_name).splitlines() if re.match(SYSTEMS[system], line)]
    assert len(found) == 1, f"{full_name}.md: one line `| {system.replace('_', ' ')} ... | score |` is expected"
    return found[0]


def numbers(text: str) -> set[float]:
    return {float(number) for number in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)", text)}


def score(spec: MetricSpec, system: str, settings: Settings) -> float | None:
    """What a system that is no system scores by the primary roll-up: on the examples, or where the metric applies to
    none of them, on the exemplary records; None where it is known to be unscored."""
    adapter = ADAPTERS[spec.room]
    metric = metrics_of(spec.room)[spec.name]
    assert not isinstance(metric, Derived)
    made = metric(Settings(settings.profile, settings.values, adapter.CONTEXT))
    predict = getattr(adapter, system)
    value = rolled_up(made, made.outputs[0], measure(made, adapter.example_batch(predict(adapter.examples()))))
    if value is None:
        value = rolled_up(made, made.outputs[0], measure(made, adapter.batch(predict(adapter.exemplary()))))
    value = None if value is None or isnan(value) else value  # a ratio of nothing is no number
    unscored = (spec.name, system) in adapter.UNSCORED_BASELINES
    assert (value is None) is unscored, f"{spec.full_name} scores {value} for a {system} system"
    return value


@every_page
def test_there_is_a_page_with_what_a_reader_needs(full_name: str) -> None:
    text = page(full_name)
    assert text.startswith(f"# {full_name}\n")
    assert "**Answers:**" in text
    missing = [heading for heading in HEADINGS if not re.search(rf"^## {heading}", text, re.MULTILINE)]
    assert not missing, f"{full_name}.md lacks the sections {missing}"
    assert row(full_name, "silent")
    assert row(full_name, "never_silent")


@every_page
def test_the_page_is_about_this_version(full_name: str) -> None:
    spec = SPECS[full_name]
    text = page(full_name)
    assert rf"`{full_name}\|v{spec.version}\|profile=turnwise" in text, (
        "the signature on the page is of another version"
    )
    for parameter in spec.parameters:
        assert f"{parameter.name}=" in text, f"{full_name}.md says nothing about --set {parameter.name}"


@every_page
def test_the_page_names_the_statistics_that_are_stored(full_name: str) -> None:
    (line,) = (line for line in page(full_name).splitlines() if line.startswith("| statistics stored"))
    named = re.findall(r"`(\w+)`", line)
    assert named == [name for output in SPECS[full_name].outputs for name in output.statistics]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("full_name", SCORED)
def test_the_page_says_what_the_system_scores(full_name: str, system: str) -> None:
    spec = SPECS[full_name]
    value = score(spec, system, Settings())
    if value is None:
        assert "no score" in row(full_name, system)
        return
    assert round(value, 4) in numbers(row(full_name, system)), (
        f"{full_name}.md: a {system.replace('_', ' ')} system scores {value:.4f}"
    )


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("full_name", SCORED)
def test_a_metric_that_such_a_system_wins_is_flagged(full_name: str, system: str) -> None:
    spec = SPECS[full_name]
    if spec.name in ADAPTERS[spec.room].NO_BEST_VALUE or spec.outputs[0].direction is Direction.NEITHER:
        pytest.skip("nobody can win it")
    if score(spec, system, Settings()) == best(spec.outputs[0]):
        assert "best value" in row(full_name, system), f"{full_name}.md must say that a {system} system wins it"


def test_the_pages_numbers_for_other_settings() -> None:
    """slot_hallucination.md gives the never-silent system's score for scope=all and for the profile spec, too."""
    spec, text = SPECS["dialogue/slot_hallucination"], row("dialogue/slot_hallucination", "never_silent")
    for settings in (Settings(values={"scope": "all"}), Settings("spec")):
        value = score(spec, "never_silent", settings)
        assert value is not None
        assert round(value, 4) in numbers(text)


def test_metrics_without_a_page_of_their_own_are_on_the_shared_one() -> None:
    for adapter in ADAPTERS.values():
        for name, shared in adapter.OTHER_PAGES.items():
            assert name in (PAGES / f"{shared}.md").read_text("utf-8")


def test_there_is_no_page_without_a_metric() -> None:
    for room in ADAPTERS:
        known = set(metrics_of(room))
        assert {path.stem for path in (PAGES / room).glob("*.md")} - {"README", "index"} <= known
