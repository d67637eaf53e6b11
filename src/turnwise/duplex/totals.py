"""The results of a run as the document has them: `all.json`, and the arithmetic behind it, worked out once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from turnwise.duplex.cases import PART
from turnwise.duplex.categories import (
    CATEGORIES,
    INTERRUPTING,
    INTERRUPTION,
    LANGUAGES,
    REJECTION,
    Category,
)
from turnwise.duplex.category_files import AVERAGE_DELAY, AVERAGE_RESP, AVERAGE_STOP
from turnwise.duplex.experiment import place, places
from turnwise.duplex.records import CATEGORY, LANGUAGE
from turnwise.kernel.rollup import round_half_up

Result = Mapping[str, Any]
INTERRUPTION_SCORE, REJECTION_SCORE = "interruption_total_score", "rejection_total_score"
DELAY, STOP, RESP, TOTAL = "first_response_delay", "avg_latency_stop", "avg_latency_resp", "total_delay"
TOTALS = (INTERRUPTION_SCORE, REJECTION_SCORE, DELAY, STOP, RESP, TOTAL)
SCORE_DIGITS, DELAY_DIGITS, SHARE_DIGITS = 1, 3, 3
_CLOSE = 5e-3
"""The document's own rounding moves a total by less."""


class Totals:
    """The primary results of a run, by metric and group."""

    def __init__(self, results: Sequence[Result], spec: bool) -> None:
        self.spec = spec
        self._found = {
            (one["metric"], tuple(sorted(one["group"].items()))): one
            for one in results
            if one["primary"] and one["output"] == "value" and not one["variant"]
        }

    def result(self, metric: str, **group: str) -> Result | None:
        """One result; None where there is none."""
        return self._found.get((metric, tuple(sorted(group.items()))))

    def value(self, metric: str, **group: str) -> float | None:
        """Its value; None where it has none."""
        found = self.result(metric, **group)
        return None if found is None else found["value"]

    def of_file(self, metric: str, language: str, category: Category) -> float | None:
        """The value of one category and language."""
        return self.value(metric, **{CATEGORY: category.name, LANGUAGE: language})

    @property
    def known(self) -> bool:
        """Whether this is a run of the challenge's categories."""
        return any(self.of_file(DELAY, *key) is not None or self.score(*key) is not None for key in places())

    def score(self, language: str, category: Category) -> float | None:
        """RESPOND, RESUME or the reject rate of one category and language, as a share."""
        metric = INTERRUPTION_SCORE if category.interrupts else REJECTION_SCORE
        found = self.of_file(metric, language, category)
        return None if found is None else found / 100

    # The document's file

    def all_json(self) -> dict[str, Any]:
        """`all.json`; what has no value is null."""
        interruption = self._score(self.value(INTERRUPTION_SCORE))
        reject: dict[str, Any] = {}
        for category in REJECTION:
            share = self.value(REJECTION_SCORE, **{CATEGORY: category.name})
            reject[category.name] = {
                category.measured.value: None if share is None else round_half_up(share / 100, SHARE_DIGITS),
                AVERAGE_DELAY: self._delay(self.value(DELAY, **{CATEGORY: category.name})),
            }
        return {
            "interrupt": {
                "Interruption Total Score": interruption,
                AVERAGE_STOP: self._delay(self.value(STOP)),
                AVERAGE_RESP: self._delay(self.value(RESP)),
                AVERAGE_DELAY: self._delay(self.value(DELAY, **{PART: INTERRUPTING})),
            },
            "reject": reject,
            "First Response Delay": self._delay(self.value(DELAY)),
            "Interruption Total Score": interruption,
            "Rejection Total Score": self._score(self.value(REJECTION_SCORE)),
            "Total Delay": self._delay(self.value(TOTAL)),
        }

    def _score(self, value: float | None) -> float | None:
        # The document rounds on its way and not at the end, so what comes out is what is printed.
        return value if value is None or self.spec else round_half_up(value, SCORE_DIGITS)

    def _delay(self, value: float | None) -> float | None:
        if value is None:
            return None
        return round_half_up(value, DELAY_DIGITS) if value else 0  # as published: 0 and not 0.0 for none

    # The document's checklist

    def checklist(self, files: int, read: int) -> list[Check]:
        """The six points of its section 7, each worked out again from the twenty values by plain arithmetic."""
        responds = self._all(INTERRUPTION_SCORE, INTERRUPTION)
        delays = self._all(DELAY, CATEGORIES)
        three = {name: self.value(name) for name in (STOP, RESP, DELAY)}
        means = [
            _mean_check(self.value(INTERRUPTION_SCORE), responds),
            _mean_check(three[STOP], self._all(STOP, INTERRUPTION)),
            _mean_check(three[RESP], self._all(RESP, INTERRUPTION)),
            _mean_check(three[DELAY], delays),
        ]
        rejection, steps = self._rejection()
        given = [value for value in three.values() if value is not None]
        total = self.value(TOTAL)
        total_again = fmean(given) if len(given) == len(three) else None
        return [
            Check(1, "all 20 _all.json files are read", read == files, f"{read} of {files} files"),
            Check(
                2,
                "all 10 RESPOND scores are in the mean",
                len(responds) == 2 * len(INTERRUPTION) and means[0],
                f"{len(responds)} of 10: {_listed(responds, 100)}; "
                f"mean x 100 = {_said(self.value(INTERRUPTION_SCORE))}",
            ),
            Check(
                3,
                "rejection: languages first, then before and after, then four parts x 100",
                _same(rejection, self.value(REJECTION_SCORE)),
                f"{steps}; x 100 = {_said(self.value(REJECTION_SCORE))}",
            ),
            Check(
                4,
                "First Response Delay includes all 20 values",
                len(delays) == 2 * len(CATEGORIES) and means[3],
                self._delays_said(delays),
            ),
            Check(
                5,
                "Total Delay is the mean of stop, resp and first response delay",
                total is not None and _same(total_again, total),
                f"({' + '.join(_said(value) for value in three.values())}) / 3 = {_said(total)}",
            ),
            Check(6, "nothing is weighted", all(means), "plain means of the values above give the same totals"),
        ]

    def _all(self, metric: str, categories: Sequence[Category]) -> dict[str, float]:
        values = {(la, c): self.of_file(metric, la, c) for la, c in places() if c in categories}
        return {place(*key): value for key, value in values.items() if value is not None}

    def _rejection(self) -> tuple[float | None, str]:
        parts: dict[str, list[float]] = {}
        said = []
        for category in REJECTION:
            shares = [share for language in LANGUAGES if (share := self.score(language, category)) is not None]
            if len(shares) < len(LANGUAGES):
                return None, f"{category.name} is not complete"
            parts.setdefault(category.part, []).append(fmean(shares))
            said.append(f"{category.name} ({' + '.join(map(_said, shares))}) / 2 = {_said(fmean(shares))}")
        means = [fmean(values) for values in parts.values()]
        joined = f"mean of {len(parts)} parts {' , '.join(map(_said, means))}"
        return 100 * fmean(means), "; ".join([*said, joined])

    def _delays_said(self, delays: Mapping[str, float]) -> str:
        missing = [place(*key) for key in places() if place(*key) not in delays]
        none = f"; not in the mean, for there is nothing to average: {', '.join(missing)}" if missing else ""
        return f"{len(delays)} of {2 * len(CATEGORIES)} values, mean {_said(self.value(DELAY))}{none}"


class Check(NamedTuple):
    """One point of the checklist."""

    number: int
    what: str
    holds: bool
    found: str

    @property
    def line(self) -> str:
        """As it is printed."""
        return f"{self.number}. [{'x' if self.holds else ' '}] {self.what}: {self.found}"


def _mean_check(total: float | None, values: Mapping[str, float]) -> bool:
    return total is not None and bool(values) and _same(fmean(values.values()), total)


def _same(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= _CLOSE * max(1.0, abs(other) / 10)


def _listed(values: Mapping[str, float], scale: float) -> str:
    return " ".join(f"{value / scale:.4g}" for value in values.values()) or "none"


def _said(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
