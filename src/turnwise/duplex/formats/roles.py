"""Which files belong together because their names differ in the side alone: `NAME_user.wav` and `NAME_agent.wav`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from turnwise.duplex.formats.spans import AGENT, SIDES, USER, side_named

_SIDE_AT_END = re.compile(rf"(.+)[_\-.]({'|'.join(SIDES)})", re.IGNORECASE)
_LABELS_AT_END = re.compile(r"(.+)[_\-.]labels", re.IGNORECASE)

Sides = dict[str, list[str]]
"""Files by side."""


def stem(name: str) -> str:
    """A path without the suffix of its last part, and without a `_labels` at its end."""
    plain = name.rpartition(".")[0] if "." in name.rpartition("/")[2] else name
    labels = _LABELS_AT_END.fullmatch(plain)
    return labels[1] if labels else plain


def side_of(plain: str) -> tuple[str, str] | None:
    """What a conversation is called and whose file this is, by the end of the name or by a folder."""
    *folders, last = plain.split("/")
    if match := _SIDE_AT_END.fullmatch(last):
        return "/".join([*folders, match[1]]), SIDES[match[2].lower()]
    if side := side_named(last):
        return "/".join(folders), side
    for place in range(len(folders) - 1, -1, -1):
        if side := side_named(folders[place]):
            return "/".join([*folders[:place], *folders[place + 1 :], last]), side
    return None


def pairs_among(names: Iterable[str]) -> dict[str, Sides]:
    """Conversations of which both sides have a file, by what they share of the name."""
    found: dict[str, Sides] = defaultdict(lambda: {USER: [], AGENT: []})
    for name in names:
        if known := side_of(stem(name)):
            found[known[0]][known[1]].append(name)
    return {key: sides for key, sides in sorted(found.items()) if sides[USER] and sides[AGENT]}
