"""Two recordings per conversation, one of each side: `NAME_user.wav` and `NAME_agent.wav`, or folders of both."""

from __future__ import annotations

from dataclasses import replace

from turnwise.duplex.formats.base import Conversations, Tally
from turnwise.duplex.formats.listing import AUDIO, Listing, audio_head
from turnwise.duplex.formats.recordings import Recording, Recordings, nothing_usable
from turnwise.duplex.formats.roles import pairs_among
from turnwise.duplex.formats.spans import AGENT, USER
from turnwise.duplex.records import Timeline
from turnwise.kernel.errors import InputError

NAME = "pairs"
STEREO_SIDE = "a stereo file has the speech of one side; its channels are mixed"


def partners(found: Listing) -> set[str]:
    """The recordings that belong to a pair."""
    pairs = pairs_among(found.ending(*AUDIO))
    return {name for sides in pairs.values() for names in sides.values() for name in names}


def looks_like(found: Listing) -> bool:
    """Whether there is a pair."""
    return bool(partners(found))


def read(found: Listing) -> Conversations:
    """All pairs in a folder."""
    return Pairs(found)


class Pairs(Recordings):
    """Recordings of one side each."""

    name = NAME

    def __init__(self, found: Listing) -> None:
        tally = Tally()
        audio: dict[str, tuple[str, ...]] = {}
        for key, sides in pairs_among(found.ending(*AUDIO)).items():
            several = [side for side, names in sides.items() if len(names) > 1]
            if several:
                names = ", ".join(sides[several[0]])
                tally.add("skipped", f"left out, two recordings of the {several[0]}", names)
            else:
                audio[key] = (sides[USER][0], sides[AGENT][0])
        paired = partners(found)
        for name in found.ending(*AUDIO):
            if name not in paired:
                self._alone(found, name, tally)
        if not audio:
            raise nothing_usable(found, tally, "NAME_user.wav and NAME_agent.wav, or user/NAME.wav and agent/NAME.wav")
        super().__init__(found, audio, tally)

    @staticmethod
    def _alone(found: Listing, name: str, tally: Tally) -> None:
        try:
            channels = audio_head(found.root / name)[0]
        except InputError as error:
            tally.add("skipped", f"left out, {error.what}", name)
            return
        kinds = {1: "a mono recording without a partner", 2: "a stereo recording beside pairs (--format stereo)"}
        tally.add("skipped", f"left out, {kinds.get(channels, 'a recording with more than two channels')}", name)

    def _read(self, entry: Recording) -> Timeline:
        channels = [audio_head(path)[0] for path in entry.audio]
        if max(channels) > 2:
            path = entry.audio[channels.index(max(channels))]
            raise InputError("a recording with more than two channels", where=str(path), found=f"{max(channels)}")
        timeline = super()._read(entry)
        return replace(timeline, notes=(*timeline.notes, STEREO_SIDE)) if max(channels) == 2 else timeline
