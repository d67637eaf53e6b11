"""How far a simultaneous translation lags behind its source, and how much of it is taken back: pure functions.

Each takes one translated source and gives a number, or None where the measure is not defined. All times are
milliseconds from the beginning of the source. Whether a time counts the work of the machine is the caller's choice: the
same functions are computation-unaware on SimulEval's `delays` and computation-aware on its `elapsed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from math import inf
from operator import itemgetter

TOKEN_MS = 300.0
"""Length of a piece of speech that stands for a word in `atd` (Kano et al.; SimulEval takes the same)."""
SLIVER_MS = 1e-6
"""A rest of speech as short as this comes from rounding, and is no word of its own."""


@dataclass(frozen=True, slots=True)
class Emission:
    """When the translation of one source came out."""

    delays: Sequence[float]
    """When each output word came; with `durations`, when each piece of speech came."""
    source_ms: float
    """How long the source lasts."""
    reference_words: int | None
    """Words of the reference translation; None where there is none."""
    durations: Sequence[float] | None = None
    """How long each piece of a spoken output lasts; None for text. What counts words is not defined for pieces."""
    read_ms: Sequence[float] | None = None
    """How much of the source had been read at each of `delays`, where those are another clock; None: they say it."""
    cumulative: bool = False
    """Whether `delays` are `read_ms` plus all computing so far, as SimulEval's `elapsed`, and not a real clock.

    SimulEval does not wait for the source, so time that was spent computing while the speaker spoke on counts again for
    every later word. Only `atd` undoes that, as SimulEval does."""
    recording_ms: float | None = None
    """Where the source is a segment of a recording: the end of the recording, from the beginning of the segment."""


def al(emission: Emission) -> float | None:
    """Average Lagging: how far each word is behind a translation that keeps pace with the speaker.

    `AL = 1/tau sum_{i=1..tau} (d_i - (i-1) X/R)`, X the length of the source, R words of the reference, tau the first
    word at or after the end of the source (else the last). If already the first word comes after the end, AL = d_1.

    Source: Ma et al. 2019 (STACL); for speech Ma et al. 2020 (SimulEval).
    """
    return _average_lagging(emission, emission.reference_words)


def laal(emission: Emission) -> float | None:
    """Length-Adaptive Average Lagging: AL at the pace `max(n, R) / X`, so that n > R output words earn nothing.

    Source: Papi et al. 2022; Polák et al. 2022.
    """
    return _average_lagging(emission, _longer(emission))


def yaal(emission: Emission) -> float | None:
    """Yet Another Average Lagging: LAAL over the words that come before the source ends; None if there are none.

    `YAAL = 1/tau sum_{i=1..tau} (d_i - (i-1) X/max(n, R))`, tau the last word before the first with `d_i >= X`. In a
    segment of a recording words count until the recording ends (LongYAAL).

    Source: Polák et al. 2025.
    """
    words = _longer(emission)
    if words is None or not _counts_words(emission):
        return None
    end = emission.source_ms if emission.recording_ms is None else emission.recording_ms
    before = next((place for place, delay in enumerate(emission.delays) if delay >= end), len(emission.delays))
    return _mean_lag(emission.delays, before, emission.source_ms / words) if before else None


def ap(emission: Emission) -> float | None:
    """Average Proportion: the share of the source that a word waits for, `sum d_i / (X R)`.

    Source: Cho and Esipova 2016.
    """
    if not emission.reference_words or not _counts_words(emission):
        return None
    return sum(emission.delays) / (emission.source_ms * emission.reference_words)


def dal(emission: Emission) -> float | None:
    """Differentiable Average Lagging: as AL over all words, but a word takes its time before the next can come.

    `d'_1 = d_1, d'_i = max(d_i, d'_{i-1} + X/n)`, `DAL = 1/n sum (d'_i - (i-1) X/n)`. Taking (i-1) X/n off both sides,
    a word's lag is the largest of the lags up to it, which is what is computed.

    Source: Arivazhagan et al. 2019; Cherry and Foster 2019.
    """
    if not _counts_words(emission):
        return None
    step = emission.source_ms / len(emission.delays)
    lags = (delay - place * step for place, delay in enumerate(emission.delays))
    return sum(accumulate(lags, max)) / len(emission.delays)


def atd(emission: Emission) -> float | None:
    """Average Token Delay: how long after a word of the source the output word of the same rank ends.

    `ATD = 1/n sum_t (T(y_t) - T(x_a(t)))`. The source is cut into chunks, each what was read between two outputs, and a
    chunk into words of 300 ms (the last one is what is left); T is when a word ends. With c the chunk of y_t, X_c and
    Y_c the words of source and output up to the end of it:
    `a(t) = min(t - max(0, Y_{c-1} - X_{c-1}), X_c)`. A word of text ends as it comes; speech is cut into words of
    300 ms like the source, and a word starts after the one before has ended.

    Source: Kano et al. 2023; SimulEval's reading of it.
    """
    if not len(emission.delays) or emission.source_ms <= 0:
        return None
    read_ms = emission.delays if emission.read_ms is None else emission.read_ms
    times = in_real_time(read_ms, emission.delays) if emission.cumulative else emission.delays
    end = emission.source_ms
    heard = [read if 0.0 <= read <= end else min(max(read, 0.0), end) for read in read_ms]
    if emission.durations is None:
        return _delay_of_text(heard, times)
    return _delay_of_speech(_chunks_of_speech(heard, times, emission.durations))


def start_offset(emission: Emission) -> float | None:
    """When the first word comes (SimulEval's StartOffset)."""
    return float(emission.delays[0]) if len(emission.delays) else None


def end_offset(emission: Emission) -> float | None:
    """How long after the source the output ends, or has been played; negative if before (SimulEval's EndOffset)."""
    if not len(emission.delays):
        return None
    end = emission.delays[-1] if emission.durations is None else _played(emission.delays, emission.durations)
    return end - emission.source_ms


def erased_words(hypotheses: Sequence[Sequence[str]]) -> int:
    """Words taken back over all revisions: each costs what its predecessor had after the first word that changed."""
    return sum(len(old) - _common_prefix(old, new) for old, new in pairwise(hypotheses))


def erasure(hypotheses: Sequence[Sequence[str]]) -> float | None:
    """Normalised erasure: words taken back over all revisions, per word of the final one.

    `NE = 1/|o_I| sum_{i=2..I} (|o_{i-1}| - |LCP(o_{i-1}, o_i)|)`, LCP the longest common prefix.

    Source: Arivazhagan et al. 2020.
    """
    if not hypotheses or not len(hypotheses[-1]):
        return None
    return erased_words(hypotheses) / len(hypotheses[-1])


def in_real_time(read_ms: Sequence[float], elapsed: Sequence[float]) -> list[float]:
    """When each word would come if the system had to wait for the source, from SimulEval's cumulative `elapsed`.

    `t_i = max(r_i, t_{i-1}) + c_i`, where `c_i = (e_i - r_i) - (e_{i-1} - r_{i-1})` is the computing since word i-1.
    """
    times: list[float] = []
    spent = 0.0
    for read, end in zip(read_ms, elapsed, strict=True):
        start = max(read, times[-1]) if times else read
        times.append(start + (end - read) - spent)
        spent = end - read
    return times


def _counts_words(emission: Emission) -> bool:
    """Whether there are words, and a source to set them against."""
    return emission.durations is None and len(emission.delays) > 0 and emission.source_ms > 0


def _longer(emission: Emission) -> int | None:
    """Words of the output or of the reference, whichever has more; None without a reference."""
    return max(len(emission.delays), emission.reference_words) if emission.reference_words else None


def _played(times: Sequence[float], durations: Sequence[float]) -> float:
    """When the last piece of speech has been played: none starts before the one before has ended."""
    end = -inf
    for time, duration in zip(times, durations, strict=True):
        end = max(time, end) + duration
    return end


def _average_lagging(emission: Emission, words: int | None) -> float | None:
    """AL at a pace of so many words in the length of the source."""
    if not words or not _counts_words(emission):
        return None
    delays, source_ms = emission.delays, emission.source_ms
    if delays[0] > source_ms:
        return float(delays[0])
    tau = next((rank for rank, delay in enumerate(delays, 1) if delay >= source_ms), len(delays))
    return _mean_lag(delays, tau, source_ms / words)


def _mean_lag(delays: Sequence[float], count: int, step: float) -> float:
    """The mean of `d_i - (i-1) step` over the first words; 0 + 1 + ... + (count - 1) = count (count - 1) / 2."""
    return (sum(delays[:count]) - step * count * (count - 1) / 2) / count


def _common_prefix(old: Sequence[str], new: Sequence[str]) -> int:
    shorter = min(len(old), len(new))
    return next((place for place in range(shorter) if old[place] != new[place]), shorter)


# Chunks and words of `atd`


def _delay_of_text(heard: Sequence[float], times: Sequence[float]) -> float:
    """A word has no length, and ends as it comes, or with the one before where that is later."""
    source = [0.0]  # when each word of the source ends, from number 1
    total, delay = 0.0, 0.0
    written, rank, last = 0, 0, 0
    before, latest = -inf, -inf
    for read, time in zip(heard, times, strict=True):
        if time > latest:
            latest = time
        if read != before:  # a new chunk
            total, delay, before = total + delay, 0.0, read
            rank = min(written, last)  # t - max(0, Y - X) = min(Y, X) + 1 for its first word
            if read > source[-1]:
                _add_token_ends(source, source[-1], read)
                last = len(source) - 1
        written, rank = written + 1, rank + 1
        delay += latest - source[rank if rank < last else last]
    return (total + delay) / written


def _delay_of_speech(chunks: Iterable[tuple[float, list[float]]]) -> float | None:
    """The same, with chunks of the source: up to where each goes, and when each word put out after it ends."""
    source = [0.0]
    total, written = 0.0, 0
    for read, ends in chunks:
        ahead = max(0, written - (len(source) - 1))
        _add_token_ends(source, source[-1], read)
        last = len(source) - 1
        delay = 0.0
        for rank, end in enumerate(ends, written + 1 - ahead):
            delay += end - source[rank if rank < last else last]
        total += delay
        written += len(ends)
    return total / written if written else None


def _chunks_of_speech(
    heard: Sequence[float], times: Sequence[float], durations: Sequence[float]
) -> Iterator[tuple[float, list[float]]]:
    """Pieces that come together are played in one go, as soon as what came before has been played."""
    end = -inf
    for (read, time), chunk in groupby(zip(heard, times, durations, strict=True), key=itemgetter(0, 1)):
        start = max(time, end)
        end = start + sum(duration for _, _, duration in chunk)
        ends: list[float] = []
        _add_token_ends(ends, start, end)
        yield read, ends


def _add_token_ends(ends: list[float], start: float, end: float) -> None:
    """The ends of words of 300 ms from start to end; the last one is what is left."""
    if end <= start:
        return
    whole = int((end - start + SLIVER_MS) // TOKEN_MS)
    if whole:
        ends.extend([start + rank * TOKEN_MS for rank in range(1, whole + 1)])
    if end - (start + whole * TOKEN_MS) > SLIVER_MS:
        ends.append(end)
