"""How fast a judge is asked when nobody says what it allows: `name  value  goal` per line.

The server runs in a process of its own, answers in 200 ms and refuses (429) what is too much: first more than 32 at
once, then more than 50 a second, counted as providers count. The client starts with 4 at once and is told nothing;
beside it one that is told, since a busy machine keeps both from the ideal.
`--questions` shortens it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import time
from collections import deque
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from turnwise.judge.ask import Judge
from turnwise.judge.prompt import messages
from turnwise.judge.records import Question
from turnwise.judge.rubric import rubric_from
from turnwise.judge.settings import JudgeSettings
from turnwise.kernel.score import Unit

AT_ONCE, PER_SECOND, ANSWER_S = 32, 50, 0.2
ANSWER = json.dumps({"reasoning": "It answers what was asked.", "overall": 4})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1000)
    n = parser.parse_args().questions
    ideal = n / AT_ONCE * ANSWER_S
    told = asyncio.run(plain(n))
    took, refused, lost, _ = asked(n, "at_once")
    report(f"judge: {AT_ONCE} at once: wall time, share of the ideal {ideal:.2f} s", took / ideal, "<= 1.3")
    report("judge: the same by plain httpx that is told the limit", told / ideal, "")
    report(f"judge: {AT_ONCE} at once: refused, %", refused, "< 5")
    report(f"judge: {AT_ONCE} at once: questions lost", lost, "0")
    for kind in ("bucket", "window"):
        took, refused, lost, _ = asked(n, kind)
        name = f"judge: {PER_SECOND} a second ({kind})"
        report(f"{name}: share of the rate", n / took / PER_SECOND, ">= 0.9")
        report(f"{name}: refused, %", refused, "")
        report(f"{name}: questions lost", lost, "0")
    _, _, _, cpu = asked(n, "anything")
    report("judge: milliseconds of CPU per question", 1000 * cpu / n, "")
    replay(n)


def asked(n: int, limit: str) -> tuple[float, float, int, float]:
    """Seconds, per cent of requests refused, questions without a verdict, seconds of CPU."""
    with Limited(limit) as server, TemporaryDirectory() as folder:
        settings = JudgeSettings(url=server.url, model="bench")
        judge, questions = Judge(settings, cassette=Path(folder)), made(n)
        begun, spent = time.perf_counter(), time.process_time()
        tally = judge.ask(questions)
        took, spent = time.perf_counter() - begun, time.process_time() - spent
        lost = sum(not judge.judgement(question).verdicts for question in questions)
        return took, 100 * tally.refused / (tally.calls + tally.refused), lost, spent


async def plain(n: int) -> float:
    """Seconds that the same questions take 32 workers with a connection each, who record nothing."""
    left = [{"model": "bench", "messages": messages(question)} for question in made(n)]

    async def work(url: str) -> None:
        async with httpx.AsyncClient(trust_env=False, verify=False) as client:
            while left:
                (await client.post(url, json=left.pop())).raise_for_status()

    with Limited("at_once") as server:
        begun = time.perf_counter()
        await asyncio.gather(*(work(f"{server.url}/v1/chat/completions") for _ in range(AT_ONCE)))
        return time.perf_counter() - begun


def replay(n: int) -> None:
    """Reading answers back, against reading the same files as JSON."""
    with Limited("anything") as server, TemporaryDirectory() as folder:
        settings = JudgeSettings(url=server.url, model="bench")
        questions = made(n)
        Judge(settings, cassette=Path(folder)).ask(questions)
        judge = Judge(None, replay=Path(folder))
        begun = time.perf_counter()
        for question in questions:
            judge.judgement(question)
        took = time.perf_counter() - begun
        begun = time.perf_counter()
        for path in Path(folder).glob("*/*/*.json"):
            json.loads(path.read_bytes())
        report("judge: replaying, against json.loads of the files", took / (time.perf_counter() - begun), "")
        report("judge: replaying, answers per second", n / took, "")


def made(n: int) -> list[Question]:
    content = {
        "name": "bench_quality",
        "question": "How good is the response?",
        "needs": ["user", "response"],
        "scores": {"overall": {"asks": "How good?", "scale": {"low": 1, "high": 5}}},
    }
    rubric = rubric_from(content, "benchmark", "dialogue")
    shown = {"user": "I need a table for two.", "response": "Which day would you like to come? " * 10}
    return [
        Question(rubric, Unit(f"d{k}/0", f"d{k}", kind=rubric.unit), {**shown, "user": f"{shown['user']} {k}"})
        for k in range(n)
    ]


class Limited:
    """A server with a limit, in a process of its own."""

    def __init__(self, limit: str) -> None:
        self._limit = limit

    def __enter__(self) -> Limited:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        self._process = context.Process(target=serve, args=(self._limit, there), daemon=True)
        self._process.start()
        self.url = f"http://127.0.0.1:{here.recv()}"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.join()


class Limit:
    """What the server allows: so many at once; a bucket of tokens; or so many in any second."""

    def __init__(self, kind: str) -> None:
        self._kind, self.under_way = kind, 0
        self._tokens, self._at = float(PER_SECOND), time.monotonic()
        self._seen: deque[float] = deque()

    def allows(self) -> bool:
        now = time.monotonic()
        if self._kind == "at_once":
            return self.under_way < AT_ONCE
        if self._kind == "bucket":
            self._tokens, self._at = min(PER_SECOND, self._tokens + (now - self._at) * PER_SECOND), now
            if self._tokens < 1:
                return False
            self._tokens -= 1
        if self._kind == "window":
            while self._seen and self._seen[0] <= now - 1:
                self._seen.popleft()
            if len(self._seen) >= PER_SECOND:
                return False
            self._seen.append(now)
        return True


def serve(kind: str, pipe: Connection) -> None:
    asyncio.run(serving(Limit(kind), pipe))


async def serving(limit: Limit, pipe: Connection) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 300, "completion_tokens": 20}
    answer = response(200, {"model": "bench", "choices": [choice], "usage": usage})
    refusal = response(429, {"error": {"message": "too many requests", "code": "rate_limit_exceeded"}})

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                await reader.readexactly(int(length.partition(b":")[2]))
                if limit.allows():
                    limit.under_way += 1
                    await asyncio.sleep(ANSWER_S)
                    limit.under_way -= 1
                    writer.write(answer)
                else:
                    writer.write(refusal)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0, backlog=512)
    pipe.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def response(status: int, content: object) -> bytes:
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def report(name: str, value: float, goal: str) -> None:
    print(f"{name:60} {value:10.2f}  {goal}", flush=True)


if __name__ == "__main__":
    main()
