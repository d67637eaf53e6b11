"""From two sides to a checked source of exchange pairs: join, check, batch.

Nothing is dropped silently: what has no partner is counted in the findings, and what cannot be meant is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.booked import Booked, with_booked
from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.pairing import match_ids, pair_up
from turnwise.dialogue.placeholders import looks_delexicalised
from turnwise.dialogue.records import FIELDS, MULTIWOZ_INTENTS, UNIT, Pair, folded_id, folded_intent
from turnwise.dialogue.resources import Resources
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.signature import digest

BATCH_EXCHANGES = 1024
ALIASED_SHARE = 0.5
ALIASED_DIALOGUES = 3
"""So many dialogues must be there before a state that never changes is taken for a bug."""
RENUMBERED_EXCHANGES = 3
"""In dialogues of so many exchanges, as many on both sides but with other ids are taken for another numbering."""


@dataclass
class DialogueSource:
    """References and predictions, joined and checked; an engine source."""

    references: Dialogues
    predictions: Dialogues
    normaliser: Normaliser
    submitted_only: bool = False
    allow_constant_state: bool = False
    resources: Resources = field(default_factory=Resources)
    booked: Booked | None = None
    """Which domains were booked when; without it, what the references say themselves."""
    findings: list[Finding] = field(default_factory=list)
    unit = UNIT

    def __post_init__(self) -> None:
        self._predicted = match_ids(self.references, self.predictions)
        self.n_items = sum(facts.exchanges for facts in self.references.facts.values())
        self._batches = _batch_bounds(self.references)
        self._delexicalised = True
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
        found = {"--database": self.n_items if self.resources.database is not None else 0}
        for side, dialogues in (("reference", self.references), ("prediction", self.predictions)):
            counted = dialogues.tally.fields
            found |= {f"{side}.{name}": counted[name] for name in FIELDS}
            # What stands on the first exchange holds for the whole dialogue.
            found |= {f"{side}.{name}": self.n_items for name in ("goal", "rewards") if counted[name]}
        return found

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
                yield ExchangeBatch(
                    index, pairs, self.normaliser, self.submitted_only, self.resources, self._delexicalised
                )

    def pairs(self, dialogue_id: str) -> list[Pair]:
        """The exchanges of a dialogue with what was predicted for them."""
        references = self.references.exchanges(dialogue_id)
        if self.booked is not None:
            references = with_booked(references, self.booked)
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
        self._check_content()
        self._check_booked()
        self._check_slots()
        self._check_tables()
        self._check_intents()
        self._check_acts()
        self._check_responses()
        self._check_aliasing()

    def _check_content(self) -> None:
        """At least one prediction must predict something."""
        carried = {name for name, count in self.predictions.tally.fields.items() if count}
        if not carried - {"user", "booked", "goal"}:
            raise InputError(
                "there is nothing to measure: no predicted exchange predicts anything",
                where=str(self.predictions.path),
                found="exchanges without any of the fields below",
                expected="response, domain, intents, acts, state, requested or action",
                remedy="docs/dialogue.md describes the fields and the formats",
            )

    def _check_booked(self) -> None:
        """The booked domains must fit the references."""
        if self.booked is None:
            return
        unknown = []
        for dialogue_id, facts in self.references.facts.items():
            found = self.booked.get(folded_id(dialogue_id))
            if found is None:
                unknown.append(dialogue_id)
            elif len(found) != facts.exchanges:
                raise InputError(
                    "the booked domains do not fit the dialogue",
                    where=f"--booked-domains, dialogue {dialogue_id}",
                    found=f"booked domains for {len(found)} exchanges",
                    expected=f"{facts.exchanges}: one list of domains for each exchange of the references",
                    remedy="check that the file belongs to these references",
                )
        if len(unknown) == len(self.references.facts):
            raise InputError(
                "the booked domains are for other dialogues",
                where="--booked-domains",
                found=f"dialogues like {_some(list(self.booked)) or 'none'}",
                expected=f"dialogues like {_some(list(self.references.facts))}",
                remedy="check that the file belongs to these references",
            )
        if unknown:
            message = f"dialogues that --booked-domains does not have; the references' own are used: {_some(unknown)}"
            self.findings.append(Finding("missing_bookings", message, len(unknown)))

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
        if unknown and self.references.tally.fields["state"]:
            message = f"predicted slots that no reference has, counted as wrong: {_some(unknown, 8)}"
            self.findings.append(Finding("unknown_slots", message, len(unknown)))

    def _check_tables(self) -> None:
        """Slots in the tables that neither the schema nor any state has: probably misspelt."""
        raw = (name for side in (self.references, self.predictions) for name, _ in side.tally.values)
        written = set(map(self.normaliser.slot, raw))
        required = self.resources.policy.required
        wanted = [f"{domain}-{slot}" for domain, choices in required.items() for choice in choices for slot in choice]
        unknown = [slot for slot in wanted if slot not in written and not self.normaliser.known_slot(slot)]
        short = {slot.partition("-")[2] for slot in written}
        known = {*short, *self.normaliser.slot_names}
        unknown += [slot for slot in self.resources.transfer.slots if slot not in known]
        if unknown:
            message = f"slots in the policy or the transferable slots that nobody knows: {_some(unknown, 8)}"
            self.findings.append(Finding("unknown_table_slots", message, len(unknown)))

    def _check_intents(self) -> None:
        """Predicted intents that neither the references nor the schema of MultiWOZ have."""
        known = {*map(folded_intent, self.references.tally.intents), *MULTIWOZ_INTENTS}
        predicted = self.predictions.tally
        unknown = [name for name in predicted.intents if folded_intent(name) not in known]
        if unknown and self.references.tally.intents:
            places = [f"{name} (first in {predicted.first[name]})" for name in unknown]
            message = f"predicted intents unknown to the schema, counted as wrong: {_some(places)}"
            self.findings.append(Finding("unknown_intents", message, sum(predicted.intents[name] for name in unknown)))

    def _check_acts(self) -> None:
        """Predicted acts that the table of actions does not know."""
        predicted = self.predictions.tally
        unknown = [act for act in predicted.acts if self.resources.actions.action(act) is None]
        if unknown:
            places = [f"{act} (first in {predicted.first[act]})" for act in unknown]
            message = f"predicted acts that the table of actions does not know, taken for no action: {_some(places)}"
            self.findings.append(Finding("unknown_acts", message, sum(predicted.acts[act] for act in unknown)))

    def _check_responses(self) -> None:
        """Responses in plain words where inform and success look for placeholders."""
        if self.resources.database is None or not self.references.tally.fields["goal"]:
            return
        first = None
        for dialogue_id in self._predicted.values():
            for place, exchange in enumerate(self.predictions.exchanges(dialogue_id)):
                if exchange.response and looks_delexicalised(exchange.response):
                    return
                if exchange.response and exchange.response.strip() and first is None:
                    first = f"{dialogue_id}/{exchange.turn_id or place}: {shorten(exchange.response)}"
        if first is not None:
            self._delexicalised = False
            message = (
                "the responses are not delexicalised: inform and success look for placeholders such as [hotel_name], "
                f"and are not measured; first in {first}"
            )
            self.findings.append(Finding("lexicalised_responses", message))

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
