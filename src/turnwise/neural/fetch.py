"""Getting the weights of models: downloads that go on where they stopped, with hashes checked.

A file has its name only when it is whole and its hash is right; until then it is called `.part`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from turnwise.kernel.errors import TurnwiseError, UsageError, near_misses
from turnwise.kernel.extras import import_extra
from turnwise.neural.weights import ModelFile, catalogue, file_hash, is_hub_id, models_folder

Progress = Callable[[int, int], None]
"""Told how many megabytes there are, and how many there will be."""

TIMEOUT_S = 60
"""For the server to say something; the download itself may take as long as it takes."""
_BLOCK = 1 << 20
_ENCODER_FILES = ["config.json", "tokenizer*", "special_tokens_map.json", "sentencepiece*", "*.model", "vocab*"]


def fetch(name: str, folder: Path | None = None, progress: Progress | None = None) -> list[Path]:
    """Get a model of the catalogue, or any model of Hugging Face by its `organisation/model`.

    Args:
        name: as the catalogue or Hugging Face calls it.
        folder: where it goes, in a folder of its own; by default where it is looked for.
        progress: told about the download.

    Returns:
        The files that are there now, for a model of Hugging Face their folder.
    """
    known = catalogue().get(name)
    hub = name if known is None else known.hub
    if hub is not None and is_hub_id(hub):
        return [_fetch_from_hub(hub, folder)]
    if known is None:
        raise UsageError(
            f"there is no model {name!r}",
            expected="a name of `turnwise models list`, or organisation/model on Hugging Face",
            remedy=near_misses(name, catalogue()) or None,
        )
    place = (folder or models_folder()) / name
    return [_fetch_file(file, place / file.name, progress) for file in known.files]


def _fetch_file(file: ModelFile, target: Path, progress: Progress | None) -> Path:
    """One file, unless it is there and is what it was when it was fetched."""
    note = target.with_name(target.name + ".sha256")
    expected = file.sha256 or (note.read_text(encoding="utf-8").strip() if note.is_file() else None)
    if not target.is_file():
        found = download(file.url, target, sha256=expected, progress=progress)
    elif expected is None or file_hash(target) == expected:
        found = file_hash(target)
    else:
        raise TurnwiseError(
            "the file is not what was fetched",
            where=str(target),
            found=f"sha256 {file_hash(target)}",
            expected=f"sha256 {expected}",
            remedy="remove it and fetch it again",
        )
    note.write_text(f"{found}\n", encoding="utf-8")
    return target


def download(url: str, target: Path, *, sha256: str | None = None, progress: Progress | None = None) -> str:
    """Get a file, going on with what an earlier attempt left; its hash is returned, and checked if one is given."""
    if not url.startswith(("http://", "https://")):
        raise UsageError("a model is fetched by http or https", found=url)
    part, tag = target.with_name(target.name + ".part"), target.with_name(target.name + ".part.etag")
    target.parent.mkdir(parents=True, exist_ok=True)
    with _clear_errors(url, target):
        _stream(url, part, tag, progress)
    found = file_hash(part)
    if sha256 is not None and found != sha256:
        part.unlink()
        tag.unlink(missing_ok=True)
        raise TurnwiseError(
            "the file that came is not the one that was meant, and is not used",
            where=url,
            found=f"sha256 {found}",
            expected=f"sha256 {sha256}",
            remedy="fetch it again; if that does not help, the file was changed where it comes from",
        )
    part.replace(target)
    tag.unlink(missing_ok=True)
    return found


def _stream(url: str, part: Path, tag: Path, progress: Progress | None) -> None:
    """The rest of a file behind the part that is there; from the start where the server cannot or the file changed."""
    have = part.stat().st_size if part.is_file() else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if tag.is_file():
            headers["If-Range"] = tag.read_text(encoding="utf-8").strip()
    try:
        response = urlopen(Request(url, headers=headers), timeout=TIMEOUT_S)  # noqa: S310  (only http and https)
    except HTTPError as error:
        if error.code != 416 or not have:  # 416: there is nothing behind the part
            raise
        if error.headers.get("Content-Range", "").rpartition("/")[2] == str(have):
            return
        part.unlink()
        _stream(url, part, tag, progress)
        return
    with response:
        resumed = response.status == 206 and _start(response.headers.get("Content-Range", "")) == have
        have = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else 0
        if etag := response.headers.get("ETag", ""):
            tag.write_text(etag, encoding="utf-8")
        else:
            tag.unlink(missing_ok=True)
        _check_space(part, total - have)
        with part.open("ab" if resumed else "wb") as file:
            while block := response.read(_BLOCK):
                file.write(block)
                have += len(block)
                if progress is not None:
                    progress(have >> 20, max(total, have) >> 20)
    if have < total:
        raise TurnwiseError(
            "the download was cut short",
            where=url,
            found=f"{have} of {total} bytes",
            remedy="the same command again goes on where it stopped",
        )


def _start(content_range: str) -> int | None:
    """Where a part starts: `bytes 5-9/10` is 5."""
    first = content_range.removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdigit() else None


def _check_space(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise TurnwiseError(
            "there is not enough room for the model",
            where=str(part.parent),
            found=f"{free >> 20} MB free",
            expected=f"{needed >> 20} MB",
            remedy="--to DIR, or TURNWISE_MODELS, names another place",
        )


@contextmanager
def _clear_errors(url: str, target: Path) -> Iterator[None]:
    try:
        yield
    except HTTPError as error:
        found = f"{error.code} {error.reason}"
        raise TurnwiseError("the server does not give the file", where=url, found=found) from error
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise TurnwiseError(
            "the model cannot be downloaded: its server is not reached",
            where=url,
            found=f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else str(reason),
            remedy=f"the same command again goes on where it stopped; without a network, copy the file to {target}",
        ) from error


# Hugging Face


def _fetch_from_hub(repository: str, folder: Path | None) -> Path:
    """All files of a repository, and what its encoder needs besides its weights, checked by the hub's own hashes."""
    hub = import_extra("huggingface_hub", "neural", "fetching a model of Hugging Face")
    place = Path(_snapshot(hub, repository, folder, None))
    for file in sorted(place.rglob("*")):
        blob = file.resolve().name
        if len(blob) == 64 and file.is_file() and file_hash(file) != blob:  # large files are called by their hash
            file.resolve().unlink()
            raise TurnwiseError(
                "the file that came is not the one that was meant, and was removed",
                where=str(file),
                expected=f"sha256 {blob}",
                remedy="fetch it again",
            )
    if encoder := pretrained_model(place):
        _snapshot(hub, encoder, folder, _ENCODER_FILES)
    return place


def pretrained_model(folder: Path) -> str | None:
    """The repository with the tokenizer of a COMET model's encoder."""
    import yaml

    if not (folder / "hparams.yaml").is_file():
        return None
    name = yaml.safe_load((folder / "hparams.yaml").read_text(encoding="utf-8")).get("pretrained_model")
    is_local = name is None or Path(name).is_dir()
    return None if is_local else str(name)


def _snapshot(hub: Any, repository: str, folder: Path | None, patterns: list[str] | None) -> str:
    try:
        place: str = hub.snapshot_download(repository, cache_dir=folder, allow_patterns=patterns)
    except Exception as error:  # the hub's errors come from several libraries; each says that files did not come
        found = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
        raise TurnwiseError(
            f"{repository} cannot be fetched from Hugging Face",
            found=found,
            expected="a network, and the name of a public model (or HF_TOKEN for one with conditions)",
            remedy=f"fetch it where there is a network and copy the folder models--{repository.replace('/', '--')} "
            "to HF_HUB_CACHE",
        ) from error
    return place
