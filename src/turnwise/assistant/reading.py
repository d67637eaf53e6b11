"""A turn as the patterns of a profile read it: what is cited, suggested, offered and asked in the reply.

Each function is a pure function of a text and a profile; `Reading` keeps what it found for the metrics that share it.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice

from turnwise.assistant.names import proper_name
from turnwise.assistant.patterns import Found
from turnwise.assistant.profile import Profile
from turnwise.assistant.records import Turn
from turnwise.assistant.text import mostly_latin, sentences, straightened, utf16_length, utf16_prefix
from turnwise.kernel.score import Unit

MOST_CITATIONS = 20
"""Of more, the first so many count."""
UNREADABLE = "the reply is in another script than the patterns"


def prepared(text: str, profile: Profile) -> str:
    """The text as the patterns see it; under the document's profile as it is."""
    return text if profile.to_the_letter else straightened(text)


def unreadable(text: str, profile: Profile) -> bool:
    """Whether the patterns can say nothing about a text, because most of its letters are of another script."""
    return profile.latin_only and not mostly_latin(text)


def find_citations(text: str, profile: Profile) -> list[Found]:
    """Every place where a policy is cited; the text is prepared."""
    return list(islice(profile.citation.find_all(text), MOST_CITATIONS))


def cited_sentences(text: str, citations: list[Found]) -> list[str]:
    """The sentences that hold citations, each once."""
    if not citations:
        return []
    found: dict[tuple[int, int], None] = {}
    bounds = list(sentences(text))
    place = 0
    for citation in citations:
        while place < len(bounds) - 1 and bounds[place][1] <= citation.start:
            place += 1
        found[bounds[place]] = None
    return [text[start:end] for start, end in found]


def without_masks(text: str, profile: Profile) -> str:
    """The text without what looks like an action and is none: names of policies, `call out`, `do not call`."""
    return profile.masks.blanked(text)


def find_actions(masked: str, profile: Profile) -> dict[str, str]:
    """The actions that a reply suggests, each with the words that do."""
    hits = ((name, patterns.search(masked)) for name, patterns in profile.actions.items())
    return {name: found.shown for name, found in hits if found is not None}


def find_offers(masked: str, profile: Profile) -> dict[str, str]:
    """The offers of which there should be one at a time, each with the words that make it."""
    hits = ((name, patterns.search(masked)) for name, patterns in profile.offers.items())
    return {name: found.shown for name, found in hits if found is not None}


def missing_structure(text: str, profile: Profile) -> list[str]:
    """Which of acknowledgment, guidance and next steps a reply lacks."""
    length = utf16_length(text) if profile.to_the_letter else len(text)
    prefix = utf16_prefix if profile.to_the_letter else _prefix
    parts = {
        "acknowledgment": profile.acknowledgements.matches(prefix(text, profile.within_characters)),
        "guidance": length > profile.guidance_characters,
        "next steps": profile.next_steps.matches(text),
    }
    return [name for name, is_there in parts.items() if not is_there]


def _prefix(text: str, length: int) -> str:
    return text[:length]


def active_because(query: str, profile: Profile) -> str | None:
    """The words that make a message one about a situation that is going on now; None for a general question."""
    found = profile.active.search(prepared(query, profile))
    return found.shown if found is not None else proper_name(query, profile)


def asks_without_guidance(text: str, profile: Profile) -> bool:
    """Whether a reply asks something and gives no guidance yet."""
    return profile.questions.matches(text) and not profile.guidance.matches(text)


class Reading:
    """A turn and what its reply says, worked out once."""

    def __init__(self, turn: Turn, profile: Profile) -> None:
        self.turn, self.profile = turn, profile

    @cached_property
    def unit(self) -> Unit:
        """What the turn's scores are about."""
        return self.turn.unit

    @cached_property
    def text(self) -> str:
        """The reply as the patterns see it."""
        return prepared(self.turn.response or "", self.profile)

    @cached_property
    def lacking(self) -> str | None:
        """Why the patterns can say nothing about the reply."""
        if self.turn.response is None:
            return "no response"
        return UNREADABLE if unreadable(self.turn.response, self.profile) else None

    @cached_property
    def citations(self) -> list[Found]:
        """Where a policy is cited."""
        return find_citations(self.text, self.profile)

    @cached_property
    def masked(self) -> str:
        """The reply without what looks like an action and is none."""
        return without_masks(self.text, self.profile)

    @cached_property
    def active(self) -> str | None:
        """What makes the query one about a situation that is going on now."""
        return None if self.turn.query is None else active_because(self.turn.query, self.profile)

    @cached_property
    def clarifies(self) -> bool:
        """Whether this is a first reply that asks about a situation before it gives guidance, as it should."""
        if self.lacking or not self.turn.first or self.active is None:
            return False
        return asks_without_guidance(self.text, self.profile)
