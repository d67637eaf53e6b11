"""Which turn a piece of the translation belongs to, and how that is known.

By an id: the event names its turn, or belongs to a response. Else by content: what came without ids is cut into one
stretch for each turn, in the order of the turns, so that as many words as possible stand in the stretch of the turn
whose expected text has them. Else by time: to the turn that began last, which says nothing about who is still being
translated. Specification decision 000-2.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from math import inf

from turnwise.interpreting.expected import KEPT, expected_word_set
from turnwise.interpreting.records import AUDIO, Call, Event, Turn
from turnwise.kernel.text import spoken_words


class Method(StrEnum):
    """How it is known which turn an event belongs to; from the best to the worst."""

    ID = "id"
    CONTENT = "content"
    TIME = "time"


NEAR_MS = 2000.0
"""Audio without ids goes with text that arrived at most so long before or after it."""
TOO_EARLY = 4
"""Words at home that a word of a later turn outweighs."""
Owner = tuple[str | None, Method]
"""A turn, or None for what came before anybody spoke."""


def attribute_by_document(call: Call) -> list[Owner]:
    """For each event its turn: the one it names, else the one that began last."""
    turns = call.spoken
    known = {turn.id for turn in turns}
    return [(event.turn, Method.ID) if event.turn in known else _by_time(turns, event) for event in call.events]


def attribute(call: Call) -> list[Owner]:
    """For each event of a call its turn, and how that is known."""
    turns = call.spoken
    if not turns:
        return [_by_time(turns, event) for event in call.events]
    found = _by_id(call.events, turns)
    if None not in found:
        return [owner for owner in found if owner]
    _by_content(call.events, turns, found)
    return [owner or _by_time(turns, event) for owner, event in zip(found, call.events, strict=True)]


def _by_time(turns: Sequence[Turn], event: Event) -> Owner:
    place = bisect_right([turn.start or 0.0 for turn in turns], event.arrived)
    return (turns[place - 1].id if place else None), Method.TIME


# By id


def _by_id(events: Sequence[Event], turns: Sequence[Turn]) -> list[Owner | None]:
    """Events that name their turn, and responses: a response answers one turn.

    A turn in which nothing was said has no translation: its id counts as none.
    """
    owners: dict[str | None, Owner] = {turn.id: (turn.id, Method.ID) for turn in turns}
    named: dict[str | None, str] = {}
    responses: dict[str, list[Event]] = {}
    answered: set[str] = set()
    latest, own = None, list[Event]()
    for event in events:
        turn, response = event.turn, event.response
        if response is not None:
            if response != latest:  # the events of a response mostly follow each other
                latest, own = response, responses.setdefault(response, [])
            own.append(event)
        if turn is not None:
            answered.add(turn)
            if response is not None and turn in owners:
                named.setdefault(response, turn)
    names_turns = bool(answered)
    vocabulary = vocabulary_of(turns)
    for response, own in responses.items():  # in the order of their first event
        if response not in named:
            turn = _answered_by(own, turns, answered, vocabulary)
            if turn is not None:
                named[response] = turn
                answered.add(turn)
    of_response = {response: owners[turn] for response, turn in named.items()}
    if not names_turns:
        return [of_response.get(event.response) for event in events]
    return [owners.get(event.turn) or of_response.get(event.response) for event in events]


def _answered_by(own: Sequence[Event], turns: Sequence[Turn], answered: set[str], vocabulary: Vocabulary) -> str | None:
    """The first turn that has no answer yet, or the last that began; unless the words are another turn's alone."""
    begun = [turn for turn in turns if (turn.start or 0.0) <= own[0].arrived]
    if not begun:
        return None
    due = next((turn for turn in begun if turn.id not in answered), begun[-1])
    words = spoken_words(" ".join(event.text for event in own if event.text))
    hits = {turn.id: vocabulary.own_words(turn.id, words) for turn in begun}
    best = max(hits, key=lambda turn: hits[turn])
    return due.id if hits[due.id] or not hits[best] else best


class Vocabulary:
    """The words of the expected texts, and which of them belong to one turn alone."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        """From turns and what is expected of each."""
        self.words = {turn: expected_word_set(text) for turn, text in texts}
        self._own: dict[str, frozenset[str]] = {}

    def own(self, turn: str) -> frozenset[str]:
        """The words that only this turn is expected to have."""
        if turn not in self._own:
            others = frozenset().union(*(words for other, words in self.words.items() if other != turn))
            self._own[turn] = self.words[turn] - others
        return self._own[turn]

    def own_words(self, turn: str, words: Sequence[str]) -> int:
        """How many of some words only this turn is expected to have."""
        return sum(map(self.own(turn).__contains__, words))


def vocabulary_of(turns: Sequence[Turn]) -> Vocabulary:
    """The vocabulary of a call: worked out once for all captures of a scenario."""
    return _vocabulary(tuple((turn.id, turn.expected_text or "") for turn in turns))


@lru_cache(KEPT)
def _vocabulary(texts: tuple[tuple[str, str], ...]) -> Vocabulary:
    return Vocabulary(texts)


# By content


def _by_content(events: Sequence[Event], turns: Sequence[Turn], found: list[Owner | None]) -> None:
    """Text without ids by its words; audio without ids goes with the text that arrived nearest to it."""
    began = turns[0].start or 0.0  # what comes before anybody spoke translates nobody
    loose = [n for n, owner in enumerate(found) if owner is None and events[n].text and events[n].arrived >= began]
    if loose and any(turn.expected_text for turn in turns):
        for place, owner in _stretches([events[place] for place in loose], turns, vocabulary_of(turns)).items():
            found[loose[place]] = owner
    known = [(events[place].arrived, owner) for place, owner in enumerate(found) if owner and events[place].text]
    for place, event in enumerate(events):
        if found[place] is None and event.kind == AUDIO and known:
            moment, nearest = _nearest(known, event.arrived)
            # Text never makes an event that came before a turn belong to it.
            start = next(turn.start or 0.0 for turn in turns if turn.id == nearest[0])
            is_near = abs(moment - event.arrived) <= NEAR_MS
            found[place] = nearest if is_near and start <= event.arrived else None


def _nearest(known: Sequence[tuple[float, Owner]], moment: float) -> tuple[float, Owner]:
    """The text that arrived nearest to a moment, and whose it is; of two as near, the later."""
    place = bisect_left(known, moment, key=lambda one: one[0])
    around = known[max(0, place - 1) : place + 1]
    return min(reversed(around), key=lambda one: abs(one[0] - moment))


def _stretches(texts: Sequence[Event], turns: Sequence[Turn], vocabulary: Vocabulary) -> dict[int, Owner]:
    """Texts in order of arrival, cut into one stretch for each turn; where nothing supports it, none is given."""
    words = [spoken_words(event.text) for event in texts]
    owners = _best_cut(texts, turns, words, vocabulary)
    supported = {
        turn
        for turn in set(filter(None, owners))
        if any(vocabulary.own_words(turn, words[place]) for place, owner in enumerate(owners) if owner == turn)
    }
    return {place: (owner, Method.CONTENT) for place, owner in enumerate(owners) if owner in supported}


def _fits(words: Sequence[str], turns: Sequence[Turn], vocabulary: Vocabulary) -> list[int]:
    """How well some words fit each turn."""
    later = 0
    found = []
    for turn in reversed(turns):
        at_home = sum(map(vocabulary.words[turn.id].__contains__, words))
        found.append(at_home - TOO_EARLY * later)
        later += vocabulary.own_words(turn.id, words)
    return found[::-1]


def _best_cut(
    texts: Sequence[Event],
    turns: Sequence[Turn],
    words: Sequence[Sequence[str]],
    vocabulary: Vocabulary,
) -> list[str | None]:
    """The turn of each text, never going back, with the most words at home; ties are cut where the pause is longest.

    The score of a path is (words at home, sum of the pauses before each change of turn). A word that only a later turn
    is expected to have counts against an earlier one: once it is said, the answer to the later turn has begun, however
    many old words are mixed into it.
    """
    nothing = (-inf, 0.0)
    best: list[tuple[float, float]] = [(0, 0.0)] * len(turns)
    origins: list[list[int]] = []
    for place, event in enumerate(texts):
        pause = event.arrived - texts[place - 1].arrived if place else 0.0
        row, origin = [], []
        reached, before = nothing, 0
        fits = _fits(words[place], turns, vocabulary)
        for n, turn in enumerate(turns):
            stay = best[n]
            change = (reached[0], reached[1] + pause)
            came = n
            if reached > nothing and change > stay:
                stay, came = change, before
            if best[n] > reached:
                reached, before = best[n], n
            allowed = (turn.start or 0.0) <= event.arrived and stay > nothing
            row.append((stay[0] + fits[n], stay[1]) if allowed else nothing)
            origin.append(came)
        best = row
        origins.append(origin)
    last = max(range(len(turns)), key=best.__getitem__)
    if best[last] <= nothing:
        return [None] * len(texts)
    path = []
    for origin in reversed(origins):
        path.append(last)
        last = origin[last]
    return [turns[n].id for n in reversed(path)]
