"""What is evaluated: an exchange (a user turn and the system turn that answers it), as annotated and as predicted.

References and predictions are the same record; what is unknown is None. Nothing here compares or normalises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from turnwise.kernel.score import Unit

State: TypeAlias = Mapping[str, "str | list[str]"]
"""Slot to value, accumulated over the dialogue; a list holds alternatives. Names and values as they were read."""

DOMAINS = frozenset({"attraction", "bus", "hospital", "hotel", "police", "restaurant", "taxi", "train"})
"""The domains of MultiWOZ."""
UNIT = "exchange"
DIALOGUE = "dialogue"
ACTIONS = ("book", "search", "request", "inform", "offer", "fail")


class ActSlot(NamedTuple):
    """What an act says about one slot, as it was read: `Restaurant-Inform`, `area`, `north`."""

    act: str
    slot: str
    value: str


class Goal(NamedTuple):
    """What the user was told to get done in one domain, names as they were read."""

    info: Mapping[str, str]
    """Constraints of the search: slot to value."""
    requests: tuple[str, ...]
    """Slots the user must ask for."""
    booking: Mapping[str, str] | None
    """Slots of the booking; None where nothing is to be booked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One side (reference or prediction) of an exchange."""

    dialogue_id: str
    turn_id: str | None = None
    """None where the format has no ids: exchanges then pair up by their position."""
    user: str | None = None
    response: str | None = None
    domains: tuple[str, ...] | None = None
    """The active domains, the main one first; () where it is known that none is active."""
    intents: tuple[str, ...] | None = None
    """The user's intents, e.g. `find_hotel`; () where it is known that there is none."""
    acts: tuple[str, ...] | None = None
    """The types of the system's acts, e.g. `Hotel-Inform`."""
    act_slots: tuple[ActSlot, ...] | None = None
    """What the acts say; None where only their types are known."""
    spans: tuple[tuple[str, str], ...] | None = None
    """(`domain-slot`, value) of what the system's text mentions, where somebody marked it."""
    state: State | None = None
    requested: tuple[str, ...] | None = None
    """`domain-slot` that the user asks for."""
    action: str | None = None
    action_domain: str | None = None
    """The domain of the action, where it names one: `book_hotel`."""
    booked: tuple[str, ...] | None = None
    """Domains that have been booked in the dialogue up to here."""
    goal: Mapping[str, Goal] | None = None
    """By domain; the goal of the whole dialogue stands on one exchange, usually the first."""
    rewards: tuple[float, ...] | None = None
    """What a simulator gave the dialogue in the end, once per trial; on one of its exchanges."""
    operations: Mapping[str, float] = field(default_factory=dict)
    """`latency_ms`, `tokens`, `cost` of the system under test."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Any other column; each is a dimension to slice by."""

    def content(self) -> dict[str, Any]:
        """What is worth showing of it later."""
        known = {name: getattr(self, name) for name in CONTENT if getattr(self, name) is not None}
        if self.act_slots is not None:
            known["act_slots"] = [list(said) for said in self.act_slots]
        if self.goal is not None:
            known["goal"] = {domain: goal._asdict() for domain, goal in self.goal.items()}
        return {**known, **self.operations}


CONTENT = (
    "user",
    "response",
    "domains",
    "intents",
    "acts",
    "act_slots",
    "spans",
    "state",
    "requested",
    "action",
    "booked",
    "goal",
    "rewards",
)
OPERATIONS = ("latency_ms", "tokens", "cost")
FIELDS = (*CONTENT, *OPERATIONS)
"""Fields that a metric may need, as `reference.NAME` or `prediction.NAME`."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An annotated exchange and what the system predicted for it, if it predicted anything."""

    unit: Unit
    reference: Exchange
    prediction: Exchange | None
    predicted_domains: tuple[str, ...] = ()
    """The prediction's own active domains, or else those whose predicted state changed in this exchange."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """All exchanges of a dialogue, as a unit of its own."""

    unit: Unit
    pairs: Sequence[Pair]

    @property
    def goal(self) -> Mapping[str, Goal] | None:
        """The user's goal, where an exchange of the reference carries it."""
        return next((pair.reference.goal for pair in self.pairs if pair.reference.goal is not None), None)


def folded_id(dialogue_id: str) -> str:
    """The same for `PMUL1.json` and `pmul1`."""
    return dialogue_id.lower().removesuffix(".json")


def item_id(dialogue_id: str, turn_id: str) -> str:
    """`dialogue/turn`; a slash in a turn id is escaped, so that two exchanges never get the same id."""
    return f"{dialogue_id}/{turn_id.replace('%', '%25').replace('/', '%2F')}"


def turn_of(item: str, dialogue_id: str) -> str:
    """The turn id in an item id."""
    return item.removeprefix(f"{dialogue_id}/").replace("%2F", "/").replace("%25", "%")


def domain_of(slot: str) -> str:
    """The domain of a flat slot name."""
    return slot.partition("-")[0].strip().lower()


def domains_of_names(names: tuple[str, ...] | None, separator: str) -> tuple[str, ...]:
    """Distinct domains of `find_hotel` (separator _) or `Hotel-Inform` (separator -), in order."""
    found: dict[str, None] = {}
    for name in names or ():
        first, _, rest = name.strip().lower().partition(separator)
        domain = (rest or (first if first in DOMAINS else "")) if separator == "_" else first
        if domain and domain not in ("general", "booking", "none"):
            found[domain] = None
    return tuple(found)


MULTIWOZ_INTENTS = frozenset(
    (
        *("find_hotel", "book_hotel", "find_restaurant", "book_restaurant", "find_train", "book_train", "find_bus"),
        *("find_attraction", "find_hospital", "book_taxi", "police", "find_police"),
    )
)


def folded_intent(name: str) -> str:
    """One spelling per intent. The data of MultiWOZ 2.2 say `find_taxi` where its schema says `book_taxi`."""
    folded = name.strip().lower()
    return "book_taxi" if folded == "find_taxi" else folded


def reference_domains(exchange: Exchange) -> tuple[str, ...]:
    """The annotated domains, or else those of the annotated intents (004-9)."""
    return exchange.domains if exchange.domains is not None else domains_of_names(exchange.intents, "_")


def changed_domains(state: Mapping[str, Any] | None, previous: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Domains of the slots that were added, changed or taken back since the exchange before."""
    now, before = state or {}, previous or {}
    changed = [slot for slot in now if now[slot] != before.get(slot)] + [slot for slot in before if slot not in now]
    return tuple(dict.fromkeys(domain_of(slot) for slot in changed))
