"""Scenario files that are wrong: every problem with its line and field, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.test_scenario import FULL, one_turn, write
from turnwise.kernel.errors import InputError
from turnwise.live.scenario import load_scenario
from turnwise.live.scenario_problems import Problem, ScenarioError


def problems(tmp_path: Path, text: str) -> tuple[Problem, ...]:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(tmp_path, text))
    return caught.value.problems


def the_problem(tmp_path: Path, text: str) -> Problem:
    [found] = problems(tmp_path, text)
    return found


def test_one_problem_in_full(tmp_path: Path) -> None:
    path = write(tmp_path, FULL.replace("turn: statement", "turn: statment"))
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    assert caught.value.exit_code == 2
    assert caught.value.message == (
        "there is no turn 'statment'\n"
        f"  where: {path}, line 21, turns[1].after.turn\n"
        "  found: 'statment'\n"
        "  expected: the id of an earlier turn: statement\n"
        "  remedy: did you mean statement?"
    )


def test_all_problems_by_line(tmp_path: Path) -> None:
    text = """\
id: x
descripton: a typing error
participants: {patient: {source_language: es, tagret_language: en}}
turns:
  - id: a
    type: say
    text: Hello
    participant: patiant
    barge_in: yes
  - id: a
    type: play_audio
    audio_file: nothing.wav
    start_at_ms: -1
tail_silence_ms: soon
"""
    path = write(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert [(p.line, p.field) for p in caught.value.problems] == [
        (2, "descripton"),
        (3, "participants.patient.tagret_language"),
        (8, "turns[0].participant"),
        (9, "turns[0].barge_in"),
        (10, "turns[1].id"),
        (12, "turns[1].audio_file"),
        (13, "turns[1].start_at_ms"),
        (14, "tail_silence_ms"),
    ]
    lines = caught.value.message.splitlines()
    assert lines[0] == f"8 problems in {path}"
    assert "  line 8, turns[0].participant: there is no participant 'patiant'" in lines
    assert "    remedy: did you mean patient?" in lines


def test_many_problems_are_not_all_shown(tmp_path: Path) -> None:
    text = one_turn("type: say, text: Hi") + "".join(f"k{number}: 1\n" for number in range(60))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(tmp_path, text))
    assert len(caught.value.problems) == 60
    assert caught.value.message.endswith("\n  and 10 more")


# The file


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"", 1, ["the file is empty", "id, participants, turns"]),
        (b"# only a comment\n---\n", 1, ["the file is empty"]),
        (b"- id: x\n", 1, ["the file is not a mapping", "a list of 1"]),
        (b"\n\nhello\n", 3, ["the file is not a mapping", "'hello'"]),
        (b"id: x\nname: caf\xe9\n", 2, ["not UTF-8", "0xe9"]),
        ("id: x\n".encode("utf-16"), 1, ["not UTF-8", "UTF-16"]),
        (b"id: x\nturns:\n\t- id: a\n", 3, ["not YAML", "begins with a tab"]),
        (b"id: x\ndescription: one: two\n", 2, ["not YAML", "in quotes"]),
        (b"id: [x\n", 2, ["not YAML"]),
        (b"id: x\nid2: *nowhere\n", 2, ["not YAML", "undefined alias 'nowhere'"]),
        (b"id: x\nbell: \x07\n", 2, ["not YAML", "special characters", "column 7"]),
        (b'id: "\\UFFFFFFFF"\n', 1, ["not YAML"]),
        (b"%YAML " + b"9" * 5000 + b".1\n---\nid: x\n", 1, ["not YAML"]),
        (b"[" * 20000, 1, ["nested too deeply"]),
        (b"a: &a\n  - *a\n", 1, ["inside of what it stands for"]),
        (b"id: " + b"x" * (4 << 20), 1, ["at most 4 MB"]),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, line: int, words: list[str]) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    [found] = caught.value.problems
    assert found.line == line
    assert [word for word in words if word not in caught.value.message] == [], caught.value.message


def test_aliases_of_aliases(tmp_path: Path) -> None:
    """Nine levels of nine: 9^9 values in 300 bytes."""
    text = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    assert "more than 200000 values" in the_problem(tmp_path, text).what


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("---\n{good}---\nid: y\n", 7, "", ["second document"]),
        ("{good}id: y\n", 5, "id", ["id is given twice", "line 1"]),
        ("{good}thresholds: {{a: 1, b: 2, a: 3}}\n", 5, "thresholds.a", ["a is given twice"]),
        ("{good}[1, 2]: y\n", 5, "", ["a key has to be text"]),
        ("{good}description: !!python/object:os.system x\n", 5, "description", ["tags have no meaning", "!!python"]),
        ("{good}description: !!int 5\n", 5, "description", ["!!int"]),
        ('{good}description: "\\ud800"\n', 5, "description", ["a character that no file"]),
        ('{good}description: "\\0"\n', 5, "description", ["a character that no file"]),
        ("{good}<<: 5\n", 5, "<<", ["<< merges mappings", "'5'"]),
        ("{good}description: [a]\n", 5, "description", ["description is not text", "a list of 1"]),
        ("{good}turn: []\n", 5, "turn", ["a scenario has no 'turn'", "did you mean turns?"]),
        ("{good}tags: medical\n", 5, "tags", ["tags is not a list", "tags: [medical]"]),
        ("{good}tags: [a, [b]]\n", 5, "tags[1]", ["not text", "a list of 1"]),
        ("{good}metrics: {{barge_in: 70}}\n", 5, "metrics", ["not a list", "a mapping of barge_in"]),
        ("{good}thresholds: {{x: high}}\n", 5, "thresholds.x", ["x is not a number", "'high'"]),
        ('{good}thresholds: {{x: "70"}}\n', 5, "thresholds.x", ["not a number", "in quotes"]),
        ("{good}thresholds: {{x: }}\n", 5, "thresholds.x", ["not a number", "nothing"]),
        ("{good}thresholds: {{x: 1e999}}\n", 5, "thresholds.x", ["not a number"]),
        ("{good}thresholds: {{x: true}}\n", 5, "thresholds.x", ["not a number"]),
        ("{good}thresholds: [70]\n", 5, "thresholds", ["not a mapping"]),
        ("{good}tail_silence_ms: 5s\n", 5, "tail_silence_ms", ["not a time", "'5s'"]),
        ("{good}tail_silence_ms: 010\n", 5, "tail_silence_ms", ["not a time", "'010'"]),
        ("{good}tail_silence_ms: 86400001\n", 5, "tail_silence_ms", ["longer than a day"]),
        ("{good}tail_silence_ms: " + "9" * 5000 + "\n", 5, "tail_silence_ms", ["longer than a day"]),
        ("{good}say_command: espeak {{txt}} {{out}}\n", 5, "say_command", ["no {{txt}}", "did you mean text?"]),
        ("{good}say_command: [espeak, '{{text}}']\n", 5, "say_command", ["where {{out}} goes"]),
        ("{good}say_command: []\n", 5, "say_command", ["names no program"]),
        ("{good}say_command: 'espeak \"'\n", 5, "say_command", ["cannot be split", "No closing quotation"]),
    ],
)  # fmt: skip
def test_the_top(tmp_path: Path, text: str, line: int, field: str, words: list[str]) -> None:
    found = the_problem(tmp_path, text.format(good=one_turn("type: say, text: Hi")))
    said = f"{found.what} {found.text}"
    assert (found.line, found.field) == (line, field), said
    assert [word.format() for word in words if word.format() not in said] == [], said


@pytest.mark.parametrize("name", ["a/b", "..", ".x", "a\\b", "x.", "a" * 101, "' x'", '"a\\nb"', '""'])
def test_ids_that_are_no_folder(tmp_path: Path, name: str) -> None:
    text = one_turn("type: say, text: Hi").replace("id: x", f"id: {name}")
    assert the_problem(tmp_path, text).what == "id cannot be the name of a folder"


def test_missing_fields(tmp_path: Path) -> None:
    found = problems(tmp_path, "description: nothing else\n")
    assert [(p.line, p.field, p.what) for p in found] == [
        (1, "id", "id is missing"),
        (1, "participants", "participants is missing"),
        (1, "turns", "turns is missing"),
    ]
    found = problems(tmp_path, "id: x\nparticipants: {a: }\nturns:\n  - {}\n")
    assert [(p.line, p.field) for p in found] == [(4, "turns[0].id"), (4, "turns[0].type")]


@pytest.mark.parametrize(
    ("people", "field", "what"),
    [
        ("{}", "participants", "nobody takes part"),
        ("[caller]", "participants", "participants is not a mapping"),
        ("{caller: en}", "participants.caller", "participants.caller is not a mapping"),
        ("{caller: {language: en}}", "participants.caller.language", "a participant has no 'language'"),
        ("{'': }", "participants.", "a participant needs a name"),
        (
            "{caller: {source_language: 5}}",
            "participants.caller.source_language",
            "source_language is no language code",
        ),
    ],
)
def test_participants(tmp_path: Path, people: str, field: str, what: str) -> None:
    """Turns are not blamed for participants that cannot be read."""
    found = the_problem(tmp_path, one_turn("type: say, text: Hi", people))
    assert (found.line, found.field, found.what) == (2, field, what)


# Turns


@pytest.mark.parametrize(
    ("turn", "field", "words"),
    [
        ("type: speak, text: Hi", "type", ["no type 'speak'", "play_audio, silence, say, hangup"]),
        ("type: [say], text: Hi", "type", ["type is not text"]),
        ("type: say", "text", ["text is missing"]),
        ("type: say, text: ' '", "text", ["nothing to say"]),
        ("type: say, text: [Hi]", "text", ["not text"]),
        ("type: say, text: Hi, audio_file: audio/statement.wav", "audio_file", ["type say has no audio_file"]),
        ("type: play_audio", "audio_file", ["audio_file is missing"]),
        ("type: play_audio, audio_file: audio", "audio_file", ["no such recording", "a folder"]),
        ("type: play_audio, audio_file: audio/statment.wav", "audio_file", ["did you mean statement.wav?"]),
        (f"type: play_audio, audio_file: {'x' * 5000}.wav", "audio_file", ["cannot be read"]),
        ("type: play_audio, audio_file: audio/statement.wav, text: Hi", "text", ["has no text", "source_text"]),
        ("type: silence", "duration_ms", ["duration_ms is missing"]),
        ("type: silence, duration_ms: 0", "duration_ms", ["below 1"]),
        ("type: silence, duration_ms: 1.5", "duration_ms", ["not a time", "'1.5'"]),
        ("type: say, text: Hi, duration_ms: 5", "duration_ms", ["type say has no duration_ms"]),
        ("type: hangup, text: Bye", "text", ["type hangup has no text"]),
        ("type: hangup, barge_in: true", "barge_in", ["cannot barge in"]),
        ("type: say, text: Hi, barge_in: true", "barge_in", ["first turn cannot barge in"]),
        ("type: say, text: Hi, barge_in: True", "barge_in", ["neither true nor false"]),
        ('type: say, text: Hi, barge_in: "false"', "barge_in", ["neither true nor false", "in quotes"]),
        ("type: say, text: Hi, participant: [caller]", "participant", ["participant is not text"]),
        ("type: say, text: Hi, start_at_ms: '5'", "start_at_ms", ["not a time", "in quotes"]),
        ("type: say, text: Hi, after: start", "after", ["not a mapping", "'start'"]),
        ("type: say, text: Hi, after: {turn: a, event: end}", "after.turn", ["cannot wait for itself"]),
        ("type: say, text: Hi, after: {turn: b, event: end}", "after.turn", ["no turn 'b'", "first turn cannot wait"]),
        ("type: say, text: Hi, expected_language: 'a b'", "expected_language", ["no language code"]),
        ("type: say, text: Hi, barge-in: true", "barge-in", ["a turn has no 'barge-in'", "barge_in?", "metadata"]),
        ("type: say, text: Hi, startAtMs: 5", "startAtMs", ["did you mean start_at_ms?"]),
        ("type: say, text: Hi, metadata: 5", "metadata", ["metadata is not a mapping"]),
    ],
)
def test_turns(tmp_path: Path, turn: str, field: str, words: list[str]) -> None:
    found = the_problem(tmp_path, one_turn(turn))
    assert (found.line, found.field) == (4, f"turns[0].{field}"), found.text
    assert [word for word in words if word not in found.text] == [], found.text


FIRST = "id: x\nparticipants: {caller: }\nturns:\n  - {id: a, type: say, text: Hi}\n"


@pytest.mark.parametrize(
    ("turns", "line", "field", "words"),
    [
        (["type: say, text: Hi, after: {turn: a, event: firstaudio}"], 5, "after.event", ["did you mean first_audio"]),
        (["type: say, text: Hi, after: {turn: a}"], 5, "after.event", ["event is missing"]),
        (["type: say, text: Hi, after: {event: end}"], 5, "after.turn", ["turn is missing"]),
        (["type: say, text: Hi, after: {turn: a, event: end, delay_ms: -1}"], 5, "after.delay_ms", ["below 0"]),
        (["type: say, text: Hi, after: {turn: a, event: end, delay: 1}"], 5, "after.delay", ["did you mean delay_ms?"]),
        (["type: say, text: Hi, start_at_ms: 5, after: {turn: a, event: end}"], 5, "after", ["not both"]),
        (["type: say, text: Hi, after: {turn: c, event: end}", "type: say, text: Hi"], 5, "after.turn",
         ["turns wait for each other: b -> c -> b"]),
        (["type: say, text: Hi, after: {turn: c, event: end}", "type: say, text: Hi, start_at_ms: 5"], 5, "after.turn",
         ["turn 'c' comes later", "line 6"]),
        (["type: silence, duration_ms: 5", "type: say, text: Hi, after: {turn: b, event: first_audio}"], 6,
         "after.event", ["nobody answers a turn of type silence"]),
        (["type: hangup", "type: say, text: Hi"], 6, "id", ["call is over", "'b' hangs up, in line 5"]),
        (["type: hangup, start_at_ms: 5", "type: say, text: Hi, start_at_ms: 5"], 6, "id", ["call is over"]),
    ],
)  # fmt: skip
def test_turns_together(tmp_path: Path, turns: list[str], line: int, field: str, words: list[str]) -> None:
    text = FIRST + "".join(f"  - {{id: {name}, {turn}}}\n" for name, turn in zip("bcdef", turns, strict=False))
    found = the_problem(tmp_path, text)
    assert (found.line, found.field) == (line, f"turns[{line - 4}].{field}"), found.text
    assert [word for word in words if word not in found.text] == [], found.text


def test_turns_that_are_none(tmp_path: Path) -> None:
    head = "id: x\nparticipants: {caller: }\n"
    assert the_problem(tmp_path, head + "turns: []\n").what == "there are no turns"
    assert the_problem(tmp_path, head + "turns: {a: {type: say}}\n").what == "turns is not a list"
    assert the_problem(tmp_path, head + "turns: [hello]\n").what == "turns[0] is not a mapping"


@pytest.mark.parametrize(
    ("first", "second", "wrong"),
    [
        ("start_at_ms: 0", "start_at_ms: 10, barge_in: true", None),
        # Which is first is a matter of time, not of the order in the file.
        ("start_at_ms: 10, barge_in: true", "start_at_ms: 0", None),
        ("start_at_ms: 10", "start_at_ms: 0, barge_in: true", 5),
        ("start_at_ms: 0", "start_at_ms: 0, barge_in: true", None),
        ("barge_in: true", "start_at_ms: 0", 4),
        ("start_at_ms: 5", "barge_in: true, after: {turn: a, event: first_audio}", None),
    ],
)
def test_the_first_turn_cannot_barge_in(tmp_path: Path, first: str, second: str, wrong: int | None) -> None:
    text = "id: x\nparticipants: {caller: }\nturns:\n"
    text += f"  - {{id: a, type: say, text: Hi, {first}}}\n  - {{id: b, type: say, text: No, {second}}}\n"
    if wrong is None:
        assert load_scenario(write(tmp_path, text))
    else:
        assert (the_problem(tmp_path, text).line, the_problem(tmp_path, text).found) == (wrong, "true")


def test_nobody_barges_in_on_silence(tmp_path: Path) -> None:
    text = FIRST.replace("type: say, text: Hi", "type: silence, duration_ms: 500")
    text += "  - {id: b, type: say, text: Hi, barge_in: true}\n"
    assert "first turn cannot barge in" in the_problem(tmp_path, text).what
