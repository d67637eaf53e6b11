"""Which model speaks for which language in BLASER 2.0, and in which file it is. Nothing is loaded here.

The choice is data (`data/sonar.yaml`). Every proxy and every use of another language's encoder leaves a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from turnwise.kernel.errors import InputError, TurnwiseError
from turnwise.neural.weights import catalogue, file_hash, find_model, models_folder
from turnwise.translation.languages import language_name

QE, REF = "qe", "ref"
ENGLISH = "english"
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.pt")
_SUFFIXES = (".pt", ".safetensors", ".bin", ".pth")
_ISO = re.compile(r"[a-z]{3}")


class ModelMissing(TurnwiseError):
    """A model that has to be fetched first."""


class BrokenModel(InputError):
    """A model that is there and cannot be used: an error, where a missing one is a skip."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model for a purpose."""

    name: str
    file: Path
    code: str = ""
    """For text: the language as the encoder calls it."""
    notes: tuple[str, ...] = ()
    """What is not as it should be: a proxy, an encoder of another language."""

    @property
    def hash(self) -> str:
        """Of the file."""
        return file_hash(self.file)

    @property
    def label(self) -> str:
        """Name and short hash, for results."""
        tokenizer = f"+{self.tokenizer_hash[:8]}" if self.tokenizer_hash else ""
        return f"{self.name}@{self.hash[:8]}{tokenizer}" + (f" as {self.code}" if self.code else "")

    @property
    def tokenizer_hash(self) -> str:
        """Of the tokenizer beside an encoder of text; empty where there is none, or several."""
        found = tokenizers_beside(self.file) if self.code else []
        return file_hash(found[0]) if len(found) == 1 else ""


def tokenizers_beside(weights: Path) -> list[Path]:
    """The tokenizers that lie beside a file of weights: one, if all is well."""
    folder = weights.parent
    return [folder / "tokenizer.json"] if (folder / "tokenizer.json").is_file() else sorted(folder.glob("*.model"))


@cache
def _table() -> dict[str, Any]:
    import yaml

    text = files("turnwise.translation").joinpath("data/sonar.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return {**found, "text_codes": found["text_codes"].split()}


def text_codes() -> list[str]:
    """All languages of the text encoder, in the order of their ids."""
    return list(_table()["text_codes"])


def head_for(mode: str) -> Chosen:
    """The head of a mode."""
    return _first([_table()["heads"][mode]])


def speech_encoder_for(language: str | None) -> Chosen:
    """The encoder of speech in a language: fine-tuned, published, or that of its base language."""
    name, entry = _entry(language)
    if (tuned := _finetuned(entry["iso"])) is not None:
        return tuned
    if "base" not in entry:
        return _first([entry["speech"]])
    base = speech_encoder_for(entry["base"])
    note = f"no speech encoder of {name}: that of {entry['base']} is used ({base.name})"
    return Chosen(base.name, base.file, notes=(note, *base.notes))


def text_encoder_for(language: str | None) -> Chosen:
    """The encoder of text, with the code of a language or of its proxy."""
    name, entry = _entry(language)
    notes: tuple[str, ...] = ()
    if proxy := entry.get("text_proxy"):
        notes = (f"text in {name} is encoded as {proxy}, for the text encoder has no {name}",)
        entry = _entry(proxy)[1]
    if not entry.get("text"):
        raise InputError(f"the text encoder has no {name}", expected="a language of data/sonar.yaml")
    found = _first(_table()["text_encoders"])
    return Chosen(found.name, found.file, entry["text"], notes)


def _entry(language: str | None) -> tuple[str, dict[str, Any]]:
    if not language:
        raise InputError("no language is named, which decides the encoder", remedy="give the samples a language")
    table, name = _table(), language_name(language)
    if name in table["languages"]:
        return name, table["languages"][name]
    first, _, _ = name.casefold().replace("_", "-").partition("-")
    iso = table["codes"].get(first, first)
    if not _ISO.fullmatch(iso):
        raise InputError(f"SONAR's encoders of {name} are not known", remedy="name it by its code of three letters")
    codes = [code for code in table["text_codes"] if code.startswith(f"{iso}_")]
    exact = [code for code in codes if code.casefold() == name.casefold()]
    text = (exact or codes)[0] if exact or len(codes) == 1 else None
    return name, {"iso": iso, "speech": f"sonar_speech_encoder_{iso}", "text": text}


def _finetuned(iso: str) -> Chosen | None:
    part = _table()["finetuned"].format(iso=iso)
    place = next((root / part for root in (models_folder(), Path()) if (root / part).is_dir()), None)
    return None if place is None else Chosen(place.name, weights_file(place))


def _first(names: Sequence[str]) -> Chosen:
    for name in names:
        place = find_model(name) or models_folder() / name
        if place.exists():
            return Chosen(name, weights_file(place))
    name = names[0]
    by_hand = f"if it is published, put its file into {models_folder() / name}"
    raise ModelMissing(f"no model {name}", remedy=f"turnwise models fetch {name}" if name in catalogue() else by_hand)


def describe(mode: str, languages: Iterable[str | None], sources: Iterable[str | None] = (ENGLISH,)) -> str:
    """The models of a run, for signatures: head and encoders with their short hashes.

    Where one is missing, its place says so; `none` where nothing can be scored for want of a head.
    """
    try:
        head = head_for(mode).label
    except TurnwiseError:
        return "none"
    chosen = _all_chosen(mode, languages, sources)
    return " ".join(dict.fromkeys([head, *(one.label if isinstance(one, Chosen) else "missing" for one in chosen)]))


def notes(mode: str, languages: Iterable[str | None], sources: Iterable[str | None] = (ENGLISH,)) -> list[str]:
    """Every proxy and fallback that a run in these languages uses, each once."""
    chosen = [one for one in _all_chosen(mode, languages, sources) if isinstance(one, Chosen)]
    return list(dict.fromkeys(note for one in chosen for note in one.notes))


def _all_chosen(
    mode: str, languages: Iterable[str | None], sources: Iterable[str | None]
) -> list[Chosen | TurnwiseError]:
    languages = sorted(set(languages), key=str)
    choices: list[tuple[Callable[[str | None], Chosen], str | None]] = [
        (speech_encoder_for, name) for name in (*sorted(set(sources), key=str), *languages)
    ]
    choices += [(text_encoder_for, name) for name in languages] if mode == REF else []
    found: list[Chosen | TurnwiseError] = []
    for choose, name in choices:
        try:
            found.append(choose(name))
        except TurnwiseError as error:
            found.append(error)
    return found


# Files


def weights_file(path: str | Path) -> Path:
    """The file itself, or the one file of weights in a folder."""
    place = Path(path)
    if place.is_file():
        return place
    if not place.is_dir():
        raise InputError("no checkpoint there", where=str(place), remedy="turnwise doctor names the models and places")
    named = [place / name for name in _WEIGHTS if (place / name).is_file()]
    others = sorted(file for file in place.iterdir() if file.suffix in _SUFFIXES and file.is_file())
    if named or len(others) == 1:
        return (named or others)[0]
    raise BrokenModel(
        "the folder has no weights" if not others else "the folder has several files of weights",
        where=str(place),
        found=", ".join(file.name for file in others) or None,
        expected=f"one of {', '.join(_WEIGHTS)}, or one file ending in {', '.join(_SUFFIXES)}",
    )


def configured_heads(file: Path) -> int | None:
    """Attention heads as `config.json` beside a file of weights has them, by the name transformers uses."""
    config = file.parent / "config.json"
    if not config.is_file():
        return None
    try:
        heads = json.loads(config.read_text(encoding="utf-8")).get("encoder_attention_heads")
    except (ValueError, OSError, AttributeError):
        return None
    return heads if isinstance(heads, int) else None
