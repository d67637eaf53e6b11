"""A batch of calls, or of instances of a log, with what the metrics work out together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from turnwise.interpreting.barge_in import Pair, evaluate
from turnwise.interpreting.emissions import Emitted, of_instance, of_turn
from turnwise.interpreting.instances import Instance
from turnwise.interpreting.kinds import barge_in_kind
from turnwise.interpreting.records import CAPTURE, KIND, LANGUAGE, PAIR, PARTICIPANT, TURN, Call, Turn
from turnwise.interpreting.shown import pieces_of, pieces_of_instance
from turnwise.interpreting.summaries import Conversation, TurnSummary, summarise, summarise_by_document
from turnwise.judge.records import Judged, Pieces
from turnwise.kernel.metric import Item
from turnwise.kernel.score import Unit


@dataclass(frozen=True)
class Heard:
    """A call as the metrics see it; `only` names the one turn or pair that is asked about."""

    call: Call
    only: str | None = None

    @cached_property
    def conversation(self) -> Conversation:
        """Everything in it given to turns."""
        return summarise(self.call)

    @cached_property
    def by_document(self) -> Conversation:
        """The same by the document's rule."""
        return summarise_by_document(self.call)

    def pairs(self, *, by_the_document: bool = False, adaptive: bool = False) -> list[Pair]:
        """Every barge-in, evaluated."""
        asked = (by_the_document, adaptive)
        if asked not in self._pairs:
            conversation = self.by_document if by_the_document else self.conversation
            self._pairs[asked] = evaluate(conversation, by_the_document=by_the_document, adaptive=adaptive)
        return self._pairs[asked]

    @cached_property
    def _pairs(self) -> dict[tuple[bool, bool], list[Pair]]:
        return {}

    @cached_property
    def unit(self) -> Unit:
        """What scores of the whole call are about."""
        return Unit(self.call.key, self.call.key, self.call.dimensions, CAPTURE)

    def turn_unit(self, turn: Turn) -> Unit:
        """What scores of one turn are about."""
        if turn.id not in self._units:
            self._units[turn.id] = self._unit_of(turn)
        return self._units[turn.id]

    @cached_property
    def _units(self) -> dict[str, Unit]:
        return {}

    def _unit_of(self, turn: Turn) -> Unit:
        own = {PARTICIPANT: turn.participant, LANGUAGE: turn.expected_language}
        dimensions = {**self.call.dimensions, **{name: value for name, value in own.items() if value}}
        return Unit(f"{self.call.key}#{turn.id}", self.call.key, dimensions, TURN)

    def pair_unit(self, turn_id: str) -> Unit:
        """What scores of one barge-in are about."""
        if turn_id not in self._pair_units:
            self._pair_units[turn_id] = self._pair_unit_of(turn_id)
        return self._pair_units[turn_id]

    @cached_property
    def _pair_units(self) -> dict[str, Unit]:
        return {}

    def _pair_unit_of(self, turn_id: str) -> Unit:
        dimensions = self.call.dimensions
        place = next((n for n, one in enumerate(self.conversation.summaries) if one.turn.id == turn_id), 0)
        if place:
            summaries = self.conversation.summaries
            kind = barge_in_kind(summaries[place - 1].turn, summaries[place].turn)
            dimensions = {**dimensions, KIND: kind}
        return Unit(f"{self.call.key}#{turn_id}#barge_in", self.call.key, dimensions, PAIR)

    @cached_property
    def summaries(self) -> Sequence[TurnSummary]:
        """Of the turns that are asked about."""
        return [one for one in self.conversation.summaries if self.only is None or one.turn.id == self.only]

    def asks(self, turn_id: str) -> bool:
        """Whether a pair is asked about."""
        return self.only is None or turn_id == self.only


@dataclass
class InterpretingBatch:
    """Whole calls, or instances of a log."""

    index: int
    calls: Sequence[Call] = ()
    instances: Sequence[Instance] = ()
    wants_all: bool = True
    """Whether every metric is measured, rather than those a scenario asks for."""
    only: str | None = None
    judged: Judged = field(default_factory=dict)
    """What a judge said about the turns and barge-ins."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def heard(self) -> Sequence[Heard]:
        """The calls."""
        if "heard" not in self.memo:
            self.memo["heard"] = [Heard(call, self.only) for call in self.calls]
        found: Sequence[Heard] = self.memo["heard"]
        return found

    @property
    def emitted(self) -> Sequence[Emitted]:
        """When the words of every translation were there."""
        if "emitted" not in self.memo:
            of_log = [of_instance(instance_unit(one), one) for one in self.instances]
            self.memo["emitted"] = [*of_log, *(one for heard in self.heard for one in self.emitted_in(heard))]
        found: Sequence[Emitted] = self.memo["emitted"]
        return found

    def emitted_in(self, heard: Heard) -> list[Emitted]:
        """The same for one call."""
        return [of_turn(heard.turn_unit(summary.turn), summary) for summary in heard.summaries]

    def wants(self, heard: Heard, metric: str) -> bool:
        """Whether a metric is to be measured on a call."""
        return self.wants_all or heard.call.asks_for(metric)

    def pieces(self, unit_kind: str) -> Iterator[tuple[Unit, Pieces]]:
        """What a judge can be shown of each turn or barge-in, and of each instance."""
        if unit_kind == TURN:
            yield from ((instance_unit(one), pieces_of_instance(one)) for one in self.instances)
        for heard in self.heard:
            yield from self.pieces_in(heard, unit_kind)

    def pieces_in(self, heard: Heard, unit_kind: str) -> Iterator[tuple[Unit, Pieces]]:
        """The same for one call."""
        if unit_kind == TURN:
            for previous, summary in pairwise([None, *heard.conversation.summaries]):
                if summary is not None and heard.asks(summary.turn.id):
                    yield heard.turn_unit(summary.turn), pieces_of(heard.call, summary, previous)
        elif unit_kind == PAIR:
            for previous, barge_in in heard.conversation.pairs:
                turn = barge_in if isinstance(barge_in, Turn) else barge_in.turn
                if heard.asks(turn.id):
                    yield heard.pair_unit(turn.id), pieces_of(heard.call, barge_in, previous)

    def items(self) -> Iterable[Item]:
        """Every call with its turns and barge-ins; every instance."""
        for one in self.instances:
            yield Item(instance_unit(one), one.as_json())
        for heard in self.heard:
            yield Item(heard.unit, call_content(heard))
            for summary in heard.conversation.summaries:
                yield Item(heard.turn_unit(summary.turn), summary.as_json())
            for previous, barge_in in heard.conversation.pairs:
                turn = barge_in if isinstance(barge_in, Turn) else barge_in.turn
                before = None if previous is None else previous.turn.id
                content = {"previous_turn_id": before, "barge_in_turn_id": turn.id, "barge_in_start_ms": turn.start}
                yield Item(heard.pair_unit(turn.id), content)

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, InterpretingBatch]]:
        """One batch per call, turn or barge-in, or per instance."""
        for one in self.instances if unit_kind == TURN else ():
            yield instance_unit(one), replace(self, instances=[one], calls=(), memo={})
        for place, heard in enumerate(self.heard):
            alone = replace(self, instances=(), calls=[self.calls[place]], memo={})
            if unit_kind == CAPTURE:
                yield heard.unit, alone
            elif unit_kind == TURN:
                for summary in heard.conversation.summaries:
                    yield heard.turn_unit(summary.turn), replace(alone, only=summary.turn.id, memo={})
            else:
                for _, barge_in in heard.conversation.pairs:
                    turn = barge_in if isinstance(barge_in, Turn) else barge_in.turn
                    yield heard.pair_unit(turn.id), replace(alone, only=turn.id, memo={})

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "memo": {}}  # worked out anew where the batch is measured


def instance_unit(instance: Instance) -> Unit:
    """What the scores of an instance are about."""
    return Unit(instance.index, instance.index, {}, TURN)


def call_content(heard: Heard) -> dict[str, Any]:
    """What is kept of a call: enough to draw it."""
    call = heard.call
    facts = {
        "scenario_id": call.scenario,
        "description": call.description,
        "protocol": call.protocol,
        "ended_ms": call.ended,
        "ended_early": call.reason,
        "notes": list(call.notes),
        "thresholds": dict(call.thresholds),
        "turns": [drawn(summary) for summary in heard.conversation.summaries],
        "not_spoken": [turn.id for turn in call.turns if turn.speaks and turn.start is None],
        "before_anybody_spoke": len(heard.conversation.strays),
    }
    return {name: value for name, value in facts.items() if value or name == "turns"}


def drawn(summary: TurnSummary) -> dict[str, Any]:
    """A turn as a picture needs it."""
    turn = summary.turn
    facts = {
        "turn_id": turn.id,
        "participant_id": turn.participant,
        "start_ms": turn.start,
        "end_ms": turn.end,
        "barge_in": turn.barge_in,
        "source_text": turn.source_text,
        "expected_text": turn.expected_text,
        "text": summary.text,
        "audible": [[round(start, 1), round(end, 1)] for start, end in summary.audible],
        "text_ms": [event.arrived for event in summary.texts[:1] + summary.texts[-1:]],
    }
    # A start of 0 ms is kept, although 0 equals False.
    return {name: value for name, value in facts.items() if value is not False and value not in (None, "", [])}
