"""The SONAR text encoder: the encoder of NLLB, its states averaged over the tokens of a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

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

FIRST_POSITION = 2
"""fairseq counts positions from the padding's id, which was 1, plus one."""


class TextLayer(nn.Module):
    """x + attention(norm(x)), then x + feed_forward(norm(x)), with ReLU inside."""

    def __init__(self, dim: int, inner: int, heads: int) -> None:
        super().__init__()
        self.self_attn_layer_norm, self.self_attn = nn.LayerNorm(dim), Attention(dim, heads)
        self.ffn_layer_norm, self.ffn = nn.LayerNorm(dim), FeedForward(dim, inner, nn.ReLU())

    def forward(self, states: Tensor, is_real: Tensor | None) -> Tensor:
        """States (N, T, d) to states of the same shape."""
        normed = self.self_attn_layer_norm(states)
        states = states + self.self_attn(normed, normed, is_real)
        out: Tensor = states + self.ffn(self.ffn_layer_norm(states))
        return out


class TextEncoder(nn.Module):
    """Token ids to one vector per sentence.

    e = mean over the real tokens of norm(layers(sqrt(d) E[token] + position)), as M2M-100 has it.
    """

    vocabulary: str = ""
    """Whose order the first four token ids are in; set by whoever loads the file."""

    def __init__(self, tokens: int, dim: int, inner: int, layers: int, heads: int) -> None:
        super().__init__()
        self.dim = dim
        self.encoder_frontend = Named({"embed": nn.Embedding(tokens, dim)})
        self.encoder = Named({"layers": nn.ModuleList(TextLayer(dim, inner, heads) for _ in range(layers))})
        self.layer_norm = nn.LayerNorm(dim)

    @classmethod
    def shaped_as(cls, tensors: Mapping[str, Tensor], layers: int, heads: int) -> TextEncoder:
        """An encoder of the dimensions of a checkpoint's tensors."""
        tokens, dim = tensors["encoder_frontend.embed.weight"].shape
        inner = tensors["encoder.layers.0.ffn.inner_proj.weight"].shape[0]
        return cls(tokens, dim, inner, layers, heads)

    @torch.no_grad()
    def forward(self, token_ids: Tensor, lengths: Tensor | Sequence[int] | None = None) -> Tensor:
        """Token ids (N, T), padded with anything, and the real length of each row: embeddings (N, d)."""
        embed = self.encoder_frontend["embed"]
        device = next(self.parameters()).device
        token_ids = torch.as_tensor(token_ids, device=device)
        if token_ids.ndim != 2 or token_ids.is_floating_point():
            raise UsageError("token ids are integers in rows", found=f"{token_ids.dtype} {tuple(token_ids.shape)}")
        rows, longest = token_ids.shape
        real = checked_lengths(lengths, rows, longest, device)
        if not rows:
            return torch.empty(0, self.dim, device=device)
        is_real = real_places(real, longest)
        if is_real is not None:
            token_ids = token_ids.masked_fill(~is_real, 0)
        self._check_ids(token_ids)
        states = embed(token_ids) * math.sqrt(self.dim) + sinusoids(longest, self.dim, FIRST_POSITION, device)
        for layer in self.encoder["layers"].children():
            states = layer(states, is_real)
        states = without_padding(self.layer_norm(states), is_real)
        pooled: Tensor = states.sum(dim=1) / real[:, None]
        return pooled

    def _check_ids(self, token_ids: Tensor) -> None:
        known = int(self.encoder_frontend.get_parameter("embed.weight").shape[0])
        low, high = int(token_ids.min()), int(token_ids.max())
        if low < 0 or high >= known:
            raise UsageError("no token of the vocabulary", found=f"ids {low} to {high}", expected=f"below {known}")
