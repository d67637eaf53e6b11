"""The parts of a run's page that show results: tables, bands, distributions, what is missing and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean

from turnwise.kernel.bands import Bands
from turnwise.report import html
from turnwise.report.correlation import FEWEST, Correlation, spearman
from turnwise.report.html import Cell, Column, figure_cell, number, text, words
from turnwise.report.svg import histogram, share_bar, share_words
from turnwise.report.tables import UNCALIBRATED
from turnwise.report.thresholds import spans
from turnwise.translation.outcome import Execution, LanguageOutcome, MetricOutcome
from turnwise.translation.pictures import band_shares

CORPUS, MEAN = "corpus", "mean"
_ROLLUPS = {CORPUS: "corpus (pooled)", MEAN: "mean of samples"}
_RESULTS = (
    Column("metric"),
    Column("value", numeric=True),
    Column("roll-up", sortable=False),
    Column("95 % interval", sortable=False),
    Column("band"),
    Column("mean", numeric=True, hint="mean of the samples' own scores"),
    Column("median", numeric=True),
    Column("std", numeric=True, hint="standard deviation of the samples' scores"),
    Column("min", numeric=True),
    Column("max", numeric=True),
    Column("scored", numeric=True, hint="samples with a score, of all"),
)


def measured(execution: Execution) -> list[str]:
    """Metrics that have at least one score."""
    return [name for name, metric in execution.overall.items() if metric.valid]


def direction_note(metrics: Iterable[MetricOutcome]) -> str:
    """What the arrow means, where there is one."""
    if not any(metric.lower_is_better for metric in metrics):
        return ""
    return "<p class='soft'>↓ lower is better; for the others higher is better.</p>"


def overall(execution: Execution) -> str:
    """Every metric over all samples."""
    metrics = execution.overall.values()
    several = len(execution.languages) > 1
    note = f"Over all samples of {len(execution.languages)} languages." if several else "Over all samples."
    return f"<p class='soft'>{note}</p>\n{_results(metrics, 'results over all samples')}{direction_note(metrics)}"


def by_language(execution: Execution) -> str:
    """Languages by metrics, the value to report in each cell."""
    names = measured(execution)
    if len(execution.languages) < 2 or not names:
        return ""
    columns = [Column("language"), *(Column(_directed(execution.overall[name]), numeric=True) for name in names)]
    rows = []
    for language in execution.languages:
        cells = [words(language.language)]
        for name in names:
            metric = language.metrics.get(name)
            cells.append(figure_cell(metric.value, metric.band) if metric else figure_cell(None))
        rows.append(cells)
    return html.table(columns, rows, name="results by language")


def language_part(language: LanguageOutcome, bands: Mapping[str, Bands], *, opened: bool) -> str:
    """All that is said about one language."""
    series = {name: values for name, values in language.values.items() if any(v is not None for v in values)}
    charts = "".join(_chart(name, values, bands.get(name)) for name, values in series.items())
    parts = [
        html.bullets((text(sentence) for sentence in language.diagnoses), "diagnoses"),
        _results(language.metrics.values(), f"results for {language.language}"),
        _titled("Quality bands", _band_bars(language)),
        _titled("Distributions of sample scores", f'<div class="charts">{charts}</div>' if charts else ""),
        _titled("Do the metrics agree?", _correlations(series)),
    ]
    title = f"<h2>{text(language.language)} <small>{text(language.pair)}</small></h2>"
    state = " open" if opened else ""
    body = "\n".join(part for part in parts if part)
    return f'<section><details class="language"{state}><summary>{title}</summary>\n{body}\n</details></section>\n'


def legend(execution: Execution, bands: Mapping[str, Bands]) -> str:
    """The thresholds in words."""
    known = [name for name in measured(execution) if name in bands]
    if not known:
        return ""
    order = [span.band for span in spans(bands[known[0]])]
    columns = [Column("metric", sortable=False), *(Column(band, sortable=False) for band in order)]
    rows = []
    for name in known:
        ranges = {span.band: span.words for span in spans(bands[name])}
        rows.append([words(name), *(Cell(html.banded(ranges.get(band, "–"), band), band) for band in order)])
    others = [name for name in measured(execution) if name not in bands]
    note = f"<p class='soft'>No bands are defined for {text(', '.join(others))}.</p>" if others else ""
    return html.table(columns, rows, name="thresholds of the bands") + note


def findings(execution: Execution) -> str:
    """What the checks of the input found."""
    return html.bullets(f"{text(what)}: {count}" for what, count in execution.findings)


def skipped(execution: Execution) -> str:
    """Why samples have no score; metrics that lack the same samples for the same reason share a row."""
    rows: dict[tuple[str, str, int], list[str]] = {}
    for language in execution.languages:
        for name, metric in language.metrics.items():
            for reason, count in metric.reasons.items():
                rows.setdefault((language.language, reason, count), []).append(name)
    if not rows:
        return "<p class='soft'>Every sample has every score.</p>"
    columns = [Column("language"), Column("metrics"), Column("samples", numeric=True), Column("reason")]
    cells = [
        [words(language), words(", ".join(names)), Cell(str(count), float(count), "number"), words(reason)]
        for (language, reason, count), names in rows.items()
    ]
    return html.table(columns, cells, name="samples without a score")


def not_measured(execution: Execution) -> str:
    """What the run could not measure, and how to turn it on."""
    return html.bullets(f"<strong>{text(name)}</strong>: {text(why)}" for name, why in execution.not_measured.items())


def probes(execution: Execution) -> str:
    """Input with a known answer, scored by the same metrics."""
    if not execution.probes:
        return ""
    columns = [Column("metric"), Column("probe"), Column("value", numeric=True), Column("as it must be")]
    rows = [
        [words(name), words(probe), figure_cell(value), words("yes" if right else "NO", "" if right else "bad-news")]
        for name, probe, value, right in execution.probes
    ]
    said = "Input whose score is known beforehand: a metric that fails here is not to be trusted on the data either."
    return f"<p class='soft'>{said}</p>" + html.table(columns, rows, name="probes of the metrics")


def signatures(execution: Execution) -> str:
    """How each number was made."""
    signs = dict.fromkeys(metric.signature for metric in execution.overall.values() if metric.signature)
    return html.bullets(map(text, signs), "signatures")


# Parts


def _titled(title: str, body: str) -> str:
    return f"<h3>{text(title)}</h3>\n{body}" if body else ""


def _directed(metric: MetricOutcome) -> str:
    marked = f"{metric.metric} ({UNCALIBRATED})" if metric.calibration == UNCALIBRATED else metric.metric
    return f"{marked} ↓" if metric.lower_is_better else marked


def _results(metrics: Collection[MetricOutcome], name: str) -> str:
    shown = [metric for metric in metrics if metric.valid]
    if not shown:
        return "<p>No sample has a score.</p>"
    rows = [_result(metric) for metric in shown]
    return html.table(_RESULTS, rows, name=name)


def _result(metric: MetricOutcome) -> list[Cell]:
    # A distance has no zero point that means "wrong": what unrelated pairs score makes the number readable.
    note = "" if metric.mismatched is None else f"wrong pairs: {number(metric.mismatched)}"
    known = metric.low is not None and metric.high is not None
    interval = f"[{number(metric.low)}, {number(metric.high)}]" if known else "–"
    band = Cell(html.banded(metric.band, metric.band), metric.band) if metric.band else Cell("–")
    return [
        words(_directed(metric)),
        figure_cell(metric.value, note=note),
        words(_ROLLUPS.get(metric.primary, metric.primary)),
        Cell(text(interval), interval),
        band,
        *(figure_cell(value) for value in (metric.mean, metric.median, metric.std, metric.min, metric.max)),
        Cell(f"{metric.valid} / {metric.total}", float(metric.valid), "number"),
    ]


def _chart(name: str, values: Sequence[float | None], bands: Bands | None) -> str:
    scored = [value for value in values if value is not None]
    said = f"<small>mean {number(fmean(scored))}, n = {len(scored)}</small>"
    return f"<figure><figcaption>{text(name)}{said}</figcaption>{histogram(values, name, bands)}</figure>"


def _band_bars(language: LanguageOutcome) -> str:
    bars = []
    for name, counts in band_shares(language).items():
        metric = language.metrics.get(name)
        if metric is not None and metric.valid:
            said = f'<div class="shares">{text(share_words(counts))}</div>'
            bars.append(f"<figure><figcaption>{text(name)}</figcaption>{share_bar(counts, name)}{said}</figure>")
    return f'<div class="bars">{"".join(bars)}</div>' if bars else ""


def _correlations(series: Mapping[str, Sequence[float | None]]) -> str:
    if len(series) < 2:
        return ""
    columns = [Column("", sortable=False), *(Column(name, sortable=False) for name in series)]
    rows = [
        [Cell(f"<strong>{text(first)}</strong>", first), *(_heat(spearman(series[first], series[b])) for b in series)]
        for first in series
    ]
    said = (
        "Spearman's rho over the samples that have both values. Where one of two metrics is better when it is lower, "
        "they agree when rho is negative."
    )
    return html.table(columns, rows, name="correlations of metrics") + f"<p class='soft'>{said}</p>"


def _heat(found: Correlation) -> Cell:
    if found.value is None:
        counted = "" if found.n < FEWEST else f"<small>n = {found.n}</small>"
        return Cell(f"{text(found.text)}{counted}", found.text, "heat none")
    colour = "0 114 178" if found.value >= 0 else "213 94 0"
    shade = f"background: rgb({colour} / {0.55 * abs(found.value):.2f})"
    return Cell(f"{found.text}<small>n = {found.n}</small>", found.value, "heat", shade)
