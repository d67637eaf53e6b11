"""Scenario files: what they mean. What is wrong with them is in `test_scenario_problems`."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from turnwise.kernel.errors import InputError
from turnwise.live.scenario import (
    END,
    FIRST_AUDIO,
    After,
    Participant,
    Planned,
    Scenario,
    Turn,
    load_scenario,
    load_scenarios,
)
from turnwise.live.scenario_problems import Problem, ScenarioError

FULL = """\
id: patient_correction
description: A patient corrects themselves while the translation is being spoken.
participants:
  patient: {source_language: no, target_language: en}
  doctor: {source_language: en, target_language: no}
turns:
  - id: statement
    type: play_audio
    participant: patient
    audio_file: audio/statement.wav
    start_at_ms: 500
    source_text: Jeg har litt vondt i hodet.
    expected_text: I have a slight headache.
    expected_language: en-GB
    metadata: {ward: 3, bed: 010, when: null, quiet: true, share: 0.5, code: "12", exponent: 1e3}
    severity: mild
  - id: correction
    type: say
    participant: patient
    text: Nei, det er ganske vondt.
    after: {turn: statement, event: first_audio, delay_ms: 700}
    barge_in: true
    expected_text: ""
  - id: pause
    type: silence
    duration_ms: 1500
  - id: bye
    type: hangup
    participant: doctor
    after:
      turn: correction
      event: last_audio
tags: [medical, "010"]
metrics: [barge_in, wer]
thresholds: {barge_in: 70, my_own: -0.5}
tail_silence_ms: 0
say_command: espeak-ng -v {language} -w {out} -- {text}
"""


def write(folder: Path, text: str, name: str = "scenario.yaml") -> Path:
    (folder / "audio").mkdir(exist_ok=True)
    (folder / "audio" / "statement.wav").touch()
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def one_turn(turn: str, participants: str = "{caller: }") -> str:
    return f"id: x\nparticipants: {participants}\nturns:\n  - {{id: a, {turn}}}\n"


# Everything that can be said


def test_every_field(tmp_path: Path) -> None:
    path = write(tmp_path, FULL)
    statement = Turn(
        id="statement",
        type="play_audio",
        participant="patient",
        audio_file=tmp_path / "audio" / "statement.wav",
        start_at_ms=500,
        source_text="Jeg har litt vondt i hodet.",
        expected_text="I have a slight headache.",
        expected_language="en-GB",
        language="no",
        metadata={"ward": 3, "bed": "010", "when": None, "quiet": True, "share": 0.5, "code": "12", "exponent": "1e3"}
        | {"severity": "mild"},
    )
    correction = Turn(
        id="correction",
        type="say",
        participant="patient",
        text="Nei, det er ganske vondt.",
        after=After("statement", FIRST_AUDIO, 700),
        barge_in=True,
        source_text="Nei, det er ganske vondt.",  # what is said is known
        expected_text="",  # not the same as nothing given
        expected_language="en",  # the participant's target language
        language="no",
    )
    # Whose pause it is was not said: the patient's, who spoke before. It begins when they have ended.
    pause = Turn("pause", "silence", "patient", duration_ms=1500, after=After("correction", END))
    bye = Turn("bye", "hangup", "doctor", after=After("correction", "last_audio", 0))
    assert load_scenario(path) == Scenario(
        id="patient_correction",
        description="A patient corrects themselves while the translation is being spoken.",
        participants={"patient": Participant("no", "en"), "doctor": Participant("en", "no")},
        turns=(statement, correction, pause, bye),
        tags=("medical", "010"),
        metrics=("barge_in", "wer"),
        thresholds={"barge_in": 70.0, "my_own": -0.5},
        tail_silence_ms=0,
        say_command=("espeak-ng", "-v", "{language}", "-w", "{out}", "--", "{text}"),
        path=path,
    )


def test_as_little_as_possible(tmp_path: Path) -> None:
    found = load_scenario(write(tmp_path, one_turn("type: say, text: Hello")))
    turn = Turn("a", "say", "caller", text="Hello", start_at_ms=0, source_text="Hello")
    assert found == Scenario("x", {"caller": Participant()}, (turn,), path=tmp_path / "scenario.yaml")
    assert (found.metrics, found.tags, found.thresholds, found.tail_silence_ms) == (None, (), {}, 5000)


@pytest.mark.parametrize("code", ["no", "on", "yes", "y", "NO", "null", "~"])
def test_language_codes_are_text(tmp_path: Path, code: str) -> None:
    text = one_turn("type: say, text: Hei", f"{{caller: {{source_language: {code}}}}}")
    if code in ("null", "~"):
        assert load_scenario(write(tmp_path, text)).turns[0].language is None
    elif len(code) < 2:
        with pytest.raises(ScenarioError, match="no language code"):
            load_scenario(write(tmp_path, text))
    else:
        assert load_scenario(write(tmp_path, text)).turns[0].language == code


@pytest.mark.parametrize(
    "word", ["010", "1e3", "yes", "off", "0x1F", "12:30:45", "2001-01-01", ".inf", "1_000", "true"]
)
def test_text_stays_text(tmp_path: Path, word: str) -> None:
    text = f"id: {word}\nparticipants: {{{word}: }}\n"
    text += f"turns: [{{id: {word}, type: say, text: {word}, expected_text: {word}}}]\ntags: [{word}]\n"
    if word == ".inf":  # a folder of that name would be hidden
        text = text.replace("id: .inf", "id: inf", 1)
    if word == "12:30:45":
        text = text.replace("id: 12:30:45", "id: 12-30-45", 1)
    found = load_scenario(write(tmp_path, text))
    turn = found.turns[0]
    assert list(found.participants) == [turn.id] == [turn.participant] == list(found.tags) == [word]
    assert (turn.text, turn.expected_text) == (word, word)


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    text = """\
x-said: &said {type: say, barge_in: false, ward: 1}
x-late: &late {start_at_ms: 900, ward: 2}
id: x
participants: {caller: &person {source_language: en}, callee: *person}
turns:
  - {<<: *said, id: a, participant: caller, text: &words Good morning}
  - {<<: [*said, *late], id: b, participant: callee, text: *words, barge_in: true}
"""
    a, b = load_scenario(write(tmp_path, text)).turns
    assert (a.type, a.text, a.barge_in, a.metadata) == ("say", "Good morning", False, {"ward": 1})
    # Its own keys come first, then those of the first mapping that is merged in.
    assert (b.text, b.barge_in, b.start_at_ms, b.metadata) == ("Good morning", True, 900, {"ward": 1})
    assert b.language == "en"


def test_participant_is_known_where_there_is_one(tmp_path: Path) -> None:
    [turn] = load_scenario(write(tmp_path, one_turn("type: say, text: Hi"))).turns
    assert turn.participant == "caller"
    text = one_turn("type: say, text: Hi", "{caller: , callee: }")
    with pytest.raises(ScenarioError, match="participant is missing: several take part"):
        load_scenario(write(tmp_path, text))


def test_no_metrics_are_all_metrics(tmp_path: Path) -> None:
    assert load_scenario(write(tmp_path, one_turn("type: say, text: Hi") + "metrics: []\n")).metrics is None


def test_a_file_by_windows(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    path.write_bytes(b"\xef\xbb\xbf" + one_turn("type: say, text: Grüße").replace("\n", "\r\n").encode())
    assert load_scenario(path).turns[0].text == "Grüße"


def test_audio_is_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, one_turn("type: play_audio, audio_file: audio/statement.wav"))
    monkeypatch.chdir(tmp_path.parent)
    relative = Path(tmp_path.name) / "scenario.yaml"
    assert load_scenario(path).turns[0].audio_file == tmp_path / "audio" / "statement.wav"
    assert load_scenario(relative).turns[0].audio_file == Path(tmp_path.name) / "audio" / "statement.wav"
    absolute = one_turn(f"type: play_audio, audio_file: {tmp_path}/audio/statement.wav")
    assert load_scenario(write(tmp_path, absolute)).turns[0].audio_file == tmp_path / "audio" / "statement.wav"


def test_scoring_needs_no_audio(tmp_path: Path) -> None:
    path = write(tmp_path, one_turn("type: play_audio, audio_file: gone.wav"))
    with pytest.raises(ScenarioError, match="no such recording"):
        load_scenario(path)
    assert load_scenario(path, need_audio=False).turns[0].audio_file == tmp_path / "gone.wav"


# Folders


def test_folders(tmp_path: Path) -> None:
    for name, scenario in (("b.yml", "b"), ("inner/a.yaml", "a"), (".hidden/c.yaml", "c"), ("notes.txt", "d")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(one_turn("type: say, text: Hi").replace("id: x", f"id: {scenario}"))
    assert [one.id for one in load_scenarios([tmp_path])] == ["b", "a"]
    assert [one.id for one in load_scenarios([tmp_path / "inner", tmp_path, tmp_path / "b.yml"])] == ["a", "b"]
    assert [one.id for one in load_scenarios([str(tmp_path / "b.yml")])] == ["b"]


def test_paths_that_are_none(tmp_path: Path) -> None:
    write(tmp_path, one_turn("type: say, text: Hi"))
    with pytest.raises(InputError, match=r"scenarios.yaml does not exist(.|\n)*did you mean scenario.yaml\?"):
        load_scenarios([tmp_path / "scenarios.yaml"])
    with pytest.raises(InputError, match="audio has no scenario"):
        load_scenarios([tmp_path / "audio"])
    with pytest.raises(InputError, match="cannot be read"):
        load_scenario(tmp_path / "scenarios.yaml")
    with pytest.raises(InputError, match="cannot be read"):
        load_scenario(tmp_path)


def test_two_scenarios_of_one_id(tmp_path: Path) -> None:
    write(tmp_path, one_turn("type: say, text: Hi"), "a.yaml")
    write(tmp_path, one_turn("type: say, text: Hi"), "b.yaml")
    write(tmp_path, one_turn("type: say"), "c.yaml")
    with pytest.raises(ScenarioError) as caught:
        load_scenarios([tmp_path])
    assert [(Path(p.file).name, p.line, p.field) for p in caught.value.problems] == [
        ("b.yaml", 1, "id"),
        ("c.yaml", 1, "id"),
        ("c.yaml", 4, "turns[0].text"),
    ]
    assert caught.value.message.splitlines()[:3] == [
        "3 problems in 2 files",
        str(tmp_path / "b.yaml"),
        "  line 1, id: another file has the scenario 'x'",
    ]


def test_errors_cross_processes() -> None:
    problems = [Problem("a.yaml", 3, "id", "wrong", found="5"), Problem("a.yaml", 4, "turns", "worse")]
    for chosen in (problems, problems[:1]):
        again = pickle.loads(pickle.dumps(ScenarioError(chosen)))
        assert (again.problems, again.message) == (tuple(chosen), ScenarioError(chosen).message)
    assert json.dumps(problems[0].as_json())


# When turns start


def test_schedule(tmp_path: Path) -> None:
    scenario = load_scenario(write(tmp_path, FULL))
    known = scenario.schedule({"statement": 2000, "correction": 1800})
    statement, correction, pause, bye = scenario.turns
    assert known == {
        "statement": Planned(statement, 500, True, 2000),
        # The answer may come as soon as somebody speaks: 500 + 700 at the earliest.
        "correction": Planned(correction, 1200, False, 1800),
        # 1200 + 1800
        "pause": Planned(pause, 3000, False, 1500),
        # The answer to the correction is not heard to its end before the correction begins.
        "bye": Planned(bye, 1200, False, 0),
    }
    assert [one.start_ms for one in known.values()] == [500, None, None, None]
    assert known["pause"].earliest_end_ms == 4500


def test_schedule_of_turns_that_follow(tmp_path: Path) -> None:
    text = """\
id: x
participants: {caller: }
turns:
  - {id: a, type: say, text: One}
  - {id: b, type: say, text: Two}
  - {id: c, type: silence, duration_ms: 300, after: {turn: b, event: start, delay_ms: 50}}
  - {id: d, type: say, text: Three, after: {turn: c, event: end}}
"""
    scenario = load_scenario(write(tmp_path, text))
    # a at 0, b when a has ended, c 50 ms after b, d when the 300 ms of c are over.
    assert [one.start_ms for one in scenario.schedule({"a": 1000}).values()] == [0, 1000, 1050, 1350]
    # How long a takes is not known: nothing after it is fixed.
    assert [one.start_ms for one in scenario.schedule().values()] == [0, None, None, None]
    assert [one.earliest_ms for one in scenario.schedule().values()] == [0, 0, 50, 350]
    assert scenario.turn("c").duration_ms == 300
