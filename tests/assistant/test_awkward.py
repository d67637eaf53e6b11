"""What a hostile tester, or a worn-out one, hands in: odd letters, odd files, odd arguments, all at once."""

from __future__ import annotations

import json
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from turnwise.assistant import evaluate, record_turn
from turnwise.assistant.composites import composite_context, qualities
from turnwise.assistant.evaluator import ResponseMetrics
from turnwise.assistant.load import AssistantSource
from turnwise.assistant.patterns import LONGEST_SHOWN
from turnwise.assistant.profile import built_in, load_profile
from turnwise.assistant.read import EXPORT_HEADER, open_rows
from turnwise.assistant.records import Turn
from turnwise.kernel.errors import InputError, UsageError
from turnwise.store.store import Store


def judged(response: str, query: str = "What about it?", *, first: bool = False, **more: str) -> ResponseMetrics:
    return evaluate(query, response, [], 100, first, embedding="none", **more)  # type: ignore[arg-type]


def turns(path: Path) -> list[Turn]:
    source = AssistantSource(open_rows(path), built_in("hr"))
    return [turn for batch in source.batches() for turn in batch.turns]


def written(folder: Path, text: str, name: str = "own.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# --- sentences ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    [
        "According to Attendance Policy 4.2, three absences count.",
        "According to Fitness Connection's attendance policy, notice is needed.",
        "According to FMLA policy, leave is protected.",
        "According to this policy, it is allowed.",
        "ACCORDING TO THE ATTENDANCE POLICY, IT IS ALLOWED.",
    ],
)
def test_what_is_according_to_a_policy_cites_it(response: str) -> None:
    """The document's `according to .+ policy` sees them all; the default must not see less of a plain citation."""
    assert judged(response, profile="spec").has_policy_citation is True
    assert judged(response).has_policy_citation is True


def test_according_to_somebody_is_no_citation() -> None:
    assert judged("According to the manager, he was ill. There is a policy.").has_policy_citation is False
    assert judged("According to my notes he was ill; there is no such policy.").has_policy_citation is False


@pytest.mark.parametrize(
    ("response", "action"),
    [
        ("Don't hesitate to call the employee.", "call"),
        ("Do not forget to email the employee.", "email"),
        ("Never hesitate to contact the employee.", "call"),
        ("First: Call HR\nAttendance Policy: three absences.", "call"),  # a policy's name ends with its line
        ("You do not need to call.", None),
        ("Avoid sending an email.", None),
        ("Please don't just call.", None),
        ("Never try to phone at night.", None),
    ],
)
def test_a_negation_takes_back_only_what_it_negates(response: str, action: str | None) -> None:
    found = judged(response)
    assert found.appropriate_action_suggested is (action is not None)
    actions = found.evidence.get("appropriate_action_suggested", {}).get("actions", {})
    assert list(actions) == ([] if action is None else [action])


@pytest.mark.parametrize(
    "question", ["What happened?!", "When was that?🙂", "When?—and where.", "Who?»", "Who?<br>", "Who?..."]
)
def test_whatever_follows_it_a_question_mark_asks(question: str) -> None:
    assert judged(question, "My employee left", first=True).asks_clarifying_questions is True


@pytest.mark.parametrize(
    "address", ["See https://hr.example/?page=1", "See https://hr.example/a?b", "See hr.example?x=%20"]
)
def test_a_question_mark_in_an_address_does_not(address: str) -> None:
    assert judged(address, "My employee left", first=True).asks_clarifying_questions is False


@pytest.mark.parametrize("response", ["trac\u212a it", "\u017fchedule it", "\u017fend a me\u017f\u017fage"])
def test_spec_knows_no_letter_that_javascript_does_not(response: str) -> None:
    """`/track/i.test("trac\\u212a")` is false in JavaScript (without its flag `u`), and true for RE2 and for Python."""
    assert judged(response, profile="spec").appropriate_action_suggested is False
    assert judged("SEND A MESSAGE, track it", profile="spec").appropriate_action_suggested is True


# --- arguments ----------------------------------------------------------------------------------------------


def test_false_in_letters_is_false() -> None:
    answers = [
        evaluate("My employee left", "When?", [], 1, value, embedding="none").asks_clarifying_questions  # type: ignore[arg-type]
        for value in ("false", "0", "true", False, True)
    ]
    assert answers == [None, None, True, None, True]
    for value in (None, "perhaps"):
        with pytest.raises(InputError, match="is_first_response"):
            evaluate("My employee left", "When?", [], 1, value)  # type: ignore[arg-type]


def test_a_profile_that_is_none_is_not_the_default_one(store: Store) -> None:
    with pytest.raises(UsageError, match="unknown profile 'specs'") as error:
        judged("Wait.", profile="specs")
    assert "did you mean spec" in error.value.message
    with pytest.raises(UsageError, match="unknown profile"):
        record_turn(store, session_id="s", turn=1, query="q", response="r", profile="specs")
    assert list(store.runs("assistant")) == []


def test_a_search_context_without_results_is_not_recorded() -> None:
    found = evaluate("q", "Per our policy, x.", {"results": None}, 1, False, embedding="none")
    assert found.missing["rag_similarity_score"] == "no chunks recorded"
    chunk = {"text": None, "chunk_text": "Per our policy, x.", "similarity": 0.5}
    assert (
        evaluate("q", "Per our policy, x.", {"results": [chunk]}, 1, False, embedding="none").citation_accuracy == 1.0
    )


@pytest.mark.parametrize("number", ["9" * 5000, 10**5000, 2**63], ids=["text", "number", "just too large"])
def test_a_turn_has_a_number_that_can_be_kept(store: Store, number: str | int) -> None:
    with pytest.raises(InputError, match="turn is not a number of a turn"):
        record_turn(store, session_id="s", turn=number, query="q", response="r")  # type: ignore[arg-type]


def test_a_live_version_may_be_none_or_a_number(store: Store) -> None:
    def run_of(number: int, version: object) -> str:
        kept = record_turn(
            store,
            session_id="s",
            turn=number,
            query="q",
            response="r",
            version=version,
            embedding="none",  # type: ignore[arg-type]
        )
        return kept.run_id

    assert run_of(1, None) == run_of(2, "")
    assert run_of(3, 5) == run_of(4, "5")
    assert sorted(run.version for run in store.runs("assistant")) == ["", "5"]


def test_workers_that_begin_at_once_begin_one_run(tmp_path: Path) -> None:
    place = str(tmp_path / "live.sqlite")
    Store(place)
    gate, runs = threading.Barrier(6), []

    def work(number: int) -> None:
        store = Store(place)
        gate.wait()
        kept = record_turn(store, session_id=f"s{number}", turn=1, query="q", response="r", embedding="none")
        runs.append(kept.run_id)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(runs) == 6
    assert {run.id for run in Store(place).runs("assistant")} == set(runs)
    assert len(set(runs)) == 1


def test_evidence_is_short_however_long_the_match_is() -> None:
    response = "per our " + "own " * 200_000 + "policy, send " + "x " * 100_000 + "message"
    found = judged(response, profile="spec")
    shown = found.evidence["has_policy_citation"]["citation"]
    assert shown.startswith("per our own own")
    assert len(shown) == LONGEST_SHOWN
    assert len(json.dumps(dict(found.evidence))) < 2000


def test_the_same_citation_twenty_times_is_compared_once() -> None:
    """Twenty comparisons with 300 kB take twenty times as long as one, unless they are the same."""
    chunks = [{"text": "Late arrivals are noted. Notice is needed. " * 7_000, "similarity": 0.4}]

    def seconds(times: int) -> float:
        start = time.perf_counter()
        found = evaluate("q", "Per our policy, late arrivals count. " * times, chunks, 1, False, embedding="none")
        assert len(found.evidence["citation_accuracy"]) == times
        return time.perf_counter() - start

    seconds(1)
    assert seconds(20) < 5 * seconds(1)


# --- files of patterns --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("citation: [foo]\ncitation: [bar]", "line 2, column 1\n.*'citation' stands twice"),
        ("length: {min_words: 3, max_words: 9, min_words: 4}", "'min_words' stands twice"),
        ("actions: &a {call: [foo]}\noffers: {<<: *a}", "merge keys"),
        ("scenarios: {Attendance: {}, 'attendance ': {}}", "'Attendance' and 'attendance '"),
        ("scenarios: {' ': {weights: {objective: {citation_accuracy: 5}}}}", "a scenario has no name"),
        (r"citation: ['\b']", "needs at least one character"),
        (r"masks: ['x*\B']", "needs at least one character"),
    ],
)
def test_nothing_in_a_file_is_lost_without_a_word(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_profile(written(tmp_path, text))


def test_a_list_may_be_named_once_and_used_twice(tmp_path: Path) -> None:
    own = load_profile(written(tmp_path, "actions: {ring: &ring ['\\bring\\b']}\noffers: {ring: *ring}"))
    assert own.actions["ring"].sources == own.offers["ring"].sources == (r"\bring\b",)


@pytest.mark.parametrize("last", ["citation: *n", "weights: *n", "unknown: *n"])
def test_aliases_within_aliases_do_not_fill_the_memory(tmp_path: Path, last: str) -> None:
    """Twelve levels of nine: written out, 9 ** 12 = 282 thousand million words."""
    names = "bcdefghijklmn"
    levels = [f"{name}: &{name} [{', '.join(['*' + before] * 9)}]" for before, name in pairwise(names)]
    text = "\n".join(["b: &b [x, x, x, x, x, x, x, x, x]", *levels, last])
    with pytest.raises(InputError) as error:
        load_profile(written(tmp_path, text))
    assert len(error.value.message) < 1000


def test_weights_and_the_border_are_kept_to_the_last_digit(tmp_path: Path) -> None:
    """1/3 * 0.6 + 2/3 * 0.9 = 0.8, which is below a border of 0.8000000001 and not below 0.8."""
    third = "weights: {overall: {objective: 0.3333333333333333, subjective: 0.6666666666666667}}\n"
    values = {"citation_accuracy": 0.6, "empathy_score": 4.5}
    for border, band in (("0.8000000001", "not_ready"), ("0.8", "production_ready")):
        context = composite_context(load_profile(written(tmp_path, f"{third}production_ready: {border}")))
        found = qualities(values, context)
        assert found.overall == pytest.approx(0.8, abs=1e-12)
        assert found.band == band
    assert composite_context(built_in("hr"))["overall_weights"] == "0.4/0.6"


# --- tables -------------------------------------------------------------------------------------------------


def test_a_table_may_have_semicolons_a_mark_and_line_breaks(tmp_path: Path) -> None:
    header = ";".join(EXPORT_HEADER)
    path = tmp_path / "export.csv"
    path.write_bytes(f'\ufeff{header}\r\n1;"My ""best"" one, late;\r\nagain";"When, exactly?";;;0,85;;;\r\n'.encode())
    (turn,) = turns(path)
    assert (turn.query, turn.response) == ('My "best" one, late;\r\nagain', "When, exactly?")


def test_chunks_in_a_cell_are_json(tmp_path: Path) -> None:
    rows = 'Turn,ERA Response,Chunks\n1,x,"[{""text"": ""a"", ""similarity"": 0.25}]"\n2,x,[]\n3,x,\n'
    first, second, third = turns(written(tmp_path, rows, "x.csv"))
    assert first.chunks is not None
    assert [(chunk.text, chunk.similarity) for chunk in first.chunks] == [("a", 0.25)]
    assert second.chunks == ()
    assert third.chunks is None
    with pytest.raises(InputError, match="chunks is not a list") as error:
        turns(written(tmp_path, "Turn,ERA Response,Chunks\n1,x,[oops\n", "y.csv"))
    assert "line 2" in error.value.message
