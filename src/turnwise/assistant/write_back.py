"""Metrics written back into the `metrics` column of an existing database: in one transaction, and only when asked.

The keys that turnwise measures are set, all others stay as they are. Ratings that an application keeps there are never
changed, and count in the qualities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Text, TextClause, cast, column, select, table, text

from turnwise.assistant.composites import qualities
from turnwise.assistant.database_rows import turn_number
from turnwise.assistant.evaluator import ResponseMetrics
from turnwise.assistant.outcomes import TurnOutcome, document_value, plain_rating, turn_outcomes
from turnwise.assistant.postgres import METRICS, TURNS, Tables, clear_errors, find_tables, open_engine, reading
from turnwise.assistant.scales import COMPOSITES, HIGHEST, LOWEST, OBJECTIVE, SUBJECTIVE
from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import clean, dumps
from turnwise.store.connect import describe
from turnwise.store.run import Run
from turnwise.store.store import Store

LOCK_SECONDS = 30
"""How long is waited for others who write the same table."""
_PORTION = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A turn, and what is known about it."""

    session_id: str
    turn: int
    response: str | None
    """The reply that was measured; None: whatever reply is there."""
    values: Mapping[str, float]
    names: frozenset[str]
    """The metrics that were asked for: those without a value do not apply."""
    context: Mapping[str, str]
    scenario: str


@dataclass(slots=True)
class Written:
    """What became of the turns."""

    place: str
    turns: int = 0
    absent: int = 0
    """Turns that the database does not have."""
    changed: int = 0
    """Turns with another reply than the one that was measured."""
    odd: int = 0
    """Turns whose metrics are no JSON object."""

    @property
    def message(self) -> str:
        """One line for people."""
        left = {
            "are not in the database": self.absent,
            "have another reply by now": self.changed,
            "have metrics that are no JSON object": self.odd,
        }
        skipped = "".join(f"; left out: {count} that {what}" for what, count in left.items() if count)
        return f"wrote the metrics of {self.turns} turns into {TURNS} of {self.place}{skipped}"


def write_metrics(store: Store, run: Run, address: str) -> Written:
    """Write what a run knows about its turns, ratings included, into the database they were read from.

    Args:
        store: where the run is kept.
        run: a run of the assistant room.
        address: `postgresql://user@host/database`, with the document's tables.
    """
    names = frozenset(run.config["metrics"])
    context = run.config.get("context", {})
    measured = (_of_run(outcome, names, context) for outcome in turn_outcomes(store, run))
    return _write(address, measured)


def write_turn_metrics(address: str, session_id: str, turn: int, metrics: ResponseMetrics) -> Written:
    """Write the metrics of one turn, as `evaluate` or `record_turn` gave them."""
    values = {name: value for name, value in metrics.values().items() if value is not None}
    one = Measured(
        session_id=session_id,
        turn=turn,
        response=None,
        values=values,
        names=frozenset((*OBJECTIVE, *SUBJECTIVE, *COMPOSITES)),
        context=metrics.context,
        scenario=metrics.scenario,
    )
    return _write(address, [one])


def check_writable(address: str) -> None:
    """Refuse a database whose metrics cannot be written, before anything is measured."""
    engine = open_engine(address)
    with reading(engine) as connection:
        _check(find_tables(connection), describe(engine.url))


def merged(one: Measured, there: Mapping[str, float]) -> tuple[dict[str, Any], list[str]]:
    """The keys to set and the keys to take out, given the ratings that are there.

    A quality that cannot be worked out is taken out: it would contradict the values beside it.
    """
    values = {**there, **one.values}
    made = qualities(values, one.context, one.scenario)
    scores = dict(zip(COMPOSITES, (made.objective, made.subjective, made.overall), strict=True))
    new: dict[str, Any] = {name: document_value(name, one.values.get(name)) for name in OBJECTIVE if name in one.names}
    new |= {name: plain_rating(one.values[name]) for name in SUBJECTIVE if name in one.values}
    new |= {name: value for name, value in scores.items() if name in one.names and value is not None}
    return new, [name for name, value in scores.items() if name in one.names and value is None]


def _of_run(outcome: TurnOutcome, names: frozenset[str], context: Mapping[str, str]) -> Measured:
    return Measured(
        session_id=outcome.session_id,
        turn=int(outcome.content["turn"]),
        response=outcome.content.get("response"),
        values=outcome.values,
        names=names,
        context=context,
        scenario=outcome.scenario,
    )


def _write(address: str, measured: Iterable[Measured]) -> Written:
    engine = open_engine(address)
    with clear_errors(engine.url), engine.begin() as connection:
        found = Written(describe(engine.url))
        tables = find_tables(connection)
        _check(tables, found.place)
        connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
        connection.execute(text(f"LOCK TABLE {TURNS} IN SHARE ROW EXCLUSIVE MODE"))
        rows = _present(connection, tables)
        changes = _changes(measured, rows, found)
        statement = _statement(connection, tables)
        while portion := list(islice(changes, _PORTION)):
            connection.execute(statement, portion)
        if found.absent and not (found.turns or found.changed or found.odd):
            raise InputError(
                "none of the turns is in the database",
                where=found.place,
                found=f"{len(rows)} others",
                expected="the database that the turns were read from",
            )
    return found


@dataclass(frozen=True, slots=True)
class _Present:
    """A turn as it is in the database."""

    key: Any
    reply: bytes
    ratings: Mapping[str, float] | None
    """None: the metrics are no object."""


def _present(connection: Connection, tables: Tables) -> dict[tuple[str, int], _Present]:
    turns = table(TURNS, *map(column, {*tables.turns.values(), str(tables.key)}))
    query = select(
        turns.c[str(tables.key)],
        cast(turns.c[tables.turns["session_id"]], Text),
        turn_number(tables, turns),
        turns.c[tables.turns["response"]],
        turns.c[tables.turns[METRICS]],
    )
    with connection.execute(query, execution_options={"stream_results": True}) as result:
        return {
            (session.strip(), int(number)): _Present(key, _digest(reply), _ratings(metrics))
            for key, session, number, reply, metrics in result
            if session is not None and number is not None
        }


def _changes(
    measured: Iterable[Measured], rows: Mapping[tuple[str, int], _Present], found: Written
) -> Iterator[dict[str, Any]]:
    for one in measured:
        row = rows.get((one.session_id, one.turn))
        if row is None:
            found.absent += 1
        elif one.response is not None and row.reply != _digest(one.response):
            found.changed += 1
        elif row.ratings is None:
            found.odd += 1
        else:
            found.turns += 1
            new, gone = merged(one, row.ratings)
            yield {"key": row.key, "new": dumps(new), "gone": gone}


def _statement(connection: Connection, tables: Tables) -> TextClause:
    key = connection.dialect.identifier_preparer.quote(str(tables.key))
    kept = f"COALESCE(CAST({METRICS} AS jsonb), CAST('{{}}' AS jsonb)) - CAST(:gone AS text[])"
    return text(
        f"UPDATE {TURNS} SET {METRICS} = CAST(({kept}) || CAST(:new AS jsonb) AS {tables.metrics_type})"  # noqa: S608
        f" WHERE {key} = :key"
    )


def _check(tables: Tables, place: str) -> None:
    if tables.is_view:
        raise InputError(
            f"{TURNS} is a view",
            where=place,
            expected="a table: the views of turnwise's own store show the newest metrics by themselves",
        )
    if tables.metrics_type not in ("jsonb", "json"):
        raise InputError(
            f"{TURNS} has no column for metrics",
            where=place,
            found=f"{METRICS} of type {tables.metrics_type}" if tables.metrics_type else "no column metrics",
            expected="metrics of type jsonb",
            remedy=f"ALTER TABLE {TURNS} ADD COLUMN metrics JSONB DEFAULT '{{}}'::jsonb",
        )
    if tables.key is None:
        raise InputError(f"{TURNS} has no key", where=place, expected="a primary key of one column, or a column id")


def _ratings(metrics: Any) -> dict[str, float] | None:
    """The ratings among the metrics that are there; None where these are no object."""
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        return None
    return {name: float(metrics[name]) for name in SUBJECTIVE if _is_rating(metrics.get(name))}


def _is_rating(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and LOWEST <= value <= HIGHEST


def _digest(reply: str | None) -> bytes:
    return b"" if reply is None else blake2b(clean(reply).encode(), digest_size=16).digest()
