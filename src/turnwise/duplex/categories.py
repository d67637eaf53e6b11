"""The ten categories of the challenge in two languages, under every name they are published by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

LANGUAGES = ("cn", "en")
LABELS = ("C_RESPOND", "C_RESUME", "C_UNCERTAIN_HANDLING", "C_UNKNOWN")
"""What an agent did at an interruption: answered it, went on, was unsure, or something else."""
_LANGUAGE_NAMES = {
    "cn": ("cn", "zh", "zhcn", "chinese", "mandarin", "devzh", "devcn", "testzh", "testcn"),
    "en": ("en", "english", "deven", "testen"),
}


class Measured(StrEnum):
    """By what a category is scored, under the name of the field in its file."""

    RESPOND = "average_RESPOND_score"
    RESUME = "average_RESUME_score"
    REJECT = "reject_rate"


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of situation."""

    name: str
    """As the document spells it; the first half of the file's name."""
    measured: Measured
    part: str
    """What it counts for: interruption, or a part of the rejection score, where the two with a third party are one."""
    others: tuple[str, ...] = ()
    """Other published spellings; differences in case, spaces, underscores and hyphens need none."""

    @property
    def interrupts(self) -> bool:
        """Whether the user wants the agent to stop and listen."""
        return self.measured is Measured.RESPOND


INTERRUPTING = "Interruption"
THIRD_PARTY = "Third-party Speech"
INTERRUPTION = (
    Category("Follow-up Questions", Measured.RESPOND, INTERRUPTING, ("ask",)),
    Category("Negation or Dissatisfaction", Measured.RESPOND, INTERRUPTING, ("deny",)),
    Category("Repetition Requests", Measured.RESPOND, INTERRUPTING, ("repeat",)),
    Category("Silence or Termination", Measured.RESPOND, INTERRUPTING, ("wait",)),
    Category("Topic Switching", Measured.RESPOND, INTERRUPTING, ("shift",)),
)
REJECTION = (
    Category(
        "Speech Directed at Others",
        Measured.RESUME,
        "Speech Directed at Others",
        ("Speech Directe at Others", "talk to others"),
    ),
    Category("Third-party Speech_after", Measured.RESUME, THIRD_PARTY, ("others talk to user after",)),
    Category("User Real-time Backchannels", Measured.RESUME, "User Real-time Backchannels", ("backchannel",)),
    Category("Pause Handling", Measured.REJECT, "Pause Handling", ("pause",)),
    Category("Third-party Speech_before", Measured.REJECT, THIRD_PARTY, ("others talk to user before",)),
)
"""In the order of the document's `all.json`."""
CATEGORIES = (*INTERRUPTION, *REJECTION)
BEFORE = REJECTION[-1]
"""Here a stranger speaks first, so the user's own sentence is the second one."""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


_BY_NAME = {_plain(name): category for category in CATEGORIES for name in (category.name, *category.others)}
_LANGUAGE_BY_NAME = {name: language for language, names in _LANGUAGE_NAMES.items() for name in names}


def category_named(name: str) -> Category | None:
    """The category that a folder or a record names; None for any other word.

    >>> category_named("Speech_Directe_at_Others").name, category_named("others_talk_to_user_before").name
    ('Speech Directed at Others', 'Third-party Speech_before')
    """
    return _BY_NAME.get(_plain(name))


def language_named(name: str) -> str | None:
    """`cn` or `en` for what a folder is called; None for any other word."""
    return _LANGUAGE_BY_NAME.get(_plain(name))
