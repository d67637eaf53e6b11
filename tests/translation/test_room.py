"""The room as a whole: numbers against sacrebleu, groups, skips, profiles, wrong pairs, probes, diagnoses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

import turnwise
from tests.translation.writing import ground_truth, lines, predictions, speech, tone
from turnwise.audio.mcd import mel_cepstral_distance
from turnwise.audio.wave import read_wave

HYPOTHESES = [
    "Ndabona amagama amabini, athunyelwa kum yimimangaliso.",
    "the cat sat on the mat",
    "",
    "a b",
    "Please take one tablet every morning.",
    "Bei ni shilingi mia tano, tu!",
]
REFERENCES = [
    "Ndabona amagama amabini, athunyelwe kum ngemimangaliso.",
    "the cat is on the mat",
    "something was said here",
    "a b",
    "Please swallow one tablet each morning.",
    "Bei ni shilingi mia tano tu.",
]
OTHERS = [
    "Ndibone amagama amabini.",
    "a cat sat on a mat",
    "nothing",
    "b a",
    "Take one tablet every morning, please.",
    "x",
]
LANGUAGES = ["xho", "eng", "xho", "eng", "eng", "swa"]


def records(**columns: list[Any]) -> list[dict[str, Any]]:
    names = {"hypothesis": HYPOTHESES, "reference": REFERENCES, "language": LANGUAGES, **columns}
    return [
        dict(zip(names, row, strict=True)) | {"id": f"s{n}"} for n, row in enumerate(zip(*names.values(), strict=True))
    ]


def evaluate(data: Any = None, **options: Any) -> turnwise.Result:
    given = {} if "data_dir" in options or "hypotheses" in options else {"data": records() if data is None else data}
    return turnwise.evaluate(given, suite="translation", **{"resamples": 100, **options})


def results(result: turnwise.Result, metric: str, **wanted: Any) -> list[dict[str, Any]]:
    wanted = {"group": {}, "variant": "", **wanted}
    return [
        r for r in result.results if r["metric"] == metric and all(r[key] == value for key, value in wanted.items())
    ]


def missing(result: turnwise.Result, metric: str, **wanted: Any) -> dict[str, int]:
    (found,) = results(result, metric, primary=True, **wanted)
    assert found["n_total"] - found["n_scored"] == sum(found["missing"].values())
    return dict(found["missing"])


def scores(result: turnwise.Result, metric: str, variant: str = "") -> dict[str, float | None]:
    name = f"translation/{metric}"
    return {
        s.unit.id: s.value for s in result.scores if s.metric == name and s.variant == variant and s.output == "value"
    }


PEERS = {
    "bleu": (BLEU(), BLEU(effective_order=True)),
    "chrf": (CHRF(), CHRF()),
    "chrf++": (CHRF(word_order=2), CHRF(word_order=2)),
    "ter": (TER(), TER()),
}


@pytest.mark.parametrize("metric", PEERS)
@pytest.mark.parametrize("references", [[REFERENCES], [REFERENCES, OTHERS]], ids=["one", "two"])
def test_corpus_sentences_and_mean_are_those_of_sacrebleu(
    tmp_path: Path, metric: str, references: list[list[str]]
) -> None:
    files = [lines(tmp_path / f"r{n}.txt", *texts) for n, texts in enumerate(references)]
    result = evaluate(hypotheses=lines(tmp_path / "h.txt", *HYPOTHESES), references=files)
    corpus, sentence = PEERS[metric]
    expected = [
        sentence.sentence_score(text, list(own)).score for text, *own in zip(HYPOTHESES, *references, strict=True)
    ]
    assert result.value(metric, "corpus") == pytest.approx(corpus.corpus_score(HYPOTHESES, references).score, abs=1e-9)
    assert list(scores(result, metric).values()) == pytest.approx(expected, abs=1e-9)
    assert result.value(metric, "mean") == pytest.approx(np.mean(expected), abs=1e-9)
    assert result.value(metric) == result.value(metric, "corpus")
    (found,) = results(result, metric, rollup="corpus")
    assert found["signature"].endswith("|sacrebleu=" + corpus.get_signature().format())


def test_a_corpus_of_texts_shorter_than_four_words_is_scored_as_sacrebleu_does() -> None:
    data = [{"hypothesis": "a b", "reference": "a b"}, {"hypothesis": "c", "reference": "c d"}]
    expected = BLEU().corpus_score(["a b", "c"], [["a b", "c d"]]).score
    assert expected == 0
    result = evaluate(data)
    assert result.value("bleu", "corpus") == 0
    # (100 + 100 exp(1 - 2/1)) / 2, as the shorter orders alone have it
    assert result.value("bleu", "mean") == pytest.approx((100 + 100 * np.exp(-1)) / 2)
    assert evaluate(data, profile="spec").value("bleu", "mean") == 0


def test_the_data_are_the_same_in_any_order_and_for_any_system() -> None:
    data = records()
    other = [{**row, "hypothesis": "other"} for row in reversed(data)]
    changed = [{**data[0], "reference": "other"}, *data[1:]]
    found = [evaluate(rows, metrics=["chrf"]).run.dataset_fingerprint for rows in (data, other, changed)]
    assert found[0] == found[1] != found[2]


def test_languages_are_groups_by_name() -> None:
    result = evaluate()
    own = [n for n, language in enumerate(LANGUAGES) if language == "xho"]
    expected = CHRF().corpus_score([HYPOTHESES[n] for n in own], [[REFERENCES[n] for n in own]]).score
    assert result.value("chrf", language="xhosa") == pytest.approx(expected, abs=1e-9)
    groups = {r["group"]["language"] for r in result.results if r["group"]}
    assert groups == {"xhosa", "english", "swahili"}


@pytest.mark.parametrize(
    ("metric", "value", "band"),
    [
        ("bleu", 50.0, "good"), ("bleu", 50.01, "excellent"), ("bleu", 30.0, "good"), ("bleu", 29.9, "fair"),
        ("bleu", 15.0, "fair"), ("bleu", 14.9, "poor"), ("chrf", 70.0, "good"), ("chrf", 30.0, "fair"),
        ("comet", 0.7, "good"), ("comet", 0.3, "fair"), ("comet", 0.29, "poor"), ("blaser", 4.0, "good"),
        ("blaser", 2.0, "fair"), ("mcd", 4.5, "good"), ("mcd", 4.49, "excellent"), ("mcd", 6.0, "good"),
        ("mcd", 6.01, "fair"), ("mcd", 8.0, "fair"), ("mcd", 8.01, "poor"),
    ],
)  # fmt: skip
def test_every_border_is_in_one_band(metric: str, value: float, band: str) -> None:
    from turnwise.kernel.registry import REGISTRY
    from turnwise.rooms import register_metrics

    register_metrics()
    (output,) = REGISTRY.get(f"translation/{metric}").spec.outputs
    assert output.bands is not None
    assert output.bands.of(value) == band


def test_what_is_missing_is_counted_by_reason_and_an_empty_hypothesis_is_scored() -> None:
    data = records()
    data[0]["reference"] = "  "
    data[1]["reference"] = None
    data[4]["hypothesis"] = None
    result = evaluate(data)
    assert missing(result, "bleu") == {"empty reference": 1, "no reference": 1, "no hypothesis": 1}
    assert scores(result, "bleu")["s2"] == 0
    assert result.run.config["coverage"] == {"samples": 6, "samples_predicted": 5}


def test_the_seats_of_the_neural_metrics_say_what_is_missing() -> None:
    result = evaluate(records(source=["s"] * 6))
    (found,) = results(result, "comet")
    assert found["value"] is None
    assert ["turnwise models fetch" in reason or "pip install" in reason for reason in found["missing"]] == [True]


# --- checks before scoring ----------------------------------------------------------------------------------


def test_hygiene_is_found_and_kept() -> None:
    data = [
        {"source": "one two three", "hypothesis": ">>swh<< moja", "reference": "moja mbili"},
        {"source": "one two three", "hypothesis": "One two  three", "reference": "moja mbili tatu"},
        {"source": "one two three", "hypothesis": "moja: one two three", "reference": "moja mbili tatu"},
        {"source": "Nairobi", "hypothesis": "Nairobi", "reference": "Nairobi"},
        {"source": "x", "hypothesis": "", "reference": ""},
        {"source": "", "hypothesis": "maneno machache", "reference": "maneno mengi sana ambayo hayaishi kamwe"},
    ]
    found = {f["check"]: f["count"] for f in evaluate(data).run.findings if f["check"] != "diagnosis"}
    assert found == {
        "language_tag": 1,
        "source_copied": 1,
        "source_left": 1,
        "empty_hypothesis": 1,
        "empty_reference": 1,
        "empty_source": 1,
        "length_ratio": 1,
    }


# --- speech -------------------------------------------------------------------------------------------------

ROWS = tuple((str(n), "1", f"source {n}", f"neno {n}", f"neno {n}") for n in range(5))
KEYS = [(segment, user) for segment, user, *_ in ROWS]


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    folder = predictions(tmp_path / "xhosa", *ROWS)
    speech(folder, KEYS)
    return tmp_path


def predicted(folder: Path, kind: str = "_pred", name: str = "predicted_tgt_audio_t", segment: str = "0") -> Path:
    return folder / "xhosa" / name / f"Segment={segment}_User=1_Language=xho{kind}.wav"


def test_mcd_is_the_mean_and_wrong_pairs_stand_beside_it(spoken: Path) -> None:
    result = evaluate(data_dir=spoken, metrics=["mcd"])
    pairs = [(predicted(spoken, segment=n), predicted(spoken, "", "processed_audio_normalized", n)) for n, _ in KEYS]
    expected = [mel_cepstral_distance(read_wave(a), read_wave(b)).value for a, b in pairs]
    assert list(scores(result, "mcd").values()) == pytest.approx(expected)
    assert result.value("mcd") == pytest.approx(np.mean(expected))
    (wrong,) = results(result, "mcd", variant="mismatched")
    assert wrong["n_scored"] == 5
    assert wrong["value"] > 1.5 * np.mean(expected)
    for own, value in scores(result, "mcd", "mismatched").items():
        segment = int(own.split("/")[1])
        others = [reference for n, (_, reference) in enumerate(pairs) if n != segment]
        spoken_wave = read_wave(pairs[segment][0])
        distances = [mel_cepstral_distance(spoken_wave, read_wave(other)).value for other in others]
        assert any(value == pytest.approx(distance) for distance in distances)


@pytest.mark.parametrize("convention", ["literature", "guide", "package"])
def test_the_convention_is_in_the_signature_and_has_the_bands_or_not(spoken: Path, convention: str) -> None:
    result = evaluate(data_dir=spoken, metrics=["mcd"], mcd_convention=convention)
    (found,) = results(result, "mcd")
    assert f"|convention={convention}|" in found["signature"]
    assert "|window_ms=" in found["signature"]
    assert (found["band"] is not None) == (convention == "literature")


def test_a_sample_is_skipped_only_by_the_metrics_whose_input_it_lacks(spoken: Path) -> None:
    predicted(spoken, segment="0").unlink()
    predicted(spoken, segment="1").write_bytes(b"RIFF nothing")
    tone(predicted(spoken, segment="2")).write_bytes(predicted(spoken, segment="2").read_bytes()[:3000])
    silence = predicted(spoken, segment="3")
    import soundfile

    soundfile.write(silence, np.zeros(8000), 16000)
    result = evaluate(data_dir=spoken, metrics=["bleu", "mcd"])
    assert missing(result, "bleu") == {}
    assert missing(result, "mcd") == {
        "no audio file": 1,
        "unreadable audio": 1,
        "truncated audio": 1,
        "silent audio": 1,
    }
    spec = evaluate(data_dir=spoken, metrics=["bleu", "mcd"], profile="spec")
    assert missing(spec, "bleu") == {"no hypothesis_audio (spec: skipped for all metrics)": 1}


def test_other_rates_channels_and_sample_types_are_read_and_recorded(spoken: Path) -> None:
    tone(predicted(spoken, segment="0"), 0, rate=22050)
    tone(predicted(spoken, segment="1"), 1, channels=2)
    tone(predicted(spoken, segment="2"), 2, subtype="FLOAT")
    tone(predicted(spoken, segment="3"), 3, rate=8000)
    result = evaluate(data_dir=spoken, metrics=["mcd"])
    evidence = {s.unit.id: s.evidence for s in result.scores if not s.variant}
    assert "resampled from 22050 to 16000 Hz" in str(evidence["xhosa/0/1"]["hypothesis_audio"])
    assert "mixed down from 2 channels" in str(evidence["xhosa/1/1"]["hypothesis_audio"])
    assert scores(result, "mcd")["xhosa/2/1"] is not None
    assert missing(result, "mcd") == {"audio of a lower rate than the convention's": 1}
    notes = [f["message"] for f in result.run.findings if f["check"] == "audio"]
    assert any("22050 Hz" in note for note in notes)
    assert any("2 channels" in note for note in notes)


def test_an_8_khz_recording_can_be_compared_by_the_package_convention(spoken: Path) -> None:
    for segment, user in KEYS:
        assert user == "1"
        tone(predicted(spoken, segment=segment), int(segment), rate=8000)
    result = evaluate(data_dir=spoken, metrics=["mcd"], mcd_convention="package")
    assert missing(result, "mcd") == {}


# --- reference data -----------------------------------------------------------------------------------------


@pytest.fixture
def reference_data(tmp_path: Path) -> Path:
    texts = {"source": "good morning", "target": "habari"}
    ground_truth(tmp_path, "a", texts, '{"source_language": "eng", "target_language": "swh"}')
    ground_truth(tmp_path, "b", texts, '{"source_lang": "eng", "target_lang": "swa"}')
    return tmp_path


GROUND = {"mode": "ground_truth", "type": "audio_to_audio", "metrics": ["bleu", "chrf", "mcd"]}


def test_reference_data_is_not_compared_with_itself(reference_data: Path) -> None:
    result = evaluate(data_dir=reference_data, **GROUND)
    assert missing(result, "bleu") == {"ground truth: the text would be compared with itself": 2}
    assert missing(result, "mcd") == {"ground truth: the audio would be compared with itself": 2}
    statuses = {score.status.value for score in result.scores}
    assert statuses == {"not_applicable"}


def test_under_spec_reference_data_scores_100(reference_data: Path) -> None:
    result = evaluate(data_dir=reference_data, profile="spec", **GROUND)
    assert [result.value(name) for name in ("bleu", "chrf")] == [100, 100]  # of one word, too
    assert missing(result, "mcd") == {"ground truth: the audio would be compared with itself": 2}


# --- what it means ------------------------------------------------------------------------------------------


def test_the_mean_comes_first_under_spec() -> None:
    plain, spec = evaluate(), evaluate(profile="spec")
    assert [r["rollup"] for r in results(plain, "chrf") if r["primary"]] == ["corpus"]
    assert [r["rollup"] for r in results(spec, "chrf") if r["primary"]] == ["mean"]


def test_probes_tell_the_reference_from_everything_else() -> None:
    result = evaluate(records(source=["a source text"] * 6), metrics=["bleu", "ter"], probes=True)
    values = {r["variant"]: r["value"] for r in results(result, "bleu", rollup="corpus", variant="identity")}
    assert values == {"identity": 100}
    (nothing,) = results(result, "bleu", rollup="corpus", variant="empty")
    assert nothing["value"] == 0
    for probe in ("shuffled", "source copied"):
        (found,) = results(result, "ter", rollup="corpus", variant=probe)
        assert found["value"] > 50
    assert not [f for f in result.run.findings if f["check"] == "probe"]


def test_a_metric_that_cannot_tell_is_flagged() -> None:
    data = [{"id": str(n), "source": "same", "hypothesis": "same", "reference": "same"} for n in range(4)]
    found = [f["message"] for f in evaluate(data, metrics=["chrf"], probes=True).run.findings if f["check"] == "probe"]
    assert found == ["chrf does not tell the reference itself from shuffled, source copied: do not rely on it here"]


def diagnoses(result: turnwise.Result) -> list[str]:
    return [f["message"] for f in result.run.findings if f["check"] == "diagnosis"]


def test_low_bleu_and_high_chrf() -> None:
    data = [{"hypothesis": "nimewaona wanafunzi wawili", "reference": "niliwaona wanafunzi wawilis"}]
    result = evaluate(data)
    assert [results(result, name, primary=True)[0]["band"] for name in ("bleu", "chrf")] == ["poor", "excellent"]
    found = diagnoses(result)
    assert "word choice errors, or valid paraphrases" in found[0]
    assert "check COMET" in found[1]
    assert found[2].startswith("the metrics disagree")


def test_other_systems_on_the_same_data_are_named(tmp_path: Path) -> None:
    db = str(tmp_path / "x.sqlite")
    evaluate(system="first", db=db)
    assert any("first" in text and "all metrics" in text for text in diagnoses(evaluate(system="second", db=db)))


# --- the command's files ------------------------------------------------------------------------------------


def test_the_documents_tree(spoken: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate(data_dir=spoken, output_dir=out, execution_id="e1", metrics=["bleu", "chrf", "comet", "mcd", "blaser"])
    found = {str(path.relative_to(out / "e1")) for path in (out / "e1").rglob("*") if path.is_file()}
    own = ("summary.json", "detailed_results.csv", "per_sample_results.json", "logs/evaluation.log")
    pictures = ("metric_distributions", "score_correlations", "quality_breakdown")
    assert found == {
        *("manifest.json", "summary.json", "overall_summary.json", "summary_report.html"),
        "visualizations/language_metric_heatmap.png",
        *(f"xhosa/{name}" for name in own),
        *(f"xhosa/visualizations/{name}.png" for name in pictures),
    }
    manifest = json.loads((out / "e1" / "manifest.json").read_text())
    assert set(manifest["files"]) == found
    assert manifest["execution_id"] == "e1"


def test_the_summary_of_a_language(tmp_path: Path) -> None:
    data = records()
    data[1]["reference"] = ""
    result = evaluate(data, out=tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "english" / "summary.json").read_text())
    chrf = summary["metrics"]["chrf"]
    values = np.array([value for name, value in scores(result, "chrf").items() if name in ("s3", "s4") and value])
    assert (chrf["total"], chrf["valid"], chrf["skipped"], chrf["reasons"]) == (3, 2, 1, {"empty reference": 1})
    assert [chrf[key] for key in ("mean", "std", "min", "max", "median")] == pytest.approx(
        [values.mean(), values.std(), values.min(), values.max(), np.median(values)]
    )
    pooled = CHRF().corpus_score([HYPOTHESES[3], HYPOTHESES[4]], [[REFERENCES[3], REFERENCES[4]]]).score
    assert chrf["corpus"] == pytest.approx(pooled, abs=1e-9)


def test_a_row_per_sample(spoken: Path, tmp_path: Path) -> None:
    import csv
    import uuid

    predicted(spoken, segment="0").unlink()
    out = tmp_path / "out"
    result = evaluate(data_dir=spoken, out=out, metrics=["bleu", "mcd"])
    with (out / "xhosa" / "detailed_results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["uuid", "segment_id", "user_id", "language_pair", "bleu", "mcd", "missing"]
    assert [row["segment_id"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert rows[0]["uuid"] == str(uuid.uuid5(uuid.NAMESPACE_URL, "xhosa/0/1"))
    assert (rows[0]["mcd"], rows[0]["missing"]) == ("", "mcd: no audio file")
    assert float(rows[1]["mcd"]) == scores(result, "mcd")["xhosa/1/1"]
    details = json.loads((out / "xhosa" / "per_sample_results.json").read_text())
    assert details[1]["values"]["bleu"] == float(rows[1]["bleu"])
    assert details[0]["missing"] == {"mcd": "no audio file"}
