"""`turnwise judge`: how well a judge agrees with people, and what judges are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o

app = typer.Typer(help="Hold a judge against people, and look at rubrics.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def root() -> None:
    """Hold a judge against people, and look at rubrics."""


@app.command()
def calibrate(
    rubric: Annotated[
        str, typer.Option("--rubric", metavar="FILE|ROOM/NAME", help="What the judge was asked, or is to be asked.")
    ],
    ratings: Annotated[
        Path | None, typer.Option("--ratings", metavar="FILE", help="People's ratings: CSV, TSV or JSON lines.")
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="The judge's scores are those of a stored run.")
    ] = None,
    dimension: Annotated[
        str | None, typer.Option("--dimension", metavar="NAME", help="Only this dimension of the rubric.")
    ] = None,
    judge_url: o.JudgeUrl = None,
    judge_model: o.JudgeModel = None,
    judge_config: o.JudgeConfig = None,
    judge_cassette: o.JudgeCassette = None,
    judge_replay: o.JudgeReplay = None,
    judge_repeats: o.JudgeRepeats = None,
    max_calls: o.MaxCalls = None,
    max_cost: o.MaxCost = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write calibration.json, .md and every item there.")
    ] = None,
    db: o.Db = None,
    json: o.Json = False,
) -> None:
    """Compare a judge with people, and keep what was found; its scores are marked uncalibrated until then.

    The judge's scores stand in a column `judge` of the ratings, or in a stored run (--run), or the judge is asked now.

    Example: turnwise judge calibrate --ratings human.csv --rubric dialogue/response_quality --judge-model NAME
    """
    from turnwise.judge.calibrate import calibrate as compare
    from turnwise.store.store import Store

    said = {
        name: value for name, value in locals().items() if name.startswith(("judge_", "max_")) and value is not None
    }
    found_rubric = _rubric(rubric)
    store = Store(db)
    try:
        given = _gather(found_rubric, ratings, run, dimension, said, store)
        found = compare(given)
        kept = [_keep(store, one) for one in found if one.model is not None]
        if out is not None:
            _write(found, out)
        _print(given, found, bool(kept), store, json)
    finally:
        store.close()


def _rubric(name: str) -> Any:
    """A rubric from a file, or a packaged one by `room/name`."""
    from turnwise.judge.rubric import packaged_rubric, read_rubric
    from turnwise.kernel.errors import UsageError

    path = Path(name)
    if path.suffix.lower() in (".yaml", ".yml", ".json") or path.is_file():
        return read_rubric(path)
    room, slash, short = name.partition("/")
    if not slash or "/" in short:
        remedy = "a YAML file, or the name of a packaged one: turnwise judge rubrics lists them"
        raise UsageError(f"--rubric {name}: not a rubric", expected=remedy)
    return packaged_rubric(room, short)


def _gather(
    rubric: Any, ratings: Path | None, run: str | None, dimension: str | None, said: dict[str, Any], store: Any
) -> Any:
    """What people and the judge said, whichever of the three ways it comes in."""
    from turnwise.judge.calibration_input import from_columns, judge_columns, rated_columns
    from turnwise.judge.ratings_file import read_ratings
    from turnwise.kernel.errors import UsageError

    asks = sorted(set(said) - {"judge_model"})
    if run is not None and said:
        option = f"--{next(iter(said)).replace('_', '-')}"
        raise UsageError(
            f"{option} is for asking a judge; the scores of --run are there already", remedy="leave one out"
        )
    if ratings is None:
        if run is None:
            raise UsageError(
                "there is nothing to compare with", remedy="--ratings FILE, or --run RUN that people rated"
            )
        return _stored(rubric, None, {}, run, dimension, store)
    file = read_ratings(ratings)
    rated = rated_columns(file.columns, rubric, dimension)
    columns = judge_columns(file.columns, rubric, list(rated))
    if run is not None:
        if columns:
            raise UsageError(f"{ratings} holds scores of a judge, and so does --run", remedy="leave out one of the two")
        return _stored(rubric, file, rated, run, dimension, store)
    if columns:
        if asks:
            option = f"--{asks[0].replace('_', '-')}"
            raise UsageError(
                f"{ratings} already holds scores of a judge, in the column {next(iter(columns.values()))}",
                remedy=f"leave out {option}, or the column",
            )
        return from_columns(file, rubric, rated, said.get("judge_model"))
    return _asked(rubric, file, rated, said)


def _stored(rubric: Any, file: Any, rated: dict[str, str], run: str, dimension: str | None, store: Any) -> Any:
    from turnwise.judge.calibration_run import from_file_and_run, from_run

    found = store.run(run)
    return (
        from_run(rubric, store, found, dimension)
        if file is None
        else from_file_and_run(file, rubric, rated, store, found)
    )


def _asked(rubric: Any, file: Any, rated: dict[str, str], said: dict[str, Any]) -> Any:
    from turnwise.cli.console import progress_bar, say
    from turnwise.judge.calibration_input import from_judge
    from turnwise.kernel.errors import UsageError

    judge = _judge(said)
    if judge is None:
        raise UsageError(
            f"{file.path} has no scores of a judge, and there is no judge to ask",
            found=f"columns {', '.join(file.columns)}",
            remedy="--judge-url URL --judge-model NAME, --judge-replay DIR, --run RUN, or a column judge",
        )
    how = "replayed" if judge.replays else "asked now"
    how += f" {judge.repeats} times" if judge.repeats > 1 else ""
    with progress_bar("asking the judge") as bar:
        found = from_judge(file, rubric, rated, judge, how, lambda done, total, in_flight: bar(done, total))
    say(judge.tally.sentence(judge.model))
    return found


def _judge(said: dict[str, Any]) -> Any:
    """The judge that the options name, or None; its answers are recorded where --judge-cassette says, else nowhere."""
    from pydantic import ValidationError

    from turnwise.judge.options import JudgeOptions, make_judge, settings_of
    from turnwise.kernel.errors import UsageError

    try:
        options = JudgeOptions(**said)
    except ValidationError as error:
        first = error.errors()[0]
        option = f"--{str(first['loc'][0]).replace('_', '-')}"
        raise UsageError(f"{option}: {first['msg']}", found=str(first["input"])) from error
    settings = settings_of(options)
    return None if settings is None else make_judge(options, settings, None)


def _keep(store: Any, found: Any) -> Any:
    from turnwise.judge.calibration_table import as_json
    from turnwise.store.calibrations import save_calibration

    return save_calibration(
        store,
        rubric=found.rubric,
        rubric_hash=found.rubric_hash,
        model=found.model,
        dimension=found.dimension,
        n=found.n,
        record=as_json(found),
    )


def _write(found: list[Any], out: Path) -> None:
    """The results as JSON and Markdown, and every item, the largest disagreement first, as CSV."""
    from turnwise.cli.console import say
    from turnwise.judge.calibration_table import ITEM_HEADER, as_json, item_rows, tables
    from turnwise.report.files import make_folder, whole_file, write_csv, write_json
    from turnwise.report.tables import as_markdown

    folder = make_folder(out)
    paths = [write_json(folder / "calibration.json", {"calibrations": [as_json(one) for one in found]})]
    paths.append(write_csv(folder / "items.csv", ITEM_HEADER, [row for one in found for row in item_rows(one)]))
    paths.append(folder / "calibration.md")
    with whole_file(paths[-1]) as file:
        for one in found:
            file.write("\n\n".join([*map(as_markdown, tables(one)), one.verdict.sentence]) + "\n\n")
    say(f"wrote {', '.join(map(str, paths))}")


def _print(given: Any, found: list[Any], kept: bool, store: Any, json: bool) -> None:
    from turnwise.cli.console import print_json, print_table, say
    from turnwise.judge.calibration_table import as_json, tables

    compared = {one.dimension for one in found}
    few = [name for name in given.dimensions if name not in compared]
    notes = [*given.notes, *([f"too little to compare on {', '.join(few)}"] if few else [])]
    if json:
        print_json({"calibrations": [as_json(one) for one in found], "kept": kept, "notes": notes})
        return
    for one in found:
        for table in tables(one):
            print_table(table)
            print()
    for one in found:
        print(one.verdict.sentence)
    for note in notes:
        say(f"note: {note}")
    if kept:
        say(f"kept in {store.place}: tables say so beside the scores of {given.model} under this rubric")
    else:
        say("not kept, because nobody said which model gave the scores: --judge-model NAME")


@app.command()
def rubrics(
    name: Annotated[
        str | None, typer.Argument(metavar="ROOM|ROOM/NAME|FILE", help="A room, a packaged rubric, or a file to check.")
    ] = None,
    json: o.Json = False,
) -> None:
    """List the rubrics that come with turnwise, or show and check one.

    Examples: turnwise judge rubrics dialogue; turnwise judge rubrics my_rubric.yaml
    """
    from turnwise.cli.console import print_json, print_table
    from turnwise.cli.rubric_page import as_json, listing, page
    from turnwise.judge.rubric import packaged_rubrics
    from turnwise.judge.rubric_fields import PIECES

    if name is not None and ("/" in name or "." in name or Path(name).is_file()):
        found = _rubric(name)
        if json:
            print_json(as_json(found))
        else:
            print(page(found))
        return
    known = [one for room in ([name] if name else PIECES) for one in packaged_rubrics(room)]
    if json:
        print_json([as_json(one) for one in known])
    else:
        print_table(listing(known))
