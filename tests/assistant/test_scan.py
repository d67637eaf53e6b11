"""The first look at the turns: the same in one process, in several, and whatever the file is cut into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnwise.assistant.load import AssistantSource
from turnwise.assistant.profile import built_in
from turnwise.assistant.read import open_rows
from turnwise.assistant.suite import SUITE
from turnwise.engine import json_lines
from turnwise.engine.job import run_job
from turnwise.engine.options import parse_options, stored_options
from turnwise.kernel.errors import InputError, TurnwiseError
from turnwise.store.store import Store


def turn(number: int, **others: Any) -> dict[str, Any]:
    own = {"session_id": f"s{number // 3}", "turn": number % 3 + 1, "query": f"May I, {number}?", "response": "Yes."}
    return {**own, **others}


ROWS = [turn(0, version="b"), turn(1, empathy_score=4), turn(2, response=""), turn(3, region="north"), turn(4), turn(5)]


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "turns.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def loaded(path: Path, workers: int) -> AssistantSource:
    return AssistantSource(open_rows(path), built_in("hr"), workers=workers)


def seen(source: AssistantSource) -> tuple[Any, ...]:
    return (
        source.n_items,
        source.input_fingerprint,
        source.dataset_fingerprint,
        source.findings,
        list(source.versions),
        source.fields,
        source.dimensions,
        source.coverage,
        [turn.id for batch in source.batches() for turn in batch.turns],
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_blocks_and_processes_do_not_show(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, ROWS)
    whole = seen(loaded(path, 1))
    assert whole[0] == 6
    assert {finding.message.split(":")[0] for finding in whole[3]} > {"replies that are empty"}
    monkeypatch.setattr(json_lines, "BLOCK", 1)
    assert len(open_rows(path).blocks()) == 6  # type: ignore[attr-defined]
    assert seen(loaded(path, workers)) == whole


def test_a_fingerprint_tells_order_and_content(tmp_path: Path) -> None:
    changed = [ROWS, ROWS[::-1], [*ROWS[:5], turn(5, response="No.")], ROWS[:5]]
    assert len({loaded(written(tmp_path, rows), 1).input_fingerprint for rows in changed}) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_mistake_in_the_file_is_named(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "BLOCK", 1)
    path = written(tmp_path, [*ROWS[:3], turn(3, response=7), turn(4, turn="second"), turn(5)])
    with pytest.raises(InputError, match="response is not a text") as caught:
        loaded(path, workers)
    assert caught.value.where == f"{path}, line 4"


def test_a_version_that_all_turns_have_may_be_named_when_the_run_goes_on(tmp_path: Path) -> None:
    """A run takes it from the turns and keeps it; what is read is the same."""
    path = written(tmp_path, [turn(n, version="v1") for n in range(6)])
    source = AssistantSource(open_rows(path), built_in("hr"), version="v1")
    assert source.input_fingerprint == loaded(path, 1).input_fingerprint
    blank = written(tmp_path, [turn(n) for n in range(6)])
    filled = AssistantSource(open_rows(blank), built_in("hr"), version="v1")
    assert filled.input_fingerprint != loaded(blank, 1).input_fingerprint


@pytest.mark.parametrize("given", [{}, {"version": "v1"}])
def test_a_run_of_one_version_goes_on(tmp_path: Path, given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from turnwise.engine.executors import dask_greeting

    monkeypatch.setattr(dask_greeting, "CONNECT_S", 1.0)
    path, store = written(tmp_path, [turn(n, version="v1") for n in range(6)]), Store(str(tmp_path / "runs.sqlite"))
    options = parse_options(SUITE, {"turns": path, "metrics": ["response_length_appropriate"]})
    with pytest.raises(TurnwiseError, match="no scheduler answers"):
        run_job(SUITE, options.model_copy(update={"engine": "tcp://127.0.0.1:9"}), store=store)
    run = store.run("latest")
    again = stored_options(SUITE, store, run.id, {"engine": "inline", **given})
    resumed = run_job(SUITE, again, store=store, resume=run.id)
    assert (resumed.run.status, store.count_items(resumed.run)) == ("finished", 6)
    store.close()


def test_what_is_no_number_is_nothing_to_slice_by() -> None:
    rows = [turn(n, site=site) for n, site in enumerate((1.5, float("nan"), float("inf")))]
    source = AssistantSource(open_rows(rows), built_in("hr"))
    (batch,) = source.batches()
    assert [one.unit.dimensions.get("site") for one in batch.turns] == ["1.5", None, None]
    assert [finding.count for finding in source.findings if "'site'" in finding.message] == [2]
