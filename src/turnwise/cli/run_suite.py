"""`turnwise run suite.yaml`: one or more runs with their options, for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o
from turnwise.kernel.errors import InputError, UsageError, shorten


def suite(
    file: Annotated[Path, typer.Argument(metavar="SUITE.YAML", help="The file.")],
    out: o.Out = None,
    db: o.Db = None,
    json: o.Json = False,
    dry_run: o.DryRun = False,
) -> None:
    """Run everything a YAML file names.

    Paths in the file are relative to it. Example: {runs: [{room: dialogue, references: refs.jsonl, predictions:
    pred.jsonl, out: results}]}
    """
    from turnwise.cli.console import print_json, say
    from turnwise.cli.running import run_room

    settings, entries = read_suite(file)
    database = db or settings.get("db")
    summaries = []
    for number, entry in enumerate(entries):
        room = entry.pop("room")
        where = f"{file}, runs[{number}]"
        if out is not None:
            entry["out"] = out / (entry.pop("name", None) or (room if len(entries) == 1 else f"{number:02d}-{room}"))
        entry.pop("name", None)
        if not json:
            say(f"run {number + 1} of {len(entries)}: {room}")
        summaries.append(run_room(room, entry, db=database, as_json=False, dry_run=dry_run, where=where, quiet=json))
    if json:
        print_json(summaries[0] if len(summaries) == 1 else {"runs": summaries})


def read_suite(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The common settings and the runs of a suite file, paths made relative to the file."""
    import yaml

    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file} cannot be read", found=error.strerror or str(error)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not YAML", found=" ".join(str(error).split())) from error
    runs = data.get("runs") if isinstance(data, dict) else None
    if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
        raise InputError(
            "a suite file needs a list of runs",
            where=str(file),
            found=shorten(data),
            expected="runs: [{room: dialogue, references: ..., predictions: ...}]",
        )
    unknown = sorted(set(data) - {"runs", "db"})
    if unknown:
        raise UsageError(f"a suite file has no {unknown[0]!r}", where=str(file), expected="runs, db")
    settings = {key: value for key, value in data.items() if key == "db"}
    if isinstance(settings.get("db"), str) and "://" not in settings["db"]:
        settings["db"] = str(file.parent / settings["db"])
    return settings, [_entry(run, number, file) for number, run in enumerate(runs)]


def _entry(run: dict[str, Any], number: int, file: Path) -> dict[str, Any]:
    where = f"{file}, runs[{number}]"
    entry = {str(key).replace("-", "_"): value for key, value in run.items()}
    if not isinstance(entry.get("room"), str):
        raise UsageError("a run of a suite file needs a room", where=where, expected="room: dialogue")
    if "db" in entry:
        raise UsageError("db stands at the top of a suite file, for all runs", where=where)
    for key in _path_options(entry["room"]):
        if isinstance(entry.get(key), str):
            entry[key] = file.parent / entry[key]
    return entry


def _path_options(room: str) -> list[str]:
    """Options of a room that are paths."""
    from turnwise.rooms import get_suite

    fields = get_suite(room).options.model_fields
    return [name for name, field in fields.items() if "Path" in str(field.annotation)]
