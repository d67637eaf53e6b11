"""`turnwise run`: a room, or a YAML file that names one or more runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from turnwise.cli import run_assistant, run_dialogue, run_duplex, run_interpreting, run_suite, run_translation
from turnwise.cli.options import GreedyCommand


class RunGroup(TyperGroup):
    """Takes the name of a room or the path of a suite file."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A word that is no room but looks like a file runs that file."""
        word = args[0] if args else ""
        if word not in self.commands and (word.endswith((".yaml", ".yml")) or Path(word).is_file()):
            return "suite", self.commands["suite"], args
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=RunGroup,
    help="Evaluate: `turnwise run dialogue ...`, or `turnwise run suite.yaml` for one or more runs from a file.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("dialogue", cls=GreedyCommand)(run_dialogue.dialogue)
app.command("assistant", cls=GreedyCommand)(run_assistant.assistant)
app.command("translation", cls=run_translation.TranslationCommand)(run_translation.translation)
app.command("duplex", cls=GreedyCommand)(run_duplex.duplex)
app.command("interpreting", cls=GreedyCommand)(run_interpreting.interpreting)
app.command("suite", hidden=True)(run_suite.suite)
