"""BLASER 2.0 on samples: embeddings from the cache or from an encoder, and the head's score.

Models are loaded when something has to be computed, and once per process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from turnwise.audio.wave import CLIPPED, UnusableAudio, read_wave
from turnwise.kernel.errors import InputError, TurnwiseError
from turnwise.kernel.extras import import_extra
from turnwise.kernel.once import once
from turnwise.kernel.signature import digest
from turnwise.neural.cache import Embedding, EmbeddingCache, audio_key, default_folder, text_key
from turnwise.neural.device import resolve_device
from turnwise.translation.sonar_models import (
    ENGLISH,
    REF,
    BrokenModel,
    Chosen,
    ModelMissing,
    configured_heads,
    describe,
    head_for,
    notes,
    speech_encoder_for,
    text_codes,
    text_encoder_for,
)

__all__ = ["BlaserScorer", "BrokenModel", "ModelMissing", "Request", "Score", "describe", "notes"]

BATCH_FRAMES = 6000
"""Filterbank frames, padding included, that are encoded together: two sentences of 30 s, or many short ones."""
BATCH_TOKENS = 2048
_KEPT = 64
"""Recordings that wait to be encoded, so that those of about one length go together."""
_PREPARED = 1
"""Goes up when audio or text is prepared in another way: what is in the cache is then of no use."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is scored: speech against speech and, if there is one, a reference text."""

    source_audio: Path
    hypothesis_audio: Path
    language: str | None
    reference: str | None = None
    source_language: str | None = ENGLISH


@dataclass(frozen=True, slots=True)
class Score:
    """A score and how it came about."""

    value: float
    evidence: dict[str, Any]


@dataclass
class _Waiting:
    """What is not in the cache, by encoder."""

    model: Chosen
    inputs: dict[str, Any] = field(default_factory=dict)
    """Filterbanks or texts, by cache key."""


class BlaserScorer:
    """Scores of a mode on a device; embeddings come from the cache where it has them."""

    def __init__(self, mode: str, device: str = "auto", cache: EmbeddingCache | None = None) -> None:
        self._torch = import_extra("torch", "neural", "BLASER")
        self._device = resolve_device(device)
        self.mode = mode
        self.uses_reference = mode == REF
        self._head = head_for(mode)
        self._cache = EmbeddingCache(default_folder()) if cache is None else cache
        self._choices: dict[tuple[Callable[[str | None], Chosen], str | None], Chosen] = {}
        self._found: dict[str, Embedding] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._heard: dict[tuple[Path, str], str | TurnwiseError] = {}

    def score(self, requests: Sequence[Request]) -> list[Score | TurnwiseError]:
        """A score for each request, or why it cannot have one."""
        plans = [self._plan(request) for request in requests]
        for model in list(self._waiting):
            self._encode(model)
        rows = [plan for plan in plans if not isinstance(plan, TurnwiseError)]
        values = iter(self._values([keys for keys, _ in rows]))
        found: list[Score | TurnwiseError] = [
            plan if isinstance(plan, TurnwiseError) else Score(next(values), plan[1]) for plan in plans
        ]
        self._found.clear()
        self._heard.clear()
        return found

    def _plan(self, request: Request) -> tuple[list[str], dict[str, Any]] | TurnwiseError:
        """The keys of the embeddings that a score needs, and its evidence."""
        try:
            models = {
                "source": self._chosen(speech_encoder_for, request.source_language),
                "hypothesis": self._chosen(speech_encoder_for, request.language),
            }
            if self.uses_reference:
                models["reference"] = self._chosen(text_encoder_for, request.language)
            keys = [
                self._speech(models["source"], request.source_audio),
                self._speech(models["hypothesis"], request.hypothesis_audio),
            ]
            if self.uses_reference:
                keys.append(self._text(models["reference"], request.reference or ""))
        except BrokenModel:
            raise
        except TurnwiseError as error:
            return error
        return keys, self._evidence(models)

    def _chosen(self, choose: Callable[[str | None], Chosen], language: str | None) -> Chosen:
        """A choice, looked up on disk once."""
        if (choose, language) not in self._choices:
            self._choices[choose, language] = choose(language)
        return self._choices[choose, language]

    def _evidence(self, models: dict[str, Chosen]) -> dict[str, Any]:
        notes = dict.fromkeys(note for model in models.values() for note in model.notes)
        return {
            "mode": self.mode,
            "uses_reference": self.uses_reference,
            "model": self._head.label,
            "encoders": {part: model.label for part, model in models.items()},
            **({"notes": list(notes)} if notes else {}),
            "versions": _versions(),
        }

    def _speech(self, model: Chosen, path: Path) -> str:
        place = path, model.hash
        if place not in self._heard:
            try:
                self._heard[place] = self._listen(model, path)
            except UnusableAudio as error:
                self._heard[place] = error
        known = self._heard[place]
        if isinstance(known, TurnwiseError):
            raise known
        return known

    def _listen(self, model: Chosen, path: Path) -> str:
        from turnwise.translation.sonar.sound import check_length, fbank

        wave = read_wave(path, rate=None, tolerate=(CLIPPED,))
        check_length(wave)
        key = f"{_model_key(model, self._device)}/{audio_key(wave.samples, wave.rate)}"
        self._need(model, key, lambda: fbank(wave))
        return key

    def _text(self, model: Chosen, text: str) -> str:
        key = f"{_model_key(model, self._device)}/{text_key(text, model.code)}"
        self._need(model, key, lambda: _token_ids(model, text, self._device))
        return key

    def _need(self, model: Chosen, key: str, prepare: Callable[[], Any]) -> None:
        """Remember an embedding from the cache, or what it is to be computed from."""
        if key in self._found or key in self._waiting.get(str(model.file), _Waiting(model)).inputs:
            return
        (known,) = self._cache.get_many([key])
        if known is not None:
            self._found[key] = known
            return
        waiting = self._waiting.setdefault(str(model.file), _Waiting(model))
        waiting.inputs[key] = prepare()
        if len(waiting.inputs) >= _KEPT:
            self._encode(str(model.file))

    def _encode(self, name: str) -> None:
        waiting = self._waiting.pop(name)
        most = BATCH_TOKENS if waiting.model.code else BATCH_FRAMES
        encode = _embed_texts if waiting.model.code else _embed_speech
        for keys in by_length({key: len(one) for key, one in waiting.inputs.items()}, most):
            rows = encode(waiting.model, [waiting.inputs[key] for key in keys], self._device)
            self._cache.put_many(keys, rows)
            self._found.update(zip(keys, rows, strict=True))

    def _values(self, rows: Sequence[Sequence[str]]) -> list[float]:
        if not rows:
            return []
        head = _loaded("blaser", self._head.file, self._head.hash, self._device)
        columns = (
            self._torch.from_numpy(np.stack([self._found[key] for key in keys])) for keys in zip(*rows, strict=True)
        )
        values: list[float] = head(*columns)[:, 0].tolist()
        return values


def by_length(lengths: dict[str, int], most: int) -> list[list[str]]:
    """Keys in groups of about one length; a group, padded to its longest, has at most `most` places."""
    groups: list[list[str]] = []
    for key in sorted(lengths, key=lambda one: (-lengths[one], one)):
        if groups and (len(groups[-1]) + 1) * lengths[groups[-1][0]] <= most:
            groups[-1].append(key)
        else:
            groups.append([key])
    return groups


# Models, loaded once per process


def _loaded(kind: str, file: Path, file_hash: str, device: str) -> Any:
    """A model by its file, in memory for as long as the process lives."""
    found = _load(kind, file, file_hash, device)
    if isinstance(found, BrokenModel):
        raise found.with_traceback(None)  # what it passed through before would be kept alive
    return found


@once
def _load(kind: str, file: Path, _hash: str, device: str) -> Any:
    """A model, or why it cannot be used: a large file that is no use is not read for every sample."""
    from turnwise.translation import sonar

    try:
        model: Any = getattr(sonar, f"load_{kind}")(file)
    except TurnwiseError as error:
        return BrokenModel(error.what, where=error.where, found=error.found, remedy=error.remedy)
    return model.to(device)


@once
def _tokenizer(file: Path) -> Any:
    from turnwise.translation.sonar.tokens import Tokenizer, tokenizer_file

    return Tokenizer(tokenizer_file(file), text_codes())


def _token_ids(model: Chosen, text: str, device: str) -> list[int]:
    from turnwise.translation.sonar.checkpoint import TRANSFORMERS
    from turnwise.translation.sonar.tokens import LONGEST

    encoder = _loaded("text_encoder", model.file, model.hash, device)
    ids: list[int] = _tokenizer(model.file).ids(text, model.code, fairseq2=encoder.vocabulary != TRANSFORMERS)
    if len(ids) > LONGEST:
        raise InputError(f"reference longer than {LONGEST} tokens", found=f"{len(ids)} tokens")
    return ids


def _embed_speech(model: Chosen, fbanks: Sequence[Any], device: str) -> list[Embedding]:
    torch = import_extra("torch", "neural", "BLASER")
    encoder = _loaded("speech_encoder", model.file, model.hash, device)
    padded = torch.nn.utils.rnn.pad_sequence([torch.from_numpy(one) for one in fbanks], batch_first=True)
    return list(encoder(padded, [len(one) for one in fbanks]).cpu().numpy())


def _embed_texts(model: Chosen, token_ids: Sequence[list[int]], device: str) -> list[Embedding]:
    torch = import_extra("torch", "neural", "BLASER")
    encoder = _loaded("text_encoder", model.file, model.hash, device)
    padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(one) for one in token_ids], batch_first=True)
    return list(encoder(padded, [len(one) for one in token_ids]).cpu().numpy())


def _model_key(model: Chosen, device: str) -> str:
    """What an embedding depends on besides what is embedded."""
    return digest([model.hash, model.tokenizer_hash, configured_heads(model.file), device, _versions(), _PREPARED], 32)


@cache
def _versions() -> str:
    return " ".join(f"{package} {version(package)}" for package in ("torch", "turnwise"))
