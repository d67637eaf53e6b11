"""A walk through the turns that a rater has not rated yet: which one is next, on which scale, and back again.

Every answer is kept at once, so a walk that ends, however it ends, goes on where it stopped. Nothing here reads keys or
prints; that is the terminal's part (cli/rating_screen.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnwise.assistant.metrics import ROOM
from turnwise.assistant.rating import CANNOT_TELL, PASSED_OVER, TurnItem, keep_answers, rateable_turns
from turnwise.assistant.scales import Scale, check_rating, scales
from turnwise.kernel.signature import digest
from turnwise.store.ratings import Rating, human_ratings, withdraw
from turnwise.store.reading import read_item
from turnwise.store.run import Run
from turnwise.store.store import Store

Answers = dict[str, int | str]
"""By scale: the rating, or the reason why there is none."""


@dataclass(frozen=True, slots=True)
class _Step:
    """Something that can be undone, with what was before."""

    place: int
    open: list[str]
    """The scales that were still to be asked."""
    before: Mapping[str, int | str | None]
    """The answers that it changed."""
    rated: bool


class Walk:
    """Some turns and a rater. `turn` and `scale` are what is asked next; both are None at the end."""

    def __init__(self, store: Store, run: Run, rater: str, turns: Sequence[TurnItem], *, again: bool = False) -> None:
        """Walk through `turns`; with `again`, scales that this rater has answered are asked, too."""
        self._store, self._run, self.rater = store, run, rater
        self._turns = turns
        self._answers = answers_by_turn(human_ratings(store, run, rater))
        self._open = [_open_scales({} if again else self._answers.get(turn.id, {})) for turn in turns]
        self._steps: list[_Step] = []
        self._place = 0
        self._settle()

    @property
    def turn(self) -> TurnItem | None:
        """The turn to rate."""
        return self._turns[self._place] if self._place < len(self._turns) else None

    @property
    def scale(self) -> Scale | None:
        """The scale to rate it on."""
        return None if self.turn is None else scales()[self._open[self._place][0]]

    @property
    def number(self) -> int:
        """The place of the turn in this walk, from 1."""
        return self._place + 1

    def __len__(self) -> int:
        return len(self._turns)

    @property
    def ratings(self) -> int:
        """How many ratings were given in this walk."""
        return sum(step.rated for step in self._steps)

    @property
    def unrated(self) -> int:
        """How many of the turns still lack an answer."""
        return sum(bool(_open_scales(self._answers.get(turn.id, {}))) for turn in self._turns)

    def look(self) -> dict[str, Any]:
        """What was asked and answered, in the names of the JSONL form; nothing of what was measured."""
        found = read_item(self._store, self._run, self._here().id)
        content: dict[str, Any] = (found or {}).get("content") or {}
        return content

    def rate(self, score: int) -> None:
        """Rate the turn on the scale, and go on."""
        scale = self._asked()
        self._answer({scale.name: check_rating(scale, score)}, self._open[self._place][1:])

    def cannot_tell(self) -> None:
        """Leave the scale out for good, and go on."""
        self._answer({self._asked().name: CANNOT_TELL}, self._open[self._place][1:])

    def skip(self) -> None:
        """Leave the turn: what it lacks is asked again when no other turn is left."""
        known = self._answers.get(self._here().id, {})
        self._answer({name: PASSED_OVER for name in self._open[self._place] if name not in known}, [])

    def undo(self) -> bool:
        """Take the last answer back, and ask it again; False where there is none in this walk."""
        if not self._steps:
            return False
        step = self._steps.pop()
        self._place, self._open[step.place] = step.place, step.open
        turn = self._here()
        earlier: Answers = {name: answer for name, answer in step.before.items() if answer is not None}
        new = [name for name, answer in step.before.items() if answer is None]
        if earlier:
            keep_answers(self._store, self._run, turn, earlier, self.rater)
        if new:
            withdraw(self._store, self._run, [self._rating(turn, name) for name in new], self.rater)
        self._answers[turn.id] = {n: a for n, a in self._answers[turn.id].items() if n not in new} | earlier
        return True

    def _answer(self, answers: Answers, still_open: list[str]) -> None:
        turn = self._here()
        known = self._answers.setdefault(turn.id, {})
        if answers:
            keep_answers(self._store, self._run, turn, answers, self.rater)
        before = {name: known.get(name) for name in answers}
        rated = any(isinstance(answer, int) for answer in answers.values())
        self._steps.append(_Step(self._place, self._open[self._place], before, rated))
        known.update(answers)
        self._open[self._place] = still_open
        self._settle()

    def _settle(self) -> None:
        """Go on to the next turn with something to ask."""
        while self._place < len(self._turns) and not self._open[self._place]:
            self._place += 1

    def _here(self) -> TurnItem:
        if self.turn is None:
            raise ValueError("the walk is over")
        return self.turn

    def _asked(self) -> Scale:
        if self.scale is None:
            raise ValueError("the walk is over")
        return self.scale

    def _rating(self, turn: TurnItem, name: str) -> Rating:
        metric = f"{ROOM}/{scales()[name].metric}"
        return Rating(turn.number, turn.id, turn.session_id, metric, self.rater, None, None, "")


def unrated_turns(store: Store, run: Run, rater: str, *, blind: bool = True) -> list[TurnItem]:
    """The turns that a rater has not answered on every scale; those that were skipped come last.

    They come in the order of the data. Where the run holds several versions, that order would tell which is which, and
    mix up a version with how tired its rater was: then, for a blind rater, whole sessions come in an order that depends
    on nothing but run, rater and session.
    """
    turns = rateable_turns(store, run)
    if blind and len({turn.version for turn in turns}) > 1:
        sessions = {turn.session_id for turn in turns}
        shuffled = {session: digest([run.id, rater, session], 32) for session in sessions}
        turns.sort(key=lambda turn: (shuffled[turn.session_id], turn.number))
    answers = answers_by_turn(human_ratings(store, run, rater))
    unrated = [turn for turn in turns if _open_scales(answers.get(turn.id, {}))]
    return sorted(unrated, key=lambda turn: PASSED_OVER in answers.get(turn.id, {}).values())


def answers_by_turn(ratings: Iterable[Rating]) -> dict[str, Answers]:
    """What a rater said, by the id of the turn."""
    names = {f"{ROOM}/{scale.metric}": scale.name for scale in scales().values()}
    found: dict[str, Answers] = {}
    for rating in ratings:
        if rating.metric in names:
            answer = rating.reason or CANNOT_TELL if rating.value is None else int(rating.value)
            found.setdefault(rating.unit, {})[names[rating.metric]] = answer
    return found


def _open_scales(answers: Mapping[str, int | str]) -> list[str]:
    return [name for name in scales() if answers.get(name, PASSED_OVER) == PASSED_OVER]
