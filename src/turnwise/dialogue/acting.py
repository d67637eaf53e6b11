"""What a system did in an exchange, and what it should have done: actions, bookings, violations, answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.records import Dialogue, Exchange, Pair, domains_of_names, folded_intent, reference_domains
from turnwise.dialogue.resources import Resources
from turnwise.dialogue.tables import ActionTable


def actions(exchange: Exchange, table: ActionTable) -> tuple[str, ...] | None:
    """What the system did: its own word for it, or else what its acts mean; None where neither is known."""
    if exchange.action is not None:
        return (exchange.action,)
    if exchange.acts is None:
        return None
    found = (table.action(act, slots) for act, slots in _acts(exchange))
    return tuple(dict.fromkeys(action for action in found if action is not None))


def _acts(exchange: Exchange) -> Iterator[tuple[str, list[str]]]:
    """Each act with the slots it says something about."""
    for act in exchange.acts or ():
        yield act, [said.slot for said in exchange.act_slots or () if said.act == act]


def bookings(pair: Pair, resources: Resources) -> tuple[str, ...]:
    """The domains that the system booked in this exchange."""
    made = pair.prediction
    if made is None:
        return ()
    found: dict[str, None] = {}
    for act, slots in _acts(made):
        if resources.actions.action(act, slots) == "book":
            domain = act.partition("-")[0].strip().lower()
            found[domain if domain in resources.policy.required else _booked_domain(pair, resources)] = None
    if not found and made.action == "book":
        found[_booked_domain(pair, resources)] = None
    return tuple(found)


def _booked_domain(pair: Pair, resources: Resources) -> str:
    """The domain of a booking that does not name one: what the system, else the reference, speaks about."""
    made = pair.prediction
    own = made.intents if made is not None else None
    candidates = [
        *booking_intents(own),
        *pair.predicted_domains,
        *booking_intents(pair.reference.intents),
        *reference_domains(pair.reference),
    ]
    return next((name for name in candidates if name in resources.policy.required), candidates[0] if candidates else "")


def booking_intents(intents: tuple[str, ...] | None) -> tuple[str, ...]:
    """The domains of `book_*` intents."""
    return domains_of_names(tuple(n for n in map(folded_intent, intents or ()) if n.startswith("book_")), "_")


def violations(pair: Pair, resources: Resources, normaliser: Normaliser, *, by_intent: bool) -> list[dict[str, object]]:
    """The bookings made (with `by_intent`: wished for) without what they require, and what was missing."""
    made = pair.prediction
    if made is None:
        return []
    domains = wished(pair) if by_intent else bookings(pair, resources)
    state = normaliser.state(made.state)
    missing = {domain: resources.policy.missing(domain, state) for domain in domains}
    return [{"booking": domain, "missing": slots} for domain, slots in missing.items() if slots]


def wished(pair: Pair) -> tuple[str, ...]:
    """The domains that the user, as the system or else the reference says, wants to book."""
    own = pair.prediction.intents if pair.prediction is not None else None
    return booking_intents(own if own is not None else pair.reference.intents)


def expected_action(pair: Pair, resources: Resources, normaliser: Normaliser) -> str | None:
    """The right action for what the user said, from the reference alone (004-14); None where it cannot be known.

    A wish to book with all required slots: book; with some missing: request them. A wish to find something: search.
    Neither: inform.
    """
    reference = pair.reference
    if reference.intents is None:
        return reference.action
    wanted = booking_intents(reference.intents)
    if wanted:
        state = normaliser.state(reference.state)
        return "request" if any(resources.policy.missing(domain, state) for domain in wanted) else "book"
    return "search" if reference.intents else "inform"


# What the user asked for


def asked_slot(name: str, resources: Resources, normaliser: Normaliser) -> str:
    """The canonical name of a slot that an act or a request names: `hotel-post` is `hotel-postcode`."""
    domain, _, slot = name.partition("-")
    plain = normaliser.domain_slot(domain, slot)
    if normaliser.known_slot(plain):
        return plain  # a train has a price, everything else a price range
    return normaliser.domain_slot(domain, resources.actions.slots.get("".join(slot.lower().split()), slot))


def requests(dialogue: Dialogue, resources: Resources, normaliser: Normaliser) -> dict[str, int]:
    """Every slot that the user asks for, with the exchange in which they first do.

    From the requests in the references; where they have none, from the goal.
    """
    found: dict[str, int] = {}
    annotated = [pair.reference.requested for pair in dialogue.pairs]
    if any(names is not None for names in annotated):
        for place, names in enumerate(annotated):
            for name in names or ():
                found.setdefault(asked_slot(name, resources, normaliser), place)
    elif dialogue.goal is not None:
        for domain, goal in dialogue.goal.items():
            found.update({asked_slot(f"{domain}-{name}", resources, normaliser): 0 for name in goal.requests})
    return found


def booking_goals(dialogue: Dialogue) -> tuple[str, ...]:
    """The domains the user wants to book: from the reference's intents; where it has none, from the goal."""
    intents = [pair.reference.intents for pair in dialogue.pairs]
    if any(names is not None for names in intents):
        return tuple(dict.fromkeys(domain for names in intents for domain in booking_intents(names)))
    return tuple(domain for domain, goal in (dialogue.goal or {}).items() if goal.booking)


def mentioned(pairs: Iterable[tuple[str, str]], resources: Resources, normaliser: Normaliser) -> dict[str, set[str]]:
    """Slots with the values that acts or spans give them."""
    found: dict[str, set[str]] = {}
    for name, value in pairs:
        if value.strip() not in ("", "?", "none"):
            found.setdefault(asked_slot(name, resources, normaliser), set()).add(value.strip().lower())
    return found


def said_by_acts(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """(`domain-slot`, value) of everything the system's acts and marked spans tell the user."""
    for said in exchange.act_slots or ():
        yield f"{said.act.partition('-')[0].lower()}-{said.slot}", said.value
    yield from exchange.spans or ()
