"""What a barge-in is: somebody else's interruption, or a correction, an addition or another subject of one's own."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

from turnwise.interpreting.expected import KEPT
from turnwise.interpreting.records import Turn
from turnwise.kernel.text import spoken_form

SELF_CORRECTION, INTERRUPTION, ADDITION, TOPIC_CHANGE = "self_correction", "interruption", "addition", "topic_change"
KINDS = (SELF_CORRECTION, INTERRUPTION, ADDITION, TOPIC_CHANGE)
FIRST_WORDS = 8
"""How far into a turn its opening words are looked for."""


@cache
def openings() -> dict[str, tuple[str, ...]]:
    """The words that open each kind, in all languages."""
    import yaml

    text = files("turnwise.interpreting").joinpath("data/barge_in_kinds.yaml").read_text("utf-8")
    given = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  (plain text: `no` is a word here)
    return {
        kind: tuple(sorted({f" {spoken_form(opening)} " for own in languages.values() for opening in own}))
        for kind, languages in given.items()
    }


def barge_in_kind(previous: Turn, barge_in: Turn) -> str:
    """The kind that a scenario names in `metadata.barge_in_kind`, else what participants and first words tell."""
    named = barge_in.metadata.get("barge_in_kind")
    if named in KINDS:
        return str(named)
    if previous.participant != barge_in.participant:
        return INTERRUPTION
    texts = (barge_in.source_text, barge_in.expected_text)
    return next((kind for text in texts if (kind := _opened_by(text or ""))), SELF_CORRECTION)


@lru_cache(KEPT)
def _opened_by(text: str) -> str | None:
    """The kind whose opening words a text begins with."""
    said = f" {' '.join(spoken_form(text).split()[:FIRST_WORDS])} "
    return next((kind for kind, known in openings().items() if any(opening in said for opening in known)), None)
