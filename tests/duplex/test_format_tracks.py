"""Label tracks without recordings: Audacity, RTTM and TextGrids."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.duplex.test_formats import only
from tests.duplex.writing import long_grid, short_grid, text
from turnwise.duplex.formats.annotation import Annotation
from turnwise.duplex.formats.textgrid import parse
from turnwise.duplex.read import read_conversations
from turnwise.duplex.records import BACKCHANNEL, INTERRUPTION, Label, Segment
from turnwise.kernel.errors import InputError

TRACK = "0.5\t1.0\tuser: hi\n1.0\t2.5\tassistant\n2.0\t2.25\tinterruption: wait\n"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (TRACK, "utf-8"),
        (TRACK, "utf-8-sig"),
        (TRACK, "utf-16"),
        (TRACK.replace("\n", "\r\n"), "utf-8"),
        (f"\n{TRACK}\n\n", "utf-16"),
        ("\n".join(TRACK.split("\n")[::-1]), "utf-8"),
    ],
)
def test_a_label_track_of_both_sides(tmp_path: Path, content: str, encoding: str) -> None:
    timeline = only(text(tmp_path / "call.txt", content, encoding))
    assert timeline.key == "call"
    assert timeline.user == (Segment(0.5, 1.0, "hi"),)
    assert timeline.agent == (Segment(1.0, 2.5),)
    assert timeline.labels == (Label(2.0, 2.25, INTERRUPTION, "wait"),)
    assert timeline.audio == ()


def test_a_label_track_per_side(tmp_path: Path) -> None:
    text(tmp_path / "a_user.txt", "0.5\t1.0\thi\n2.0\t3.0\n")
    text(tmp_path / "a_agent.txt", "1.0\t1.5\tuser\n")  # the agent says "user"
    text(tmp_path / "a_labels.txt", "2.0\t3.0\tbackchannel\n")
    text(tmp_path / "notes.txt", "no labels\n")
    found = read_conversations(tmp_path)
    (timeline,) = found
    assert timeline.user == (Segment(0.5, 1.0, "hi"), Segment(2.0, 3.0))
    assert timeline.agent == (Segment(1.0, 1.5, "user"),)
    assert timeline.labels == (Label(2.0, 3.0, BACKCHANNEL),)
    assert [one.message for one in found.findings] == ["text files that are no label tracks were left out: notes.txt"]


def test_a_side_that_nobody_mentions_is_noted(tmp_path: Path) -> None:
    timeline = only(text(tmp_path / "a.txt", "0.5\t1.0\tuser\n1.0\t1.0\tuser\n"))
    assert (timeline.user, timeline.agent) == ((Segment(0.5, 1.0),), ())
    assert timeline.notes == (
        "speech of the user without any length was left out",
        "speech of the agent is not given",
    )


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("0\t1\tuser\n2\t1\tuser\n", "ends before it begins"),
        ("0\t1\tuser\n-2\t1\tuser\n", "start is negative"),
        ("0\t1\tuser\n0\tinf\tuser\n", "end is no finite number"),
        ("0\t1\tuser\n0,5\t1\tuser\n", "start is not a number"),
        ("0\t1\tuser\n0\t1_0\tuser\n", "end is not a number"),
        ("0\t1\tuser\n0 1 user\n", "the line is no label"),
        ("0\t1\tuser\n0\t1\tusr\n", "did you mean user"),
        ("0\t1\tuser\n0\t1\tbackchanel: mhm\n", "did you mean backchannel"),
        ("0\t1\tuser\n0\t1\n", "a label has no text"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, content: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        read_conversations(text(tmp_path / "a.txt", content))
    assert "a.txt, line 2" in str(error.value)
    text(tmp_path / "b.txt", TRACK)
    assert [timeline.key for timeline in read_conversations(tmp_path)] == ["b"]


def test_labels_without_speech_are_no_conversation(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nobody's speech is given"):
        read_conversations(text(tmp_path / "a.txt", "0\t1\tinterruption\n"))


# RTTM


def speaker(name: str, start: float, seconds: float, who: str) -> str:
    return f"SPEAKER {name} 1 {start} {seconds} <NA> <NA> {who} <NA> <NA>\n"


def test_several_conversations_in_one_rttm(tmp_path: Path) -> None:
    content = (
        ";; a comment\n"
        + speaker("b", 0.5, 0.5, "user")
        + speaker("a", 2.0, 1.0, "Agent")
        + speaker("a", 0.25, 0.5, "customer")
        + speaker("a", 0.5, 1.0, "user")
        + "SPKR-INFO a 1 <NA> <NA> <NA> unknown user <NA> <NA>\n"
        + speaker("c", 0, 1, "SPEAKER_00")
    )
    found = read_conversations(text(tmp_path / "all.rttm", content))
    a, b = found
    assert (a.key, a.user, a.agent) == ("a", (Segment(0.25, 1.5),), (Segment(2.0, 3.0),))
    assert a.notes == (
        "lines of other types than SPEAKER were left out",
        "overlapping speech of the user was joined",
    )
    assert (b.key, b.user, b.agent) == ("b", (Segment(0.5, 1.0),), ())
    (skipped,) = (one for one in found.findings if one.check == "skipped")
    assert "all.rttm, line 7 ('SPEAKER_00')" in skipped.message


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("SPEAKER a 1 0.5\n", "the line is not RTTM"),
        ("hello world\n", "the line is not RTTM"),
        ("SPEAKER a 1 x 1 <NA> <NA> user <NA> <NA>\n", "start is not a number"),
        ("SPEAKER a 1 0 -1 <NA> <NA> user <NA> <NA>\n", "duration is negative"),
    ],
)
def test_a_wrong_line_of_an_rttm_is_named(tmp_path: Path, line: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        read_conversations(text(tmp_path / "a.rttm", speaker("a", 0, 1, "user") + line))
    assert "a.rttm, line 2" in str(error.value)


def test_the_same_conversation_in_two_files_is_refused(tmp_path: Path) -> None:
    for name in ("x", "y"):
        text(tmp_path / f"{name}.rttm", speaker("a", 0, 1, "user"))
    with pytest.raises(InputError, match="the same key stands twice"):
        read_conversations(tmp_path)


# TextGrids

TIERS = {
    "User": [(0.0, 0.5, ""), (0.5, 1.0, 'say "hi" = 3'), (1.0, 10.0, "  ")],
    "assistant": [(0.0, 2.0, "silent"), (2.0, 3.0, "well! 5"), (3.0, 4.0, "yes")],
    "labels": [(2.5, 3.0, "barge-in: wait")],
    "phones": [(0.0, 1.0, "h")],
}


@pytest.mark.parametrize("grid", [long_grid, short_grid])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_textgrid_in_every_form(tmp_path: Path, grid: object, encoding: str) -> None:
    assert callable(grid)
    content = ("\ufeff" if encoding == "utf-16-be" else "") + grid(TIERS).replace("\n", "\r\n")
    timeline = only(text(tmp_path / "call.TextGrid", content, encoding))
    assert timeline.user == (Segment(0.5, 1.0, 'say "hi" = 3'),)
    assert timeline.agent == (Segment(2.0, 3.0, "well! 5"), Segment(3.0, 4.0, "yes"))
    assert timeline.labels == (Label(2.5, 3.0, INTERRUPTION, "wait"),)
    assert timeline.notes == (
        "intervals marked as silent were taken as silence",
        "the tier 'phones' was left out",
    )


def test_point_tiers_comments_and_tiers_of_a_kind(tmp_path: Path) -> None:
    content = short_grid({"user": [(0, 1, "a")], "agent": [], "backchannel": [(0, 1, "mhm")]}).replace(
        "<exists>\n3\n", '! one more\n<exists>\n4\n"TextTier"\n"clicks"\n0\n10\n1\n0.5\n"click"\n'
    )
    timeline = only(text(tmp_path / "a.TextGrid", content))
    assert (timeline.user, timeline.agent) == ((Segment(0.0, 1.0, "a"),), ())
    assert timeline.labels == (Label(0.0, 1.0, BACKCHANNEL, "mhm"),)
    assert timeline.notes == ("point tiers were left out",)


def test_a_textgrid_per_side(tmp_path: Path) -> None:
    text(tmp_path / "a_user.TextGrid", short_grid({"words": [(0, 1, "a")]}))
    text(tmp_path / "a_agent.TextGrid", short_grid({"words": [(1, 2, "b")]}))
    timeline = only(tmp_path)
    assert (timeline.user, timeline.agent) == ((Segment(0.0, 1.0, "a"),), (Segment(1.0, 2.0, "b"),))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (long_grid(TIERS)[:600], "the TextGrid ends too early"),
        (short_grid({"usr": [(0, 1, "a")]}), r"no tier says who speaks(.|\n)*did you mean user"),
        (short_grid({"user": [(2, 1, "a")]}), "ends before it begins"),
        (short_grid({"user": [(-1, 1, "a")]}), "xmin is negative"),
        (short_grid(TIERS).replace("0.5", '"x"'), "no TextGrid that can be read"),
        ('File type = "ooTextFile"\nObject class = "Pitch 1"\n', "no TextGrid that can be read"),
        ("ooBinaryFile\x08TextGrid", "binary"),
        ("hello", "ends too early"),
    ],
)
def test_a_wrong_textgrid_is_refused(tmp_path: Path, content: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        read_conversations(text(tmp_path / "a.TextGrid", content))
    assert "a.TextGrid" in str(error.value)


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9), st.text(st.characters(codec="utf-8")))))
def test_both_forms_of_a_textgrid_are_read_alike(tmp_path_factory: pytest.TempPathFactory, rows: list[object]) -> None:
    tiers = {"user": rows, "agent": []}
    folder = tmp_path_factory.mktemp("grid")
    found = []
    for grid in (long_grid, short_grid):
        path = text(folder / f"{grid.__name__}.TextGrid", grid(tiers))  # type: ignore[arg-type]
        found.append([[interval[:3] for interval in tier.intervals] for tier in parse(path, Annotation())])
    assert found[0] == found[1]
    assert found[0][0] == [(start, end, words.strip()) for start, end, words in rows]  # type: ignore[misc, attr-defined]
