"""What is checked of two sides before anything is measured: that they belong together and can be meant.

What has no partner is counted, with the names of the first few; what cannot be meant is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from turnwise.dialogue.booked import Booked
from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.pairing import Joined, Places
from turnwise.dialogue.placeholders import looks_delexicalised
from turnwise.dialogue.records import folded_id
from turnwise.dialogue.vocabulary import Names, check_words
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError, shorten

ALIASED_SHARE = 0.5
ALIASED_DIALOGUES = 3
"""So many dialogues must be there before a state that never changes is taken for a bug."""
RENUMBERED_EXCHANGES = 3
"""In dialogues of so many exchanges, as many on both sides but with other ids are taken for another numbering."""


@dataclass
class Checked:
    """What the checks found."""

    n_predicted: int = 0
    """Exchanges of the references with a prediction."""
    delexicalised: bool = True
    findings: list[Finding] = field(default_factory=list)


def check_sides(joined: Joined, booked: Booked | None, *, submitted_only: bool, allow_constant_state: bool) -> Checked:
    """Everything there is to check, in order."""
    checked = Checked()
    for side, dialogues in (("references", joined.references), ("predictions", joined.predictions)):
        checked.findings += [
            Finding("input", f"{side}: {note}", count) for note, count in dialogues.tally.notes.items()
        ]
    checked.findings += _ids(joined)
    _turns(joined, checked, "left out" if submitted_only else "counted as wrong")
    _content(joined.predictions)
    if booked is not None:
        checked.findings += _booked(joined.references, booked)
    checked.findings += check_words(joined)
    _responses(joined, checked)
    checked.findings += _aliasing(joined, allow_constant_state)
    return checked


def _content(predictions: Dialogues) -> None:
    """At least one prediction must predict something."""
    carried = {name for name, count in predictions.tally.fields.items() if count}
    if not carried - {"user", "booked", "goal"}:
        raise InputError(
            "there is nothing to measure: no predicted exchange predicts anything",
            where=str(predictions.path),
            found="exchanges without any of the fields below",
            expected="response, domain, intents, acts, state, requested or action",
            remedy="docs/dialogue.md describes the fields and the formats",
        )


def _booked(references: Dialogues, booked: Booked) -> Iterator[Finding]:
    """The booked domains must fit the references."""
    unknown = Names()
    for dialogue_id, exchanges in zip(references.ids(), references.facts.exchanges.tolist(), strict=True):
        found = booked.get(folded_id(dialogue_id))
        if found is None:
            unknown.add([dialogue_id])
        elif len(found) != exchanges:
            raise InputError(
                "the booked domains do not fit the dialogue",
                where=f"--booked-domains, dialogue {dialogue_id}",
                found=f"booked domains for {len(found)} exchanges",
                expected=f"{exchanges}: one list of domains for each exchange of the references",
                remedy="check that the file belongs to these references",
            )
    if unknown.count == len(references.facts):
        raise InputError(
            "the booked domains are for other dialogues",
            where="--booked-domains",
            found=f"dialogues like {Names(booked) if booked else 'none'}",
            expected=f"dialogues like {_like(references)}",
            remedy="check that the file belongs to these references",
        )
    if unknown.count:
        message = f"dialogues that --booked-domains does not have; the references' own are used: {unknown}"
        yield Finding("missing_bookings", message, unknown.count)


def _responses(joined: Joined, checked: Checked) -> None:
    """Responses in plain words where inform and success look for placeholders."""
    if joined.resources.database is None or not joined.references.tally.fields["goal"]:
        return
    first = None
    for exchanges in joined.predictions.at(joined.both[1].tolist()):
        for place, exchange in enumerate(exchanges):
            if exchange.response and looks_delexicalised(exchange.response):
                return
            if exchange.response and exchange.response.strip() and first is None:
                first = f"{exchange.dialogue_id}/{exchange.turn_id or place}: {shorten(exchange.response)}"
    if first is not None:
        checked.delexicalised = False
        message = (
            "the responses are not delexicalised: inform and success look for placeholders such as [hotel_name], "
            f"and are not measured; first in {first}"
        )
        checked.findings.append(Finding("lexicalised_responses", message))


def _ids(joined: Joined) -> Iterator[Finding]:
    """Dialogues without a partner, on either side."""
    known = np.zeros(len(joined.predictions.facts), dtype=bool)
    known[joined.both[1]] = True
    if not known.any():
        raise InputError(
            "no predicted dialogue is in the references",
            where=str(joined.predictions.path),
            found=_like(joined.predictions) or "no dialogue",
            expected=f"ids like {_like(joined.references)} ({joined.references.path})",
            remedy="check that the predictions belong to these references",
        )
    for side, alone, check, what in (
        (
            joined.predictions,
            np.flatnonzero(~known),
            "unknown_dialogues",
            "predicted dialogues that the references do not have, left out",
        ),
        (
            joined.references,
            np.flatnonzero(joined.predicted < 0),
            "missing_dialogues",
            "dialogues without a prediction",
        ),
    ):
        if len(alone):
            yield Finding(check, f"{what}: {_like(side, alone)}", len(alone))


def _turns(joined: Joined, checked: Checked, what: str) -> None:
    """Count exchanges without a partner, on either side."""
    ours, theirs = joined.both
    missing, extra, renumbered, first = _odd_exchanges(joined)
    if renumbered > len(ours) / 2:
        sides = (next(joined.references.at([first])), next(joined.predictions.at([int(joined.predicted[first])])))
        name = next(joined.references.ids([first]))
        known, given = (Names(f"{name}/{exchange.turn_id}" for exchange in side) for side in sides)
        raise InputError(
            f"{renumbered} of {len(theirs)} dialogues are numbered otherwise than the references",
            where=f"{joined.predictions.path}, e.g. dialogue {name}",
            found=str(given),
            expected=f"{known}: both sides have as many exchanges, but not the same ids",
            remedy="give them the turn_id of the references, or none: then their order counts",
        )
    checked.n_predicted = int(joined.references.facts.exchanges[ours].sum()) - missing.count
    if not checked.n_predicted:
        raise InputError(
            "no predicted exchange belongs to an exchange of the references",
            where=str(joined.predictions.path),
            found=f"exchanges like {extra if extra.count else 'none'}",
            expected=f"exchanges like {missing}",
            remedy="check the turn_id of the predictions",
        )
    if missing.count:
        message = f"exchanges of predicted dialogues without a prediction, {what}: {missing}"
        checked.findings.append(Finding("missing_exchanges", message, missing.count))
    if extra.count:
        message = f"predicted exchanges that the references do not have, left out: {extra}"
        checked.findings.append(Finding("extra_exchanges", message, extra.count))


def _odd_exchanges(joined: Joined) -> tuple[Names, Names, int, int]:
    """Exchanges that only one side has, and how many dialogues are numbered otherwise, with the first of them."""
    missing, extra = Names(), Names()
    renumbered, first = 0, -1
    ours, theirs = joined.both
    a, b = joined.references.facts, joined.predictions.facts
    lengths = a.exchanges[ours], b.exchanges[theirs]
    by_id = a.with_ids[ours] & b.with_ids[theirs]
    same = (lengths[0] == lengths[1]) & (~by_id | (a.turns[ours] == b.turns[theirs]))
    for at in np.flatnonzero(~same).tolist():
        place, n, m = int(ours[at]), int(lengths[0][at]), int(lengths[1][at])
        name = next(joined.references.ids([place]))
        if not by_id[at]:
            missing.add(f"{name}/{i}" for i in range(m, n))
            extra.add(f"{name}/{i}" for i in range(n, m))
            continue
        if n == m >= RENUMBERED_EXCHANGES:
            renumbered, first = renumbered + 1, first if renumbered else place
        known = [exchange.turn_id for exchange in next(joined.references.at([place]))]
        given = [exchange.turn_id for exchange in next(joined.predictions.at([int(theirs[at])]))]
        missing.add(f"{name}/{turn}" for turn in known if turn not in given)
        extra.add(f"{name}/{turn}" for turn in given if turn not in known)
    return missing, extra, renumbered, first


def _aliasing(joined: Joined, allowed: bool) -> Iterator[Finding]:
    """A predicted state that never changes, where the reference's does: usually one object kept for all turns."""
    ours, theirs = joined.both
    predicted = joined.predictions.facts
    looked_at = theirs[(predicted.several_states & ~predicted.empty)[theirs] & ~joined.references.facts.constant[ours]]
    constant = looked_at[predicted.constant[looked_at]]
    if not len(constant) or len(constant) <= ALIASED_SHARE * len(looked_at):
        return
    message = (
        f"the predicted state is the same in every exchange of {len(constant)} of {len(looked_at)} dialogues "
        f"whose reference state changes"
    )
    if len(looked_at) < ALIASED_DIALOGUES or allowed:
        yield Finding("constant_state", f"{message}: {_like(joined.predictions, constant)}", len(constant))
        return
    raise InputError(
        message,
        where=f"{joined.predictions.path}, e.g. dialogue {next(joined.predictions.ids([int(constant[0])]))}",
        expected="the state as it was after each exchange",
        remedy="most likely one state object was stored for all turns: copy it per turn when writing. "
        "If the system really is like that: --allow-constant-state",
    )


def _like(side: Dialogues, places: Places | None = None, most: int = 3) -> str:
    """The ids of the first few of some dialogues, or of all, and how many more there are."""
    n = len(side.facts) if places is None else len(places)
    first = range(min(n, most)) if places is None else places[:most].tolist()
    return ", ".join(side.ids(first)) + (f" and {n - most} more" if n > most else "")
