"""One line of a comparison: both values, their difference and all that says how much of it to believe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from turnwise.comparison.differences import Found
from turnwise.comparison.joint import item_values
from turnwise.comparison.leaves import By, Slice
from turnwise.comparison.sides import Side
from turnwise.comparison.universe import Universe
from turnwise.comparison.verdicts import Verdict, judge, sentence
from turnwise.kernel.metric import Direction, Output
from turnwise.kernel.rollup import ITEM, Rollup
from turnwise.stats.difference import Difference
from turnwise.stats.paired import wins_ties_losses
from turnwise.stats.power import ALPHA, Components, Needed, difference_components, minimum_detectable_effect, needed

MOST_FLIPS = 10
LEAST_PAIRS = 6
"""Of five clusters all signs are the same in 2 of 32 patterns, which is more than 5 %; of six, in 2 of 64."""


@dataclass(frozen=True, slots=True)
class Flip:
    """An item on which A and B differ."""

    item: str
    kind: str
    a: float | str
    """Its value in A, or its label."""
    b: float | str


@dataclass(frozen=True, slots=True)
class Outcomes:
    """On how many items B did better, as well, and worse; where neither way is better: higher, the same, lower."""

    wins: int
    ties: int
    losses: int
    lost: tuple[Flip, ...]
    """The worst first."""
    won: tuple[Flip, ...]
    """The largest gain first."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One metric, output, roll-up and slice."""

    metric: str
    output: Output
    rollup: Rollup
    group: dict[str, str]
    found: Found
    outcomes: Outcomes | None
    detectable: float | None
    """The smallest difference that would have been found with a chance of 80 %."""
    needed: Needed
    repeats: Components | None
    cluster: str
    signatures: tuple[str, ...]
    p: float | None = None
    """After Holm's correction."""
    tests: int = 1
    """How many it was corrected for."""

    @property
    def difference(self) -> Difference:
        """B minus A."""
        return self.found.difference

    @property
    def label(self) -> str:
        """`metric`, `metric.output`, with the roll-up where it is not the primary one."""
        name = self.metric if self.output.name == "value" else f"{self.metric}.{self.output.name}"
        return name if self.rollup.name == self.output.primary.name else f"{name} {self.rollup.name}"

    @property
    def verdict(self) -> Verdict:
        """What can be said."""
        return judge(self.difference, self.p, self.output.direction)

    @property
    def sentence(self) -> str:
        """The same for people."""
        said = sentence(self.verdict, self.difference, self.p, self.needed, self.cluster, self.tests)
        why = next(iter(self.found.pairing.why_neither), "") if self.difference.difference is None else ""
        return f"{said} ({why})" if why and not self.group else said

    @property
    def gain(self) -> float:
        """The difference, counted so that more is better for B; NaN where there is none."""
        gap = self.difference.difference
        sign = -1.0 if self.output.direction is Direction.LOWER else 1.0
        return float("nan") if gap is None else sign * gap

    def corrected(self, p: float | None, tests: int) -> Compared:
        """With the p-value after the correction for so many tests."""
        return replace(self, p=p, tests=tests)

    def as_json(self) -> dict[str, Any]:
        """The published shape (docs/comparing.md)."""
        gap, pairing = self.difference, self.found.pairing
        cut = self.found.slice
        whole = not self.group
        return {
            "metric": self.metric,
            "output": self.output.name,
            "rollup": self.rollup.name,
            "primary": self.rollup.name == self.output.primary.name,
            "group": self.group,
            "direction": self.output.direction.value,
            "paired": gap.paired,
            "a": gap.a,
            "b": gap.b,
            "difference": gap.difference,
            "low": gap.interval.low,
            "high": gap.interval.high,
            "interval": gap.interval.method,
            "p": gap.test.p,
            "p_holm": self.p,
            "tests": self.tests,
            "test": gap.test.method,
            "smallest_p": gap.test.smallest,
            "n_paired": self.found.n_paired,
            "n_a": self.found.n_a,
            "n_b": self.found.n_b,
            "n_only_a": pairing.n_only_a if whole else cut.n_only_a if cut else 0,
            "n_only_b": pairing.n_only_b if whole else cut.n_only_b if cut else 0,
            "why_only_a": pairing.why_only_a if whole else {},
            "why_only_b": pairing.why_only_b if whole else {},
            "n_neither": pairing.n_neither if whole else None,
            "why_neither": pairing.why_neither if whole else {},
            "clusters_a": gap.clusters[0],
            "clusters_b": gap.clusters[1],
            **_outcomes_json(self.outcomes),
            "detectable": self.detectable,
            "needed": {
                "clusters": self.needed.clusters,
                "more_clusters": self.needed.more_clusters,
                "more_items": self.needed.more_items,
                "reason": self.needed.reason,
            },
            "repeats": _repeats_json(self.repeats),
            "verdict": self.verdict.value,
            "sentence": self.sentence,
            "signatures": list(self.signatures),
        }


def make_compared(
    name: tuple[str, str], output: Output, rollup: Rollup, by: By, found: Found, sides: tuple[Side, Side], cluster: str
) -> Compared:
    """All that is said about one difference."""
    gap, cut = found.difference, found.slice
    counted = cut is not None and gap.paired
    clusters = gap.clusters[0] if gap.paired else sum(gap.clusters)
    items = found.n_a if gap.paired else found.n_a + found.n_b
    signatures = dict.fromkeys(sign for side in sides for sign in side.signatures(name[0]))
    return Compared(
        name[0],
        output,
        rollup,
        dict(zip(by, found.key, strict=True)),
        found,
        _outcomes(cut, rollup, output, sides[0].universe) if counted and cut else None,
        None if _too_few(gap) else minimum_detectable_effect(gap.error, gap.df),
        _at_least(needed(gap.difference, gap.error, gap.df, clusters, items), gap, items),
        _components(cut) if counted and cut and cut.repeated else None,
        cluster,
        tuple(signatures),
        gap.test.p,
    )


def _too_few(gap: Difference) -> bool:
    """Whether so few clusters could not have shown any difference, however large."""
    if gap.paired:
        return gap.clusters[0] < LEAST_PAIRS
    return gap.test.smallest is not None and gap.test.smallest > ALPHA


def _at_least(found: Needed, gap: Difference, items: int) -> Needed:
    """By its error, a difference may need fewer clusters than sign flips need to show anything at all."""
    clusters = gap.clusters[0]
    if not gap.paired or found.clusters is None or found.clusters >= LEAST_PAIRS or clusters >= LEAST_PAIRS:
        return found
    more = LEAST_PAIRS - clusters
    return Needed(LEAST_PAIRS, more, ceil(more * items / clusters))


def _outcomes(cut: Slice, rollup: Rollup, output: Output, universe: Universe, most: int = MOST_FLIPS) -> Outcomes:
    (first, a), (second, b) = (item_values(rows, rollup) for rows in (cut.a, cut.b))
    shared, own, other = np.intersect1d(first, second, return_indices=True)
    higher = output.direction is not Direction.LOWER
    found = wins_ties_losses(a[own], b[other], higher_is_better=higher)
    labels = [_labels(rows) for rows in (cut.a, cut.b)]

    def flip(at: int) -> Flip:
        place = int(shared[at])
        kind, item, _ = universe.names[place]
        values: list[float | str] = [float(a[own[at]]), float(b[other[at]])]
        sides = [known.get(place, value) for known, value in zip(labels, values, strict=True)]
        return Flip(item, kind, sides[0], sides[1])

    lost, won = (tuple(flip(at) for at in places[:most]) for places in (found.lost, found.won))
    return Outcomes(found.wins, found.ties, found.losses, lost, won)


def _labels(rows: Any) -> dict[int, str]:
    if rows.labels is None:
        return {}
    known = zip(rows.keys[ITEM].tolist(), rows.labels, strict=True)
    return {place: label for place, label in known if label is not None}


def _components(cut: Slice) -> Components | None:
    """The variance between items apart from that between repeats, where there are repeats."""
    sides = [(rows.values, rows.keys[ITEM]) for rows in (cut.a, cut.b)]
    if any(np.isnan(values).any() or not len(values) for values, _ in sides):
        return None
    return difference_components(*sides[0], *sides[1])


def _outcomes_json(found: Outcomes | None) -> dict[str, Any]:
    if found is None:
        return {"wins": None, "ties": None, "losses": None, "lost": [], "won": []}
    return {
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "lost": [_flip_json(flip) for flip in found.lost],
        "won": [_flip_json(flip) for flip in found.won],
    }


def _flip_json(flip: Flip) -> dict[str, Any]:
    return {"item": flip.item, "kind": flip.kind, "a": flip.a, "b": flip.b}


def _repeats_json(found: Components | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "items": found.items,
        "repeats": found.repeats,
        "variance_between_items": found.between,
        "variance_between_repeats": found.within,
        "share_of_repeats": found.share_of_repeats,
        "reason": found.reason,
    }


def worst_first(rows: Sequence[Compared]) -> list[Compared]:
    """From the worst for B to the best; those without a difference last."""
    return sorted(rows, key=lambda row: (np.isnan(row.gain), row.gain if not np.isnan(row.gain) else 0.0))
