"""The files of one category and language: its averages, and the labels, intervals and counts they come from."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from turnwise.duplex.cases import (
    DELAY,
    FACT_OF,
    LABEL_OF,
    NO_INTERVAL,
    NO_OUTPUT,
    NO_SAMPLE,
    REJECT,
    RESP,
    STOP,
    Case,
    Fact,
    filed_case,
)
from turnwise.duplex.categories import LABELS, Category, Measured
from turnwise.duplex.experiment import (
    ALL,
    DELAYS,
    INTERVALS,
    REJECTS,
    TAGS,
    Experiment,
    Unusable,
    count,
    number,
    place,
    places,
    read_object,
)
from turnwise.duplex.records import LATEST
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import near_misses
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.kernel.rollup import round_half_up

AVERAGE_STOP, AVERAGE_RESP, AVERAGE_DELAY = "avg_latency_stop", "avg_latency_resp", "avg_first_time_delay"
SHARE_DIGITS = 2
"""Shares of labels are published with two digits."""
MOST_OUTPUTS = 20_000
"""Counted outputs that are told apart; beyond them only their share is kept."""
SAME = 1e-9
"""Stored and computed values that differ by less are the same."""


def fields(category: Category) -> tuple[str, ...]:
    """The fields of a category's `_all.json`."""
    latencies = (AVERAGE_STOP, AVERAGE_RESP) if category.interrupts else ()
    return (*latencies, AVERAGE_DELAY, category.measured.value)


@dataclass(frozen=True, slots=True)
class Averages:
    """What an `_all.json` says, and of how many conversations the delay is the mean, where that is known."""

    values: dict[str, float]
    delays: int | None = None

    def case(self, language: str, category: Category, stored: bool) -> Case:
        """As one case; an average of nothing has n = 0."""
        facts = {FACT_OF[category.measured]: Fact(self.values[category.measured.value])}
        delay = self.values[AVERAGE_DELAY]
        none = self.delays == 0 or (self.delays is None and delay == 0)
        facts[DELAY] = Fact(0.0, 0, NO_SAMPLE) if none else Fact(delay)
        if category.interrupts:
            for fact, name in ((STOP, AVERAGE_STOP), (RESP, AVERAGE_RESP)):
                value = self.values[name]
                facts[fact] = Fact(value) if value else Fact(0.0, 0, NO_INTERVAL)
        about = {"file": f"{category.name}{ALL}", **self.values, "from": "the file" if stored else "what lies under it"}
        return filed_case(place(language, category), language, category, facts, content=about)


def read_averages(experiment: Experiment, language: str, category: Category) -> Averages | None:
    """The `_all.json` of a folder; None where it cannot be used."""
    found = experiment.read(language, category, ALL, lambda content: _averages(content, category))
    if found is None:
        return None
    delays = None
    if experiment.has(language, category, DELAYS):
        stated = experiment.read(language, category, DELAYS, _delays)
        if stated is None:
            return None
        delays = stated[1]
    return Averages(found, delays)


def _averages(content: bytes, category: Category) -> dict[str, float]:
    holder = read_object(content)
    return {name: number(holder, name, 1.0 if name == category.measured.value else None) for name in fields(category)}


def _delays(content: bytes) -> tuple[float, int]:
    holder = read_object(content)
    return number(holder, AVERAGE_DELAY), count(holder, "num_samples")


# What lies under it


class Intervals(NamedTuple):
    """The intervals of one conversation: seconds and how many, of stopping and of answering."""

    key: str
    stop: float
    stops: int
    resp: float
    resps: int


@dataclass(frozen=True, slots=True)
class Under:
    """What lies under an `_all.json`; None where the category has no such file."""

    delay: tuple[float, int]
    labels: list[tuple[str, tuple[str, ...]]] | None = None
    intervals: list[Intervals] | None = None
    averages: dict[str, float] | None = None
    """As stored beside the intervals."""
    rejects: tuple[int, int] | None = None
    """Rejected, of so many outputs with words."""
    ratio: float | None = None

    def latency(self, stop: bool) -> float | None:
        """The mean length of all intervals; None where there is none."""
        found = self.intervals or []
        total = sum(one.stop if stop else one.resp for one in found)
        n = sum(one.stops if stop else one.resps for one in found)
        return total / n if n else None

    def share(self, label: str) -> float:
        """Of all labels those that are `label`."""
        given = [one for _, labels in self.labels or [] for one in labels]
        return given.count(label) / len(given)

    def computed(self, category: Category, *, rounded: bool) -> Averages:
        """The `_all.json` that follows; `rounded` as it is published."""
        values: dict[str, float] = {}
        if category.interrupts:
            values[AVERAGE_STOP] = self.latency(stop=True) or 0.0
            values[AVERAGE_RESP] = self.latency(stop=False) or 0.0
        values[AVERAGE_DELAY] = self.delay[0]
        if self.rejects is not None:
            values[Measured.REJECT.value] = self.rejects[0] / self.rejects[1] if self.rejects[1] else 0.0
        else:
            share = self.share(LABEL_OF[category.measured])
            values[category.measured.value] = round_half_up(share, SHARE_DIGITS) if rounded else share
        return Averages(values, self.delay[1])

    def cases(self, language: str, category: Category) -> list[Case]:
        """One case for each label, each conversation with intervals, each counted output, and one for the delay.

        The files spell their keys differently, so what is known of one conversation stays apart.
        """
        where = place(language, category)
        found: list[Case] = []
        label = LABEL_OF.get(category.measured)
        for name, (key, labels) in _numbered(self.labels or []):
            said = {"labels": list(labels), "file": f"{category.name}{TAGS}", "key": key}
            fact = {FACT_OF[category.measured]: Fact(float(labels.count(label or "")), len(labels))}
            found.append(filed_case(f"{where}/labels/{name}", language, category, fact, labels, said))
        for name, one in _numbered(self.intervals or []) if category.interrupts else ():
            fact = {
                STOP: Fact(one.stop, one.stops, "" if one.stops else NO_INTERVAL),
                RESP: Fact(one.resp, one.resps, "" if one.resps else NO_INTERVAL),
            }
            said = {**one._asdict(), "file": f"{category.name}{INTERVALS}"}
            found.append(filed_case(f"{where}/intervals/{name}", language, category, fact, content=said))
        if self.rejects is not None:
            ahead, total = self.rejects
            said = {"file": REJECTS, "ahead": ahead, "total": total, "note": "which outputs were rejected is not told"}
            if not 0 < total <= MOST_OUTPUTS:
                share = Fact(float(ahead), total, "" if total else NO_OUTPUT)
                found.append(filed_case(f"{where}/outputs", language, category, {REJECT: share}, content=said))
            for n in range(total if total <= MOST_OUTPUTS else 0):
                fact = {REJECT: Fact(float(n < ahead))}
                found.append(filed_case(f"{where}/outputs/{n + 1}", language, category, fact, content=said))
        delay, n = self.delay
        fact = {DELAY: Fact(delay) if n else Fact(0.0, 0, NO_SAMPLE)}
        said = {"file": f"{category.name}{DELAYS}", AVERAGE_DELAY: delay, "num_samples": n}
        return [*found, filed_case(f"{where}/delay", language, category, fact, content=said)]


def _numbered(rows: list[Any]) -> list[tuple[str, Any]]:
    """Rows by their key; a key that comes again gets a number."""
    taken = {row[0] for row in rows}
    seen: set[str] = set()
    named = []
    for row in rows:
        name = row[0]
        number = 1
        while name in seen or (number > 1 and name in taken):
            number += 1
            name = f"{row[0]}#{number}"
        seen.add(name)
        named.append((name, row))
    return named


def read_under(experiment: Experiment, language: str, category: Category) -> Under | None:
    """What lies under the `_all.json` of a folder; None where some of it cannot be used."""
    read = experiment.read
    delay = read(language, category, DELAYS, _delays)
    labels = intervals = rejects = None
    if category.measured is Measured.REJECT:
        rejects = read(language, category, REJECTS, _rejects)
    else:
        labels = read(language, category, TAGS, _labels)
    if category.interrupts or experiment.has(language, category, INTERVALS):
        intervals = read(language, category, INTERVALS, read_intervals)
        if intervals is None:
            return None
    if delay is None or (labels is None and rejects is None):
        return None
    return Under(
        delay,
        labels,
        None if intervals is None else intervals[0],
        None if intervals is None else intervals[1],
        None if rejects is None else rejects[:2],
        None if rejects is None else rejects[2],
    )


def _rejects(content: bytes) -> tuple[int, int, float | None]:
    holder = read_object(content)
    ahead, total = count(holder, "ahead"), count(holder, "total")
    if ahead > total:
        raise Unusable(f"ahead {ahead} of total {total}; expected a part of it")
    return ahead, total, number(holder, "ratio", 1.0) if "ratio" in holder else None


def _labels(content: bytes) -> list[tuple[str, tuple[str, ...]]]:
    found = []
    for line_number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = loads(line)
        except JSONDecodeError as error:
            raise Unusable(f"line {line_number}: no JSON: {error}") from error
        found.append(_label(row, line_number))
    if not found:
        raise Unusable("no label in it")
    return found


def _label(row: Any, line_number: int) -> tuple[str, tuple[str, ...]]:
    given = row.get("behaviour", row.get("behavior")) if isinstance(row, dict) else None
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, list) or not given:
        raise Unusable(f'line {line_number}: found {row!r:.80}; expected {{"key": ..., "behaviour": ["C_RESPOND"]}}')
    for label in given:
        if label not in LABELS:
            hint = near_misses(str(label), LABELS)
            raise Unusable(f"line {line_number}: label {label!r}; expected {', '.join(LABELS)}. {hint}".rstrip(" ."))
    return str(row.get("key", line_number)), tuple(given)


def read_intervals(content: bytes) -> tuple[list[Intervals], dict[str, float]]:
    """The sums of every conversation's intervals, and the averages that are stored beside them."""
    holder = read_object(content)
    rows = holder.get("results")
    if not isinstance(rows, list):
        raise Unusable("no list results; expected {results: [{key, latency_stop_list, latency_resp_list}]}")
    try:
        found = [
            Intervals(
                str(row["key"]),
                sum([end - start for start, end in row["latency_stop_list"]]),
                len(row["latency_stop_list"]),
                sum([end - start for start, end in row["latency_resp_list"]]),
                len(row["latency_resp_list"]),
            )
            for row in rows
        ]
    except (TypeError, ValueError, KeyError):
        found = []
    # Every interval runs forward only if all do; the slow look for the culprit is taken where the quick one fails.
    if len(found) != len(rows) or not all(_forward(row) for row in rows):
        raise Unusable(_culprit(rows))
    stored = holder.get("average_latency")
    averages = {}
    if isinstance(stored, dict):
        averages = {name: number(stored, name) for name in (AVERAGE_STOP, AVERAGE_RESP) if name in stored}
    return found, averages


def _forward(row: dict[str, Any]) -> bool:
    """Whether all intervals of a conversation run forward; a truth value is no time."""
    for name in ("latency_stop_list", "latency_resp_list"):
        if type(row[name]) is not list:
            return False
        for start, end in row[name]:
            if not 0 <= start <= end <= LATEST or start is True or end is True or start is False:
                return False
    return True


def _culprit(rows: list[Any]) -> str:
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            return f"results[{at}] is {row!r:.60}; expected an object"
        for name in ("key", "latency_stop_list", "latency_resp_list"):
            if name not in row:
                return f"results[{at}] has no {name}"
        for name in ("latency_stop_list", "latency_resp_list"):
            if not isinstance(row[name], list):
                return f"results[{at}].{name} is {row[name]!r:.60}; expected a list"
            for n, pair in enumerate(row[name]):
                if not _interval(pair):
                    return f"results[{at}].{name}[{n}] is {pair!r:.60}; expected [start, end], 0 <= start <= end"
    return "results is no list of intervals"


def _interval(pair: Any) -> bool:
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    if any(isinstance(x, bool) or not isinstance(x, int | float) or not isfinite(x) for x in pair):
        return False
    return bool(0 <= pair[0] <= pair[1] <= LATEST)


# Stored against computed


def differences(experiment: Experiment, language: str, category: Category, under: Under) -> list[Finding]:
    """Where a stored value is not what follows from the files under it."""
    found = []
    where = place(language, category)

    def compare(name: str, stored: float, computed: float) -> None:
        if abs(stored - computed) > SAME * max(1.0, abs(computed)):
            said = f"{where}: {name} is stored as {stored:.10g}, but the files give {computed:.10g}"
            found.append(Finding("stored value", said))

    for name, value in (under.averages or {}).items():
        compare(f"average_latency.{name}", value, under.latency(name == AVERAGE_STOP) or 0.0)
    if under.rejects is not None and under.ratio is not None:
        compare("ratio", under.ratio, under.rejects[0] / under.rejects[1] if under.rejects[1] else 0.0)
    if experiment.has(language, category, ALL):
        stored = experiment.read(language, category, ALL, lambda content: _averages(content, category), needed=False)
        computed = under.computed(category, rounded=True).values
        for name, value in (stored or {}).items():
            compare(name, value, computed[name])
    return found


def read_all(experiment: Experiment) -> dict[tuple[str, Category], Under]:
    """What lies under every folder that can be used; where a stored value differs, it is noted."""
    found = {}
    for language, category in places():
        under = read_under(experiment, language, category)
        if under is not None:
            found[language, category] = under
            experiment.findings += differences(experiment, language, category, under)
    return found
