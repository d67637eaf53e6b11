"""Names that one side uses and nobody else knows: slots, intents, acts, and the slots in the tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnwise.dialogue.pairing import Joined
from turnwise.dialogue.records import MULTIWOZ_INTENTS, folded_intent
from turnwise.engine.plan import Finding


class Names:
    """How many things there are, and the names of the first few."""

    def __init__(self, names: Iterable[str] = (), most: int = 3) -> None:
        self.count = 0
        self._most = most
        self._first: list[str] = []
        self.add(names)

    def add(self, names: Iterable[str]) -> None:
        """Some more."""
        for name in names:
            self.count += 1
            if len(self._first) < self._most:
                self._first.append(name)

    def __str__(self) -> str:
        """`a, b, c and 5 more`."""
        more = self.count - len(self._first)
        return ", ".join(self._first) + (f" and {more} more" if more else "")


def check_words(joined: Joined) -> Iterator[Finding]:
    """What is said in words that are not understood."""
    for check in (_slots, _tables, _intents, _acts):
        yield from check(joined)


def _slots(joined: Joined) -> Iterator[Finding]:
    """Slots that only the predictions have: often another dialect, always wrong (004-5)."""
    normaliser = joined.normaliser
    known, predicted = (
        {slot for raw, value in side.tally.values if normaliser.values(slot := normaliser.slot(raw), value)}
        for side in (joined.references, joined.predictions)
    )
    unknown = Names(sorted(predicted - known), 8)
    if unknown.count and joined.references.tally.fields["state"]:
        message = f"predicted slots that no reference has, counted as wrong: {unknown}"
        yield Finding("unknown_slots", message, unknown.count)


def _tables(joined: Joined) -> Iterator[Finding]:
    """Slots in the tables that neither the schema nor any state has: probably misspelt."""
    normaliser, resources = joined.normaliser, joined.resources
    raw = (name for side in (joined.references, joined.predictions) for name, _ in side.tally.values)
    written = set(map(normaliser.slot, raw))
    required = resources.policy.required
    wanted = [f"{domain}-{slot}" for domain, choices in required.items() for choice in choices for slot in choice]
    unknown = Names((slot for slot in wanted if slot not in written and not normaliser.known_slot(slot)), 8)
    short = {slot.partition("-")[2] for slot in written}
    known = {*short, *normaliser.slot_names}
    unknown.add(slot for slot in resources.transfer.slots if slot not in known)
    if unknown.count:
        message = f"slots in the policy or the transferable slots that nobody knows: {unknown}"
        yield Finding("unknown_table_slots", message, unknown.count)


def _intents(joined: Joined) -> Iterator[Finding]:
    """Predicted intents that neither the references nor the schema of MultiWOZ have."""
    known = {*map(folded_intent, joined.references.tally.intents), *MULTIWOZ_INTENTS}
    predicted = joined.predictions.tally
    unknown = [name for name in predicted.intents if folded_intent(name) not in known]
    if unknown and joined.references.tally.intents:
        places = Names(f"{name} (first in {predicted.first[name]})" for name in unknown)
        message = f"predicted intents unknown to the schema, counted as wrong: {places}"
        yield Finding("unknown_intents", message, sum(predicted.intents[name] for name in unknown))


def _acts(joined: Joined) -> Iterator[Finding]:
    """Predicted acts that the table of actions does not know."""
    predicted = joined.predictions.tally
    unknown = [act for act in predicted.acts if joined.resources.actions.action(act) is None]
    if unknown:
        places = Names(f"{act} (first in {predicted.first[act]})" for act in unknown)
        message = f"predicted acts that the table of actions does not know, taken for no action: {places}"
        yield Finding("unknown_acts", message, sum(predicted.acts[act] for act in unknown))
