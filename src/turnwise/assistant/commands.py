"""Chat commands: `!score professionalism:4 empathy:5 clarity:5` rates the latest reply.

A chat front end passes every message that its user types to `handle`, and gets an answer to show, or None for a message
that is meant for the assistant. `turnwise rate RUN "!score ..."` is the same thing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from turnwise.assistant.composites import Qualities
from turnwise.assistant.outcomes import TurnOutcome
from turnwise.assistant.rating import check_rater, find_turn, latest_turn, rate_turn, rateable_run
from turnwise.assistant.scales import HIGHEST, LOWEST, Scale, scale_metric, scales
from turnwise.kernel.errors import UsageError, near_misses, shorten
from turnwise.kernel.rollup import round_half_up
from turnwise.store.run import Run
from turnwise.store.store import Store

COMMAND = "!score"
EXAMPLE = "!score professionalism:4 empathy:5 clarity:5"
_COMMAND = re.compile(rf"\s*{re.escape(COMMAND)}(?=\s|$)", re.IGNORECASE)
_SCORE = re.compile(rf"[{LOWEST}-{HIGHEST}]")
_MOST_NAMED = 5
"""Mistakes of one message that are named; the rest are counted."""
_LONGEST_WORD = 40
"""Characters of a word that is quoted back."""


class CommandError(UsageError):
    """A command that cannot be carried out as it was typed. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Rated:
    """What a command did."""

    turn: str
    rater: str
    ratings: dict[str, int]
    """By scale."""
    outcome: TurnOutcome
    """The turn as it stands now, with the ratings of everybody."""

    @property
    def answer(self) -> str:
        """The document's confirmation."""
        return confirmation(self.outcome.qualities)


def is_command(message: str) -> bool:
    """Whether a message is a command rather than something to say to the assistant."""
    return _COMMAND.match(message) is not None


def handle(
    message: str, store: Store, run: str | Run, *, rater: str, turn: str | None = None, session: str | None = None
) -> str | None:
    """Carry out a command and answer it; None for a message that is no command.

    What the person who typed it can mend is answered, and then nothing was changed: unknown scales, scores that are
    none, no reply to rate yet. A run of another room, a turn that does not exist, or a database that does not answer is
    the front end's matter and raises `TurnwiseError`.

    Args:
        message: as it was typed.
        store: where the run is kept.
        run: the run, or its id.
        rater: who typed it.
        turn: the id of the turn to rate, as `record_turn` gave it; by default the latest one.
        session: where the latest turn is looked for; by default in the whole run.
    """
    if not is_command(message):
        return None
    try:
        return carry_out(message, store, run, rater=rater, turn=turn, session=session).answer
    except CommandError as error:
        return f"❌ {error.message}"


def carry_out(
    message: str, store: Store, run: str | Run, *, rater: str, turn: str | None = None, session: str | None = None
) -> Rated:
    """Carry out a command, or raise; arguments as in `handle`."""
    ratings = parse(message)
    name = check_rater(rater)
    found = rateable_run(store, run.id if isinstance(run, Run) else run)
    chosen = find_turn(store, found, turn) if turn is not None else latest_turn(store, found, session)
    if chosen is None:
        where = "in this conversation" if session is not None else f"in run {found.id}"
        raise CommandError(f"there is no reply to rate {where} yet", remedy="rate a reply after it was given")
    outcome = rate_turn(store, found, chosen, ratings, name)
    return Rated(chosen.id, name, ratings, outcome)


def parse(message: str) -> dict[str, int]:
    """The ratings in a `!score` by scale, or an error that names every mistake.

    >>> parse("!score professionalism:4 empathy: 5, clarity_score:5")
    {'professionalism': 4, 'empathy': 5, 'clarity': 5}
    """
    command = _COMMAND.match(message)
    if command is None:
        raise CommandError("this is not a command", found=shorten(message), expected=EXAMPLE)
    spaced = " ".join(message[command.end() :].replace(",", " ").split())
    words = spaced.replace(" :", ":").replace(": ", ":").split()
    if not words:
        raise _refused(f"{COMMAND} without a rating")
    ratings: dict[str, int] = {}
    mistakes: list[str] = []
    for word in words:
        name, colon, value = word.partition(":")
        scale = _scale(name)
        if not colon or not name or not value:
            mistakes.append(f"{_quoted(word)} is not SCALE:SCORE")
        elif scale is None:
            close = near_misses(name[:_LONGEST_WORD], scales())
            mistakes.append(f"there is no scale {_quoted(name)}{f' ({close})' if close else ''}")
        elif _SCORE.fullmatch(value) is None:
            mistakes.append(f"{scale.name} cannot be {_quoted(value)} ({_levels(scale)})")
        elif scale.name in ratings:
            mistakes.append(f"{scale.name} is there twice")
        else:
            ratings[scale.name] = int(value)
    if mistakes:
        rest = [f"and {len(mistakes) - _MOST_NAMED} more"] if len(mistakes) > _MOST_NAMED else []
        raise _refused("; ".join([*mistakes[:_MOST_NAMED], *rest]))
    return ratings


def _scale(name: str) -> Scale | None:
    return scales().get(scale_metric(name).removesuffix("_score"))


def _levels(scale: Scale) -> str:
    return ", ".join(f"{level.score} {level.name}" for level in scale.levels)


def _quoted(word: str) -> str:
    return repr(word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}...")


def _refused(found: str) -> CommandError:
    return CommandError(
        f"{COMMAND} was not understood, and nothing was changed",
        found=found,
        expected=f"SCALE:SCORE with a whole number from {LOWEST} to {HIGHEST}; the scales are {', '.join(scales())}",
        remedy=f"type it like this: {EXAMPLE}",
    )


def confirmation(found: Qualities) -> str:
    """The document's answer to `!score`; a quality that nothing is known about is `N/A`."""
    lines = [
        f"{name} Quality: {'N/A' if value is None else f'{round_half_up(value, 2):.2f}'}"
        for name, value in (
            ("Objective", found.objective),
            ("Subjective", found.subjective),
            ("Overall", found.overall),
        )
    ]
    return "\n".join(["✅ Subjective scores added!", "", *lines])
