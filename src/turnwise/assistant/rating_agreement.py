"""How well the raters of a run agree, scale by scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from turnwise.assistant.metrics import ROOM
from turnwise.assistant.scales import HIGHEST, LOWEST, scales
from turnwise.report.summary import RESAMPLES
from turnwise.stats.agreement import RaterAgreement, Statistic, rater_agreement
from turnwise.store.ratings import Rating, human_ratings
from turnwise.store.run import Run
from turnwise.store.store import Store


@dataclass(frozen=True, slots=True)
class ScaleAgreement:
    """One scale."""

    scale: str
    raters: tuple[str, ...]
    """Who rated at least one turn on it."""
    found: RaterAgreement

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "scale": self.scale,
            "raters": list(self.raters),
            "turns": self.found.items,
            "turns_with_one_rater": self.found.left_out,
            "ratings": self.found.ratings,
            "sessions": self.found.clusters,
            "weighted_kappa": _statistic(self.found.weighted_kappa),
            "alpha": _statistic(self.found.alpha),
        }


def agreement_by_scale(store: Store, run: Run) -> list[ScaleAgreement]:
    """Quadratic-weighted kappa and ordinal alpha of every scale, with intervals over sessions."""
    ratings = [rating for rating in human_ratings(store, run) if rating.value is not None]
    draws = run.config.get("resamples", RESAMPLES)
    by_metric: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_metric.setdefault(rating.metric, []).append(rating)
    return [_agreement(name, by_metric.get(f"{ROOM}/{scale.metric}", []), draws) for name, scale in scales().items()]


def _agreement(scale: str, ratings: Sequence[Rating], resamples: int) -> ScaleAgreement:
    raters = tuple(sorted({rating.rater for rating in ratings}))
    sessions = {rating.item: rating.cluster for rating in ratings}
    places = {item: place for place, item in enumerate(sessions)}
    table: list[list[float | None]] = [[None] * len(places) for _ in raters]
    rows = dict(zip(raters, table, strict=True))
    for rating in ratings:
        rows[rating.rater][places[rating.item]] = rating.value
    bounds = (float(LOWEST), float(HIGHEST))
    return ScaleAgreement(
        scale, raters, rater_agreement(table, list(sessions.values()), scale=bounds, resamples=resamples)
    )


def _statistic(found: Statistic) -> dict[str, Any]:
    own = found.interval
    return {"value": found.value, "low": own.low, "high": own.high, "interval": own.method, "reason": found.reason}
