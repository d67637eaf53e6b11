"""SONAR's encoders and BLASER's heads in plain torch. Files of any published layout load; dimensions are their own.

`load_text_encoder(path)(token_ids, lengths)`, `load_speech_encoder(path)(fbank, lengths)` and
`load_blaser(path)(src, mt, ref)` take tensors and give embeddings (N, d) or scores (N, 1).
"""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import nn

from turnwise.kernel.errors import InputError, UsageError
from turnwise.translation.sonar.checkpoint import (
    FAIRSEQ2,
    Checkpoint,
    count_layers,
    fill,
    need,
    read_speech_checkpoint,
    read_tensors,
    read_text_checkpoint,
)
from turnwise.translation.sonar.head import BlaserHead
from turnwise.translation.sonar.speech import BINS, STACKED, SpeechEncoder
from turnwise.translation.sonar.text import TextEncoder
from turnwise.translation.sonar_models import weights_file

__all__ = ["BlaserHead", "SpeechEncoder", "TextEncoder", "load_blaser", "load_speech_encoder", "load_text_encoder"]

PUBLISHED_DIM, PUBLISHED_HEADS = 1024, 16
_LAYER_WEIGHT = re.compile(r"mlp\.(\d+)\.weight$")


def load_text_encoder(path: str | Path, *, num_heads: int | None = None) -> TextEncoder:
    """A text encoder from a file or folder, with the names of fairseq 1, fairseq 2 or transformers.

    Args:
        path: a file of tensors, or a folder with one.
        num_heads: attention heads, which no tensor tells; 16 for the published width of 1024.
    """
    checkpoint = read_text_checkpoint(path)
    need(checkpoint, ["encoder_frontend.embed.weight", "encoder.layers.0.ffn.inner_proj.weight"])
    dim = checkpoint.tensors["encoder_frontend.embed.weight"].shape[1]
    heads = _heads(checkpoint, dim, num_heads or checkpoint.heads)
    with torch.device("meta"):
        encoder = TextEncoder.shaped_as(checkpoint.tensors, count_layers(checkpoint, "encoder.layers."), heads)
    fill(encoder, checkpoint)
    encoder.vocabulary = checkpoint.layout
    return encoder


def load_speech_encoder(path: str | Path, *, num_heads: int | None = None) -> SpeechEncoder:
    """A speech encoder from a file or folder, with the names of fairseq 1 or fairseq 2.

    Args:
        path: a file of tensors, or a folder with one.
        num_heads: attention heads of the pooler, which no tensor tells; those of the conformer, which are told by its
            biases, unless they are given.
    """
    checkpoint = read_speech_checkpoint(path)
    need(
        checkpoint,
        [
            "encoder_frontend.post_extract_layer_norm.weight",
            "encoder_frontend.model_dim_proj.weight",
            "encoder.layers.0.ffn1.inner_proj.weight",
            "encoder.layers.0.self_attn.sdpa.u_bias",
            "encoder.layers.0.conv.depthwise_conv.weight",
            "encoder_pooler.decoder_frontend.embed.weight",
            "encoder_pooler.decoder.layers.0.ffn.inner_proj.weight",
        ],
    )
    tensors = checkpoint.tensors
    features = tensors["encoder_frontend.post_extract_layer_norm.weight"].shape[0]
    if features != BINS * STACKED:
        raise InputError(
            "the encoder takes other features", where=str(checkpoint.file), found=f"{features}", expected="160 (2 x 80)"
        )
    dim = tensors["encoder_frontend.model_dim_proj.weight"].shape[0]
    told = int(tensors["encoder.layers.0.self_attn.sdpa.u_bias"].shape[0])
    layers = count_layers(checkpoint, "encoder.layers.")
    pooler_layers = count_layers(checkpoint, "encoder_pooler.decoder.layers.")
    with torch.device("meta"):
        encoder = SpeechEncoder(
            tensors, layers, pooler_layers, _heads(checkpoint, dim, num_heads or checkpoint.heads or told)
        )
    fill(encoder, checkpoint)
    return encoder


def load_blaser(path: str | Path) -> BlaserHead:
    """A head of BLASER 2.0 from a file or folder; its kind is told by how wide its input is for the embeddings."""
    file = weights_file(path)
    tensors, _ = read_tensors(file)
    names = {int(match[1]): name for name in tensors if (match := _LAYER_WEIGHT.match(name))}
    if not names:
        found = ", ".join(sorted(tensors)[:4]) or "no tensors"
        raise InputError("no head of BLASER", where=str(file), found=found, expected="mlp.1.weight, mlp.4.weight ...")
    with torch.device("meta"):
        head = BlaserHead({str(place): _linear(tensors[names[place]]) for place in sorted(names)})
    fill(head, Checkpoint(file, tensors, FAIRSEQ2))
    return head


def _linear(weight: torch.Tensor) -> nn.Linear:
    outputs, inputs = weight.shape
    return nn.Linear(inputs, outputs)


def _heads(checkpoint: Checkpoint, dim: int, heads: int | None) -> int:
    heads = heads or (PUBLISHED_HEADS if dim == PUBLISHED_DIM else None)
    if heads is None:
        raise UsageError(
            "the number of attention heads is not in the checkpoint",
            where=str(checkpoint.file),
            found=f"embeddings of {dim}; {PUBLISHED_HEADS} heads are taken for {PUBLISHED_DIM} only",
            remedy="give num_heads=",
        )
    if heads < 1 or dim % heads:
        raise UsageError("the heads do not divide the width", found=f"{heads} heads, {dim} wide")
    return heads
