"""Where a live system is, and what opens its door. Secrets come from the environment and go nowhere else."""

from __future__ import annotations

import os
import re
import ssl as tls
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from turnwise.kernel.errors import UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_SCENARIO, _PARTICIPANT = "{scenario}", "{participant}"


@dataclass(frozen=True)
class Address:
    """A WebSocket address, its headers and its certificate authority."""

    url: str = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    ssl: tls.SSLContext | None = field(default=None, repr=False)
    typed: str = ""
    """The address as it was typed, with the names of variables in the place of what they hold."""

    @property
    def shown(self) -> str:
        """The address without user, password and query: they may be secrets."""
        parts = urlsplit(self.typed or self.url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        return urlunsplit((parts.scheme, f"{host}:{parts.port}" if parts.port else host, parts.path, "", ""))

    @property
    def is_loopback(self) -> bool:
        """Whether the system is on this machine, where no proxy leads to."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")

    def hushed(self, text: str) -> str:
        """A text without the secrets of this address."""
        query = urlsplit(self.url).query
        for secret in (self.url, query, *self.headers.values()):
            if secret and secret in text:
                text = text.replace(secret, "***")
        return text

    def for_scenario(self, name: str) -> Address:
        """The address with `{scenario}` filled in."""
        return self._filled(_SCENARIO, name)

    def for_participant(self, name: str | None) -> Address:
        """The address with `{participant}` filled in; it is everybody's, where a connection is."""
        return self._filled(_PARTICIPANT, name or "everybody")

    def _filled(self, place: str, name: str) -> Address:
        filled = quote(name, safe="")
        url, typed = (text.replace(place, filled) for text in (self.url, self.typed))
        return Address(url, self.headers, self.ssl, typed)


def make_address(
    url: str, headers: Sequence[str] = (), bearer: str | None = None, authority: Path | None = None
) -> Address:
    """An address from what a user typed: `Name: value` headers in which `${VARIABLE}` stands for a secret."""
    opened = expanded(url, "--url")
    try:
        parts = urlsplit(opened)
        usable = parts.scheme in ("ws", "wss") and bool(parts.hostname) and (parts.port or 1) > 0 and not parts.fragment
    except ValueError:
        usable = False
    if not usable:
        raise UsageError("--url is no address of a WebSocket", found=url, expected="ws://host:port/path or wss://...")
    named: dict[str, str] = {}
    for header in headers:
        name, colon, value = header.partition(":")
        if not colon or not name.strip() or not value.strip():
            raise UsageError("--header is not a name and a value", found=name or header, expected="Name: value")
        named[name.strip()] = expanded(value.strip(), "--header")
    if bearer is not None:
        named["Authorization"] = f"Bearer {variable(bearer, '--bearer').strip()}"
    for name, value in named.items():
        if not (name + value).isprintable() or not name.isascii():
            raise UsageError(f"the header {name!r} holds characters that no header may", remedy="look for line ends")
    context = None
    if parts.scheme == "wss":
        try:
            context = tls.create_default_context(cafile=None if authority is None else str(authority))
        except (OSError, tls.SSLError) as error:
            raise UsageError("--ca cannot be read", where=str(authority), found=str(error)) from error
    return Address(opened, named, context, url)


def expanded(text: str, option: str) -> str:
    """The text with its variables filled in from the environment."""
    return _VARIABLE.sub(lambda found: variable(found[1] or found[2], option), text)


def variable(name: str, option: str) -> str:
    """A variable of the environment."""
    if not os.environ.get(name):
        raise UsageError(f"{option}: the environment variable {name} is not set", remedy=f"export {name}=...")
    return os.environ[name]
