"""Whether a message names somebody (decision 002-6; the document leaves `hasProperName` open).

A name is a word with a capital letter inside a sentence that does not begin it and is not in a closed list: common
words, days, months, titles of policies.
"""

from __future__ import annotations

import re

from turnwise.assistant.profile import Profile
from turnwise.assistant.text import sentences, straightened

_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_OPENING = frozenset("\"'([{:;—–-*•#>_/\n")
"""After one of these, a capital letter means nothing: quotations, brackets, colons, items of lists."""
_TITLES = frozenset({"mr", "mrs", "ms", "mx", "dr", "prof"})
_FIRST_PERSON = frozenset({"i", "i'm", "i've", "i'll", "i'd"})
_NEAR = 16
TITLE_CASE = 0.7
"""Where more of the words begin with a capital letter, it is a headline, and says nothing about names."""
TITLE_CASE_WORDS = 5
"""Shorter messages are no headlines."""


def has_proper_name(text: str, profile: Profile) -> bool:
    """Whether the text names somebody."""
    return proper_name(text, profile) is not None


def proper_name(text: str, profile: Profile) -> str | None:
    """The first word that is a name, without its possessive; None where there is none."""
    text = straightened(text)
    if not any(map(str.isupper, text)) or _is_headline(text):
        return None
    text = profile.policy_names.blanked(text)
    for start, end in sentences(text):
        sentence = text[start:end]
        for place, match in enumerate(_WORD.finditer(sentence)):
            if (place > 0 or _after_title(sentence, match)) and _is_name(match, sentence, profile):
                return _without_possessive(match.group())
    return None


def _is_name(match: re.Match[str], sentence: str, profile: Profile) -> bool:
    word = _without_possessive(match.group())
    folded = word.casefold()
    if not word[0].isupper() or not any(map(str.islower, word)):  # HR, FMLA: an abbreviation
        return False
    if folded in _FIRST_PERSON or folded in _TITLES or folded in profile.common_words:
        return False
    before = _before(sentence, match).rstrip(" ")
    return not before or before[-1] not in _OPENING or _after_title(sentence, match)


def _before(sentence: str, match: re.Match[str]) -> str:
    """What stands before a word; a few characters will do, however long the sentence is."""
    return sentence[max(0, match.start() - _NEAR) : match.start()]


def _after_title(sentence: str, match: re.Match[str]) -> bool:
    """Whether `Mr.` and the like stand before the word: then it is a name wherever it stands."""
    before = _before(sentence, match).rstrip(" .").split()
    return bool(before) and before[-1].casefold() in _TITLES


def _without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "'S")) else word.rstrip("'")


def _is_headline(text: str) -> bool:
    words = [match.group() for match in _WORD.finditer(text)]
    if len(words) < TITLE_CASE_WORDS:
        return False
    return sum(word[0].isupper() for word in words) > TITLE_CASE * len(words)
