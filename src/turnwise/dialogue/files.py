"""The dialogue room's own files: every exchange and every dialogue as a row, with evidence, from the stored scores."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from turnwise.dialogue.load import DialogueSource
from turnwise.dialogue.records import UNIT, turn_of
from turnwise.kernel.jsontext import dumps, loads
from turnwise.kernel.metric import Metric
from turnwise.report.files import CsvWriter, whole_file, write_csv
from turnwise.report.summary import run_selection
from turnwise.report.tables import metric_label
from turnwise.store.reading import stream_items_with_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

Row = dict[str, Any]


def write_dialogue_files(store: Store, run: Run, source: DialogueSource, folder: Path) -> list[Path]:
    """`turns.csv` and `turns.jsonl` (one row per exchange), `dialogues.csv`, and what the normaliser rewrote."""
    names = [name for metric in run_selection(store, run).metrics for name in _labels(metric)]
    paths = [folder / name for name in ("turns.csv", "turns.jsonl", "dialogues.csv")]
    with whole_file(paths[0]) as turns, whole_file(paths[1]) as lines, whole_file(paths[2]) as dialogues:
        turn_rows = CsvWriter(turns, ["dialogue_id", "turn_id", "domain", *names, "missing"])
        dialogue_rows = CsvWriter(dialogues, ["dialogue_id", "exchanges", *names])
        for dialogue_id, exchanges in groupby(_exchanges(store, run), key=lambda exchange: exchange[0]["cluster"]):
            table: list[dict[str, float | None]] = []
            for item, scores in exchanges:
                table.append({s["name"]: s["value"] for s in scores})
                turn_id = turn_of(item["id"], dialogue_id)
                domain = loads(item["dimensions"]).get("domain")
                cells = {s["name"]: s["label"] if s["value"] is None else s["value"] for s in scores}
                missing = "; ".join(f"{s['name']}: {s['reason']}" for s in scores if s["status"] != "scored")
                turn_rows.write([dialogue_id, turn_id, domain, *(cells.get(name) for name in names), missing])
                lines.write(_line(dialogue_id, turn_id, domain, scores))
            dialogue_rows.write([dialogue_id, len(table), *(_mean(table, name) for name in names)])
    return [*paths, _write_rewrites(folder / "rewrites.csv", source)]


def _labels(metric: Metric) -> list[str]:
    return [metric_label({"metric": metric.spec.name, "output": output.name}) for output in metric.outputs]


def _name(score: Row) -> str:
    """The column of a score: metric, output where there are several, and who or which time where that is needed."""
    label = metric_label({"metric": score["metric"].partition("/")[2], "output": score["output"]})
    return label + (f"#{score['repeat']}" if score["repeat"] else "") + (f"@{score['rater']}" if score["rater"] else "")


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
            yield item, [{**s, "name": _name(s)} for s in scores if not s["variant"]]


def _line(dialogue_id: str, turn_id: str, domain: str | None, scores: list[Row]) -> str:
    """One exchange of turns.jsonl. The evidence is stored as JSON and goes in as it is."""
    head = dumps({"dialogue_id": dialogue_id, "turn_id": turn_id, "domain": domain})
    parts = []
    for score in scores:
        known = {key: score[key] for key in ("value", "label", "status", "reason") if score[key] is not None}
        text = dumps(known)
        if score["evidence"] is not None:
            text = f'{text[:-1]}, "evidence": {score["evidence"]}}}'
        parts.append(f"{dumps(score['name'])}: {text}")
    return f'{head[:-1]}, "scores": {{{", ".join(parts)}}}}}\n'


def _mean(table: list[dict[str, float | None]], name: str) -> float | None:
    values = [value for row in table if (value := row.get(name)) is not None]
    return sum(values) / len(values) if values else None
