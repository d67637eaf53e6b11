"""What a judge is shown of a turn and of the one before it, by the names of rubrics; None for what is not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnwise.interpreting.instances import Instance
from turnwise.interpreting.records import Call, Turn
from turnwise.interpreting.summaries import TurnSummary
from turnwise.judge.records import Pieces

NOTHING_CAME = "(no translation came)"
TERMS = "terms"
"""Where a turn's metadata may have agreed terms: a list, or terms with their translations."""


def pieces_of(call: Call, summary: TurnSummary | Turn, previous: TurnSummary | None) -> Pieces:
    """Of a turn, spoken or not, and of the one that began before it, where there is one."""
    turn = summary if isinstance(summary, Turn) else summary.turn
    return {
        "source": turn.source_text or None,
        "expected": turn.expected_text,
        "translation": None if isinstance(summary, Turn) else translation_of(summary),
        "previous_source": None if previous is None else previous.turn.source_text or None,
        "previous_expected": None if previous is None else previous.turn.expected_text,
        "previous_translation": None if previous is None else translation_of(previous),
        "source_language": call.languages.get(turn.participant, {}).get("source_language"),
        "target_language": turn.expected_language,
        TERMS: terms_of(turn),
    }


def pieces_of_instance(instance: Instance) -> Pieces:
    """Of a line of a log, which has text, but does not say what was said."""
    return {"expected": instance.reference, "translation": instance.prediction or NOTHING_CAME}


def translation_of(summary: TurnSummary) -> str | None:
    """What was delivered, as text; None where audio came without text, and nobody can read what it says."""
    if summary.text:
        return summary.text
    return None if summary.events else NOTHING_CAME


def terms_of(turn: Turn) -> str | None:
    """The terms that a scenario gives for a turn, one on a line: `term = translation`, or the term alone."""
    given = turn.metadata.get(TERMS)
    if isinstance(given, Mapping):
        lines = [_pair(term, translation) for term, translation in given.items()]
    elif isinstance(given, list | tuple):
        lines = [_listed(one) for one in given]
    else:
        lines = [] if given is None else [_plain(given)]
    return "\n".join(line for line in lines if line) or None


def _listed(one: Any) -> str:
    """A term of a list, with its translation where it is given in the form `{term: translation}`."""
    if isinstance(one, Mapping):
        return "\n".join(_pair(term, translation) for term, translation in one.items())
    return _plain(one)


def _pair(term: Any, translation: Any) -> str:
    return _plain(term) if translation is None else f"{_plain(term)} = {_plain(translation)}"


def _plain(one: Any) -> str:
    return " ".join(str(one).split())
