"""Memory transfer: when the conversation moves on to another domain, is what the user meant to keep kept?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from turnwise.dialogue.batch import MISSING, ExchangeBatch
from turnwise.dialogue.metrics import ROOM
from turnwise.dialogue.normalise import DONTCARE
from turnwise.dialogue.records import DIALOGUE, Dialogue, Pair, reference_domains
from turnwise.kernel.metric import SPEC, Metric, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import MACRO_FIRST, Rollup, pool
from turnwise.kernel.score import Measurement, Parts, Unit, measured, not_applicable, skipped


class Switch(NamedTuple):
    """A stretch of exchanges about one domain, after one about another."""

    before: str
    domain: str
    first: int
    last: int
    """Places of its first and last exchange."""


class MemoryTransfer(Metric):
    """Transfers that happened / transfers that should have, per dialogue."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="memory_transfer",
        version=1,
        question="When the domain changes, is what the user meant to keep carried over?",
        unit=DIALOGUE,
        outputs=(
            Output(
                statistics=("transferred", "opportunities"),
                range=(0.0, 1.0),
                rollups=(MACRO_FIRST, Rollup("micro", (pool(),))),
            ),
        ),
        needs=("prediction.state",),
        parameters=(
            Parameter(
                "opportunity",
                "repeated",
                "what should carry over: a value that the reference repeats in the new domain, or (to the letter) "
                "every transferable value that the system holds",
                choices=("repeated", "held"),
                by_profile={SPEC: "held"},
            ),
        ),
        context=("missing", "normaliser", "transferable"),
        part="domain",
        components=("memory", "triage"),
        source="MAS4CS evaluation choices, metric 7",
    )

    def measure(self, batch: ExchangeBatch) -> Iterable[tuple[Unit, str, Measurement]]:
        """One number per dialogue that changes its domain."""
        held = self.settings.values["opportunity"] == "held"
        for dialogue in batch.dialogues:
            yield dialogue.unit, "value", _measured(dialogue, batch, held)


def _measured(dialogue: Dialogue, batch: ExchangeBatch, held: bool) -> Measurement:
    if batch.submitted_only and all(pair.prediction is None for pair in dialogue.pairs):
        return skipped(MISSING)
    if all(pair.reference.state is None for pair in dialogue.pairs) and not held:
        return skipped("no reference state")
    switches = list(_switches(dialogue.pairs))
    if not switches:
        return not_applicable("no change of domain")
    if batch.submitted_only:
        looked_at = [switch.first if held else switch.last for switch in switches]
        switches = [s for s, at in zip(switches, looked_at, strict=True) if dialogue.pairs[at].prediction is not None]
    find = _held if held else _repeated
    events = [event for switch in switches for event in find(dialogue.pairs, switch, batch)]
    if not events:
        return not_applicable("nothing to carry over")
    kept = [float(event.pop("kept")) for event in events]
    wrong = [event for event, right in zip(events, kept, strict=True) if not right]
    domains = list(dict.fromkeys(event["slot"].partition("-")[0] for event in events))
    of = [domains.index(event["slot"].partition("-")[0]) for event in events]
    sums = [[0.0] * len(domains), [0.0] * len(domains)]
    for place, right in zip(of, kept, strict=True):
        sums[0][place] += right
        sums[1][place] += 1
    return measured((sum(kept), len(kept)), evidence=wrong or None, parts=Parts(domains, sums))


def _switches(pairs: Sequence[Pair]) -> Iterator[Switch]:
    """The stretches of one main domain after the first; an exchange without a domain belongs to the one before."""
    stretches: list[tuple[str, int, int]] = []
    for place, pair in enumerate(pairs):
        domains = reference_domains(pair.reference)
        if stretches and (not domains or domains[0] == stretches[-1][0]):
            stretches[-1] = (stretches[-1][0], stretches[-1][1], place)
        elif domains:
            stretches.append((domains[0], place, place))
    for (before, *_), (domain, first, last) in pairwise(stretches):
        yield Switch(before, domain, first, last)


def _repeated(pairs: Sequence[Pair], switch: Switch, batch: ExchangeBatch) -> Iterator[dict[str, Any]]:
    """Values that some earlier domain had, and that the reference gives the new one while it is spoken about."""
    earlier = batch.normaliser.state(pairs[switch.first - 1].reference.state)
    wanted = batch.normaliser.state(pairs[switch.last].reference.state)
    made = pairs[switch.last].prediction
    found = batch.normaliser.state(made.state if made is not None else None)
    for name in batch.resources.transfer.slots:
        slot = f"{switch.domain}-{name}"
        values = set(wanted.get(slot, ())) - {DONTCARE}
        source = next((other for other in _same_slot(earlier, name, slot) if values & set(earlier[other])), None)
        if slot in earlier or source is None:
            continue  # it was known before, or is not taken from anywhere
        given = found.get(slot, ())
        yield {
            "exchange": pairs[switch.last].unit.id,
            "from": source,
            "slot": slot,
            "expected": sorted(values),
            "found": list(given),
            "kept": bool(given) and set(given) <= set(wanted[slot]),
        }


def _held(pairs: Sequence[Pair], switch: Switch, batch: ExchangeBatch) -> Iterator[dict[str, Any]]:
    """Every transferable value that the system holds for the domain before, whether the user wants it again or not."""
    before, now = (pairs[place].prediction for place in (switch.first - 1, switch.first))
    held = batch.normaliser.state(before.state if before is not None else None)
    found = batch.normaliser.state(now.state if now is not None else None)
    for name in batch.resources.transfer.slots:
        source, slot = f"{switch.before}-{name}", f"{switch.domain}-{name}"
        if source in held:
            yield {
                "exchange": pairs[switch.first].unit.id,
                "from": source,
                "slot": slot,
                "expected": list(held[source]),
                "found": list(found.get(slot, ())),
                "kept": found.get(slot) == held[source],
            }


def _same_slot(state: dict[str, tuple[str, ...]], name: str, slot: str) -> list[str]:
    """The same slot of other domains."""
    return [other for other in state if other != slot and other.partition("-")[2] == name]
