"""What a system did in an exchange, and what it should have done: actions, bookings, violations, requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.records import Dialogue, Exchange, Pair, domains_of_names, folded_intent, reference_domains
from turnwise.dialogue.resources import Resources
from turnwise.dialogue.tables import ActionTable


def actions(exchange: Exchange, table: ActionTable) -> tuple[str, ...] | None:
    """What the system did: its own word for it, or else what its acts mean; None where neither is known.

    A booking among the acts counts whatever the system calls it.
    """
    if exchange.action is None and exchange.acts is None:
        return None
    found = [table.action(act, slots) for act, slots in _acts(exchange)]
    if exchange.action is not None:
        found = [exchange.action, *(action for action in found if action == "book")]
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
            found[act_domain(act, pair, resources)] = None
    if not found and made.action == "book":
        found[made.action_domain or _booked_domain(pair, resources)] = None
    return tuple(found)


def act_domain(act: str, pair: Pair, resources: Resources) -> str:
    """The domain an act speaks about; `Booking-Book` does not say."""
    domain = act.partition("-")[0].strip().lower()
    return _booked_domain(pair, resources) if domain == "booking" else domain


def _booked_domain(pair: Pair, resources: Resources) -> str:
    """The domain of a booking that does not name one: what the system, else the reference, speaks about."""
    candidates = [
        *wished(pair, resources),
        *pair.predicted_domains,
        *booking_domains(pair.reference, resources),
        *reference_domains(pair.reference),
    ]
    return next((name for name in candidates if name in resources.policy.required), candidates[0] if candidates else "")


def booking_domains(exchange: Exchange, resources: Resources) -> tuple[str, ...]:
    """The domains that an exchange's intents want booked: `book_hotel` says which, `ReserveHotel` is about its own."""
    names = [folded_intent(name) for name in exchange.intents or ()]
    wanted = [name for name in names if resources.actions.intent(name) == "book"]
    named = domains_of_names(tuple(name for name in wanted if "_" in name), "_")
    return named or (exchange.domains or () if wanted else ())


def violations(pair: Pair, resources: Resources, normaliser: Normaliser, *, by_intent: bool) -> list[dict[str, object]]:
    """The bookings made (with `by_intent`: wished for) without what they require, and what was missing."""
    made = pair.prediction
    if made is None or made.state is None:
        return []
    state = normaliser.state(made.state)
    domains = attempts(pair, resources, by_intent=by_intent)
    missing = {domain: resources.policy.missing(domain, state) for domain in domains}
    return [{"booking": domain, "missing": slots} for domain, slots in missing.items() if slots]


def attempts(pair: Pair, resources: Resources, *, by_intent: bool) -> tuple[str, ...]:
    """The domains that the system booked, or that the user wishes to book."""
    return wished(pair, resources) if by_intent else bookings(pair, resources)


def wished(pair: Pair, resources: Resources) -> tuple[str, ...]:
    """The domains that the user, as the system or else the reference says, wants to book."""
    made = pair.prediction
    return booking_domains(made if made is not None and made.intents is not None else pair.reference, resources)


def expected_action(pair: Pair, resources: Resources, normaliser: Normaliser) -> str | None:
    """The right action for what the user said, from the reference alone (004-14); None where it cannot be known.

    A wish to book with all required slots: book; with some missing: request them. A wish to find something: search.
    Neither: inform.
    """
    reference = pair.reference
    if reference.intents is None:
        return reference.action
    wanted = booking_domains(reference, resources)
    if wanted:
        if reference.state is None:
            return None
        state = normaliser.state(reference.state)
        return "request" if any(resources.policy.missing(domain, state) for domain in wanted) else "book"
    if not reference.intents:
        return "inform"
    return "search" if any(resources.actions.intent(folded_intent(n)) == "search" for n in reference.intents) else None


# What the user asked for

ANY = "any"
"""The domain of a request that does not name one."""


def asked_slot(name: str, resources: Resources, normaliser: Normaliser) -> str:
    """The canonical name of a slot that an act or a request names: `hotel-post` is `hotel-postcode`."""
    domain, _, slot = name.partition("-")
    short = "".join(slot.lower().split())
    names = resources.actions.slots
    plain = normaliser.domain_slot(domain, slot)
    own = names.get(f"{domain.strip().lower()}-{short}")
    if own is None and normaliser.known_slot(plain):
        return plain  # a train has a price, everything else a price range
    return normaliser.domain_slot(domain, own or names.get(short, slot))


def requests(dialogue: Dialogue, resources: Resources, normaliser: Normaliser) -> dict[str, int]:
    """Every slot that the user asks for, with the exchange in which they first do.

    From the requests in the references; where they have none, from the goal.
    """
    found: dict[str, int] = {}
    annotated = [pair.reference.requested for pair in dialogue.pairs]
    if any(names is not None for names in annotated):
        for place, names in enumerate(annotated):
            for name in names or ():
                domains = reference_domains(dialogue.pairs[place].reference)
                full = name if "-" in name else f"{domains[0] if domains else ANY}-{name}"
                found.setdefault(asked_slot(full, resources, normaliser), place)
    elif dialogue.goal is not None:
        for domain, goal in dialogue.goal.items():
            found.update({asked_slot(f"{domain}-{name}", resources, normaliser): 0 for name in goal.requests})
    return found


def booking_goals(dialogue: Dialogue, resources: Resources) -> tuple[str, ...]:
    """The domains the user wants to book: from the reference's intents; where it has none, from the goal."""
    references = [pair.reference for pair in dialogue.pairs]
    if any(reference.intents is not None for reference in references):
        return tuple(dict.fromkeys(domain for one in references for domain in booking_domains(one, resources)))
    return tuple(domain for domain, goal in (dialogue.goal or {}).items() if goal.booking is not None)


def mentioned(
    pairs: Iterable[tuple[str, str]], resources: Resources, normaliser: Normaliser
) -> dict[str, frozenset[str]]:
    """Slots with the values that acts or spans give them."""
    found: dict[str, set[str]] = {}
    for name, value in pairs:
        text = value.strip().lower()
        if text not in ("", "?"):
            values = found.setdefault(asked_slot(name, resources, normaliser), set())
            values.update({text} - {"none"})  # `Hotel-Inform(internet=none)` says that there is internet
    return {slot: frozenset(values) for slot, values in found.items()}


def said_by_acts(exchange: Exchange, pair: Pair, resources: Resources) -> Iterator[tuple[str, str]]:
    """(`domain-slot`, value) of everything that one side's acts and marked spans tell the user."""
    for said in exchange.act_slots or ():
        if resources.actions.action(said.act, (said.slot,)) != "request":
            yield f"{act_domain(said.act, pair, resources)}-{said.slot}", said.value
    yield from exchange.spans or ()
