"""Protocols by name; a new one is one file and one line here."""

from __future__ import annotations

from importlib import import_module

from turnwise.kernel.errors import UsageError, near_misses
from turnwise.live.transports.base import Transport

TRANSPORTS = {
    "acs": "turnwise.live.transports.acs:Acs",
    "openai-realtime": "turnwise.live.transports.openai_realtime:OpenAIRealtime",
    "twilio": "turnwise.live.transports.twilio:Twilio",
}


def transport_named(name: str) -> type[Transport]:
    """The class of a protocol."""
    if name not in TRANSPORTS:
        remedy = near_misses(name, TRANSPORTS) or None
        raise UsageError(f"there is no protocol {name!r}", expected=", ".join(TRANSPORTS), remedy=remedy)
    module, _, attribute = TRANSPORTS[name].partition(":")
    found: type[Transport] = getattr(import_module(module), attribute)
    return found
