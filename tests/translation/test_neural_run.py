"""The document's command with every one of its five metrics, on tiny models that lie where the published ones would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Cli, cli
from tests.translation.sonar.building import put_models
from tests.translation.tiny_comet import build_comet, build_encoder, into_hub_cache

__all__ = ["cli"]  # the fixture

EXAMPLES = ROOT / "examples" / "translation" / "languages"
FIVE = ("bleu", "chrf", "comet", "mcd", "blaser")


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """COMET's default model in a hub cache, BLASER's heads and encoders in the folder of models."""
    encoder = build_encoder(tmp_path / "encoder")
    qe = build_comet(tmp_path / "comet", "referenceless_regression_metric", encoder)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    into_hub_cache(tmp_path / "hub", "McGill-NLP/ssa-comet-qe", qe)
    monkeypatch.setenv("TURNWISE_MODELS", str(put_models(tmp_path / "models")))


@pytest.mark.usefixtures("models")
def test_the_documents_command_with_all_five_metrics(cli: Cli, tmp_path: Path) -> None:
    words = ("--data-dir", EXAMPLES, "--nmt-model", "nmt_v1", "--tts-model", "tts_v1", "--device", "cpu")
    summary = cli(
        *("run", "translation", "--mode", "predictions", "--language", "xhosa", *words, "--metrics", *FIVE),
        *("--output-dir", tmp_path / "results", "--execution-id", "eval", "--resamples", "100", "--json"),
    ).json()
    found = {r["metric"]: r for r in summary["results"] if r["primary"] and not r["group"] and not r["variant"]}
    assert {name: r["n_scored"] for name, r in found.items()} == dict.fromkeys(FIVE, 12)
    assert "referenceless_regression_metric without reference" in found["comet"]["signature"]
    assert "blaser_2_0_ref" in found["blaser"]["signature"]
    notes = [f["message"] for f in summary["run"]["findings"] if f["check"] == "proxy"]
    assert any("xhosa" in note and "swahili" in note for note in notes)
    details = json.loads((tmp_path / "results" / "eval" / "xhosa" / "per_sample_results.json").read_text())
    assert {len(sample["values"]) for sample in details} == {5}
    page = (tmp_path / "results" / "eval" / "summary_report.html").read_text()
    assert "comet" in page
    assert "blaser" in page
