"""Turn by turn in the terminal: the query, the reply, the guide of each scale, and a key for an answer."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

from turnwise.assistant.rating import TurnItem
from turnwise.assistant.rating_walk import Walk
from turnwise.assistant.scales import HIGHEST, LOWEST, Scale
from turnwise.report.tables import printable

NARROWEST, WIDEST = 40, 100
SKIP, CANNOT_TELL, UNDO, QUIT = "s", "n", "u", "q"
WORDS = {"skip": SKIP, "undo": UNDO, "quit": QUIT}
HELP = f"{LOWEST}-{HIGHEST}, {SKIP} skip turn, {CANNOT_TELL} cannot tell, {UNDO} undo, {QUIT} quit"


def walk_through(walk: Walk, keys: Iterator[str], *, show_version: bool = False) -> None:
    """Ask until the walk is over, or somebody quits; every answer is kept at once."""
    shown, asked = None, None
    while (turn := walk.turn) is not None and (scale := walk.scale) is not None:
        if turn != shown:
            print(_turn(walk, turn, show_version))
            shown, asked = turn, None
        if scale != asked:
            print(f"\n{_guide(scale)}")
            asked = scale
        print(f"{scale.name} [{HELP}]: ", end="", flush=True)
        key = next(keys, QUIT)
        key = WORDS.get(key, key)
        if key == QUIT:
            print(QUIT)
            return
        print(_press(walk, scale, key))
        if key == UNDO:
            asked = None


def _press(walk: Walk, scale: Scale, key: str) -> str:
    """Do what a key says; returns what is shown behind the question."""
    level = next((level for level in scale.levels if str(level.score) == key), None)
    if level is not None:
        walk.rate(level.score)
        return f"{level.score} {level.name}"
    if key == SKIP:
        walk.skip()
        return "skipped"
    if key == CANNOT_TELL:
        walk.cannot_tell()
        return "left out"
    if key == UNDO:
        return "undone" if walk.undo() else "nothing to undo"
    return f"{printable(key)[:20]!r} is none of the keys"


def _turn(walk: Walk, turn: TurnItem, show_version: bool) -> str:
    content = walk.look()
    scenario = content.get("scenario")
    # The name of a session may give the version away.
    who = [f"turn {turn.id}", f"version {turn.version or 'unknown'}"] if show_version else []
    about = [f"{walk.number} of {len(walk)}", *([f"scenario {scenario}"] if scenario else []), *who]
    query = content.get("query")
    parts = [
        "─" * _width(),
        printable(", ".join(about)),
        "",
        "Query",
        _wrapped("not recorded" if query is None else query),
        "",
        "Response",
        _wrapped(content.get("response") or "(empty)"),
    ]
    return "\n" + "\n".join(parts)


def _guide(scale: Scale) -> str:
    lines = [f"{scale.name}: {scale.question}"]
    for level in scale.levels:
        example = f' "{level.example}"' if level.example else ""
        text = f"{level.score}  {level.name}: {level.description}.{example}"
        lines += textwrap.wrap(text, _width(), initial_indent="  ", subsequent_indent="     ")
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    """A text from the data with its paragraphs, and without anything that could move the cursor."""
    lines = (printable(line.expandtabs(4)) for line in text.splitlines())
    return "\n".join(
        textwrap.fill(line, _width(), initial_indent="  ", subsequent_indent="  ", drop_whitespace=True)
        for line in lines
    )


def _width() -> int:
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size().columns))
