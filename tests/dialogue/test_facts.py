"""What is kept of a dialogue while a file is indexed: few bytes, the same answers as with everything in memory."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.dialogue.formats import base, streamed
from turnwise.dialogue.formats.base import Tally
from turnwise.dialogue.formats.facts import IdTable
from turnwise.dialogue.formats.jsonl import JsonlDialogues, held
from turnwise.dialogue.pairing import match_ids
from turnwise.dialogue.records import Exchange, folded_id
from turnwise.kernel.errors import InputError

IDS = st.lists(st.sampled_from([f"{a}{b}" for a in ("a", "A", "b", "B.json", "b.json", "c") for b in ("", ".json")]))


def of(ids: list[str]) -> Any:
    return held([{"dialogue_id": dialogue_id} for dialogue_id in ids or ["other"]], "records")


@given(IDS, IDS)
def test_ids_are_matched_as_texts_would_be(ours: list[str], theirs: list[str]) -> None:
    references, predicted = of(ours), of(theirs)
    known, given_ids = list(references.ids()), list(predicted.ids())
    left = [name for name in given_ids if name not in known]
    expected = []
    for name in known:
        same = [other for other in left if folded_id(other) == folded_id(name)]
        alone = len(same) == 1 and Counter(map(folded_id, known))[folded_id(name)] == 1
        expected.append(given_ids.index(name) if name in given_ids else given_ids.index(same[0]) if alone else -1)
    assert match_ids(references, predicted).tolist() == expected


def test_a_table_of_ids_grows() -> None:
    table = IdTable()
    places = [table.add(f"dialogue {n}") for n in range(5000)]
    assert places == list(range(5000))
    assert [table.find(f"dialogue {n}") for n in (0, 511, 512, 4999)] == [0, 511, 512, 4999]
    assert table.find("dialogue 5000") == -1


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("most_open", [1, 2, 1000])
def test_dialogues_whose_lines_are_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_open: int) -> None:
    monkeypatch.setattr(streamed, "MOST_OPEN", most_open)
    rows = [{"dialogue_id": "abcd"[n % 4], "turn_id": n, "state": {"a-b": str(n // 8)}} for n in range(16)]
    dialogues = JsonlDialogues(lines(tmp_path / "mixed.jsonl", rows))
    assert list(dialogues.ids()) == ["a", "b", "c", "d"]
    assert dialogues.facts.exchanges.tolist() == [4, 4, 4, 4]
    assert not dialogues.facts.constant.any()  # 0, 0, 1, 1
    assert [exchange.turn_id for exchange in dialogues.exchanges("b")] == ["1", "5", "9", "13"]
    with pytest.raises(KeyError):
        dialogues.exchanges("e")


@pytest.mark.parametrize("most_open", [1, 1000])
def test_a_turn_that_is_there_twice_is_found_however_far_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_open: int
) -> None:
    monkeypatch.setattr(streamed, "MOST_OPEN", most_open)
    names = ["a", "b", "c", "d", "a"]
    with pytest.raises(InputError, match="is there twice") as caught:
        JsonlDialogues(lines(tmp_path / "twice.jsonl", [{"dialogue_id": name, "turn_id": 1} for name in names]))
    assert str(caught.value.where).endswith("line 5")


def test_two_ids_with_one_fingerprint_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwise.dialogue.formats.facts._fingerprint", lambda text: 7)
    rows = [{"dialogue_id": "a"}, {"dialogue_id": "b"}]
    with pytest.raises(InputError, match="the same fingerprint"):
        JsonlDialogues(lines(tmp_path / "same.jsonl", rows))


def test_values_beyond_the_limit_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MOST_VALUES", 2)
    tally = Tally()
    for state in ({"a": "1"}, {"a": "2"}, {"a": "3"}, {"a": ["1", "4"]}, {"b": "1"}, {"b": "2"}):
        tally.add(Exchange(dialogue_id="d", state=state))
    assert dict(tally.values) == {("a", "1"): 2, ("a", "2"): 1, ("b", "1"): 1}  # a slot of its own is always known
    assert dict(tally.notes) == {base.MORE_VALUES: 3}  # a = 3, a = 4, b = 2
    assert tally.fields == {"state": 6}
