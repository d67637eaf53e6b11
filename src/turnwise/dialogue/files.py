"""The dialogue room's own files: every exchange and every dialogue as a row, with evidence, from the stored scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from turnwise.dialogue.load import DialogueSource
from turnwise.report.files import CsvWriter, whole_file, write_csv
from turnwise.store.reading import stream_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

Row = dict[str, Any]


def write_dialogue_files(store: Store, run: Run, source: DialogueSource, folder: Path) -> list[Path]:
    """`turns.csv` and `turns.jsonl` (one row per exchange), `dialogues.csv`, and what the normaliser rewrote."""
    names = [metric.name.partition("/")[2] for metric in store.metrics(run)]
    paths = [folder / name for name in ("turns.csv", "turns.jsonl", "dialogues.csv")]
    with whole_file(paths[0]) as turns, whole_file(paths[1]) as lines, whole_file(paths[2]) as dialogues:
        turn_rows = CsvWriter(turns, ["dialogue_id", "turn_id", "domain", *names, "missing"])
        dialogue_rows = CsvWriter(dialogues, ["dialogue_id", "exchanges", *names])
        for dialogue_id, exchanges in groupby(_exchanges(store, run), key=lambda scores: scores[0]["cluster"]):
            table: list[dict[str, float | None]] = []
            for scores in exchanges:
                table.append({score["metric"]: score["value"] for score in scores})
                turn_id, domain = _place(dialogue_id, scores)
                missing = "; ".join(f"{s['metric']}: {s['reason']}" for s in scores if s["value"] is None)
                turn_rows.write([dialogue_id, turn_id, domain, *(table[-1].get(name) for name in names), missing])
                lines.write(_line(dialogue_id, turn_id, domain, scores))
            dialogue_rows.write([dialogue_id, len(table), *(_mean(table, name) for name in names)])
    return [*paths, _write_rewrites(folder / "rewrites.csv", source)]


def _write_rewrites(path: Path, source: DialogueSource) -> Path:
    header = ["side", "slot", "written", "normal_form", "count"]
    found = source.rewrites()
    return write_csv(
        path, header, ((a, b, raw, "(absent)" if normal is None else normal, n) for a, b, raw, normal, n in found)
    )


def _exchanges(store: Store, run: Run) -> Iterator[list[Row]]:
    """The real scores (no baselines) of each exchange, in the order of the data."""
    for _, rows in groupby(stream_scores(store, run), key=lambda row: row["number"]):
        yield [{**row, "metric": row["metric"].partition("/")[2]} for row in rows if not row["variant"]]


def _place(dialogue_id: str, scores: list[Row]) -> tuple[str, str | None]:
    turn_id = scores[0]["item"].removeprefix(f"{dialogue_id}/")
    return turn_id, json.loads(scores[0]["dimensions"]).get("domain")


def _line(dialogue_id: str, turn_id: str, domain: str | None, scores: list[Row]) -> str:
    """One exchange of turns.jsonl. The evidence is stored as JSON and goes in as it is."""
    head = json.dumps({"dialogue_id": dialogue_id, "turn_id": turn_id, "domain": domain}, ensure_ascii=False)
    parts = []
    for score in scores:
        known = {key: score[key] for key in ("value", "status", "reason") if score[key] is not None}
        text = json.dumps(known, ensure_ascii=False)
        if score["evidence"] is not None:
            text = f'{text[:-1]}, "evidence": {score["evidence"]}}}'
        parts.append(f"{json.dumps(score['metric'])}: {text}")
    return f'{head[:-1]}, "scores": {{{", ".join(parts)}}}}}\n'


def _mean(table: list[dict[str, float | None]], name: str) -> float | None:
    values = [value for row in table if (value := row.get(name)) is not None]
    return sum(values) / len(values) if values else None
