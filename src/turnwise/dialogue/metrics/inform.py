"""Inform and Success of task dialogues, as the field's standard evaluator defines them for MultiWOZ.

Both read the same outcomes, one per domain of the user's goal: what was offered, and what was told about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar, NamedTuple

from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.database import Database
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.placeholders import placeholders
from turnwise.dialogue.records import DIALOGUE, Dialogue, Exchange, Goal, State, domain_of
from turnwise.dialogue.resources import NO_DATABASE
from turnwise.kernel.metric import Metric, MetricSpec, Output, Parameter
from turnwise.kernel.score import JSON, Measurement, Parts, Unit, measured, not_applicable, skipped

PREDICTED, STATE, PLACEHOLDER = "predicted", "state", "placeholder"
WITHOUT_ENTITIES = frozenset({"taxi", "police", "hospital"})
"""Domains in which no entity has to be offered."""
ATTRIBUTES = ("phone", "address", "postcode", "trainid")
"""Requested slots that count; of the others no response shows whether they were given."""
REFERENCE = "ref"

NO_RESPONSE = "no predicted response"
LEXICALISED = "the responses have no placeholders"
NOT_BOOKED = "not known when the reference had booked: give --booked-domains FILE"

ACTIVE_DOMAIN = Parameter(
    "active_domain",
    PREDICTED,
    "whose domain a response speaks about: what the prediction says itself, or else what its state says; always what "
    "its state says; or what the placeholder is called",
    choices=(PREDICTED, STATE, PLACEHOLDER),
)


class Outcome(NamedTuple):
    """What came of one domain of a goal."""

    domain: str
    matched: bool
    why: str
    offered: int
    """How many entities the last offer stands for."""
    missing: tuple[str, ...]
    """Wanted attributes that no response gave."""

    @property
    def succeeded(self) -> bool:
        """Matched, and nothing missing."""
        return self.matched and not self.missing


class Inform(Metric):
    """1 if every domain of the goal was matched by what was offered; else 0."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="inform",
        version=1,
        question="Was what the system offered what the user was looking for?",
        unit=DIALOGUE,
        outputs=(Output(statistics=("matched",), range=(0.0, 1.0)),),
        needs=("--database", "reference.goal", "prediction.response", "prediction.state"),
        parameters=(ACTIVE_DOMAIN,),
        context=("missing", "database"),
        part="domain",
        components=("supervisor", "action"),
        source="Nekvinda and Dusek 2021: Shades of BLEU, Flavours of Success; the evaluator published with it",
        optional=True,
    )

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """One verdict per dialogue."""
        for dialogue, found in zip(batch.dialogues, self.outcomes(batch), strict=True):
            yield dialogue.unit, "value", found if isinstance(found, Measurement) else self.verdict(dialogue, found)

    def verdict(self, dialogue: Dialogue, found: Sequence[Outcome]) -> Measurement:
        """All domains matched."""
        evidence = [_evidence(outcome) for outcome in found]
        return _measured(found, [outcome.matched for outcome in found], evidence)

    def outcomes(self, batch: ExchangeBatch) -> list[list[Outcome] | Measurement]:
        """The outcomes of every dialogue, or why there are none; worked out once per batch for both metrics."""
        active = str(self.settings.values["active_domain"])
        known: dict[str, list[list[Outcome] | Measurement]] = batch.memo.setdefault("outcomes", {})
        if active not in known:
            known[active] = [
                _unscored(dialogue, batch) or _outcomes(dialogue, batch, active) for dialogue in batch.dialogues
            ]
        return known[active]


class Success(Inform):
    """1 if every domain was matched and everything that was wanted of it was given; else 0."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="success",
        version=1,
        question="Was the right thing offered, and everything told that the user wanted to know of it?",
        unit=DIALOGUE,
        outputs=(Output(statistics=("succeeded",), range=(0.0, 1.0)),),
        needs=Inform.spec.needs,
        parameters=(ACTIVE_DOMAIN,),
        context=("missing", "database", "booked"),
        part="domain",
        components=("supervisor", "action"),
        source=Inform.spec.source,
        optional=True,
    )

    def verdict(self, dialogue: Dialogue, found: Sequence[Outcome]) -> Measurement:
        """All domains matched, nothing missing in any."""
        books = any(goal.booking is not None for goal in (dialogue.goal or {}).values())
        if books and all(pair.reference.booked is None for pair in dialogue.pairs):
            return skipped(NOT_BOOKED)
        evidence = [{**_evidence(outcome), "missing": list(outcome.missing)} for outcome in found]
        return _measured(found, [outcome.succeeded for outcome in found], evidence)


def _measured(found: Sequence[Outcome], right: Sequence[bool], evidence: JSON) -> Measurement:
    parts = Parts([outcome.domain for outcome in found], ([float(one) for one in right],))
    return measured((float(all(right)),), evidence=evidence, parts=parts)


def _evidence(outcome: Outcome) -> dict[str, Any]:
    return {
        "domain": outcome.domain,
        "matched": outcome.matched,
        "why": outcome.why,
        "offered": outcome.offered,
    }


def _unscored(dialogue: Dialogue, batch: ExchangeBatch) -> Measurement | None:
    """Why a dialogue cannot be judged."""
    database, goal = batch.resources.database, dialogue.goal
    if database is None:
        return skipped(NO_DATABASE)
    if not goal:
        # A goal without any domain would be reached by doing nothing.
        return not_applicable("no goal")
    if not batch.delexicalised:
        return skipped(LEXICALISED)
    made = [pair.prediction for pair in dialogue.pairs if pair.prediction is not None]
    if not made:
        lost = Parts(list(goal), ([0.0] * len(goal),))
        return (
            skipped(MISSING)
            if batch.submitted_only
            else measured((0.0,), evidence={"missing": "prediction"}, parts=lost)
        )
    if made and all(prediction.response is None for prediction in made):
        return skipped(NO_RESPONSE)
    for domain, wanted in goal.items():
        if domain not in WITHOUT_ENTITIES and not database.entities(domain) and not _names_it(domain, wanted, database):
            return skipped(f"the database has no {domain}")
    return None


def _outcomes(dialogue: Dialogue, batch: ExchangeBatch, active: str) -> list[Outcome]:
    """Follow the dialogue turn by turn, then hold what was offered and given against the goal."""
    database = batch.resources.database
    goals = dialogue.goal or {}
    assert database is not None, "without one, the dialogue is not scored"
    offered: dict[str, int] = {}
    given: dict[str, set[str]] = {domain: set() for domain in goals}
    for pair, said in zip(dialogue.pairs, _said(dialogue, database.normaliser, active), strict=True):
        for domain in goals.keys() & said.keys():
            if database.identifier(domain) in said[domain] and domain not in WITHOUT_ENTITIES:
                found = _looked_up(pair.prediction, domain, database)
                remembered = offered.get(domain, 0)
                # An offer stands until one comes that no longer has all of it.
                if not remembered or remembered & ~found:
                    offered[domain] = found
            given[domain] |= said[domain] - ({REFERENCE} if domain not in (pair.reference.booked or ()) else set())
    return [_outcome(domain, goal, offered.get(domain), given[domain], database) for domain, goal in goals.items()]


def _said(dialogue: Dialogue, normaliser: Normaliser, active: str) -> Iterator[Mapping[str, Set[str]]]:
    """Per exchange, the slots that the response has placeholders for, by the domain they are about."""
    made = [pair.prediction for pair in dialogue.pairs]
    texts = [prediction.response or "" if prediction is not None else "" for prediction in made]
    if active == PLACEHOLDER:
        for text in texts:
            by_domain: dict[str, set[str]] = {}
            for placeholder in placeholders(text):
                if placeholder.domain is not None:
                    by_domain.setdefault(placeholder.domain, set()).add(placeholder.slot)
            yield by_domain
        return
    own = active == PREDICTED and all(prediction is None or prediction.domains is not None for prediction in made)
    estimated = [] if own else domains_by_state([p.state if p is not None else None for p in made], normaliser)
    for position, text in enumerate(texts):
        found = placeholders(text)
        if not found:
            yield {}
            continue
        prediction = made[position]
        domains = (prediction.domains or ()) if own and prediction is not None else estimated[position]
        slots = frozenset(placeholder.slot for placeholder in found)
        yield {domain.lower(): slots for domain in domains}


def domains_by_state(states: Sequence[State | None], normaliser: Normaliser) -> list[tuple[str, ...]]:
    """The active domain of each exchange, none or one, told by the slots that were added or changed.

    A domain stays active while its own slots change; otherwise the changed domain with most slots takes over. Where
    nothing changes it stays, too, unless several domains changed the last time: then one that had to wait has its turn.
    """
    active: tuple[str, ...] = ()
    before: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
    waiting: list[str] = []
    found = []
    for state in states:
        if state is not None:
            now: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
            for slot, values in normaliser.state(state).items():
                now.setdefault(domain_of(slot), set()).add((slot, values))
            changed = [domain for domain, slots in now.items() if slots - before.get(domain, set())]
            if changed and not set(active) & set(changed):
                active = (max(changed, key=lambda domain: len(now[domain])),)
            elif not changed:
                active = next(((domain,) for domain in waiting if domain in now), active)
            waiting = [domain for domain in changed if domain not in active]
            before = now
        found.append(active)
    return found


def _looked_up(made: Exchange | None, domain: str, database: Database) -> int:
    """What the database holds for the predicted state of a domain; nothing where there is no such state."""
    state = made.state or {} if made is not None else {}
    wanted = {slot.partition("-")[2]: value for slot, value in state.items() if domain_of(slot) == domain}
    return database.find(domain, wanted) if wanted else 0


def _names_it(domain: str, goal: Goal, database: Database) -> bool:
    """Whether the user was told the name: then nothing has to be found."""
    name = f"{domain}-name"
    slots = ((database.normaliser.domain_slot(domain, slot), value) for slot, value in goal.info.items())
    return any(slot == name and database.normaliser.value(name, value) for slot, value in slots)


def _wanted(domain: str, goal: Goal, normaliser: Normaliser) -> list[str]:
    """The attributes that have to be given: requested ones, and a reference where something is to be booked."""
    requested = {normaliser.domain_slot(domain, slot).partition("-")[2] for slot in goal.requests}
    return [slot for slot in ATTRIBUTES if slot in requested] + ([REFERENCE] if goal.booking is not None else [])


def _outcome(domain: str, goal: Goal, offered: int | None, given: Set[str], database: Database) -> Outcome:
    wanted = _wanted(domain, goal, database.normaliser)
    missing = tuple(slot for slot in wanted if slot not in given)
    size = (offered or 0).bit_count()
    if domain in WITHOUT_ENTITIES:
        return Outcome(domain, True, "nothing has to be offered", size, missing)
    if _names_it(domain, goal, database):
        return Outcome(domain, True, "the goal names it", size, missing)
    if not offered and database.identifier(domain) == "trainid" and "trainid" not in wanted:
        return Outcome(domain, True, "no train offered, and no train id wanted", size, missing)
    if not offered:
        why = "nothing offered" if offered is None else "the database has nothing for the predicted state"
        return Outcome(domain, False, why, size, missing)
    outside = (offered & ~database.find(domain, goal.info)).bit_count()
    why = f"{outside} of {size} offered are not what the goal asks for" if outside else "all offered meet the goal"
    return Outcome(domain, not outside, why, size, missing)
