"""A chat-completions server on loopback that does what it is told to, down to the bytes.

Not a mock of a client: real sockets, real HTTP/1.1, optionally real TLS. What it answers is decided by a function of
the request, which may be as rude as a test needs.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

MODEL = "judge-1"


@dataclass
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int
    """How many requests came before it."""
    nth: int
    """How many requests with the same messages came before it."""
    others: int
    """How many were being answered when it came."""

    @property
    def prompt(self) -> str:
        return json.dumps(self.body["messages"], ensure_ascii=False)


@dataclass
class Reply:
    """What the server does about it."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    delay_s: float = 0.0
    send_bytes: int | None = None
    """Send so much of the body, announce all of it, and hang up."""
    chunks: Iterable[bytes] | None = None
    """Send these, one by one, in the place of the body."""
    between_s: float = 0.0
    hold_open_s: float = 0.0
    """Leave the connection open after the chunks, without an end."""


def completion(text: str | None, **changes: Any) -> Reply:
    """A well-behaved answer."""
    message = {"role": "assistant", "content": text, **changes.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **changes.pop("choice", {})}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    found = {"object": "chat.completion", "model": f"{MODEL}-0711", "choices": [choice], "usage": usage, **changes}
    return Reply(body=json.dumps(found).encode())


def error(status: int, message: str, headers: dict[str, str] | None = None, **about: Any) -> Reply:
    """An error as the protocol has it."""
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error", **about}}).encode()
    return Reply(status, body, {"content-type": "application/json", **(headers or {})})


def events(*data: Any, done: bool = True) -> list[bytes]:
    """Server-sent events."""
    lines = [f"data: {json.dumps(one, ensure_ascii=False)}\n\n".encode() for one in data]
    return [*lines, b"data: [DONE]\n\n"] if done else lines


class Server:
    """The server, in a thread of its own, as long as the block lasts."""

    def __init__(self, answer: Callable[[Request], Reply], tls: ssl.SSLContext | None = None) -> None:
        self.answer, self._tls = answer, tls
        self.requests: list[Request] = []
        self.prompts: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        """Prompts whose answer was sent to its end."""
        self.hung_up = 0
        """Connections that the client closed while it was to be answered."""
        self.most = self._now = 0
        self._ready = threading.Event()

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(30)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/v1"

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._converse, "127.0.0.1", 0, ssl=self._tls, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))) or b"{}")
        prompt = json.dumps(body.get("messages"), ensure_ascii=False)
        path = head[0].split(" ")[1]
        request = Request(path, headers, body, len(self.requests), self.prompts[prompt], self._now)
        self.requests.append(request)
        self.prompts[prompt] += 1
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            reply = self.answer(request)
            if reply.delay_s and not await self._patient(reader, reply.delay_s):
                self.hung_up += 1
                return False
            return await self._send(writer, reply, prompt)
        finally:
            self._now -= 1

    async def _patient(self, reader: asyncio.StreamReader, seconds: float) -> bool:
        """Wait, and see whether the client does."""
        try:
            await asyncio.wait_for(reader.read(1), seconds)
        except TimeoutError:
            return True
        return False

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply, prompt: str) -> bool:
        head = [f"HTTP/1.1 {reply.status} Said", *(f"{name}: {value}" for name, value in reply.headers.items())]
        size = "transfer-encoding: chunked" if reply.chunks is not None else f"content-length: {len(reply.body)}"
        writer.write("\r\n".join([*head, size, "\r\n"]).encode("latin-1"))
        if reply.chunks is None:
            writer.write(reply.body if reply.send_bytes is None else reply.body[: reply.send_bytes])
            await writer.drain()
            self.answered[prompt] += reply.status == 200 and reply.send_bytes is None
            return reply.send_bytes is None
        for chunk in reply.chunks:
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            await writer.drain()
            await asyncio.sleep(reply.between_s)
        if reply.hold_open_s:
            await asyncio.sleep(reply.hold_open_s)
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        self.answered[prompt] += 1
        return True
