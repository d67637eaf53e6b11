"""From audio to who spoke when, with what sounds wrong about it.

A recording that cannot be heard gives the reason, so that it is counted and not lost; whatever can still be heard is,
and the timeline's notes say what is suspicious.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from turnwise.audio.voice import AUTO, LEAST_RATE, Activity, VoiceSettings, detect_channels, grid
from turnwise.audio.wave import CLIPPED, CLIPPED_MOST, SILENT, UnusableAudio, Wave, at_rate, read_wave
from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.records import Segment, Timeline
from turnwise.duplex.timing import AGENT_GAP, USER_GAP, YIELD_WINDOW, merged, overlaps, speaks

USER, AGENT = "user", "agent"
SIDES = (USER, AGENT)
LENGTHS_APART = 0.5
"""Seconds by which two files of one conversation may differ."""
TOO_LOW = f"a sample rate below {LEAST_RATE} Hz"
NOBODY = "no speech on either channel"
MONO = "one channel only: the user and the agent cannot be told apart"
SWAPPED = "the channels may be swapped: the user's sounds like the agent's"


def voice_named(detector: str | None) -> VoiceSettings:
    """The settings of a detector that can be used here."""
    settings = VoiceSettings(detector or AUTO)
    settings.chosen  # noqa: B018  (raises where it is not installed)
    return settings


@dataclass(frozen=True, slots=True)
class Ear:
    """Listens to recordings with some settings; can be sent to another process."""

    settings: VoiceSettings

    def __call__(self, timeline: Timeline) -> Timeline | str:
        """The timeline with the speech of both sides, or why it cannot be heard."""
        try:
            waves, notes = _channels(timeline.audio)
            if waves[0].rate < LEAST_RATE:
                return TOO_LOW
            heard = detect_channels([wave.samples for wave in waves], waves[0].rate, self.settings)
        except UnusableAudio as error:
            return error.reason
        found = {USER: timeline.user, AGENT: timeline.agent}
        for side, activity, gap in zip(SIDES, heard, (USER_GAP, AGENT_GAP), strict=True):
            if found[side] is None:
                found[side] = merged([Segment(span.start_s, span.end_s) for span in activity.segments], gap)
        if not found[USER] and not found[AGENT]:
            return NOBODY
        seconds = max(wave.seconds for wave in waves)
        context = {**timeline.context, "voice": self.settings.description}
        made = replace(timeline, user=found[USER], agent=found[AGENT], seconds=seconds, detected=True, context=context)
        notes += [note for side, activity in zip(SIDES, heard, strict=True) for note in _sound(side, activity)]
        notes += [SWAPPED] if sounds_swapped(made) else []
        return replace(made, notes=(*timeline.notes, *notes))


def _channels(audio: Sequence[Path]) -> tuple[list[Wave], list[str]]:
    """The two channels at one rate, and what had to be done for it."""
    tolerated = (SILENT, CLIPPED)
    if len(audio) == 1:
        user = read_wave(audio[0], None, channel=0, tolerate=tolerated)
        if user.channels == 1:
            raise UnusableAudio(MONO, where=str(audio[0]))
        return [user, read_wave(audio[0], None, channel=1, tolerate=tolerated)], []
    waves = [read_wave(path, None, tolerate=tolerated) for path in audio]
    notes: list[str] = []
    if waves[0].rate != waves[1].rate:
        notes.append("the channels have different sample rates")
        waves = [at_rate(wave, max(wave.rate for wave in waves)) for wave in waves]
    if abs(waves[0].seconds - waves[1].seconds) > LENGTHS_APART:
        notes.append("the channels differ in length")
    return waves, notes


def _sound(side: str, activity: Activity) -> list[str]:
    """What is wrong with the sound of one channel."""
    notes = []
    if not activity.segments:
        notes.append(f"no speech on the {side}'s channel")
    if activity.clipped_share > CLIPPED_MOST:
        notes.append(f"clipped audio on the {side}'s channel")
    band = activity.band
    if activity.segments and band is None:
        notes.append(f"noise on the {side}'s channel: how far the edges of speech err is not known")
    elif band is not None and band.p95_s > 0.1:
        notes.append(
            f"noise on the {side}'s channel: the edges of speech err by {1000 * band.median_s:.0f} ms at the median "
            f"and {1000 * band.p95_s:.0f} ms at the 95th percentile"
        )
    return notes


# Swapped channels


def sounds_swapped(timeline: Timeline) -> bool:
    """Whether the user's channel sounds like the agent's.

    Annotations tell: what somebody wrote down of the user is heard on the other channel. Without any, manners do: an
    agent is made to fall silent when it is interrupted, and people who call one hardly ever let it cut them off.
    """
    user, agent = timeline.user or (), timeline.agent or ()
    for written, own, other in ((timeline.sentences, user, agent), (timeline.words, agent, user)):
        if written:
            here, there = _shared(written, own), _shared(written, other)
            return there > 0.5 * sum(one.seconds for one in written) and there > 2 * here
    spoken = [Segment(label.start, label.end) for label in timeline.labels if label.end > label.start]
    if spoken and _shared(spoken, agent) > 2 * _shared(spoken, user) and not _shared(spoken, user):
        return True
    gave_way, made_way = _yields(user, agent), _yields(agent, user)
    first = min((one.start for one in user), default=0.0) > min((one.start for one in agent), default=0.0)
    return first and gave_way > 0 and gave_way > 2 * made_way


def _shared(these: Sequence[Segment], those: Sequence[Segment]) -> float:
    """Seconds that two sets of segments have in common."""
    return sum(end - start for start, end in overlaps(sorted(these), those))


def _yields(these: Sequence[Segment], those: Sequence[Segment]) -> int:
    """How often one side fell silent soon after the other began, and let it go on."""
    found = 0
    for start in those:
        speaking = speaks(these, start.start)
        if speaking is not None and start.start + 0.1 < speaking.end < min(start.end, start.start + YIELD_WINDOW):
            found += 1
    return found


# Other settings


def _with_settings(settings: VoiceSettings, batch: DuplexBatch) -> DuplexBatch:
    return replace(batch, listener=Ear(settings), memo={})


def other_ears(detector: str | None) -> Mapping[str, Callable[[DuplexBatch], DuplexBatch]]:
    """The same batch heard with other settings, by their names."""
    return {name: partial(_with_settings, settings) for name, settings in grid(voice_named(detector)).items()}
