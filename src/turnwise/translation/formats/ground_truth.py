"""Reference data to be checked: one folder per sample with its texts, its recordings and `metadata.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from turnwise.engine.plan import Finding
from turnwise.engine.text_lines import BOM, decoded, opened
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.translation.formats.base import Order, language_matches, some, subfolders
from turnwise.translation.languages import language_name, short_code
from turnwise.translation.records import Sample

TYPES = ("text_to_text", "text_to_audio", "audio_to_text", "audio_to_audio")
METADATA = "metadata.json"
_FILES = (METADATA, "source.txt", "target.txt", "transcribed.txt", "source_audio.wav", "target_audio.wav")


class GroundTruthSamples:
    """The samples of one type; without a type, whatever each folder holds."""

    mode = "ground_truth"

    def __init__(self, folder: Path, languages: Sequence[str], kind: str | None) -> None:
        self.findings: list[Finding] = []
        self.order = Order()
        below = folder / kind if kind else folder
        self._folder = below if below.is_dir() else folder
        self.type = kind or (self._folder.name if self._folder.name in TYPES else None)
        found, others, elsewhere = [], [], []
        for path in subfolders(self._folder):
            if not any((path / name).exists() for name in _FILES):
                others.append(path.name)
            elif language_matches(languages, (sample := self._sample(path)).language) or (
                sample.excluded and sample.language is None
            ):
                found.append(path.name)
            else:
                elsewhere.append(f"{path.name} ({sample.language})")
        self._names = found
        if not found:
            raise InputError(
                "there is no sample",
                where=str(self._folder),
                found=some([*elsewhere, *others]) or "no folder",
                expected=f"a folder per sample with {', '.join(_FILES)}",
                remedy="check --data-dir, --type and --language",
            )
        if elsewhere:
            message = f"samples of other languages than {', '.join(languages)}, left out"
            self.findings.append(Finding("other_languages", message, len(elsewhere)))
        if others:
            message = f"folders without any file of a sample, left out: {some(others)}"
            self.findings.append(Finding("empty_folders", message, len(others)))
        for _ in found:
            self.order.add()

    def read(self, numbers: Sequence[int]) -> list[Sample]:
        """Samples by number, in the order of their names."""
        return [self._sample(self._folder / self._names[number]) for number in numbers]

    def _sample(self, path: Path) -> Sample:
        """One folder; what cannot be read costs this sample, not the run."""
        languages: list[str | None] = [None, None]
        try:
            metadata = _metadata(path / METADATA)
            languages = [_language(metadata, side, path) for side in ("source", "target")]
            return self._read(path, languages)
        except InputError as error:
            reason = error.what if error.where else "a file cannot be read"
            name = None if languages[1] is None else language_name(languages[1])
            return Sample(id=path.name, segment=path.name, language=name, is_reference=True, excluded=reason)

    def _read(self, path: Path, languages: Sequence[str | None]) -> Sample:
        name = None if languages[1] is None else language_name(languages[1])
        target = _text(path / "target.txt")
        spoken = self._spoken(path)
        pair = "-".join(short_code(language) for language in languages if language)
        return Sample(
            id=path.name,
            segment=path.name,
            language=name,
            source_language=None if languages[0] is None else language_name(languages[0]),
            pair=pair,
            source=_first(_text(path / "transcribed.txt"), _text(path / "source.txt")),
            hypothesis=target,
            references=(target,),
            source_audio=spoken.get("source"),
            hypothesis_audio=spoken.get("target"),
            reference_audio=spoken.get("target"),
            is_reference=True,
        )

    def _spoken(self, path: Path) -> dict[str, Path]:
        """The recordings that belong to the type; without a type, those that are there."""
        files = {side: path / f"{side}_audio.wav" for side in ("source", "target")}
        if self.type is None:
            return {side: file for side, file in files.items() if file.exists()}
        before, _, after = self.type.partition("_to_")
        wanted = {"source": before == "audio", "target": after == "audio"}
        return {side: file for side, file in files.items() if wanted[side]}


def _metadata(file: Path) -> Mapping[str, Any]:
    if not file.exists():
        return {}
    with opened(file) as stream:
        text = stream.read()
    try:
        found = loads(text.removeprefix(BOM))
    except JSONDecodeError as error:
        raise InputError("the metadata are not JSON", where=f"{file}, line {error.lineno}", found=error.msg) from error
    if not isinstance(found, dict):
        raise InputError("the metadata are not a JSON object", where=str(file), found=shorten(found))
    return found


def _language(metadata: Mapping[str, Any], side: str, path: Path) -> str | None:
    found = metadata.get(f"{side}_language", metadata.get(f"{side}_lang"))
    if found is not None and not isinstance(found, str):
        raise InputError(
            f"{side}_language is not a text", where=str(path / METADATA), found=shorten(found), expected="a language"
        )
    return found or None


def _text(file: Path) -> str | None:
    """The text of a file, without the line break at its end; None where there is no file."""
    if not file.exists():
        return None
    with opened(file) as stream:
        text = stream.read()
    return decoded(text.removeprefix(BOM), str(file)).strip()


def _first(*texts: str | None) -> str | None:
    given = [text for text in texts if text is not None]
    return next((text for text in given if text), given[0] if given else None)
