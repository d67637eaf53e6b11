"""One run from options to results: what is wrong with options is named, and nothing is begun that cannot be done."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turnwise.dialogue.suite import SUITE, DialogueOptions
from turnwise.engine.job import run_job
from turnwise.engine.options import parse_options, stored_options
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
from turnwise.kernel.score import Score, Source, Unit
from turnwise.store.store import Store

GIVEN: dict[str, Any] = {"references": "r.jsonl", "predictions": "p.jsonl"}


def parsed(**values: Any) -> DialogueOptions:
    options = parse_options(SUITE, {**GIVEN, **values})
    assert isinstance(options, DialogueOptions)
    return options


# Options that are taken


def test_what_is_not_said_has_a_default() -> None:
    options = parsed()
    assert (options.profile, options.executor, options.workers) == ("turnwise", "inline", None)
    assert (options.metrics, options.by, options.set, options.baselines) == (None, [], {}, False)
    assert (options.normaliser, options.resamples) == ("multiwoz-v1", 1000)
    assert options.references == Path("r.jsonl")


@pytest.mark.parametrize(
    ("given", "metrics"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        (["a", "b, c ,"], ["a", "b", "c"]),
        (["a b"], ["a b"]),
        ([], None),
        (None, None),
    ],
)
def test_metrics_are_split_at_commas(given: object, metrics: list[str] | None) -> None:
    assert parsed(metrics=given).metrics == metrics


@pytest.mark.parametrize(
    ("given", "by"),
    [
        ("domain", [("domain",)]),
        (["domain", "domain, scenario"], [("domain",), ("domain", "scenario")]),
        ([["domain", "slot"]], [("domain", "slot")]),
    ],
)
def test_dimensions_are_crossed_with_commas(given: object, by: list[tuple[str, ...]]) -> None:
    assert parsed(by=given).by == by


def test_yaml_writes_numbers_and_truth_values_where_texts_are_meant() -> None:
    options = parsed(set={"first": True, "limit": 0.5, "name": "x"}, version=2, system=7)
    assert options.set == {"first": "true", "limit": "0.5", "name": "x"}
    assert (options.version, options.system) == ("2", "7")


# Options that are refused


@pytest.mark.parametrize(
    ("values", "message", "facts"),
    [
        ({"metric": "a"}, "dialogue has no option 'metric'", ["did you mean metrics?", "references"]),
        ({"zzz": 1}, "dialogue has no option 'zzz'", ["expected: system"]),
        ({"profile": "specs"}, "unknown profile 'specs'", ["turnwise or spec", "did you mean spec?"]),
        ({"workers": 0}, "option 'workers'", ["found: 0"]),
        ({"workers": "many"}, "option 'workers'", ["found: 'many'"]),
        ({"resamples": 99}, "option 'resamples'", ["found: 99"]),
        ({"resamples": 100_001}, "option 'resamples'", ["found: 100001"]),
        ({"baselines": "perhaps"}, "option 'baselines'", ["found: 'perhaps'"]),
        ({"metrics": 3}, "option 'metrics'", ["found: 3"]),
        ({"set": "first"}, "option 'set'", ["found: 'first'"]),
        ({"by": {"a": 1}}, "option 'by'", ["found: {'a': 1}"]),
        ({"system": ["a"]}, "option 'system'", ["found: ['a']"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_is_wrong_is_named(values: dict[str, Any], message: str, facts: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        parse_options(SUITE, {**GIVEN, **values}, where="suite.yaml, run 2")
    text = str(error.value)
    assert text.startswith(message)
    assert "where: suite.yaml, run 2" in text
    for fact in facts:
        assert fact in text


def test_a_missing_option_is_named() -> None:
    with pytest.raises(UsageError, match="option 'predictions' is missing") as error:
        parse_options(SUITE, {"references": "r.jsonl"})
    assert error.value.remedy == "turnwise run dialogue --help"


def test_an_option_that_may_be_a_path_or_records_is_named_as_the_user_knows_it() -> None:
    with pytest.raises(UsageError) as error:
        parsed(references=5)
    assert str(error.value).startswith("option 'references':")
    assert "[" not in error.value.what


# Nothing is begun that cannot be done


@pytest.fixture
def store(sqlite_path: str) -> Iterator[Store]:
    store = Store(sqlite_path)
    yield store
    store.close()


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    """Two dialogues of two exchanges; one of the four states is wrong."""
    for name in ("references", "predictions"):
        lines = []
        for d in ("d0", "d1"):
            for turn, area in enumerate(("north", "south")):
                wrong = name == "predictions" and (d, turn) == ("d1", 1)
                state = {"hotel-area": "west" if wrong else area}
                lines.append(json.dumps({"dialogue_id": d, "turn_id": turn, "domain": "hotel", "state": state}) + "\n")
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    return {name: tmp_path / f"{name}.jsonl" for name in ("references", "predictions")}


def test_a_run_from_options_to_results(store: Store, data: dict[str, Path], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    options = parse_options(SUITE, {**data, "metrics": ["joint_goal_accuracy"], "out": tmp_path / "out"})
    outcome = run_job(SUITE, options, store=store, progress=lambda now: seen.append((now.done, now.total)))
    kept = store.run(outcome.run.id)
    assert (kept.status, kept.finished) == ("finished", outcome.run.finished)
    assert seen == [(0, 4), (4, 4)]
    micro = [r for r in outcome.results if r["rollup"] == "micro" and not r["group"]]
    assert [(r["value"], r["n_scored"]) for r in micro] == [(0.75, 4)]  # 3 of 4
    assert store.rollups(outcome.run) == outcome.results
    written = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (written["run"]["id"], written["run"]["status"]) == (outcome.run.id, "finished")
    assert written["results"] == outcome.results
    assert {a["name"]: Path(a["path"]).stat().st_size for a in store.artifacts(outcome.run)} == {
        path.name: path.stat().st_size for path in outcome.files
    }


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ({"references": "nowhere.jsonl"}, InputError, "nowhere.jsonl"),
        ({"metrics": ["slot_acuracy"]}, UsageError, "slot_acuracy"),
        ({"set": {"frist": "true"}}, UsageError, "frist"),
        ({"set": {"first": "perhaps"}}, UsageError, "perhaps"),
        ({"normaliser": "nowhere.yaml"}, TurnwiseError, "nowhere.yaml"),
        ({"executor": "threads"}, UsageError, "threads"),
        ({"out": "a file/below"}, UsageError, "a file"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_cannot_be_done_is_refused_before_a_run_begins(
    store: Store,
    data: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    values: dict[str, Any],
    kind: type[TurnwiseError],
    message: str,
) -> None:
    (tmp_path / "a file").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=message):
        run_job(SUITE, parse_options(SUITE, {**data, **values}), store=store)
    assert store.runs() == []


@pytest.mark.parametrize(("by", "unknown"), [("domian", "domian"), ("domain,scenario", "scenario")])
def test_a_dimension_that_no_item_has_is_not_passed_over(
    store: Store, data: dict[str, Path], by: str, unknown: str
) -> None:
    with pytest.raises(UsageError, match=unknown):
        run_job(SUITE, parse_options(SUITE, {**data, "by": by}), store=store)


def test_a_run_that_fails_says_so(store: Store, data: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "write_batch", no_space)
    with pytest.raises(OSError, match="No space left"):
        run_job(SUITE, parse_options(SUITE, data), store=store)
    assert store.run("latest").status == "failed"


def test_a_summary_stands_for_a_run_whose_other_files_are_there(
    store: Store, data: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> list[Path]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(SUITE), "write_files", no_space)
    with pytest.raises(OSError, match="No space left"):
        run_job(SUITE, parse_options(SUITE, {**data, "out": tmp_path / "out"}), store=store)
    assert store.run("latest").status == "failed"
    assert not (tmp_path / "out" / "summary.json").exists()


# Options of a run that is resumed


def test_a_run_is_resumed_with_the_options_it_began_with(store: Store, data: dict[str, Path]) -> None:
    values = {"set": {"first": True}, "by": ["domain,slot"], "metrics": "slot_accuracy", "resamples": 200}
    options = parse_options(SUITE, {**data, **values, "system": "s", "version": 3, "normaliser": "none"})
    run = store.end(run_job(SUITE, options, store=store).run, "failed")
    again = stored_options(SUITE, store, run.id, {})
    assert again.model_dump() == options.model_copy(update={p: path.resolve() for p, path in data.items()}).model_dump()
    moved = stored_options(SUITE, store, run.id, {"references": Path("elsewhere.jsonl")})
    assert moved.model_dump()["references"] == str(Path("elsewhere.jsonl").resolve())


def test_a_rating_in_between_does_not_keep_a_run_from_going_on(store: Store, data: dict[str, Path]) -> None:
    options = parse_options(SUITE, {**data, "metrics": ["slot_accuracy"]})
    run = store.end(run_job(SUITE, options, store=store).run, "interrupted")
    rating = Score(
        metric="dialogue/tone",
        unit=Unit("d0/0", "d0", {}, "exchange"),
        signature="dialogue/tone|v1",
        value=4.0,
        source=Source.HUMAN,
        rater="anna",
    )
    store.amend(run, [rating], by="anna")
    resumed = run_job(SUITE, stored_options(SUITE, store, run.id, {}), store=store, resume=run.id)
    assert resumed.run.status == "finished"


def test_a_finished_run_is_not_resumed(store: Store, data: dict[str, Path]) -> None:
    run = run_job(SUITE, parse_options(SUITE, data), store=store).run
    with pytest.raises(UsageError, match=f"run {run.id} has finished"):
        stored_options(SUITE, store, run.id, {})
    with pytest.raises(UsageError, match="there is no run 'x'"):
        stored_options(SUITE, store, "x", {})


@pytest.mark.parametrize("engine", ["inline", "processes:2", "dask:2"])
def test_workers_end_at_once_when_their_rows_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Also while somebody holds the error, and with it everything that was being done."""
    if engine.startswith("dask"):
        pytest.importorskip("distributed")
    store = Store(str(tmp_path / "runs.sqlite"))

    def full(*_: Any) -> None:
        working.append(len(multiprocessing.active_children()))
        raise TurnwiseError("there is no room for the database")

    working: list[int] = []
    monkeypatch.setattr(Store, "write_batch", full)
    folder = Path(__file__).parents[2] / "examples" / "dialogue"
    paths = {name: folder / f"{name}.jsonl" for name in ("references", "predictions")}
    before = len(multiprocessing.active_children())
    with pytest.raises(TurnwiseError, match="no room"):
        run_job(SUITE, parsed(**paths, engine=engine), store=store)
    assert (working[0] > before) == (engine != "inline")
    assert len(multiprocessing.active_children()) == before
    store.close()
