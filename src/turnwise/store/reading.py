"""Reading a run back as rows, in the order of the data: memory holds neither the texts nor the evidence of a whole run.

For roll-ups, the same rows are read as columns (store/columns.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import select

from turnwise.kernel.jsontext import loads
from turnwise.kernel.score import Score, Source, Status, Unit
from turnwise.store import schema
from turnwise.store.rows import SCORE_COLUMNS, parts_from
from turnwise.store.run import Run, RunMetric
from turnwise.store.store import Store
from turnwise.store.stream import stream


def item_scores(store: Store, run: Run, number: int) -> list[dict[str, Any]]:
    """The scores of one item."""
    return [score for _, scores in stream_items_with_scores(store, run, number) for score in scores]


def stream_items_with_scores(
    store: Store,
    run: Run,
    item: int | None = None,
    *,
    without: Collection[tuple[str, str]] = (),
    with_content: bool = False,
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every item with its scores, in the order of the data; statistics, parts and evidence stay JSON texts.

    `without` leaves out the (full name, output) of some metrics. `with_content` adds what was evaluated, also as JSON.

    The rows of each metric lie in the order of the items, so merging them needs neither a sort nor a join.
    """
    t, i = schema.scores, schema.items
    metrics = {metric.number: metric for metric in store.metrics(run)}
    only_item = () if item is None else (i.c.number == item,)
    only_scores = () if item is None else (t.c.item == item,)
    columns = [t.c.item, t.c.metric, *(t.c[name] for name in _SCORE_FIELDS)]
    series = select(t.c.metric, t.c.output, t.c.variant).where(t.c.run == run.key).distinct()
    fields = (*_ITEM_FIELDS, "content") if with_content else _ITEM_FIELDS
    items = select(*(i.c[name] for name in fields)).where(i.c.run == run.key, *only_item).order_by(i.c.number)
    with store.reading() as connection:
        streams = []
        for metric, output, variant in sorted(tuple(row) for row in connection.execute(series)):
            if (metrics[metric].name, output) in without:
                continue
            chosen = (t.c.run == run.key, t.c.metric == metric, t.c.output == output, t.c.variant == variant)
            order = (t.c.item, t.c.repeat, t.c.source, t.c.rater)
            streams.append(stream(connection, select(*columns).where(*chosen, *only_scores).order_by(*order)))
        scores = groupby(merge(*streams, key=itemgetter(0)), key=itemgetter(0))
        number, rows = next(scores, (None, iter(())))
        for row in stream(connection, items):
            found = dict(zip(fields, row, strict=True))
            own = []
            if number == found["number"]:
                own = [_score_row(score, metrics[score[1]]) for score in rows]
                number, rows = next(scores, (None, iter(())))
            yield found, own


def stream_items(store: Store, run: Run, kind: str) -> Iterator[dict[str, Any]]:
    """Every item of a kind with its content as JSON text, in the order of the data."""
    table = schema.items
    fields = (*_ITEM_FIELDS, "content")
    chosen = select(*(table.c[name] for name in fields)).where(table.c.run == run.key, table.c.kind == kind)
    with store.reading() as connection:
        for row in stream(connection, chosen.order_by(table.c.number)):
            yield dict(zip(fields, row, strict=True))


def _score_row(row: Sequence[Any], metric: RunMetric) -> dict[str, Any]:
    return {"metric": metric.name, "signature": metric.signature, **dict(zip(_SCORE_FIELDS, row[2:], strict=True))}


def stream_scores(store: Store, run: Run) -> Iterator[dict[str, Any]]:
    """Every score with its item, in the order of the data."""
    for item, scores in stream_items_with_scores(store, run):
        about = {"item": item["id"], **{name: item[name] for name in ("number", "kind", "cluster", "dimensions")}}
        for score in scores:
            yield {**about, **score}


def read_scores(store: Store, run: Run) -> list[Score]:
    """Every score of a run as an object."""
    scores = []
    for row in stream_scores(store, run):
        unit = Unit(row["item"], row["cluster"], loads(row["dimensions"]), row["kind"])
        statistics = _decoded(row["statistics"])
        scores.append(
            Score(
                unit=unit,
                status=Status(row["status"]),
                source=Source(row["source"]),
                statistics=None if statistics is None else tuple(statistics),
                parts=parts_from(row["parts"]),
                evidence=_decoded(row["evidence"]),
                **{name: row[name] for name in _PLAIN_FIELDS},
            )
        )
    return scores


def _decoded(text: str | None) -> Any:
    return None if text is None else loads(text)


_ITEM_FIELDS = ("number", "kind", "id", "cluster", "dimensions")
_PLAIN_FIELDS = ("metric", "signature", "output", "variant", "repeat", "value", "label", "reason", "rater")
_SCORE_FIELDS = (*(name for name in SCORE_COLUMNS if name not in ("metric", "item")), "rated")


def read_item(store: Store, run: Run, item_id: str) -> dict[str, Any] | None:
    """One item with its content."""
    table = schema.items
    with store.reading() as connection:
        # A dialogue may have the id of another's exchange; the exchange is what people look for.
        query = select(table).where(table.c.run == run.key, table.c.id == item_id).order_by(table.c.kind.desc())
        row = connection.execute(query).mappings().first()
    if row is None:
        return None
    content = loads(row["content"]) if row["content"] else None
    return {**row, "dimensions": loads(row["dimensions"]), "content": content}
