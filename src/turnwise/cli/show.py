"""`turnwise show RUN`: the results of a run again, sliced by anything, or one item with its evidence."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from turnwise.cli import options as o


def show(
    name: o.RunName,
    by: o.By = None,
    item: Annotated[str | None, typer.Option("--item", metavar="ID", help="Show one item with its evidence.")] = None,
    db: o.Db = None,
    json: o.Json = False,
) -> None:
    """Show a stored run.

    Examples: turnwise show latest --by domain; turnwise show latest --item hotel-01/2
    """
    from turnwise.rooms import register_metrics
    from turnwise.store.store import Store

    register_metrics()
    store = Store(db)
    try:
        run = store.run(name)
        if item is not None:
            _show_item(store, run, item, json)
        else:
            _show_results(store, run, [tuple(part.strip() for part in text.split(",")) for text in by or []], json)
    finally:
        store.close()


def _show_results(store: Any, run: Any, by: list[tuple[str, ...]], json: bool) -> None:
    from turnwise.cli.console import print_json, print_table, say
    from turnwise.cli.running import print_findings
    from turnwise.report.summary import not_installed, stored_or_new, summarise, summary_object, with_calibration
    from turnwise.report.tables import overview, slices
    from turnwise.store.run import FINISHED

    results = summarise(store, run, by) if by else stored_or_new(store, run)
    summary = summary_object(run, with_calibration(store, results))
    for metric in not_installed(store, run) if by else ():
        say(f"note: {metric} is not installed here; its scores are kept, but not sliced")
    if json:
        print_json(summary)
        return
    if run.status != FINISHED:
        say(f"run {run.id} is {run.status}: these are the results of what was measured so far")
    print_findings(summary["run"])
    print_table(overview(summary))
    for names in by:
        for table in slices(summary, names):
            print()
            print_table(table)


def _content_lines(content: dict[str, Any]) -> list[str]:
    """What was evaluated, one field per line; the sides of a record (reference, prediction) under their names."""
    from json import dumps

    def line(key: str, value: Any) -> str:
        return f"  {key}: {value if isinstance(value, str) else dumps(value, ensure_ascii=False)}"

    plain = {key: value for key, value in content.items() if not isinstance(value, dict)}
    lines = ["", *(line(key, value) for key, value in plain.items())] if plain else []
    for side, fields in content.items():
        if isinstance(fields, dict):
            lines += ["", side, *(line(key, value) for key, value in fields.items())]
    return lines


def _show_item(store: Any, run: Any, item: str, json: bool) -> None:
    from json import dumps, loads
    from sys import stdout

    from turnwise.cli.console import print_json
    from turnwise.kernel.errors import UsageError
    from turnwise.report.tables import metric_label, number, printable
    from turnwise.rooms import get_suite
    from turnwise.store.reading import item_scores, read_item

    found = read_item(store, run, item)
    if found is None:
        raise UsageError(f"run {run.id} has no item {item!r}", remedy=f"turnwise export {run.id} lists the items")
    scores = item_scores(store, run, found["number"])
    for score in scores:
        for key in ("statistics", "parts", "evidence"):
            score[key] = None if score[key] is None else loads(score[key])
    if json:
        print_json(
            {"item": {key: found[key] for key in ("id", "kind", "cluster", "dimensions", "content")}, "scores": scores}
        )
        return
    print(f"{found['kind']} {found['id']}  {' '.join(f'{k}={v}' for k, v in found['dimensions'].items())}")
    drawn = get_suite(run.suite).draw(
        {**found, "scores": scores}, colour=stdout.isatty(), encoding=stdout.encoding or "ascii"
    )
    print(f"\n{drawn}" if drawn else "\n".join(_content_lines(found["content"] or {})))
    print()
    for score in scores:
        variant = f" ({score['variant']})" if score["variant"] else ""
        what = score["label"] if score["value"] is None else number(score["value"])
        trial = f" #{score['repeat']}" if score["repeat"] else ""
        rater = f" by {printable(score['rater'])}" if score["rater"] else ""
        label = metric_label(score) + trial + variant + rater
        print(f"{label}: {what or score['status'] + ': ' + score['reason']}")
        if score["evidence"] is not None:
            for line in score["evidence"] if isinstance(score["evidence"], list) else [score["evidence"]]:
                print(f"  {dumps(line, ensure_ascii=False)}")
