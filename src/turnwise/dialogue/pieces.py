"""What a judge can be shown of an exchange or of a whole dialogue, by the names that rubrics use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from turnwise.dialogue.normalise import Normaliser
from turnwise.dialogue.records import DIALOGUE, Dialogue, Exchange, Pair, reference_domains
from turnwise.dialogue.resources import Resources
from turnwise.judge.records import Pieces
from turnwise.kernel.score import Unit

MOST_ENTITIES = 5
"""Entities of a domain that are written out; the rest are counted."""


def dialogue_pieces(
    dialogue: Dialogue, unit_kind: str, resources: Resources, normaliser: Normaliser
) -> Iterator[tuple[Unit, Pieces]]:
    """The pieces of each exchange, or of the dialogue as one."""
    goal = next((pair.reference.goal for pair in dialogue.pairs if pair.reference.goal), None)
    known = {"goal": None if goal is None else {domain: wanted._asdict() for domain, wanted in goal.items()}}
    if unit_kind == DIALOGUE:
        history = "\n".join(_said(pair, own=True) for pair in dialogue.pairs)
        yield dialogue.unit, {**known, "history": history, "policy": _policy(dialogue.pairs, resources)}
        return
    for place, pair in enumerate(dialogue.pairs):
        predicted = pair.prediction or Exchange(dialogue_id=pair.reference.dialogue_id)
        before = [_said(earlier) for earlier in dialogue.pairs[:place]]
        yield (
            pair.unit,
            {
                **known,
                "history": "\n".join(before) or None,
                "user": pair.reference.user if pair.reference.user is not None else predicted.user,
                "response": predicted.response,
                "reference": pair.reference.response,
                "state": None if predicted.state is None else dict(predicted.state),
                "database": _found(pair, predicted, resources, normaliser),
                "policy": _policy([pair], resources),
            },
        )


def _said(pair: Pair, *, own: bool = False) -> str:
    """An exchange in two lines.

    What the user says next answers the annotated response, so that one stands in the history of an exchange, unless
    there is none; a dialogue that is judged as a whole shows what the system said (`own`).
    """
    texts = [None if side is None else side.response for side in (pair.reference, pair.prediction)]
    response = next((text for text in (reversed(texts) if own else texts) if text is not None), "(nothing)")
    return f"User: {pair.reference.user or '(nothing)'}\nSystem: {response}"


def _domains(pair: Pair) -> Sequence[str]:
    return tuple(dict.fromkeys([*reference_domains(pair.reference), *pair.predicted_domains]))


def _policy(pairs: Sequence[Pair], resources: Resources) -> str | None:
    """What the policy demands before a booking in the domains that are talked about."""
    domains = dict.fromkeys(domain for pair in pairs for domain in _domains(pair))
    rules = [
        f"Before anything is booked in the domain {domain}, these must be known: "
        + ", ".join(" or ".join(choice) for choice in resources.policy.required[domain])
        for domain in domains
        if domain in resources.policy.required
    ]
    return "\n".join(rules) or None


def _found(pair: Pair, predicted: Exchange, resources: Resources, normaliser: Normaliser) -> dict[str, Any] | None:
    """What the database has for the state that the system tracked, in each active domain."""
    database = resources.database
    if database is None or predicted.state is None:
        return None
    found: dict[str, Any] = {}
    for domain in _domains(pair):
        if domain not in database.domains:
            continue
        state = {
            slot: value for slot, value in predicted.state.items() if normaliser.slot(slot).startswith(f"{domain}-")
        }
        rows = database.find(domain, {slot.partition("-")[2] or slot: value for slot, value in state.items()})
        entities = [dict(entity) for row, entity in enumerate(database.entities(domain)) if rows >> row & 1]
        found[domain] = {"matches": len(entities), "first": entities[:MOST_ENTITIES]}
    return found or None
