"""Reading: every layout gives the samples that are in it, and what cannot be meant is refused with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.translation.writing import MAPPED, PREDICTED, ground_truth, lines, predictions, speech, table
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
from turnwise.translation.formats.base import Order, Samples
from turnwise.translation.formats.data import DataSamples
from turnwise.translation.formats.ground_truth import GroundTruthSamples
from turnwise.translation.formats.lines import LineSamples
from turnwise.translation.formats.predictions import PredictionSamples
from turnwise.translation.load import TranslationSource
from turnwise.translation.records import Sample

ROWS = (
    ("7", "11", "one two", "moja mbili", "moja mbili"),
    ("8", "11", "three", "tatu", "tatu"),
    ("7", "12", "one two", "moja", "moja mbili"),
)


def every(samples: Samples) -> list[Sample]:
    return [sample for numbers in samples.order.portions(2) for sample in samples.read(numbers)]


def predicted(folder: Path, *languages: str, nmt: str | None = "m", tts: str | None = None) -> PredictionSamples:
    return PredictionSamples(folder, languages, nmt, tts)


# --- the order ----------------------------------------------------------------------------------------------


def test_the_samples_of_a_cluster_stay_together_in_the_order_of_their_first() -> None:
    order = Order()
    for cluster in ("a", "b", "a", None, "b", "a"):
        order.add(cluster)
    assert [list(portion) for portion in order.portions(10)] == [[0, 2, 5, 1, 4, 3]]
    # Three of a are more than two, and stay together; 3, the last one alone, has company.
    assert [list(portion) for portion in order.portions(2)] == [[0, 2, 5], [1, 4, 3]]


# --- plain lines --------------------------------------------------------------------------------------------


def test_lines_of_several_references_and_sources(tmp_path: Path) -> None:
    files = [
        lines(tmp_path / f"{n}.txt", *texts) for n, texts in enumerate((("a", ""), ("A", "B"), ("x", ""), ("s", "t")))
    ]
    first, second = every(LineSamples(files[0], files[1:3], files[3], "xhosa"))
    assert (first.id, first.hypothesis, first.references, first.source) == ("1", "a", ("A", "x"), "s")
    assert (second.id, second.hypothesis, second.references, second.source) == ("2", "", ("B", ""), "t")
    assert second.language == "xhosa"


def test_carriage_returns_and_byte_order_marks_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "h.txt"
    path.write_bytes("\ufeffmoja\r\nmbili\u2028tatu\x0b\r\n".encode())
    samples = every(LineSamples(path, [path], None, None))
    assert [sample.hypothesis for sample in samples] == ["moja", "mbili\u2028tatu\x0b"]


def test_unequal_line_counts_are_refused_with_both_numbers(tmp_path: Path) -> None:
    two, three = lines(tmp_path / "h.txt", "a", "b"), lines(tmp_path / "r.txt", "a", "b", "c")
    with pytest.raises(InputError) as caught:
        LineSamples(two, [three], None, None)
    assert "h.txt: 2, r.txt: 3" in caught.value.message


def test_text_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "h.txt"
    path.write_bytes("eins\nzwölf\n".encode("latin-1"))
    with pytest.raises(InputError) as caught:
        LineSamples(path, [path], None, None)
    assert "line 2, byte 3" in caught.value.message
    assert "UTF-8" in caught.value.message


# --- a table or JSON lines ----------------------------------------------------------------------------------


def test_the_same_samples_from_jsonl_csv_tsv_and_memory(tmp_path: Path) -> None:
    rows = [("s1", "one", "moja", "Moja", "swa"), ("s2", 'two, "three"', "mbili", "", "xho")]
    names = ("id", "source", "hypothesis", "reference", "language")
    quoted = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in rows]
    records: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
    import json

    found = [
        every(DataSamples(table(tmp_path / "d.csv", names, *quoted, separator=","))),
        every(DataSamples(table(tmp_path / "d.tsv", names, *quoted, separator="\t"))),
        every(DataSamples(table(tmp_path / "pipe.csv", names, *quoted))),
        every(DataSamples(lines(tmp_path / "d.jsonl", *map(json.dumps, records)))),
        every(DataSamples(records)),
    ]
    for samples in found:
        assert [(s.id, s.language, s.source, s.hypothesis, s.references) for s in samples] == [
            ("s1", "swahili", "one", "moja", ("Moja",)),
            ("s2", "xhosa", 'two, "three"', "mbili", ("",)),
        ]


def test_other_column_names_references_audio_dimensions_and_costs(tmp_path: Path) -> None:
    header = ("mt", "ref_a", "ref_b", "hypothesis_audio", "domain", "latency_ms")
    path = table(tmp_path / "d.csv", header, ("moja", "Moja", "Mojaa", "a/x.wav", "bus", "12.5"), separator=",")
    (sample,) = every(DataSamples(path, {"hypothesis": "mt", "reference": "ref_a,ref_b"}))
    assert sample.id == "1"
    assert sample.references == ("Moja", "Mojaa")
    assert sample.hypothesis_audio == tmp_path / "a/x.wav"
    assert sample.metadata == {"domain": "bus"}
    assert sample.operations == {"latency_ms": 12.5}
    assert sample.source is None


def test_a_list_of_references_in_json() -> None:
    (sample,) = every(DataSamples([{"id": 5, "hypothesis": "a", "reference": ["b", None, "c"]}]))
    assert (sample.id, sample.references) == ("5", ("b", None, "c"))


def test_the_same_id_in_two_languages_is_told_apart() -> None:
    rows = [{"id": "1", "hypothesis": "a", "reference": "a", "language": name} for name in ("swh", "xho")]
    assert [sample.id for sample in every(DataSamples(rows))] == ["swahili/1", "xhosa/1"]
    assert [sample.language for sample in every(DataSamples(rows, languages=["xhosa"]))] == ["xhosa"]


def test_samples_of_a_document_are_one_cluster() -> None:
    rows = [{"id": str(n), "hypothesis": "a", "document": name} for n, name in enumerate("abab")]
    assert [sample.id for sample in every(DataSamples(rows))] == ["0", "2", "1", "3"]
    assert {sample.unit.cluster for sample in every(DataSamples(rows))} == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,hypothesis\n1,a\n1,b\n", ["same id", "line 3", "line 2"]),
        ("id,hypothesis\n1,a,b\n", ["line 2", "3 cells", "2 cells"]),
        ('id,hypothesis\n1,"a\n', ["line 2"]),
        ("id,translation\n1,a\n", ["no column 'hypothesis'", "--column hypothesis="]),
        ("id,id,hypothesis\n1,1,a\n", ["stands twice", "line 1"]),
        ("", ["no header"]),
        ("id,hypothesis\n", ["no sample"]),
        ("id,hypothesis,cost\n1,a,much\n", ["cost", "line 2", "much"]),
    ],
)
def test_a_bad_table_is_refused_with_its_place(tmp_path: Path, text: str, said: list[str]) -> None:
    path = tmp_path / "d.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(TurnwiseError) as caught:
        DataSamples(path)
    assert [part for part in said if part not in caught.value.message] == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", ["not JSON", "line 1"]),
        ("[1]", ["not a JSON object"]),
        ('{"hypothesis": 5}', ["hypothesis is not a text", "line 1", "5"]),
        ('{"hypothesis": "a", "reference": [{"x": 1}]}', ["reference is not a text"]),
    ],
)
def test_bad_json_is_refused_with_its_place(tmp_path: Path, line: str, said: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        DataSamples(lines(tmp_path / "d.jsonl", line))
    assert [part for part in said if part not in caught.value.message] == []


def test_a_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="mt2"):
        DataSamples([{"hypothesis": "a", "mt": "b"}], {"source": "mt2"})
    with pytest.raises(UsageError, match="did you mean hypothesis"):
        DataSamples([{"hypothesis": "a"}], {"hypotesis": "mt"})


# --- the document's folders ---------------------------------------------------------------------------------


def test_predictions_are_joined_with_the_ground_truth(tmp_path: Path) -> None:
    predictions(tmp_path / "xhosa", *ROWS)
    table(tmp_path / "xhosa" / "mapped_metadata_test.csv", MAPPED, ("7", "12", "ONE TWO", "MOJA MBILI", "", "xho"))
    found = {sample.id: sample for sample in every(predicted(tmp_path))}
    assert list(found) == ["xhosa/7/11", "xhosa/7/12", "xhosa/8/11"]  # the speakers of a segment together
    assert found["xhosa/7/12"].references == ("MOJA MBILI",)
    assert found["xhosa/7/11"].references == ("moja mbili",)  # its own, where the ground truth lacks it
    assert found["xhosa/7/11"].unit.cluster == found["xhosa/7/12"].unit.cluster
    assert found["xhosa/8/11"].pair == "en-xho"


def test_what_was_not_predicted_is_a_sample_without_hypothesis(tmp_path: Path) -> None:
    folder = predictions(tmp_path / "xhosa", *ROWS)
    table(folder / "nmt_predictions_m.csv", PREDICTED, ("8", "11", "three", "tatu", "tatu", "xho"))
    samples = predicted(tmp_path)
    assert {s.id: s.hypothesis for s in every(samples)} == {
        "xhosa/8/11": "tatu",
        "xhosa/7/11": None,
        "xhosa/7/12": None,
    }
    assert [(f.check, f.count) for f in samples.findings] == [("unpredicted", 2)]


def test_ids_that_a_data_frame_wrote_as_fractions_are_the_same_ids(tmp_path: Path) -> None:
    folder = predictions(tmp_path / "xhosa", *ROWS)
    table(folder / "mapped_metadata_test.csv", MAPPED, ("8.0", " 11.0", "three", "TATU", "", "xho"))
    assert {s.id: s.references for s in every(predicted(tmp_path))}["xhosa/8/11"] == ("TATU",)


def test_a_key_twice_is_refused_with_file_and_lines(tmp_path: Path) -> None:
    predictions(tmp_path / "xhosa", *ROWS, ROWS[0])
    with pytest.raises(InputError) as caught:
        predicted(tmp_path)
    assert "nmt_predictions_m.csv, line 5" in caught.value.message
    assert "line 2" in caught.value.message
    predictions(tmp_path / "xhosa", *ROWS)
    rows = [("7", "11", "", "a", "", "xho")] * 2
    table(tmp_path / "xhosa" / "mapped_metadata_test.csv", MAPPED, *rows)
    with pytest.raises(InputError, match=r"mapped_metadata_test\.csv, line 3"):
        predicted(tmp_path)


def test_a_missing_column_is_refused_with_what_is_there(tmp_path: Path) -> None:
    predictions(tmp_path / "xhosa", *ROWS)
    table(tmp_path / "xhosa" / "nmt_predictions_m.csv", ("segment_id", "user_id", "predicted_text"), ("7", "11", "a"))
    with pytest.raises(InputError) as caught:
        predicted(tmp_path)
    assert "'predicted_tgt_text' is missing" in caught.value.message
    assert "did you mean predicted_text?" in caught.value.message


def test_other_separators_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "xhosa"
    table(folder / "nmt_predictions_m.csv", PREDICTED, ("7", "11", "a", "b", "c", "xho"), separator=",")
    (sample,) = every(predicted(tmp_path))
    assert (sample.hypothesis, sample.references) == ("b", ("c",))


def test_every_language_or_those_asked_for_by_any_name(tmp_path: Path) -> None:
    predictions(tmp_path / "xhosa", *ROWS)
    predictions(tmp_path / "swahili", *ROWS, iso="swh")
    (tmp_path / "notes").mkdir()
    assert {s.language for s in every(predicted(tmp_path))} == {"swahili", "xhosa"}
    assert {s.language for s in every(predicted(tmp_path, "swahili"))} == {"swahili"}
    assert {s.language for s in every(PredictionSamples(tmp_path / "xhosa", ["xhosa"], "m", None))} == {"xhosa"}
    with pytest.raises(InputError) as caught:
        predicted(tmp_path, "igbo")
    assert "swahili, xhosa" in caught.value.message


def test_models_are_found_or_must_be_named(tmp_path: Path) -> None:
    predictions(tmp_path / "xhosa", *ROWS, model="base")
    assert predicted(tmp_path, nmt=None).nmt_model == "base"
    predictions(tmp_path / "xhosa", *ROWS, model="big")
    with pytest.raises(UsageError, match="base, big"):
        predicted(tmp_path, nmt=None)
    with pytest.raises(InputError, match="did you mean base"):
        predicted(tmp_path, nmt="bas")


def test_audio_is_found_by_its_name(tmp_path: Path) -> None:
    folder = predictions(tmp_path / "swahili", *ROWS, iso="swh")
    speech(folder, [("7", "11"), ("8", "11"), ("9", "1")], iso="swa")  # another code for the same language
    samples = predicted(tmp_path, tts="t")
    found = {sample.id: sample for sample in every(samples)}
    sample = found["swahili/7/11"]
    assert sample.reference_audio is not None
    assert sample.reference_audio.is_file()
    assert sample.hypothesis_audio == folder / "predicted_tgt_audio_t" / "Segment=7_User=11_Language=swa_pred.wav"
    absent = found["swahili/7/12"].hypothesis_audio
    assert absent == folder / "predicted_tgt_audio_t" / "Segment=7_User=12_Language=swh_pred.wav"
    assert not absent.exists()
    checks = [(f.check, f.count) for f in samples.findings]
    assert checks.count(("audio_without_text", 1)) == 3
    unpaired = [f.message for f in TranslationSource(samples).findings if f.check == "text_without_audio"]
    assert unpaired == [f"samples without {side} audio: swahili/7/12" for side in ("source", "hypothesis", "reference")]


def test_reference_audio_by_the_path_in_the_ground_truth(tmp_path: Path) -> None:
    folder = predictions(tmp_path / "xhosa", *ROWS)
    table(folder / "mapped_metadata_test.csv", MAPPED, ("8", "11", "three", "tatu", "clips/eight.wav", "xho"))
    (folder / "clips").mkdir()
    (folder / "clips" / "eight.wav").touch()
    found = {sample.id: sample.reference_audio for sample in every(predicted(tmp_path))}
    assert found["xhosa/8/11"] == folder / "clips/eight.wav"


# --- reference data -----------------------------------------------------------------------------------------

TEXTS = {"source": "good morning", "target": "habari za asubuhi\n", "transcribed": "good mourning"}


def test_ground_truth_folders_with_both_spellings(tmp_path: Path) -> None:
    ground_truth(tmp_path, "a", TEXTS, '{"source_language": "eng", "target_language": "Swahili"}')
    ground_truth(tmp_path, "b", {"source": "x", "target": "y"}, '{"source_lang": "en", "target_lang": "xho"}')
    first, second = every(GroundTruthSamples(tmp_path, [], "audio_to_audio"))
    assert (first.source, first.hypothesis, first.references) == (
        "good mourning",
        TEXTS["target"].strip(),
        ("habari za asubuhi",),
    )
    assert (first.language, first.pair, first.is_reference) == ("swahili", "en-swh", True)
    assert first.hypothesis_audio == first.reference_audio == tmp_path / "a" / "target_audio.wav"
    assert (second.source, second.language) == ("x", "xhosa")


@pytest.mark.parametrize(
    ("kind", "source", "target"),
    [
        ("text_to_text", False, False),
        ("text_to_audio", False, True),
        ("audio_to_text", True, False),
        ("audio_to_audio", True, True),
    ],
)
def test_the_type_says_which_audio_belongs_to_a_sample(tmp_path: Path, kind: str, source: bool, target: bool) -> None:
    ground_truth(tmp_path / kind, "a", TEXTS, None)
    (sample,) = every(GroundTruthSamples(tmp_path, [], kind))  # the folder of the type is found below
    assert (sample.source_audio is not None, sample.hypothesis_audio is not None) == (source, target)


def test_a_folder_that_cannot_be_read_costs_one_sample(tmp_path: Path) -> None:
    ground_truth(tmp_path, "a", TEXTS, "{")
    ground_truth(tmp_path, "b", TEXTS, '{"target_language": "swh"}')
    (tmp_path / "c").mkdir()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "target.txt").write_bytes(b"\xff\xfe")
    found = {sample.id: sample.excluded for sample in every(GroundTruthSamples(tmp_path, [], None))}
    assert found["b"] is None
    assert "not JSON" in (found["a"] or "")
    assert "not UTF-8" in (found["d"] or "")
    assert "c" not in found
