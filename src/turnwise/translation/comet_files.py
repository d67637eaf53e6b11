"""COMET models on disk: where one is, of what class it is and what it reads, without loading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from turnwise.kernel.errors import TurnwiseError
from turnwise.neural.weights import file_hash, find_model

PACKAGES = ("unbabel-comet", "torch", "transformers")

EMBEDDING = frozenset({"regression_metric", "referenceless_regression_metric", "ranking_metric"})
"""Classes whose score is a function of one vector per text."""
TOGETHER = frozenset({"unified_metric", "xcomet_metric"})
"""Classes that read the texts together."""

_POINTER = b"version https://git-lfs"


class NotAvailable(TurnwiseError):
    """A package or the model is not here; the remedy says how to get it."""


@dataclass(frozen=True)
class Checkpoint:
    """A COMET model on disk, as far as it is known without loading it."""

    path: Path
    kind: str
    """Its class, by the name that unbabel-comet gives it."""
    segments: tuple[str, ...]
    """What it reads: of `mt`, `src` and `ref`."""

    @property
    def uses_reference(self) -> bool:
        """Whether a reference makes a difference, by its class."""
        return "ref" in self.segments

    @property
    def needs_reference(self) -> bool:
        """Whether it cannot score without one; a unified model that reads sources can."""
        return self.uses_reference and (self.kind in EMBEDDING or "src" not in self.segments)


def find_checkpoint(name: str) -> Checkpoint:
    """The checkpoint of a model: a folder, a `.ckpt` file, or a name on Hugging Face that was fetched before."""
    given = Path(name).expanduser()
    if given.is_file():
        return _checkpoint(given, given.absolute().parents[1])
    folder = given if given.is_dir() else find_model(name)
    if folder is None:
        is_name = given == Path(name) and not given.is_absolute() and len(given.parts) == 2
        get = f"turnwise models fetch {name}" if is_name else "check the path, or name a model as organisation/model"
        raise NotAvailable(f"no COMET model {name} here", remedy=get)
    return _checkpoint(folder / "checkpoints" / "model.ckpt", folder)


def _checkpoint(path: Path, folder: Path) -> Checkpoint:
    import yaml

    missing = [str(file) for file in (path, folder / "hparams.yaml") if not file.is_file()]
    if missing:
        raise NotAvailable("no complete COMET model", where=str(folder), found=f"no {' and no '.join(missing)}")
    with path.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            raise NotAvailable(
                "the COMET model was cloned without its weights", where=str(path), remedy="git lfs pull in its folder"
            )
    try:
        hparams = yaml.safe_load((folder / "hparams.yaml").read_text(encoding="utf-8"))
        kind = hparams["class_identifier"]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise TurnwiseError(
            "hparams.yaml of the COMET model does not name its class",
            where=str(folder / "hparams.yaml"),
            found=f"{type(error).__name__}: {error}",
            expected="class_identifier: regression_metric, referenceless_regression_metric, unified_metric ...",
        ) from error
    if kind not in EMBEDDING | TOGETHER:
        raise TurnwiseError(
            f"COMET models of the class {kind!r} are not known",
            where=str(folder / "hparams.yaml"),
            expected=", ".join(sorted(EMBEDDING | TOGETHER)),
        )
    return Checkpoint(path, kind, _segments(kind, hparams))


def _segments(kind: str, hparams: Mapping[str, Any]) -> tuple[str, ...]:
    if kind in TOGETHER:
        return tuple(hparams.get("input_segments") or ("mt", "src", "ref"))
    return ("mt", "src") if kind == "referenceless_regression_metric" else ("mt", "src", "ref")


def describe(name: str) -> str:
    """Hash of the weights, class and package versions, for a signature; `none` where the model cannot be used."""
    try:
        found = find_checkpoint(name)
        versions = [f"{package}-{version(package)}" for package in PACKAGES]
    except (TurnwiseError, PackageNotFoundError, OSError):
        return "none"
    uses = "with" if found.uses_reference else "without"
    return ", ".join([f"sha256:{file_hash(found.path)[:12]}", f"{found.kind} {uses} reference", *versions])
