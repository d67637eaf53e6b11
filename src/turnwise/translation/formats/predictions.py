"""The document's folders: per language the predictions of a translation model, the ground truth, and audio folders.

Rows are joined on segment and user; audio is found by its file name.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from turnwise.engine.plan import Finding
from turnwise.engine.rows import Row
from turnwise.engine.table import Table
from turnwise.kernel.errors import InputError, UsageError, near_misses
from turnwise.translation.formats.base import Keys, Order, language_matches, some, subfolders
from turnwise.translation.formats.recordings import Key, Recordings, plain_id
from turnwise.translation.languages import ALIASES, language_code, language_name, short_code
from turnwise.translation.records import Sample

PREDICTED = "nmt_predictions_"
SPOKEN = "predicted_tgt_audio_"
GROUND_TRUTH = "mapped_metadata_test.csv"
SOURCE_AUDIO = "src_audio"
REFERENCE_AUDIO = "processed_audio_normalized"
SOURCE_LANGUAGE = "en"

_KEY = ("segment_id", "user_id")
_COLUMNS = (*_KEY, "src_text", "predicted_tgt_text", "ground_truth_tgt_text", "tgt_text", "tgt_audio", "iso_code")


class PredictionSamples:
    """One or more languages of a data folder."""

    mode = "predictions"

    def __init__(self, folder: Path, languages: Sequence[str], nmt_model: str | None, tts_model: str | None) -> None:
        self.findings: list[Finding] = []
        self.order = Order()
        chosen = _language_folders(folder, languages)
        self.nmt_model = _model(chosen, PREDICTED, ".csv", nmt_model, "--nmt-model")
        self.tts_model = self._tts_model(chosen, tts_model)
        self._languages: list[_Language] = []
        for path in [] if chosen == [folder] else subfolders(folder):
            if path not in chosen and (path / GROUND_TRUTH).exists() and not languages:
                self.findings.append(Finding("missing_predictions", f"{path.name} has no predictions, left out"))
        for path in chosen:
            if (path / f"{PREDICTED}{self.nmt_model}.csv").is_file():
                self._languages.append(_Language(path, self.nmt_model, self.tts_model))
            else:
                message = f"{path.name} has no predictions of {self.nmt_model}, left out"
                self.findings.append(Finding("missing_predictions", message))
        if not self._languages:
            raise InputError(
                f"there are no predictions of {self.nmt_model!r}",
                where=str(folder),
                found=some(
                    sorted({_model_of(file, PREDICTED) for path in chosen for file in path.glob(f"{PREDICTED}*")})
                ),
                expected=f"{{language}}/{PREDICTED}{self.nmt_model}.csv",
                remedy="check --nmt-model",
            )
        self._first = array("q", [0])
        for language in self._languages:
            for segment in language.segments():
                self.order.add(f"{language.name}/{segment}")
            self._first.append(len(self.order))
            self.findings += language.findings

    def read(self, numbers: Sequence[int]) -> list[Sample]:
        """Samples by number, counted through all languages."""
        found: dict[int, Sample] = {}
        for place, language in enumerate(self._languages):
            own = [n - self._first[place] for n in numbers if self._first[place] <= n < self._first[place + 1]]
            found |= zip((n + self._first[place] for n in own), language.read(own), strict=True)
        return [found[number] for number in numbers]

    def _tts_model(self, folders: Sequence[Path], wanted: str | None) -> str | None:
        """The speech model named, or the only one there is; audio is not needed by every metric."""
        known = sorted({_model_of(path, SPOKEN) for folder in folders for path in folder.glob(f"{SPOKEN}*")})
        if wanted is None and len(known) > 1:
            message = (
                f"several speech models ({some(known)}), and --tts-model names none: no spoken translation is used"
            )
            self.findings.append(Finding("several_tts_models", message, len(known)))
        if wanted is not None and wanted not in known:
            message = f"no folder {SPOKEN}{wanted}: the translations of {wanted} are not there as audio" + (
                f"; {near}" if (near := near_misses(wanted, known)) else ""
            )
            self.findings.append(Finding("missing_audio", message))
        return wanted if wanted is not None else known[0] if len(known) == 1 else None


@dataclass
class _Language:
    """The files of one language."""

    folder: Path
    nmt_model: str
    tts_model: str | None
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = language_name(self.folder.name)
        self._predicted = Table(self.folder / f"{PREDICTED}{self.nmt_model}.csv", _COLUMNS)
        self._predicted.require(*_KEY, "predicted_tgt_text")
        truth = self.folder / GROUND_TRUTH
        self._truth = Table(truth, _COLUMNS) if truth.exists() else None
        if self._truth is not None:
            self._truth.require(*_KEY, "tgt_text")
        else:
            self._predicted.require("ground_truth_tgt_text")
            self.findings.append(
                Finding("no_ground_truth", f"{self.name}: no {GROUND_TRUTH}; the predictions' own is used")
            )
        self._keys: list[Key] = []
        self._of_predicted, self._of_truth = array("q"), array("q")
        self._own_truth = array("q")  # the predictions' own ground truth, as hashes
        self._places = Keys("segment and user")
        self._codes: Counter[str] = Counter()
        self._scan_predictions()
        if self._truth is not None:
            self._scan_truth(self._truth)
        self._check_codes()
        self.code = next((code for code in self._codes if code), language_code(self.name))
        self._audio = self._find_audio()

    def segments(self) -> Iterable[str]:
        """The segment of each sample, in the order of the predictions; what was not predicted comes last."""
        return (segment for segment, _ in self._keys)

    def read(self, numbers: Sequence[int]) -> list[Sample]:
        """Samples by number."""
        predicted = _rows_at(self._predicted, [self._of_predicted[n] for n in numbers])
        truth = _rows_at(self._truth, [self._of_truth[n] for n in numbers])
        return [self._sample(self._keys[n], p, t) for n, p, t in zip(numbers, predicted, truth, strict=True)]

    def _scan_predictions(self) -> None:
        for place, row in enumerate(self._predicted.scan()):
            key = _key(row, self._predicted, place)
            self._places.add(key, place, self._predicted)
            self._add(key, place, -1)
            self._own_truth.append(hash((row.get("ground_truth_tgt_text") or "").strip()))
            self._codes[(row.get("iso_code") or "").strip()] += 1
        if not self._keys:
            where = str(self._predicted.path)
            raise InputError("there is no row", where=where, expected="a row per translated segment")

    def _scan_truth(self, table: Table) -> None:
        """Find each row's prediction, and say what does not fit."""
        unpredicted: list[str] = []
        differing: list[str] = []
        blank: list[str] = []
        predicted, twice = len(self._keys), Keys("segment and user")
        for place, row in enumerate(table.scan()):
            key = _key(row, table, place)
            twice.add(key, place, table)
            self._codes[(row.get("iso_code") or "").strip()] += 1
            number = self._places.row(key)
            if number is None:
                unpredicted.append("/".join(key))
                self._add(key, -1, place)
                continue
            self._of_truth[number] = place
            text = row["tgt_text"].strip()
            if self._own_truth[number] not in (hash(text), hash("")):
                (differing if text else blank).append("/".join(key))
        lonely = ["/".join(self._keys[n]) for n in range(predicted) if self._of_truth[n] < 0]
        self._note("unpredicted", "ground truth without a prediction", unpredicted)
        what = f"predictions that {GROUND_TRUTH} does not have; their own ground truth is used"
        self._note("unknown_predictions", what, lonely)
        self._note("other_ground_truth", f"ground truth that differs from {GROUND_TRUTH}, which is used", differing)
        self._note("no_ground_truth", f"no ground truth in {GROUND_TRUTH}; the predictions' own is used", blank)

    def _add(self, key: Key, predicted: int, truth: int) -> None:
        self._keys.append(key)
        self._of_predicted.append(predicted)
        self._of_truth.append(truth)

    def _check_codes(self) -> None:
        """Codes of another language than the folder's, where both are known."""
        for code, count in self._codes.items():
            other = language_name(code)
            if other != self.name and other in ALIASES and self.name in ALIASES:
                self.findings.append(Finding("other_language", f"{self.name}: rows whose iso_code is {code}", count))

    def _find_audio(self) -> dict[str, Recordings]:
        """The folders of recordings; files that belong to no row are noted, rows without a file are noticed later."""
        own = {self.name, *map(language_name, self._codes)}
        english = {language_name(SOURCE_LANGUAGE)}
        found = {
            "source_audio": Recordings(self.folder / SOURCE_AUDIO, english, f"{SOURCE_LANGUAGE}_src"),
            "reference_audio": Recordings(self.folder / REFERENCE_AUDIO, own, self.code),
        }
        if self.tts_model is not None:
            spoken = self.folder / f"{SPOKEN}{self.tts_model}"
            found["hypothesis_audio"] = Recordings(spoken, own, f"{self.code}_pred")
        keys = set(self._keys)
        for folder in found.values():
            spare = [name for key, name in folder.names.items() if key not in keys]
            what = f"files in {folder.path.name} that belong to no row, or are of another language or kind"
            self._note("audio_without_text", what, [*spare, *folder.others])
        return found

    def _note(self, check: str, message: str, names: Sequence[str]) -> None:
        if names:
            self.findings.append(Finding(check, f"{self.name}: {message}: {some(names)}", len(names)))

    def _sample(self, key: Key, predicted: Row, truth: Row) -> Sample:
        segment, user = key
        written = (predicted.get("iso_code") or truth.get("iso_code") or "").strip()
        code = language_code(written) if written else language_code(self.name)
        given = {name: folder.find(key) for name, folder in self._audio.items()}
        reference_audio = given["reference_audio"]
        named = (truth.get("tgt_audio") or "").strip()
        if named and (reference_audio is None or not reference_audio.is_file()):
            choices = (self.folder / named, self.folder / REFERENCE_AUDIO / Path(named).name)
            reference_audio = next((path for path in choices if path.is_file()), reference_audio)
        return Sample(
            id="/".join((self.name, _escaped(segment), _escaped(user))),
            segment=segment,
            user=user,
            cluster=f"{self.name}/{_escaped(segment)}",
            language=self.name,
            source_language=language_name(SOURCE_LANGUAGE),
            pair=f"{SOURCE_LANGUAGE}-{short_code(code)}",
            source=_first(predicted.get("src_text"), truth.get("src_text")),
            hypothesis=predicted.get("predicted_tgt_text"),
            references=(_first(truth.get("tgt_text"), predicted.get("ground_truth_tgt_text")),),
            source_audio=given["source_audio"],
            hypothesis_audio=given.get("hypothesis_audio"),
            reference_audio=reference_audio,
        )


def _language_folders(folder: Path, languages: Sequence[str]) -> list[Path]:
    """The folders of the languages asked for; a language's own folder may be named as well."""
    own = [folder] if any(folder.glob(f"{PREDICTED}*.csv")) else []
    found = own or [path for path in subfolders(folder) if any(path.glob(f"{PREDICTED}*.csv"))]
    chosen = [path for path in found if language_matches(languages, language_name(path.name))]
    named: dict[str, Path] = {}
    for path in chosen:
        other = named.setdefault(language_name(path.name), path)
        if other != path:
            raise InputError(
                f"two folders are {language_name(path.name)}",
                where=str(folder),
                found=f"{other.name} and {path.name}",
                remedy="put their rows together, or name the one folder with --data-dir",
            )
    known = {language_name(path.name) for path in found}
    for language in languages:
        if language not in known:
            raise InputError(
                f"there is no language {language!r}",
                where=str(folder),
                found=", ".join(sorted(known)) or f"no folder with {PREDICTED}*.csv",
                expected=f"{language}/{PREDICTED}{{model}}.csv",
                remedy=near_misses(language, known) or "check --data-dir and --language",
            )
    if not chosen:
        raise InputError(
            "there is no language to evaluate",
            where=str(folder),
            expected=f"{{language}}/{PREDICTED}{{model}}.csv",
            remedy="check --data-dir",
        )
    return chosen


def _model(folders: Sequence[Path], prefix: str, suffix: str, wanted: str | None, option: str) -> str:
    known = sorted({_model_of(path, prefix) for folder in folders for path in folder.glob(f"{prefix}*{suffix}")})
    if wanted is None and len(known) != 1:
        raise UsageError(f"{option} is needed: there is more than one model", found=", ".join(known))
    if wanted is not None and wanted not in known:
        raise InputError(
            f"there are no predictions of {wanted!r}",
            where=", ".join(str(folder) for folder in folders),
            found=", ".join(known),
            expected=f"{prefix}{wanted}{suffix}",
            remedy=near_misses(wanted, known) or f"check {option}",
        )
    return wanted or known[0]


def _model_of(path: Path, prefix: str) -> str:
    return path.name.removeprefix(prefix).removesuffix(".csv")


def _key(row: Row, table: Table, place: int) -> Key:
    key = plain_id(row["segment_id"]), plain_id(row["user_id"])
    if not key[0]:
        raise InputError("segment_id is empty", where=table.where(place), expected="the segment's id")
    return key


def _escaped(part: str) -> str:
    """Part of an id: a slash inside it would make two ids alike."""
    return part.replace("%", "%25").replace("/", "%2F") if "/" in part else part


def _first(*texts: str | None) -> str | None:
    """The first text that says something; else an empty one, if there is one."""
    given = [text for text in texts if text is not None]
    return next((text for text in given if text.strip()), given[0] if given else None)


def _rows_at(table: Table | None, places: Sequence[int]) -> list[Mapping[str, str]]:
    """Rows by number; an empty one for -1."""
    found = iter(()) if table is None else table.read(place for place in places if place >= 0)
    return [next(found) if place >= 0 else {} for place in places]
