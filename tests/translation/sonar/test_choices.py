"""Which model speaks for which language, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnwise.kernel.errors import InputError
from turnwise.neural.weights import file_hash
from turnwise.translation.sonar_models import (
    ModelMissing,
    describe,
    head_for,
    notes,
    speech_encoder_for,
    text_encoder_for,
    weights_file,
)

FILES = (
    "sonar_speech_encoder_eng/spenc.eng.pt",
    "sonar_speech_encoder_swh/spenc.v3ap.swh.pt",
    "text_sonar_basic_encoder/sonar_text_encoder.pt",
    "text_sonar_basic_encoder/sentencepiece.source.256000.model",
    "blaser_2_0_qe/model.pt",
    "blaser_2_0_ref/model.pt",
)


def place(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNWISE_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    place(tmp_path / "models", *FILES)
    return tmp_path / "models"


@pytest.mark.usefixtures("models")
def test_the_document_s_languages() -> None:
    found = {
        name: speech_encoder_for(name) for name in ("english", "efik", "igbo", "swahili", "xhosa", "swa", "xho_Latn")
    }
    english, swahili = "sonar_speech_encoder_eng", "sonar_speech_encoder_swh"
    assert [one.name for one in found.values()] == [english, english, english, swahili, swahili, swahili, swahili]
    assert [bool(one.notes) for one in found.values()] == [False, True, True, False, True, False, True]
    assert found["xhosa"].notes == ("no speech encoder of xhosa: that of swahili is used (sonar_speech_encoder_swh)",)
    texts = {name: text_encoder_for(name) for name in ("efik", "igbo", "swahili", "xhosa", "english")}
    assert [one.code for one in texts.values()] == ["ibo_Latn", "ibo_Latn", "swh_Latn", "xho_Latn", "eng_Latn"]
    assert [bool(one.notes) for one in texts.values()] == [True, False, False, False, False]
    assert texts["efik"].notes == ("text in efik is encoded as igbo, for the text encoder has no efik",)


def test_fine_tuned_encoders_go_first(models: Path, tmp_path: Path) -> None:
    place(tmp_path / "blaser" / "checkpoints" / "finetuned_xho", "best.pt")
    assert speech_encoder_for("xhosa").file.resolve() == tmp_path / "blaser/checkpoints/finetuned_xho/best.pt"
    place(models / "blaser" / "checkpoints" / "finetuned_xho", "model.pt")
    found = speech_encoder_for("xhosa")
    assert found.file == models / "blaser/checkpoints/finetuned_xho/model.pt"
    assert (found.name, found.notes) == ("finetuned_xho", ())
    # Xhosa's own is no stand-in for Swahili, but Swahili's would be one for Xhosa.
    assert speech_encoder_for("swahili").name == "sonar_speech_encoder_swh"


def test_other_languages_go_by_their_codes(models: Path) -> None:
    place(models, "sonar_speech_encoder_fra/spenc.v3ap.fra.pt", "sonar_speech_encoder_deu/any.pt")
    assert speech_encoder_for("fr").name == "sonar_speech_encoder_fra"
    assert speech_encoder_for("deu").name == "sonar_speech_encoder_deu"
    assert speech_encoder_for("de-DE").name == "sonar_speech_encoder_deu"
    assert text_encoder_for("de").code == "deu_Latn"
    assert text_encoder_for("zho_Hant").code == "zho_Hant"
    for unknown in ("zho", "tlh"):
        with pytest.raises(InputError, match="the text encoder has no"):
            text_encoder_for(unknown)
    for unnamed in ("klingon", "malay", "", None):
        with pytest.raises(InputError):
            speech_encoder_for(unnamed)


def test_missing_models_say_how_they_are_had(models: Path) -> None:
    (models / "blaser_2_0_qe" / "model.pt").unlink()
    (models / "blaser_2_0_qe").rmdir()
    with pytest.raises(ModelMissing) as trouble:
        head_for("qe")
    assert trouble.value.remedy == "turnwise models fetch blaser_2_0_qe"
    assert describe("qe", ["xhosa"]) == "none"
    with pytest.raises(ModelMissing) as trouble:
        speech_encoder_for("deu")
    assert trouble.value.remedy is not None
    assert "sonar_speech_encoder_deu" in trouble.value.remedy


def test_description_changes_with_any_file(models: Path) -> None:
    before = describe("ref", ["xhosa", "efik"])
    short = {name: file_hash(models / name)[:8] for name in FILES}
    (tokenizer,) = (models / "text_sonar_basic_encoder").glob("*.model")
    text = f"{short['text_sonar_basic_encoder/sonar_text_encoder.pt']}+{file_hash(tokenizer)[:8]}"
    assert before == " ".join(
        [
            f"blaser_2_0_ref@{short['blaser_2_0_ref/model.pt']}",
            f"sonar_speech_encoder_eng@{short['sonar_speech_encoder_eng/spenc.eng.pt']}",
            f"sonar_speech_encoder_swh@{short['sonar_speech_encoder_swh/spenc.v3ap.swh.pt']}",
            f"text_sonar_basic_encoder@{text} as ibo_Latn",
            f"text_sonar_basic_encoder@{text} as xho_Latn",
        ]
    )
    assert describe("ref", ["efik", "xhosa"]) == before
    assert "text" not in describe("qe", ["xhosa"])
    assert " missing " in describe("qe", ["deu", "xhosa"])
    kept = tokenizer.read_bytes()
    tokenizer.write_bytes(b"another tokenizer")
    assert describe("ref", ["xhosa", "efik"]) != before
    tokenizer.write_bytes(kept)
    assert describe("ref", ["xhosa", "efik"]) == before
    (models / FILES[0]).write_text("another encoder altogether")
    assert describe("ref", ["xhosa", "efik"]) != before


@pytest.mark.usefixtures("models")
def test_notes_of_a_run() -> None:
    assert len(notes("qe", ["swahili"])) == 0
    assert len(notes("qe", ["efik", "igbo", "xhosa", "efik"])) == 3
    assert len(notes("ref", ["efik", "igbo", "xhosa"])) == 4


def test_folders_with_no_or_several_weights(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no weights"):
        weights_file(tmp_path)
    place(tmp_path, "a.pt", "b.pt")
    with pytest.raises(InputError, match="several files"):
        weights_file(tmp_path)
    place(tmp_path, "model.safetensors")
    assert weights_file(tmp_path).name == "model.safetensors"
