"""COMET against unbabel-comet itself, on tiny checkpoints of its classes."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.translation.tiny_comet import build_comet, build_encoder, into_hub_cache, sentences
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.metric import SPEC, Settings
from turnwise.kernel.score import Measurement, Status
from turnwise.translation import comet as module
from turnwise.translation.batch import SampleBatch
from turnwise.translation.comet import SAME_WITH_ANY_REFERENCE, CometScorer, Inputs, load_comet, quiet
from turnwise.translation.comet_files import NotAvailable, describe, find_checkpoint
from turnwise.translation.metrics.base import EMPTY_SOURCE, NO_HYPOTHESIS, NO_REFERENCE, NO_SOURCE, SELF_TEXT
from turnwise.translation.metrics.comet import DEFAULT_MODEL, Comet
from turnwise.translation.records import Sample

with quiet():
    pytest.importorskip("comet", reason="unbabel-comet is not installed")

REGRESSION, QE, UNIFIED = "regression_metric", "referenceless_regression_metric", "unified_metric"
WORDS = {"word_level_training": True, "error_labels": ["minor", "major", "critical"], "word_layer": 2}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "regression": (REGRESSION, {}),
    "regression, max of a layer": (REGRESSION, {"pool": "max", "layer": 1, "layer_norm": True}),
    "referenceless": (QE, {"layer_norm": True}),
    "unified": (UNIFIED, {}),
    "unified without reference": (UNIFIED, {"input_segments": ["mt", "src"]}),
    "unified without source": (UNIFIED, {"input_segments": ["mt", "ref"]}),
    "ranking": ("ranking_metric", {}),
    "xcomet": ("xcomet_metric", WORDS),
    "ignores references": (REGRESSION, {"ignore_reference": True}),
}
NEED_REFERENCE = {"regression", "regression, max of a layer", "ranking", "unified without source"}
IGNORE_REFERENCE = {"referenceless", "unified without reference"}
COMPARED = [name for name in MODELS if name != "ignores references"]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each model's folder."""
    import torch

    torch.set_num_threads(1)  # tiny matrices are slower on two
    folder = tmp_path_factory.mktemp("comet")
    with quiet():
        encoder = build_encoder(folder / "encoder")
        return {
            name: build_comet(folder / name.replace(" ", "_"), kind, encoder, **options)
            for name, (kind, options) in MODELS.items()
        }


@pytest.fixture(autouse=True)
def _own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Embeddings in a folder of this test, and no model from another one."""
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    yield
    module._LOADED.clear()


def inputs(count: int = 24, *, shuffled: bool = False, references: bool = True) -> list[Inputs]:
    texts = sentences(3 * count)
    wanted = texts[2 * count :]
    wanted = [*wanted[1:], wanted[0]] if shuffled else wanted
    rows = zip(texts[:count], texts[count : 2 * count], wanted, strict=True)
    return [Inputs(source, hypothesis, text if references else None) for source, hypothesis, text in rows]


def predicted(scorer: CometScorer, rows: Sequence[Inputs]) -> list[float]:
    """What unbabel-comet's own `predict` says, as `comet-score --gpus 0` calls it."""
    samples = [{"src": row.source, "mt": row.hypothesis} for row in rows]
    if rows[0].reference is not None:
        samples = [{**sample, "ref": row.reference or ""} for sample, row in zip(samples, rows, strict=True)]
    with quiet():
        found: list[float] = scorer.model.predict(samples, batch_size=7, gpus=0, progress_bar=False)["scores"]
    return found


# The same numbers as unbabel-comet


@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize("references", ["right", "shuffled", "absent"])
def test_same_scores(models: dict[str, Path], name: str, references: str) -> None:
    scorer = load_comet(str(models[name]), "cpu")
    rows = inputs(shuffled=references == "shuffled", references=references != "absent")
    if references == "absent" and name in NEED_REFERENCE:
        with pytest.raises(ValueError, match="needs a reference"):
            scorer.score(rows)
        return
    scores = scorer.score(rows)
    np.testing.assert_allclose(scores, predicted(scorer, rows), rtol=0, atol=1e-6)
    assert np.std(scores) > 1e-3, "the comparison would say nothing about scores that are all the same"


@pytest.mark.parametrize("name", COMPARED)
def test_what_a_reference_changes(models: dict[str, Path], name: str) -> None:
    scorer = load_comet(str(models[name]), "cpu")
    assert scorer.uses_reference is (name not in IGNORE_REFERENCE)
    assert scorer.needs_reference is (name in NEED_REFERENCE)
    assert scorer.disagreement is None
    right, shuffled = (np.array(scorer.score(inputs(shuffled=exchanged))) for exchanged in (False, True))
    assert bool(np.abs(right - shuffled).max() > 1e-4) is scorer.uses_reference


@pytest.mark.parametrize("name", ["regression", "regression, max of a layer", "referenceless", "unified", "xcomet"])
def test_batches_make_no_difference(models: dict[str, Path], name: str, tmp_path: Path) -> None:
    rows = [*inputs(), Inputs("", "", ""), Inputs("habari " * 200, "dunia", "leo " * 300)]
    scores = [
        load_comet(str(models[name]), "cpu", cache=tmp_path / str(size)).score(rows, batch_size=size)
        for size in (1, 5, 64)
    ]
    np.testing.assert_allclose(scores[1:], [scores[0]] * 2, rtol=0, atol=1e-6)


# Nothing is encoded twice


def count_rows(scorer: CometScorer, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each call of the encoder was about."""
    rows: list[int] = []
    forward = scorer.model.encoder.forward

    def counted(input_ids: Any, *rest: Any, **options: Any) -> Any:
        rows.append(len(input_ids))
        return forward(input_ids, *rest, **options)

    monkeypatch.setattr(scorer.model.encoder, "forward", counted)
    return rows


def test_each_text_is_encoded_once(models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = load_comet(str(models["regression"]), "cpu")
    rows = count_rows(scorer, monkeypatch)
    texts = sentences(70)
    sources, references, systems = texts[:10], texts[10:20], [texts[start : start + 10] for start in range(20, 70, 10)]
    for system in systems:
        found = scorer.score([Inputs(*row) for row in zip(sources, system, references, strict=True)])
        assert len(found) == 10
    assert sum(rows) == 70  # 10 sources, 10 references, 5 times 10 translations
    scorer.score([Inputs(texts[0], texts[0], texts[0])] * 3)
    assert sum(rows) == 70


def test_identical_inputs_are_scored_once(models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = load_comet(str(models["unified"]), "cpu")
    rows = count_rows(scorer, monkeypatch)
    row = inputs(1)[0]
    first, second, third = scorer.score([row, row._replace(reference=None), row])
    assert first == third != second
    assert rows == [1, 1, 1, 1]  # with source, with reference, with both; and without reference with source alone


@pytest.mark.parametrize("name", ["regression", "unified"])
def test_embeddings_are_kept(models: dict[str, Path], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_comet(str(models[name]), "cpu").score(inputs())
    module._LOADED.clear()  # as in another process
    scorer = load_comet(str(models[name]), "cpu")
    rows = count_rows(scorer, monkeypatch)
    np.testing.assert_allclose(scorer.score(inputs()), before, rtol=0, atol=1e-7)
    assert rows == []


def test_models_do_not_share_embeddings(models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    load_comet(str(models["regression"]), "cpu").score(inputs(4))
    other = load_comet(str(models["referenceless"]), "cpu")
    rows = count_rows(other, monkeypatch)
    other.score(inputs(4))
    assert sum(rows) == 8  # sources and translations


# Finding and loading


def test_loaded_once(models: dict[str, Path]) -> None:
    folder = models["referenceless"]
    assert load_comet(str(folder), "cpu") is load_comet(str(folder / "checkpoints" / "model.ckpt"), "auto")


def test_loading_is_silent(models: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> None:
    before = list(logging.getLogger().handlers), logging.getLogger().level, logging.root.manager.disable
    load_comet(str(models["unified"]), "cpu").score(inputs(2))
    assert capfd.readouterr() == ("", "")
    assert (list(logging.getLogger().handlers), logging.getLogger().level, logging.root.manager.disable) == before


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME", "TURNWISE_MODELS"])
def test_from_a_hub_cache(
    models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    folder = tmp_path / "files"
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.setenv(variable, str(folder))
    cache = folder / "hub" if variable == "HF_HOME" else folder
    into_hub_cache(cache, "McGill-NLP/ssa-comet-qe", models["referenceless"])
    assert describe(DEFAULT_MODEL) == describe(str(models["referenceless"]))
    scorer = load_comet(DEFAULT_MODEL, "cpu")
    assert not scorer.uses_reference
    np.testing.assert_allclose(scorer.score(inputs()), predicted(scorer, inputs()), rtol=0, atol=1e-6)


def test_described_without_loading(models: dict[str, Path]) -> None:
    hashed, kind, *versions = describe(str(models["unified without reference"])).split(", ")
    assert len(hashed.removeprefix("sha256:")) == 12
    assert kind == "unified_metric without reference"
    assert versions[0] == "unbabel-comet-2.2.7"
    assert [version.partition("-")[0] for version in versions[1:]] == ["torch", "transformers"]
    assert describe(DEFAULT_MODEL) == describe("/nowhere") == "none"
    assert not module._LOADED


def test_no_model() -> None:
    with pytest.raises(NotAvailable) as caught:
        load_comet(DEFAULT_MODEL, "cpu")
    assert caught.value.remedy == "turnwise models fetch McGill-NLP/ssa-comet-qe"


def test_download_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with quiet(), pytest.raises(TurnwiseError) as caught:
        load_comet("McGill-NLP/ssa-comet-qe", "cpu", download=True)
    assert "cannot be fetched from Hugging Face" in caught.value.what
    assert "HF_HUB_CACHE" in (caught.value.remedy or "")


def test_half_a_model(models: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(models["regression"], tmp_path / "half")
    (tmp_path / "half" / "checkpoints" / "model.ckpt").unlink()
    with pytest.raises(NotAvailable, match=r"model\.ckpt"):
        find_checkpoint(str(tmp_path / "half"))


def test_a_clone_without_weights(models: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(models["regression"], tmp_path / "clone")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 2277430715\n"
    (tmp_path / "clone" / "checkpoints" / "model.ckpt").write_text(pointer)
    with pytest.raises(NotAvailable, match="git lfs pull"):
        find_checkpoint(str(tmp_path / "clone"))


def damaged(models: dict[str, Path], folder: Path, damage: Callable[[Path], object]) -> TurnwiseError:
    shutil.copytree(models["regression"], folder)
    damage(folder)
    with pytest.raises(TurnwiseError) as caught:
        load_comet(str(folder), "cpu")
    return caught.value


def test_a_class_nobody_knows(models: dict[str, Path], tmp_path: Path) -> None:
    error = damaged(
        models, tmp_path / "a", lambda folder: (folder / "hparams.yaml").write_text("class_identifier: bleurt\n")
    )
    assert "'bleurt'" in error.what
    error = damaged(models, tmp_path / "b", lambda folder: (folder / "hparams.yaml").write_text("- 1\n"))
    assert "does not name its class" in error.what


def test_a_broken_checkpoint(models: dict[str, Path], tmp_path: Path) -> None:
    error = damaged(
        models, tmp_path / "a", lambda folder: (folder / "checkpoints" / "model.ckpt").write_bytes(b"nothing")
    )
    assert "cannot be loaded" in error.what
    assert not isinstance(error, NotAvailable)
    (scores,) = measured(tmp_path / "a", [Sample("1", "1", source="a", hypothesis="b", references=("c",))])
    assert scores.status is Status.ERROR


def test_no_tokenizer(tmp_path: Path) -> None:
    """The checkpoint is here, what its encoder needs is on the hub: as after copying the checkpoint alone."""
    with quiet():
        encoder = build_encoder(tmp_path / "encoder")
        folder = build_comet(tmp_path / "model", QE, encoder)
    hparams = folder / "hparams.yaml"
    hparams.write_text(hparams.read_text().replace(str(encoder), "organisation/encoder"))
    shutil.rmtree(encoder)
    with pytest.raises(NotAvailable) as caught:
        load_comet(str(folder), "cpu")
    assert "lacks the tokenizer of its encoder organisation/encoder" in caught.value.what
    assert caught.value.remedy == "turnwise models fetch organisation/encoder"


# The metric


def measured(model: Path | str, samples: Sequence[Sample], profile: str = "turnwise") -> list[Measurement]:
    metric = Comet(Settings(profile, context={"comet_model": str(model), "device": "cpu"}))
    found = list(metric.measure(SampleBatch(0, samples)))
    assert [unit.id for unit, _, _ in found] == [sample.id for sample in samples]
    return [measurement for _, _, measurement in found]


SAMPLES = [
    Sample("1", "1", source="the two names", hypothesis="amagama amabini", references=(None, " ", "amagama", "sana")),
    Sample("2", "2", source="the two names", hypothesis="amagama amabini"),
    Sample("3", "3", source=" ", hypothesis="amagama", references=("amagama",)),
    Sample("4", "4", hypothesis="amagama", references=("amagama",)),
    Sample("5", "5", source="names", references=("amagama",)),
    Sample("6", "6", source="names", hypothesis="a", references=("b",), excluded="too long"),
    Sample("7", "7", source="names", hypothesis="amagama", references=("amagama",), is_reference=True),
    Sample("8", "8", source="names", hypothesis="", references=("amagama",)),
]


def test_reference_model(models: dict[str, Path]) -> None:
    found = measured(models["regression"], SAMPLES)
    assert [(one.status, one.reason) for one in found] == [
        (Status.SCORED, None),
        (Status.SKIPPED, NO_REFERENCE),
        (Status.SKIPPED, EMPTY_SOURCE),
        (Status.SKIPPED, NO_SOURCE),
        (Status.SKIPPED, NO_HYPOTHESIS),
        (Status.SKIPPED, "too long"),
        (Status.NOT_APPLICABLE, SELF_TEXT),
        (Status.SCORED, None),
    ]
    assert found[0].evidence == {"uses_reference": True}
    scorer = load_comet(str(models["regression"]), "cpu")
    wanted = predicted(scorer, [Inputs("the two names", "amagama amabini", "amagama"), Inputs("names", "", "amagama")])
    np.testing.assert_allclose([found[0].statistics, found[7].statistics], np.array(wanted)[:, None], rtol=0, atol=1e-6)
    (spec,) = measured(models["regression"], SAMPLES[6:7], SPEC)
    assert spec.status is Status.SCORED


@pytest.mark.parametrize("name", ["referenceless", "unified without reference", "unified"])
def test_models_that_need_no_reference(models: dict[str, Path], name: str) -> None:
    found = measured(models[name], SAMPLES)
    assert [one.status is Status.SCORED for one in found] == [True, True, False, False, False, False, True, True]
    uses = name == "unified"
    assert [found[place].evidence for place in (0, 1, 6)] == [
        {"uses_reference": uses},
        {"uses_reference": False},
        {"uses_reference": False},
    ]
    assert (found[0].statistics == found[1].statistics) is not uses


def test_what_the_probe_says_is_said(models: dict[str, Path]) -> None:
    found = measured(models["ignores references"], SAMPLES[:1])
    assert found[0].evidence == {"uses_reference": True, "probe": SAME_WITH_ANY_REFERENCE}


def test_skipped_with_the_remedy() -> None:
    found = measured(DEFAULT_MODEL, SAMPLES[:6])
    assert {one.status for one in found} == {Status.SKIPPED}
    assert found[0].reason == f"no COMET model {DEFAULT_MODEL} here: turnwise models fetch {DEFAULT_MODEL}"
    assert found[5].reason == "too long"


def test_skipped_without_the_package(models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)
    (found,) = measured(models["regression"], SAMPLES[:1])
    assert found.status is Status.SKIPPED
    assert found.reason == 'COMET needs unbabel-comet, which is not installed: pip install "turnwise[neural]"'
