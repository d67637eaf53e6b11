"""Options that several commands share, and options that take several values."""

from __future__ import annotations

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
ExecutorName = Annotated[
    str | None, typer.Option("--executor", metavar="inline|processes", help="Where batches are measured.")
]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Worker processes (default: one per core).")]
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


def given(**values: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in values.items() if value is not None and value is not False}
