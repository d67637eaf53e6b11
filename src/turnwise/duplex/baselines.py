"""Agents that are none: one never speaks, one never stops. What they score shows what a metric cannot see."""

from __future__ import annotations

from dataclasses import replace

from turnwise.duplex.batch import DuplexBatch, Talk
from turnwise.duplex.records import Segment, Timeline
from turnwise.duplex.timing import events


def silent(timeline: Timeline) -> Timeline:
    """The conversation with an agent that says nothing."""
    return replace(timeline, agent=(), words=None if timeline.words is None else ())


def never_silent(timeline: Timeline) -> Timeline:
    """The conversation with an agent that speaks from the beginning to the end."""
    known = [segment.end for segment in (*(timeline.user or ()), *(timeline.agent or ()))]
    end = max([timeline.seconds or 0.0, *known, *(label.end for label in timeline.labels)])
    speech = (Segment(0.0, end),) if end > 0 else ()
    return replace(timeline, agent=speech, words=None)


def _silent(batch: DuplexBatch) -> DuplexBatch:
    return _with_agent(batch, [silent(talk.timeline) for talk in batch.talks])


def _never_silent(batch: DuplexBatch) -> DuplexBatch:
    return _with_agent(batch, [never_silent(talk.timeline) for talk in batch.talks])


def _with_agent(batch: DuplexBatch, timelines: list[Timeline]) -> DuplexBatch:
    """The batch as the listener heard it, but for the agent: audio is not heard again."""
    talks = [
        Talk(timeline, talk.unusable, () if talk.unusable else tuple(events(timeline)))
        for timeline, talk in zip(timelines, batch.talks, strict=True)
    ]
    return DuplexBatch(batch.index, (), timelines, memo={"talks": talks})


BASELINES = {"silent": _silent, "never silent": _never_silent}
