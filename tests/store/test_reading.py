"""Reading a run back: every character and every bit of it, in the order of the data, in pieces of any size."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from turnwise.engine.measure import Workload
from turnwise.kernel.metric import Item, Metric, MetricSpec
from turnwise.kernel.score import Measurement, Score, Source, Status, Unit, failed, labelled, measured
from turnwise.store import stream as stream_module
from turnwise.store.columns import read_columns
from turnwise.store.items import StoredItems
from turnwise.store.reading import item_scores, read_item, read_scores, stream_scores
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store

Begin = Callable[..., Run]
MakeBatch = Callable[..., BatchRows]

TEXTS = {
    "plain": "a cheap hotel",
    "accents, composed and not": "Zürich Zu\u0308rich",
    "scripts": "北京 العربية עברית हिन्दी Ɛfik ị́",
    "beyond the basic plane": "🏨👩‍👩‍👧 𝕏",
    "quotes": """it's "quoted" `back` ''double'' ""double"" """,
    "SQL": "'); DROP TABLE scores; --",
    "placeholders": "%s %(x)s 100 % ? ?1 :name $1 {0}",
    "backslashes": "\\ \\n \\' C:\\temp\\",
    "white space": " \t line one\nline two\r\n ",
    "control characters": "\x01\x1b[31m\x7f\u2028\ufeff",
    "very long": "très long, " * 100_000,
}


def unit(place: str) -> Unit:
    return Unit(place, place.partition("/")[0], {"domain": "hotel"}, "exchange")


def a_score(place: str, value: float | None = 0.5, **changes: Any) -> Score:
    score = Score(metric="dialogue/slot_accuracy", unit=unit(place), signature="dialogue/slot_accuracy|v1", value=0.5)
    return replace(score, value=value, **changes)


class Fixed(Metric):
    """Finds the same in every unit."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room="dialogue", name="slot_accuracy", version=1, question="?", unit="exchange"
    )

    def __init__(self, found: Measurement) -> None:
        super().__init__()
        self.found = found

    def measure(self, batch: Any) -> list[tuple[Unit, str, Measurement]]:
        return [(item.unit, "value", self.found) for item in batch.items()]


class OneItem:
    """A batch of one exchange."""

    index = 0

    def __init__(self, content: Any) -> None:
        self.content = content

    def items(self) -> list[Item]:
        return [Item(unit("d0/0"), self.content)]

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, OneItem]]:
        yield unit("d0/0"), self


# Texts


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_survive_the_round_trip(store: Store, begin_run: Begin, kind: str) -> None:
    text = TEXTS[kind]
    run = begin_run(store, system=text, config={"note": text, "nested": [{text: text}]})
    content = json.dumps({"user": text}, ensure_ascii=False)
    short = text[:500]  # an indexed column
    item = (0, "exchange", short, short, json.dumps({short: text}, ensure_ascii=False), content)
    row = (0, short, short, 0, 0, "human", short, None, text, None, None, "scored", None, json.dumps([text]))
    missing = (1, "value", "", 0, 0, "code", "", None, None, None, None, "error", text, None)
    store.write_batch(run, BatchRows(0, [item], [row, missing]))
    assert store.run(run.id) == replace(run, updated=store.run(run.id).updated)
    assert (store.run(run.id).system, store.run(run.id).config["nested"]) == (text, [{text: text}])
    found = read_item(store, run, short)
    assert found is not None
    assert (found["cluster"], found["dimensions"], found["content"]) == (short, {short: text}, {"user": text})
    first, second = read_scores(store, run)
    assert (first.output, first.variant, first.rater) == (short, short, short)
    assert (first.label, first.evidence, first.unit.id) == (text, [text], short)
    assert (second.reason, second.unit.dimensions) == (text, {short: text})
    (columns,) = read_columns(store, run, store.metrics(run)[0], with_parts=True)
    assert (columns.output, columns.variant) == (short, short)
    assert StoredItems(store, run).whole().dimensions[short].names == [text]


@pytest.mark.parametrize("text", ["a NUL \x00 inside", "half a pair: \ud83d"])
@pytest.mark.parametrize("place", ["reason", "label", "evidence", "content"])
def test_text_that_a_database_cannot_hold_does_not_cost_a_run(
    store: Store, begin_run: Begin, text: str, place: str
) -> None:
    """JSON may hold a NUL and half a surrogate pair, so a user's data and a metric's messages may too."""
    run = begin_run(store)
    content = {"user": text if place == "content" else "hi"}
    found = {
        "reason": failed(text),
        "label": labelled(text),
        "evidence": measured((1.0,), evidence={"said": text}),
        "content": measured((1.0,)),
    }[place]
    store.write_batch(run, Workload([(0, Fixed(found))])(OneItem(content)))
    (score,) = read_scores(store, run)
    assert score.unit.id == "d0/0"
    assert read_item(store, run, "d0/0") is not None


# Numbers


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7e308, -1e-17, 2**53 - 1.0])
def test_numbers_come_back_to_the_last_bit(store: Store, begin_run: Begin, make_batch: MakeBatch, value: float) -> None:
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [0.0]))
    store.amend(run, [a_score("d0/0", value, statistics=(value, 3.0))], by="test")
    (score,) = read_scores(store, run)
    assert (score.value, score.statistics) == (value, (value, 3.0))
    (columns,) = read_columns(store, run, store.metrics(run)[0], with_parts=True)
    assert columns.values.tolist() == [value]
    assert columns.statistics.tolist() == [[value, 3.0]]


def test_a_score_comes_back_as_it_was(store: Store, begin_run: Begin, make_batch: MakeBatch) -> None:
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [0.0, 0.0]))
    given = [
        a_score("d0/0", statistics=(1.0, 2.0), evidence=[{"slot": "area", "wrong": None}, 1.5, True]),
        a_score("d0/0", None, label="polite", variant="oracle", repeat=3, source=Source.JUDGE, rater="m-7"),
        a_score("d0/1", None, status=Status.NOT_APPLICABLE, reason="no reference slots"),
        a_score("d0/1", 1.0, output="second"),
    ]
    store.amend(run, given, by="test")
    assert sorted(read_scores(store, run), key=str) == sorted(given, key=str)


# Items


def test_items_are_read_in_the_order_of_the_data(store: Store, begin_run: Begin) -> None:
    run, other = begin_run(store), begin_run(store)
    rows = [
        (5, "exchange", "b/0", "b", '{"domain":"hotel","lang":"xh"}', None),
        (2, "exchange", "a/1", "a", "{}", '{"user":"hi"}'),
        (1, "exchange", "a/0", "a", '{"domain":"taxi"}', '{"user":"ho"}'),
    ]
    store.write_batch(run, BatchRows(0, rows, []))
    store.write_batch(other, BatchRows(0, [(9, "exchange", "z/0", "z", "{}", None)], []))
    table = StoredItems(store, run).whole()
    assert table.numbers.tolist() == [1, 2, 5]
    assert table.clusters.codes.tolist() == [0, 0, 1]  # a, a, b
    assert table.n_clusters == 2
    assert table.dimensions["domain"].names == ["taxi", "hotel"]
    assert table.dimensions["domain"].codes.tolist() == [0, -1, 1]  # a/1 has no domain
    assert table.dimensions["lang"].codes.tolist() == [-1, -1, 0]
    assert table.rows_of(np.array([5, 1])).tolist() == [2, 0]


def test_one_item_is_found_by_its_id(store: Store, begin_run: Begin, make_batch: MakeBatch) -> None:
    run = begin_run(store)
    store.write_batch(run, make_batch(3, [1.0, 0.25]))
    found = read_item(store, run, "d3/1")
    assert found is not None
    assert (found["number"], found["kind"], found["content"]) == (3 << 20 | 1, "exchange", {"user": "hi"})
    (score,) = item_scores(store, run, found["number"])
    assert (score["metric"], score["value"], score["statistics"]) == ("dialogue/slot_accuracy", 0.25, "[0.25,1]")
    assert read_item(store, run, "d3/9") is None
    assert item_scores(store, run, 12345) == []


def test_a_run_without_items(store: Store, begin_run: Begin) -> None:
    run = begin_run(store)
    table = StoredItems(store, run).whole()
    assert (len(table.numbers), table.n_clusters, dict(table.dimensions)) == (0, 0, {})
    assert read_scores(store, run) == []
    assert list(read_columns(store, run, store.metrics(run)[0], with_parts=True)) == []


# Columns


def test_columns_come_one_output_and_variant_at_a_time(store: Store, begin_run: Begin, make_batch: MakeBatch) -> None:
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [1.0, None, 0.5]))
    store.amend(run, [a_score("d0/0", 0.25, variant="oracle"), a_score("d0/2", 2.0, output="extra")], by="test")
    found = {(c.output, c.variant): c for c in read_columns(store, run, store.metrics(run)[0], with_parts=True)}
    assert set(found) == {("value", ""), ("value", "oracle"), ("extra", "")}
    real = found["value", ""]
    assert real.items.tolist() == [0, 1, 2]
    assert [None if math.isnan(v) else v for v in real.values] == [1.0, None, 0.5]
    assert real.reasons.codes.tolist() == [-1, 0, -1]
    assert real.reasons.names == ["no predicted state"]
    assert np.isnan(real.statistics[1]).all()
    assert real.statistics[[0, 2]].tolist() == [[1.0, 1.0], [0.5, 1.0]]
    assert found["value", "oracle"].values.tolist() == [0.25]
    assert list(read_columns(store, run, store.metrics(run)[1], with_parts=True)) == []


@pytest.mark.parametrize("chunk", [1, 3, 7])
def test_the_size_of_the_pieces_does_not_show(
    store: Store, begin_run: Begin, make_batch: MakeBatch, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    run = begin_run(store)
    values = [None, None, None, None, 0.25, 1.0, None, 0.5, 0.75, None]
    store.write_batch(run, make_batch(0, values))
    monkeypatch.setattr(stream_module, "CHUNK", chunk)
    (columns,) = read_columns(store, run, store.metrics(run)[0], with_parts=True)
    assert [None if math.isnan(v) else v for v in columns.values] == values
    assert [None if math.isnan(v) else v for v in columns.statistics[:, 0]] == values
    assert [score.value for score in read_scores(store, run)] == values
    assert StoredItems(store, run).whole().numbers.tolist() == list(range(10))


def test_scores_of_all_metrics_are_merged_by_item(store: Store, begin_run: Begin, make_batch: MakeBatch) -> None:
    run = begin_run(store)
    for index in (1, 0):
        first, second = make_batch(index, [0.0, 1.0]), make_batch(index, [0.5, None], metric=1)
        store.write_batch(run, BatchRows(index, first.items, [*second.scores, *first.scores]))
    found = [(row["item"], row["metric"], row["value"]) for row in stream_scores(store, run)]
    accuracy, tone = "dialogue/slot_accuracy", "dialogue/tone"
    assert found == [
        (f"d{d}/{place}", metric, values[place])
        for d in (0, 1)
        for place in (0, 1)
        for metric, values in ((accuracy, [0.0, 1.0]), (tone, [0.5, None]))
    ]


# Streams


@pytest.fixture
def half_read(store: Store, begin_run: Begin, make_batch: MakeBatch) -> Iterator[tuple[Run, Iterator[Any]]]:
    """A stream of scores that was begun and not finished."""
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [0.5] * 50))
    stream = stream_scores(store, run)
    assert next(stream)["value"] == 0.5
    yield run, stream
    stream.close()  # type: ignore[attr-defined]


def test_a_stream_sees_the_run_as_it_was_when_it_began(
    store: Store, half_read: tuple[Run, Iterator[Any]], make_batch: MakeBatch
) -> None:
    run, stream = half_read
    store.write_batch(run, make_batch(1, [0.25]))
    assert len(list(stream)) == 49
    assert len(list(stream_scores(store, run))) == 51


def test_two_streams_do_not_disturb_each_other(store: Store, half_read: tuple[Run, Iterator[Any]]) -> None:
    run, stream = half_read
    assert len(list(stream_scores(store, run))) == 50
    assert store.metrics(run)[0].name == "dialogue/slot_accuracy"
    assert len(list(stream)) == 49


def test_streams_in_memory_do_not_disturb_each_other(begin_run: Begin, make_batch: MakeBatch) -> None:
    store = Store(":memory:")
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [0.5] * 3))
    stream = stream_scores(store, run)
    next(stream)
    assert store.count_items(run) == 3
    assert len(list(stream)) == 2
    store.close()
