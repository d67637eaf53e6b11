"""Stereo recordings: the user on the left, the agent on the right."""

from __future__ import annotations

from turnwise.duplex.formats.base import Conversations, Tally
from turnwise.duplex.formats.listing import AUDIO, Listing, audio_head
from turnwise.duplex.formats.pairs import partners
from turnwise.duplex.formats.recordings import Recordings, nothing_usable
from turnwise.kernel.errors import InputError

NAME = "stereo"


def looks_like(found: Listing) -> bool:
    """Whether a recording that belongs to no pair has two channels; a single file is taken at its word."""
    names = found.ending(*AUDIO)
    paired = partners(found)
    return any(found.lone or (name not in paired and channels_of(found, name) == 2) for name in names)


def channels_of(found: Listing, name: str) -> int:
    """Channels of a recording; 0 where it cannot be read."""
    try:
        return audio_head(found.root / name)[0]
    except InputError:
        return 0


def read(found: Listing) -> Conversations:
    """A recording, or all in a folder."""
    return Stereo(found)


class Stereo(Recordings):
    """Recordings of two channels."""

    name = NAME

    def __init__(self, found: Listing) -> None:
        tally = Tally()
        audio: dict[str, tuple[str, ...]] = {}
        for name in found.ending(*AUDIO):
            try:
                channels = audio_head(found.root / name)[0]
            except InputError as error:
                tally.add("skipped", f"left out, {error.what}", name)
                continue
            key = name.rpartition(".")[0]
            if channels == 1:
                tally.add("skipped", "left out, a mono recording without a partner", name)
            elif channels > 2:
                tally.add("skipped", "left out, a recording with more than two channels", name)
            elif key in audio:
                raise InputError(
                    "the same key stands twice",
                    where=str(found.path),
                    found=f"{audio[key][0]} and {name}",
                    remedy="rename or remove one of the two",
                )
            else:
                audio[key] = (name,)
        if not audio:
            raise nothing_usable(found, tally, "stereo recordings, or pairs NAME_user.wav and NAME_agent.wav")
        super().__init__(found, audio, tally)
