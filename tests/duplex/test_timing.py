"""Who spoke when and what follows: against slow implementations of the definitions, and with arithmetic in sight."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.duplex.records import (
    BACKCHANNEL,
    INTERRUPTION,
    KINDS,
    NOISE,
    NON_DIRECTED,
    PAUSE,
    TO_IGNORE,
    TURN,
    VOCAL_TIC,
    Label,
    Segment,
    Timeline,
    kind_named,
)
from turnwise.duplex.timing import (
    AGENT_GAP,
    USER_GAP,
    Interval,
    Outcome,
    agent_interruptions,
    answers,
    events,
    first_response,
    ignored,
    interruptions,
    merged,
    overlaps,
    response_intervals,
    speaks,
    stop_intervals,
    take_overs,
)
from turnwise.kernel.errors import UsageError


def spans(*pairs: tuple[float, float]) -> tuple[Segment, ...]:
    return tuple(Segment(start, end) for start, end in pairs)


def talk(user: Sequence[tuple[float, float]], agent: Sequence[tuple[float, float]], *labels: Label) -> Timeline:
    return Timeline("k", user=spans(*user), agent=spans(*agent), labels=labels)


@st.composite
def speech(draw: st.DrawFn, unit: float = 0.25) -> tuple[Segment, ...]:
    """In order, without overlaps, perhaps touching; times are multiples of a unit."""
    found, at = [], draw(st.integers(0, 8))
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 12)), max_size=6)):
        found.append(Segment((at + gap) * unit, (at + gap + length) * unit))
        at += gap + length
    return tuple(found)


# --- segments -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gap", "limit"), [(USER_GAP, 0.6), (AGENT_GAP, 0.5)])
def test_gaps_up_to_the_limit_are_closed(gap: float, limit: float) -> None:
    assert gap == limit
    assert merged(spans((0, 1), (1 + limit, 3)), gap) == spans((0, 3))
    assert merged(spans((0, 1), (1 + limit + 0.001, 3)), gap) == spans((0, 1), (1 + limit + 0.001, 3))


def test_merging_sorts_and_keeps_what_was_said() -> None:
    given = [Segment(5, 6, "c"), Segment(0, 4, "a"), Segment(1, 2, "b")]  # b lies inside a; c is 1 s after it
    assert merged(given, 0.6) == (Segment(0, 4, "a b"), Segment(5, 6, "c"))
    assert merged(given, 1.0) == (Segment(0, 6, "a b c"),)
    assert merged([], 0.6) == ()


def test_a_segment_holds_its_start_and_not_its_end() -> None:
    found = spans((1, 2), (2, 3), (4, 5))
    assert [speaks(found, at) for at in (0.9, 1, 1.9, 2, 2.9, 3, 4, 5)] == [
        *(None, found[0], found[0], found[1], found[1], None, found[2], None)
    ]
    assert speaks((), 0) is None


# --- the document's intervals -------------------------------------------------------------------------------


def every_overlap(user: Sequence[Segment], agent: Sequence[Segment]) -> list[Interval]:
    pairs = [(max(u.start, a.start), min(u.end, a.end)) for u in user for a in agent]
    return sorted(pair for pair in pairs if pair[0] < pair[1])


def shortest_by_end(found: Sequence[Interval]) -> list[Interval]:
    """Of several with the same end (to the millisecond) the shortest stays."""
    kept = []
    for start, end in found:
        rivals = [other for other in found if round(other[1] * 1000) == round(end * 1000)]
        if end - start == min(other[1] - other[0] for other in rivals):
            kept.append((start, end))
    return kept


def every_answer(user: Sequence[Segment], agent: Sequence[Segment]) -> list[Interval]:
    """For each user segment the first agent segment strictly after its end; of several to one start the latest end."""
    found = []
    for one in user:
        later = [other.start for other in agent if other.start > one.end]
        if later:
            found.append((one.end, min(later)))
    return sorted((max(end for end, at in found if at == start), start) for start in {at for _, at in found})


@given(speech(), speech())
def test_overlaps_are_those_of_all_pairs(user: tuple[Segment, ...], agent: tuple[Segment, ...]) -> None:
    assert sorted(overlaps(user, agent)) == every_overlap(user, agent)
    assert sorted(stop_intervals(user, agent)) == every_overlap(user, agent)  # no two end together on this grid


@given(speech(0.0003), speech(0.0003))
def test_of_overlaps_that_end_in_the_same_millisecond_the_shortest_stays(
    user: tuple[Segment, ...], agent: tuple[Segment, ...]
) -> None:
    found = stop_intervals(user, agent)
    ends = [round(end * 1000) for _, end in found]
    assert len(set(ends)) == len(ends)
    lengths = {round(end * 1000): end - start for start, end in shortest_by_end(every_overlap(user, agent))}
    assert {round(end * 1000): end - start for start, end in found} == lengths


@given(speech(), speech())
def test_responses_are_the_next_starts(user: tuple[Segment, ...], agent: tuple[Segment, ...]) -> None:
    assert response_intervals(user, agent) == every_answer(user, agent)


def test_the_intervals_of_a_conversation() -> None:
    user, agent = spans((0, 2), (2.5, 4), (6, 7)), spans((3, 3.5), (3.75, 6.25), (7, 8), (9, 10))
    # 3-3.5 and 3.75-4 inside the second utterance, 6-6.25 inside the third
    assert stop_intervals(user, agent) == [(3, 3.5), (3.75, 4), (6, 6.25)]
    # 2 -> 3; 4 -> 7 (not 3.75: that began before); 7 -> 9, for a start at 7 is not after 7
    assert response_intervals(user, agent) == [(2, 3), (4, 7), (7, 9)]
    # both utterances end before the same start: the latest end stays
    assert response_intervals(spans((0, 1), (1.5, 2)), spans((3, 4))) == [(2, 3)]
    assert stop_intervals(user, ()) == response_intervals(user, ()) == []


# --- what the user did --------------------------------------------------------------------------------------


def kinds(timeline: Timeline) -> list[tuple[str, bool, bool]]:
    return [(event.kind, event.spoken, event.directed) for event in events(timeline)]


def test_without_labels_who_speaks_into_the_agents_speech_interrupts() -> None:
    timeline = talk([(0, 1), (3, 4), (5, 6)], [(2, 3.5), (5, 7)])
    assert kinds(timeline) == [(TURN, True, True), (INTERRUPTION, True, True), (INTERRUPTION, True, True)]
    # the agent's end does not belong to its speech
    assert kinds(talk([(3.5, 4)], [(2, 3.5)])) == [(TURN, True, True)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_says_what_an_utterance_is(kind: str) -> None:
    found = kinds(talk([(0, 2)], [], Label(0, 2, kind)))
    if kind == PAUSE:  # a pause is inside an utterance and never one
        assert sorted(found) == [(PAUSE, False, False), (TURN, True, True)]
    else:
        assert found == [(kind, True, kind not in TO_IGNORE)]


def test_a_label_on_half_of_an_utterance_is_about_all_of_it() -> None:
    user = [(0.0, 2.0)]
    assert kinds(talk(user, [], Label(0.0, 1.0, BACKCHANNEL))) == [(BACKCHANNEL, True, False)]
    apart = kinds(talk(user, [], Label(0.0, 0.9, BACKCHANNEL)))
    assert apart == [(BACKCHANNEL, False, False), (TURN, True, True)]  # by start, then by end
    # of two utterances that it covers, the label is about the one it shares more with
    assert kinds(talk([(0, 1), (1.5, 4)], [], Label(0.2, 4, NON_DIRECTED))) == [
        *((TURN, True, True), (NON_DIRECTED, True, False))
    ]


def test_a_second_label_on_an_utterance_is_an_event_of_its_own() -> None:
    found = kinds(talk([(0, 2)], [], Label(0, 2, TURN), Label(0.5, 2, VOCAL_TIC)))
    assert found == [(TURN, True, True), (VOCAL_TIC, False, False)]


def test_what_is_labelled_beside_speech_is_no_utterance() -> None:
    timeline = talk([(0, 1)], [(2, 6)], Label(3, 3.5, NOISE), Label(4, 5, BACKCHANNEL))
    found = events(timeline)
    assert [(e.number, e.kind, e.spoken, e.agent_speaks) for e in found] == [
        *((1, TURN, True, False), (2, NOISE, False, True), (3, BACKCHANNEL, False, True))
    ]


def test_speech_with_a_cough_in_it_may_still_want_an_answer() -> None:
    cough = Label(0, 2, VOCAL_TIC, directed=True)
    assert kinds(talk([(0, 2)], [], cough)) == [(VOCAL_TIC, True, True)]


@pytest.mark.parametrize(
    ("pause", "one_turn"),
    [
        ((1.0, 2.0), True),  # the silence between the two
        ((1.2, 1.5), True),  # a part of it
        ((0.8, 2.4), True),  # all of it and more
        ((0.5, 0.9), False),  # inside the first
        ((3.1, 3.5), False),  # behind both
    ],
)
def test_a_turn_goes_on_behind_a_marked_pause(pause: tuple[float, float], one_turn: bool) -> None:
    timeline = talk([(0.0, 1.0), (2.0, 3.0)], [], Label(*pause, PAUSE))
    turns = [event for event in events(timeline) if event.spoken]
    assert [(one.start, one.end) for one in turns] == ([(0.0, 3.0)] if one_turn else [(0.0, 1.0), (2.0, 3.0)])


def test_the_names_of_kinds() -> None:
    assert kind_named(" Barge-In ") == INTERRUPTION
    assert kind_named("non_directed_phrase") == kind_named("talking to other") == NON_DIRECTED
    with pytest.raises(UsageError, match="did you mean") as caught:
        kind_named("backchanel")
    assert "backchannel" in str(caught.value)


# --- answers ------------------------------------------------------------------------------------------------


def answered(timeline: Timeline) -> list[tuple[float | None, bool]]:
    return [(one.latency, one.counted) for one in answers(timeline, events(timeline))]


def test_an_answer_comes_not_later_than_the_users_next_turn() -> None:
    user = [(0.0, 2.0), (5.0, 6.0)]
    assert answered(talk(user, [(3, 4), (7, 8)])) == [(1.0, True), (1.0, True)]
    assert answered(talk(user, [(5, 5.5), (7, 8)])) == [(3.0, True), (1.0, True)]  # at the very start: inclusive
    assert answered(talk(user, [(5.25, 5.5), (7, 8)])) == [(None, True), (1.0, True)]


def test_a_last_turn_without_an_answer_is_not_counted() -> None:
    assert answered(talk([(0, 2), (5, 6)], [(3, 4)])) == [(1.0, True), (None, False)]
    assert answered(talk([(0, 2)], [])) == [(None, False)]


def test_a_turn_at_whose_end_the_agent_speaks_is_none_to_answer() -> None:
    # the agent takes over at 1.5 and still speaks at 2; it falls silent exactly at 6, where the second turn ends
    assert answered(talk([(0, 2), (5, 6)], [(1.5, 3), (4, 6), (7, 8)])) == [(1.0, True)]


def test_what_wants_no_answer_neither_has_one_nor_ends_the_time_for_one() -> None:
    aside = Label(3, 4, NON_DIRECTED)
    assert answered(talk([(0, 2), (3, 4)], [(5, 6)], aside)) == [(3.0, True)]
    assert answered(talk([(0, 2), (3, 4)], [(5, 6)])) == [(None, True), (1.0, True)]  # without the label


def test_the_first_response() -> None:
    timeline = Timeline("k", user=spans((0, 2), (3, 4)), agent=spans((5, 6)))
    assert first_response(timeline) == (2.0, 3.0)  # the end of the sentence, and 5 - 2
    assert first_response(timeline, sentence=1) == (4.0, 1.0)
    assert first_response(timeline, sentence=2) is None  # the user says no third sentence
    annotated = Timeline("k", user=spans((0, 4)), agent=spans((1, 6)), sentences=spans((0, 1.5)), words=spans((1, 2)))
    assert first_response(annotated) == (1.5, -0.5)
    silent = Timeline("k", user=spans((0, 4)), agent=spans((5, 6)), words=())
    assert first_response(silent) == (4.0, None)
    assert first_response(Timeline("k", user=spans((0, 4)), agent=spans((5, 6)), sentences=())) is None


# --- interruptions ------------------------------------------------------------------------------------------


def outcomes(timeline: Timeline) -> list[tuple[Outcome, float | None, bool]]:
    return [(one.outcome, one.latency, one.tells) for one in interruptions(timeline, events(timeline))]


@pytest.mark.parametrize(
    ("agent", "outcome", "latency", "tells"),
    [
        ([(0, 4.3), (8, 9)], Outcome.YIELDED, 0.3, True),
        ([(0, 4.1), (8, 9)], Outcome.YIELDED, 0.1, True),  # a reaction takes 0.1 s: inclusive
        ([(0, 4.05), (8, 9)], Outcome.FINISHED, 0.05, False),  # it had finished anyway
        ([(0, 6.0), (8, 9)], Outcome.YIELDED, 2.0, True),  # within 2 s: inclusive
        ([(0, 6.1), (8, 9)], Outcome.FINISHED, 2.1, True),  # while the user speaks, but not for them
        ([(0, 7.5), (8, 9)], Outcome.NEVER_STOPPED, 3.5, True),  # the user's 4-7 was in vain
        ([(0, 4.3), (5, 9)], Outcome.PAUSED, 0.3, True),  # it begins again at 5, and the user speaks until 7
        ([(0, 4.3), (7, 9)], Outcome.YIELDED, 0.3, True),  # at the user's end it may
    ],
)
def test_what_became_of_an_interruption(
    agent: list[tuple[float, float]], outcome: Outcome, latency: float, tells: bool
) -> None:
    assert outcomes(talk([(4, 7)], agent)) == [(outcome, pytest.approx(latency), tells)]


def test_an_interruption_of_a_silent_agent() -> None:
    assert outcomes(talk([(4, 7)], [(0, 4)], Label(4, 7, INTERRUPTION))) == [(Outcome.SILENT, None, False)]
    assert outcomes(talk([(4, 7)], [(0, 4)])) == []  # without the label it is a turn


def test_the_windows_can_be_set() -> None:
    timeline = talk([(4, 7)], [(0, 4.3)])
    found = events(timeline)
    assert interruptions(timeline, found, window=0.25)[0].outcome is Outcome.FINISHED
    assert interruptions(timeline, found, reaction=0.5)[0].tells is False


def test_a_recording_that_ends_while_the_agent_speaks_does_not_show_when_it_stops() -> None:
    for end, enough in ((7.0, True), (6.1, True), (6.0, False), (5.0, False)):  # more than 2 s after 4, or less
        timeline = Timeline("k", user=spans((4, 4.5)), agent=spans((0, end)), seconds=end)
        assert outcomes(timeline) == [(Outcome.NEVER_STOPPED, None, enough)]
        (found,) = interruptions(timeline, events(timeline))
        assert found.cut_off is not enough


def test_segments_that_touch_are_no_silence() -> None:
    """Annotators write one interval per sentence: the agent speaks from 0 to 8 without a pause."""
    (whole,) = outcomes(talk([(4, 4.75)], [(0, 8)]))
    (parts,) = outcomes(talk([(4, 4.75)], [(0, 4.5), (4.5, 8)]))
    assert whole == (Outcome.NEVER_STOPPED, 4.0, True)
    assert parts == whole


@given(speech(), speech())
def test_an_agent_interrupts_by_beginning_while_the_user_speaks(
    user: tuple[Segment, ...], agent: tuple[Segment, ...]
) -> None:
    timeline = Timeline("k", user=user, agent=agent)
    expected = [one for one in agent if any(u.start <= one.start < u.end for u in user)]
    assert agent_interruptions(timeline) == expected


# --- what should be ignored ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TO_IGNORE)
@pytest.mark.parametrize(
    ("agent", "correct"),
    [
        ([(0, 5.0)], False),  # falls silent 1.0 s after the start at 4: inclusive
        ([(0, 5.1)], True),
        ([(0, 3)], True),  # silent before, and after
        ([(0, 3), (4, 6)], True),  # begins with it, so it speaks when it starts, and goes on for more than 1 s
        ([(0, 3), (4.25, 6)], False),  # begins during it
        ([(0, 3), (6.5, 8)], False),  # 2.0 s after the end at 4.5: inclusive
        ([(0, 3), (6.6, 8)], True),
        ([], True),
    ],
)
def test_going_on_and_keeping_silent_are_right(kind: str, agent: list[tuple[float, float]], correct: bool) -> None:
    speaking = any(start <= 4 < end for start, end in agent)
    for user in ([(4.0, 4.5)], []):  # an utterance; a sound beside all utterances
        timeline = talk(user, agent, Label(4.0, 4.5, kind))
        (found,) = ignored(timeline, events(timeline))
        assert found.correct is correct, agent
        # tau-voice does not report what is rightly talked over beside the user's speech
        assert found.reported is (bool(user) or not correct or not speaking)


# --- taking the turn ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        ([], False),
        ([(5, 5.9)], False),  # 0.9 s, one word
        ([(5, 5.2), (5.3, 5.5), (5.6, 5.9)], False),  # three words in 0.9 s: a sign of listening
        ([(5, 5.2), (5.2, 5.4), (5.4, 5.6), (5.6, 5.9)], True),  # four words
        ([(5, 6)], True),  # one word of 1.0 s
        ([(5, 5.2), (5.8, 6.0)], True),  # 1.0 s from the first word's start to the last one's end
    ],
)
def test_a_turn_has_a_second_or_more_than_three_words(words: list[tuple[float, float]], taken: bool) -> None:
    label = Label(2, 4, TURN)
    timeline = Timeline("k", user=spans((2, 4)), agent=spans((5, 6)), labels=(label,), words=spans(*words))
    (found,) = take_overs(timeline, events(timeline), 1.0, 3)
    assert found.taken is taken
    assert found.words == len(words)
    assert found.latency == (1.0 if taken else None)  # 5 - 4


def test_where_only_speech_is_known_its_length_counts() -> None:
    for end, taken in ((5.9, False), (6.0, True)):
        timeline = talk([(2, 4)], [(5, end)], Label(2, 4, TURN))
        (found,) = take_overs(timeline, events(timeline), 1.0, 3)
        assert (found.taken, found.words) == (taken, None)
