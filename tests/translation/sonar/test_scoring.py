"""Little recordings through the metric with tiny models in place: scored, then scored again from the cache."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.translation.sonar.building import HEADS, put, put_models, speech_tensors, write_wave
from turnwise.audio.wave import read_wave
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.extras import remedy
from turnwise.kernel.metric import Settings
from turnwise.kernel.score import Measurement, Status
from turnwise.neural.cache import EmbeddingCache
from turnwise.translation import blaser
from turnwise.translation.batch import SampleBatch
from turnwise.translation.blaser import BlaserScorer, BrokenModel, Request, Score, by_length
from turnwise.translation.metrics.blaser import Blaser
from turnwise.translation.records import Sample
from turnwise.translation.sonar import load_blaser, load_speech_encoder, load_text_encoder
from turnwise.translation.sonar.sound import fbank
from turnwise.translation.sonar.tokens import Tokenizer
from turnwise.translation.sonar_models import text_codes

XHOSA = "Umama uthenga isonka"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def models(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "models"
    shutil.copytree(built, folder)
    monkeypatch.setenv("TURNWISE_MODELS", str(folder))
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    forget()
    return folder


def forget() -> None:
    """As in a new process."""
    blaser._load.cache_clear()
    blaser._tokenizer.cache_clear()


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    source = write_wave(tmp_path / "source.wav", 0.9, 120)
    found = []
    for place, (language, seconds) in enumerate([("xhosa", 0.5), ("xhosa", 1.3), ("efik", 0.8), ("swahili", 0.31)]):
        audio = write_wave(tmp_path / f"{place}.wav", seconds, 150 + 40 * place, rate=24000 if place == 1 else 16000)
        found.append(
            Sample(
                f"s{place}",
                str(place),
                language=language,
                pair="en-xho",
                references=(XHOSA,),
                source_audio=source,
                hypothesis_audio=audio,
            )
        )
    return found


def measure(samples: list[Sample], mode: str = "qe") -> list[Measurement]:
    metric = Blaser(Settings(context={"blaser_mode": mode, "device": "cpu"}))
    found = list(metric.measure(SampleBatch(0, samples)))
    assert [unit.id for unit, _, _ in found] == [sample.id for sample in samples]
    return [one for _, _, one in found]


def value(one: Measurement) -> float:
    assert one.statistics is not None, one.reason
    return one.statistics[0]


@pytest.mark.parametrize("mode", ["qe", "ref"])
def test_scores_are_those_of_the_parts(mode: str, models: Path, samples: list[Sample]) -> None:
    """One sample, step by step."""
    english = load_speech_encoder(models / "sonar_speech_encoder_eng")
    swahili = load_speech_encoder(models / "sonar_speech_encoder_swh")
    text = load_text_encoder(models / "text_sonar_basic_encoder")
    sample = samples[1]
    assert sample.source_audio is not None
    assert sample.hypothesis_audio is not None
    source = english(torch.from_numpy(fbank(read_wave(sample.source_audio)))[None])
    spoken = swahili(torch.from_numpy(fbank(read_wave(sample.hypothesis_audio)))[None])
    pieces = Tokenizer(models / "text_sonar_basic_encoder" / "sentencepiece.source.256000.model", text_codes())
    reference = text(torch.tensor([pieces.ids(XHOSA, "xho_Latn", fairseq2=True)]))
    expected = load_blaser(models / f"blaser_2_0_{mode}")(source, spoken, reference).item()
    assert value(measure([sample], mode)[0]) == pytest.approx(expected, abs=1e-6)
    assert value(measure(samples, mode)[1]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.usefixtures("models")
def test_evidence(samples: list[Sample]) -> None:
    xhosa, _, efik, swahili = (one.evidence for one in measure(samples, "ref"))
    assert xhosa["mode"] == "ref"
    assert xhosa["uses_reference"] is True
    assert xhosa["model"].startswith("blaser_2_0_ref@")
    assert xhosa["encoders"]["source"].startswith("sonar_speech_encoder_eng@")
    assert xhosa["encoders"]["hypothesis"].startswith("sonar_speech_encoder_swh@")
    assert xhosa["encoders"]["reference"].endswith(" as xho_Latn")
    assert "torch " in xhosa["versions"]
    assert efik["encoders"]["reference"].endswith(" as ibo_Latn")
    assert len(efik["notes"]) == 2
    assert "notes" not in swahili
    (qe,) = (one.evidence for one in measure(samples[:1]))
    assert (qe["uses_reference"], set(qe["encoders"])) == (False, {"source", "hypothesis"})


@pytest.mark.parametrize("mode", ["qe", "ref"])
def test_a_second_run_loads_no_encoder(
    mode: str, models: Path, samples: list[Sample], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = measure(samples, mode)
    forget()

    def load(*_: object, **__: object) -> None:
        raise AssertionError("an encoder is loaded")

    monkeypatch.setattr("turnwise.translation.sonar.load_speech_encoder", load)
    monkeypatch.setattr("turnwise.translation.sonar.load_text_encoder", load)
    assert measure(samples, mode) == first
    # The content counts, not the name.
    moved = tmp_path / "elsewhere.wav"
    shutil.copy(tmp_path / "0.wav", moved)
    assert value(measure([replace(samples[0], hypothesis_audio=moved)], mode)[0]) == pytest.approx(value(first[0]))
    with pytest.raises(AssertionError, match="an encoder is loaded"):
        measure([replace(samples[0], hypothesis_audio=write_wave(tmp_path / "0.wav", 0.5, 99))], mode)


def test_another_encoder_is_another_score(models: Path, samples: list[Sample]) -> None:
    before = value(measure(samples[:1])[0])
    place = models / "blaser" / "checkpoints" / "finetuned_xho"
    put(place, "model.pt", speech_tensors(9))
    after = measure(samples[:1])[0]
    assert value(after) != pytest.approx(before, abs=1e-4)
    assert after.evidence["encoders"]["hypothesis"].startswith("finetuned_xho@")
    assert "notes" not in after.evidence


@pytest.mark.usefixtures("models")
def test_batches_do_not_change_scores(samples: list[Sample], monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [
        Request(s.source_audio, s.hypothesis_audio, s.language, XHOSA)
        for s in samples
        if s.source_audio is not None and s.hypothesis_audio is not None
    ]
    runs = []
    for most, kept in ((10**6, 64), (1, 64), (200, 2)):
        monkeypatch.setattr(blaser, "BATCH_FRAMES", most)
        monkeypatch.setattr(blaser, "BATCH_TOKENS", most)
        monkeypatch.setattr(blaser, "_KEPT", kept)
        scores = BlaserScorer("ref", "cpu", EmbeddingCache(None)).score(requests)
        runs.append([one.value for one in scores if isinstance(one, Score)])
    assert len(runs[0]) == len(requests)
    assert np.ptp(np.array(runs), axis=0).max() < 1e-5


def test_groups_of_about_one_length() -> None:
    assert by_length({"a": 5, "b": 100, "c": 6, "d": 90, "e": 300}, 200) == [["e"], ["b", "d"], ["c", "a"]]
    assert by_length({}, 10) == []


def test_what_cannot_be_scored_is_skipped_with_its_reason(models: Path, samples: list[Sample], tmp_path: Path) -> None:
    own = samples[0]
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"RIFF")
    odd = [
        replace(own, source_audio=None),
        replace(own, hypothesis_audio=None),
        replace(own, hypothesis_audio=tmp_path / "absent.wav"),
        replace(own, hypothesis_audio=write_wave(tmp_path / "long.wav", 30.5, 100, rate=8000)),
        replace(own, hypothesis_audio=write_wave(tmp_path / "short.wav", 0.02, 100)),
        replace(own, hypothesis_audio=broken),
        replace(own, references=()),
        replace(own, references=(" ",)),
        replace(own, language=None),
        replace(own, language="klingon"),
        replace(own, language="deu"),
        replace(own, excluded="not wanted"),
        replace(own, references=("isonka " * 600,)),
    ]
    found = measure([*(replace(s, id=str(place)) for place, s in enumerate(odd)), own], "ref")
    assert found[-1].status is Status.SCORED
    assert all(one.status is Status.SKIPPED for one in found[:-1])
    reasons = [one.reason or "" for one in found[:-1]]
    assert reasons[:8] == [
        "no audio file",
        "no audio file",
        "no audio file",
        "audio longer than 30 s",
        "audio too short for an embedding",
        "unreadable audio",
        "no reference",
        "empty reference",
    ]
    assert reasons[8].startswith("no language is named")
    assert "klingon" in reasons[9]
    assert "sonar_speech_encoder_deu" in reasons[10]
    assert reasons[11] == "not wanted"
    assert reasons[12] == "reference longer than 512 tokens"
    # Without a reference, qe still scores.
    assert measure([odd[6]])[0].status is Status.SCORED


def test_ground_truth_is_scored(models: Path, samples: list[Sample]) -> None:
    (found,) = measure([replace(samples[0], is_reference=True)], "ref")
    assert found.status is Status.SCORED


def test_a_missing_head_is_a_skip_and_a_broken_model_an_error(models: Path, samples: list[Sample]) -> None:
    shutil.rmtree(models / "blaser_2_0_qe")
    (found,) = measure(samples[:1])
    assert (found.status, found.reason) == (
        Status.SKIPPED,
        "no model blaser_2_0_qe: turnwise models fetch blaser_2_0_qe",
    )
    put(models / "sonar_speech_encoder_swh", "spenc.v3ap.swh.pt", {"a": torch.zeros(1)}, heads=HEADS)
    with pytest.raises(BrokenModel):
        measure(samples[:1], "ref")


def test_without_torch(models: Path, samples: list[Sample], monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(package: str, extra: str, purpose: str) -> None:
        raise TurnwiseError(f"{purpose} needs {package}, which is not installed", remedy=remedy(extra))

    monkeypatch.setattr(blaser, "import_extra", gone)
    (found,) = measure(samples[:1])
    assert found.status is Status.SKIPPED
    assert found.reason == 'BLASER needs torch, which is not installed: pip install "turnwise[neural]"'
