"""The parts that the SONAR encoders are built of. Modules are named as in fairseq2's files, so that these load as is.

Only what an embedding needs is here: no dropout, no training, no generation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from turnwise.kernel.errors import UsageError


class Named(nn.Module):
    """Modules under the names a checkpoint gives them, without a computation of their own."""

    def __init__(self, parts: Mapping[str, nn.Module]) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)

    def __getitem__(self, name: str) -> nn.Module:
        return self.get_submodule(name)


class Attention(nn.Module):
    """softmax(q k' / sqrt(d) + mask) v over several heads, projected before and after."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.v_proj, self.output_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, queries: Tensor, keys: Tensor, is_real: Tensor | None) -> Tensor:
        """Queries (N, S, d) look at keys (N, T, d); `is_real` (N, T) says which of these are no padding."""
        mask = None if is_real is None else is_real[:, None, None, :]
        q, k, v = self.split(self.q_proj(queries)), self.split(self.k_proj(keys)), self.split(self.v_proj(keys))
        return self.join(functional.scaled_dot_product_attention(q, k, v, attn_mask=mask))

    def split(self, states: Tensor) -> Tensor:
        """(N, S, d) as (N, heads, S, d / heads)."""
        return states.reshape(*states.shape[:-1], self.heads, -1).transpose(1, 2)

    def join(self, states: Tensor) -> Tensor:
        """The heads side by side again, mixed."""
        mixed: Tensor = self.output_proj(states.transpose(1, 2).flatten(2))
        return mixed


class FeedForward(nn.Module):
    """output(activation(inner(x)))."""

    def __init__(self, dim: int, inner: int, activation: nn.Module) -> None:
        super().__init__()
        self.inner_proj, self.output_proj = nn.Linear(dim, inner), nn.Linear(inner, dim)
        self.activation = activation

    def forward(self, states: Tensor) -> Tensor:
        """States (..., d) to states of the same shape."""
        out: Tensor = self.output_proj(self.activation(self.inner_proj(states)))
        return out


def sinusoids(count: int, dim: int, first: int, device: torch.device) -> Tensor:
    """Positions first ... first + count - 1 as fairseq has them: all sines, then all cosines.

    p_t = [sin(t w_0), ..., sin(t w_h), cos(t w_0), ..., cos(t w_h)] with w_i = 10000^(-i / (dim / 2 - 1)). Position 0
    is zeros and then ones.
    """
    half = dim // 2
    step = math.log(10000.0) / max(half - 1, 1)
    rates = torch.exp(torch.arange(half, dtype=torch.float32, device=device) * -step)
    angles = torch.arange(first, first + count, dtype=torch.float32, device=device)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def checked_lengths(lengths: Tensor | Sequence[int] | None, rows: int, longest: int, device: torch.device) -> Tensor:
    """The real length of each row, or an error that says which is impossible; none given: all rows are full."""
    if lengths is None:
        return torch.full((rows,), longest, device=device)
    found = torch.as_tensor(lengths, device=device).to(torch.int64)
    if found.shape != (rows,):
        raise UsageError("one length per row is wanted", found=f"{tuple(found.shape)} lengths for {rows} rows")
    if rows and not 0 < int(found.min()) <= int(found.max()) <= longest:
        raise UsageError("a length is out of its range", found=str(found.tolist()), expected=f"1 to {longest}")
    return found


def real_places(lengths: Tensor, longest: int) -> Tensor | None:
    """(N, T): which places are no padding; None where nothing is padded, which is the faster way."""
    if int(lengths.min()) == longest:
        return None
    return torch.arange(longest, device=lengths.device)[None, :] < lengths[:, None]


def without_padding(states: Tensor, is_real: Tensor | None) -> Tensor:
    """States (N, T, d) with zeros in padded places."""
    return states if is_real is None else states * is_real[..., None]
