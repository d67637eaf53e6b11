"""Ratings given to the turns of a run: which turn is meant, who rates, and what is kept.

How they are asked for is somewhere else: as a message in commands.py, turn by turn in rating_walk.py.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select

import turnwise.assistant.metrics  # noqa: F401  (registers the metrics)
from turnwise.assistant.metrics import ROOM
from turnwise.assistant.metrics.ratings import by_people
from turnwise.assistant.outcomes import TurnOutcome, turn_outcomes
from turnwise.assistant.records import UNIT, VERSION
from turnwise.assistant.scales import SUBJECTIVE, check_rating, scale_named
from turnwise.kernel.errors import UsageError, near_misses, shorten
from turnwise.kernel.jsontext import clean, loads
from turnwise.kernel.score import Score, Source, Status, Unit
from turnwise.kernel.selection import select_metrics
from turnwise.store import schema
from turnwise.store.run import Run
from turnwise.store.store import Store
from turnwise.store.stream import stream

PASSED_OVER = "the rater passed it over"
"""Said of a whole turn: it comes again when no other is left."""
CANNOT_TELL = "the rater could not tell"
"""Said of a scale: an answer that is not asked for again."""
LONGEST_NAME = 200
_SUGGESTED = 500


@dataclass(frozen=True, slots=True)
class TurnItem:
    """A turn as it is kept."""

    number: int
    id: str
    session_id: str
    version: str
    has_reply: bool


def rateable_run(store: Store, name: str) -> Run:
    """A run whose turns can be rated, by its id, the beginning of it, or `latest`."""
    run = store.run(name)
    if run.suite != ROOM:
        raise UsageError(
            f"run {run.id} is of the room {run.suite}, whose items people do not rate",
            where=store.place,
            expected=f"a run of the room {ROOM}",
            remedy=f"turnwise runs --room {ROOM} lists them",
        )
    # Where no turn has a reply, the engine has noted for every scale that it is not measured.
    if not set(run.config.get("not_measured", {})).isdisjoint(SUBJECTIVE):
        what = f"no turn of run {run.id} has a reply to rate"
        raise UsageError(what, remedy="rate a run whose turns carry `response`")
    return run


def check_rater(name: str) -> str:
    """The name of a rater, fit to be kept and printed."""
    found = " ".join(name.split())
    if not found or not found.isprintable() or len(found) > LONGEST_NAME or clean(found) != found:
        raise UsageError(
            "a rating needs to know who gives it",
            found=shorten(name),
            expected=f"a name of 1 to {LONGEST_NAME} characters",
            remedy='name the rater: --rater "HR partner"',
        )
    return found


def rateable_turns(store: Store, run: Run) -> list[TurnItem]:
    """The turns of a run that have a reply, in the order of the data."""
    with closing(_turns(store, run)) as turns:
        return [turn for turn in turns if turn.has_reply]


def find_turn(store: Store, run: Run, turn: str) -> TurnItem:
    """A turn by its id."""
    with closing(_turns(store, run, schema.items.c.id == turn)) as turns:
        found = next(turns, None)
    if found is None:
        raise _unknown_turn(store, run, turn)
    if not found.has_reply:
        raise UsageError(f"turn {turn} of run {run.id} has no reply to rate", remedy="rate a turn that has one")
    return found


def latest_turn(store: Store, run: Run, session: str | None = None) -> TurnItem | None:
    """The last turn of a run, or of a session in it, that has a reply; None where there is none yet."""
    only = () if session is None else (schema.items.c.cluster == session,)
    with closing(_turns(store, run, *only, newest_first=True)) as turns:
        return next((turn for turn in turns if turn.has_reply), None)


def _turns(
    store: Store, run: Run, *where: ColumnElement[bool], newest_first: bool = False
) -> Generator[TurnItem, None, None]:
    i = schema.items
    columns = (i.c.number, i.c.id, i.c.cluster, i.c.dimensions, i.c.content)
    query = select(*columns).where(i.c.run == run.key, i.c.kind == UNIT, *where)
    with store.reading() as connection:
        for number, name, cluster, text, content in stream(
            connection, query.order_by(i.c.number.desc() if newest_first else i.c.number)
        ):
            dimensions = loads(text)
            has_reply = bool(content) and loads(content).get("response") is not None
            yield TurnItem(number, name, cluster, dimensions.get(VERSION, ""), has_reply)


def _unknown_turn(store: Store, run: Run, turn: str) -> UsageError:
    i = schema.items
    with store.reading() as connection:
        query = select(i.c.id).where(i.c.run == run.key, i.c.kind == UNIT).order_by(i.c.number)
        known = list(connection.scalars(query.limit(_SUGGESTED)))
    numbered = [name for name in known if name.endswith(f"#{turn}")][:3]
    close = f"did you mean {' or '.join(numbered)}?" if numbered else near_misses(turn[:LONGEST_NAME], known)
    return UsageError(
        f"run {run.id} has no turn {shorten(turn)}",
        expected=f"session#number, e.g. {known[0]}" if known else "a run with turns",
        remedy=close or f"turnwise export {run.id} lists the turns",
    )


def checked_ratings(ratings: Mapping[str, object]) -> dict[str, int]:
    """Ratings by the name of their scale, e.g. `{"empathy": 5}`, in the order of the scales; or an error."""
    if not ratings:
        raise UsageError("there is no rating to keep", expected="at least one scale with a score")
    found = {(scale := scale_named(name)).metric: check_rating(scale, value) for name, value in ratings.items()}
    if len(found) < len(ratings):
        raise UsageError("a scale is rated twice", found=", ".join(ratings), expected="every scale once")
    return {metric.removesuffix("_score"): found[metric] for metric in SUBJECTIVE if metric in found}


def rate_turn(store: Store, run: Run, turn: TurnItem, ratings: Mapping[str, object], rater: str) -> TurnOutcome:
    """Keep a rater's ratings of a turn, all or none of them; returns what is now known about the turn.

    A rating that the rater gave before is replaced and stays in the history. Scales that are not named keep what
    they have.

    Args:
        store: where the run is kept.
        run: what `rateable_run` gave.
        turn: what `find_turn` or `latest_turn` gave.
        ratings: by scale, whole numbers from 1 to 5.
        rater: who rates.
    """
    answers: dict[str, int | str] = {**checked_ratings(ratings)}
    keep_answers(store, run, turn, answers, check_rater(rater))
    return turn_outcome(store, run, turn)


def keep_answers(store: Store, run: Run, turn: TurnItem, answers: Mapping[str, int | str], rater: str) -> None:
    """Keep ratings by scale; a text instead of a number is the reason why there is none."""
    signatures = rating_signatures(store, run)
    scores = []
    for name, answer in answers.items():
        metric = f"{ROOM}/{scale_named(name).metric}"
        score = Score(
            metric=metric,
            unit=Unit(turn.id, turn.session_id, kind=UNIT),
            signature=signatures[metric],
            source=Source.HUMAN,
            rater=rater,
            **(
                {"status": Status.SKIPPED, "reason": answer}
                if isinstance(answer, str)
                else {"value": float(answer), "statistics": (float(answer),)}
            ),
        )
        scores.append(score)
    store.amend(run, scores, by=rater)


def turn_outcome(store: Store, run: Run, turn: TurnItem) -> TurnOutcome:
    """The turn with its scores, ratings and qualities as they stand."""
    return next(turn_outcomes(store, run, turn.number))


def rating_signatures(store: Store, run: Run) -> dict[str, str]:
    """By full name: ratings made with another guide than the one that is here are not mixed with these.

    Where a judge rated in the run, its signature says so, and stands for what people say beside it, too.
    """
    here = dict(select_metrics(ROOM, SUBJECTIVE, profile=run.profile).signatures)
    kept = {one.name: one.signature for one in store.metrics(run) if by_people(one.signature) == here.get(one.name)}
    return {**here, **kept}
