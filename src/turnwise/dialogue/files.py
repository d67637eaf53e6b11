"""The dialogue room's own files: every exchange and every dialogue as a row, with evidence, from the stored scores."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from turnwise.dialogue.load import DialogueSource
from turnwise.dialogue.records import UNIT
from turnwise.kernel.jsontext import dumps, loads
from turnwise.report.files import CsvWriter, whole_file, write_csv
from turnwise.store.reading import stream_items_with_scores
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
        for dialogue_id, exchanges in groupby(_exchanges(store, run), key=lambda exchange: exchange[0]["cluster"]):
            table: list[dict[str, float | None]] = []
            for item, scores in exchanges:
                table.append({score["metric"]: score["value"] for score in scores})
                turn_id = item["id"].removeprefix(f"{dialogue_id}/")
                domain = loads(item["dimensions"]).get("domain")
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


def _exchanges(store: Store, run: Run) -> Iterator[tuple[Row, list[Row]]]:
    """Each exchange with its real scores (no baselines), in the order of the data."""
    for item, scores in stream_items_with_scores(store, run):
        if item["kind"] == UNIT:
            yield item, [{**s, "metric": s["metric"].partition("/")[2]} for s in scores if not s["variant"]]


def _line(dialogue_id: str, turn_id: str, domain: str | None, scores: list[Row]) -> str:
    """One exchange of turns.jsonl. The evidence is stored as JSON and goes in as it is."""
    head = dumps({"dialogue_id": dialogue_id, "turn_id": turn_id, "domain": domain})
    parts = []
    for score in scores:
        known = {key: score[key] for key in ("value", "status", "reason") if score[key] is not None}
        text = dumps(known)
        if score["evidence"] is not None:
            text = f'{text[:-1]}, "evidence": {score["evidence"]}}}'
        parts.append(f"{dumps(score['metric'])}: {text}")
    return f'{head[:-1]}, "scores": {{{", ".join(parts)}}}}}\n'


def _mean(table: list[dict[str, float | None]], name: str) -> float | None:
    values = [value for row in table if (value := row.get(name)) is not None]
    return sum(values) / len(values) if values else None
