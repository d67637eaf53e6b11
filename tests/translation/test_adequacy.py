"""Adequacy: what a judge says of a translation, with the errors it points out; against a real server on loopback."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import turnwise
from tests.judge.server import MODEL, Reply, Request, Server, completion
from turnwise.judge.records import Judgement
from turnwise.kernel.score import Source, Status
from turnwise.store.reading import stream_scores
from turnwise.store.store import Store
from turnwise.translation.batch import SampleBatch
from turnwise.translation.records import Sample

WRONG = {"text": "kumi", "kind": "mistranslation", "severity": "major"}
ANSWERS: dict[str, Any] = {
    "Daktari atakuona saa kumi asubuhi.": {"reasoning": "ten o'clock became four", "spans": [WRONG], "adequacy": 55},
    "Kiti hiki hakina mtu.": {"reasoning": "all there", "spans": [], "adequacy": 100},
    "": {"reasoning": "nothing", "spans": [], "adequacy": 0},
}
"""By translation: what the server is told to say."""
ROWS: list[dict[str, Any]] = [
    {
        "id": "1",
        "source": "The doctor will see you at ten.",
        "hypothesis": "Daktari atakuona saa kumi asubuhi.",
        "reference": "Daktari atakuona saa nne asubuhi.",
        "language": "swh",
    },
    {
        "id": "2",
        "source": "This seat is free.",
        "hypothesis": "Kiti hiki hakina mtu.",
        "reference": ["Kiti hiki hakina mtu.", "Kiti hiki ni tupu."],
        "language": "swh",
    },
    {"id": "3", "source": "Yes.", "hypothesis": "", "reference": "Ndiyo.", "language": "swh"},
]


def shown(request: Request) -> dict[str, str]:
    text = request.body["messages"][1]["content"]
    return dict(re.findall(r"^BEGIN (\w+) \w{16}\n(.*?)\nEND \1 \w{16}$", text, re.MULTILINE | re.DOTALL))


def answer(request: Request) -> Reply:
    said = ANSWERS[shown(request)["hypothesis"]]
    return completion(said if isinstance(said, str) else json.dumps(said))


def run(rows: list[dict[str, Any]], url: str | None = None, **options: Any) -> turnwise.Result:
    judge = {} if url is None else {"judge_url": url, "judge_model": MODEL}
    return turnwise.evaluate({"data": rows}, suite="translation", resamples=100, **judge, **options)


def line(found: turnwise.Result) -> dict[str, Any]:
    (result,) = (one for one in found.results if one["metric"] == "adequacy" and not one["group"])
    return result


def test_the_mean_of_what_the_judge_says_with_the_errors_it_points_out() -> None:
    """(55 + 100 + 0) / 3. An empty translation is judged like any other."""
    with Server(answer) as server:
        found = run(ROWS, server.url, metrics=["adequacy"])
        seen = {shown(one)["hypothesis"]: shown(one) for one in server.requests}
    result = line(found)
    assert result["value"] == pytest.approx(155 / 3)
    assert (result["rollup"], result["n_scored"], result["n_total"]) == ("mean", 3, 3)
    assert found.value("adequacy", language="swahili") == pytest.approx(155 / 3)
    first = next(one for one in found.scores if one.unit.id == "1")
    assert (first.value, first.source, first.rater, first.variant) == (55, Source.JUDGE, MODEL, "")
    (said,) = first.evidence["answers"]
    assert said["spans"] == [{**WRONG, "found": "yes"}]
    assert said["reasoning"] == "ten o'clock became four"
    assert seen["Daktari atakuona saa kumi asubuhi."] == {
        "source": "The doctor will see you at ten.",
        "hypothesis": "Daktari atakuona saa kumi asubuhi.",
        "reference": "Daktari atakuona saa nne asubuhi.",
        "target_language": "swahili",
    }
    assert json.loads(seen["Kiti hiki hakina mtu."]["reference"]) == ["Kiti hiki hakina mtu.", "Kiti hiki ni tupu."]


def test_it_is_part_of_a_default_run_only_where_there_is_a_judge() -> None:
    without = run(ROWS)
    assert "adequacy" not in without.run.config["metrics"]
    with Server(answer) as server:
        found = run(ROWS, server.url)
    assert "adequacy" in found.run.config["metrics"]
    assert line(found)["value"] == pytest.approx(155 / 3)
    bleu = [[one for one in result.results if one["metric"] == "bleu"] for result in (without, found)]
    assert bleu[0] == bleu[1]


def test_named_without_a_judge_it_says_that_there_is_none() -> None:
    result = line(run(ROWS, metrics=["adequacy", "bleu"]))
    assert (result["value"], result["n_scored"], result["n_total"]) == (None, 0, 3)
    assert sum(result["missing"].values()) == 3
    assert "|judge=none|" in result["signature"]


def test_probes_and_baselines_are_not_asked_about() -> None:
    with Server(answer) as server:
        found = run(ROWS, server.url, probes=True, baselines=True)
        assert len(server.requests) == 3
    assert {one["variant"] for one in found.results if one["metric"] == "adequacy"} == {""}


def test_what_cannot_be_asked_about_says_why() -> None:
    rows = [
        ROWS[0],
        {**ROWS[1], "source": " "},
        {**ROWS[2], "source": None},
        {**ROWS[2], "id": "4", "hypothesis": None},
    ]
    with Server(answer) as server:
        found = run(rows, server.url, metrics=["adequacy"])
        assert len(server.requests) == 1
    result = line(found)
    assert (result["value"], result["n_scored"], result["n_total"]) == (55, 1, 4)
    assert result["missing"] == {"empty source": 1, "no source": 1, "no hypothesis": 1}


def test_an_answer_off_the_scale_is_an_error_outside_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 55, nothing and 0 the mean is 27.5: 120 is neither clamped to 100 nor counted as 0."""
    monkeypatch.setitem(ANSWERS, "Kiti hiki hakina mtu.", {"reasoning": "", "spans": [], "adequacy": 120})
    with Server(answer) as server:
        found = run(ROWS, server.url, metrics=["adequacy"])
        assert len(server.requests) == 3 + 1
    result = line(found)
    assert (result["value"], result["n_scored"], result["n_total"]) == (27.5, 2, 3)
    assert sum(result["missing"].values()) == 1
    (failed,) = (one for one in found.scores if one.status is Status.ERROR)
    assert failed.unit.id == "2"
    assert "120" in json.dumps(failed.evidence)


def test_replaying_gives_the_same_rows_byte_for_byte(tmp_path: Path) -> None:
    kept = []
    for name in ("asked", "replayed"):
        with Server(answer) as server:
            where = {"url": server.url, "judge_cassette": tmp_path / "cassette"}
            options = where if name == "asked" else {"judge_replay": tmp_path / "cassette"}
            run(ROWS, **options, db=str(tmp_path / f"{name}.sqlite"))
            assert len(server.requests) == (3 if name == "asked" else 0)
        store = Store(str(tmp_path / f"{name}.sqlite"))
        kept.append(list(stream_scores(store, store.run("latest"))))
        store.close()
    assert kept[0] == kept[1]
    assert sum(one["metric"] == "translation/adequacy" for one in kept[0]) == 3


def test_the_rooms_files_and_page_have_it(tmp_path: Path) -> None:
    with Server(answer) as server:
        run(ROWS, server.url, out=tmp_path)
    summary = json.loads((tmp_path / "swahili" / "summary.json").read_text(encoding="utf-8"))
    own = summary["metrics"]["adequacy"]
    assert own["mean"] == own["corpus"] == pytest.approx(155 / 3)
    assert (own["min"], own["max"], own["median"], own["valid"]) == (0, 100, 55, 3)
    assert "adequacy" in (tmp_path / "summary_report.html").read_text(encoding="utf-8")


OWN = """
name: politeness
question: How polite is the translation?
needs: [source, hypothesis]
scores:
  politeness:
    asks: How polite?
    scale: {low: 1, high: 5}
"""


def test_a_rubric_of_ones_own(tmp_path: Path) -> None:
    """4 for each of the three."""
    (tmp_path / "own.yaml").write_text(OWN, encoding="utf-8")

    def polite(request: Request) -> Reply:
        assert set(shown(request)) == {"source", "hypothesis"}
        return completion('{"reasoning": "", "politeness": 4}')

    with Server(polite) as server:
        found = run(ROWS, server.url, metrics=["bleu"], judge=tmp_path / "own.yaml")
    assert found.value("politeness") == 4


def test_the_reference_itself_is_not_shown_beside_itself() -> None:
    """In a check of reference data the translation is the reference; nothing is shown of what is not scored."""
    sample = Sample("1", "1", source="s", hypothesis="r", references=("r", None, " "), language="xhosa")
    batch = SampleBatch(0, [sample, Sample("2", "2", source="s", hypothesis="r", references=("r",), is_reference=True)])
    first, second = (pieces for _, pieces in batch.pieces("sample"))
    assert (first["reference"], first["source_language"], first["target_language"]) == ("r", None, "xhosa")
    assert second["reference"] is None
    excluded = SampleBatch(0, [Sample("3", "3", source="s", hypothesis="r", excluded="no reference (spec)")])
    assert [dict(pieces) for _, pieces in excluded.pieces("sample")] == [{}]


def test_judgements_travel_with_a_batch() -> None:
    judged = {("adequacy", "sample", "1"): Judgement((), MODEL)}
    batch = SampleBatch(0, [Sample("1", "1", source="s", hypothesis="h")], judged=judged)
    assert pickle.loads(pickle.dumps(batch)).judged == judged
    assert all(part.judged == judged for _, part in batch.split("sample"))
