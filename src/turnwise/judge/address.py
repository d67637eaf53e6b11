"""Where a judge answers: what users type as its address, made into the one address that requests go to.

Users copy addresses from everywhere: with and without `/v1`, with a slash at the end, with the whole path. An address
that carries a key is refused, because addresses are shown and kept.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from turnwise.kernel.errors import UsageError

KEY_VARIABLE = "TURNWISE_JUDGE_API_KEY"
_PATH = "/chat/completions"
_SECRET_NAME = re.compile(r"(^|[-_.])(api[-_]?)?(key|token|secret|password|passwd|sig|signature|code|auth)$", re.I)
_SECRET_VALUE = re.compile(
    r"\bsk-[\w-]{20,}|\b(gsk|hf)_\w{20,}|\bxai-\w{40,}|\bAIza[\w-]{30,}|\bnvapi-[\w-]{20,}|\bBearer \S{8,}"
)


def endpoint(url: str, where: str = "--judge-url") -> str:
    """The address of a server's chat completions.

    >>> endpoint("http://localhost:8000"), endpoint("https://host/openai/v1/")
    ('http://localhost:8000/v1/chat/completions', 'https://host/openai/v1/chat/completions')
    """
    parts = _split(url, where)
    path = parts.path.rstrip("/")
    if not path.endswith(_PATH):
        path = f"{path or '/v1'}{_PATH}"
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, parts.query, ""))


def shown(url: str) -> str:
    """An address without its query, for messages."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_loopback(url: str) -> bool:
    """Whether the server is on this machine, where no proxy leads to."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names_secret(name: str) -> bool:
    """Whether something of this name is there to open a door."""
    return name.casefold() in ("authorization", "cookie") or bool(_SECRET_NAME.search(name))


def holds_secret(text: str) -> bool:
    """Whether a text looks like a provider's key."""
    return bool(_SECRET_VALUE.search(text))


def secret_error(what: str, where: str) -> UsageError:
    """A key was found where it would be shown, kept or shared."""
    remedy = f"take it out, and: export {KEY_VARIABLE}=... (or name another variable as api_key_env in the config)"
    return UsageError(what, where=where, expected="keys come from the environment only", remedy=remedy)


def _split(url: str, where: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        parts, usable = urlsplit(""), False
    if "@" in parts.netloc:
        raise secret_error("the judge's address holds a user or a password", where)
    if any(names_secret(name) or holds_secret(value) for name, value in parse_qsl(parts.query)):
        raise secret_error("the judge's address holds a key", where)
    if not usable or parts.fragment or re.search(r"\s", parts.path):
        remedy = f"http://{url.strip()}" if re.match(r"[\w.-]+(:\d+)?(/\S*)?$", url.strip()) else None
        expected = "http://host:port/v1 or https://host/v1"
        raise UsageError(
            "this is no address of a judge", where=where, found=repr(url), expected=expected, remedy=remedy
        )
    return parts
