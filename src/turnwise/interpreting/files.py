"""The files of a run: for each capture the result of its barge-ins in the document's shape, its turns, its picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from turnwise.interpreting.barge_in import NAME
from turnwise.interpreting.drawing import drawn_call
from turnwise.interpreting.metrics import ROOM
from turnwise.interpreting.picture import timeline_svg
from turnwise.interpreting.records import CAPTURE, TURN
from turnwise.interpreting.timeline_page import write_timeline_page
from turnwise.kernel.jsontext import loads
from turnwise.report.files import make_folder, whole_file, write_json
from turnwise.report.summary import run_selection
from turnwise.store.reading import stream_items_with_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

BARGE_IN_FILE, TURNS_FILE = "barge_in.json", "turns.json"
PICTURE_FILE, PAGE_FILE = "timeline.svg", "timeline.html"
BARGE_IN = f"{ROOM}/{NAME}"
Json = dict[str, Any]


def write_interpreting_files(store: Store, run: Run, folder: Path) -> list[Path]:
    """Everything but the common `summary.json`; nothing more for a log of delays."""
    files: list[Path] = []
    for key, content, result, turns in calls_of(store, run):
        inner = make_folder(folder / key)
        if result is not None:
            files.append(write_json(inner / BARGE_IN_FILE, result))
        files.append(write_json(inner / TURNS_FILE, turns))
        if run.config.get("timelines"):
            files += _write_pictures(inner, key, content, result)
    return files


def calls_of(store: Store, run: Run) -> Iterator[tuple[str, Json, Json | None, list[Json]]]:
    """Every call with what was kept of it: the result of its barge-ins, and its turns."""
    call: tuple[str, Json, Json | None] | None = None
    turns: list[Json] = []
    metrics = run_selection(store, run).metrics
    others = {(m.spec.full_name, output.name) for m in metrics for output in m.outputs} - {(BARGE_IN, "value")}
    for item, scores in stream_items_with_scores(store, run, with_content=True, without=others):
        content = loads(item["content"]) if item["content"] else {}
        if item["kind"] == CAPTURE:
            if call is not None:
                yield *call, turns
            call, turns = (item["id"], content, result_of(scores)), []
        elif item["kind"] == TURN and call is not None:
            turns.append(content)
    if call is not None:
        yield *call, turns


def result_of(scores: Iterable[Mapping[str, Any]]) -> Json | None:
    """The document's result, which is the evidence of the score of a call: as it is stored, or read already."""
    for score in scores:
        if score["metric"].rpartition("/")[2] == NAME and score["output"] == "value" and not score["variant"]:
            evidence = score["evidence"]
            found = loads(evidence) if isinstance(evidence, str) and evidence else evidence
            return found if isinstance(found, dict) else None
    return None


def _write_pictures(folder: Path, key: str, content: Json, result: Json | None) -> Iterator[Path]:
    """The timeline of a call as a picture and as a page."""
    call = drawn_call(key, content, result)
    picture = folder / PICTURE_FILE
    with whole_file(picture) as file:
        file.write(timeline_svg(call))
    yield picture
    yield write_timeline_page(folder / PAGE_FILE, call)
