"""The files of a run: `all.json` and the files of every category, and of recordings who spoke when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from turnwise.duplex.cases import DELAY, REJECT, heard_case
from turnwise.duplex.categories import LANGUAGES, Category, Measured, category_named
from turnwise.duplex.category_files import AVERAGE_DELAY, AVERAGE_RESP, AVERAGE_STOP, Averages, Intervals, Under
from turnwise.duplex.experiment import ALL, DELAYS, INTERVALS, REJECTS, TAGS
from turnwise.duplex.load import FiledSource, HeardSource
from turnwise.duplex.marks import marks_of
from turnwise.duplex.picture import timeline_svg
from turnwise.duplex.records import CONVERSATION, Timeline
from turnwise.duplex.timeline_json import from_json
from turnwise.duplex.timeline_page import write_timeline_page
from turnwise.duplex.timing import Interval, response_intervals, stop_intervals
from turnwise.duplex.totals import TOTALS, Totals
from turnwise.kernel.filenames import free_name, plain_name
from turnwise.kernel.jsontext import dumps, loads
from turnwise.kernel.metric import SPEC
from turnwise.report.files import CsvWriter, make_folder, whole_file, write_json
from turnwise.store.reading import stream_items, stream_items_with_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

SCORE = "score"
"""The folder of the categories' files, so that it can be scored again with `--files` or `--scores`."""


def write_duplex_files(store: Store, run: Run, source: FiledSource | HeardSource, folder: Path) -> list[Path]:
    """Everything but the common `summary.json`."""
    totals = Totals(store.rollups(run), run.profile == SPEC)
    whole = totals.known and set(TOTALS) <= set(run.config["metrics"])  # part of them would look like the rest missing
    files = [write_json(folder / "all.json", totals.all_json())] if whole else []
    if isinstance(source, FiledSource):
        return files + ([] if run.config.get("scores") else _write_averages(source.averages, folder / SCORE))
    files += [*_write_timelines(store, run, folder), _write_events(store, run, folder / "events.csv")]
    if totals.known:
        files += _write_categories(store, run, folder / SCORE)
    if run.config.get("timelines"):
        files += _write_pictures(store, run, folder / "timelines")
    return files


def _write_averages(averages: Mapping[tuple[str, Category], Averages], folder: Path) -> list[Path]:
    found = []
    for (language, category), average in averages.items():
        inner = make_folder(folder / language / category.name)
        found.append(write_json(inner / f"{category.name}{ALL}", average.values))
    return found


def _heard(store: Store, run: Run) -> Iterator[Timeline]:
    """Every conversation that could be heard, as it was kept."""
    for item in stream_items(store, run, CONVERSATION):
        content = loads(item["content"]) if item["content"] else {}
        if "user" in content and "unusable" not in content:
            yield from_json(content, item["id"])


def _write_timelines(store: Store, run: Run, folder: Path) -> list[Path]:
    """Who spoke when, one conversation per line: to be scored again without the audio."""
    path = folder / "timelines.jsonl"
    contexts: list[Path] = []
    taken: set[str] = set()
    with whole_file(path) as file:
        for item in stream_items(store, run, CONVERSATION):
            content = loads(item["content"]) if item["content"] else {}
            if "user" not in content:
                continue
            file.write(f"{dumps(content)}\n")
            if "latency_assistant_turns" in content.get("context", {}):
                inner = make_folder(folder / "contexts")
                contexts.append(write_json(inner / f"{_free(item['id'], taken)}.json", content["context"]))
    return [path, *contexts]


def _write_events(store: Store, run: Run, path: Path) -> Path:
    """What the user did, with every score of it."""
    labels = list(dict.fromkeys(_column(one) for one in store.rollups(run) if not one["variant"]))
    with whole_file(path) as file:
        writer = CsvWriter(file, ["conversation", "event", "kind", "start", "end", "agent_speaks", *labels, "missing"])
        for item, scores in stream_items_with_scores(store, run, with_content=True):
            content = loads(item["content"]) if item["content"] else {}
            if item["kind"] == CONVERSATION or "kind" not in content:
                continue
            own = {_column(score): score for score in scores if not score["variant"]}
            cells = [_shown(own.get(name)) for name in labels]
            reasons = [f"{name}: {score['reason']}" for name, score in own.items() if score["reason"]]
            about = [content[name] for name in ("kind", "start", "end", "agent_speaks")]
            writer.write([item["cluster"], item["id"], *about, *cells, "; ".join(reasons)])
    return path


def _column(score: Any) -> str:
    name = str(score["metric"]).rpartition("/")[2]
    return name if score["output"] == "value" else f"{name}.{score['output']}"


def _shown(score: Any) -> Any:
    if score is None:
        return None
    return score["label"] if score["value"] is None else score["value"]


def _write_categories(store: Store, run: Run, folder: Path) -> Iterator[Path]:
    """Intervals, delays, counts, labels and averages of every category, as the challenge defines and names them."""
    found: dict[tuple[str, Category], list[Timeline]] = {}
    for timeline in _heard(store, run):
        category = category_named(timeline.category or "")
        if category is not None and timeline.language in LANGUAGES:
            found.setdefault((timeline.language, category), []).append(timeline)
    for (language, category), timelines in found.items():
        inner = make_folder(folder / language / category.name)
        under, rows = _under(category, timelines)
        latencies = {AVERAGE_STOP: under.latency(stop=True) or 0.0, AVERAGE_RESP: under.latency(stop=False) or 0.0}
        yield write_json(inner / f"{category.name}{INTERVALS}", {"results": rows, "average_latency": latencies})
        delay = {AVERAGE_DELAY: under.delay[0], "num_samples": under.delay[1]}
        yield write_json(inner / f"{category.name}{DELAYS}", {"folder": f"{language}/{category.name}", **delay})
        if under.rejects is not None:
            ahead, total = under.rejects
            yield write_json(inner / REJECTS, {"total": total, "ahead": ahead, "ratio": ahead / total})
        if under.labels:
            path = inner / f"{category.name}{TAGS}"
            with whole_file(path) as file:
                for key, labels in under.labels:
                    file.write(dumps({"key": key, "behaviour": list(labels)}) + "\n")
            yield path
        if under.rejects is not None or under.labels:
            averages = under.computed(category, rounded=True)
            yield write_json(inner / f"{category.name}{ALL}", averages.values)


def _under(category: Category, timelines: Sequence[Timeline]) -> tuple[Under, list[dict[str, Any]]]:
    """What the challenge keeps of the conversations of a category, and the rows of its intervals."""
    rows, intervals = [], []
    delays, decided = [], []
    for timeline in timelines:
        user, agent = timeline.user or (), timeline.agent or ()
        stop, resp = _rounded(stop_intervals(user, agent)), _rounded(response_intervals(user, agent))
        rows.append({"key": timeline.key, "latency_stop_list": stop, "latency_resp_list": resp})
        lengths = [sum(end - start for start, end in found) for found in (stop, resp)]
        intervals.append(Intervals(timeline.key, lengths[0], len(stop), lengths[1], len(resp)))
        facts = heard_case(timeline).facts
        delays += [facts[DELAY].total] if facts[DELAY].n and facts[DELAY].total > 0 else []
        decided += [facts[REJECT].total] if REJECT in facts and not facts[REJECT].reason else []
    rejects = (int(sum(decided)), len(decided)) if decided else None
    labelled = timelines if category.measured is not Measured.REJECT else ()
    labels: list[tuple[str, tuple[str, ...]]] = [(one.key, (one.behaviour,)) for one in labelled if one.behaviour]
    delay = (sum(delays) / len(delays) if delays else 0, len(delays))
    return Under(delay, labels, intervals, None, rejects), rows


def _rounded(intervals: list[Interval]) -> list[list[float]]:
    return [[round(start, 3), round(end, 3)] for start, end in intervals]


def _write_pictures(store: Store, run: Run, folder: Path) -> Iterator[Path]:
    """A picture and a page of every conversation."""
    make_folder(folder)
    taken: set[str] = set()
    for item, scores in stream_items_with_scores(store, run, with_content=True):
        content = loads(item["content"]) if item["content"] else {}
        if item["kind"] != CONVERSATION or "user" not in content or "unusable" in content:
            continue
        timeline = from_json(content, item["id"])
        marks = marks_of(timeline)
        name = _free(timeline.key, taken)
        picture = folder / f"{name}.svg"
        with whole_file(picture) as file:
            file.write(timeline_svg(timeline, marks))
        yield picture
        own = [{**score, "metric": _column(score)} for score in scores if not score["variant"]]
        yield write_timeline_page(folder / f"{name}.html", timeline, marks, scores=own)


def _free(key: str, taken: set[str]) -> str:
    """A file's name for a conversation, numbered where two would be the same."""
    name = free_name(plain_name(key), taken.__contains__)
    taken.add(name.casefold())
    return name
