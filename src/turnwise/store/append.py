"""Adding items to a run one by one, for systems that are watched while they work: item and scores in one step."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import delete, func, insert, select, update

from turnwise.kernel.errors import InputError
from turnwise.store import schema
from turnwise.store.rows import SCORE_COLUMNS
from turnwise.store.run import BatchRows, Run, now
from turnwise.store.store import Store

_ITEM_COLUMNS = ("number", "kind", "id", "cluster", "dimensions", "content")


def append_batch(store: Store, run: Run, make: Callable[[int], BatchRows]) -> BatchRows:
    """Write one more batch, whose number is given to `make`, and drop the roll-ups that are no longer true.

    All in one transaction; of several processes that append to a run at once, each gets a number of its own.
    """
    items, batches = schema.items, schema.batches
    with store.writing() as connection:
        connection.execute(select(schema.runs.c.key).where(schema.runs.c.key == run.key).with_for_update())
        last = connection.scalar(select(func.max(batches.c.number)).where(batches.c.run == run.key))
        rows = make(0 if last is None else last + 1)
        for item in rows.items:
            kind, name = item[1], item[2]
            same = (items.c.run == run.key, items.c.id == name, items.c.kind == kind)
            if connection.execute(select(items.c.number).where(*same).limit(1)).first():
                raise InputError(
                    f"run {run.id} has the {kind} {name!r} already",
                    where=store.place,
                    expected=f"every {kind} once",
                    remedy="give it a number, or a session, of its own",
                )
        connection.execute(insert(batches).values(run=run.key, number=rows.index))
        for table, columns, values in (
            (items, _ITEM_COLUMNS, rows.items),
            (schema.scores, SCORE_COLUMNS, rows.scores),
        ):
            named = [{"run": run.key, **dict(zip(columns, row, strict=True))} for row in values]
            if named:
                connection.execute(insert(table), named)
        connection.execute(delete(schema.rollups).where(schema.rollups.c.run == run.key))
        connection.execute(update(schema.runs).where(schema.runs.c.key == run.key).values(updated=now()))
    return rows
