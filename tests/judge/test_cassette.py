"""The record: what is kept, how it is found again, and what is wrong with a broken one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.judge.asked import GOOD, always_good, ask_about, outcome, settings_for
from tests.judge.server import MODEL, Reply, Request, Server, completion, error, events
from turnwise.judge.ask import Judge
from turnwise.judge.cassette import Answer, Call, Cassette, recorded_settings
from turnwise.judge.records import Failure
from turnwise.judge.settings import judge_settings
from turnwise.kernel.errors import InputError, UsageError

PARAMETERS = {"temperature": 0.0, "seed": 0, "max_tokens": 2048}
CALL = Call(MODEL, [{"role": "user", "content": "Hm? ü"}], PARAMETERS, {"type": "object"}, 1)


def entries(folder: Path) -> dict[str, bytes]:
    """All files of a cassette."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_key_is_the_hash_of_what_was_asked() -> None:
    written = (
        '{"messages":[{"content":"Hm? ü","role":"user"}],"model":"judge-1",'
        '"parameters":{"max_tokens":2048,"schema":{"type":"object"},"seed":0,"temperature":0.0},"repeat":1}'
    )
    assert CALL.key == hashlib.sha256(written.encode()).hexdigest()


@pytest.mark.parametrize(
    "other",
    [
        Call("judge-2", CALL.messages, PARAMETERS, CALL.schema, 1),
        Call(MODEL, [{"role": "user", "content": "Hm?"}], PARAMETERS, CALL.schema, 1),
        Call(MODEL, CALL.messages, {**PARAMETERS, "temperature": 0.5}, CALL.schema, 1),
        Call(MODEL, CALL.messages, {**PARAMETERS, "seed": 1}, CALL.schema, 1),
        Call(MODEL, CALL.messages, {**PARAMETERS, "max_tokens": 9}, CALL.schema, 1),
        Call(MODEL, CALL.messages, {**PARAMETERS, "body": {"top_p": 1}}, CALL.schema, 1),
        Call(MODEL, CALL.messages, PARAMETERS, {}, 1),
        Call(MODEL, CALL.messages, PARAMETERS, CALL.schema, 0),
    ],
)
def test_whatever_an_answer_depends_on_changes_the_key(other: Call) -> None:
    assert other.key != CALL.key


def test_an_entry(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path, settings_for("http://h"))
    answer = Answer("4", None, "stop", 7, 1, 0.5, "judge-1-0711")
    assert cassette.get(CALL.key) is None
    cassette.put(CALL, answer)
    assert cassette.get(CALL.key) == answer
    path = cassette.path(CALL.key)
    assert (path.name, path.parent.name) == (f"{CALL.key}.json", CALL.key[:2])
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content == {
        "turnwise_cassette": 1,
        "request": {
            "model": MODEL,
            "repeat": 1,
            "parameters": {**PARAMETERS, "schema": {"type": "object"}},
            "messages": [{"role": "user", "content": "Hm? ü"}],
        },
        "answer": {
            "text": "4",
            "refusal": None,
            "finish_reason": "stop",
            "usage": {"prompt_tokens": 7, "completion_tokens": 1},
            "confidence": 0.5,
            "model": "judge-1-0711",
        },
    }
    assert "Hm? ü" in path.read_text(encoding="utf-8")
    assert not [file for file in tmp_path.rglob("*") if file.suffix == ".part"]


def test_the_way_of_asking_is_not_part_of_it(tmp_path: Path) -> None:
    """Streamed or not, with a schema or without, from here or there: the same answers make the same files."""
    chunk = {"model": f"{MODEL}-0711", "choices": [{"delta": {"content": GOOD}, "finish_reason": "stop"}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}

    def streaming(_: Request) -> Reply:
        return Reply(headers={"content-type": "text/event-stream"}, chunks=events(chunk, usage))

    def picky(request: Request) -> Reply:
        return (
            error(400, "response_format is not supported")
            if "response_format" in request.body
            else always_good(request)
        )

    ways = {"plain": always_good, "stream": streaming, "picky": picky}
    for name, way in ways.items():
        with Server(way) as server:
            Judge(settings_for(server, stream=name == "stream"), cassette=tmp_path / name, repeats=2).ask(ask_about(3))
    first, *others = (entries(tmp_path / name) for name in ways)
    assert len(first) == 3 * 2 + 1
    assert all(other == first for other in others)


def test_what_is_on_record_is_not_asked(tmp_path: Path) -> None:
    with Server(always_good) as server:
        Judge(settings_for(server), cassette=tmp_path).ask(ask_about(3))
        before = entries(tmp_path)
        judge = Judge(settings_for(server), cassette=tmp_path)
        tally = judge.ask(ask_about(5))
    assert (tally.calls, tally.from_record) == (2, 3)
    assert len(server.requests) == 5
    assert before.items() <= entries(tmp_path).items()


def test_errors_are_not_recorded(tmp_path: Path) -> None:
    with Server(lambda _: error(500, "no")) as server:
        assert isinstance(outcome(server, tmp_path, retries=0), Failure)
    assert not entries(tmp_path)
    with Server(always_good) as server:
        assert not isinstance(outcome(server, tmp_path), Failure)


def test_replaying(tmp_path: Path) -> None:
    bad = completion("I would say four.")
    with Server(lambda request: bad if "table for 1" in request.prompt else completion(GOOD)) as server:
        judge = Judge(settings_for(server), cassette=tmp_path, repeats=2)
        judge.ask(ask_about(3))
    replayed = Judge(None, replay=tmp_path, repeats=2)
    before = entries(tmp_path)
    tally = replayed.ask(ask_about(4))
    for question in ask_about(3):
        assert replayed.judgement(question) == judge.judgement(question)
    assert replayed.model == MODEL
    assert (tally.calls, tally.from_record, tally.failed) == (0, 6, 2 + 2)
    last = replayed.judgement(ask_about(4)[3])
    assert all(isinstance(one, Failure) and "not on the cassette: judge-1, key " in one.reason for one in last.answers)
    key = last.failures[0].reason.rpartition(" ")[2]
    assert len(key) == 64
    assert int(key, 16)
    assert entries(tmp_path) == before


def test_replaying_needs_no_network_and_no_client(tmp_path: Path) -> None:
    with Server(always_good) as server:
        Judge(settings_for(server), cassette=tmp_path).ask(ask_about(2))
    script = (
        "import sys; sys.modules['httpx'] = None\n"
        "from pathlib import Path\n"
        "from turnwise.judge.ask import Judge\n"
        "from tests.judge.asked import ask_about\n"
        f"judge = Judge(None, replay=Path({str(tmp_path)!r}))\n"
        "judge.ask(ask_about(2))\n"
        "assert all(judge.judgement(question).verdicts for question in ask_about(2))\n"
        "assert 'turnwise.judge.client' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_settings_of_a_cassette(tmp_path: Path) -> None:
    with Server(always_good) as server:
        Judge(settings_for(server, temperature=0.5, seed=None), cassette=tmp_path).ask(ask_about(1))
        found = judge_settings(replay=tmp_path)
        assert (found.model, found.temperature, found.seed, found.url) == (MODEL, 0.5, None, "")
        Judge(settings_for(server, model="other/one"), cassette=tmp_path).ask(ask_about(1))
    with pytest.raises(UsageError, match="several judges") as raised:
        judge_settings(replay=tmp_path)
    assert "--judge-model" in str(raised.value)
    assert recorded_settings(tmp_path, "other/one").temperature == 0.0
    with pytest.raises(UsageError, match="did you mean judge-1"):
        recorded_settings(tmp_path, "judge-2")


def test_no_cassette(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recorded answers"):
        Judge(None, replay=tmp_path)
    with pytest.raises(UsageError, match="not there"):
        Judge(None, replay=tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="not there"):
        Judge(settings_for("http://h"), replay=tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "no JSON"),
        (b'{"turnwise_cassette": 1, "requ', "no JSON"),
        (b"\x80\xff", "no JSON"),
        (b"[1]", "something else"),
        (b'{"a": 1}', "something else"),
        (b'{"turnwise_cassette": 2}', "version 2"),
        (b'{"turnwise_cassette": 1}', "no request"),
        (b'{"turnwise_cassette": 1, "request": {}, "answer": {"text": "4"}}', "not the one it is named after"),
    ],
)
@pytest.mark.parametrize("mode", ["record", "replay"])
def test_a_broken_or_foreign_file(tmp_path: Path, content: bytes, found: str, mode: str) -> None:
    with Server(always_good) as server:
        Judge(settings_for(server), cassette=tmp_path).ask(ask_about(1))
        (path,) = tmp_path.glob("*/*/*.json")
        path.write_bytes(content)
        judge = Judge(None, replay=tmp_path) if mode == "replay" else Judge(settings_for(server), cassette=tmp_path)
        with pytest.raises(InputError) as raised:
            judge.ask(ask_about(1))
    assert found in str(raised.value)
    assert raised.value.where == str(path)
    assert raised.value.remedy
    assert len(server.requests) == 1


def test_an_answer_without_its_text(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path, settings_for("http://h"))
    cassette.put(CALL, Answer("4"))
    path = cassette.path(CALL.key)
    path.write_text(path.read_text().replace('"text": "4"', '"text": 4'))
    with pytest.raises(InputError, match="without its text"):
        cassette.get(CALL.key)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with Server(always_good) as server, pytest.raises(InputError, match="cannot be kept"):
        Judge(settings_for(server), cassette=tmp_path / "x").ask(ask_about(1))


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with Server(always_good) as server, pytest.raises(InputError):
        Judge(settings_for(server), cassette=tmp_path / "x").ask(ask_about(1))


def test_without_a_folder_the_record_lasts_as_long_as_the_judge() -> None:
    with Server(always_good) as server:
        judge = Judge(settings_for(server))
        judge.ask(ask_about(2))
        judge.ask(ask_about(2))
    assert len(server.requests) == 2
    assert all(judge.judgement(question).verdicts for question in ask_about(2))
