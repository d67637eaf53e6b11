"""Wire logs read back: what does not fit together is refused, with its line, and never guessed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.servers import simulated, write_scenario
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
from turnwise.live.address import make_address
from turnwise.live.drive import drive
from turnwise.live.replay import replay
from turnwise.live.scenario import load_scenarios

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of a call that was answered."""
    folder = tmp_path_factory.mktemp("recorded")
    with simulated("acs", "good") as address:
        (one,) = drive(
            load_scenarios([write_scenario(folder, barge_in_ms=1800, tail_ms=1200)]),
            make_address(address),
            "acs",
            folder / "out",
        )
    assert one.capture.reason is None
    return one.folder


@pytest.fixture
def changed(recorded: Path, tmp_path: Path) -> Iterator[Callable[[Callable[[Lines], object]], Path]]:
    """A copy of the log, changed; and its path."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded, copy)
    path = copy / "wire.jsonl"

    def change(how: Callable[[Lines], object]) -> Path:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        how(lines)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    yield change
    assert not (tmp_path / "again").exists(), "what is refused leaves nothing behind"


def first_audio(lines: Lines) -> dict[str, Any]:
    sound = next(x for x in lines if x["direction"] == "in" and "$audio" in str(x))
    place: dict[str, Any] = sound["message"]["audioData"]["data"]["$audio"]
    return place


def refused(path: Path) -> TurnwiseError:
    with pytest.raises(InputError) as caught:
        replay(path, path.parents[1] / "again")
    return caught.value


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ({"begin": 10**9}, "bytes 1000000000 to 1000006400"),
        ({"begin": -2}, "bytes -2 to 6398"),
        ({"bytes": 10**9}, "bytes 0 to 1000000000"),
        ({"bytes": -640}, "bytes 0 to -640"),
    ],
)
def test_audio_that_is_not_there(changed: Any, place: dict[str, int], found: str) -> None:
    # A piece is 200 ms of 16 kHz in 16 bits: 6400 bytes.
    error = refused(changed(lambda lines: first_audio(lines).update(place)))
    assert error.what == "a message of the wire log names audio that is not there"
    assert error.found == found
    assert (error.where or "").endswith("in-caller.wav")


@pytest.mark.parametrize("place", [{"offset_ms": -1.0}, {"duration_ms": 1e7}])
def test_a_turn_whose_audio_is_not_there(changed: Any, place: dict[str, float]) -> None:
    def change(lines: Lines) -> None:
        next(x for x in lines if "turn_ended" in str(x))["note"]["audio"].update(place)

    assert "audio that is not there" in refused(changed(change)).what


def test_audio_in_a_file_that_is_missing_or_is_something_else(changed: Any) -> None:
    path = changed(lambda lines: None)
    sound = path.parent / "audio" / "in-caller.wav"
    stereo = bytearray(sound.read_bytes())
    stereo[22] = 2  # channels
    sound.write_bytes(stereo)
    assert refused(path).expected == "a WAV file of one channel of 16 bits"
    sound.write_bytes(b"ID3")
    assert refused(path).what == "the audio of a wire log is not as turnwise writes it"
    sound.unlink()
    assert refused(path).what == "the audio of a wire log cannot be read"


def test_two_logs_in_one_file(changed: Any) -> None:
    path = changed(lambda lines: lines.extend(lines.copy()))
    count = len(path.read_text().splitlines()) // 2
    error = refused(path)
    assert error.what == "the wire log begins anew, or is out of order"
    assert error.where == f"{path}, line {count + 1}"
    assert error.found == f"seq 0 after {count - 1}"


def test_times_below_0(changed: Any) -> None:
    error = refused(changed(lambda lines: lines[5].update(t_ms=-3.5)))
    assert (error.what, error.found) == ("the times of the wire log go back", "-3.5 ms")


def test_times_that_go_back(changed: Any) -> None:
    def change(lines: Lines) -> None:
        inward = [line for line in lines if line["direction"] == "in"]
        inward[0]["t_ms"] = 5000.0

    assert " ms after 5000 ms" in (refused(changed(change)).found or "")


@pytest.mark.parametrize("form", ["turnwise-wire/2", None])
def test_another_format(changed: Any, form: str | None) -> None:
    error = refused(changed(lambda lines: lines[0]["note"].update(format=form)))
    assert (error.found, error.expected) == (repr(form), "turnwise-wire/1")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda lines: lines[0]["note"].pop("turns"), "the first line of the wire log cannot be read"),
        (lambda lines: lines[3].pop("seq"), "a line of the wire log cannot be read"),
        (lambda lines: lines[3].update(direction="sideways"), "a line of the wire log cannot be read"),
        (
            lambda lines: next(x for x in lines if "turn_ended" in str(x))["note"].update(turn_ended="nobody"),
            "the wire log does not fit its own first line",
        ),
    ],
)
def test_lines_that_are_broken(changed: Any, change: Callable[[Lines], object], what: str) -> None:
    assert refused(changed(change)).what == what


def test_the_log_of_a_driver_that_was_killed(recorded: Path, tmp_path: Path) -> None:
    """Its last line is cut in two, and the WAV files do not say how long they are."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded, copy)
    text = (copy / "wire.jsonl").read_bytes()
    (copy / "wire.jsonl").write_bytes(text[: int(len(text) * 0.8)])
    for sound in (copy / "audio").iterdir():
        content = bytearray(sound.read_bytes())
        content[4:8] = content[40:44] = bytes(4)
        sound.write_bytes(content)
    capture = replay(copy / "wire.jsonl", tmp_path / "again")
    assert capture.reason == "the log has no end: the driver was killed, or the file is cut off"
    whole = [json.loads(line) for line in (recorded / "events.jsonl").read_text().splitlines()]
    arrived = [event["t_arrived_ms"] for event in capture.events if event["direction"] == "in"]
    assert 0 < len(arrived) <= len(whole)
    assert arrived == [event["t_arrived_ms"] for event in whole if event["direction"] == "in"][: len(arrived)]


def test_the_protocol_of_our_own_log_need_not_be_named(recorded: Path, tmp_path: Path) -> None:
    replay(recorded / "wire.jsonl", tmp_path / "again", "acs")
    assert (tmp_path / "again" / "events.jsonl").read_text() == (recorded / "events.jsonl").read_text()
    with pytest.raises(UsageError, match="another protocol"):
        replay(recorded / "wire.jsonl", tmp_path / "other", "twilio")


def test_no_log_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        replay(tmp_path / "wire.jsonl", tmp_path / "again")
    (tmp_path / "wire.jsonl").write_text("hello\n")
    with pytest.raises(InputError, match="no wire log of turnwise"):
        replay(tmp_path / "wire.jsonl", tmp_path / "again")
