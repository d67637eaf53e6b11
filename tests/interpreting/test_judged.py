"""What a judge says of calls: means by hand, what it is not asked and why, and the same rows from a cassette."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import turnwise
from tests.interpreting.captures import (
    CORRECTION,
    STATEMENT,
    audio,
    correction,
    delta,
    statement,
    write_capture,
)
from tests.judge.server import MODEL, Reply, Request, Server, completion
from turnwise.interpreting.metrics.judged import NO_SOURCE, NO_TERMS
from turnwise.interpreting.records import Turn
from turnwise.interpreting.shown import NOTHING_CAME, terms_of
from turnwise.kernel.score import Score, Source, Status

LESS = {"completeness": 0, "intent": 10, "terminology": 20, "semantic_mixing": 30}
"""The judge reads a number in the translation, and takes off so much: four metrics can be told apart."""
METRICS = ("judged_completeness", "intent_preservation", "terminology", "semantic_mixing")


def shown(request: Request, name: str) -> str:
    """What stands between the marks of a piece; empty where the judge is not shown it."""
    text = request.body["messages"][1]["content"]
    found = re.search(rf"^BEGIN {name} (\S+)$\n(.*?)\n^END {name} \1$", text, re.MULTILINE | re.DOTALL)
    return found[2] if found else ""


def by_number(request: Request) -> Reply:
    asked = request.body["messages"][0]["content"]
    (name,) = (name for name in LESS if f"\n- {name} (" in asked)
    translation = shown(request, "translation")
    if "unreadable" in translation:
        return completion("It is rather good.")
    if "no term" in shown(request, "terms"):
        return completion(json.dumps({"reasoning": "There is none.", name: None}))
    number = int((re.findall(r"\d+", translation) or ["30"])[0]) - LESS[name]
    return completion(json.dumps({"reasoning": f"{number} it is.", name: number}))


def run(captures: Path, server: Server | None = None, **options: Any) -> turnwise.Result:
    asked = {"judge_url": server.url, "judge_model": MODEL} if server else {}
    return turnwise.evaluate({"captures": captures}, suite="interpreting", resamples=100, **asked, **options)


def scores(found: turnwise.Result, metric: str) -> dict[str, Score]:
    own = (one for one in found.scores if one.metric == f"interpreting/{metric}" and one.output == "value")
    return {one.unit.id: one for one in own}


def call(folder: Path, old: str | None, new: str | None, **about: Any) -> Path:
    """A statement and a correction, with what came of them."""
    terms = {"metadata": {"terms": {"rodilla": "knee", "menisco": None}}}
    turns = [statement(source_text="uno", **terms), correction(source_text="dos")]
    events = [delta(9000, old, STATEMENT)] if old else []
    events += [delta(11_000, new, CORRECTION)] if new else []
    return write_capture(folder, turns, events, **about)


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """The translations of two statements are worth 90 and 100, of the corrections 50 and 80."""
    call(tmp_path / "calls" / "a", "alpha 90", "kilo 50")
    call(tmp_path / "calls" / "b", "bravo 100", "lima 80")
    return tmp_path / "calls"


# --- the numbers --------------------------------------------------------------------------------------------


def test_the_means(calls: Path) -> None:
    with Server(by_number) as server:
        found = run(calls, server)
    assert found.value("judged_completeness") == pytest.approx((90 + 50 + 100 + 80) / 4)
    assert found.value("intent_preservation") == pytest.approx((80 + 40 + 90 + 70) / 4)
    assert found.value("terminology") == pytest.approx((70 + 80) / 2)
    assert found.value("semantic_mixing") == pytest.approx((20 + 50) / 2)
    assert found.value("judged_completeness", scenario="a") == pytest.approx((90 + 50) / 2)
    assert len(server.requests) == 4 + 4 + 2 + 2
    first = scores(found, "semantic_mixing")[f"a#{CORRECTION}#barge_in"]
    assert (first.value, first.source, first.rater) == (20, Source.JUDGE, MODEL)
    assert "20 it is." in json.dumps(first.evidence)
    assert f"|judge={MODEL}|" in first.signature


def test_what_the_judge_is_shown(calls: Path) -> None:
    with Server(by_number) as server:
        run(calls / "a", server, metrics=["semantic_mixing", "terminology"])
    mixing, terms = sorted(server.requests, key=lambda one: bool(shown(one, "terms")))
    pieces = ("source", "translation", "previous_source", "previous_translation")
    assert [shown(mixing, name) for name in pieces] == ["dos", "kilo 50", "uno", "alpha 90"]
    assert shown(mixing, "expected").startswith("kilo lima")
    assert shown(mixing, "previous_expected").startswith("alpha bravo")
    assert (shown(terms, "source"), shown(terms, "terms")) == ("uno", "rodilla = knee\nmenisco")
    assert "previous" not in terms.body["messages"][1]["content"]


def test_the_language_is_shown_where_it_is_known(tmp_path: Path) -> None:
    turns = [statement(source_text="uno", expected_language="en-GB")]
    folder = write_capture(tmp_path / "a", turns, [delta(9000, "alpha 90", STATEMENT)])
    capture = json.loads((folder / "capture.json").read_text())
    languages = {"patient": {"source_language": "es", "target_language": "en"}}
    (folder / "capture.json").write_text(json.dumps({**capture, "languages": languages}))
    with Server(by_number) as server:
        run(folder, server, metrics=["judged_completeness"])
    assert [shown(server.requests[0], f"{name}_language") for name in ("source", "target")] == ["es", "en-GB"]


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"rodilla": "knee", "menisco": None}, "rodilla = knee\nmenisco"),
        (["rodilla", {"menisco": "meniscus"}], "rodilla\nmenisco = meniscus"),
        ("rodilla", "rodilla"),
        ([], None),
        ({}, None),
        (None, None),
    ],
)
def test_terms_come_as_a_list_or_with_their_translations(given: Any, lines: str | None) -> None:
    assert terms_of(Turn("t", "patient", metadata={"terms": given})) == lines


# --- not asked ----------------------------------------------------------------------------------------------


def test_what_is_not_there_is_not_asked_about(tmp_path: Path) -> None:
    """No source text; audio without text; a correction that nobody translated; a turn without terms."""
    calls = tmp_path / "calls"
    turns = [statement(), correction(source_text="dos")]
    write_capture(calls / "a", turns, [delta(9000, "alpha 90", STATEMENT), delta(11_000, "kilo 50", CORRECTION)])
    turns = [statement(source_text="uno"), correction(source_text="dos")]
    write_capture(calls / "b", turns, [audio(9000, 500, STATEMENT), delta(11_000, "lima 60", CORRECTION)])
    call(calls / "c", "bravo 100", None)
    with Server(by_number) as server:
        found = run(calls, server)
    complete = {key: (one.value, one.reason) for key, one in scores(found, "judged_completeness").items()}
    assert complete == {
        f"a#{STATEMENT}": (None, NO_SOURCE),
        f"a#{CORRECTION}": (50, None),
        f"b#{STATEMENT}": (None, "audio came without text"),
        f"b#{CORRECTION}": (60, None),
        f"c#{STATEMENT}": (100, None),
        f"c#{CORRECTION}": (30, None),
    }
    silent = next(one for one in server.requests if shown(one, "translation") == NOTHING_CAME)
    assert shown(silent, "source") == "dos", "silence is judged, too"
    mixing = {key.partition("#")[0]: one for key, one in scores(found, "semantic_mixing").items()}
    assert {key: one.reason for key, one in mixing.items()} == {
        "a": NO_SOURCE,
        "b": "audio came without text",
        "c": "the barge-in was not translated",
    }
    assert mixing["c"].status is Status.NOT_APPLICABLE
    terms = {key: one.reason for key, one in scores(found, "terminology").items() if one.reason}
    assert terms == dict.fromkeys(
        (f"a#{STATEMENT}", f"a#{CORRECTION}", f"b#{STATEMENT}", f"b#{CORRECTION}"), NO_TERMS
    ) | {f"c#{CORRECTION}": NO_TERMS}


def test_the_judge_may_say_that_there_is_no_term(tmp_path: Path) -> None:
    turns = [statement(source_text="uno", metadata={"terms": ["no term"]})]
    folder = write_capture(tmp_path / "a", turns, [delta(9000, "alpha 90", STATEMENT)])
    with Server(by_number) as server:
        found = run(folder, server, metrics=["terminology"])
    (one,) = scores(found, "terminology").values()
    assert (one.status, one.reason) == (Status.NOT_APPLICABLE, "the judge says that it does not apply")
    assert found.value("terminology") is None


def test_a_scenario_asks_for_what_it_wants(tmp_path: Path) -> None:
    call(tmp_path / "calls" / "a", "alpha 90", "kilo 50", metrics=["judged_completeness"])
    with Server(by_number) as server:
        found = run(tmp_path / "calls", server)
        assert len(server.requests) == 2
        named = run(tmp_path / "calls", server, metrics=["semantic_mixing"])
    assert {one.reason for one in scores(found, "intent_preservation").values()} == {
        "the scenario asks for other metrics"
    }
    assert named.value("semantic_mixing") == 20


def test_without_a_judge_a_default_run_is_what_it_was(calls: Path) -> None:
    found = run(calls)
    assert not set(METRICS) & set(found.run.config["metrics"])
    assert {one.source for one in found.scores} == {Source.CODE}
    named = run(calls, metrics=["judged_completeness", "completeness"])
    assert {one.reason for one in scores(named, "judged_completeness").values()} == {"no judge"}


def test_with_a_judge_only_what_the_data_can_answer_is_in_a_default_run(tmp_path: Path) -> None:
    turns = [statement(source_text="uno")]
    folder = write_capture(tmp_path / "a", turns, [delta(9000, "alpha 90", STATEMENT)])
    with Server(by_number) as server:
        found = run(folder, server)
    assert set(METRICS) & set(found.run.config["metrics"]) == {"judged_completeness", "intent_preservation"}


# --- without an answer, and again ---------------------------------------------------------------------------


def test_an_unreadable_answer_is_outside_the_mean_and_a_cassette_gives_the_same_rows(calls: Path) -> None:
    """Of five answers four count: (90 + 50 + 100 + 80) / 4, and one is an error."""
    turns = [statement(source_text="uno")]
    write_capture(calls / "c", turns, [delta(9000, "unreadable", STATEMENT)])
    tape = calls.parent / "tape"
    with Server(by_number) as server:
        found = run(calls, server, metrics=["judged_completeness"], judge_cassette=tape)
    assert found.value("judged_completeness") == pytest.approx((90 + 50 + 100 + 80) / 4)
    lost = scores(found, "judged_completeness")[f"c#{STATEMENT}"]
    assert (lost.status, lost.value) == (Status.ERROR, None)
    assert "It is rather good." in json.dumps(lost.evidence)
    (whole,) = (one for one in found.results if one["primary"] and not one["group"])
    assert (whole["n_scored"], sum(whole["missing"].values())) == (4, 1)
    again = run(calls, metrics=["judged_completeness"], judge_replay=tape)
    assert sorted(map(repr, again.scores)) == sorted(map(repr, found.scores))
    assert again.results == found.results


# --- a rubric of one's own ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "needs", "mean"), [("turn", "source", (90 + 50) / 2), ("pair", "previous_source", 50)]
)
def test_a_rubric_of_ones_own(tmp_path: Path, unit: str, needs: str, mean: float) -> None:
    rubric = tmp_path / "tone.yaml"
    rubric.write_text(
        f"name: tone\nroom: interpreting\nunit: {unit}\nquestion: Is the tone kept?\nneeds: [translation, {needs}]\n"
        "scores: {completeness: {asks: How far, scale: {low: 0, high: 100}}}\n"
    )
    folder = call(tmp_path / "a", "alpha 90", "kilo 50")
    with Server(by_number) as server:
        found = run(folder, server, metrics=["latency"], judge=[rubric])
    assert found.value("tone") == mean
