"""`turnwise models`: the neural models there are, and getting them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o

app = typer.Typer(help="List and fetch neural models.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def root() -> None:
    """List and fetch neural models."""


@app.command("list")
def list_models(json: o.Json = False) -> None:
    """Say which models turnwise knows, which are here, and how large and for what the others are.

    Example: turnwise models list
    """
    from turnwise.cli.console import print_json, print_table
    from turnwise.neural.weights import models_folder
    from turnwise.report.tables import Table

    found = known_models()
    if json:
        print_json(found)
        return
    rows = [
        (model["name"], "yes" if model["path"] else "no", f"{model['size_mb']}", model["licence"], model["purpose"])
        for model in found
    ]
    notes = [f"turnwise models fetch NAME gets one; models are kept in {models_folder()}"]
    print_table(Table("models", ("name", "here", "MB", "licence", "for"), rows, notes=notes, numeric=(2,)))


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of `models list`, or organisation/model.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Where it goes (default: where it is looked for).")
    ] = None,
    json: o.Json = False,
) -> None:
    """Download a model and check its hash; a download that was cut short goes on where it stopped.

    Example: turnwise models fetch blaser_2_0_qe
    """
    from turnwise.cli.console import print_json, progress_bar, say
    from turnwise.neural.fetch import fetch as get
    from turnwise.neural.weights import catalogue, find_model

    known = catalogue().get(name)
    if known is not None and find_model(name) is None:
        say(f"{name}: about {known.size_mb} MB, licence: {known.licence}")
    with progress_bar(f"{name} (MB)") as progress:
        paths = get(name, to, progress)
    if json:
        print_json({"name": name, "files": [str(path) for path in paths]})
        return
    for path in paths:
        print(path)
    if find_model(name) is None:
        say(f"to use it from there: TURNWISE_MODELS={to}" if known and known.files else f"to use it: HF_HUB_CACHE={to}")


def known_models() -> list[dict[str, Any]]:
    """The catalogue, with the places of the models that are here."""
    from turnwise.neural.weights import catalogue, find_model

    return [
        {
            "name": model.name,
            "path": None if (path := find_model(model.name)) is None else str(path),
            "size_mb": model.size_mb,
            "licence": model.licence,
            "purpose": model.purpose,
        }
        for model in catalogue().values()
    ]
