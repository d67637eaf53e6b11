"""From two files to a checked source of exchange pairs: detect the format, join, check, batch.

Nothing is dropped silently: what has no partner is counted in the findings, and what cannot be meant is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.formats import jsonl, multiwoz21, predictions
from turnwise.dialogue.formats.base import BOM, Dialogues, missing_file, read_json
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.pairing import match_ids, pair_up
from turnwise.dialogue.records import FIELDS, Pair
from turnwise.dialogue.resources import Resources
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError, UsageError, near_misses
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.kernel.signature import digest

FORMATS = (jsonl.NAME, multiwoz21.NAME, predictions.NAME)
BATCH_EXCHANGES = 1024
ALIASED_SHARE = 0.5
ALIASED_DIALOGUES = 3
"""So many dialogues must be there before a state that never changes is taken for a bug."""
RENUMBERED_EXCHANGES = 3
"""In dialogues of so many exchanges, as many on both sides but with other ids are taken for another numbering."""


def read_dialogues(path: Path | list[dict[str, Any]], form: str | None = None, side: str = "records") -> Dialogues:
    """A file of dialogues in a named format, or in the one it looks like; or exchanges that are already in memory."""
    if not isinstance(path, Path):
        return jsonl.held(path, side)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(
            f"{path} is a pipe or a device",
            where=str(path),
            found="something that can be read only once",
            expected="a file: it is read twice",
            remedy="save it to a file first",
        )
    if form is not None and form not in FORMATS:
        raise UsageError(
            f"unknown format {form!r}", expected=", ".join(FORMATS), remedy=near_misses(form, FORMATS) or None
        )
    if form == jsonl.NAME or (form is None and _is_jsonl(path)):
        return jsonl.JsonlDialogues(path)
    data, sha256 = read_json(path)
    if form == multiwoz21.NAME or (form is None and multiwoz21.looks_like(data)):
        return multiwoz21.read(path, data, sha256)
    if form == predictions.NAME or (form is None and predictions.looks_like(data)):
        return predictions.read(path, data, sha256)
    raise InputError(
        "the format of the file is not known",
        where=str(path),
        found=f"a JSON {type(data).__name__}"
        + (f" with the keys {', '.join(list(data)[:5])}" if isinstance(data, dict) else ""),
        expected=f"one of {', '.join(FORMATS)}",
        remedy="convert it to turnwise JSONL (docs/dialogue.md), or name the format",
    )


def _is_jsonl(path: Path) -> bool:
    """JSONL by its name, or because its first line is a whole JSON object about one dialogue."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
            if start == b"PK\x03\x04":
                return False
            if path.suffix in (".jsonl", ".ndjson"):
                return True
            file.seek(0)
            lines = (line.removeprefix(BOM).strip() for line in file)
            first = loads(next((line for line in lines if line), b""))
    except OSError as error:
        raise missing_file(path, error) from error
    except JSONDecodeError:
        return False
    return isinstance(first, dict) and "dialogue_id" in first


@dataclass
class DialogueSource:
    """References and predictions, joined and checked; an engine source."""

    references: Dialogues
    predictions: Dialogues
    normaliser: Normaliser
    submitted_only: bool = False
    allow_constant_state: bool = False
    resources: Resources = field(default_factory=Resources)
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._predicted = match_ids(self.references, self.predictions)
        self.n_items = sum(facts.exchanges for facts in self.references.facts.values())
        self._batches = _batch_bounds(self.references)
        self._check()

    @property
    def dataset_fingerprint(self) -> str:
        """What was asked: two runs on the same references can be compared."""
        return digest([self.references.sha256])

    @property
    def input_fingerprint(self) -> str:
        """What was asked and what was answered: a resumed run must find the same."""
        return digest([self.references.sha256, self.predictions.sha256, BATCH_EXCHANGES])

    @property
    def fields(self) -> dict[str, int]:
        """How many exchanges carry each field, by side."""
        sides = (("reference", self.references), ("prediction", self.predictions))
        return {f"{side}.{name}": dialogues.tally.fields[name] for side, dialogues in sides for name in FIELDS}

    @property
    def dimensions(self) -> set[str]:
        """The domain and every metadata column of either side."""
        return {"domain", *self.references.tally.metadata, *self.predictions.tally.metadata}

    @property
    def coverage(self) -> dict[str, int]:
        """How much of the data set was answered."""
        return {
            "dialogues": len(self.references.facts),
            "dialogues_predicted": len(self._predicted),
            "exchanges": self.n_items,
            "exchanges_predicted": self._n_predicted,
        }

    def batches(self, done: Set[int] = frozenset()) -> Iterator[ExchangeBatch]:
        """The batches that are not done yet."""
        for index, dialogue_ids in enumerate(self._batches):
            if index not in done:
                pairs = [pair for dialogue_id in dialogue_ids for pair in self.pairs(dialogue_id)]
                yield ExchangeBatch(index, pairs, self.normaliser, self.submitted_only, self.resources)

    def pairs(self, dialogue_id: str) -> list[Pair]:
        """The exchanges of a dialogue with what was predicted for them."""
        references = self.references.exchanges(dialogue_id)
        predicted_id = self._predicted.get(dialogue_id)
        predicted = [] if predicted_id is None else self.predictions.exchanges(predicted_id)
        return pair_up(dialogue_id, references, predicted, self.normaliser)

    # Checks

    def _check(self) -> None:
        for side, dialogues in (("references", self.references), ("predictions", self.predictions)):
            self.findings += [
                Finding("input", f"{side}: {note}", count) for note, count in dialogues.tally.notes.items()
            ]
        self._check_ids()
        self._check_turns()
        self._check_slots()
        self._check_aliasing()

    def _check_slots(self) -> None:
        """Slots that only the predictions have: often another dialect, always wrong (004-5)."""
        known, predicted = (
            {
                slot
                for raw, value in side.tally.values
                if self.normaliser.values(slot := self.normaliser.slot(raw), value)
            }
            for side in (self.references, self.predictions)
        )
        unknown = sorted(predicted - known)
        if unknown:
            message = f"predicted slots that no reference has, counted as wrong: {_some(unknown, 8)}"
            self.findings.append(Finding("unknown_slots", message, len(unknown)))

    def rewrites(self) -> list[tuple[str, str, str, str | None, int]]:
        """Every rewrite of the normaliser: side, slot, value as written, normal form, how often."""
        found = []
        for side, dialogues in (("reference", self.references), ("prediction", self.predictions)):
            written: Counter[tuple[str, str]] = Counter()
            for (raw_slot, raw), count in dialogues.tally.values.items():
                slot = self.normaliser.slot(raw_slot)
                pieces = self.normaliser.pieces(raw) if side == "reference" else [raw]
                written.update(dict.fromkeys(((slot, piece) for piece in pieces), count))
            for (slot, piece), count in sorted(written.items()):
                normal = self.normaliser.value(slot, piece)
                if normal != piece:
                    found.append((side, slot, piece, normal, count))
        return found

    def _check_ids(self) -> None:
        known = set(self._predicted.values())
        unknown = [dialogue_id for dialogue_id in self.predictions.facts if dialogue_id not in known]
        if not known:
            raise InputError(
                "no predicted dialogue is in the references",
                where=str(self.predictions.path),
                found=_some(list(self.predictions.facts)) or "no dialogue",
                expected=f"ids like {_some(list(self.references.facts))} ({self.references.path})",
                remedy="check that the predictions belong to these references",
            )
        if unknown:
            self.findings.append(
                Finding(
                    "unknown_dialogues",
                    f"predicted dialogues that the references do not have, left out: {_some(unknown)}",
                    len(unknown),
                )
            )
        absent = [dialogue_id for dialogue_id in self.references.facts if dialogue_id not in self._predicted]
        if absent:
            self.findings.append(
                Finding("missing_dialogues", f"dialogues without a prediction: {_some(absent)}", len(absent))
            )

    def _check_turns(self) -> None:
        """Count exchanges without a partner, on either side."""
        missing: list[str] = []
        extra: list[str] = []
        renumbered: list[str] = []
        for dialogue_id, predicted_id in self._predicted.items():
            reference, predicted = self.references.facts[dialogue_id], self.predictions.facts[predicted_id]
            if not (reference.with_ids and predicted.with_ids):
                missing += [f"{dialogue_id}/{i}" for i in range(predicted.exchanges, reference.exchanges)]
                extra += [f"{dialogue_id}/{i}" for i in range(reference.exchanges, predicted.exchanges)]
            elif (reference.ids, reference.turns) != (predicted.ids, predicted.turns):
                if reference.exchanges == predicted.exchanges >= RENUMBERED_EXCHANGES:
                    renumbered.append(dialogue_id)
                known = [exchange.turn_id for exchange in self.references.exchanges(dialogue_id)]
                given = [exchange.turn_id for exchange in self.predictions.exchanges(predicted_id)]
                missing += [f"{dialogue_id}/{turn}" for turn in known if turn not in given]
                extra += [f"{dialogue_id}/{turn}" for turn in given if turn not in known]
        if len(renumbered) > len(self._predicted) / 2:
            first = renumbered[0]
            sides = (self.references.exchanges(first), self.predictions.exchanges(self._predicted[first]))
            ours, theirs = (_some([f"{first}/{exchange.turn_id}" for exchange in side]) for side in sides)
            raise InputError(
                f"{len(renumbered)} of {len(self._predicted)} dialogues are numbered otherwise than the references",
                where=f"{self.predictions.path}, e.g. dialogue {first}",
                found=theirs,
                expected=f"{ours}: both sides have as many exchanges, but not the same ids",
                remedy="give them the turn_id of the references, or none: then their order counts",
            )
        whole = sum(f.exchanges for d, f in self.references.facts.items() if d not in self._predicted)
        self._n_predicted = self.n_items - whole - len(missing)
        if not self._n_predicted:
            raise InputError(
                "no predicted exchange belongs to an exchange of the references",
                where=str(self.predictions.path),
                found=f"exchanges like {_some(extra) or 'none'}",
                expected=f"exchanges like {_some(missing)}",
                remedy="check the turn_id of the predictions",
            )
        what = "left out" if self.submitted_only else "counted as wrong"
        if missing:
            message = f"exchanges of predicted dialogues without a prediction, {what}: {_some(missing)}"
            self.findings.append(Finding("missing_exchanges", message, len(missing)))
        if extra:
            message = f"predicted exchanges that the references do not have, left out: {_some(extra)}"
            self.findings.append(Finding("extra_exchanges", message, len(extra)))

    def _check_aliasing(self) -> None:
        """A predicted state that never changes, where the reference's does: usually one object kept for all turns."""
        looked_at, constant = 0, []
        for dialogue_id, predicted_id in self._predicted.items():
            reference, predicted = self.references.facts[dialogue_id], self.predictions.facts[predicted_id]
            if predicted.states >= 2 and not predicted.empty and not reference.constant:
                looked_at += 1
                if predicted.constant:
                    constant.append(predicted_id)
        if not constant or len(constant) <= ALIASED_SHARE * looked_at:
            return
        message = (
            f"the predicted state is the same in every exchange of {len(constant)} of {looked_at} dialogues "
            f"whose reference state changes"
        )
        if looked_at < ALIASED_DIALOGUES or self.allow_constant_state:
            self.findings.append(Finding("constant_state", f"{message}: {_some(constant)}", len(constant)))
            return
        raise InputError(
            message,
            where=f"{self.predictions.path}, e.g. dialogue {constant[0]}",
            expected="the state as it was after each exchange",
            remedy="most likely one state object was stored for all turns: copy it per turn when writing. "
            "If the system really is like that: --allow-constant-state",
        )


def _batch_bounds(references: Dialogues) -> list[list[str]]:
    """Dialogue ids per batch; a batch is full once it has enough exchanges, and never splits a dialogue."""
    bounds: list[list[str]] = []
    size = BATCH_EXCHANGES
    for dialogue_id, facts in references.facts.items():
        if size >= BATCH_EXCHANGES:
            bounds.append([])
            size = 0
        bounds[-1].append(dialogue_id)
        size += facts.exchanges
    return bounds


def _some(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
