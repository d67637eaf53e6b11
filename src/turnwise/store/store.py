"""The store: runs are begun, journaled batch by batch, finished; scores are amended with their history kept.

Reading for roll-ups and reports is in `reading.py`.
"""

from __future__ import annotations

import platform
import secrets
import shlex
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select, update
from sqlalchemy.exc import OperationalError

from turnwise.kernel.errors import StoreError, UsageError, near_misses
from turnwise.kernel.interrupts import undisturbed
from turnwise.kernel.jsontext import dumps, loads
from turnwise.kernel.score import Score, Source
from turnwise.store import schema
from turnwise.store.connect import connect, database_url, describe, unreachable
from turnwise.store.rows import score_values, without_nulls
from turnwise.store.run import (
    FINISHED,
    RUNNING,
    BatchRows,
    Run,
    RunMetric,
    now,
    run_from,
    run_values,
    this_process,
)


class Store:
    """A database of runs. Safe for several processes at once."""

    def __init__(self, db: str | None = None) -> None:
        self.engine = connect(db)

    @property
    def place(self) -> str:
        """The database as it may be printed."""
        return describe(self.engine.url)

    @property
    def option(self) -> str:
        """What a printed command needs to find this database again."""
        url = self.engine.url
        if not url.database or url == database_url(None):
            return ""
        secret = url.password or "password" in url.query
        return ' --db "$TURNWISE_DB"' if secret else f" --db {shlex.quote(self.place)}"

    @property
    def in_memory(self) -> bool:
        """Whether it is gone with this process."""
        return self.engine.dialect.name == "sqlite" and not self.engine.url.database

    def __reduce__(self) -> tuple[Any, ...]:
        # One that is sent to another process opens the same database there.
        return Store, (self.engine.url.render_as_string(hide_password=False),)

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A write transaction: all of it is kept, or nothing. Ctrl-C waits for its end.

        SQLite would not let go of what is interrupted in the middle of a statement, and nobody could write any more,
        not even that the run was interrupted.
        """
        try:
            with self.engine.connect().execution_options(turnwise_write=True) as connection:
                transaction = connection.begin()  # may have to wait for another writer
                with undisturbed(), transaction:
                    yield connection
        except OperationalError as error:
            raise unreachable(self.engine.url, error) from error

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read transaction."""
        try:
            with self.engine.connect() as connection, connection.begin():
                yield connection
        except (OperationalError, sqlite3.OperationalError) as error:
            raise unreachable(self.engine.url, error) from error

    # Runs

    def begin(self, run: Run, metrics: Sequence[tuple[str, str]]) -> Run:
        """Write a new run and the (full name, signature) of its metrics; it gets an id unless it brings one."""
        started = now()
        stamp = started[:19].replace("-", "").replace(":", "").replace("T", "-")
        run = replace(
            run,
            id=run.id or f"{stamp}-{run.suite}-{secrets.token_hex(3)}",
            started=started,
            updated=started,
            status=RUNNING,
            host=platform.node(),
            process=this_process(),
        )
        with self.writing() as connection:
            key = connection.execute(insert(schema.runs).values(run_values(run))).inserted_primary_key[0]  # type: ignore[index]
            rows = [(key, number, name, sign) for number, (name, sign) in enumerate(metrics)]
            self._insert(connection, schema.run_metrics, rows)
        return replace(run, key=key)

    def reopen(self, run: Run) -> Run:
        """Take over an unfinished run: its process becomes this one."""
        taken = replace(run, status=RUNNING, updated=now(), host=platform.node(), process=this_process())
        table = schema.runs
        with self.writing() as connection:
            unchanged = (table.c.key == run.key, table.c.process == run.process, table.c.updated == run.updated)
            done = connection.execute(update(table).where(*unchanged).values(run_values(taken)))
            if done.rowcount != 1:
                raise UsageError(f"run {run.id} is still running", found="another process has just taken it over")
        return taken

    def end(self, run: Run, status: str) -> Run:
        """Note how a run ended."""
        finished = (run.finished or now()) if status == FINISHED else None
        run = replace(run, status=status, finished=finished, updated=finished or now())
        values = {name: run_values(run)[name] for name in ("status", "finished", "updated", "findings")}
        database = self.engine.url.database
        if self.engine.dialect.name == "sqlite" and database and not Path(database).exists():
            raise StoreError(
                "the database is gone: somebody deleted it during the run",
                where=self.place,
                remedy="run it again; what was measured is lost",
            )
        owned = (schema.runs.c.key == run.key, schema.runs.c.process == run.process)
        with self.writing() as connection:
            connection.execute(update(schema.runs).where(*owned).values(values))
        return run

    def runs(self, suite: str | None = None) -> list[Run]:
        """All runs, the newest first."""
        query = select(schema.runs).order_by(schema.runs.c.key.desc())
        if suite:
            query = query.where(schema.runs.c.suite == suite)
        with self.reading() as connection:
            return [run_from(dict(row)) for row in connection.execute(query).mappings()]

    def run(self, name: str) -> Run:
        """A run by its id, a unique beginning of it, or `latest`."""
        with self.reading() as connection:
            table = schema.runs
            if name == "latest":
                query = select(table).order_by(table.c.key.desc()).limit(1)
            else:
                query = select(table).where(func.substr(table.c.id, 1, len(name)) == name).limit(2)
            found = [run_from(dict(row)) for row in connection.execute(query).mappings()]
            known = (
                [] if found else list(connection.scalars(select(table.c.id).order_by(table.c.key.desc()).limit(500)))
            )
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"several runs begin with {name!r}", found=", ".join(r.id for r in found) + " ...")
        raise UsageError(
            f"there is no run {name!r}",
            where=self.place,
            remedy=near_misses(name, known) or ("turnwise runs lists them" if known else "no run is stored here yet"),
        )

    def metrics(self, run: Run) -> list[RunMetric]:
        """The metrics of a run, in order."""
        with self.reading() as connection:
            return self._metrics(connection, run)

    def _metrics(self, connection: Connection, run: Run) -> list[RunMetric]:
        table = schema.run_metrics
        query = select(table.c.number, table.c.name, table.c.signature).where(table.c.run == run.key)
        return [RunMetric(*row) for row in connection.execute(query.order_by(table.c.number))]

    # The journal

    def write_batch(self, run: Run, batch: BatchRows) -> None:
        """Items, scores and the batch's own mark in one transaction, so that a kill leaves all or nothing."""
        key = run.key
        with self.writing() as connection:
            self._insert(connection, schema.batches, [(key, batch.index)])
            self._insert(connection, schema.items, [(key, *item) for item in batch.items])
            self._insert(connection, schema.scores, [(key, *score) for score in batch.scores])
            connection.execute(update(schema.runs).where(schema.runs.c.key == key).values(updated=now()))

    def done_batches(self, run: Run) -> set[int]:
        """The batches that are already there."""
        query = select(schema.batches.c.number).where(schema.batches.c.run == run.key)
        with self.reading() as connection:
            return set(connection.scalars(query))

    def count_items(self, run: Run, kind: str | None = None) -> int:
        """How many items, or items of a kind, are already there."""
        with self.reading() as connection:
            query = select(func.count()).select_from(schema.items).where(schema.items.c.run == run.key)
            query = query if kind is None else query.where(schema.items.c.kind == kind)
            return int(connection.scalar(query) or 0)

    def _insert(self, connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        # Straight to the driver: building SQLAlchemy parameter dictionaries would cost more than the insert itself.
        if not rows:
            return
        placeholder = "?" if connection.dialect.paramstyle == "qmark" else "%s"
        names = [column.name for column in table.columns][: len(rows[0])]
        for given, values in without_nulls(rows) if table is schema.scores else [(names, rows)]:
            columns, marks = ", ".join(f'"{name}"' for name in given), ", ".join([placeholder] * len(given))
            insertion = f"INSERT INTO {table.name} ({columns}) VALUES ({marks})"  # noqa: S608
            connection.exec_driver_sql(insertion, list(values))

    # Amending

    def amend(self, run: Run, scores: Iterable[Score], by: str) -> int:
        """Add scores to a run or replace them, keep what was there in the history, and drop stale roll-ups.

        Returns how many scores were replaced. Human ratings arrive this way, also long after the run has finished.
        """
        table, changed, stamp = schema.scores, 0, now()
        with self.writing() as connection:
            # Whoever else amends this run waits here, so that no two give a new metric the same number.
            connection.execute(select(schema.runs.c.key).where(schema.runs.c.key == run.key).with_for_update())
            known = {m.name: m for m in self._metrics(connection, run)}
            for score in scores:
                item = self._item_number(connection, run, score.unit.id, score.unit.kind)
                metric = known.get(score.metric)
                if metric is None:
                    metric = known[score.metric] = RunMetric(len(known), score.metric, score.signature)
                    row = (run.key, metric.number, metric.name, metric.signature)
                    self._insert(connection, schema.run_metrics, [row])
                number = metric.number
                self._check_amendment(connection, run, score, metric)
                values = {"run": run.key, **score_values(score, number, item), "rated": stamp}
                where = [column == values[column.name] for column in table.primary_key.columns]
                old = connection.execute(select(table).where(*where)).mappings().first()
                if old is not None:
                    history = {**old, "changed": stamp, "changed_by": by}
                    connection.execute(insert(schema.score_history).values(history))
                    connection.execute(delete(table).where(*where))
                    changed += 1
                connection.execute(insert(table).values(values))
            connection.execute(delete(schema.rollups).where(schema.rollups.c.run == run.key))
            connection.execute(update(schema.runs).where(schema.runs.c.key == run.key).values(updated=stamp))
        return changed

    def _check_amendment(self, connection: Connection, run: Run, score: Score, metric: RunMetric) -> None:
        """A run never mixes two ways of measuring, nor what code found with what people or judges say."""
        if score.signature != metric.signature:
            raise UsageError(
                f"{score.metric} was measured in another way in run {run.id}",
                found=score.signature,
                expected=metric.signature,
                remedy="give the score another metric name, or start a new run",
            )
        if score.source is Source.CODE:
            return
        if not score.rater:
            raise UsageError(f"a rating of {score.unit.id} does not say who gave it", expected="a rater")
        t = schema.scores
        same = (
            t.c.run == run.key,
            t.c.metric == metric.number,
            t.c.output == score.output,
            t.c.variant == score.variant,
        )
        if connection.execute(select(t.c.item).where(*same, t.c.source == Source.CODE.value).limit(1)).first():
            raise UsageError(
                f"{score.metric} is measured by code in run {run.id}; a rating would be mixed with it",
                remedy="rate under a metric name of its own",
            )

    def history(self, run: Run) -> list[dict[str, Any]]:
        """What scores were before they were changed, oldest first."""
        table = schema.score_history
        with self.reading() as connection:
            query = select(table).where(table.c.run == run.key).order_by(table.c.key)
            return [dict(row) for row in connection.execute(query).mappings()]

    def _item_number(self, connection: Connection, run: Run, item_id: str, kind: str) -> int:
        table = schema.items
        query = select(table.c.number).where(table.c.run == run.key, table.c.id == item_id, table.c.kind == kind)
        number = connection.scalar(query)
        if number is None:
            raise UsageError(f"run {run.id} has no {kind} {item_id!r}", remedy="turnwise export RUN lists the items")
        return int(number)

    # Roll-ups and artifacts

    def save_rollups(self, run: Run, results: Sequence[Mapping[str, Any]], as_of: str | None = None) -> None:
        """Keep the results of a run; any later amendment drops them.

        With `as_of`, only if the run is still as it was then: a rating may have come in while they were computed.
        """
        rows = [(run.key, number, dumps(result)) for number, result in enumerate(results)]
        table = schema.runs
        with self.writing() as connection:
            updated = connection.scalar(select(table.c.updated).where(table.c.key == run.key).with_for_update())
            if as_of is not None and updated != as_of:
                return
            connection.execute(delete(schema.rollups).where(schema.rollups.c.run == run.key))
            self._insert(connection, schema.rollups, rows)

    def rollups(self, run: Run) -> list[dict[str, Any]]:
        """The stored results of a run; empty when there are none or they were invalidated."""
        table = schema.rollups
        query = select(table.c.result).where(table.c.run == run.key).order_by(table.c.number)
        with self.reading() as connection:
            return [loads(text) for text in connection.scalars(query)]

    def add_artifacts(self, run: Run, files: Sequence[tuple[str, str, str, int]]) -> None:
        """Note files that a run wrote: (name, path, sha256, bytes)."""
        table = schema.artifacts
        with self.writing() as connection:
            connection.execute(delete(table).where(table.c.run == run.key, table.c.name.in_([f[0] for f in files])))
            self._insert(connection, table, [(run.key, *file) for file in files])

    def artifacts(self, run: Run) -> list[dict[str, Any]]:
        """The files that a run wrote."""
        table = schema.artifacts
        with self.reading() as connection:
            query = select(table).where(table.c.run == run.key).order_by(table.c.name)
            return [dict(row) for row in connection.execute(query).mappings()]
