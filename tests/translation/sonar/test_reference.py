"""Outputs that fairseq2 itself gave for tiny checkpoints, and the published heads where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from tests.shared_data import shared
from tests.translation.sonar.test_layouts import fairseq1_speech, fairseq1_text, published_by_fairseq1, saved
from turnwise.neural.weights import find_model
from turnwise.translation.sonar import load_blaser, load_speech_encoder, load_text_encoder

PUBLISHED = {mode: find_model(f"blaser_2_0_{mode}") for mode in ("qe", "ref")}
"""Looked for before the tests get a home of their own."""


def reference(name: str) -> dict[str, Any]:
    found: dict[str, Any] = torch.load(shared("sonar_reference", f"{name}_io.pt"), weights_only=True)
    return found


def off(found: torch.Tensor, expected: torch.Tensor) -> float:
    assert found.shape == expected.shape
    return float((found - expected).abs().max())


def test_text_encoder() -> None:
    known = reference("text_encoder")
    encoder = load_text_encoder(shared("sonar_reference", "text_encoder.pt"), num_heads=known["num_heads"])
    assert off(encoder(known["token_ids"], known["lengths"]), known["embedding"]) < 1e-5
    assert off(encoder(known["token_ids"], torch.tensor(known["lengths"])), known["embedding"]) < 1e-5


def test_text_without_its_padding() -> None:
    known = reference("text_encoder")
    encoder = load_text_encoder(shared("sonar_reference", "text_encoder.pt"), num_heads=known["num_heads"])
    for row, length in enumerate(known["lengths"]):
        alone = encoder(known["token_ids"][row : row + 1, :length], [length])
        assert off(alone, known["embedding"][row : row + 1]) < 1e-5


def test_text_under_other_names(tmp_path: Path) -> None:
    known = reference("text_encoder")
    tensors = torch.load(shared("sonar_reference", "text_encoder.pt"), weights_only=True)["model"]
    for content in (tensors, fairseq1_text(tensors), {"model": fairseq1_text(tensors)}, published_by_fairseq1(tensors)):
        encoder = load_text_encoder(saved(tmp_path, content), num_heads=known["num_heads"])
        assert off(encoder(known["token_ids"], known["lengths"]), known["embedding"]) < 1e-5
    save_file(fairseq1_text(tensors), tmp_path / "model.safetensors")
    encoder = load_text_encoder(tmp_path, num_heads=known["num_heads"])
    assert off(encoder(known["token_ids"], known["lengths"]), known["embedding"]) < 1e-5


def test_speech_under_other_names(tmp_path: Path) -> None:
    known = reference("speech_encoder")
    tensors = torch.load(shared("sonar_reference", "speech_encoder.pt"), weights_only=True)["model"]
    for content in (tensors, {"model": fairseq1_speech(tensors)}):
        encoder = load_speech_encoder(saved(tmp_path, content), num_heads=known["num_heads"])
        assert off(encoder(known["fbank"], known["lengths"]), known["embedding"]) < 1e-5


def test_speech_encoder() -> None:
    known = reference("speech_encoder")
    encoder = load_speech_encoder(shared("sonar_reference", "speech_encoder.pt"), num_heads=known["num_heads"])
    assert off(encoder(known["fbank"], known["lengths"]), known["embedding"]) < 1e-5


def test_speech_without_its_padding_or_with_other_padding() -> None:
    known = reference("speech_encoder")
    encoder = load_speech_encoder(shared("sonar_reference", "speech_encoder.pt"))
    for row, length in enumerate(known["lengths"]):
        alone = encoder(known["fbank"][row : row + 1, :length], [length])
        assert off(alone, known["embedding"][row : row + 1]) < 1e-5
    padded = torch.nn.functional.pad(known["fbank"], (0, 0, 0, 37), value=torch.nan)
    assert off(encoder(padded, known["lengths"]), known["embedding"]) < 1e-5


@pytest.mark.parametrize("mode", ["qe", "ref"])
def test_heads(mode: str) -> None:
    known = reference(f"blaser_{mode}")
    head = load_blaser(shared("sonar_reference", f"blaser_{mode}.pt"))
    reference_embedding = known["ref"] if mode == "ref" else None
    assert off(head(known["src"], known["mt"], reference_embedding), known["score"]) < 1e-5
    assert head.mode_for(known["embedding_dim"]) == mode
    # Inputs are normalised: their length does not matter.
    assert off(head(known["src"] * 7, known["mt"] * 0.1, known["ref"]), known["score"]) < 1e-5


@pytest.mark.parametrize(("mode", "expected"), [("ref", 5.2552075), ("qe", 4.9818931)])
def test_published_heads(mode: str, expected: float) -> None:
    file = PUBLISHED[mode]
    if file is None:
        pytest.skip(f"blaser_2_0_{mode} is not here: turnwise models fetch blaser_2_0_{mode}")
    head = load_blaser(file)
    same = torch.full((1, 1024), 1 / 32)
    assert head(same, same, same).item() == pytest.approx(expected, abs=1e-5)


def test_nothing_is_trained() -> None:
    head = load_blaser(shared("sonar_reference", "blaser_qe.pt"))
    known = reference("blaser_qe")
    assert not head.training
    assert not head(known["src"], known["mt"]).requires_grad
