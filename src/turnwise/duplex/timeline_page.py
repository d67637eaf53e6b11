"""The page of one conversation: its picture, its recording, and in tables what the picture shows.

One file that needs no network. What it says was measured elsewhere; here it is only shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from turnwise.duplex.lanes import label_words, mark_words, overlaps
from turnwise.duplex.marks import Mark
from turnwise.duplex.picture import spoken, timeline_svg
from turnwise.duplex.records import Label, Timeline
from turnwise.report import html
from turnwise.report.files import whole_file
from turnwise.report.html import Cell, Column, clamped, figure_cell, text, words
from turnwise.report.sound import Recordings
from turnwise.report.tables import metric_label
from turnwise.report.timeline_page import pictures

_NEAR = 0.25
"""Seconds by which a latency may begin outside the event it belongs to: labels and detected speech seldom agree."""
_SPEECH = "speech-table"
_START, _END = Column("from, s", numeric=True), Column("to, s", numeric=True)
_SAID = Column("said", sortable=False)


def write_timeline_page(
    path: Path,
    timeline: Timeline,
    marks: Sequence[Mark],
    scores: Sequence[Mapping[str, Any]] = (),
    audio_budget_bytes: int = 40_000_000,
) -> Path:
    """Write the page.

    Args:
        path: the file; links to audio that is not in the page are relative to its folder.
        timeline: who spoke when.
        marks: the latencies.
        scores: of this conversation, each with metric, output, value, label, status and reason.
        audio_budget_bytes: room for recordings in the page, as base64; beyond it, links.
    """
    with whole_file(path) as file:
        file.write(html.page_head(f"{timeline.key}: timeline"))
        file.write(f"<header><h1>{html.foreign(timeline.key)}</h1>\n{_facts(timeline)}\n</header>\n")
        player = _player(timeline, Recordings(path.parent, audio_budget_bytes))
        file.write(html.section("Who spoke when", player + _pictures(timeline, marks), "timeline"))
        file.write(html.section("Latencies", _latencies(marks), "latencies"))
        file.write(html.section("What the user did", _events(timeline, marks), "events"))
        file.write(html.section("Scores", _scores(scores), "scores"))
        file.write(html.section("Speech", _speech(timeline), "speech"))
        file.write(html.section("Notes", html.bullets(map(text, timeline.notes)), "notes"))
        file.write(html.page_tail())
    return path


def _facts(timeline: Timeline) -> str:
    both = sum(one.seconds for one in overlaps(timeline))
    known = timeline.user is not None and timeline.agent is not None
    pairs = [
        *timeline.dimensions.items(),
        ("length", "" if timeline.seconds is None else f"{timeline.seconds:.1f} s"),
        ("user speaks", "" if timeline.user is None else f"{sum(one.seconds for one in timeline.user):.1f} s"),
        ("agent speaks", "" if timeline.agent is None else f"{sum(one.seconds for one in timeline.agent):.1f} s"),
        ("both speak", f"{both:.1f} s" if known else ""),
        ("behaviour", timeline.behaviour or ""),
        ("speech found by", "voice activity" if timeline.detected else ""),
        ("grid of the times", "" if timeline.tick is None else f"{timeline.tick:g} s"),
    ]
    return html.facts(pairs)


def _player(timeline: Timeline, recordings: Recordings) -> str:
    """What can be heard. One file holds both sides; of two, each is offered, since nobody has mixed them."""
    names = ("user", "agent") if len(timeline.audio) == 2 else ("recording",) * len(timeline.audio)
    heard = [recordings.listen(file, name, timeline.key) for file, name in zip(timeline.audio, names, strict=True)]
    if not heard:
        return ""
    notes = "".join(f'<p class="soft">Recordings: {text(note)}.</p>\n' for note in recordings.notes)
    return f'<div class="player">{"".join(heard)}</div>\n{notes}'


def _pictures(timeline: Timeline, marks: Sequence[Mark]) -> str:
    note = "A bracket is a latency: from the moment the user began or stopped to what the agent did."
    return pictures(lambda width: timeline_svg(timeline, marks, width, bare=True), note)


def _latencies(marks: Sequence[Mark]) -> str:
    if not marks:
        return "<p class='soft'>No latency was measured.</p>"
    columns = [Column("latency"), Column("seconds", numeric=True), Column("outcome"), _START, _END]
    rows = [
        [words(mark.kind), _time(mark.seconds), words(mark.note), _time(mark.start), _time(mark.end)] for mark in marks
    ]
    early = any(mark.seconds < 0 for mark in marks)
    note = "<p class='soft'>Below 0: the answer came before the user had ended.</p>" if early else ""
    return html.table(columns, rows, name="latencies") + note


def _events(timeline: Timeline, marks: Sequence[Mark]) -> str:
    if not timeline.labels:
        return "<p class='soft'>Nobody labelled what the user did.</p>"
    columns = [_START, _END, Column("event"), Column("outcome"), Column("latencies"), _SAID]
    owners = [event_of(mark, timeline.labels) for mark in marks]
    rows = []
    for n, label in enumerate(timeline.labels):
        own = [mark for mark, owner in zip(marks, owners, strict=True) if owner == n]
        rows.append(
            [
                _time(label.start),
                _time(label.end),
                words(label_words(label)),
                words(", ".join(dict.fromkeys(mark.note for mark in own if mark.note))),
                words(", ".join(mark_words(mark._replace(note="")) for mark in own)),
                _said(spoken_in(label, timeline)),
            ]
        )
    return html.table(columns, rows, name="what the user did")


def spoken_in(label: Label, timeline: Timeline) -> str:
    """What the user said during an event: as it was labelled, or else what the segments in it say."""
    inside = [one for one in timeline.user or () if one.start < label.end and label.start < one.end]
    return label.text or " ".join(filter(None, (spoken(one, timeline.sentences) for one in inside)))


def event_of(mark: Mark, labels: Sequence[Label]) -> int | None:
    """Which event a latency belongs to: of those it begins in, the one that begins or ends nearest."""
    around = [n for n, one in enumerate(labels) if one.start - _NEAR <= mark.start <= one.end + _NEAR]
    ends = {n: min(abs(mark.start - labels[n].start), abs(mark.start - labels[n].end)) for n in around}
    return min(ends, key=ends.__getitem__, default=None)


def _scores(scores: Sequence[Mapping[str, Any]]) -> str:
    if not scores:
        return ""
    columns = [Column("metric"), Column("value", numeric=True), Column("label"), Column("status"), Column("reason")]
    rows = [
        [
            words(metric_label(score)),
            figure_cell(score.get("value")),
            *(words(score.get(key) or "") for key in ("label", "status", "reason")),
        ]
        for score in scores
    ]
    return html.table(columns, rows, name="scores")


def _speech(timeline: Timeline) -> str:
    """Every segment of both sides in the order of time."""
    sides = (("user", timeline.user, timeline.sentences), ("agent", timeline.agent, timeline.words))
    found = sorted((one, name, spoken(one, parts)) for name, side, parts in sides for one in side or ())
    if not found:
        return "<p class='soft'>Nobody speaks, as far as is known.</p>"
    columns = [_START, Column("who"), _SAID, _END, Column("seconds", numeric=True)]
    rows = [
        html.table_row([_time(one.start), words(name), _said(said), _time(one.end), _time(one.seconds)], group=name)
        for one, name, said in found
    ]
    start = html.table_start(columns, name="speech of both sides", anchor=_SPEECH, tall=True)
    tools = html.filter_tools(_SPEECH, ("user", "agent"), "who", "Filter by what was said")
    return tools + start + "".join(rows) + html.table_end()


def _time(seconds: float) -> Cell:
    return Cell(f"{seconds:.2f}", seconds, "number")


def _said(what: str) -> Cell:
    return Cell(clamped(what), what, "texts")
