"""The files of a run: for each capture the result of its barge-ins in the document's shape, its turns, its picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turnwise.interpreting.barge_in import NAME
from turnwise.interpreting.records import CAPTURE, TURN
from turnwise.kernel.jsontext import loads
from turnwise.report.files import make_folder, write_json
from turnwise.store.reading import stream_items_with_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

BARGE_IN_FILE, TURNS_FILE = "barge_in.json", "turns.json"
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
    for item, scores in stream_items_with_scores(store, run, with_content=True):
        content = loads(item["content"]) if item["content"] else {}
        if item["kind"] == CAPTURE:
            if call is not None:
                yield *call, turns
            call, turns = (item["id"], content, _result(scores)), []
        elif item["kind"] == TURN and call is not None:
            turns.append(content)
    if call is not None:
        yield *call, turns


def _result(scores: list[Json]) -> Json | None:
    """The document's result is the evidence of the score."""
    for score in scores:
        if score["metric"].endswith(f"/{NAME}") and score["output"] == "value" and not score["variant"]:
            return loads(score["evidence"]) if score["evidence"] else None
    return None


def _write_pictures(folder: Path, key: str, content: Json, result: Json | None) -> Iterator[Path]:
    yield from ()
