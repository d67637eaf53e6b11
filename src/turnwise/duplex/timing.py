"""Who spoke when, and what follows from it: overlaps, gaps, answers, interruptions. Pure functions of segments.

Limits are inclusive. Moments that were computed differently may differ in the last bits, so limits are compared with
a microsecond to spare.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from turnwise.duplex.records import (
    INTERRUPTION,
    PAUSE,
    TASK,
    TO_IGNORE,
    TURN,
    Label,
    Segment,
    Timeline,
)

USER_GAP, AGENT_GAP = 0.6, 0.5
"""Seconds of silence inside a turn that do not end it."""
YIELD_WINDOW = 2.0
REACTION = 0.1
"""Nobody reacts faster: an agent that falls silent sooner had finished anyway."""
STOP_WINDOW, START_WINDOW = 1.0, 2.0
"""How soon an agent stops, or starts, for something it should ignore."""
PATIENCE = 5.0
"""Seconds of silence at the end of a recording after which an answer would not have come."""
EPSILON = 1e-6
COVERED = 0.5
"""A label says what a whole utterance is if it covers at least so much of it; otherwise it is about a part of it."""

Interval = tuple[float, float]


def merged(segments: Iterable[Segment], gap: float) -> tuple[Segment, ...]:
    """Segments in order; those with no more than `gap` seconds between them become one."""
    found: list[Segment] = []
    for segment in sorted(segments):
        if found and segment.start - found[-1].end <= gap + EPSILON:
            last = found[-1]
            text = " ".join(filter(None, (last.text, segment.text)))
            found[-1] = Segment(last.start, max(last.end, segment.end), text)
        else:
            found.append(segment)
    return tuple(found)


# The document's intervals


def stop_intervals(user: Sequence[Segment], agent: Sequence[Segment]) -> list[Interval]:
    """Where both speak; of several that end at the same millisecond the shortest."""
    best: dict[int, Interval] = {}
    for start, end in overlaps(user, agent):
        key = round(end * 1000)
        if key not in best or end - start < best[key][1] - best[key][0]:
            best[key] = (start, end)
    return sorted(best.values(), key=lambda found: found[1])


def overlaps(user: Sequence[Segment], agent: Sequence[Segment]) -> list[Interval]:
    """Every stretch in which both speak."""
    found = []
    i = j = 0
    while i < len(user) and j < len(agent):
        start, end = max(user[i].start, agent[j].start), min(user[i].end, agent[j].end)
        if end > start:
            found.append((start, end))
        if user[i].end < agent[j].end:
            i += 1
        else:
            j += 1
    return found


def response_intervals(user: Sequence[Segment], agent: Sequence[Segment]) -> list[Interval]:
    """From each end of the user to the agent's next start; of several to one start the one from the latest end."""
    starts = [segment.start for segment in agent]
    best: dict[int, Interval] = {}
    for segment in user:
        place = bisect_right(starts, segment.end)
        if place < len(starts):
            key = round(starts[place] * 1000)
            if key not in best or segment.end > best[key][0]:
                best[key] = (segment.end, starts[place])
    return sorted(best.values(), key=lambda found: found[1])


# What the user did


class Event(NamedTuple):
    """Something the user did that an agent may handle well or badly."""

    number: int
    start: float
    end: float
    kind: str
    spoken: bool = True
    """Whether it is an utterance: a cough or a pause inside one is none."""
    directed: bool = True
    """Whether the user wants an answer."""
    agent_speaks: bool = False
    """When it starts."""


def speaks(segments: Sequence[Segment], moment: float) -> Segment | None:
    """The segment that holds a moment."""
    place = bisect_right(segments, moment, key=lambda segment: segment.start) - 1
    return segments[place] if place >= 0 and segments[place].holds(moment) else None


def user_turns(timeline: Timeline) -> tuple[Segment, ...]:
    """The user's speech; where somebody marked a silence as a pause, the turn goes on behind it."""
    user = merged(timeline.user or (), 0.0)
    pauses = [label for label in timeline.labels if label.kind == PAUSE and label.end > label.start]
    found: list[Segment] = []
    for segment in user if pauses else ():
        last = found[-1] if found else None
        if last and any(p.start < segment.start and p.end > last.end and _is_silence(last, segment, p) for p in pauses):
            found[-1] = Segment(last.start, segment.end, " ".join(filter(None, (last.text, segment.text))))
        else:
            found.append(segment)
    return tuple(found) if pauses else user


def _is_silence(before: Segment, after: Segment, label: Label) -> bool:
    """Whether a label is about the silence between two segments: most of the label, or most of the silence."""
    shared = min(after.start, label.end) - max(before.end, label.start)
    return shared >= COVERED * min(label.end - label.start, after.start - before.end) - EPSILON


def events(timeline: Timeline) -> list[Event]:
    """The user's utterances, each with its kind, and whatever is labelled beside or inside them, by time."""
    user, agent = user_turns(timeline), timeline.agent or ()
    whole: dict[int, Label] = {}
    apart: list[Label] = []
    for label in timeline.labels:
        place = None if label.kind == PAUSE else _covered(user, label)
        if place is None or place in whole:
            apart.append(label)
        else:
            whole[place] = label
    found = []
    for place, segment in enumerate(user):
        about = whole.get(place)
        talking = speaks(agent, segment.start) is not None
        kind = about.kind if about is not None else INTERRUPTION if talking else TURN
        directed = kind not in TO_IGNORE or bool(about and about.directed)
        found.append(Event(0, segment.start, segment.end, kind, True, directed, talking))
    for label in apart:
        talking = speaks(agent, label.start) is not None
        found.append(Event(0, label.start, label.end, label.kind, False, label.directed, talking))
    found.sort(key=lambda event: (event.start, event.end, event.kind))
    return [event._replace(number=number) for number, event in enumerate(found, 1)]


def _covered(user: Sequence[Segment], label: Label) -> int | None:
    """The utterance that a label is about as a whole."""
    best, found = 0.0, None
    first = bisect_right(user, label.start, key=lambda segment: segment.end)
    for place in range(first, len(user)):
        if user[place].start >= label.end:
            break
        shared = min(user[place].end, label.end) - max(user[place].start, label.start)
        if shared > best and shared + EPSILON >= COVERED * user[place].seconds:
            best, found = shared, place
    return found


# Answers


class Answer(NamedTuple):
    """How the agent answered an utterance."""

    event: Event
    latency: float | None
    """From the user's end to the agent's start; None without an answer."""
    counted: bool
    """The last utterance may still have been answered after the recording ended."""


def answers(timeline: Timeline, found: Sequence[Event], patience: float | None = PATIENCE) -> list[Answer]:
    """The agent's answer to every utterance that wants one and after which it is silent.

    The last utterance counts without an answer only if the recording goes on for longer than anybody waits; None as
    `patience` never counts it, as tau-voice does.
    """
    agent = timeline.agent or ()
    starts = [segment.start for segment in agent]
    valid = [e for e in found if e.spoken and e.directed and speaks(agent, e.end) is None]
    made = []
    for place, event in enumerate(valid):
        limit = valid[place + 1].start if place + 1 < len(valid) else None
        at = bisect_left(starts, event.end - EPSILON)
        first = starts[at] if at < len(starts) else None
        if first is not None and (limit is None or first <= limit + EPSILON):
            made.append(Answer(event, max(0.0, first - event.end), True))
        else:
            waited = patience is not None and (timeline.seconds or 0.0) - event.end > patience
            made.append(Answer(event, None, limit is not None or waited))
    return made


class First(NamedTuple):
    """The agent's first words against the end of the user's first sentence."""

    asked: float
    """The end of the sentence."""
    delay: float | None
    """Negative for an early answer; None for an agent that says nothing."""


def first_response(timeline: Timeline, sentence: int = 0) -> First | None:
    """The first response; None where the user says nothing. `sentence` counts the user's sentences from 0.

    Annotated sentences and recognised words go before what is heard.
    """
    heard = user_turns(timeline) if timeline.sentences is None else sorted(timeline.sentences)
    said = (timeline.agent or ()) if timeline.words is None else timeline.words
    if len(heard) <= sentence:
        return None
    asked = heard[sentence].end
    return First(asked, min(said).start - asked if said else None)


# Interruptions


class Outcome(StrEnum):
    """What became of an interruption."""

    YIELDED = "yielded"
    FINISHED = "finished"
    NEVER_STOPPED = "never_stopped"
    PAUSED = "paused_and_resumed"
    SILENT = "was_silent"


class Interruption(NamedTuple):
    """An interruption and what the agent did."""

    event: Event
    outcome: Outcome
    latency: float | None
    """From the user's start to the agent's falling silent, whatever it fell silent for; None if it never did."""
    tells: bool
    """Whether it says anything about yielding: an agent that had finished anyway had nothing to yield."""
    cut_off: bool = False
    """The recording ends before it is clear what the agent would have done."""


def interruptions(
    timeline: Timeline, found: Sequence[Event], window: float = YIELD_WINDOW, reaction: float = REACTION
) -> list[Interruption]:
    """What the agent did at every interruption."""
    agent = merged(timeline.agent or (), 0.0)
    made = []
    for event in found:
        if event.kind != INTERRUPTION:
            continue
        speaking = speaks(agent, event.start)
        if speaking is None:
            made.append(Interruption(event, Outcome.SILENT, None, False))
        elif _to_the_end(timeline, speaking):
            waited = speaking.end - event.start > window + EPSILON
            made.append(Interruption(event, Outcome.NEVER_STOPPED, None, waited, not waited))
        else:
            outcome, tells = _stopped(agent, event, speaking, window, reaction)
            made.append(Interruption(event, outcome, speaking.end - event.start, tells))
    return made


def _stopped(
    agent: Sequence[Segment], event: Event, speaking: Segment, window: float, reaction: float
) -> tuple[Outcome, bool]:
    """What an agent did that fell silent at some time, and whether it tells anything about yielding."""
    latency = speaking.end - event.start
    if latency < reaction - EPSILON:
        return Outcome.FINISHED, False
    if latency > window + EPSILON:
        return (Outcome.FINISHED if speaking.end < event.end else Outcome.NEVER_STOPPED), True
    again = next((one.start for one in agent if one.start > speaking.start), None)
    resumed = again is not None and again < event.end - EPSILON
    return (Outcome.PAUSED if resumed else Outcome.YIELDED), True


def _to_the_end(timeline: Timeline, segment: Segment) -> bool:
    """Whether somebody speaks until the recording is over: nobody knows when they would have stopped."""
    return timeline.seconds is not None and segment.end >= timeline.seconds - 1e-3


def agent_interruptions(timeline: Timeline) -> list[Segment]:
    """What the agent began to say while the user was speaking."""
    user = user_turns(timeline)
    return [segment for segment in timeline.agent or () if speaks(user, segment.start) is not None]


# What should be ignored


class Ignored(NamedTuple):
    """Something the agent should have ignored."""

    event: Event
    correct: bool
    reported: bool
    """Whether tau-voice reports it: of what happens beside the user's speech while the agent talks, only errors."""


def ignored(
    timeline: Timeline, found: Sequence[Event], stop: float = STOP_WINDOW, start: float = START_WINDOW
) -> list[Ignored]:
    """Whether the agent went on, or kept silent, at everything that it should have ignored."""
    agent = merged(timeline.agent or (), 0.0)
    starts = [segment.start for segment in agent]
    made = []
    for event in found:
        if event.kind not in TO_IGNORE:
            continue
        speaking = speaks(agent, event.start)
        if speaking is not None:
            correct = speaking.end - event.start > stop + EPSILON or _to_the_end(timeline, speaking)
            made.append(Ignored(event, correct, event.spoken or not correct))
        else:
            at = bisect_left(starts, event.start - EPSILON)
            answered = at < len(starts) and starts[at] <= event.end + start + EPSILON
            made.append(Ignored(event, not answered, True))
    return made


# Taking the turn


class TakeOver(NamedTuple):
    """Whether the agent took the turn at an event."""

    event: Event
    taken: bool
    latency: float | None
    """From the event's end to the agent's first word; None where it did not take over."""
    words: int | None
    """None where only the speech is known."""
    seconds: float


def take_overs(timeline: Timeline, found: Sequence[Event], seconds: float, words: int) -> list[TakeOver]:
    """Whether what the agent says at each event is a turn of its own, or only a sign of listening.

    What it says from one event to the next counts, at a pause to the end of the user's turn. Pauses that follow each
    other are one question. A benchmark's recording asks one question, and all that the agent says is the answer.
    """
    asked = [event for event in found if event.spoken or event.kind == PAUSE]
    if timeline.labels:
        marked = {(label.start, label.end) for label in timeline.labels}
        asked = [e for e in found if (e.start, e.end) in marked or (e.spoken and _is_labelled(e, timeline.labels))]
    asked = [e for place, e in enumerate(asked) if place == 0 or e.kind != PAUSE or asked[place - 1].kind != PAUSE]
    said = timeline.words if timeline.words is not None else timeline.agent or ()
    starts = [one.start for one in said]
    turns = user_turns(timeline)
    whole = TASK in timeline.metadata and len(asked) == 1
    made = []
    for place, event in enumerate(asked):
        before = asked[place + 1].start if place + 1 < len(asked) else float("inf")
        if event.kind == PAUSE:
            turn = speaks(turns, event.start) or speaks(turns, event.end)
            before = max(event.end, turn.end if turn else event.end)
        first, last = (0, len(said)) if whole else (bisect_left(starts, t - EPSILON) for t in (event.start, before))
        own = said[first:last]
        held = said[first - 1] if first and event.kind in (TURN, PAUSE) else None
        goes_on = held is not None and held.end >= event.end + seconds
        length = own[-1].end - own[0].start if own else 0.0
        n = len(own) if timeline.words is not None else None
        taken = bool(own) and not (length < seconds - EPSILON and (n is None or n <= words))
        latency = own[0].start - event.end if taken else None
        made.append(TakeOver(event, taken or goes_on, latency, n, length))
    return made


def _is_labelled(event: Event, labels: Sequence[Label]) -> bool:
    return any(label.kind == event.kind and label.start < event.end and label.end > event.start for label in labels)
