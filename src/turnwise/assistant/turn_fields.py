"""From a row, whatever file or database it comes from, to a turn: every field checked, every mistake named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from turnwise.assistant.records import Chunk, Turn
from turnwise.assistant.scales import COMPOSITES, OBJECTIVE, SUBJECTIVE
from turnwise.kernel.errors import InputError, near_misses, shorten
from turnwise.kernel.jsontext import clean, finite

FIELDS = (
    *("session_id", "turn", "version", "tester", "query", "response", "chunks", "processing_time_ms"),
    *("is_first_response", "scenario", "improvement_notes", "category", "timestamp", "tokens", "cost"),
)
"""Fields with a meaning; any other one is a dimension to slice by."""
SCORES = frozenset({*OBJECTIVE, *SUBJECTIVE, *COMPOSITES, "metrics", *("objective", "subjective", "overall")})
"""Scores that came with the turns: they are measured anew, and people's ratings are given with `turnwise rate`."""
MEANT = frozenset({*FIELDS, *SCORES})
"""Every field that is no dimension, whatever it holds."""
LONGEST_DIMENSION = 80
"""A longer text in another field is no dimension."""
LARGEST_TURN = 2**63 - 1
_TRUE, _FALSE = frozenset({"true", "t", "yes", "1"}), frozenset({"false", "f", "no", "0"})
_CHUNK_TEXT = ("text", "chunk_text", "content")
_CHUNK_TITLE = ("title", "policy", "document")
_EXAMPLE = '{"session_id": "abc-123", "turn": 1, "query": "...", "response": "..."}'


def make_turn(row: Mapping[str, Any], where: str, version: str = "") -> Turn:
    """The turn of a row; `version` fills a blank one, and another one is refused."""
    metadata = {name: _shown(value) for name, value in row.items() if name not in MEANT and is_dimension(name, value)}
    return Turn(
        session_id=_session(row, where),
        turn=_number(row, where),
        version=_version(_text(row, "version", where), version, where),
        tester=_text(row, "tester", where),
        query=_said(row, "query", where),
        response=_said(row, "response", where),
        chunks=make_chunks(row.get("chunks"), where),
        processing_time_ms=_amount(row, "processing_time_ms", where),
        is_first_response=_flag(row, "is_first_response", where),
        scenario=_text(row, "scenario", where),
        improvement_notes=_text(row, "improvement_notes", where),
        category=_text(row, "category", where),
        timestamp=_text(row, "timestamp", where),
        metadata=metadata,
        tokens=_amount(row, "tokens", where),
        cost=_amount(row, "cost", where),
    )


def is_dimension(name: str, value: Any) -> bool:
    """Whether a field without a meaning of its own can be sliced by."""
    if name in MEANT or value is None or value == "":
        return False
    return not isinstance(value, list | dict) and finite(value) and len(str(value)) <= LONGEST_DIMENSION


def make_chunks(value: Any, where: str) -> tuple[Chunk, ...] | None:
    """What was retrieved; None where nobody recorded it, which is not the same as nothing."""
    if value is None or value == "":
        return None
    if isinstance(value, Mapping):  # the document's SearchContext may wrap its results
        value = next((value[name] for name in ("chunks", "results", "searchResults") if name in value), value)
        if value is None:
            return None
    if not isinstance(value, Sequence) or isinstance(value, str):
        expected = '[{"title": "...", "text": "...", "similarity": 0.8}, ...]'
        raise InputError("chunks is not a list", where=where, found=shorten(value), expected=expected)
    return tuple(_chunk(one, f"{where}, chunks[{place}]") for place, one in enumerate(value))


def _chunk(value: Any, where: str) -> Chunk:
    if isinstance(value, Chunk):
        return value
    if isinstance(value, str):
        return Chunk(clean(value))
    if not isinstance(value, Mapping):
        expected = 'an object with "title", "text" and "similarity"'
        raise InputError("a chunk is not an object", where=where, found=shorten(value), expected=expected)
    similarity = value.get("similarity")
    if similarity is not None and not _is_number(similarity):
        raise InputError(
            "similarity is not a number",
            where=where,
            found=shorten(similarity),
            expected="a number from 0 to 1, or null where the retriever gives none",
        )
    number = None if similarity is None else float(similarity)
    return Chunk(
        _text(value, _named(value, _CHUNK_TEXT), where), _text(value, _named(value, _CHUNK_TITLE), where), number
    )


def _named(value: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of the names that the value has; the first of all if it has none."""
    for name in names:
        if value.get(name) is not None:
            return name
    return names[0]


def _session(row: Mapping[str, Any], where: str) -> str:
    found = _text(row, "session_id", where).strip()
    if not found:
        blank = "session_id" in row
        remedy = (None if blank else near_misses("session_id", map(str, row))) or "every turn names its session"
        found_there = shorten(row["session_id"]) if blank else None
        raise InputError("session_id is missing", where=where, found=found_there, expected=_EXAMPLE, remedy=remedy)
    return found


def _number(row: Mapping[str, Any], where: str) -> int:
    value = row.get("turn")
    plain = value.strip() if isinstance(value, str) else value
    if isinstance(plain, str) and plain.isascii() and plain.isdigit() and len(plain) <= len(str(LARGEST_TURN)):
        plain = int(plain)
    if not isinstance(plain, int) or isinstance(plain, bool) or not 0 <= plain <= LARGEST_TURN:
        what = "turn is missing" if value is None or value == "" else "turn is not a number of a turn"
        far = isinstance(value, int) and abs(value) > LARGEST_TURN
        found = "a number beyond 2**63" if far else None if value is None else shorten(value)
        raise InputError(what, where=where, found=found, expected="a whole number: 1, 2, 3, ...")
    return plain


def _version(found: str, wanted: str, where: str) -> str:
    if found and wanted and found != wanted:
        raise InputError(
            "the turn is of another version than --version says",
            where=where,
            found=found,
            expected=wanted,
            remedy="leave out --version: turns that name their own are told apart by it",
        )
    return found or wanted


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    """A short text; ids and versions that were written as numbers are texts, too."""
    value = row.get(name)
    if value is None:
        return ""
    if type(value) is str:
        return clean(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{name} is not a text", where=where, found=shorten(value), expected="a text")
    return clean(value)


def _said(row: Mapping[str, Any], name: str, where: str) -> str | None:
    value = row.get(name)
    if value is None or isinstance(value, str):
        return None if value is None else clean(value)
    raise InputError(f"{name} is not a text", where=where, found=shorten(value), expected="a text, or null")


def _amount(row: Mapping[str, Any], name: str, where: str) -> float | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        number = float(value) if isinstance(value, str) or _is_number(value) else -1.0
    except ValueError:
        number = -1.0
    if not isfinite(number) or number < 0:
        raise InputError(f"{name} is not a number from 0", where=where, found=shorten(value))
    return number


def _flag(row: Mapping[str, Any], name: str, where: str) -> bool | None:
    value = row.get(name)
    if value is None or value == "" or isinstance(value, bool):
        return None if value is None or value == "" else value
    word = str(value).strip().casefold()
    if word not in _TRUE | _FALSE:
        raise InputError(f"{name} is neither true nor false", where=where, found=shorten(value))
    return word in _TRUE


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except (TypeError, OverflowError):
        return False


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else clean(str(value))
