"""Connections to a judge: one transport with one connection for every request under way.

A single client with many connections looks at each of them whenever a request begins or ends, which at 64 takes longer
than all the rest of a request. A list of transports with one connection each is as quick for the last as for the first,
and has nothing to do with cookies, redirects and logins, which a judge has no use for.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from turnwise import __version__
from turnwise.judge.address import is_loopback
from turnwise.judge.settings import JudgeSettings
from turnwise.judge.wire import DONE, MOST_BYTES, Garbled

LONGEST_CONNECT_S = 10.0
_KEEP_ALIVE_S = 0.2
"""How long the end of a stream is waited for after its last event, so that the connection can be used again."""


class Lines:
    """As many transports as there ever were requests at once; the one that was used last is used next."""

    def __init__(self, httpx: Any, headers: Mapping[str, str], settings: JudgeSettings) -> None:
        self._httpx, self._url = httpx, httpx.URL(settings.endpoint)
        self._headers = {"Host": self._url.netloc.decode(), "User-Agent": f"turnwise/{__version__}", **headers}
        connecting = min(LONGEST_CONNECT_S, 0.8 * settings.timeout_s)  # so that it is told from waiting for an answer
        self._timeout = httpx.Timeout(settings.timeout_s, connect=connecting).as_dict()
        self._limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        self._proxy = proxy_for(settings.endpoint)
        # Without TLS there is nobody to trust, and no time to be lost over it.
        needs_trust = settings.endpoint.startswith("https:") or self._proxy is not None
        self._authorities = _authorities(httpx) if needs_trust else False
        self._all = [self._open()]
        self._free = list(self._all)

    def _open(self) -> Any:
        return self._httpx.AsyncHTTPTransport(
            verify=self._authorities, trust_env=False, limits=self._limits, proxy=self._proxy
        )

    @asynccontextmanager
    async def post(self, content: bytes) -> AsyncIterator[Any]:
        """The response to a request, on a connection that nobody else uses meanwhile."""
        if self._free:
            line = self._free.pop()
        else:
            line = self._open()
            self._all.append(line)
        try:
            timeout = {"timeout": self._timeout}
            sent = self._httpx.Request("POST", self._url, headers=self._headers, content=content, extensions=timeout)
            response = await line.handle_async_request(sent)
            try:
                yield response
            finally:
                await response.aclose()
        finally:
            self._free.append(line)

    async def close(self) -> None:
        """Close all of them."""
        for line in self._all:
            await line.aclose()


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address; None for a server on this machine."""
    parts = urlsplit(url)
    if is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if found is None or "://" in found else f"http://{found}"


async def whole(response: Any) -> AsyncIterator[bytes]:
    """A body, to its end or to the end of its stream, whichever comes first."""
    size, tail, chunks = 0, b"", response.aiter_bytes()
    async for chunk in chunks:
        yield chunk
        size, tail = size + len(chunk), (tail + chunk)[-64:]
        if size > MOST_BYTES:
            raise Garbled(f"more than {MOST_BYTES >> 20} MB")
        if DONE in tail:
            break
    else:
        return
    try:
        async with asyncio.timeout(_KEEP_ALIVE_S):
            async for _ in chunks:
                pass
    except TimeoutError:
        return


def _authorities(httpx: Any) -> ssl.SSLContext:
    """Whom to trust: who the environment names, else the ones that come with httpx."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        return ssl.create_default_context(cafile=file, capath=folder)
    context: ssl.SSLContext = httpx.create_ssl_context()
    return context
