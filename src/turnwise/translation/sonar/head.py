"""The head of BLASER 2.0: a score from the embeddings of source, translation and, where it has one, reference."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from turnwise.kernel.errors import UsageError

QE, REF = "qe", "ref"
FACTORS = {QE: 4, REF: 6}
"""How many vectors each kind looks at."""


class BlaserHead(nn.Module):
    """A perceptron over L2-normalised embeddings, with tanh between its layers and nothing at its end.

    qe sees [src, mt, src * mt, |mt - src|], ref sees [ref, mt, src * mt, ref * mt, |mt - src|, |mt - ref|]. The score
    is nominally 1 to 5 and not clipped.
    """

    def __init__(self, layers: dict[str, nn.Linear]) -> None:
        super().__init__()
        self.mlp = nn.ModuleDict(layers)
        self.width = next(iter(layers.values())).in_features

    def mode_for(self, dim: int) -> str:
        """The kind of the head for embeddings of a width: its input is 4 (qe) or 6 (ref) times as wide."""
        for mode, factor in FACTORS.items():
            if self.width == factor * dim:
                return mode
        raise UsageError(
            "the embeddings do not fit the head",
            found=f"embeddings of {dim}, a head for {self.width} numbers",
            expected=" or ".join(f"{self.width / factor:g} ({mode})" for mode, factor in FACTORS.items()),
        )

    @torch.no_grad()
    def forward(self, src: Tensor, mt: Tensor, ref: Tensor | None = None) -> Tensor:
        """Embeddings (N, d): scores (N, 1); a reference given to a head of kind qe is not looked at."""
        s, m = self._normalised("src", src), self._normalised("mt", mt)
        if self.mode_for(s.shape[1]) == QE:
            features = [s, m, s * m, (m - s).abs()]
        elif ref is None:
            raise UsageError("this head compares with a reference", expected="ref, or a head of kind qe")
        else:
            r = self._normalised("ref", ref)
            features = [r, m, s * m, r * m, (m - s).abs(), (m - r).abs()]
        states = torch.cat(features, dim=-1)
        *inner, last = self.mlp.values()
        for layer in inner:
            states = torch.tanh(layer(states))
        score: Tensor = last(states)
        return score

    def _normalised(self, name: str, embedding: Tensor) -> Tensor:
        device = next(self.parameters()).device
        embedding = torch.as_tensor(embedding, device=device).to(torch.float32)
        if embedding.ndim != 2:
            raise UsageError(f"{name} is no table of embeddings", found=f"shape {tuple(embedding.shape)}")
        return functional.normalize(embedding, dim=-1)
