"""The part of a run's page that shows single samples: their texts, their scores, their recordings."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import IO

from turnwise.report import html
from turnwise.report.html import Cell, Column, clamped, figure_cell, text, words
from turnwise.report.sound import Recordings
from turnwise.translation.outcome import Execution, SampleOutcome
from turnwise.translation.page_results import direction_note, measured

_TABLE = "samples-table"
_EMPTY = '<span class="none">(empty)</span>'


def write_samples(
    file: IO[str], execution: Execution, samples: Iterable[SampleOutcome], most: int, recordings: Recordings
) -> None:
    """The table of samples, row by row; what is said about all of them comes last, when it is known."""
    names = measured(execution)
    file.write('<section id="samples">\n<h2>Samples</h2>\n')
    file.write(html.filter_tools(_TABLE, [language.language for language in execution.languages], "language"))
    file.write(html.table_start(_columns(execution, names), name="samples", anchor=_TABLE, tall=True))
    stream = iter(samples)
    shown = 0
    for sample in islice(stream, most):
        file.write(html.table_row(_row(sample, names, recordings), group=sample.language))
        shown += 1
    file.write(html.table_end())
    total = shown + sum(1 for _ in stream)
    file.write(direction_note(execution.overall[name] for name in names))
    file.write(_notes(shown, total, recordings))
    file.write("</section>\n")


def _notes(shown: int, total: int, recordings: Recordings) -> str:
    notes = []
    if shown < total:
        notes.append(f"The first {shown:,} of {total:,}; all are in detailed_results.csv.")
    elif not total:
        notes.append("There are no samples.")
    if recordings.embedded or recordings.notes:
        said = "; ".join([f"{recordings.embedded} in this page", *recordings.notes])
        notes.append(f"Recordings: {said}.")
    return "".join(f'<p class="soft">{text(note)}</p>\n' for note in notes)


def _columns(execution: Execution, names: Iterable[str]) -> list[Column]:
    metrics = []
    for name in names:
        lower = execution.overall[name].lower_is_better
        hint = "lower is better" if lower else "higher is better"
        metrics.append(Column(f"{name} ↓" if lower else name, numeric=True, hint=hint))
    fixed = [Column("sample"), Column("language"), Column("texts", sortable=False), Column("listen", sortable=False)]
    return [*fixed, *metrics]


def _row(sample: SampleOutcome, names: Iterable[str], recordings: Recordings) -> list[Cell]:
    scores = [
        figure_cell(sample.values.get(name), sample.bands.get(name), why=sample.missing.get(name, "not measured"))
        for name in names
    ]
    return [words(sample.id), words(sample.language), _texts(sample), _listen(sample, recordings), *scores]


def _texts(sample: SampleOutcome) -> Cell:
    several = len(sample.references) > 1
    lines = [("source", sample.source), ("translation", sample.hypothesis)]
    lines += [(f"reference {n}" if several else "reference", one) for n, one in enumerate(sample.references, start=1)]
    lines.append(("heard", sample.transcript))
    # A text that was given and is empty is a finding; one that was not given is none.
    items = [(name, clamped(said) if said else _EMPTY) for name, said in lines if said is not None]
    body = "".join(f"<dt>{text(name)}</dt><dd>{said}</dd>" for name, said in items)
    return Cell(f"<dl>{body}</dl>" if body else "–", "", "texts")


def _listen(sample: SampleOutcome, recordings: Recordings) -> Cell:
    paths = [
        ("source", sample.source_audio),
        ("translation", sample.hypothesis_audio),
        ("reference", sample.reference_audio),
    ]
    players = [recordings.listen(path, label, sample.id) for label, path in paths if path is not None]
    return Cell("".join(players) or '<span class="none">–</span>', None, "listen", searched=False)
