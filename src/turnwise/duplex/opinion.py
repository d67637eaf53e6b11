"""What the agent did, where nobody says: what a judge is shown of a conversation, and what its answer comes to.

A label that comes with the data always counts; a judge is asked only where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from turnwise.duplex.categories import Measured, category_named
from turnwise.duplex.records import (
    BACKCHANNEL,
    CONVERSATION,
    INTERRUPTION,
    NOISE,
    NON_DIRECTED,
    VOCAL_TIC,
    Segment,
    Timeline,
)
from turnwise.judge.combine import combine
from turnwise.judge.metric import question, unanswered
from turnwise.judge.records import Judged, Pieces, Question, Rubric, question_key
from turnwise.judge.rubric import packaged_rubric
from turnwise.kernel.score import Measurement, Source, Unit, labelled, skipped

NO_TRANSCRIPT = "nobody says what the agent did, and there is no transcript of both sides to judge it by"
NOTHING_SAID = "(no words)"
_HEARD = {
    **dict.fromkeys((INTERRUPTION, BACKCHANNEL, NON_DIRECTED), "speech"),
    **dict.fromkeys((VOCAL_TIC, NOISE), "a sound"),
}
"""How a judge is told of what somebody labelled: the kind of it would give away what the agent should have done."""


class Opinion(NamedTuple):
    """What a judge says the agent did."""

    found: Measurement
    """Its label, or why there is none."""
    consistency: float | None = None
    """The share of its answers that say so, where it was asked more than once."""


def behaviour_rubric() -> Rubric:
    """What the judge is asked."""
    return packaged_rubric("duplex", "behaviour")


def pieces_of(timeline: Timeline) -> Pieces:
    """What there is to see of a conversation, by the names that rubrics use; None for what is not there."""
    return {
        "category": timeline.category,
        "clean_user": _said(timeline.clean_user),
        "clean_agent": _said(timeline.clean_agent),
        "noisy_user": _first_said(timeline.user_words, timeline.sentences, timeline.user),
        "noisy_agent": _first_said(timeline.words, timeline.agent),
        "events": _events(timeline),
    }


def can_be_asked(timeline: Timeline) -> bool:
    """Whether a judge could say what the agent did, and has to."""
    return isinstance(asked_about(timeline, Unit(timeline.key, timeline.key, {}, CONVERSATION)), Question)


def asked_about(timeline: Timeline, unit: Unit) -> Question | Measurement | None:
    """What the judge is asked, or why it is not; None where nobody needs its answer."""
    category = category_named(timeline.category) if timeline.category else None
    decided_by_times = category is not None and category.measured is Measured.REJECT
    if timeline.behaviour is not None or decided_by_times:
        return None
    asked = question(behaviour_rubric(), unit, pieces_of(timeline))
    return asked if isinstance(asked, Question) else skipped(NO_TRANSCRIPT)


def opinion_of(timeline: Timeline, unit: Unit, judged: Judged) -> Opinion | None:
    """What the judge said; None where it was not asked."""
    if not judged:
        return None
    asked = asked_about(timeline, unit)
    judgement = judged.get(question_key(asked)) if isinstance(asked, Question) else None
    if judgement is None:
        return None
    combined = combine(behaviour_rubric(), judgement)
    if combined is None:
        return Opinion(unanswered(judgement)._replace(source=Source.JUDGE, rater=judgement.model))
    label = combined.scores[behaviour_rubric().primary]
    found = labelled(str(label), evidence=combined.evidence)
    return Opinion(found._replace(source=Source.JUDGE, rater=judgement.model), combined.consistency)


# What it is shown


def _first_said(transcript: Sequence[Segment] | None, *others: Sequence[Segment] | None) -> str | None:
    """A transcript, or the first of other things that have words in them.

    Only a transcript can say that there are no words; speech without words is speech that nobody wrote down.
    """
    own = _said(transcript)
    return next((found for one in others if one and (found := _said(one))), None) if own is None else own


def _said(segments: Sequence[Segment] | None) -> str | None:
    """Every word or stretch with its times on a line; None where nobody wrote down what is said."""
    if segments is None:
        return None
    if not segments:
        return NOTHING_SAID
    if not any(one.text for one in segments):
        return None
    return "\n".join(_line(one.start, one.end, one.text or "(not written down)") for one in segments)


def _line(start: float, end: float, text: str) -> str:
    return f"{start:.2f}-{end:.2f} {' '.join(text.split())}"


def _events(timeline: Timeline) -> str | None:
    """What somebody labelled on the user's side; None where nobody did."""
    found = [
        _line(label.start, label.end, _HEARD[label.kind] + (f": {label.text}" if label.text else ""))
        for label in timeline.labels
        if label.kind in _HEARD
    ]
    return "\n".join(found) or None
