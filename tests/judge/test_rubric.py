"""Rubric files: what is read, what is filled in, and every mistake with the field that it is in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.judge.questions import QUALITY, make_rubric
from turnwise.judge.records import Dimension, Example, Scale, Spans
from turnwise.judge.rubric import read_rubric, rubric_from
from turnwise.kernel.errors import UsageError

EXAMPLE = Path(__file__).parents[2] / "examples" / "judge" / "tone.yaml"


def problem(**changes: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        make_rubric(**changes)
    return caught.value


def write(folder: Path, text: str | bytes) -> Path:
    file = folder / "own.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


MINIMAL = """
name: tone
question: Is it friendly?
needs: [response]
scores: {tone: {asks: 'How friendly?', scale: {low: 1, high: 5}}}
"""


# What is read


def test_the_example_is_read_as_it_is_written() -> None:
    rubric = read_rubric(EXAMPLE, "dialogue")
    anchors = {
        "1": "A guest would complain about it",
        "2": "Unpleasant in part",
        "3": "Neither pleasant nor unpleasant",
        "4": "Pleasant, with a phrase that does not fit",
        "5": "A guest would come back for it",
    }
    scale = Scale(1.0, 5.0, True, anchors)
    address = {"formal": "As at a reception desk", "casual": "As among friends", "mixed": "Now so, now so"}
    patience = "Does the response stay patient where the guest hesitates, repeats or corrects themselves?"
    assert rubric.dimensions == (
        Dimension("friendliness", "Is the guest welcome?", scale),
        Dimension("patience", patience, scale, optional=True),
        Dimension("address", "How is the guest addressed?", None, address),
        Dimension("overall", "All in all, how good is the tone?", scale),
    )
    assert (rubric.name, rubric.room, rubric.version, rubric.unit) == ("tone", "dialogue", 1, "exchange")
    assert (rubric.needs, rubric.sees, rubric.primary) == (("user", "response"), ("history",), "overall")
    assert isinstance(rubric.spans, Spans)
    assert (rubric.spans.of, list(rubric.spans.kinds)) == ("response", ["cold", "pushy", "servile"])
    assert isinstance(rubric.examples[0], Example)
    assert rubric.examples[0].answer["patience"] is None
    assert rubric.guidance.startswith("Judge the tone only.")
    assert not rubric.lower_is_better


def test_what_a_short_file_leaves_out(tmp_path: Path) -> None:
    rubric = read_rubric(write(tmp_path, MINIMAL), "assistant")
    assert (rubric.room, rubric.version, rubric.unit, rubric.primary) == ("assistant", 1, "turn", "tone")
    assert (rubric.sees, rubric.guidance, rubric.spans, rubric.examples) == ((), "", None, ())
    assert rubric.dimensions[0].scale == Scale(1.0, 5.0, True, {})


@pytest.mark.parametrize(("names", "primary"), [(("a", "overall", "b"), "overall"), (("a", "b"), "b"), (("a",), "a")])
def test_the_primary_score(names: tuple[str, ...], primary: str) -> None:
    scores = dict.fromkeys(names, "How?")
    assert make_rubric(scores=scores, scale={"low": 1, "high": 5}).primary == primary
    assert make_rubric(scores=scores, scale={"low": 1, "high": 5}, primary="a").primary == "a"


def test_nothing_is_guessed_from_how_a_label_looks(tmp_path: Path) -> None:
    labels = "labels: {yes: it did, no: it did not, 1: once, 0.50: half, 2026-11-16: that day, true: so}"
    rubric = read_rubric(write(tmp_path, MINIMAL.replace("scale: {low: 1, high: 5}", labels)), "dialogue")
    assert list(rubric.dimensions[0].labels) == ["yes", "no", "1", "0.50", "2026-11-16", "true"]


def test_anchors_are_put_in_order() -> None:
    scale = {"low": 0, "high": 1, "whole": False, "anchors": {"1": "all", "0.5": "half", "0": "nothing"}}
    dimension = make_rubric(scores={"share": {"asks": "?", "scale": scale}}).dimensions[0]
    assert dimension.scale is not None
    assert list(dimension.scale.anchors) == ["0", "0.5", "1"]


def test_lower_can_be_better() -> None:
    assert make_rubric(direction="lower").lower_is_better
    assert not make_rubric(direction="higher").lower_is_better


# Hash


def test_a_stored_rubric_is_the_same_again() -> None:
    rubric = read_rubric(EXAMPLE, "dialogue")
    again = rubric_from(rubric.content, "stored run")
    assert again == rubric
    assert again.hash == rubric.hash


def test_the_hash_follows_the_words_and_not_the_layout(tmp_path: Path) -> None:
    first = read_rubric(write(tmp_path, MINIMAL), "dialogue").hash
    assert read_rubric(write(tmp_path, f"# a comment\n{MINIMAL}\n"), "dialogue").hash == first
    assert read_rubric(write(tmp_path, f"{MINIMAL}room: dialogue\n"), "dialogue").hash == first
    assert read_rubric(write(tmp_path, MINIMAL.replace("friendly", "kind")), "dialogue").hash != first
    assert read_rubric(write(tmp_path, MINIMAL), "assistant").hash != first


# Mistakes in fields

SCALE = {"low": 1, "high": 5}
SCORE = {"asks": "How?", "scale": SCALE}
SPANS = {"asks": "Point out.", "of": "response", "kinds": {"a": "b"}, "severities": {"c": "d"}}
SHOWN = {"user": "?", "response": "We have one at eight."}


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"naem": "x"}, "naem", "did you mean name?"),
        ({"name": None}, "name", "name has to be text"),
        ({"name": "Good Tone!"}, "name", "for example good_tone"),
        ({"name": "5star"}, "name", "for example star"),
        ({"name": "a__b"}, "name", "for example a_b"),
        ({"name": "x" * 61}, "name", "at most 60 characters"),
        ({"name": 5}, "name", "put it in quotes"),
        ({"room": None}, "room", "nobody says which room"),
        ({"room": "dialog"}, "room", "did you mean dialogue?"),
        ({"version": 0}, "version", "from 1 on"),
        ({"version": "2"}, "version", "from 1 on"),
        ({"version": True}, "version", "from 1 on"),
        ({"unit": "turn"}, "unit", "exchange or dialogue"),
        ({"unit": "dialog"}, "unit", "did you mean dialogue?"),
        ({"question": " "}, "question", "question has to be text"),
        ({"guidance": ["a"]}, "guidance", "guidance has to be text"),
        ({"needs": None}, "needs", "needs something to judge"),
        ({"needs": []}, "needs", "needs something to judge"),
        ({"needs": "response"}, "needs", "needs: [response]"),
        ({"needs": ["respons"]}, "needs[0]", "did you mean response?"),
        ({"needs": ["user", "user"]}, "needs[1]", "stands there twice"),
        ({"needs": [["user"]]}, "needs[0]", "history, user, response"),
        ({"needs": ["hypothesis"]}, "needs[0]", "history, user, response"),
        ({"sees": ["user"]}, "sees", "user is needed already"),
        ({"scores": None}, "scores", "a rubric needs scores"),
        ({"scores": {}}, "scores", "at least one score"),
        ({"scores": ["overall"]}, "scores", "not a mapping"),
        ({"scores": {"Overall": SCORE}}, "scores.Overall", "for example overall"),
        ({"scores": {"reasoning": SCORE}}, "scores.reasoning", "no score can be called reasoning"),
        ({"scores": {"spans": SCORE}}, "scores.spans", "choose another name"),
        ({"scores": {"value": SCORE}}, "scores.value", "choose another name"),
        ({"scores": {"overall": "How?"}}, "scores.overall", "neither a scale nor labels"),
        ({"scores": {"overall": {"scale": SCALE}}}, "scores.overall.asks", "asks has to be text"),
        ({"scores": {"overall": {**SCORE, "label": {}}}}, "scores.overall.label", "did you mean labels?"),
        ({"scores": {"overall": {**SCORE, "labels": {"a": "b"}}}}, "scores.overall.labels", "a scale and labels"),
        ({"scores": {"overall": {**SCORE, "optional": "yes"}}}, "scores.overall.optional", "true or false"),
        ({"scale": {"low": 1}}, "scale.high", "high is not a number"),
        ({"scale": {"low": "1", "high": 5}}, "scale.low", "low is not a number"),
        ({"scale": {"low": True, "high": 5}}, "scale.low", "low is not a number"),
        ({"scale": {"low": 1, "high": float("inf")}}, "scale.high", "high is not a number"),
        ({"scale": {"low": 1, "high": 10**400}}, "scale.high", "high is not a number"),
        ({"scale": {"low": 5, "high": 1}}, "scale.high", "low below high"),
        ({"scale": {"low": 1, "high": 1}}, "scale.high", "low below high"),
        ({"scale": {"low": 0.5, "high": 5}}, "scale.low", "whole: false"),
        ({"scale": {**SCALE, "anchors": {"6": "x"}}}, "scale.anchors.6", "from 1 to 5"),
        ({"scale": {**SCALE, "anchors": {"1.5": "x"}}}, "scale.anchors.1.5", "a whole number from 1 to 5"),
        ({"scale": {**SCALE, "anchors": {"good": "x"}}}, "scale.anchors.good", "not on the scale"),
        ({"scale": {**SCALE, "anchors": {"nan": "x"}}}, "scale.anchors.nan", "not on the scale"),
        ({"scale": {**SCALE, "anchors": {"1": "x", "1.0": "y"}}}, "scale.anchors.1.0", "has two anchors"),
        ({"scale": {**SCALE, "anchors": {"1": ""}}}, "scale.anchors.1", "has to be text"),
        ({"scale": {**SCALE, "anchors": ["bad", "good"]}}, "scale.anchors", "not a mapping"),
        ({"scale": [1, 5]}, "scale", "low, high, whole, anchors"),
        ({"scores": {"a": {"asks": "?", "labels": {"x": "y"}}}}, "scores.a.labels", "at least 2"),
        ({"scores": {"a": {"asks": "?", "labels": ["x", "y"]}}}, "scores.a.labels", "not a mapping"),
        ({"scores": {"a": {"asks": "?", "labels": {"X": "y", "x": "z"}}}}, "scores.a.labels.x", "differ in case only"),
        ({"scores": {"a": {"asks": "?", "labels": {"": "y", "x": "z"}}}}, "scores.a.labels.", "cannot be a label"),
        ({"primary": "oveall"}, "primary", "did you mean overall?"),
        ({"direction": "down"}, "direction", "higher or lower"),
        (
            {"scores": {"a": {"asks": "?", "labels": {"x": "y", "z": "w"}}}, "direction": "lower"},
            "direction",
            "has no direction",
        ),
        ({"spans": {**SPANS, "of": "history"}}, "spans.of", "user or response"),
        ({"spans": {"asks": "Point out."}}, "spans.of", "user or response"),
        ({"spans": {**SPANS, "kinds": {}}}, "spans.kinds", "at least 1"),
        ({"spans": {**SPANS, "severity": {}}}, "spans.severity", "did you mean severities?"),
        ({"examples": {"shown": {}}}, "examples", "is not a list"),
        ({"examples": [{"shown": SHOWN}]}, "examples[0].answer", "not a mapping"),
        ({"examples": [{"shown": {"user": "?"}, "answer": {}}]}, "examples[0].shown.response", "is missing"),
        (
            {"examples": [{"shown": {**SHOWN, "policy": "?"}, "answer": {}}]},
            "examples[0].shown.policy",
            "not among what the judge sees",
        ),
        (
            {"examples": [{"shown": SHOWN, "answer": {"reasoning": "?", "overall": 6}}]},
            "examples[0].answer",
            "overall is 6, expected a whole number from 1 to 5",
        ),
        (
            {
                "spans": SPANS,
                "examples": [
                    {
                        "shown": SHOWN,
                        "answer": {
                            "reasoning": "?",
                            "overall": 2,
                            "spans": [{"text": "at nine", "kind": "a", "severity": "c"}],
                        },
                    }
                ],
            },
            "examples[0].answer.spans",
            "does not stand in response",
        ),
    ],
)
def test_mistakes_name_the_field(changes: dict[str, Any], field: str, said: str) -> None:
    error = problem(**changes)
    assert error.where == f"quality.yaml, {field}"
    assert said in error.message
    assert error.exit_code == 2


def test_a_rubric_is_for_one_room() -> None:
    with pytest.raises(UsageError, match="this rubric is not for assistant") as caught:
        rubric_from(QUALITY, "quality.yaml", "assistant")
    assert "turnwise run dialogue" in caught.value.message


def test_what_json_cannot_keep_is_refused() -> None:
    assert "text or numbers" in problem(guidance={"a": object()}).message
    assert "half of a surrogate pair" in problem(question="How \ud800?").message
    with pytest.raises(UsageError, match="a rubric is not a mapping"):
        rubric_from(["name"], "list")  # type: ignore[arg-type]


# Mistakes in files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a rubric"),
        ("- name", "is not a rubric"),
        ("name: [", "line 1"),
        ("name: a\nname: b\n", "line 2, column 1: 'name' is given twice"),
        (f"{MINIMAL}examples: &a [*a]\n", "aliases (*name) are not for rubrics"),
        ("name: !!python/object:os.system x\n", "could not determine a constructor"),
        ("? [a]\n: b\n", "a key has to be text"),
        ("a: b\n---\nc: d\n", "but found another document"),
        ("[" * 5_000, "not YAML"),
        (b"\xff\xfen\x00", "save it as UTF-8"),
        (b"name: a\x00b", "not YAML"),
        ("x" * ((1 << 20) + 1), "too large"),
    ],
    ids=range(12),
)
def test_files_that_are_refused(tmp_path: Path, text: str | bytes, said: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_rubric(file, "dialogue")
    assert said in caught.value.message
    assert str(file) in caught.value.message


@pytest.mark.parametrize("name", ["missing.yaml", ".", "nul\0.yaml"])
def test_what_is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_rubric(tmp_path / name)


# The page


def test_the_rubric_on_the_page_is_one(tmp_path: Path) -> None:
    page = (EXAMPLE.parents[2] / "docs" / "judge_rubrics.md").read_text(encoding="utf-8")
    shortest = page.split("```yaml\n")[1].split("```")[0]
    assert read_rubric(write(tmp_path, shortest), "dialogue").primary == "tone"
