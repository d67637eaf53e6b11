"""Signatures: one line that says exactly how a number was made.

Two numbers may be compared when their signatures are equal; nothing that changes a value may be left out of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping


def signature(full_name: str, version: int, profile: str, parts: Mapping[str, object]) -> str:
    """`room/name|v1|profile=turnwise|key=value|...` with the keys in order.

    >>> signature("dialogue/slot_accuracy", 1, "turnwise", {"normaliser": "none:ab12", "first": False})
    'dialogue/slot_accuracy|v1|profile=turnwise|first=false|normaliser=none:ab12'
    """
    fields = [f"{key}={_text(parts[key])}" for key in sorted(parts)]
    return "|".join([full_name, f"v{version}", f"profile={profile}", *fields])


def digest(data: object, length: int = 12) -> str:
    """A short hash of anything JSON can write, for models, prompts, tables and configurations."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # The separators of a signature inside a value would make two settings look like one.
    return str(value).replace("%", "%25").replace("|", "%7C").replace("=", "%3D").replace("\n", "%0A")
