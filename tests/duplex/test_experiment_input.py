"""Everything that can be wrong with an experiment's files, each said with its place; and the names they may have."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.duplex.experiments import (
    FIRST,
    INTERRUPTION,
    LANGUAGES,
    PLACES,
    REJECTION,
    RESPOND,
    change,
    findings,
    refused,
    run,
    write,
    write_experiment,
)


@pytest.fixture
def score(tmp_path: Path) -> Path:
    return write_experiment(tmp_path / "score")


# --- what is missing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_each_of_the_twenty_files_is_missed(score: Path, place: str) -> None:
    name = place.split("/")[1]
    (score / place / f"{name}_all.json").unlink()
    said = refused(scores=score)
    assert f"{place}/{name}_all.json: no such file" in said
    assert "1 of its files" in said
    assert "--allow-missing" in said
    shutil.rmtree(score / place)
    assert f"{place}: no such folder" in refused(scores=score)
    assert f"{place}: no such folder" in refused(files=score)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Topic Switching", "Topic Switching_content_tags.jsonl"),
        ("Topic Switching", "Topic Switching_latency_results.json"),
        ("Topic Switching", "Topic Switching_ftd.json"),
        ("Third-party Speech_after", "Third-party Speech_after_content_tags.jsonl"),
        ("Third-party Speech_after", "Third-party Speech_after_ftd.json"),
        ("Pause Handling", "reject_rate.json"),
        ("Pause Handling", "Pause Handling_ftd.json"),
    ],
)
def test_each_file_under_them_is_missed(score: Path, name: str, file: str) -> None:
    (score / "en" / name / file).unlink()
    assert f"en/{name}/{file}: no such file" in refused(files=score)


def test_the_averages_alone_are_enough_for_scores_and_not_needed_for_files(score: Path) -> None:
    for path in list(score.glob("*/*/*")):
        if not path.name.endswith("_all.json"):
            path.unlink()
    found = run(scores=score)
    # Without *_ftd.json a delay of exactly 0 means that there is none.
    assert found.value("first_response_delay") == pytest.approx(FIRST)
    assert len(refused(files=score).split("no such file")) > 20


def test_files_need_no_averages(score: Path) -> None:
    for path in list(score.glob("*/*/*_all.json")):
        path.unlink()
    assert run(files=score).value("interruption_total_score") == pytest.approx(INTERRUPTION)


def test_everything_that_is_wrong_is_said_at_once(score: Path) -> None:
    (score / "cn/Pause Handling/Pause Handling_all.json").unlink()
    (score / "en/Topic Switching/Topic Switching_all.json").write_text("{")
    shutil.rmtree(score / "en/Repetition Requests")
    said = refused(scores=score)
    assert "3 of its files" in said
    for place in ("cn/Pause Handling", "en/Topic Switching", "en/Repetition Requests"):
        assert place in said


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    assert "nothing there" in refused(scores=tmp_path / "nowhere")
    write(tmp_path / "file", "{}")
    assert "a file" in refused(scores=tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert "an empty folder" in refused(scores=tmp_path / "empty")
    write(tmp_path / "exp" / "score" / "cn" / "Topic Switching" / "x", "")
    assert "name the folder that holds cn/ and en/" in refused(scores=tmp_path / "exp")


# --- what cannot be used ------------------------------------------------------------------------------------

BAD_NUMBERS = ['"1.0"', "NaN", "Infinity", "-0.5", "null", "true", "[1]", "1e999"]


@pytest.mark.parametrize("value", BAD_NUMBERS)
@pytest.mark.parametrize(
    ("place", "file", "field"),
    [
        ("cn/Topic Switching", "Topic Switching_all.json", "avg_latency_stop"),
        ("cn/Topic Switching", "Topic Switching_all.json", "avg_latency_resp"),
        ("cn/Topic Switching", "Topic Switching_all.json", "avg_first_time_delay"),
        ("cn/Topic Switching", "Topic Switching_all.json", "average_RESPOND_score"),
        ("en/Third-party Speech_after", "Third-party Speech_after_all.json", "average_RESUME_score"),
        ("en/Pause Handling", "Pause Handling_all.json", "reject_rate"),
        ("en/Pause Handling", "Pause Handling_ftd.json", "num_samples"),
        ("en/Pause Handling", "reject_rate.json", "ahead"),
        ("en/Pause Handling", "reject_rate.json", "total"),
        ("en/Pause Handling", "reject_rate.json", "ratio"),
    ],
)
def test_what_is_no_number(score: Path, place: str, file: str, field: str, value: str) -> None:
    path = score / place / file
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, field: "HERE"}).replace('"HERE"', value))
    way = "files" if file == "reject_rate.json" else "scores"
    said = refused(**{way: score})
    assert f"{place}/{file}: " in said
    assert field in said or "no JSON" in said  # NaN and Infinity are no JSON


@pytest.mark.parametrize("field", ["average_RESPOND_score", "avg_latency_stop"])
def test_a_field_that_is_missing_is_named(score: Path, field: str) -> None:
    path = score / "cn/Topic Switching/Topic Switching_all.json"
    content = json.loads(path.read_text())
    del content[field]
    write(path, content)
    assert f"no field {field}; found avg_" in refused(scores=score)


def test_a_share_is_no_percentage(score: Path) -> None:
    change(score / "en/Pause Handling/Pause Handling_all.json", reject_rate=70)
    assert "reject_rate is 70; expected 0 to 1" in refused(scores=score)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no JSON"),
        (b'{"avg_latency_stop": 1', "no JSON"),
        (b"\xff\xfe\x00", "no JSON"),
        (b"[]", "a JSON list; expected an object"),
        (b'"x"', "a JSON str; expected an object"),
        (b"{}", "no field"),
    ],
)
def test_content_that_is_no_object(score: Path, content: bytes, said: str) -> None:
    (score / "cn/Topic Switching/Topic Switching_all.json").write_bytes(content)
    assert f"cn/Topic Switching/Topic Switching_all.json: {said}" in refused(scores=score)


def test_a_byte_order_mark_does_no_harm(score: Path) -> None:
    for path in score.glob("*/*/*"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    for way in ("scores", "files"):
        assert run(**{way: score}).value("interruption_total_score") == pytest.approx(INTERRUPTION)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"key": "t", "behaviour": ["C_RESPONSE"]}', "line 3: label 'C_RESPONSE'; expected C_RESPOND, C_RESUME"),
        ('{"key": "t", "behaviour": ["C_RESPONSE"]}', "did you mean C_RESPOND"),
        ('{"key": "t", "behaviour": ["respond"]}', "line 3: label 'respond'"),
        ('{"key": "t", "behaviour": []}', "line 3: found"),
        ('{"key": "t", "behaviour": [1]}', "line 3: label 1"),
        ('{"key": "t"}', "line 3: found"),
        ("[]", "line 3: found"),
        ('{"key"', "line 3: no JSON"),
    ],
)
def test_labels_that_are_none(score: Path, line: str, said: str) -> None:
    path = score / "cn/Topic Switching/Topic Switching_content_tags.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], line, *lines[3:]]))
    message = refused(files=score)
    assert "cn/Topic Switching/Topic Switching_content_tags.jsonl: " in message
    assert said in message


def test_a_file_without_labels(score: Path) -> None:
    (score / "cn/Topic Switching/Topic Switching_content_tags.jsonl").write_text("\n\n")
    assert "no label in it" in refused(files=score)


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ([3.5, 3.0], "results[4].latency_stop_list[0] is [3.5, 3.0]; expected [start, end], 0 <= start <= end"),
        ([-1.0, 3.0], "results[4].latency_stop_list[0] is [-1.0, 3.0]"),
        ([1.0, 2.0, 3.0], "results[4].latency_stop_list[0] is [1.0, 2.0, 3.0]"),
        ([1.0], "results[4].latency_stop_list[0] is [1.0]"),
        (["1.0", "2.0"], "results[4].latency_stop_list[0] is ['1.0', '2.0']"),
        ([None, 2.0], "results[4].latency_stop_list[0] is [None, 2.0]"),
        ("12", "results[4].latency_stop_list[0] is '12'"),
        (7, "results[4].latency_stop_list[0] is 7"),
        pytest.param(
            *([True, 2.0], "results[4].latency_stop_list[0] is [True, 2.0]"),
        ),
        ({"1": 2, "3": 4}, "results[4].latency_stop_list[0] is {'1': 2, '3': 4}"),
    ],
)
def test_intervals_that_are_none(score: Path, interval: Any, said: str) -> None:
    path = score / "en/Repetition Requests/Repetition Requests_latency_results.json"
    content = json.loads(path.read_text())
    content["results"][4]["latency_stop_list"] = [interval]
    write(path, content)
    message = refused(files=score)
    assert "en/Repetition Requests/Repetition Requests_latency_results.json: " in message
    assert said in message


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, "no list results"),
        ({}, "no list results"),
        ([1], "results[0] is 1; expected an object"),
        ([{"key": "k", "latency_stop_list": []}], "results[0] has no latency_resp_list"),
        ([{"latency_stop_list": [], "latency_resp_list": []}], "results[0] has no key"),
        pytest.param(
            *([{"key": "k", "latency_stop_list": {}, "latency_resp_list": []}], "results[0].latency_stop_list is {}"),
        ),
        ([{"key": "k", "latency_stop_list": None, "latency_resp_list": []}], "results[0].latency_stop_list is None"),
    ],
)
def test_rows_of_intervals_that_are_none(score: Path, rows: Any, said: str) -> None:
    change(score / "en/Repetition Requests/Repetition Requests_latency_results.json", results=rows)
    assert said in refused(files=score)


@pytest.mark.parametrize(("ahead", "total"), [(11, 10), (2.5, 10)])
def test_counts_that_cannot_be(score: Path, ahead: float, total: float) -> None:
    change(score / "en/Pause Handling/reject_rate.json", ahead=ahead, total=total)
    assert "en/Pause Handling/reject_rate.json: ahead" in refused(files=score)


def test_a_folder_that_cannot_be_told_from_another(score: Path) -> None:
    shutil.copytree(score / "cn/Topic Switching", score / "cn/shift")
    said = refused(scores=score)
    assert "two folders are Topic Switching in cn" in said
    assert "Topic Switching and shift" in said


def test_two_files_of_one_ending(score: Path) -> None:
    """The one that is named after its category is taken; where none is, nobody can tell."""
    folder = score / "cn/Topic Switching"
    shutil.copy(folder / "Topic Switching_all.json", folder / "old_all.json")
    assert run(scores=score).value("interruption_total_score") == pytest.approx(INTERRUPTION)
    (folder / "Topic Switching_all.json").rename(folder / "new_all.json")
    assert "several files, new_all.json, old_all.json; expected one" in refused(scores=score)


def test_folders_that_are_none_of_the_experiment_are_told(score: Path) -> None:
    (score / "logs").mkdir()
    (score / "en" / "Small Talk").mkdir()
    assert findings(run(scores=score), "unknown folder") == [
        "not a category or language, not read: en/Small Talk, logs"
    ]


# --- names --------------------------------------------------------------------------------------------------

SPELLINGS = {
    "Follow-up Questions": ("ask", "Follow_up_Questions", "follow-up questions", "FollowUpQuestions"),
    "Negation or Dissatisfaction": ("deny", "negation_or_dissatisfaction"),
    "Repetition Requests": ("repeat", "Repetition_Requests"),
    "Silence or Termination": ("wait", "Silence-or-Termination"),
    "Topic Switching": ("shift", "TOPIC SWITCHING"),
    "Speech Directed at Others": ("Speech Directe at Others", "Speech_Directe_at_Others", "talk_to_others"),
    "Third-party Speech_after": ("others_talk_to_user_after", "Third-party_Speech_after", "third party speech after"),
    "User Real-time Backchannels": ("backchannel", "User_Real-time_Backchannels"),
    "Pause Handling": ("pause", "pause_handling"),
    "Third-party Speech_before": ("others_talk_to_user_before", "Third_party_Speech_before"),
}


@pytest.mark.parametrize(("name", "spelling"), [(name, one) for name, all_ in SPELLINGS.items() for one in all_])
def test_categories_under_all_their_names(score: Path, name: str, spelling: str) -> None:
    """The folder and its files; the results are under the document's name."""
    for language in LANGUAGES:
        folder = (score / language / name).rename(score / language / spelling)
        for path in list(folder.glob(f"{name}_*")):
            path.rename(folder / path.name.replace(name, spelling))
    found = run(scores=score)
    assert found.value("interruption_total_score") == pytest.approx(INTERRUPTION)
    assert found.value("rejection_total_score") == pytest.approx(REJECTION)
    metric = "interruption_total_score" if name in RESPOND else "rejection_total_score"
    assert found.value(metric, category=name, language="en") is not None


@pytest.mark.parametrize(("cn", "en"), [("zh", "en"), ("Chinese", "English"), ("dev_zh", "dev_en"), ("ZH-CN", "EN")])
def test_languages_under_their_names(score: Path, cn: str, en: str) -> None:
    (score / "cn").rename(score / cn)
    if en != "en":
        (score / "en").rename(score / en)
    assert run(scores=score).value("interruption_total_score", language="cn") == pytest.approx(70)
