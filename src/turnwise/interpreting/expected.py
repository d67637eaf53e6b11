"""What is made of the text that is expected of a turn: once for all captures of a scenario, not once for each."""

from __future__ import annotations

from functools import lru_cache

from turnwise.kernel.text import spoken_form, words_of

KEPT = 4096
"""Texts that are remembered: a few turns for each of a thousand scenarios."""


@lru_cache(KEPT)
def expected_form(text: str) -> str:
    """The text without case and punctuation."""
    return spoken_form(text)


@lru_cache(KEPT)
def expected_words(text: str) -> tuple[str, ...]:
    """The words that are to be heard."""
    return tuple(words_of(expected_form(text)))


@lru_cache(KEPT)
def expected_word_set(text: str) -> frozenset[str]:
    """The same, each once."""
    return frozenset(expected_words(text))
