"""Asking over HTTP: one request to a chat-completions endpoint, with its tries, until there is an answer or a reason.

What is wrong for every request (a key, an address, a model, a certificate) stops the run; what is wrong for this one
becomes its failure.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import orjson

from turnwise.judge.address import shown
from turnwise.judge.cassette import Answer, Call
from turnwise.judge.dialect import Dialect
from turnwise.judge.gate import Gate
from turnwise.judge.headers import request_headers
from turnwise.judge.limiter import Ticket
from turnwise.judge.lines import Lines, whole
from turnwise.judge.settings import JudgeSettings
from turnwise.judge.tally import Tally
from turnwise.judge.wire import ErrorInside, Garbled, error_message, read_answer, retry_after_s
from turnwise.kernel.errors import TurnwiseError, UsageError, shorten
from turnwise.kernel.extras import import_extra

FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 0.5, 20.0
LONGEST_WAIT_S = 600.0
"""A server that wants to be left alone for longer is not waited for."""
_TOO_MANY = 429
_WRONG_FOR_ALL = (401, 402, 403, 404)
_MOST_RAW = 2000
Again = Callable[[bool], str | None]
"""Asked before another try, and told whether the last one may have been paid for; why there is to be none, if so."""


class Unanswered(Exception):
    """A request without an answer after all its tries."""

    def __init__(self, reason: str, raw: str = "", *, lost: bool = True) -> None:
        super().__init__(reason)
        self.reason, self.raw = reason, raw[:_MOST_RAW]
        self.lost = lost
        """Whether the server, rather than this request, is the likely reason."""


class _TryAgain(Exception):
    def __init__(
        self, reason: str, raw: str = "", wait: float | None = None, *, unreached: bool = False, paid: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason, self.raw, self.wait, self.unreached, self.paid = reason, raw, wait, unreached, paid


class ChatClient:
    """A connection to a judge, as long as the block lasts."""

    def __init__(self, settings: JudgeSettings, gate: Gate, tally: Tally, dialect: Dialect) -> None:
        self.dialect = dialect
        """What the server is known to take."""
        self._settings, self._gate, self._tally = settings, gate, tally
        self._url = settings.endpoint
        self._httpx = import_extra("httpx", "judge", "asking a judge")
        headers, self._secrets = request_headers(settings)
        try:
            self._lines = Lines(self._httpx, headers, settings)
        except (OSError, ValueError) as error:
            what = "the environment's settings for connections (proxies, SSL_CERT_FILE) cannot be used"
            raise UsageError(what, found=self._hush(str(error))) from error
        self._reached = False

    async def __aenter__(self) -> ChatClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._lines.close()

    async def ask(self, call: Call, ticket: Ticket, again: Again) -> Answer:
        """The answer to a request whose turn has come; `Unanswered` after all tries, or where no more are allowed."""
        tries = refused = 0
        before = self._gate.limiter.answers
        while True:
            try:
                return await self._in_the_servers_words(call, ticket)
            except _Refused as error:
                self._tally.refused += 1
                # Refusals are counted only while nobody gets through: otherwise it is a matter of waiting.
                moved, before = self._gate.limiter.answers > before, self._gate.limiter.answers
                refused = 1 if moved else refused + 1
                if refused > self._settings.retries + 1:
                    raise Unanswered(f"HTTP 429 (too many requests), {refused} tries", error.raw) from None
            except _TryAgain as error:
                tries += 1
                if tries > self._settings.retries:
                    raise self._given_up(error, tries) from None
                if not error.unreached and (limit := again(error.paid)):
                    raise Unanswered(f"{error.reason}, and not tried again: {limit}", error.raw, lost=False) from None
                self._tally.retried += 1
                longest = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** (tries - 1))
                await self._gate.sleep(error.wait or random.uniform(0, longest))  # noqa: S311 (jitter)
            ticket = await self._gate.enter(again=True)

    def _given_up(self, error: _TryAgain, tries: int) -> Exception:
        if error.unreached and not self._reached:
            remedy = "is it running? --judge-url says where it is; proxies are taken from the environment"
            where = shown(self._url)
            return TurnwiseError("the judge cannot be reached", where=where, found=error.reason, remedy=remedy)
        return Unanswered(f"{error.reason}, {tries} {'try' if tries == 1 else 'tries'}", error.raw)

    async def _in_the_servers_words(self, call: Call, ticket: Ticket) -> Answer:
        """One try; again at once without what the server does not take."""
        dialect = self.dialect
        while True:
            body = dialect.body(call)
            status, headers, content = await self._post(body, ticket)
            if status < 300:
                answer = self._answer(content, headers, ticket)
                self.dialect = dialect
                return answer
            message, field = error_message(content)
            other = dialect.without(status, message, field, body)
            if other is None or other == dialect:
                raise self._error(status, headers, message, ticket)
            if self._settings.json_schema == "on" and other.response_format != dialect.response_format:
                self._gate.dropped(ticket)
                remedy = "json_schema: auto, which asks for JSON in words instead"
                where = shown(self._url)
                what = "the judge's server takes no JSON schema, and json_schema is on"
                raise UsageError(what, where=where, found=shorten(message, 300), remedy=remedy)
            dialect = other

    def _answer(self, content: bytes, headers: Any, ticket: Ticket) -> Answer:
        try:
            answer = read_answer(content, headers.get("content-type", ""))
        except Garbled as error:
            self._gate.answered(ticket)
            raise _TryAgain(f"the server sent {error.problem}", error.raw, paid=True) from None
        except ErrorInside as error:
            raise self._error(error.status or 500, headers, error.message, ticket) from None
        self._gate.answered(ticket)
        return answer

    def _error(self, status: int, headers: Any, message: str, ticket: Ticket) -> Exception:
        """What an error's status means."""
        wait = retry_after_s(headers) if status in (_TOO_MANY, 503) else None
        out_of_money = status == 402 or (status == _TOO_MANY and "insufficient_quota" in message)
        if status == _TOO_MANY and not out_of_money:
            self._gate.refused(ticket, wait)
        else:
            self._gate.answered(ticket)
        if wait is not None and wait > LONGEST_WAIT_S:
            found = f"HTTP {status}: come back in {wait:.0f} s"
            remedy = "run it again later: what was answered is on record and is not asked again"
            return TurnwiseError("the judge wants to be left alone", where=shown(self._url), found=found, remedy=remedy)
        if out_of_money or status in _WRONG_FOR_ALL or 300 <= status < 400:
            return self._wrong_for_all(status, headers, message)
        if status == _TOO_MANY:
            return _Refused(message)
        reason = f"HTTP {status}: {shorten(message, 200)}"
        if status in (408, 409, 425) or status >= 500:
            return _TryAgain(reason, message, wait)
        return Unanswered(reason, message, lost=False)

    def _wrong_for_all(self, status: int, headers: Any, message: str) -> TurnwiseError:
        variable = self._settings.api_key_env
        what, remedy = {
            401: ("the judge does not accept the key", f"export {variable}=..."),
            403: (
                "the judge does not accept the key for this model",
                f"export {variable}=..., or choose another model",
            ),
            404: ("there is no such judge", "check --judge-url (it ends in /v1 for most servers) and --judge-model"),
        }.get(status, ("the judge's account has no money left", "add some; what was answered is on record"))
        if 300 <= status < 400:
            what, remedy = "the judge's address leads elsewhere", "give the address it leads to, if it can be trusted"
            message = f"to {shown(self._hush(headers.get('location', 'nowhere')))}"
        if status == 401 and self._settings.key() is None:
            what = f"the judge wants a key, and {variable} is not set"
        found = f"HTTP {status}: {shorten(message, 300)}"
        where = f"{shown(self._url)}, model {self._settings.model}"
        return UsageError(what, where=where, found=found, remedy=remedy)

    # The network

    async def _post(self, body: dict[str, Any], ticket: Ticket) -> tuple[int, Any, bytes]:
        """One request: status, headers, body; what goes wrong below HTTP is another try."""
        httpx, limit = self._httpx, self._settings.timeout_s
        sent = orjson.dumps(body)
        try:
            async with asyncio.timeout(limit), self._lines.post(sent) as response:
                content = b"".join([chunk async for chunk in whole(response)])
            self._reached = True
            return response.status_code, response.headers, self._hush_bytes(content)
        except httpx.ConnectTimeout as error:
            self._gate.dropped(ticket)
            raise self._broken(error) from None
        except (TimeoutError, httpx.TimeoutException):
            self._reached = True
            self._gate.dropped(ticket)
            raise _TryAgain(f"no answer within {limit:g} s", paid=True) from None
        except Garbled as error:
            self._gate.dropped(ticket)
            raise _TryAgain(f"the server sent {error.problem}", paid=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            self._gate.dropped(ticket)
            raise self._broken(error) from None
        except asyncio.CancelledError:
            self._gate.dropped(ticket)
            raise

    def _broken(self, error: Exception) -> Exception:
        text = self._hush(str(error))
        if "CERTIFICATE_VERIFY_FAILED" in text or "certificate verify failed" in text:
            remedy = "SSL_CERT_FILE names a file with the authorities to trust; checking cannot be turned off"
            where = shown(self._url)
            return UsageError("the judge's certificate is not trusted", where=where, found=text, remedy=remedy)
        if isinstance(error, self._httpx.UnsupportedProtocol | self._httpx.InvalidURL):
            return UsageError("the judge's address cannot be used", where=shown(self._url), found=text)
        unreached = isinstance(error, self._httpx.ConnectError | self._httpx.ConnectTimeout | self._httpx.ProxyError)
        self._reached = self._reached or not unreached
        kind = "no connection" if unreached else "the connection broke"
        return _TryAgain(f"{kind}: {type(error).__name__}, {text}", unreached=unreached, paid=not unreached)

    def _hush(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _hush_bytes(self, content: bytes) -> bytes:
        """A server may repeat the key in what it says."""
        for secret in self._secrets:
            content = content.replace(secret.encode(), b"***")
        return content


class _Refused(Exception):
    def __init__(self, raw: str) -> None:
        super().__init__(raw)
        self.raw = raw
