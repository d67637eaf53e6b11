"""Stereo files and pairs of mono files, with the labels and tables that may lie beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.duplex.test_formats import only
from tests.duplex.writing import audio, lines, long_grid, text, values
from turnwise.duplex.read import read_conversations
from turnwise.duplex.records import BACKCHANNEL, INTERRUPTION, NOISE, NON_DIRECTED, PAUSE, Label, Segment
from turnwise.kernel.errors import InputError

LEFT, RIGHT = [(0.0, 1.0)], [(1.0, 2.0)]


def messages(path: Path, form: str | None = None) -> dict[str, int]:
    return {one.message: one.count for one in read_conversations(path, form).findings}


def test_stereo_recordings_at_any_depth(tmp_path: Path) -> None:
    audio(tmp_path / "b.flac", LEFT, RIGHT)
    audio(tmp_path / "zh" / "calls" / "a.wav", LEFT, RIGHT, seconds=3.0)
    found = read_conversations(tmp_path)
    one, other = found
    assert (found.name, one.key, other.key) == ("stereo", "b", "zh/calls/a")
    assert (one.user, one.agent, one.audio) == (None, None, (tmp_path / "b.flac",))
    assert (one.language, other.language) == (None, "cn")
    assert (one.seconds, other.seconds) == (2.0, 3.0)
    assert only(tmp_path / "b.flac").key == "b"
    assert [name for name, _ in found.fingerprint_parts()] == ["b.flac", "zh/calls/a.wav"]


def test_recordings_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    audio(tmp_path / "good.wav", LEFT, RIGHT)
    audio(tmp_path / "mono.wav")
    audio(tmp_path / "many.wav", LEFT, RIGHT, LEFT)
    text(tmp_path / "broken.wav", "no audio")
    found = messages(tmp_path)
    assert found["left out, a mono recording without a partner: mono.wav"] == 1
    assert found["left out, a recording with more than two channels: many.wav"] == 1
    assert found["left out, unreadable audio: broken.wav"] == 1
    (tmp_path / "good.wav").unlink()
    with pytest.raises(InputError, match=r"no recording can be used(.|\n)*mono.wav"):
        read_conversations(tmp_path)
    with pytest.raises(InputError, match="without a partner"):
        read_conversations(tmp_path / "mono.wav")


def test_the_same_name_twice_is_refused(tmp_path: Path) -> None:
    for name in ("a.wav", "a.flac"):
        audio(tmp_path / name, LEFT, RIGHT)
    with pytest.raises(InputError, match=r"twice(.|\n)*a.flac and a.wav"):
        read_conversations(tmp_path)


@pytest.mark.parametrize(
    ("user", "agent", "key"),
    [
        ("a_user.wav", "a_agent.wav", "a"),
        ("a-caller.wav", "a-bot.flac", "a"),
        ("a.customer.wav", "a.SYSTEM.wav", "a"),
        ("en/x_user.wav", "en/x_model.wav", "en/x"),
        ("user/a.wav", "agent/a.wav", "a"),
        ("en/user/a.wav", "en/assistant/a.wav", "en/a"),
        ("call7/user.wav", "call7/agent.wav", "call7"),
    ],
)
def test_pairs_by_name_and_by_folder(tmp_path: Path, user: str, agent: str, key: str) -> None:
    audio(tmp_path / user, seconds=2.0)
    audio(tmp_path / agent, seconds=1.0)
    found = read_conversations(tmp_path)
    (timeline,) = found
    assert (found.name, timeline.key) == ("pairs", key)
    assert timeline.audio == (tmp_path / user, tmp_path / agent)
    assert (timeline.user, timeline.agent, timeline.seconds) == (None, None, 2.0)
    assert timeline.language == ("en" if key.startswith("en/") else None)


def test_files_that_make_no_pair_are_counted(tmp_path: Path) -> None:
    for name in ("a_user", "a_agent", "b_user", "c", "d_user", "d_agent", "d_bot"):
        audio(tmp_path / f"{name}.wav")
    audio(tmp_path / "e_user.wav", LEFT, RIGHT, LEFT)
    audio(tmp_path / "e_agent.wav")
    audio(tmp_path / "f_user.wav", LEFT, RIGHT)
    audio(tmp_path / "f_agent.wav")
    found = read_conversations(tmp_path)
    assert [timeline.key for timeline in found] == ["a", "f"]
    said = {one.message: one.count for one in found.findings}
    assert said["left out, a mono recording without a partner: b_user.wav, c.wav"] == 2
    assert said["left out, two recordings of the agent: d_agent.wav, d_bot.wav"] == 1
    assert any("more than two channels" in message and "e_user.wav" in message for message in said)
    assert said["a stereo file has the speech of one side; its channels are mixed: f"] == 1


def test_label_files_beside_a_recording(tmp_path: Path) -> None:
    for name in "abcdef":
        audio(tmp_path / f"{name}.wav", LEFT, RIGHT)
    text(tmp_path / "a.txt", "1.5\t2.0\tside speech: hey\n0.5\t1.0\tBarge-in\r\n\\\t100\t200\n")
    text(tmp_path / "b_labels.txt", "0\t0.5\tbackchannel: mhm\n")
    text(tmp_path / "c.labels.txt", "0.0\t0.5\tuser: hi\n0.5\t1\tagent\n0.25\t0.5\tnoise\n")
    text(tmp_path / "d.rttm", "SPEAKER d 1 0.5 0.25 <NA> <NA> caller <NA> <NA>\n")
    text(tmp_path / "e.TextGrid", long_grid({"user": [(0, 0.5, ""), (0.5, 1, "hi")], "labels": [(0.5, 1, "pause")]}))
    values(tmp_path / "f.json", {"agent": [[0.5, 1.0]], "labels": [{"start": 0, "end": 1, "label": "noise"}]})
    a, b, c, d, e, f = read_conversations(tmp_path)
    assert a.labels == (Label(0.5, 1.0, INTERRUPTION), Label(1.5, 2.0, NON_DIRECTED, "hey"))
    assert (a.user, a.agent) == (None, None)
    assert b.labels == (Label(0.0, 0.5, BACKCHANNEL, "mhm"),)
    assert (c.user, c.agent) == ((Segment(0.0, 0.5, "hi"),), (Segment(0.5, 1.0),))
    assert c.labels == (Label(0.25, 0.5, NOISE),)
    assert (d.user, d.agent) == ((Segment(0.5, 0.75),), None)  # the agent has to be heard
    assert (e.user, e.labels) == ((Segment(0.5, 1.0, "hi"),), (Label(0.5, 1.0, PAUSE),))
    assert (f.agent, f.user, f.labels) == ((Segment(0.5, 1.0),), None, (Label(0.0, 1.0, NOISE),))


def test_label_files_beside_a_pair_and_of_one_side(tmp_path: Path) -> None:
    audio(tmp_path / "a_user.wav")
    audio(tmp_path / "a_agent.wav")
    text(tmp_path / "a_user.txt", "0.5\t1.0\thello\n")
    text(tmp_path / "a.txt", "0.5\t1.0\tinterruption\n")
    timeline = only(tmp_path)
    assert timeline.user == (Segment(0.5, 1.0, "hello"),)
    assert timeline.agent is None
    assert timeline.labels == (Label(0.5, 1.0, INTERRUPTION),)


def test_tables_about_several_recordings(tmp_path: Path) -> None:
    for name in ("a", "en/b", "cn/c"):
        audio(tmp_path / f"{name}.wav", LEFT, RIGHT)
    text(
        tmp_path / "labels.csv", "key,start,end,label,text\na,0.5,1,interrupt,stop\nen/b.wav,0,1,noise,\nz,0,1,noise,\n"
    )
    lines(tmp_path / "cn" / "labels.jsonl", {"key": "c", "start": 0, "end": 1.5, "label": "user"})
    text(
        tmp_path / "metadata.csv",
        "key;language;category;model\na;zh;pause_handling;m1\ny;en;;\ncn/c;;;m2\n",
        "utf-8-sig",
    )
    found = read_conversations(tmp_path)
    a, c, b = found
    assert a.labels == (Label(0.5, 1.0, INTERRUPTION, "stop"),)
    assert (a.language, a.category, a.metadata) == ("cn", "Pause Handling", {"model": "m1"})
    assert (b.labels, b.language) == ((Label(0.0, 1.0, NOISE),), "en")
    assert (c.user, c.language, c.metadata) == ((Segment(0.0, 1.5),), "cn", {"model": "m2"})
    assert {(one.check, one.count) for one in found.findings} == {("labels", 1), ("input", 1)}
    assert any("labels.csv, line 4: z" in one.message for one in found.findings)
    assert any("metadata.csv, line 3: y" in one.message for one in found.findings)
    assert {name for name, _ in found.fingerprint_parts()} >= {"labels.csv", "cn/labels.jsonl", "metadata.csv"}


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("key,start,end\na,0,1\n", "the column 'label' is missing"),
        ("key,start,end,label\na,0,1\n", "does not fit the header"),
        ("key,start,end,label\na,x,1,noise\n", "start is not a number"),
        ("key,start,end,label\na,2,1,noise\n", "ends before it begins"),
        ("key,start,end,label\na,nan,1,noise\n", "no finite number"),
        ("key,start,end,label\na,0,1,interuption\n", "did you mean interruption"),
        ("", "the column 'key' is missing"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(tmp_path: Path, rows: str, what: str) -> None:
    audio(tmp_path / "a.wav", LEFT, RIGHT)
    text(tmp_path / "labels.csv", rows)
    with pytest.raises(InputError, match=what) as error:
        read_conversations(tmp_path)
    assert "labels.csv, line" in str(error.value)


def test_what_lies_beside_and_does_not_fit_is_said(tmp_path: Path) -> None:
    for name in "abcd":
        audio(tmp_path / f"{name}.wav", LEFT, RIGHT)
    text(tmp_path / "README.txt", "Calls of March.\n")
    text(tmp_path / "a.txt", "hello, this is a transcript\n")
    values(tmp_path / "a.json", {"model": "x"})
    text(tmp_path / "b.txt", "0\t1\tinteruption\n")
    text(tmp_path / "c.txt", "0\t1\tuser\n0.5\t1.5\tuser\n1.75\t9\tagent\n")
    text(tmp_path / "other.rttm", "SPEAKER x 1 0 1 <NA> <NA> user <NA> <NA>\n")
    found = read_conversations(tmp_path)
    assert [timeline.key for timeline in found] == ["a", "c", "d"]
    said = {one.message: one.count for one in found.findings}
    assert said["a text file beside the recording is no label track and was left out: a"] == 1
    assert said["a JSON file beside the recording says nothing about speech and was left out: a"] == 1
    assert said["label files without a recording were left out: other.rttm"] == 1
    assert said["overlapping speech of the user was joined: c"] == 1
    assert said["labels or speech lie beyond the end of the recording: c"] == 1
    wrong = next(message for message in said if message.startswith("left out, a label says neither"))
    assert "b.txt, line 1 ('interuption'; did you mean interruption" in wrong
    joined = next(timeline for timeline in found if timeline.key == "c")
    assert joined.user == (Segment(0.0, 1.5),)
    assert joined.notes[0] == "overlapping speech of the user was joined"
