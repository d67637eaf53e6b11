"""An experiment's files to its final score: the totals by hand, what is left where files are missing, the checklist."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)
from tests.duplex.experiments import (
    FIRST,
    FIRST_SPEC,
    INTERRUPTION,
    REJECTION,
    TOTAL,
    TOTAL_SPEC,
    change,
    delay_score,
    findings,
    run,
    write_experiment,
)
from turnwise.kernel.errors import UsageError


@pytest.fixture
def score(tmp_path: Path) -> Path:
    return write_experiment(tmp_path / "score")


# --- the totals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["scores", "files"])
@pytest.mark.parametrize(("profile", "first", "total"), [("turnwise", FIRST, TOTAL), ("spec", FIRST_SPEC, TOTAL_SPEC)])
def test_the_totals(score: Path, way: str, profile: str, first: float, total: float) -> None:
    found = run(profile=profile, **{way: score})
    expected = {
        "interruption_total_score": INTERRUPTION,
        "rejection_total_score": REJECTION,
        "avg_latency_stop": 0.75,
        "avg_latency_resp": 1.5,
        "first_response_delay": first,
        "total_delay": total,
        "delay_score": delay_score(total),
        "challenge_total": 0.4 * INTERRUPTION + 0.4 * REJECTION + 0.2 * delay_score(total),
    }
    assert {name: found.value(name) for name in expected} == pytest.approx(expected)
    assert found.value("interruption_total_score", language="cn") == pytest.approx(70)
    assert found.value("rejection_total_score", category="Third-party Speech_after") == pytest.approx(30)
    assert findings(found, "stored value") == []


def test_a_weight_of_conversations_changes_nothing(score: Path) -> None:
    """One category has 30 labels instead of 10, of which the same share is right: every category counts the same."""
    path = score / "cn" / "Topic Switching" / "Topic Switching_content_tags.jsonl"
    path.write_text(path.read_text() * 3)
    found = run(files=score)
    assert found.value("interruption_total_score") == pytest.approx(INTERRUPTION)
    assert found.value("interruption_total_score", "micro") == pytest.approx(100 * (75 + 2 * 9) / (100 + 20))


def test_the_document_rounds_on_its_way(score: Path) -> None:
    change(score / "cn/Pause Handling/Pause Handling_all.json", reject_rate=0.5471)
    path = score / "cn/Follow-up Questions/Follow-up Questions_all.json"
    change(path, average_RESPOND_score=0.51234, avg_latency_stop=0.505, avg_latency_resp=1.005)
    plain, spec = run(scores=score), run(scores=score, profile="spec")
    # Pause Handling (0.5471 + 0.7) / 2 = 0.62355, in the document 0.624
    assert plain.value("rejection_total_score") == pytest.approx(100 * (0.5 + 0.2 + 0.9 + 0.62355) / 4)
    assert spec.value("rejection_total_score") == 55.6  # 100 (0.5 + 0.2 + 0.9 + 0.624) / 4
    assert plain.value("interruption_total_score") == pytest.approx(75.1234)
    assert spec.value("interruption_total_score") == 75.12
    # 0.7505 and 1.5005 become 0.751 and 1.501, half up; (0.751 + 1.501 + 1.35) / 3 = 1.2007
    assert (spec.value("avg_latency_stop"), spec.value("avg_latency_resp")) == (0.751, 1.501)
    assert spec.value("total_delay") == 1.201
    assert plain.value("total_delay") == pytest.approx((0.7505 + 1.5005 + 1.5) / 3)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"min_delay": "1.0"}, delay_score(TOTAL, least=1.0)),
        ({"base_delay": "5"}, delay_score(TOTAL, base=5)),
        ({"delay_span": "20"}, delay_score(TOTAL, span=20)),
        ({"min_delay": "1.25"}, 100.0),
        ({"base_delay": "1.25"}, 60.0),
    ],
)
def test_the_delay_score_can_be_set(score: Path, setting: dict[str, str], expected: float) -> None:
    found = run(scores=score, set=setting)
    assert found.value("delay_score") == pytest.approx(expected)
    assert found.value("challenge_total") == pytest.approx(0.4 * INTERRUPTION + 0.4 * REJECTION + 0.2 * expected)


def test_the_weights_can_be_set(score: Path) -> None:
    weights = {"interruption_weight": "1", "rejection_weight": "0", "delay_weight": "0"}
    assert run(scores=score, set=weights).value("challenge_total") == pytest.approx(INTERRUPTION)


def test_an_unknown_setting_is_named(score: Path) -> None:
    with pytest.raises(UsageError, match="did you mean min_delay"):
        run(scores=score, set={"min_dellay": "1"})


def test_an_agent_that_never_speaks_at_the_same_time_has_no_stop_latency(score: Path) -> None:
    """0.0 where there is no interval, in all ten files."""
    for path in score.glob("*/*/*_all.json"):
        if "avg_latency_stop" in json.loads(path.read_text()):
            change(path, avg_latency_stop=0.0)
    assert run(scores=score, profile="spec").value("avg_latency_stop") == 0
    assert run(scores=score).value("avg_latency_stop") is None


# --- scoring the rest ---------------------------------------------------------------------------------------

NEEDED_BY_INTERRUPTION = {"interruption_total_score", "avg_latency_stop", "avg_latency_resp"}
NEEDED_BY_ALL = {"first_response_delay", "total_delay", "delay_score", "challenge_total"}


@pytest.mark.parametrize("way", ["scores", "files"])
@pytest.mark.parametrize(
    ("place", "without"),
    [
        ("cn/Topic Switching", NEEDED_BY_INTERRUPTION | NEEDED_BY_ALL),
        ("cn/Third-party Speech_after", {"rejection_total_score"} | NEEDED_BY_ALL),
        ("cn/Pause Handling", {"rejection_total_score", "reject_rate"} | NEEDED_BY_ALL),
    ],
)
def test_totals_without_a_file_have_no_value_and_the_others_keep_theirs(
    score: Path, way: str, place: str, without: set[str]
) -> None:
    whole = run(**{way: score})
    shutil.rmtree(score / place)
    found = run(allow_missing=True, **{way: score})
    totals = {"rejection_total_score", "reject_rate"} | NEEDED_BY_INTERRUPTION | NEEDED_BY_ALL
    for name in sorted(totals):
        value = found.value(name)
        assert value == (None if name in without else pytest.approx(whole.value(name))), name
        # what English and the other categories have does not need it
        if name not in ("total_delay", "delay_score", "challenge_total"):
            assert found.value(name, language="en") == pytest.approx(whole.value(name, language="en")), name
            assert name not in without or found.value(name, language="cn") is None
    assert found.value("interruption_total_score", category="Follow-up Questions") == pytest.approx(55)
    assert found.value("first_response_delay", category="Follow-up Questions") == pytest.approx(1.5)
    assert findings(found, "missing file") == [f"left out: {place}: no such folder"]
    assert found.summary["run"]["config"]["coverage"]["files_predicted"] == 19


def test_a_total_says_what_it_lacks(score: Path) -> None:
    (score / "cn/Topic Switching/Topic Switching_all.json").unlink()
    found = run(scores=score, allow_missing=True)
    (total,) = (
        r for r in found.results if r["metric"] == "interruption_total_score" and not r["group"] and r["primary"]
    )
    assert total["value"] is None
    assert total["missing"] == {"a file of the experiment is missing": 1}


def test_a_file_that_cannot_be_read_is_as_good_as_none(score: Path) -> None:
    (score / "en/Pause Handling/Pause Handling_all.json").write_text("{")
    found = run(scores=score, allow_missing=True)
    assert found.value("rejection_total_score") is None
    assert found.value("interruption_total_score") == pytest.approx(INTERRUPTION)


def test_a_delay_of_nothing_by_its_number_of_samples(score: Path) -> None:
    """A delay that is 0 by its value but of ten conversations is a delay; one of none is none."""
    folder = score / "cn/Third-party Speech_before"
    change(folder / "Third-party Speech_before_ftd.json", num_samples=10)
    for way in ("scores", "files"):
        found = run(**{way: score})
        assert found.value("first_response_delay", category="Third-party Speech_before", language="cn") == 0
        assert found.value("first_response_delay") == pytest.approx(18 * 1.5 / 19)


# --- stored against computed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "field", "stored", "said"),
    [
        ("Topic Switching_all.json", "average_RESPOND_score", 0.8, "is stored as 0.8, but the files give 0.9"),
        ("Topic Switching_all.json", "avg_latency_stop", 0.51, "is stored as 0.51, but the files give 0.5"),
        ("Topic Switching_all.json", "avg_latency_resp", 0.99, "is stored as 0.99, but the files give 1"),
        ("Topic Switching_all.json", "avg_first_time_delay", 1.5, "is stored as 1.5, but the files give 1"),
    ],
)
def test_a_stored_value_that_is_another_is_told(score: Path, file: str, field: str, stored: float, said: str) -> None:
    change(score / "cn/Topic Switching" / file, **{field: stored})
    found = run(files=score)
    assert findings(found, "stored value") == [f"cn/Topic Switching: {field} {said}"]
    assert found.value("interruption_total_score") == pytest.approx(INTERRUPTION)  # what the files give


def test_stored_averages_beside_the_intervals_and_a_stored_ratio(score: Path) -> None:
    path = score / "cn/Topic Switching/Topic Switching_latency_results.json"
    change(path, average_latency={"avg_latency_stop": 0.6, "avg_latency_resp": 1.0})
    change(score / "en/Pause Handling/reject_rate.json", ratio=0.6)
    assert findings(run(files=score), "stored value") == [
        "cn/Topic Switching: average_latency.avg_latency_stop is stored as 0.6, but the files give 0.5",
        "en/Pause Handling: ratio is stored as 0.6, but the files give 0.7",
    ]


def test_averages_that_cannot_be_read_do_not_keep_files_from_being_scored(score: Path) -> None:
    (score / "cn/Topic Switching/Topic Switching_all.json").write_text("{")
    found = run(files=score)
    assert found.value("interruption_total_score") == pytest.approx(INTERRUPTION)
    (told,) = findings(found, "stored value")
    assert told.startswith("cn/Topic Switching/Topic Switching_all.json is not compared: no JSON")


def test_keys_that_are_spelt_differently_are_not_joined(score: Path) -> None:
    """Labels t0..t9, intervals k0..k9; the same key twice is two conversations."""
    path = score / "cn/Topic Switching/Topic Switching_content_tags.jsonl"
    path.write_text(path.read_text().replace('"t1"', '"t0"'))
    found = run(files=score)
    assert found.value("interruption_total_score", category="Topic Switching", language="cn") == pytest.approx(90)


# --- the checklist and the command line ---------------------------------------------------------------------


def test_the_checklist_with_what_was_found(score: Path) -> None:
    points = findings(run(scores=score, verify=True, profile="spec"), "verify")
    assert [point[:6] for point in points] == [f"{n}. [x]" for n in range(1, 7)]
    for point, said in zip(points, ("20 of 20 files", "= 75", "= 55", "20 of 20", "= 1.2", "plain means"), strict=True):
        assert said in point


def test_the_checklist_tells_what_does_not_hold(score: Path) -> None:
    points = findings(run(scores=score, verify=True), "verify")
    held = [point[3:6] for point in points]
    assert held == ["[x]", "[x]", "[x]", "[ ]", "[x]", "[x]"]  # two files have no delay to average
    assert "18 of 20 values" in points[3]
    assert "cn/Third-party Speech_before, en/Third-party Speech_before" in points[3]


def test_the_checklist_of_what_is_left(score: Path) -> None:
    shutil.rmtree(score / "cn/Topic Switching")
    points = findings(run(scores=score, verify=True, allow_missing=True, profile="spec"), "verify")
    assert [point[3:6] for point in points] == ["[ ]", "[ ]", "[x]", "[ ]", "[ ]", "[ ]"]
    assert "19 of 20 files" in points[0]
    assert "9 of 10" in points[1]


def test_the_command_line(cli: Cli, score: Path, tmp_path: Path) -> None:  # noqa: F811
    done = cli("run", "duplex", "--scores", score, "--verify", "--profile", "spec", "--out", tmp_path / "out")
    lines = done.out.splitlines()
    assert [line[:6] for line in lines if line[1:4] == ". ["] == [f"{n}. [x]" for n in range(1, 7)]
    written = json.loads((tmp_path / "out" / "all.json").read_text())
    assert (written["Interruption Total Score"], written["Rejection Total Score"]) == (75.0, 55.0)
    assert (written["First Response Delay"], written["Total Delay"]) == (1.35, 1.2)
    again = cli("run", "duplex", "--scores", score, "--set", "min_delay=1.0", "--json").json()
    (found,) = (r["value"] for r in again["results"] if r["metric"] == "delay_score" and not r["group"])
    assert found == pytest.approx(delay_score(TOTAL, least=1.0))


@pytest.mark.parametrize("way", ["--scores", "--files"])
def test_the_command_line_ends_with_code_2_where_a_file_is_missing(cli: Cli, score: Path, way: str) -> None:  # noqa: F811
    shutil.rmtree(score / "en/Pause Handling")
    done = cli("run", "duplex", way, score, code=2)
    assert "en/Pause Handling: no such folder" in done.err
    assert "--allow-missing" in done.err
    summary = cli("run", "duplex", way, score, "--allow-missing", "--json").json()
    assert summary["run"]["config"]["coverage"] == {"files": 20, "files_predicted": 19}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--scores", "a", "--files", "a"],
        ["--scores", "a", "--detector", "energy"],
        ["--scores", "a", "--sensitivity"],
        ["--scores", "a", "--profile", "tau-voice"],
        ["--recordings", "a", "--allow-missing"],
        ["--recordings", "a", "--verify"],
        ["--scores", "a", "--set", "min_delay=fast"],
        ["--scores", "a", "--set", "min_delay=nan"],
    ],
)
def test_wrong_usage_ends_with_code_2(cli: Cli, score: Path, words: list[str]) -> None:  # noqa: F811
    done = cli("run", "duplex", *[str(score) if word == "a" else word for word in words], code=2)
    assert done.err.strip()
