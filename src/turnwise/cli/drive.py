"""`turnwise drive`: play scenarios against a live system and keep what happened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o


def drive(
    scenarios: Annotated[
        list[Path] | None, typer.Argument(metavar="SCENARIO...", help="YAML files, or folders of them.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="ws://...",
            help="Where the system listens; {scenario} and {participant} stand for their names.",
        ),
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(metavar="acs|openai-realtime|twilio", help="What it speaks (default: acs).")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where captures go, a folder each.")] = Path("captures"),
    repeat: Annotated[int, typer.Option(min=1, max=10_000, help="Times each scenario is played.")] = 1,
    parallel: Annotated[int, typer.Option(min=1, max=1000, help="Scenarios that are played side by side.")] = 1,
    timeout: Annotated[
        float | None, typer.Option(min=1, help="Seconds for one scenario (default: its length and a minute).")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="'NAME: VALUE'", help="A header; ${VARIABLE} is taken from the environment."),
    ] = None,
    bearer: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="The environment variable that holds a bearer token.")
    ] = None,
    ca: Annotated[Path | None, typer.Option(metavar="FILE", help="A certificate authority for wss://.")] = None,
    say_command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Speaks {text} into the file {out}, for turns of type say.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(metavar="wire.jsonl", help="Build a capture from a wire log instead.")
    ] = None,
    score: Annotated[
        bool, typer.Option("--score", help="Score the captures at once, as `turnwise run interpreting` does.")
    ] = False,
    profile: o.Profile = None,
    system: o.System = None,
    version: o.Version = None,
    db: o.Db = None,
    json: o.Json = False,
) -> None:
    """Play scenarios against a live system and keep what it did, with every clock.

    Example: turnwise drive scenarios/ --url ws://localhost:8765/{scenario} --out captures --score
    """
    from turnwise.cli.console import print_json, print_table, say
    from turnwise.kernel.errors import UsageError

    scoring = o.given(profile=profile, system=system, version=version, db=db)
    if scoring and not score:
        raise UsageError(f"--{next(iter(scoring))} is for --score only", remedy="add --score")
    if replay is not None:
        if score:
            raise UsageError("--score is for calls, not for --replay", remedy=f"turnwise run interpreting {out}")
        calling = o.given(SCENARIO=scenarios, url=url, header=header, bearer=bearer, ca=ca, say_command=say_command)
        if calling:
            named = [name if name.isupper() else f"--{name.replace('_', '-')}" for name in calling]
            raise UsageError("--replay makes no call", found=", ".join(named), remedy="leave out one or the other")
        rows = [_replayed(replay, out, protocol)]
    else:
        if not scenarios or url is None:
            what = "no scenario is named" if not scenarios else "--url is missing"
            raise UsageError(what, expected="turnwise drive SCENARIO... --url ws://...", remedy="turnwise drive --help")
        from turnwise.live.address import make_address
        from turnwise.live.drive import drive as drive_all
        from turnwise.live.scenario import load_scenarios

        found = load_scenarios(scenarios)
        address = make_address(url, header or (), bearer, ca)
        driven = drive_all(
            found,
            address,
            protocol or "acs",
            out,
            repeat=repeat,
            parallel=parallel,
            timeout_s=timeout,
            say_command=say_command,
            told=lambda scenario, number, what: say(f"{scenario.id}{f' #{number + 1}' if repeat > 1 else ''}: {what}"),
        )
        rows = [_row(one.scenario.id, one.folder, one.capture) for one in driven]
    if not json:
        print_table(_table(rows))
    summary = _scored(rows, out, scoring, as_json=json) if score else None
    if json:
        print_json(rows if summary is None else {"captures": rows, "summary": summary})
    if any(row["reason"] for row in rows):
        raise typer.Exit(1)


def _scored(rows: list[dict[str, Any]], out: Path, scoring: dict[str, Any], *, as_json: bool) -> dict[str, Any]:
    """Score what was driven, and nothing else that lies beside it; the results go into the same folders."""
    from turnwise.cli.running import run_room

    db = scoring.pop("db", None)
    values = {**scoring, "captures": [row["folder"] for row in rows], "out": out, "timelines": True}
    return run_room("interpreting", values, db=db, quiet=as_json)


def _replayed(path: Path, out: Path, protocol: str | None) -> dict[str, Any]:
    from turnwise.live.replay import replay

    capture = replay(path, out, protocol)
    return _row(capture.header.scenario_id, out, capture)


def _row(name: str, folder: Path, capture: Any) -> dict[str, Any]:
    heard = sum(event.get("audible_ms", 0.0) for event in capture.events)
    return {
        "scenario": name,
        "folder": str(folder),
        "reason": capture.reason,
        "seconds": round((capture.ended_ms or 0.0) / 1000, 3),
        "turns_played": sum(turn.start_ms is not None for turn in capture.header.turns),
        "turns": len(capture.header.turns),
        "events": len(capture.events),
        "audible_seconds": round(heard / 1000, 3),
        "late_p99_ms": capture.clock.get("late_p99_ms"),
    }


def _table(rows: list[dict[str, Any]]) -> Any:
    from turnwise.report.tables import Table

    cells = [
        [
            row["scenario"],
            f"{row['turns_played']}/{row['turns']}",
            f"{row['seconds']:.1f}",
            str(row["events"]),
            f"{row['audible_seconds']:.1f}",
            "-" if row["late_p99_ms"] is None else f"{row['late_p99_ms']:.1f}",
            row["reason"] or row["folder"],
        ]
        for row in rows
    ]
    header = ["scenario", "turns", "seconds", "events", "heard, s", "frames late p99, ms", "capture, or why it ended"]
    return Table("captures", header, cells, [], (1, 2, 3, 4, 5))
