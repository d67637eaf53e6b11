"""How far a translation lags: by hand, and against published values."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

import pytest

from tests.shared_data import shared
from turnwise.interpreting import lag
from turnwise.interpreting.instances import Instance, read_instances
from turnwise.interpreting.lag import Emission

Measure = Callable[[Emission], float | None]

# The two sources of docs/metrics/interpreting: one is followed closely in 5 words where the reference has 4, one is
# translated when it is over. `elapsed` is SimulEval's: what was read, and all computing so far.
CLOSE = Emission([1000, 1000, 2000, 3000, 4000], 4000, 4)
CLOSE_CA = Emission([1200, 1250, 2500, 3700, 5000], 4000, 4, read_ms=CLOSE.delays, cumulative=True)
AFTER = Emission([2000, 2000, 2000], 2000, 3)
AFTER_CA = Emission([2300, 2310, 2320], 2000, 3, read_ms=AFTER.delays, cumulative=True)

MEASURES: dict[str, Measure] = {
    name: getattr(lag, name) for name in ("al", "laal", "ap", "dal", "yaal", "atd", "start_offset", "end_offset")
}
WORD_MEASURES = ("al", "laal", "ap", "dal", "yaal")

# By hand


def test_al() -> None:
    # one word of the reference every 4000 / 4 = 1000 ms; the fifth word comes as the source ends, and is the last one
    lags = [1000 - 0, 1000 - 1000, 2000 - 2000, 3000 - 3000, 4000 - 4000]
    assert lag.al(CLOSE) == sum(lags) / 5 == 200
    assert lag.al(CLOSE_CA) == (1200 + (1250 - 1000) + (2500 - 2000) + (3700 - 3000) + (5000 - 4000)) / 5 == 730
    # the first word at the end of the source is the only one counted; after the end, its delay is the lag
    assert lag.al(AFTER) == 2000
    assert lag.al(AFTER_CA) == 2300


def test_al_counts_no_word_after_the_first_at_the_end_of_the_source() -> None:
    # tau = 2: (500 + 1000 - 1000/2) / 2, however late the others are
    for later in ([], [1000, 1000], [9000, 99000]):
        assert lag.al(Emission([500, 1000, *later], 1000, 2)) == (500 + 500) / 2


def test_laal() -> None:
    # 5 words were put out, 4 are in the reference: one every 4000 / 5 = 800 ms
    assert lag.laal(CLOSE) == (1000 + (1000 - 800) + (2000 - 1600) + (3000 - 2400) + (4000 - 3200)) / 5 == 600
    assert lag.laal(CLOSE_CA) == (1200 + 450 + 900 + 1300 + 1800) / 5 == 1130
    assert lag.laal(AFTER) == 2000
    assert lag.laal(AFTER_CA) == 2300
    # with fewer words than the reference it is AL: one every 1000 / 4 = 250 ms
    short = Emission([250, 750], 1000, 4)
    assert lag.laal(short) == lag.al(short) == (250 + (750 - 250)) / 2


def test_yaal() -> None:
    # as LAAL, without the word that comes as the source ends
    assert lag.yaal(CLOSE) == (1000 + 200 + 400 + 600) / 4 == 550
    assert lag.yaal(CLOSE_CA) == (1200 + 450 + 900 + 1300) / 4 == 962.5
    assert lag.yaal(AFTER) is None
    assert lag.yaal(AFTER_CA) is None


def test_yaal_in_a_segment_counts_words_until_the_recording_ends() -> None:
    # one every 1000 / 4 = 250 ms; 1500 and 3000 are after the segment but before the end of the recording
    delays = [500, 1500, 3000, 4000]
    assert lag.yaal(Emission(delays, 1000, 4)) == 500
    assert lag.yaal(Emission(delays, 1000, 4, recording_ms=4000)) == (500 + 1250 + 2500) / 3
    assert lag.yaal(Emission(delays, 1000, 4, recording_ms=500)) is None
    # a segment that is translated when it is over
    late = Emission([2000, 2500, 2500, 2500], 1000, 4, recording_ms=9000)
    assert lag.yaal(late) == (2000 + 2250 + 2000 + 1750) / 4 == 2000


def test_ap() -> None:
    assert lag.ap(CLOSE) == (1000 + 1000 + 2000 + 3000 + 4000) / (4000 * 4) == 0.6875
    assert lag.ap(CLOSE_CA) == (1200 + 1250 + 2500 + 3700 + 5000) / (4000 * 4) == 0.853125
    assert lag.ap(AFTER) == 1
    assert lag.ap(AFTER_CA) == 6930 / 6000


def test_dal() -> None:
    # d' with 4000 / 5 = 800 ms per word: 1000, 1800, 2600, 3400, 4200, so every word is 1000 behind
    assert lag.dal(CLOSE) == 1000
    # 1200, 2000, 2800, 3700, 5000 less 0, 800, 1600, 2400, 3200
    assert lag.dal(CLOSE_CA) == (1200 + 1200 + 1200 + 1300 + 1800) / 5 == 1340
    assert lag.dal(AFTER) == pytest.approx(2000)
    assert lag.dal(AFTER_CA) == pytest.approx(2300)


def test_atd() -> None:
    # The source is read in four chunks of 1000 ms, each 300 + 300 + 300 + 100. The output is never ahead of them, so
    # output word t belongs to source word t; those end at 300, 600, 900, 1000, 1300.
    assert lag.atd(CLOSE) == ((1000 - 300) + (1000 - 600) + (2000 - 900) + (3000 - 1000) + (4000 - 1300)) / 5 == 1380
    # one chunk of 2000 ms
    assert lag.atd(AFTER) == ((2000 - 300) + (2000 - 600) + (2000 - 900)) / 3 == 1400


def test_atd_of_an_output_that_is_ahead_of_the_source() -> None:
    # Chunk 1 is one source word (300 ms): all three output words belong to it, a(t) = min(t, 1).
    # Chunk 2 (300 to 600 ms) is the second; 3 - 1 = 2 words are ahead, a(4) = min(4 - 2, 2) = 2, a(5) = min(3, 2) = 2.
    ahead = Emission([300, 300, 300, 600, 600], 600, 5)
    assert lag.atd(ahead) == (0 + 0 + 0 + 0 + 0) / 5
    # the same with every word 100 ms later on the clock
    late = Emission([400, 400, 400, 700, 700], 600, 5, read_ms=ahead.delays)
    assert lag.atd(late) == 100


def test_atd_on_simuleval_s_elapsed_takes_out_computing_during_the_source() -> None:
    # computing since the word before: 200, 50, 250, 200, 300; words come at
    times = [1000 + 200, 1200 + 50, 2000 + 250, 3000 + 200, 4000 + 300]
    assert lag.in_real_time(CLOSE.delays, CLOSE_CA.delays) == times
    ends_of_source_words = [300, 600, 900, 1000, 1300]
    by_hand = sum(time - end for time, end in zip(times, ends_of_source_words, strict=True)) / 5
    assert lag.atd(CLOSE_CA) == by_hand == (900 + 650 + 1350 + 2200 + 3000) / 5
    assert lag.atd(AFTER_CA) == ((2300 - 300) + (2310 - 600) + (2320 - 900)) / 3


def test_atd_on_a_clock() -> None:
    # A live call: what had been heard is the time itself, up to the end of the source (900 ms). Words at 600, 1100 and
    # 2000: chunks of 600 ms (300, 600) and 300 ms (900); a = 1, 2, 3.
    assert lag.atd(Emission([600, 1100, 2000], 900, 3)) == ((600 - 300) + (1100 - 600) + (2000 - 900)) / 3


def test_atd_of_speech() -> None:
    # 700 ms come at 600 ms: words of 300, 300 and 100 ms that end at 900, 1200, 1300. 300 ms come at 1200 and are
    # played after them, until 1600. Source words end at 300, 600 | 900, 1200. In the second chunk the output is
    # 3 - 2 = 1 word ahead: a = 1, 2, 2, min(4 - 1, 4) = 3.
    speech = Emission([600, 1200], 1200, None, durations=[700, 300])
    assert lag.atd(speech) == ((900 - 300) + (1200 - 600) + (1300 - 600) + (1600 - 900)) / 4


def test_offsets() -> None:
    assert [lag.start_offset(one) for one in (CLOSE, CLOSE_CA, AFTER, AFTER_CA)] == [1000, 1200, 2000, 2300]
    assert [lag.end_offset(one) for one in (CLOSE, CLOSE_CA, AFTER, AFTER_CA)] == [0, 5000 - 4000, 0, 2320 - 2000]
    assert lag.end_offset(Emission([100, 200], 1000, 2)) == 200 - 1000
    # speech is played: 500 ms from 600, then 400 ms from 1100 (it came at 700)
    assert lag.end_offset(Emission([600, 700], 1000, None, durations=[500, 400])) == 600 + 500 + 400 - 1000


def test_erasure() -> None:
    hypotheses = [
        ["the", "bank"],
        ["the", "shore"],  # bank
        ["the", "shore", "of", "a", "lake"],  # nothing
        ["the", "shore", "of", "the", "lake"],  # a lake
        ["the", "shore", "of", "the"],  # lake
    ]
    assert lag.erased_words(hypotheses) == 1 + 0 + 2 + 1
    assert lag.erasure(hypotheses) == 4 / 4
    assert lag.erasure(hypotheses[:3]) == 1 / 5
    assert lag.erasure([["the", "shore"]]) == 0
    assert lag.erasure([[], ["the"], ["the", "shore"]]) == 0


# Where there is nothing to measure


@pytest.mark.parametrize("name", MEASURES)
def test_no_output_has_no_lag(name: str) -> None:
    assert MEASURES[name](Emission([], 4000, 4)) is None
    assert MEASURES[name](Emission([], 4000, None, durations=[])) is None


@pytest.mark.parametrize("name", ["al", "laal", "ap", "yaal"])
@pytest.mark.parametrize("reference_words", [None, 0])
def test_what_needs_a_reference(name: str, reference_words: int | None) -> None:
    assert MEASURES[name](Emission([1000, 2000], 4000, reference_words)) is None


def test_what_needs_no_reference() -> None:
    without = Emission(CLOSE.delays, CLOSE.source_ms, None)
    for measure in (lag.dal, lag.atd, lag.start_offset, lag.end_offset):
        assert measure(without) == measure(CLOSE)


@pytest.mark.parametrize("name", [*WORD_MEASURES, "atd"])
def test_a_source_without_a_length(name: str) -> None:
    assert MEASURES[name](Emission([1000], 0, 1)) is None


@pytest.mark.parametrize("name", WORD_MEASURES)
def test_pieces_of_speech_are_no_words(name: str) -> None:
    assert MEASURES[name](Emission([1000], 4000, 4, durations=[500])) is None


def test_no_erasure_of_nothing() -> None:
    assert lag.erasure([]) is None
    assert lag.erasure([[]]) is None
    assert lag.erasure([["the"], []]) is None  # what there was is gone: there is nothing to divide by


# Against other tools

PUBLISHED = {
    "al": (1803.9192, 2021.1781),
    "laal": (1857.7128, 2071.7031),
    "ap": (0.7948, 0.8903),
    "dal": (3532.4812, 3883.0303),
    "yaal": (1135.6097, 1272.7485),
}
"""evaluation_output/scores.tsv: OmniSTEval 0.1.7, computation-unaware and -aware."""
BY_SIMULEVAL = {
    "atd": (2443.7074, 2702.1450),
    "start_offset": (1401.8753, 1494.6812),
    "end_offset": (0.0, 533.5567),
}
"""The same log by simuleval 1.1.4 (ATD, StartOffset, EndOffset), without and with computation_aware."""


@pytest.fixture(scope="module")
def published_log() -> list[Instance]:
    return list(read_instances(shared("simulst", "short_form", "instances.log")))


def mean_of(measure: Measure, emissions: list[Emission | None]) -> float:
    values = [measure(emission) for emission in emissions if emission is not None]
    return fmean(value for value in values if value is not None)


@pytest.mark.parametrize(("name", "expected"), [*PUBLISHED.items(), *BY_SIMULEVAL.items()])
def test_published_values(name: str, expected: tuple[float, float], published_log: list[Instance]) -> None:
    unaware = mean_of(MEASURES[name], [instance.unaware for instance in published_log])
    aware = mean_of(MEASURES[name], [instance.aware for instance in published_log])
    assert (round(unaware, 4), round(aware, 4)) == expected


def test_the_published_numbers_are_the_published_ones() -> None:
    text = shared("simulst", "short_form", "evaluation_output", "scores.tsv").read_text("utf-8")
    scores = dict(line.split("\t") for line in text.splitlines())
    for name, (unaware, aware) in PUBLISHED.items():
        assert float(scores[f"{name.upper()} (CU)"]) == unaware
        assert float(scores[f"{name.upper()} (CA)"]) == aware
