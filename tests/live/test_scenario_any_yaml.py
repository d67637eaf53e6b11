"""Whatever a scenario file holds, loading it gives a scenario or says what is wrong; nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.live.test_scenario import FULL
from turnwise.live.scenario import Scenario, load_scenarios
from turnwise.live.scenario_problems import ScenarioError
from turnwise.live.scenario_read import KEYS
from turnwise.live.scenario_turns import KEYS as TURN_KEYS


def loads_or_says_why(text: str | bytes, folder: Path) -> Scenario | None:
    """The scenario, or None after a ScenarioError (an InputError) that names lines in order; nothing else is raised."""
    path = folder / "any.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    try:
        return load_scenarios([path])[0]
    except ScenarioError as error:
        wrong = error
    lines = [problem.line for problem in wrong.problems]
    assert lines == sorted(lines)
    assert min(lines) >= 1
    assert wrong.message.encode()
    return None


WORDS = sorted(
    {*KEYS, *TURN_KEYS, "<<", "turn", "event", "delay_ms", "a", "say", "silence", "end", "first_audio", "no"}
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(WORDS), st.dates()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | SCALARS, inner, max_size=6),
    max_leaves=25,
)


@settings(max_examples=300)
@given(value=VALUES)
def test_any_value(value: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    loads_or_says_why(yaml.dump(value, allow_unicode=True), tmp_path_factory.getbasetemp())


@settings(max_examples=300)
@given(text=st.one_of(st.text(), st.binary(), st.text(alphabet="ab:-,[]{}&*!|>'\"#%@?~<= \n\t\\", max_size=60)))
def test_any_text(text: str | bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert loads_or_says_why(text, tmp_path_factory.getbasetemp()) is None


@settings(max_examples=300)
@given(data=st.data())
def test_a_good_file_with_a_change(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    good = FULL.replace("play_audio", "say").replace("audio_file: audio/statement.wav", "text: Hei")
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 30)))
    put = data.draw(st.one_of(st.text(max_size=10), st.sampled_from([": ", "\n", "&a ", "*a", "- ", "{", "}", *WORDS])))
    loads_or_says_why(good[:start] + put + good[end:], tmp_path_factory.getbasetemp())


def test_the_good_file_is_good(tmp_path: Path) -> None:
    good = FULL.replace("play_audio", "say").replace("audio_file: audio/statement.wav", "text: Hei")
    assert loads_or_says_why(good, tmp_path) is not None
