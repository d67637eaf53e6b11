"""The dialogue room's own files: every exchange and every dialogue as a row, with evidence, from the stored scores."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from turnwise.dialogue.load import DialogueSource
from turnwise.dialogue.records import DIALOGUE, UNIT, turn_of
from turnwise.kernel.jsontext import dumps, loads
from turnwise.kernel.metric import Metric
from turnwise.kernel.rollup import Reduction
from turnwise.kernel.score import Source
from turnwise.report.files import CsvWriter, whole_file, write_csv
from turnwise.report.summary import run_selection
from turnwise.report.tables import metric_label
from turnwise.store.reading import stream_items_with_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

Row = dict[str, Any]


def write_dialogue_files(store: Store, run: Run, source: DialogueSource, folder: Path) -> list[Path]:
    """`turns` and `dialogues`, one row each, as CSV and (with evidence) as JSONL; and what the normaliser rewrote."""
    metrics = run_selection(store, run).metrics
    of_turns, of_dialogues = (
        [name for metric in metrics if metric.spec.unit == unit for name in _labels(metric)]
        for unit in (UNIT, DIALOGUE)
    )
    results = [r for r in store.rollups(run) if not r["variant"]]
    known, heard = (
        {(r["metric"], r["output"]) for r in results if r["n_scored"] or not only} for only in (False, True)
    )
    silent = {(f"{run.suite}/{metric}", output) for metric, output in known - heard}  # the summary says why
    summed = {
        metric_label({"metric": metric.spec.name, "output": output.name})
        for metric in metrics
        for output in metric.outputs
        if output.rollups and output.primary.steps[-1].reduction is Reduction.TOTAL
    }
    paths = [folder / name for name in ("turns.csv", "turns.jsonl", "dialogues.csv", "dialogues.jsonl")]
    with (
        whole_file(paths[0]) as turns,
        whole_file(paths[1]) as turn_lines,
        whole_file(paths[2]) as dialogues,
        whole_file(paths[3]) as dialogue_lines,
    ):
        turn_rows = CsvWriter(turns, ["dialogue_id", "turn_id", "domain", *of_turns, "missing"])
        dialogue_rows = CsvWriter(dialogues, ["dialogue_id", "exchanges", *of_turns, *of_dialogues, "missing"])
        for dialogue_id, items in groupby(_items(store, run, silent), key=lambda found: found[0]["cluster"]):
            table: list[dict[str, float | None]] = []
            own: list[Row] = []
            for item, scores in items:
                if item["kind"] == DIALOGUE:
                    own += scores
                    continue
                table.append({s["name"]: s["value"] for s in scores})
                turn_id = turn_of(item["id"], dialogue_id)
                domain = loads(item["dimensions"]).get("domain")
                cells = _cells(scores)
                turn_rows.write([dialogue_id, turn_id, domain, *map(cells.get, of_turns), _missing(scores)])
                turn_lines.write(_line({"dialogue_id": dialogue_id, "turn_id": turn_id, "domain": domain}, scores))
            cells = _cells(_trials_averaged(own))
            means = [_sum(table, name) if name in summed else _mean(table, name) for name in of_turns]
            row = [dialogue_id, len(table), *means, *map(cells.get, of_dialogues), _missing(own)]
            dialogue_rows.write(row)
            if own:
                dialogue_lines.write(_line({"dialogue_id": dialogue_id}, own))
    return [*paths, _write_rewrites(folder / "rewrites.csv", source)]


def _trials_averaged(scores: list[Row]) -> list[Row]:
    """One row per metric and output: several trials, and several raters, are averaged."""
    found: dict[tuple[str, str], list[Row]] = {}
    for score in scores:
        found.setdefault((score["metric"], score["output"]), []).append(score)
    averaged = []
    for rows in found.values():
        values = [row["value"] for row in rows if row["value"] is not None]
        averaged.append({**rows[0], "value": sum(values) / len(values)} if len(values) > 1 else rows[0])
    return averaged


def _cells(scores: list[Row]) -> dict[str, Any]:
    return {s["name"]: s["label"] if s["value"] is None else s["value"] for s in scores}


def _missing(scores: list[Row]) -> str:
    return "; ".join(f"{s['name']}: {s['reason']}" for s in scores if s["status"] != "scored")


def _labels(metric: Metric) -> list[str]:
    return [metric_label({"metric": metric.spec.name, "output": output.name}) for output in metric.outputs]


def _name(score: Row) -> str:
    """The column of a score: metric, output where there are several, and who or which time where that is needed."""
    label = metric_label({"metric": score["metric"].partition("/")[2], "output": score["output"]})
    who = score["rater"] if score["source"] == Source.HUMAN else ""  # of a judge there is one, in the signature
    return label + (f"#{score['repeat']}" if score["repeat"] else "") + (f"@{who}" if who else "")


def _write_rewrites(path: Path, source: DialogueSource) -> Path:
    header = ["side", "slot", "written", "normal_form", "count"]
    found = source.rewrites()
    return write_csv(
        path, header, ((a, b, raw, "(absent)" if normal is None else normal, n) for a, b, raw, normal, n in found)
    )


def _items(store: Store, run: Run, silent: set[tuple[str, str]]) -> Iterator[tuple[Row, list[Row]]]:
    """Each exchange and dialogue with its real scores (no baselines), in the order of the data."""
    for item, scores in stream_items_with_scores(store, run, without=silent):
        yield item, [{**s, "name": _name(s)} for s in scores if not s["variant"]]


def _line(about: Row, scores: list[Row]) -> str:
    """One line of JSON. The evidence is stored as JSON and goes in as it is."""
    head = dumps(about)
    parts = []
    for score in scores:
        known = {key: score[key] for key in ("value", "label", "status", "reason") if score[key] is not None}
        text = dumps(known)
        if score["evidence"] is not None:
            text = f'{text[:-1]}, "evidence": {score["evidence"]}}}'
        parts.append(f"{dumps(score['name'])}: {text}")
    return f'{head[:-1]}, "scores": {{{", ".join(parts)}}}}}\n'


def _sum(table: list[dict[str, float | None]], name: str) -> float | None:
    values = [value for row in table if (value := row.get(name)) is not None]
    return sum(values) if values else None


def _mean(table: list[dict[str, float | None]], name: str) -> float | None:
    values = [value for row in table if (value := row.get(name)) is not None]
    return sum(values) / len(values) if values else None
