"""Data that once led the room astray: stray recordings, names that collide, tables that disagree, odd files."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.translation.test_room import KEYS, ROWS, evaluate, missing, predicted, results, scores
from tests.translation.writing import MAPPED, ground_truth, lines, predictions, speech, table, tone
from turnwise.kernel.errors import InputError
from turnwise.translation.batch import SampleBatch, empty
from turnwise.translation.formats.data import DataSamples
from turnwise.translation.formats.ground_truth import GroundTruthSamples
from turnwise.translation.load import TranslationSource
from turnwise.translation.records import Sample
from turnwise.translation.suite import TranslationOptions


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    folder = predictions(tmp_path / "xhosa", *ROWS)
    speech(folder, KEYS)
    return tmp_path


def test_stray_recordings_are_noted_and_not_used(spoken: Path) -> None:
    before = scores(evaluate(data_dir=spoken, metrics=["mcd"]), "mcd")
    folder = spoken / "xhosa"
    strays = (
        "predicted_tgt_audio_t/Segment=0_User=1_Language=xho_pred_old.wav",
        "processed_audio_normalized/Segment=0_User=1_Language=zul.wav",
    )
    for name in strays:
        tone(folder / name, 99)
    shutil.copy(predicted(spoken, segment="1"), predicted(spoken, segment="1").with_suffix(".flac"))
    result = evaluate(data_dir=spoken, metrics=["mcd"])
    assert scores(result, "mcd") == before
    noted = {
        f["message"].split(": ")[-1]: f["count"] for f in result.run.findings if f["check"] == "audio_without_text"
    }
    assert noted == {
        "Segment=0_User=1_Language=zul.wav": 1,
        "Segment=0_User=1_Language=xho_pred_old.wav, Segment=1_User=1_Language=xho_pred.flac": 2,
    }


def test_two_folders_of_one_language_are_refused(tmp_path: Path) -> None:
    for name in ("swahili", "swa"):
        predictions(tmp_path / name, *ROWS, iso="swh")
    with pytest.raises(InputError, match="swa and swahili"):
        evaluate(data_dir=tmp_path)


def test_slashes_inside_ids_do_not_make_two_samples_one(tmp_path: Path) -> None:
    predictions(tmp_path / "xhosa", ("a", "b/c", "s", "h", "r"), ("a/b", "c", "s", "h", "r"))
    assert set(scores(evaluate(data_dir=tmp_path), "chrf")) == {"xhosa/a/b%2Fc", "xhosa/a%2Fb/c"}


def test_languages_that_would_share_a_folder_get_one_each(tmp_path: Path) -> None:
    names = ["a/b", "a_b", "A_B", "summary.json", "x" * 300, None]
    data = [{"id": str(n), "hypothesis": "h", "reference": "h", "language": name} for n, name in enumerate(names)]
    evaluate(data, out=tmp_path / "out", metrics=["chrf"])
    folders = {path.parent.name for path in (tmp_path / "out").glob("*/detailed_results.csv")}
    assert folders == {"a_b", "a_b_2", "A_B_3", "summary.json_2", "x" * 80, "und"}
    totals = [json.loads(path.read_text())["total_samples"] for path in (tmp_path / "out").glob("*/summary.json")]
    assert totals == [1] * len(names)


def test_tables_that_disagree_are_noted(tmp_path: Path) -> None:
    folder = predictions(tmp_path / "xhosa", *ROWS)
    mapped = [
        ("0", "1", "", "another text", "", "xho"),
        ("1", "1", "", " ", "", "xho"),
        ("2", "1", "", "neno 2", "", "xho"),
    ]
    table(folder / "mapped_metadata_test.csv", MAPPED, *mapped)
    (tmp_path / "igbo").mkdir()
    table(tmp_path / "igbo" / "mapped_metadata_test.csv", MAPPED)
    found = {(f["check"], f["count"]) for f in evaluate(data_dir=tmp_path, metrics=["chrf"]).run.findings}
    assert {("other_ground_truth", 1), ("no_ground_truth", 1), ("missing_predictions", 1)} <= found
    predictions(tmp_path / "xhosa", *ROWS, iso="swh")
    notes = [
        f["message"]
        for f in evaluate(data_dir=tmp_path, metrics=["chrf"]).run.findings
        if f["check"] == "other_language"
    ]
    assert notes == ["xhosa: rows whose iso_code is swh"]


def test_a_segment_without_id_is_refused_with_its_line(tmp_path: Path) -> None:
    predictions(tmp_path / "xhosa", *ROWS, (" ", "1", "s", "h", "r"))
    with pytest.raises(InputError, match="line 7"):
        evaluate(data_dir=tmp_path)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "h.txt")
    with pytest.raises(InputError, match="not a regular file"):
        evaluate(hypotheses=tmp_path / "h.txt", references=[lines(tmp_path / "r.txt", "a")])


def test_long_cells_and_impossible_paths(tmp_path: Path) -> None:
    text = "neno " * 40_000
    path = table(tmp_path / "d.csv", ("hypothesis", "reference"), (text, text), separator=",")
    assert evaluate(path, metrics=["chrf"]).value("chrf") == pytest.approx(100)
    audio = {"hypothesis_audio": "x" * 300, "reference_audio": "a\x00b"}
    result = evaluate([{"id": "a\x00b", "hypothesis": "h", "reference": "h", **audio}], metrics=["chrf", "mcd"])
    assert result.value("chrf") == 100


def test_what_cannot_be_read_of_ground_truth_is_counted_by_reason_in_its_language(tmp_path: Path) -> None:
    metadata = '{"target_language": "swh"}'
    for name in ("a", "b", "c"):
        ground_truth(tmp_path / "data", name, {"source": "x", "target": "y"}, metadata, audio=False)
    for name in ("b", "c"):
        (tmp_path / "data" / name / "target.txt").write_bytes(b"\xff")
    out = tmp_path / "out"
    options = {"mode": "ground_truth", "type": "text_to_text", "data_dir": tmp_path / "data"}
    result = evaluate(**options, metrics=["bleu"], out=out)
    expected = {"ground truth: the text would be compared with itself": 1, "the text is not UTF-8": 2}
    assert missing(result, "bleu") == expected
    assert missing(result, "bleu", group={"language": "swahili"}) == expected
    with (out / "swahili" / "detailed_results.csv").open(newline="") as file:
        assert [row["missing"] for row in csv.DictReader(file)] == [
            f"bleu: {reason}" for reason in (*expected, list(expected)[1])
        ]


def test_under_spec_nothing_is_asked_for_mcd_of_ground_truth(tmp_path: Path) -> None:
    ground_truth(tmp_path, "a", {"source": "x", "target": "moja mbili"}, '{"target_language": "swh"}', audio=False)
    options = {"mode": "ground_truth", "type": "audio_to_audio", "profile": "spec", "data_dir": tmp_path}
    result = evaluate(**options, metrics=["bleu", "chrf", "mcd"])
    assert [result.value(name, rollup) for name in ("bleu", "chrf") for rollup in ("corpus", "mean")] == [100] * 4


def test_wrong_pairs_are_all_accounted_for_and_the_same_in_any_order(spoken: Path) -> None:
    predicted(spoken, segment="0").unlink()
    first = evaluate(data_dir=spoken, metrics=["mcd"])
    (wrong,) = results(first, "mcd", variant="mismatched")
    assert (wrong["n_total"], wrong["n_scored"], wrong["missing"]) == (5, 4, {"no audio file": 1})
    predictions(spoken / "xhosa", *reversed(ROWS))
    assert scores(evaluate(data_dir=spoken, metrics=["mcd"]), "mcd", "mismatched") == scores(first, "mcd", "mismatched")


def test_a_metric_that_is_not_measured_says_so_for_every_language() -> None:
    result = evaluate(metrics=["bleu", "mcd"])
    found = {r["group"].get("language"): r["missing"] for r in result.results if r["metric"] == "mcd"}
    reason = "no hypothesis_audio, no reference_audio"
    assert found == {None: {reason: 6}, "xhosa": {reason: 2}, "english": {reason: 3}, "swahili": {reason: 1}}


def test_recordings_of_a_language_that_only_its_rows_name_by_code(tmp_path: Path) -> None:
    folder = predictions(tmp_path / "german", *ROWS, iso="deu")
    speech(folder, KEYS, iso="deu")
    result = evaluate(data_dir=tmp_path, metrics=["mcd"])
    assert missing(result, "mcd") == {}
    assert not [f for f in result.run.findings if f["check"] in ("other_language", "audio_without_text")]


def test_samples_without_a_language_beside_others_have_results_of_their_own(tmp_path: Path) -> None:
    data = [{"id": str(n), "hypothesis": "moja mbili", "reference": "moja tatu"} for n in range(4)]
    data = [{**row, "language": "swh"} if n < 2 else row for n, row in enumerate(data)]
    result = evaluate(data, metrics=["chrf"], out=tmp_path / "out")
    assert result.value("chrf", language="und") == result.value("chrf", language="swahili") is not None
    summary = json.loads((tmp_path / "out" / "und" / "summary.json").read_text())
    assert (summary["metrics"]["chrf"]["corpus"], summary["total_samples"]) == (result.value("chrf"), 2)


def test_more_languages_than_files_may_be_open(tmp_path: Path) -> None:
    import resource

    data = [{"id": str(n), "hypothesis": "a", "reference": "a", "language": f"l{n}"} for n in range(150)]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (400, before[1]))
    try:
        evaluate(data, metrics=["chrf"], out=tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert len(list((tmp_path / "out").glob("*/logs/evaluation.log"))) == 150


def test_the_source_language_is_not_read_out_of_the_target() -> None:
    rows = [{"hypothesis": "a", "language": "pt-BR"}, {"hypothesis": "a", "language": "xho", "source_language": "swa"}]
    found = [(s.language, s.source_language) for s in DataSamples(rows).read([0, 1])]
    assert found == [("pt-BR", None), ("xhosa", "swahili")]
    assert list(TranslationSource(DataSamples(rows)).directions) == found


def test_references_come_in_the_order_of_their_numbers() -> None:
    (sample,) = DataSamples([{"reference_10": "c", "reference_2": "b", "hypothesis": "h", "reference": "a"}]).read([0])
    assert sample.references == ("a", "b", "c")


def test_full_names_of_metrics_are_the_same_as_short_ones() -> None:
    short, full = (evaluate(metrics=[name]) for name in ("chrf", "translation/chrf"))
    assert [r["signature"] for r in short.results] == [r["signature"] for r in full.results]
    options = TranslationOptions(data=[{}], metrics=["translation/comet"])
    assert options.metrics == ["comet"]


@pytest.mark.parametrize(
    "changed", [{"latency_ms": 5}, {"source_language": "xho"}, {"document": "d"}, {"domain": "bus"}]
)
def test_a_resumed_run_notices_any_change(changed: dict[str, object]) -> None:
    row = {"id": "1", "hypothesis": "a", "reference": "a"}
    marks = {TranslationSource(DataSamples([one])).input_fingerprint for one in (row, {**row, **changed})}
    assert len(marks) == 2


def test_checks_of_the_input_are_told_from_diagnoses(tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate([{"hypothesis": "", "reference": "moja mbili"}], metrics=["bleu", "chrf"], out=out)
    findings = [f["message"] for f in json.loads((out / "overall_summary.json").read_text())["findings"]]
    assert findings == ["empty hypotheses, scored as they are: 1"]


def test_ground_truth_of_other_languages_is_left_out_and_counted(tmp_path: Path) -> None:
    for name, language in (("a", "swh"), ("b", "ibo"), ("c", "ibo")):
        ground_truth(tmp_path, name, {"target": "y"}, f'{{"target_language": "{language}"}}', audio=False)
    (tmp_path / "c" / "target.txt").write_bytes(b"\xff")
    samples = GroundTruthSamples(tmp_path, ["swahili"], None)
    assert [sample.id for sample in samples.read(range(len(samples.order)))] == ["a"]
    assert [(f.check, f.count) for f in samples.findings] == [("other_languages", 2)]


def test_the_silent_probe_of_ground_truth_is_a_translation_like_the_others() -> None:
    sample = Sample(id="a", segment="a", hypothesis="x", references=("x",), is_reference=True)
    assert not empty(SampleBatch(0, [sample])).samples[0].is_reference


def test_columns_without_a_name_go_by_their_place(tmp_path: Path) -> None:
    """As pandas writes an index, and spreadsheets write columns that were emptied."""
    path = tmp_path / "data.csv"
    path.write_text(",hypothesis,reference,,\n0,a b c,a b c,kept,\n1,d e f,d e f,kept,\n")
    samples = DataSamples(path).read([0, 1])
    assert [sample.metadata for sample in samples] == [{"column 1": n, "column 4": "kept"} for n in ("0", "1")]


def test_a_cell_that_looks_like_a_list_is_a_text_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    rows = [["hypothesis", "reference"], ["a", '["a", "b"]'], ["a", "['a', 'b']"], ["a", "[a]"], ["a", '[ "a" ] b']]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    samples = DataSamples(path)
    assert [sample.references for sample in samples.read(range(4))] == [(row[1],) for row in rows[1:]]
    assert [(f.message.split(",")[0], f.count) for f in samples.findings] == [("references that look like a list", 2)]


def test_what_is_no_number_is_nothing_to_slice_by() -> None:
    rows = [{"id": str(n), "hypothesis": "a", "reference": "a", "site": site} for n, site in enumerate((1.5, NAN, INF))]
    samples = DataSamples(rows)
    assert [sample.metadata for sample in samples.read(range(3))] == [{"site": "1.5"}, {}, {}]
    assert [finding.count for finding in samples.findings if "'site'" in finding.message] == [2]


NAN, INF = float("nan"), float("inf")
