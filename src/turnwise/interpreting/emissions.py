"""When each word of a translation was there, for the metrics of lag: from the events of a call, or from a log."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from turnwise.interpreting.expected import KEPT
from turnwise.interpreting.lag import Emission
from turnwise.interpreting.summaries import TurnSummary
from turnwise.kernel.score import Unit
from turnwise.kernel.text import UNSPACED_CLASS

if TYPE_CHECKING:
    from turnwise.interpreting.instances import Instance

CU, CA = "cu", "ca"
NO_END = "when the source ended is not known"
NO_WORDS = "no translated text came"
NO_ELAPSED = "no times with computation were logged"
_WORD = re.compile(f"[{UNSPACED_CLASS}]|[^\\s{UNSPACED_CLASS}]+")


@dataclass(frozen=True, slots=True)
class Emitted:
    """What the metrics of lag are about: one turn, or one instance of a log."""

    unit: Unit
    by_source: Emission | None = None
    """Delays as milliseconds of source that had been heard (computation-unaware)."""
    by_clock: Emission | None = None
    """The same on the clock, computation included."""
    hypotheses: Sequence[Sequence[str]] | None = None
    """Every version of the translation, in order; None where it was not revised because it cannot be."""
    reason: str = ""
    """Why there are no delays."""

    def emission(self, output: str) -> Emission | None:
        """The delays of an output."""
        return self.by_source if output == CU else self.by_clock


def of_instance(unit: Unit, instance: Instance) -> Emitted:
    """An instance of a SimulEval log."""
    return Emitted(unit, instance.unaware, instance.aware)


def of_turn(unit: Unit, summary: TurnSummary) -> Emitted:
    """A turn of a live call: a word is there when the last of it has arrived.

    How much of the source had been heard by then is the time since the turn began, and never more than the turn.
    """
    turn = summary.turn
    if turn.start is None or turn.end is None or turn.end <= turn.start:
        return Emitted(unit, reason=NO_END, hypotheses=versions(summary))
    moments = word_moments(summary)
    if not moments:
        return Emitted(unit, reason=NO_WORDS)
    source = turn.end - turn.start
    elapsed = [max(0.0, moment - turn.start) for moment in moments]
    reference = None if turn.expected_text is None else _expected_count(turn.expected_text) or None
    heard = Emission([min(delay, source) for delay in elapsed], source, reference)
    return Emitted(unit, heard, Emission(elapsed, source, reference, read_ms=heard.delays), versions(summary))


def output_words(text: str) -> list[str]:
    """Words as the lag metrics count them: between spaces; characters where no spaces are written.

    >>> output_words("It hurts. 疼痛")
    ['It', 'hurts.', '疼', '痛']
    """
    return _WORD.findall(text)


@lru_cache(KEPT)
def _expected_count(text: str) -> int:
    """The words of an expected text."""
    return len(output_words(text))


def word_moments(summary: TurnSummary) -> list[float]:
    """When each word of the translation was there for good."""
    if summary.deltas:
        return _of_deltas(summary.pieces, [event.arrived for event in summary.deltas])
    hypotheses = [output_words(event.text) for event in summary.texts]
    return _of_versions(hypotheses, [event.arrived for event in summary.texts])


def _of_deltas(pieces: Sequence[str], arrivals: Sequence[float]) -> list[float]:
    """A word is there when the piece with its last character has come."""
    ends = list(accumulate(map(len, pieces)))
    return [arrivals[bisect_left(ends, word.end())] for word in _WORD.finditer("".join(pieces))]


def _of_versions(hypotheses: Sequence[Sequence[str]], arrivals: Sequence[float]) -> list[float]:
    """A word is there from the version on after which it and all before it stay the same."""
    if not hypotheses:
        return []
    final = hypotheses[-1]
    since = [arrivals[-1]] * len(final)
    stable = len(final)
    for words, arrived in zip(reversed(hypotheses), reversed(arrivals), strict=True):
        same = next((n for n, pair in enumerate(zip(words, final, strict=False)) if pair[0] != pair[1]), None)
        stable = min(stable, same if same is not None else min(len(words), len(final)))
        since[:stable] = [arrived] * stable
    return since


def versions(summary: TurnSummary) -> Sequence[Sequence[str]] | None:
    """Every version of a translation; a system that only ever appends has one."""
    if summary.deltas:
        return [output_words(summary.text)]
    return [output_words(event.text) for event in summary.texts] or None
