"""The page of a run, `summary_report.html`: one file that shows, explains and plays everything.

The page is written as it goes; samples are taken from the iterable one by one and none is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from turnwise.kernel.bands import Bands
from turnwise.report import html
from turnwise.report.files import whole_file
from turnwise.report.sound import Recordings
from turnwise.report.thresholds import declared
from turnwise.translation import page_results as results
from turnwise.translation.metrics import ROOM
from turnwise.translation.outcome import Execution, SampleOutcome
from turnwise.translation.page_samples import write_samples

OPEN_LANGUAGES = 3
"""With more languages than these, their parts of the page start closed."""


def write_report(
    path: Path,
    execution: Execution,
    samples: Iterable[SampleOutcome],
    most_samples: int = 1000,
    audio_budget_bytes: int = 40_000_000,
    bands: Mapping[str, Bands] | None = None,
) -> Path:
    """Write the page.

    Args:
        path: the file; links to audio that is not in the page are relative to its folder.
        execution: what the run showed.
        samples: every sample in the order to be shown. All are counted, the first `most_samples` are on the page.
        most_samples: more would make a page that no browser likes.
        audio_budget_bytes: room for recordings in the page, as base64; beyond it, links.
        bands: the borders that the legend names, by metric; None takes those the metrics declare.
    """
    if bands is None:  # a convention may have no bands though the metric declares some: then no result has one
        bands = declared(ROOM, (name for name, metric in execution.overall.items() if metric.band is not None))
    with whole_file(path) as file:
        file.write(html.page_head(f"{execution.system} {execution.version}: translation report"))
        file.write(_header(execution))
        file.write(html.section("Results", results.overall(execution), "results"))
        file.write(html.section("By language", results.by_language(execution), "languages"))
        file.write(html.section("What the bands mean", results.legend(execution, bands), "bands"))
        for language in execution.languages:
            opened = len(execution.languages) <= OPEN_LANGUAGES
            file.write(results.language_part(language, bands, opened=opened))
        file.write(html.section("Checks before scoring", results.findings(execution), "checks"))
        file.write(html.section("Skipped", results.skipped(execution), "skipped"))
        file.write(html.section("Not measured", results.not_measured(execution), "not-measured"))
        file.write(html.section("Probes of the metrics", results.probes(execution), "probes"))
        write_samples(file, execution, samples, most_samples, Recordings(path.parent, audio_budget_bytes))
        file.write(html.section("Signatures", results.signatures(execution), "signatures"))
        file.write(html.page_tail())
    return path


def _header(execution: Execution) -> str:
    pairs = [
        ("system", execution.system),
        ("version", execution.version),
        ("execution", execution.execution_id),
        ("run", execution.run_id),
        ("profile", execution.profile),
        ("mode", execution.mode.replace("_", " ")),
        ("started", _moment(execution.started)),
        ("finished", _moment(execution.finished)),
    ]
    links = [("results", "Results"), ("bands", "Bands"), ("skipped", "Skipped"), ("samples", "Samples")]
    places = "".join(f'<a href="#{anchor}">{name}</a>' for anchor, name in [*links, ("signatures", "Signatures")])
    title = f"<h1>Translation: {html.text(execution.system)} {html.text(execution.version)}</h1>"
    return f"<header>{title}\n{html.facts(pairs)}\n<nav aria-label='On this page'>{places}</nav>\n</header>\n"


def _moment(stamp: str) -> str:
    """An ISO date and time, easier to read."""
    day, separator, time = stamp.partition("T")
    if not separator:
        return stamp
    return f"{day} {time[:8]}{' UTC' if time.endswith(('Z', '+00:00')) else time[8:]}"
