"""What goes into the headers of a request, and which of it is secret. Read when a client is made, kept nowhere."""

from __future__ import annotations

import os
import re

from turnwise.judge.settings import JudgeSettings
from turnwise.kernel.errors import UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_SHORTEST_SECRET = 6
"""What is shorter would be found in every other word of a message."""


def request_headers(settings: JudgeSettings) -> tuple[dict[str, str], list[str]]:
    """The headers, and the texts in them that nobody may see."""
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    secrets = []
    for name, text in settings.headers.items():
        secrets += [_variable(found[1] or found[2], f"the header {name}") for found in _VARIABLE.finditer(text)]
        headers[name] = _VARIABLE.sub(lambda found: _variable(found[1] or found[2], "a header"), text)
    key = settings.key()
    if key is not None:
        if not key.isascii() or not key.isprintable() or " " in key:
            remedy = "look for line ends, spaces and quotation marks"
            raise UsageError(f"{settings.api_key_env} holds characters that no key has", remedy=remedy)
        secrets.append(key)
        name = settings.api_key_header
        headers[name] = f"Bearer {key}" if name.casefold() == "authorization" else key
    return headers, sorted((one for one in secrets if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)


def _variable(name: str, where: str) -> str:
    if not os.environ.get(name):
        raise UsageError(f"{where}: the environment variable {name} is not set", remedy=f"export {name}=...")
    return os.environ[name].strip()
