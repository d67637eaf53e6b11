"""`turnwise run suite.yaml`: one or more runs with their options, for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o
from turnwise.kernel.errors import InputError, UsageError, shorten

SHAPE = "runs: [{room: dialogue, references: ..., predictions: ...}]"


def suite(
    file: Annotated[Path, typer.Argument(metavar="SUITE.YAML", help="The file.")],
    out: o.Out = None,
    db: o.Db = None,
    json: o.Json = False,
    dry_run: o.DryRun = False,
    engine: o.Engine = None,
) -> None:
    """Run everything a YAML file names.

    Paths in the file are relative to it; --engine is for all of its runs, whatever they name. Example: {runs: [{room:
    dialogue, references: refs.jsonl, predictions: pred.jsonl, out: results}]}
    """
    from turnwise.cli.console import print_json, say
    from turnwise.cli.running import run_room
    from turnwise.engine.options import elsewhere

    stored_db, entries = read_suite(file)
    _place(entries, out, file)
    if engine is not None:
        entries = [{**elsewhere(entry), "engine": engine} for entry in entries]
    summaries = []
    for number, entry in enumerate(entries):
        room = entry.pop("room")
        if not json:
            say(f"run {number + 1} of {len(entries)}: {room}")
        where = _where(file, number)
        summaries.append(run_room(room, entry, db=db or stored_db, dry_run=dry_run, where=where, quiet=json))
    if json:
        print_json(summaries[0] if len(summaries) == 1 else {"runs": summaries})


def read_suite(file: Path) -> tuple[str | None, list[dict[str, Any]]]:
    """The database and the runs of a suite file, paths made relative to the file, every option checked."""
    data = _read_yaml(file)
    runs = data.get("runs") if isinstance(data, dict) else None
    if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
        what = "a suite file needs a list of runs"
        raise InputError(what, where=str(file), found=shorten(data), expected=SHAPE)
    unknown = sorted(str(key) for key in data if key not in ("runs", "db"))
    if unknown:
        raise UsageError(f"a suite file has no {unknown[0]!r}", where=str(file), expected="runs, db")
    db = data.get("db")
    if db is not None and not isinstance(db, str):
        raise UsageError(
            "db is not a database", where=str(file), found=shorten(db), expected="a path or a URL, as text"
        )
    if db is not None and "://" not in db:
        db = str(file.parent / db)
    return db, [_entry(run, number, file) for number, run in enumerate(runs)]


def _read_yaml(file: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{file} cannot be read", found=error.strerror or str(error), remedy="check the path"
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file} is not YAML", found=" ".join(str(error).split()), expected=SHAPE) from error


def _entry(run: dict[str, Any], number: int, file: Path) -> dict[str, Any]:
    from turnwise.engine.options import parse_options
    from turnwise.rooms import ROOMS, check_room, get_suite

    where = _where(file, number)
    entry = {str(key).replace("-", "_"): value for key, value in run.items()}
    room = entry.get("room")
    if not isinstance(room, str):
        raise UsageError("a run of a suite file needs a room", where=where, expected="room: dialogue")
    check_room(room, ROOMS, where)
    if "db" in entry:
        raise UsageError("db stands at the top of a suite file, for all runs", where=where)
    fields = get_suite(room).options.model_fields
    for key, value in entry.items():
        is_path = key in fields and "Path" in str(fields[key].annotation)
        if isinstance(value, str) and "://" in value:  # a database is where it is
            continue
        if isinstance(value, str) and (is_path or (key in fields and _beside(file, value))):
            entry[key] = str(file.parent / value)
        elif is_path and isinstance(value, list) and all(isinstance(one, str) for one in value):
            entry[key] = [str(file.parent / one) for one in value]
    options = {key: value for key, value in entry.items() if key not in ("room", "name")}
    parse_options(get_suite(room), options, where)  # a typing error in the last run must not cost the ones before it
    return entry


def _beside(file: Path, value: str) -> bool:
    """A file of rules (a normaliser) that lies beside the suite file."""
    return Path(value).suffix in (".yaml", ".yml") and (file.parent / value).is_file()


def _place(entries: list[dict[str, Any]], out: Path | None, file: Path) -> None:
    """Give every run its folder below `--out`, by its name or its number; no two runs may share one."""
    taken: set[Path] = set()
    for number, entry in enumerate(entries):
        name = entry.pop("name", None)
        if out is not None:
            by_number = entry["room"] if len(entries) == 1 else f"{number:02d}-{entry['room']}"
            folder = by_number if name is None else str(name)
            if Path(folder).name != folder:
                raise UsageError(
                    f"a run cannot be called {folder!r}", where=_where(file, number), expected="a plain name"
                )
            entry["out"] = out / folder
        place = Path(entry["out"]).resolve() if entry.get("out") is not None else None
        if place in taken:
            what = f"two runs write to {name or entry['out']!r}: one would overwrite the other"
            raise UsageError(what, where=_where(file, number), remedy="give each run a name or a folder of its own")
        taken |= {place} if place else set()


def _where(file: Path, number: int) -> str:
    return f"{file}, runs[{number}]"
