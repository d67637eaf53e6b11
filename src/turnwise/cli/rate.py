"""`turnwise rate RUN`: what people say about the replies of an assistant."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from turnwise.cli import options as o

Turn = Annotated[
    str | None, typer.Option("--turn", metavar="ID", help="Which turn, as session#number (default: the latest).")
]
Rater = Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Who rates (default: the user's name).")]


def rate(
    name: o.RunName,
    message: Annotated[
        list[str] | None, typer.Argument(metavar="MESSAGE", help="'!score empathy:5 clarity:4'; none: turn by turn.")
    ] = None,
    turn: Turn = None,
    rater: Rater = None,
    show_version: Annotated[
        bool, typer.Option("--show-version", help="Show which version a reply is of; turns in the order of the data.")
    ] = False,
    history: Annotated[bool, typer.Option("--history", help="Who rated what, and who changed it when.")] = False,
    agreement: Annotated[bool, typer.Option("--agreement", help="How well several raters agree, per scale.")] = False,
    db: o.Db = None,
    json: o.Json = False,
) -> None:
    """Rate the replies of an assistant: by a message, or turn by turn with single keys.

    Examples: turnwise rate latest '!score professionalism:4 empathy:5 clarity:5'; turnwise rate latest
    """
    from turnwise.assistant.rating import find_turn, rateable_run
    from turnwise.kernel.errors import UsageError
    from turnwise.store.store import Store

    text = " ".join(message or [])
    if [bool(text), history, agreement].count(True) > 1:
        raise UsageError("a message, --history and --agreement are three things", remedy="one at a time")
    if agreement and turn is not None:
        raise UsageError("--agreement is about all turns that several people rated", remedy="leave out --turn")
    store = Store(db)
    try:
        run = rateable_run(store, name)
        chosen = None if turn is None else find_turn(store, run, turn)
        if history:
            _print_history(store, run, turn, rater, json)
        elif agreement:
            _print_agreement(store, run, json)
        elif text:
            _rate(store, run, text, chosen, _name(rater), json)
        elif json:
            raise UsageError("turn by turn there is nothing to print as JSON", remedy="give a message, or --history")
        else:
            _walk(store, run, chosen, _name(rater), show_version)
    finally:
        store.close()


def _name(rater: str | None) -> str:
    """Who rates: the name that was given, or the one the system knows."""
    from getpass import getuser

    from turnwise.assistant.rating import check_rater

    if rater is None:
        try:
            rater = getuser()
        except (OSError, KeyError, ImportError):  # a process without a user, as in some containers
            rater = ""
    return check_rater(rater)


def _rate(store: Any, run: Any, text: str, chosen: Any, rater: str, json: bool) -> None:
    from turnwise.assistant.commands import carry_out
    from turnwise.assistant.scales import COMPOSITES
    from turnwise.cli.console import print_json, say

    rated = carry_out(text, store, run, rater=rater, turn=None if chosen is None else chosen.id)
    if json:
        q = rated.outcome.qualities
        made = dict(zip(COMPOSITES, (q.objective, q.subjective, q.overall), strict=True))
        given = {"run": run.id, "turn": rated.turn, "rater": rated.rater, "ratings": rated.ratings}
        print_json({**given, **made, "band": q.band, "made_of": q.made_of})
        return
    print(rated.answer)
    say(f"turn {rated.turn} of run {run.id}, rated by {rated.rater}")


def _walk(store: Any, run: Any, chosen: Any, rater: str, show_version: bool) -> None:
    from turnwise.assistant.rating_walk import Walk, unrated_turns
    from turnwise.cli.console import say
    from turnwise.cli.keys import pressed_keys
    from turnwise.cli.rating_screen import walk_through

    again = chosen is not None
    turns = [chosen] if again else unrated_turns(store, run, rater, blind=not show_version)
    walk = Walk(store, run, rater, turns, again=again)
    if not turns:
        say(f"{rater} has rated every turn of run {run.id} that has a reply")
        return
    say(f"run {run.id}: {_counted(len(turns), 'turn')} to rate for {rater}; every answer is kept at once")
    try:
        with pressed_keys() as keys:
            walk_through(walk, keys, show_version=show_version)
    finally:
        left = walk.unrated
        say(f"\n{_counted(walk.ratings, 'rating')} by {rater} kept; {_counted(left, 'turn')} left to rate")


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _print_history(store: Any, run: Any, turn: str | None, rater: str | None, json: bool) -> None:
    from dataclasses import asdict

    from turnwise.cli.console import print_json, print_table
    from turnwise.report.tables import Table
    from turnwise.store.ratings import rating_changes

    changes = [
        change
        for change in rating_changes(store, run)
        if turn in (None, change.unit) and (rater is None or change.rater == rater)
    ]
    if json:
        print_json([asdict(change) for change in changes])
        return

    def said(value: float | None, note: str) -> str:
        return note or "–" if value is None else f"{value:g}"

    rows = [
        [
            change.at[:19].replace("T", " "),
            change.unit,
            change.metric.partition("/")[2].removesuffix("_score"),
            change.rater,
            said(change.before, ""),
            said(change.after, change.note),
            change.by,
        ]
        for change in changes
    ]
    header = ["when (UTC)", "turn", "scale", "rater", "before", "after", "by"]
    print_table(Table(f"{_counted(len(rows), 'change')} of ratings in run {run.id}", header, rows, [], (4,)))


def _print_agreement(store: Any, run: Any, json: bool) -> None:
    from turnwise.assistant.rating_agreement import agreement_by_scale
    from turnwise.cli.console import print_json, print_table
    from turnwise.report.tables import Table, interval, number

    found = [one.as_json() for one in agreement_by_scale(store, run)]
    if json:
        print_json({"run": run.id, "scales": found})
        return
    rows: list[list[str]] = []
    why: dict[str, dict[str, None]] = {}
    for one in found:
        cells = [one["scale"], str(len(one["raters"])), str(one["turns"])]
        for name in ("weighted_kappa", "alpha"):
            cells += [number(one[name]["value"]), interval(one[name])]
            if one[name]["low"] is None:
                reason = one[name]["reason"] or one[name]["interval"].removeprefix("none: ")
                why.setdefault(reason, {})[one["scale"]] = None
        rows.append(cells)
    header = ["scale", "raters", "turns", "weighted kappa", "95 % interval", "alpha", "95 % interval"]
    notes = ["turns that two or more people rated; quadratic weights; Krippendorff's alpha, ordinal; by session"]
    notes += [f"missing ({reason}): {', '.join(names)}" for reason, names in why.items()]
    print_table(Table(f"agreement of the raters of run {run.id}", header, rows, notes, (1, 2, 3, 5)))
