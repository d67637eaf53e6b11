"""Tiny models with random weights, in the places and under the names of the published ones; and little recordings."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path

import numpy as np
import sentencepiece
import torch
from torch import Tensor, nn

from turnwise.translation.sonar.head import BlaserHead
from turnwise.translation.sonar.speech import SpeechEncoder
from turnwise.translation.sonar.text import TextEncoder

DIM, HEADS = 32, 4
SENTENCES = [
    "Ndibone amagama amabini elityeni.",
    "Umama uthenga isonka nobisi evenkileni.",
    "Abantwana badlala ngaphandle kwendlu.",
    "Nahụrụ m aha abụọ na nkume ahụ.",
    "Nne na-azụ achịcha na mmiri ara ehi.",
]


def randomised(module: nn.Module, seed: int) -> dict[str, Tensor]:
    """A module's tensors, all drawn anew, small enough for activations that are neither 0 nor saturated."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, tensor in module.state_dict().items():
        if not tensor.is_floating_point():
            tensors[name] = tensor
            continue
        noise = torch.randn(tensor.shape, generator=generator) * (0.3 if tensor.ndim > 1 else 0.1)
        if name.endswith("running_var"):
            noise = 1 + noise.abs()
        elif "norm" in name and name.endswith("weight"):
            noise = 1 + noise
        tensors[name] = noise
    return tensors


def text_tensors(tokens: int, seed: int, dim: int = DIM, inner: int = 48, layers: int = 2) -> dict[str, Tensor]:
    return randomised(TextEncoder(tokens, dim, inner, layers, HEADS), seed)


def speech_tensors(seed: int, dim: int = DIM, layers: int = 2, pooler_layers: int = 1) -> dict[str, Tensor]:
    shapes = {
        "encoder_frontend.post_extract_layer_norm.weight": (160,),
        "encoder_frontend.model_dim_proj.weight": (dim, 160),
        "encoder.layers.0.ffn1.inner_proj.weight": (48, dim),
        "encoder.layers.0.self_attn.sdpa.u_bias": (HEADS, dim // HEADS),
        "encoder.layers.0.conv.depthwise_conv.weight": (dim, 1, 31),
        "encoder_pooler.decoder.layers.0.ffn.inner_proj.weight": (40, dim),
        "encoder_pooler.decoder_frontend.embed.weight": (dim, dim),
    }
    tensors = {name: torch.empty(shape) for name, shape in shapes.items()}
    return randomised(SpeechEncoder(tensors, layers, pooler_layers, HEADS), seed)


def head_tensors(factor: int, seed: int, dim: int = DIM, hidden: tuple[int, int] = (20, 12)) -> dict[str, Tensor]:
    sizes = zip((factor * dim, hidden[0], hidden[1]), (*hidden, 1), strict=True)
    layers = {name: nn.Linear(a, b) for name, (a, b) in zip(("1", "4", "7"), sizes, strict=True)}
    return randomised(BlaserHead(layers), seed)


def sentencepiece_model(size: int = 60) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 4), model_writer=written, vocab_size=size, minloglevel=2
    )
    return written.getvalue()


def put(folder: Path, name: str, tensors: dict[str, Tensor], *, heads: int | None = HEADS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    torch.save({"model": tensors}, folder / name)
    if heads is not None:
        (folder / "config.json").write_text(json.dumps({"encoder_attention_heads": heads}))
    return folder / name


def put_models(folder: Path) -> Path:
    """All models that scoring from English into the document's languages needs, but no fine-tuned one."""
    put(folder / "sonar_speech_encoder_eng", "spenc.eng.pt", speech_tensors(1))
    put(folder / "sonar_speech_encoder_swh", "spenc.v3ap.swh.pt", speech_tensors(2, pooler_layers=2))
    pieces = sentencepiece_model()
    put(folder / "text_sonar_basic_encoder", "sonar_text_encoder.pt", text_tensors(60 + 1 + 202 + 3, 3))
    (folder / "text_sonar_basic_encoder" / "sentencepiece.source.256000.model").write_bytes(pieces)
    put(folder / "blaser_2_0_qe", "model.pt", head_tensors(4, 4), heads=None)
    put(folder / "blaser_2_0_ref", "model.pt", head_tensors(6, 5), heads=None)
    return folder


def write_wave(file: Path, seconds: float, pitch: float, rate: int = 16000) -> Path:
    """A tone with harmonics and a little noise, 16 bits."""
    rng = np.random.default_rng(int(pitch * 10))
    time = np.arange(int(seconds * rate)) / rate
    sound = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, 6)) * (0.6 + 0.4 * np.sin(7 * time))
    sound = 0.2 * sound + 0.01 * rng.normal(size=len(time))
    with wave.open(str(file), "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(rate)
        stream.writeframes((sound * 20000).astype("<i2").tobytes())
    return file
