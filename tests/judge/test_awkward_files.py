"""The files that rooms write, with a judge's scores in them. The judge is a server on loopback."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import turnwise
from tests.judge.server import Reply, Request, Server, completion
from tests.judge.test_awkward import SCORES, TONE, data, judged


def test_turns_and_dialogues_have_the_judges_scores(tmp_path: Path) -> None:
    """Dialogue a: (5 + 2) / 2 = 3.5; the answer about b cannot be read."""
    said = {"One at eight.": 5, "Booked.": 2}

    def by_response(request: Request) -> Reply:
        shown = request.body["messages"][1]["content"].partition("BEGIN response")[2].partition("END response")[0]
        score = next((score for text, score in said.items() if text in shown), None)
        scores = dict.fromkeys(SCORES, score)
        return completion("Hm." if score is None else json.dumps({"reasoning": "Because.", **scores}))

    with Server(by_response) as server:
        turnwise.evaluate(data(), **judged(server, out=tmp_path / "out"))
    with (tmp_path / "out" / "turns.csv").open() as file:
        turns = list(csv.DictReader(file))
    assert [row["response_quality"] for row in turns] == ["5.0", "2.0", ""]
    assert "response_quality: unreadable, also when asked again" in turns[2]["missing"]
    with (tmp_path / "out" / "dialogues.csv").open() as file:
        assert [row["response_quality"] for row in csv.DictReader(file)] == ["3.5", ""]


def test_a_rubric_of_ones_own_in_the_files_of_translation(tmp_path: Path) -> None:
    """Two samples with 2 and 5: a mean of 3.5, marked in every file that shows it."""
    rubric = tmp_path / "own.yaml"
    rubric.write_text(TONE.format(name="tone").replace("[user, response]", "[source, hypothesis]"))
    lines = [("Hello.", "Habari.", 2), ("Thanks.", "Asante.", 5)]
    for number, name in enumerate(("sources", "hypotheses")):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line[number]}\n" for line in lines))

    def by_source(request: Request) -> Reply:
        score = next(score for source, _, score in lines if source in request.prompt)
        return completion(json.dumps({"reasoning": "Because.", "tone": score}))

    given = {name: tmp_path / f"{name}.txt" for name in ("sources", "hypotheses")}
    given["references"] = [tmp_path / "hypotheses.txt"]
    out = tmp_path / "out"
    with Server(by_source) as server:
        turnwise.evaluate(given, suite="translation", **judged(server, metrics=["chrf"], judge=rubric, out=out))
    (language,) = json.loads((out / "overall_summary.json").read_text())["languages"].values()
    assert (language["tone"]["mean"], language["tone"]["calibration"]) == (3.5, "uncalibrated")
    assert "calibration" not in language["chrf"]
    page = (out / "summary_report.html").read_text()
    assert "tone (uncalibrated)" in page
    assert ">3.50<" in page
