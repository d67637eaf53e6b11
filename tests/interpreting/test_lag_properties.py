"""What must hold for the lag of any translation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import isclose
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.interpreting import lag
from turnwise.interpreting.lag import Emission

MEASURES: dict[str, Callable[[Emission], float | None]] = {
    name: getattr(lag, name) for name in ("al", "laal", "ap", "dal", "yaal")
}
TIMES = st.integers(0, 20_000).map(float)


@st.composite
def emissions(draw: st.DrawFn) -> Emission:
    delays = sorted(draw(st.lists(TIMES, min_size=1, max_size=30)))
    return Emission(delays, float(draw(st.integers(1, 20_000))), draw(st.integers(1, 30)))


@given(emissions())
def test_putting_out_more_words_than_the_reference_never_lowers_laal_below_al(emission: Emission) -> None:
    al, laal = lag.al(emission), lag.laal(emission)
    assert al is not None
    assert laal is not None
    assert laal >= al or isclose(laal, al)
    if len(emission.delays) <= (emission.reference_words or 0):
        assert laal == al


@given(emissions())
def test_dal_is_its_recurrence_and_never_less_than_the_first_delay(emission: Emission) -> None:
    per_word = emission.source_ms / len(emission.delays)
    shifted = [emission.delays[0]]
    for delay in emission.delays[1:]:
        shifted.append(max(delay, shifted[-1] + per_word))
    dal = lag.dal(emission)
    assert dal is not None
    assert dal == pytest.approx(fmean(delay - place * per_word for place, delay in enumerate(shifted)), abs=1e-6)
    assert dal >= emission.delays[0] - 1e-6


@given(emissions())
def test_yaal_is_there_exactly_if_a_word_comes_before_the_source_ends(emission: Emission) -> None:
    before = [delay for delay in emission.delays if delay < emission.source_ms]
    yaal = lag.yaal(emission)
    assert (yaal is None) is (not before)
    if yaal is not None:  # a word is at most as far behind as it is late, and at most a whole source ahead
        assert -emission.source_ms <= yaal <= before[-1]


@given(emissions(), st.sampled_from(sorted(MEASURES)), st.sampled_from([0.5, 2.0, 4.0]))
def test_time_has_no_scale_of_its_own(emission: Emission, name: str, factor: float) -> None:
    faster = Emission([d * factor for d in emission.delays], emission.source_ms * factor, emission.reference_words)
    before, after = MEASURES[name](emission), MEASURES[name](faster)
    assert (before is None) is (after is None)
    if before is not None:
        assert after == pytest.approx(before if name == "ap" else before * factor, abs=1e-6)


@given(emissions())
def test_a_token_delay_is_between_none_and_all_of_the_delay(emission: Emission) -> None:
    atd = lag.atd(emission)
    assert atd is not None
    assert -1e-6 <= atd <= fmean(emission.delays) + 1e-6


@given(emissions(), st.floats(0, 5000))
def test_waiting_longer_for_every_word_never_lowers_a_lag(emission: Emission, wait: float) -> None:
    later = Emission([d + wait for d in emission.delays], emission.source_ms, emission.reference_words)
    for measure in (lag.ap, lag.dal, lag.start_offset, lag.end_offset):
        before, after = measure(emission), measure(later)
        assert before is not None
        assert after is not None
        assert after >= before - 1e-6


@given(st.lists(TIMES, min_size=1, max_size=20), st.data())
def test_without_computing_the_real_time_is_what_was_read(delays: list[float], data: st.DataObject) -> None:
    read = sorted(delays)
    assert lag.in_real_time(read, read) == read
    # with computing a word is never there before what it needs has been read, nor after SimulEval's elapsed
    computing = data.draw(st.lists(st.integers(0, 500), min_size=len(read), max_size=len(read)))
    elapsed = [start + sum(computing[: rank + 1]) for rank, start in enumerate(read)]
    for start, time, latest in zip(read, lag.in_real_time(read, elapsed), elapsed, strict=True):
        assert start - 1e-6 <= time <= latest + 1e-6


WORDS = st.lists(st.sampled_from("abc"), max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_erasure_counts_revisions_one_by_one(hypotheses: list[list[str]]) -> None:
    value = lag.erasure(hypotheses)
    assert (value is None) is (not hypotheses[-1])
    pairs = pairwise(hypotheses)
    assert lag.erased_words(hypotheses) == sum(lag.erased_words(pair) for pair in pairs)


@given(WORDS, WORDS)
def test_nothing_is_erased_by_going_on(old: list[str], more: list[str]) -> None:
    assert lag.erased_words([old, old + more]) == 0
    assert lag.erased_words([old + more, old]) == len(more)
