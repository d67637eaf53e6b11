"""The SONAR speech encoder: a conformer on filterbanks, and a small decoder that pools its states into one vector."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from turnwise.kernel.errors import UsageError
from turnwise.translation.sonar.layers import (
    Attention,
    FeedForward,
    Named,
    checked_lengths,
    real_places,
    sinusoids,
    without_padding,
)

BINS = 80
STACKED = 2
"""So many frames of the filterbank make one of the encoder."""
BOS_ROW = 2


def relative_positions(count: int, dim: int, device: torch.device) -> Tensor:
    """Distances count - 1 ... -(count - 1) of a query from a key, sines and cosines in turns.

    r_t[2i] = sin(t w_i), r_t[2i + 1] = cos(t w_i) with w_i = 10000^(-2i / dim), as in Transformer-XL.
    """
    rates = torch.exp(torch.arange(0, dim, 2, dtype=torch.float32, device=device) * -(math.log(10000.0) / dim))
    angles = torch.arange(count - 1, -count, -1, dtype=torch.float32, device=device)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class _RelativeParts(nn.Module):
    """What attention by relative positions has beside the projections."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.u_bias = nn.Parameter(torch.empty(heads, dim // heads))
        self.v_bias = nn.Parameter(torch.empty(heads, dim // heads))
        self.r_proj = nn.Linear(dim, dim, bias=False)


class RelativeAttention(Attention):
    """Self-attention with scores ((q_i + u) k_j + (q_i + v) W r_(i-j)) / sqrt(d_head), as in Transformer-XL."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__(dim, heads)
        self.sdpa = _RelativeParts(dim, heads)

    def relative(self, states: Tensor, positions: Tensor, is_real: Tensor | None) -> Tensor:
        """States (N, T, d) with positions (2T - 1, d)."""
        q, k = self.split(self.q_proj(states)), self.split(self.k_proj(states))
        v = self.split(self.v_proj(states))
        r = self.split(self.sdpa.r_proj(positions)[None])
        by_place = _shifted((q + self.sdpa.v_bias[:, None]) @ r.transpose(-1, -2))
        bias = by_place / math.sqrt(q.shape[-1])
        if is_real is not None:
            bias = bias.masked_fill(~is_real[:, None, None, :], -torch.inf)
        attended = functional.scaled_dot_product_attention(q + self.sdpa.u_bias[:, None], k, v, attn_mask=bias)
        return self.join(attended)


def _shifted(scores: Tensor) -> Tensor:
    """(..., T, 2T - 1) by distance to (..., T, T) by key: row i starts at distance i.

    Row i wants columns T - 1 - i ... 2T - 2 - i. One column of padding and a change of shape move each row by one.
    """
    count = scores.shape[-2]
    padded = functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., count:].reshape(*scores.shape)[..., :count]


class Convolution(nn.Module):
    """Gate, convolution along time of one filter per channel, batch norm of the training, SiLU."""

    def __init__(self, dim: int, width: int) -> None:
        super().__init__()
        self.pointwise_conv1 = nn.Conv1d(dim, 2 * dim, 1, bias=False)
        self.depthwise_conv = nn.Conv1d(dim, dim, width, padding="same", groups=dim, bias=False)
        self.batch_norm = nn.BatchNorm1d(dim)
        self.pointwise_conv2 = nn.Conv1d(dim, dim, 1, bias=False)

    def forward(self, states: Tensor, is_real: Tensor | None) -> Tensor:
        """States (N, T, d); padding counts as silence, so that a sentence does not feel its neighbours."""
        channels = without_padding(states, is_real).transpose(1, 2)
        channels = functional.glu(self.pointwise_conv1(channels), dim=1)
        channels = functional.silu(self.batch_norm(self.depthwise_conv(channels)))
        out: Tensor = self.pointwise_conv2(channels).transpose(1, 2)
        return out


class ConformerLayer(nn.Module):
    """Half a feed-forward, attention, convolution, half a feed-forward, each on normed states; a norm at the end."""

    def __init__(self, dim: int, inner: int, heads: int, width: int) -> None:
        super().__init__()
        self.ffn1_layer_norm, self.ffn1 = nn.LayerNorm(dim), FeedForward(dim, inner, nn.SiLU())
        self.self_attn_layer_norm, self.self_attn = nn.LayerNorm(dim), RelativeAttention(dim, heads)
        self.conv_layer_norm, self.conv = nn.LayerNorm(dim), Convolution(dim, width)
        self.ffn2_layer_norm, self.ffn2 = nn.LayerNorm(dim), FeedForward(dim, inner, nn.SiLU())
        self.layer_norm = nn.LayerNorm(dim)

    def forward(self, states: Tensor, positions: Tensor, is_real: Tensor | None) -> Tensor:
        """States (N, T, d) to states of the same shape."""
        states = states + 0.5 * self.ffn1(self.ffn1_layer_norm(states))
        states = states + self.self_attn.relative(self.self_attn_layer_norm(states), positions, is_real)
        states = states + self.conv(self.conv_layer_norm(states), is_real)
        states = states + 0.5 * self.ffn2(self.ffn2_layer_norm(states))
        out: Tensor = self.layer_norm(states)
        return out


class PoolerLayer(nn.Module):
    """norm(x + attention(x)), norm(x + attention to the speech), norm(x + feed_forward(x)), with ReLU inside."""

    def __init__(self, dim: int, inner: int, heads: int) -> None:
        super().__init__()
        self.self_attn, self.self_attn_layer_norm = Attention(dim, heads), nn.LayerNorm(dim)
        self.encoder_decoder_attn, self.encoder_decoder_attn_layer_norm = Attention(dim, heads), nn.LayerNorm(dim)
        self.ffn, self.ffn_layer_norm = FeedForward(dim, inner, nn.ReLU()), nn.LayerNorm(dim)

    def forward(self, states: Tensor, speech: Tensor, is_real: Tensor | None) -> Tensor:
        """One place (N, 1, d) that looks at the speech (N, T, d)."""
        states = self.self_attn_layer_norm(states + self.self_attn(states, states, None))
        states = self.encoder_decoder_attn_layer_norm(states + self.encoder_decoder_attn(states, speech, is_real))
        out: Tensor = self.ffn_layer_norm(states + self.ffn(states))
        return out


class SpeechEncoder(nn.Module):
    """Filterbanks to one vector per sentence.

    Two frames at a time are normed and projected, pass the conformer and a norm; then one token, sqrt(d) E[2] plus
    position 0, passes the pooler's layers, which look at them, and a linear map without bias.
    """

    def __init__(self, tensors: Mapping[str, Tensor], layers: int, pooler_layers: int, pooler_heads: int) -> None:
        """Of the dimensions of a checkpoint's tensors."""
        super().__init__()
        features = tensors["encoder_frontend.post_extract_layer_norm.weight"].shape[0]
        self.dim = dim = tensors["encoder_frontend.model_dim_proj.weight"].shape[0]
        inner = tensors["encoder.layers.0.ffn1.inner_proj.weight"].shape[0]
        heads = tensors["encoder.layers.0.self_attn.sdpa.u_bias"].shape[0]
        width = tensors["encoder.layers.0.conv.depthwise_conv.weight"].shape[-1]
        pooler_inner = tensors["encoder_pooler.decoder.layers.0.ffn.inner_proj.weight"].shape[0]
        tokens = tensors["encoder_pooler.decoder_frontend.embed.weight"].shape[0]
        self.encoder_frontend = Named(
            {"post_extract_layer_norm": nn.LayerNorm(features), "model_dim_proj": nn.Linear(features, dim)}
        )
        conformer = nn.ModuleList(ConformerLayer(dim, inner, heads, width) for _ in range(layers))
        self.encoder, self.layer_norm = Named({"layers": conformer}), nn.LayerNorm(dim)
        pooler = nn.ModuleList(PoolerLayer(dim, pooler_inner, pooler_heads) for _ in range(pooler_layers))
        self.encoder_pooler = Named(
            {
                "decoder_frontend": Named({"embed": nn.Embedding(tokens, dim)}),
                "decoder": Named({"layers": pooler}),
                "projection_out": nn.Linear(dim, dim, bias=False),
            }
        )

    @torch.no_grad()
    def forward(self, fbank: Tensor, lengths: Tensor | Sequence[int] | None = None) -> Tensor:
        """Filterbanks (N, T, 80), padded with anything, and the real frames of each row: embeddings (N, d)."""
        device = next(self.parameters()).device
        fbank = torch.as_tensor(fbank, device=device)
        if fbank.ndim != 3 or fbank.shape[-1] != BINS:
            raise UsageError(
                "filterbanks are wanted", found=f"shape {tuple(fbank.shape)}", expected=f"(rows, frames, {BINS})"
            )
        rows, longest = fbank.shape[0], fbank.shape[1] // STACKED
        frames = checked_lengths(lengths, rows, fbank.shape[1], device) // STACKED
        if not rows:
            return torch.empty(0, self.dim, device=device)
        if int(frames.min()) < 1:
            raise UsageError("speech is too short", found="a row of 1 frame", expected=f"{STACKED} frames or more")
        is_real = real_places(frames, longest)
        stacked = fbank[:, : longest * STACKED].to(torch.float32).reshape(rows, longest, BINS * STACKED)
        if is_real is not None:
            stacked = stacked.masked_fill(~is_real[..., None], 0.0)
        return self._pooled(self._encoded(stacked, is_real), is_real)

    def _encoded(self, stacked: Tensor, is_real: Tensor | None) -> Tensor:
        frontend = self.encoder_frontend
        states = without_padding(frontend["model_dim_proj"](frontend["post_extract_layer_norm"](stacked)), is_real)
        positions = relative_positions(states.shape[1], self.dim, states.device)
        for layer in self.encoder["layers"].children():
            states = layer(states, positions, is_real)
        normed: Tensor = self.layer_norm(states)
        return normed

    def _pooled(self, speech: Tensor, is_real: Tensor | None) -> Tensor:
        embed = self.encoder_pooler.get_parameter("decoder_frontend.embed.weight")
        token = embed[BOS_ROW] * math.sqrt(self.dim) + sinusoids(1, self.dim, 0, speech.device)[0]
        states = token.expand(len(speech), 1, self.dim)
        for layer in self.encoder_pooler["decoder.layers"].children():
            states = layer(states, speech, is_real)
        pooled: Tensor = self.encoder_pooler["projection_out"](states)[:, 0]
        return pooled
