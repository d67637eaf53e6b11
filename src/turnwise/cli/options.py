"""Options that several commands share, and options that take several values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from turnwise.kernel.errors import UsageError

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Db = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="PATH|URL", help="Database: a file, or postgresql://... (default: the user's data directory)."
    ),
]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, the beginning of it, or `latest`.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metrics", metavar="NAME...", help="Which metrics: a b, or a,b, or repeated (default: all)."),
]
Profile = Annotated[
    str | None,
    typer.Option("--profile", metavar="turnwise|spec", help="Rules of turnwise, or the document's to the letter."),
]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A metric's setting; repeat for more.")
]
By = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="DIMENSION", help="Also per dimension or metadata column; a,b crosses two."),
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write summary.json and the room's files there.")
]
System = Annotated[str | None, typer.Option("--system", metavar="NAME", help="The name of the system under test.")]
Version = Annotated[
    str | None, typer.Option("--version", metavar="TEXT", help="Its version: a prompt version, a git hash.")
]
Baselines = Annotated[
    bool, typer.Option("--baselines", help="Also score systems that are none: empty, never silent, an oracle.")
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="Where it is measured: inline (default), processes[:N], dask, or tcp://scheduler:8786.",
    ),
]
ExecutorName = Annotated[
    str | None, typer.Option("--executor", metavar="NAME", hidden=True, help="The older word for --engine.")
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, help="Workers of the engine; with an address, how many to wait for."),
]
Judge = Annotated[
    list[Path] | None,
    typer.Option("--judge", metavar="RUBRIC.YAML", help="A rubric of your own becomes a metric; repeat for more."),
]
JudgeUrl = Annotated[
    str | None,
    typer.Option("--judge-url", metavar="URL", help="An OpenAI-compatible endpoint; its key: TURNWISE_JUDGE_API_KEY."),
]
JudgeModel = Annotated[str | None, typer.Option("--judge-model", metavar="NAME", help="The model that judges.")]
JudgeConfig = Annotated[
    Path | None, typer.Option("--judge-config", metavar="FILE", help="YAML: the judge, its settings and prices.")
]
JudgeCassette = Annotated[
    Path | None, typer.Option("--judge-cassette", metavar="DIR", help="Record what the judge says here.")
]
JudgeReplay = Annotated[
    Path | None, typer.Option("--judge-replay", metavar="DIR", help="Take its answers from here; no network.")
]
JudgeRepeats = Annotated[
    int | None, typer.Option("--judge-repeats", metavar="N", help="Ask so often; the median or majority counts.")
]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", metavar="N", help="Never ask the judge more often.")]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", metavar="AMOUNT", help="Never spend more; needs prices in the config.")
]
Resamples = Annotated[int | None, typer.Option("--resamples", help="Bootstrap resamples (default 1000).")]
Resume = Annotated[
    str | None, typer.Option("--resume", metavar="RUN", help="Go on with a run that was interrupted or failed.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Load, check and print the plan; measure nothing.")]


class GreedyCommand(TyperCommand):
    """A command whose list options take values up to the next option: `--metrics a b` is `--metrics a --metrics b`."""

    greedy: tuple[str, ...] = ("--metrics",)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option in front of each of its values, then parse as usual."""
        expanded: list[str] = []
        option: str | None = None
        fresh = False
        for position, word in enumerate(args):
            if word == "--":
                expanded += args[position:]
                break
            if word.startswith("-"):
                option, fresh = (word, True) if word in self.greedy else (None, False)
                expanded.append(word)
            elif option is not None:
                expanded += [word] if fresh else [option, word]
                fresh = False
            else:
                expanded.append(word)
        return super().parse_args(ctx, expanded)


def parse_settings(
    words: list[str] | None, option: str = "--set", example: str = "--set scope=all"
) -> dict[str, str] | None:
    """`NAME=VALUE` words as a dictionary."""
    if not words:
        return None
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{option} {word}: not a setting", expected=f"NAME=VALUE, e.g. {example}")
        found[name.strip()] = value
    return found


@dataclass(frozen=True)
class Shared:
    """What a command was given of the options that all rooms have."""

    values: dict[str, Any]
    db: str | None
    json: bool
    resume: str | None
    dry_run: bool

    def run(self, room: str, **own: Any) -> dict[str, Any]:
        """Run the room with these options and its own."""
        from turnwise.cli.running import run_room

        values = given(**{**self.values, **own})
        return run_room(room, values, db=self.db, as_json=self.json, resume=self.resume, dry_run=self.dry_run)


def _shared(
    metrics: Metrics = None,
    profile: Profile = None,
    set_: Set = None,
    by: By = None,
    baselines: Baselines = False,
    system: System = None,
    version: Version = None,
    judge: Judge = None,
    judge_url: JudgeUrl = None,
    judge_model: JudgeModel = None,
    judge_config: JudgeConfig = None,
    judge_cassette: JudgeCassette = None,
    judge_replay: JudgeReplay = None,
    judge_repeats: JudgeRepeats = None,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    out: Out = None,
    db: Db = None,
    json: Json = False,
    engine: Engine = None,
    executor: ExecutorName = None,
    workers: Workers = None,
    resamples: Resamples = None,
    resume: Resume = None,
    dry_run: DryRun = False,
) -> Shared:
    values = {**locals(), "set": parse_settings(set_)}
    for name in ("set_", "db", "json", "resume", "dry_run"):
        del values[name]
    return Shared(values, db, json, resume, dry_run)


def with_shared(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that all rooms have, as its argument `shared`; its own of the same name come first."""
    own = {name: one for name, one in signature(command, eval_str=True).parameters.items() if name != "shared"}
    shared = {name: one for name, one in signature(_shared, eval_str=True).parameters.items() if name not in own}

    @wraps(command)
    def run(**values: Any) -> None:
        mine = {name: values[name] for name in own}
        command(**mine, shared=_shared(**{name: values[name] for name in shared}))

    parameters = [*own.values(), *shared.values()]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def given(**values: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in values.items() if value is not None and value is not False}
