"""The pictures of a run, under the names the document gives them: per language three, for all languages one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from turnwise.kernel.bands import Bands
from turnwise.report import plots
from turnwise.report.files import make_folder
from turnwise.report.thresholds import MISSING, declared
from turnwise.translation.metrics import ROOM
from turnwise.translation.outcome import Execution, LanguageOutcome


def write_language_pictures(
    outcome: LanguageOutcome, folder: Path, bands: Mapping[str, Bands] | None = None
) -> list[Path]:
    """Distributions, correlations and the quality breakdown of one language.

    Args:
        outcome: what was measured.
        folder: where the pictures go; made if needed.
        bands: the borders to shade, by metric; None takes what the metrics of `band_counts` declare.
    """
    make_folder(folder)
    bands = declared(ROOM, outcome.band_counts) if bands is None else bands
    name = outcome.language
    return [
        plots.distributions(
            folder / "metric_distributions.png", outcome.values, title=f"{name}: scores of samples", bands=bands
        ),
        plots.correlations(folder / "score_correlations.png", outcome.values, title=f"{name}: do the metrics agree?"),
        plots.stacked_shares(
            folder / "quality_breakdown.png", band_shares(outcome), title=f"{name}: samples in each quality band"
        ),
    ]


def write_overview_picture(execution: Execution, folder: Path) -> list[Path]:
    """Every language by every metric that was measured at all."""
    make_folder(folder)
    names = [name for name, outcome in execution.overall.items() if outcome.valid]
    found = [[language.metrics.get(name) for name in names] for language in execution.languages]
    path = plots.heatmap(
        folder / "language_metric_heatmap.png",
        [language.language for language in execution.languages],
        names,
        [[cell.value if cell else None for cell in row] for row in found],
        bands=[[cell.band if cell else None for cell in row] for row in found],
        lower_is_better={name for name in names if execution.overall[name].lower_is_better},
        title=f"{execution.system} {execution.version}".strip() + ": languages and metrics",
    )
    return [path]


def band_shares(outcome: LanguageOutcome) -> dict[str, dict[str, int]]:
    """By metric that has bands, how many samples are in each and how many have no value."""
    shares = {}
    for name, counts in outcome.band_counts.items():
        metric = outcome.metrics.get(name)
        total = metric.total if metric else len(outcome.values.get(name, ()))
        shares[name] = {**counts, MISSING: max(0, total - sum(counts.values()))}
    return shares
