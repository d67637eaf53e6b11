"""COMET models: found by path or name, loaded once per process through unbabel-comet, and asked for scores.

The scores are those of `CometModel.predict`. Classes that embed each text by itself (regression, referenceless,
ranking) have every distinct text encoded once, however many systems are scored on the same sources and references;
classes that read texts together (unified, XCOMET) have every distinct input scored once. A run never downloads:
`turnwise models fetch` does, and so does `load_comet(..., download=True)`.
"""

from __future__ import annotations

import hashlib
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.extras import import_extra, remedy
from turnwise.neural.cache import EmbeddingCache, default_folder
from turnwise.neural.device import resolve_device
from turnwise.neural.weights import file_hash, find_model
from turnwise.translation.comet_files import EMBEDDING, Checkpoint, NotAvailable, find_checkpoint

EXTRA = "neural"
BATCH = 16
"""Texts (or inputs) at a time, as unbabel-comet itself has it."""

SAME_WITH_ANY_REFERENCE = "the class takes a reference, but another reference gives the same scores"
DIFFERENT_WITH_ANOTHER = "the class takes no reference, but another reference gives other scores"
PROBE_TOLERANCE = 1e-6

Vectors = npt.NDArray[np.float32]
_T = TypeVar("_T")
_LOADING = RLock()  # two threads that ask at once get the same model


class Inputs(NamedTuple):
    """What one score is about; no reference where there is none or the model takes none."""

    source: str
    hypothesis: str
    reference: str | None = None


PROBE = (
    Inputs("The cat sleeps.", "Le chat dort.", "Le chat est endormi."),
    Inputs("We leave tomorrow at noon.", "Nous partons demain midi.", "Notre départ est demain à midi."),
    Inputs("How much is it?", "Combien de temps ?", "Ça coûte combien ?"),
)
"""Scored twice, the second time with the references exchanged, to see whether a model looks at them."""


# Loading


def load_comet(name: str, device: str = "auto", *, cache: Path | None = None, download: bool = False) -> CometScorer:
    """The model of a name or path on a device; the same object each time in one process.

    Args:
        name: a folder with `hparams.yaml` and `checkpoints/model.ckpt`, the `.ckpt` itself, or `organisation/model`.
        device: `cpu`, `cuda` or `auto`.
        cache: where embeddings are kept from run to run; by default in the user's cache.
        download: fetch a model that is not here.

    Raises:
        NotAvailable: unbabel-comet or the model is not here.
        TurnwiseError: the model is here and cannot be loaded.
    """
    if find_spec("comet") is None:  # said first: without it no model is of any use
        raise NotAvailable("COMET needs unbabel-comet, which is not installed", remedy=remedy(EXTRA))
    with _LOADING:
        try:
            found = find_checkpoint(name)
        except NotAvailable:
            if not download:
                raise
            from turnwise.neural.fetch import fetch

            fetch(name)
            found = find_checkpoint(name)
        kept = cache or default_folder()
        key = str(found.path.resolve()), found.path.stat().st_mtime_ns, resolve_device(device), kept
        if key not in _LOADED:
            _LOADED[key] = _load(name, found, key[2], kept)
        loaded = _LOADED[key]
    if isinstance(loaded, TurnwiseError):
        raise loaded.with_traceback(None)  # what it passed through before would be kept alive
    return loaded


def _load(name: str, found: Checkpoint, device: str, cache: Path) -> CometScorer | TurnwiseError:
    """The model, or the error; loading is not tried twice."""
    with quiet():
        try:
            comet = import_extra("comet", EXTRA, "COMET")
        except TurnwiseError as error:
            return NotAvailable(error.what, found=error.found, remedy=remedy(EXTRA))
        try:
            model = comet.load_from_checkpoint(str(found.path), local_files_only=True)
        except Exception as error:  # what a checkpoint may raise comes from four libraries
            return _loading_error(name, found, error)
    model.eval()
    model.to(device)
    return CometScorer(model, found, device, EmbeddingCache(cache))


def _loading_error(name: str, found: Checkpoint, error: Exception) -> TurnwiseError:
    from turnwise.neural.fetch import pretrained_model

    said = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
    encoder = pretrained_model(found.path.resolve().parents[1]) or pretrained_model(found.path.parents[1])
    if isinstance(error, OSError) and encoder:  # how transformers says that it has no file and no network
        return NotAvailable(
            f"the COMET model {name} lacks the tokenizer of its encoder {encoder}",
            where=str(found.path),
            found=said,
            remedy=f"turnwise models fetch {name if find_model(name) else encoder}",
        )
    return TurnwiseError(
        f"the COMET model {name} cannot be loaded",
        where=str(found.path),
        found=said,
        remedy="fetch it again, or check that unbabel-comet itself can load it",
    )


@contextmanager
def quiet() -> Iterator[None]:
    """unbabel-comet and Lightning talk on every channel, and set up the root logger; none of it is for the user."""
    root, level = logging.getLogger(), logging.getLogger().level
    handlers = list(root.handlers)
    try:
        with _no_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@contextmanager
def _no_warnings() -> Iterator[None]:
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


@contextmanager
def _inference() -> Iterator[None]:
    import torch

    with _no_warnings(), torch.inference_mode():
        yield


# Scoring


class CometScorer:
    """A loaded model."""

    def __init__(self, model: Any, checkpoint: Checkpoint, device: str, cache: EmbeddingCache) -> None:
        self.model, self.checkpoint, self.device = model, checkpoint, device
        self._cache = cache
        self._lock = RLock()
        self._prefix = f"comet/{file_hash(checkpoint.path)}/{device}"
        self._probed: bool | None = None

    @property
    def uses_reference(self) -> bool:
        """Whether a reference makes a difference, by the class of the checkpoint."""
        return self.checkpoint.uses_reference

    @property
    def needs_reference(self) -> bool:
        """Whether it cannot score without one."""
        return self.checkpoint.needs_reference

    @property
    def disagreement(self) -> str | None:
        """What a probe with exchanged references says against the class; None where it confirms it."""
        with self._lock:
            if self._probed is None:
                self._probed = self._looks_at_references()
        if self._probed == self.uses_reference:
            return None
        return SAME_WITH_ANY_REFERENCE if self.uses_reference else DIFFERENT_WITH_ANOTHER

    def score(self, inputs: Sequence[Inputs], batch_size: int = BATCH) -> list[float]:
        """One score for each input; what the model does not read makes no difference."""
        if self.needs_reference and any(one.reference is None for one in inputs):
            raise ValueError(f"a model of the class {self.checkpoint.kind} needs a reference for each input")
        read = [one if self.uses_reference else one._replace(reference=None) for one in inputs]
        if not read:
            return []
        with self._lock, _inference():
            embeds = self.checkpoint.kind in EMBEDDING
            return self._from_embeddings(read, batch_size) if embeds else self._from_texts(read, batch_size)

    def _from_embeddings(self, inputs: Sequence[Inputs], batch_size: int) -> list[float]:
        """The model's own head on vectors, each text encoded once."""
        texts = [text for one in inputs for text in one if text is not None]
        vectors = self._kept(texts, batch_size, lambda text: text, self._encode)
        columns = {"src": [one.source for one in inputs], "mt": [one.hypothesis for one in inputs]}
        if self.uses_reference:
            columns["ref"] = [one.reference or "" for one in inputs]
        import torch

        batch: dict[str, Any] = {}
        for name, column in columns.items():
            rows = np.stack([vectors[text] for text in column])
            batch |= {f"{name}_input_ids": torch.from_numpy(rows).to(self.device), f"{name}_attention_mask": None}
        # The class combines what `get_sentence_embedding` gives it; here it is given the vectors that are there.
        self.model.get_sentence_embedding = lambda input_ids, attention_mask: input_ids
        try:
            scores: list[float] = self.model.predict_step(batch)["scores"].tolist()
        finally:
            del self.model.get_sentence_embedding
        return scores

    def _encode(self, texts: Sequence[str]) -> Vectors:
        tokens = self.model.encoder.prepare_sample(list(texts))
        ids, mask = tokens["input_ids"].to(self.device), tokens["attention_mask"].to(self.device)
        vectors: Vectors = self.model.get_sentence_embedding(ids, mask).float().cpu().numpy()
        return vectors

    def _from_texts(self, inputs: Sequence[Inputs], batch_size: int) -> list[float]:
        """The model on texts read together; those with and without references apart, for they are other inputs."""
        found: dict[Inputs, Vectors] = {}
        for has_reference in (True, False):
            part = [one for one in inputs if (one.reference is not None) is has_reference]
            found |= self._kept(part, batch_size, repr, self._predict)
        return [float(found[one][0]) for one in inputs]

    def _predict(self, inputs: Sequence[Inputs]) -> Vectors:
        batch = _moved(self.model.prepare_for_inference([_sample(one) for one in inputs]), self.device)
        scores: Vectors = self.model.predict_step(batch)["scores"].float().cpu().numpy()
        return scores[:, None]

    def _kept(
        self,
        wanted: Sequence[_T],
        batch_size: int,
        content: Callable[[_T], str],
        compute: Callable[[Sequence[_T]], Vectors],
    ) -> dict[_T, Vectors]:
        """A vector for each distinct thing: from the cache, else computed with others of about its length."""
        distinct = sorted(dict.fromkeys(wanted), key=lambda one: len(content(one)))
        keys = [f"{self._prefix}/{hashlib.sha256(content(one).encode()).hexdigest()}" for one in distinct]
        found = dict(zip(distinct, self._cache.get_many(keys), strict=True))
        missing = [(key, one) for key, one in zip(keys, distinct, strict=True) if found[one] is None]
        for start in range(0, len(missing), batch_size):
            part = missing[start : start + batch_size]
            rows = compute([one for _, one in part])
            self._cache.put_many([key for key, _ in part], list(rows))
            found.update(zip((one for _, one in part), rows, strict=True))
        return {one: vector for one, vector in found.items() if vector is not None}

    def _looks_at_references(self) -> bool:
        """Whether other references give other scores, on the model's own path from text to score."""
        others = [*PROBE[1:], PROBE[0]]
        exchanged = [own._replace(reference=other.reference) for own, other in zip(PROBE, others, strict=True)]
        with _inference():
            first, second = self._predict(PROBE), self._predict(exchanged)
        return bool(np.abs(first - second).max() > PROBE_TOLERANCE)


def _sample(one: Inputs) -> dict[str, str]:
    sample = {"src": one.source, "mt": one.hypothesis}
    return sample if one.reference is None else {**sample, "ref": one.reference}


def _moved(value: Any, device: str) -> Any:
    """A batch, with its tensors on a device."""
    if isinstance(value, tuple | list):
        return type(value)(_moved(one, device) for one in value)
    if isinstance(value, dict):
        return {key: _moved(one, device) for key, one in value.items()}
    return value.to(device) if hasattr(value, "to") else value


_LOADED: dict[tuple[str, int, str, Path], CometScorer | TurnwiseError] = {}
