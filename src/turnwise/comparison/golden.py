"""Golden examples: items of a run that scored high, that people confirmed, and that are not all alike.

They are written as JSON lines of plain fields (`input`, `output`, `history`), as DSPy and others read examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel
from sqlalchemy import select

from turnwise.comparison.joint import item_values
from turnwise.comparison.selectors import Chosen
from turnwise.comparison.sides import Name, Side, make_side
from turnwise.comparison.value import find_output
from turnwise.kernel.errors import UsageError
from turnwise.kernel.jsontext import loads
from turnwise.kernel.metric import Direction
from turnwise.kernel.rollup import MEAN
from turnwise.kernel.score import Source, Status
from turnwise.report.series import Series, group_rows
from turnwise.store import schema
from turnwise.store.reading import stream_items
from turnwise.store.run import Run
from turnwise.store.store import Store

INPUTS = ("query", "user", "source", "source_text")
OUTPUTS = ("response", "hypothesis", "prediction", "text")
"""Fields that rooms keep texts in, the first one that is there; of a record with two sides, the prediction's."""
IN_ORDER = ("exchange", "turn")
"""Kinds whose items of a cluster follow each other, so that the earlier ones are the history of the later."""
BEST = 0.25
"""The share of items, the best ones, that examples are chosen from."""
CONFIRMED, REFUSED = 0.75, 0.5
"""People's mean rating on its scale from 0 to 1: from here on an item is confirmed (4 on a scale of 1 to 5), below here
it is no example, whatever code says."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that could be an example."""

    number: int
    item: str
    kind: str
    input: str
    output: str
    history: tuple[Mapping[str, str], ...]
    dimensions: Mapping[str, str]
    score: float
    human: float | None
    """What people said, from 0 to 1."""

    @property
    def confirmed(self) -> bool:
        """Whether people called it good."""
        return self.human is not None and self.human >= CONFIRMED

    def as_json(self, run: Run, metric: str) -> dict[str, Any]:
        """One line of the file."""
        about = {"run": run.id, "item": self.item, "kind": self.kind, "metric": metric, "score": self.score}
        about |= {"human": self.human, "confirmed": self.confirmed, "dimensions": dict(self.dimensions)}
        return {"history": list(self.history), "input": self.input, "output": self.output, "turnwise": about}


@dataclass(frozen=True, slots=True)
class Golden:
    """The examples that were chosen."""

    run: Run
    metric: str
    examples: tuple[Candidate, ...]
    notes: tuple[str, ...]

    def lines(self) -> Iterator[dict[str, Any]]:
        """The file, line by line."""
        for example in self.examples:
            yield example.as_json(self.run, self.metric)


@dataclass(frozen=True, slots=True)
class Scores:
    """What items are chosen by."""

    label: str
    by_place: Mapping[int, float]
    lower_is_better: bool = False

    def gain(self, one: Candidate) -> float:
        """More is better."""
        return -one.score if self.lower_is_better else one.score


def golden_examples(store: Store, run: Run, wanted: int, metric: str | None = None) -> Golden:
    """Choose examples; an error where the items hold no text, or the metric does not score them."""
    if wanted < 1:
        raise UsageError("--golden: no example is asked for", found=str(wanted), expected="1 or more")
    side = make_side([Chosen(store, run)], run.id)
    scores = _overall(side) if metric is None else _of_metric(side, metric)
    found = list(_candidates(store, run, side, scores))
    if not found:
        kinds = sorted({side.universe.names[place][0] for place in scores.by_place})
        raise UsageError(
            f"run {run.id} has no texts to make examples of",
            found=f"{scores.label}: scores of {' and '.join(kinds) or 'nothing'}, without what was said and answered",
            expected=f"items with one of {', '.join(INPUTS)} and one of {', '.join(OUTPUTS)}",
            remedy="choose a metric of items with texts: --metric NAME",
        )
    kept = [one for one in found if one.human is None or one.human >= REFUSED]
    pool, twins = _pool(kept, wanted, scores)
    chosen = _diverse(pool, wanted, scores)
    notes = [f"{len(found)} items with texts and a score by {scores.label}"]
    notes += [f"{len(found) - len(kept)} left out, for people rated them low"] if len(kept) < len(found) else []
    notes += [f"{twins} left out, for another says the same"] if twins else []
    notes += [f"only {len(chosen)} of {wanted} found"] if len(chosen) < wanted else []
    notes += [f"{sum(one.confirmed for one in chosen)} of {len(chosen)} confirmed by people"]
    return Golden(run, scores.label, tuple(chosen), tuple(notes))


def _of_metric(side: Side, metric: str) -> Scores:
    """The scores of a named metric."""
    text, _, output = metric.partition(".")
    name, found = find_output(side, text, output or None)
    node = side.node(name)
    if not isinstance(node, Series):
        what = "is a number of the whole data set" if node is not None else "has no score"
        raise UsageError(f"--metric {metric}: it {what}, so no item can be chosen by it")
    return Scores(_label(name), _values(side, node), found.direction is Direction.LOWER)


def _overall(side: Side) -> Scores:
    """The last metric that is made of others item by item (an overall quality); else a mean over all that have a scale.

    The place of a value on its scale goes from 0, the worst, to 1, the best.
    """
    selection = side.selections[-1]
    for derived, _ in reversed(selection.derived):
        node = side.node((derived.spec.name, derived.output.name))
        if isinstance(node, Series) and (node.columns.reasons.codes < 0).any():
            return Scores(derived.spec.name, _values(side, node), derived.output.direction is Direction.LOWER)
    places: dict[int, list[float]] = {}
    used = 0
    for name, output in side.outputs().items():
        low, high = output.range
        node = side.node(name)
        if low is None or high is None or output.direction is Direction.NEITHER or not isinstance(node, Series):
            continue
        used += 1
        for place, value in _values(side, node).items():
            share = (value - low) / (high - low)
            places.setdefault(place, []).append(1 - share if output.direction is Direction.LOWER else share)
    means = {place: sum(shares) / len(shares) for place, shares in places.items()}
    return Scores(f"the mean of {used} metrics on their scales", means)


def _values(side: Side, series: Series) -> dict[int, float]:
    """By item; of labels none."""
    rows = group_rows(series, side.items, ()).rows
    items, values = item_values(rows, MEAN)
    return dict(zip(items.tolist(), values.tolist(), strict=True))


def _label(name: Name) -> str:
    return name[0] if name[1] == "value" else f"{name[0]}.{name[1]}"


def _candidates(store: Store, run: Run, side: Side, chosen: Scores) -> Iterator[Candidate]:
    """Every scored item with texts, in the order of the data."""
    numbers = side.parts[0].numbers
    scores = {int(numbers[place]): value for place, value in chosen.by_place.items()}
    human = _ratings(side)
    for kind in dict.fromkeys(side.universe.names[place][0] for place in chosen.by_place):
        said: dict[str, list[dict[str, str]]] = {}
        for row in stream_items(store, run, kind):
            texts = _texts(row)
            if texts is None:
                continue
            before = said.setdefault(row["cluster"], []) if kind in IN_ORDER else []
            if row["number"] in scores:
                about = loads(row["dimensions"])
                rated = human.get(row["number"])
                score = scores[row["number"]]
                yield Candidate(row["number"], row["id"], kind, *texts[:2], tuple(before), about, score, rated)
            before.append({"input": texts[0], "output": texts[2]})


def _texts(row: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """What was said to the system, what it said, and what the conversation went on with: the reference, if any."""
    content = loads(row["content"]) if row["content"] else None
    if not isinstance(content, dict):
        return None
    asked, answered = ({**content, **_part(content, side)} for side in ("reference", "prediction"))
    given = next((asked[name] for name in INPUTS if _is_text(asked.get(name))), None)
    made = next((answered[name] for name in OUTPUTS if _is_text(answered.get(name))), None)
    if given is None or made is None:
        return None
    heard = next((asked[name] for name in OUTPUTS if "reference" in content and _is_text(asked.get(name))), made)
    return given.strip(), made.strip(), heard.strip()


def _part(content: Mapping[str, Any], side: str) -> Mapping[str, Any]:
    found = content.get(side)
    return found if isinstance(found, dict) else {}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _ratings(side: Side) -> dict[int, float]:
    """What people said about items, by number, as the mean place on the scales of the metrics they rated."""
    chosen = side.parts[0].chosen
    ranges = {name[0]: output.range for name, output in side.outputs().items()}
    metrics = {m.number: m.name.partition("/")[2] for m in chosen.store.metrics(chosen.run)}
    table = schema.scores
    query = select(table.c.metric, table.c.item, table.c.value).where(
        table.c.run == chosen.run.key,
        table.c.source == Source.HUMAN.value,
        table.c.status == Status.SCORED.value,
        table.c.variant == "",
    )
    found: dict[int, list[float]] = {}
    with chosen.store.reading() as connection:
        for metric, item, value in connection.execute(query):
            low, high = ranges.get(metrics.get(metric, ""), (None, None))
            if low is not None and high is not None and high > low and value is not None:
                found.setdefault(item, []).append((value - low) / (high - low))
    return {item: sum(values) / len(values) for item, values in found.items()}


def _pool(found: Sequence[Candidate], wanted: int, scores: Scores) -> tuple[list[Candidate], int]:
    """The best quarter, at least as many as are asked for (with equals of the last one), none below the median of all.

    Of those that say the same, one; how many were left out for that comes with it.
    """
    seen: dict[tuple[str, str], Candidate] = {}
    for one in sorted(found, key=lambda one: _rank(one, scores)):
        seen.setdefault((one.input, one.output), one)
    alone = list(seen.values())
    gains = sorted((scores.gain(one) for one in alone), reverse=True)
    last = gains[min(len(gains), max(wanted, ceil(BEST * len(gains)))) - 1] if gains else 0.0
    least = max(last, float(np.median(gains))) if gains else 0.0
    return [one for one in alone if scores.gain(one) >= least], len(found) - len(alone)


def _diverse(pool: Sequence[Candidate], wanted: int, scores: Scores) -> list[Candidate]:
    """Confirmed ones first; among these (then among the others) always the one that is least like those chosen."""
    chosen: list[Candidate] = []
    for confirmed in (True, False):
        left = sorted((one for one in pool if one.confirmed is confirmed), key=lambda one: _rank(one, scores))
        nearest = np.array([min((_distance(one, other) for other in chosen), default=2.0) for one in left])
        while left and len(chosen) < wanted:
            at = int(nearest.argmax())  # the first of several: the better one
            taken = left.pop(at)
            chosen.append(taken)
            nearest = np.minimum(np.delete(nearest, at), [_distance(one, taken) for one in left])
    return chosen


def _rank(one: Candidate, scores: Scores) -> tuple[bool, float, float, int]:
    """Confirmed, then high-scoring, then as in the data."""
    return not one.confirmed, -scores.gain(one), -(one.human or 0.0), one.number


def _distance(a: Candidate, b: Candidate) -> float:
    """How unlike two examples are: 0 the same, 1 nothing in common, by the letters of question and answer."""
    first, second = (f"{one.input}\n{one.output}".lower() for one in (a, b))
    return float(Indel.normalized_distance(first, second))
