"""The weights of neural models: which there are to be had, where they are kept, and what a file is (its hash).

Nothing here loads a model or goes to a network; `turnwise.neural.fetch` gets the files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

FOLDER_VARIABLE = "TURNWISE_MODELS"
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model, and where it is to be had."""

    url: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        """What it is called on disk, too."""
        return urlsplit(self.url).path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the catalogue."""

    name: str
    purpose: str
    licence: str
    size_mb: int
    """About what is downloaded."""
    files: tuple[ModelFile, ...] = ()
    hub: str | None = None
    """Its repository on Hugging Face, if it comes from there."""


@cache
def catalogue() -> dict[str, Model]:
    """The models that can be fetched by name."""
    import yaml

    text = files("turnwise.neural").joinpath("models.yaml").read_text(encoding="utf-8")
    return {entry["name"]: _model(entry) for entry in yaml.safe_load(text)}


def _model(entry: dict[str, Any]) -> Model:
    return Model(**{**entry, "files": tuple(ModelFile(**file) for file in entry.get("files", ()))})


def models_folder() -> Path:
    """Where fetched models are kept: `TURNWISE_MODELS`, or a folder of the user's data."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given).expanduser()
    from platformdirs import user_data_path

    return user_data_path("turnwise", appauthor=False) / "models"


def hub_cache() -> Path:
    """Where Hugging Face's own tools keep their files: `HF_HUB_CACHE`, `HF_HOME/hub`, or the usual place."""
    if given := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(os.path.expandvars(given)).expanduser()
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    home = os.environ.get("HF_HOME")
    return (Path(os.path.expandvars(home)).expanduser() if home else caches / "huggingface") / "hub"


def is_hub_id(name: str) -> bool:
    """Whether a name is that of a repository on Hugging Face: `organisation/model`."""
    return _HUB_ID.fullmatch(name) is not None


def find_model(name: str) -> Path | None:
    """The first file of a model of the catalogue (the others lie beside it), or the folder of one from Hugging Face.

    None where it has not been fetched, or not all of it.
    """
    known = catalogue().get(name)
    if known is not None and known.files:
        paths = [models_folder() / name / file.name for file in known.files]
        return paths[0] if all(path.is_file() for path in paths) else None
    return hub_snapshot(name, models_folder()) or hub_snapshot(name, hub_cache()) if is_hub_id(name) else None


def hub_snapshot(repository: str, folder: Path) -> Path | None:
    """The files of a repository in a cache of Hugging Face: what `main` stands for, else the newest."""
    kept = folder / ("models--" + repository.replace("/", "--"))
    try:
        commit = (kept / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        commit = ""
    if commit and (kept / "snapshots" / commit).is_dir():
        return kept / "snapshots" / commit
    try:
        found = [path for path in (kept / "snapshots").iterdir() if path.is_dir()]
    except OSError:
        return None
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def file_hash(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal; worked out again only when its size or its time has changed."""
    path = path.resolve()
    status = path.stat()
    key, stamp = str(path), [status.st_size, status.st_mtime_ns]
    known = _HASHES.get(key) or _kept_hashes().get(key)
    if not known or known[:2] != stamp:
        with path.open("rb") as file:
            known = [*stamp, hashlib.file_digest(file, "sha256").hexdigest()]
        _keep_hash(key, known)
    _HASHES[key] = known
    return str(known[2])


_HASHES: dict[str, list[Any]] = {}


def _hashes_file() -> Path:
    return models_folder() / "hashes.json"


def _kept_hashes() -> dict[str, list[Any]]:
    try:
        found = json.loads(_hashes_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _keep_hash(key: str, known: list[Any]) -> None:
    """Beside the models, for later runs; where nothing can be written, each process works it out."""
    target = _hashes_file()
    others = {path: entry for path, entry in _kept_hashes().items() if Path(path).is_file()}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as file:
            json.dump({**others, key: known}, file)
        Path(file.name).replace(target)
    except OSError:
        return
