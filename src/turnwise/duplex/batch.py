"""A batch of conversations, or of cases from an experiment's files, with what the metrics work out together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from turnwise.duplex.cases import Case, conversation_unit, heard_case
from turnwise.duplex.opinion import Opinion, opinion_of, pieces_of
from turnwise.duplex.records import CATEGORY, CONVERSATION, EVENT, KIND, Timeline
from turnwise.duplex.timeline_json import as_json
from turnwise.duplex.timing import Event, events
from turnwise.judge.records import Judged, Pieces
from turnwise.kernel.metric import Item
from turnwise.kernel.score import Unit

Listener = Callable[[Timeline], "Timeline | str"]
"""Fills in who spoke when from the audio, or says why it cannot."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as it was heard, with what the user did in it."""

    timeline: Timeline
    unusable: str = ""
    """Why nothing can be measured."""
    events: tuple[Event, ...] = ()
    only: int | None = None
    """The one event that is asked about; all where it is None."""

    def unit(self, event: Event | None) -> Unit:
        """What the scores of an event are about; without one, that there is none."""
        key, dimensions = self.timeline.key, self.timeline.dimensions
        if event is None:
            return Unit(f"{key}#0", key, dimensions, EVENT)
        return Unit(f"{key}#{event.number}", key, {**dimensions, KIND: event.kind}, EVENT)

    def asks(self, event: Event) -> bool:
        """Whether an event is asked about."""
        return self.only is None or event.number == self.only


@dataclass
class DuplexBatch:
    """Whole conversations, or cases of files."""

    index: int
    cases_filed: Sequence[Case] = ()
    timelines: Sequence[Timeline] = ()
    listener: Listener | None = None
    only: int | None = None
    judged: Judged = field(default_factory=dict)
    """What a judge said about the conversations."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What several metrics work out together, once."""

    @property
    def files(self) -> list[Path]:
        """The recordings that have to be heard."""
        return [path for timeline in self.timelines for path in timeline.audio]

    @property
    def talks(self) -> Sequence[Talk]:
        """The conversations, heard where they have to be."""
        if "talks" not in self.memo:
            self.memo["talks"] = [self._heard(timeline) for timeline in self.timelines]
        found: Sequence[Talk] = self.memo["talks"]
        return found

    @property
    def cases(self) -> Sequence[Case]:
        """Everything the challenge's totals are made of."""
        if "cases" not in self.memo:
            usable = [talk.timeline for talk in self.talks if not talk.unusable]
            heard = [heard_case(timeline, self.opinion(timeline)) for timeline in usable]
            self.memo["cases"] = [*self.cases_filed, *heard]
        found: Sequence[Case] = self.memo["cases"]
        return found

    def opinion(self, timeline: Timeline) -> Opinion | None:
        """What the judge says the agent did; None where it was not asked."""
        return opinion_of(timeline, conversation_unit(timeline), self.judged)

    def pieces(self, unit_kind: str) -> Iterator[tuple[Unit, Pieces]]:
        """What a judge can be shown of each conversation; nothing is heard for it, and files hold no words."""
        if unit_kind == CONVERSATION:
            yield from ((case.unit, {CATEGORY: case.unit.dimensions.get(CATEGORY)}) for case in self.cases_filed)
            yield from ((conversation_unit(timeline), pieces_of(timeline)) for timeline in self.timelines)

    def _heard(self, timeline: Timeline) -> Talk:
        if timeline.user is None or timeline.agent is None:
            heard = self.listener(timeline) if self.listener else "nobody listened to the audio"
            if isinstance(heard, str):
                return Talk(timeline, heard)
            timeline = heard
        return Talk(timeline, events=tuple(events(timeline)), only=self.only)

    def items(self) -> Iterable[Item]:
        """Every case; every conversation and what the user did in it."""
        for case in self.cases_filed:
            yield Item(case.unit, dict(case.content))
        for talk in self.talks:
            timeline = self._labelled(talk.timeline)
            about = as_json(timeline) | ({"unusable": talk.unusable} if talk.unusable else {})
            yield Item(conversation_unit(timeline), about)
            if not talk.events:
                yield Item(talk.unit(None), {"note": talk.unusable or "the user does nothing"})
            for event in talk.events:
                yield Item(talk.unit(event), event._asdict())

    def _labelled(self, timeline: Timeline) -> Timeline:
        """With the judge's label, and whose it is: what is kept of a run can be scored again without a judge."""
        found = opinion.found if (opinion := self.opinion(timeline)) else None
        if found is None or found.label is None:
            return timeline
        context = {**timeline.context, "behaviour_by": found.rater or found.source.value}
        return replace(timeline, behaviour=found.label, context=context)

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, DuplexBatch]]:
        """One batch per case or conversation, or per event."""
        if unit_kind != EVENT:
            for case in self.cases_filed:
                yield case.unit, DuplexBatch(self.index, [case])
        for place, talk in enumerate(self.talks):
            one = replace(self, cases_filed=(), timelines=[self.timelines[place]], memo={})
            if unit_kind != EVENT:
                yield conversation_unit(talk.timeline), one
            elif not talk.events:
                yield talk.unit(None), one
            for event in talk.events if unit_kind == EVENT else ():
                yield talk.unit(event), replace(one, only=event.number, memo={})

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "memo": {}}  # worked out anew where the batch is measured
