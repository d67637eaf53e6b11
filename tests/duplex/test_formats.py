"""Which format a path has, and tau-voice and EVA: against the published records, and rule by rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.duplex.writing import audio, end, insert, lines, long_grid, simulation, start, text, tick, values
from tests.shared_data import shared
from turnwise.duplex.read import FORMATS, read_conversations
from turnwise.duplex.records import BACKCHANNEL, NON_DIRECTED, VOCAL_TIC, Label, Segment, Timeline
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError

A, U = "framework_agent", "elevenlabs_user"


def only(path: Path, form: str | None = None) -> Timeline:
    (timeline,) = read_conversations(path, form)
    return timeline


# tau-voice


def test_tau_voice_has_the_published_segments() -> None:
    found = read_conversations(shared("tau_voice", "experiment"))
    assert found.name == "tau_voice"
    assert [(t.key[:8], len(t.user or ()), len(t.agent or ())) for t in found] == [
        ("49b22f0c", 10, 15),
        ("7c6a3e3e", 15, 19),
        ("cd9c5ed2", 15, 17),
    ]
    first = next(iter(found))
    assert (first.tick, first.seconds) == (0.2, 973 * 0.2)  # 973 ticks
    assert first.metadata == {"task_id": "40", "trial": "0", "domain": "retail"}
    kinds = [label.kind for timeline in found for label in timeline.labels]
    assert kinds.count(BACKCHANNEL) == 3  # as many as expected_metrics.json counts
    assert [(one.count, one.message.split(":")[0]) for one in found.findings] == [
        (3, "speech of the user in the very last tick alone was left out")
    ]


def test_tau_voice_is_found_from_a_folder_a_file_and_the_results() -> None:
    root = shared("tau_voice", "experiment")
    keys = [timeline.key for timeline in read_conversations(root)]
    for path in (root / "results.json", root / "simulations"):
        assert [timeline.key for timeline in read_conversations(path)] == keys
    assert only(root / "simulations" / f"{keys[1]}.json").key == keys[1]


def test_tau_voice_labels(tmp_path: Path) -> None:
    """Ticks of 0.5 s: a backchannel, speech with a cough and an aside in it, then a cough of two ticks and an aside."""
    action = {"turn_taking_action": {"action": "backchannel"}}
    ticks = [
        tick(agent=True),
        tick(user=True, agent=True, **action, speech_effects=insert("vocal_tic")),
        tick(),
        tick(),
        tick(user=True, source_effects=insert("non_directed_phrase", "wait")),
        tick(user=True, speech_effects=insert("vocal_tic", "ahem")),
        tick(user=True, **action),
        tick(source_effects=insert("vocal_tic", "cough")),
        tick(source_effects=insert("vocal_tic", "cough")),
        tick(source_effects=insert("non_directed_phrase", "shh")),
        tick(agent=True),
        tick(user=True, agent=True),
    ]
    simulation(tmp_path / "simulations" / "s.json", ticks)
    values(tmp_path / "results.json", {"info": {"audio_native_config": {"tick_duration_seconds": 0.5}}})
    timeline = only(tmp_path)
    assert timeline.user == (Segment(0.5, 1.0), Segment(2.0, 3.5))  # the last tick alone is no turn
    assert timeline.agent == (Segment(0.0, 1.0), Segment(5.0, 6.0))
    assert timeline.labels == (
        Label(0.5, 1.0, BACKCHANNEL),
        Label(2.0, 3.5, VOCAL_TIC, "ahem", directed=True),
        Label(3.5, 4.5, VOCAL_TIC, "cough"),
        Label(4.5, 5.0, NON_DIRECTED, "shh"),
    )
    assert (timeline.tick, timeline.seconds, timeline.metadata) == (0.5, 6.0, {"task_id": "7", "trial": "1"})


def test_tau_voice_without_results_says_which_tick_it_takes(tmp_path: Path) -> None:
    timeline = only(simulation(tmp_path / "s.json", [tick(user=True), tick(user=True), tick()]))
    assert timeline.user == (Segment(0.0, 0.4),)
    assert timeline.notes == ("the length of a tick is not given; 0.2 s is taken",)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({"ticks": 5}, "ticks has the wrong type"),
        ({"ticks": [5]}, "a tick has the wrong type"),
        ({"ticks": [{"user_chunk": {"contains_speech": "yes"}}]}, "contains_speech has the wrong type"),
        ({"ticks": [{"user_chunk": []}, {"agent_chunk": 3}]}, "agent_chunk has the wrong type"),
        ({"ticks": [{"user_chunk": {"speech_effects": {"speech_insert": 4}}}]}, "speech_insert has the wrong type"),
    ],
)
def test_a_broken_simulation_is_left_out_and_named(tmp_path: Path, content: Any, what: str) -> None:
    simulation(tmp_path / "good.json", [tick(user=True), tick()])
    values(tmp_path / "bad.json", content)
    found = read_conversations(tmp_path, "tau_voice")
    assert [timeline.key for timeline in found] == ["good"]
    assert len(found) == 1
    (skipped,) = (one for one in found.findings if one.check == "skipped")
    assert what in skipped.message
    assert "bad.json" in skipped.message
    with pytest.raises(InputError, match=what):
        read_conversations(tmp_path / "bad.json", "tau_voice")


# EVA


def test_eva_gives_the_published_context() -> None:
    path = shared("eva", "record_1.1.2")
    expected = json.loads((path / "expected_processor_context.json").read_text())
    timeline = only(path)
    assert timeline.key == "record_1.1.2"
    assert timeline.context == {
        name: expected[name]
        for name in (
            "audio_timestamps_assistant_turns",
            "audio_timestamps_user_turns",
            "num_assistant_turns",
            "num_user_turns",
            "latency_assistant_turns",
            "assistant_interrupted_turns",
            "user_interrupted_turns",
        )
    }
    first = expected["audio_timestamps_assistant_turns"]["0"][0]
    assert timeline.agent is not None
    assert timeline.user is not None
    assert timeline.agent[0] == Segment(0.0, first[1] - first[0], "Hello, how can I help you today?")
    assert timeline.user[0].start == expected["audio_timestamps_user_turns"]["1"][0][0] - first[0]
    assert len(timeline.tool_calls) == expected["num_tool_calls"]
    assert timeline.tool_calls[0] == 1772403773648 / 1000 - first[0]  # get_reservation in audit_log.json
    assert timeline.notes == ()


def test_eva_turns(tmp_path: Path) -> None:
    """The user begins, goes on before an answer, is answered; then interrupts."""
    events = [
        start(U, 100.0),
        end(U, 101.0),
        start(U, 102.0),
        end(U, 103.0),
        start(A, 103.5),
        start(U, 105.0),
        end(A, 105.25),
        end(U, 106.0),
        start(A, 106.5),
        end(A, 107.0),
    ]
    lines(tmp_path / "run" / "r1" / "elevenlabs_events.jsonl", *events)
    timeline = only(tmp_path / "run")
    assert timeline.key == "r1"
    assert timeline.user == (Segment(0.0, 1.0), Segment(2.0, 3.0), Segment(5.0, 6.0))
    assert timeline.agent == (Segment(3.5, 5.25), Segment(6.5, 7.0))
    assert timeline.context["audio_timestamps_user_turns"] == {
        "1": [[100.0, 101.0], [102.0, 103.0]],
        "2": [[105.0, 106.0]],
    }
    assert timeline.context["latency_assistant_turns"] == {"1": 0.5, "2": 0.5}
    assert timeline.context["user_interrupted_turns"] == [2]
    assert timeline.context["assistant_interrupted_turns"] == []


def test_eva_closes_what_is_open_and_says_so(tmp_path: Path) -> None:
    events = [end(U, 9.0), start(U, 10.0), start(A, 12.0), end(A, 13.0), start(U, 14.0)]
    last = {"timestamp": 15500, "type": "connection_state", "data": {}}
    lines(tmp_path / "elevenlabs_events.jsonl", *events, last)
    timeline = only(tmp_path)
    assert timeline.user == (Segment(1.0, 3.0), Segment(5.0, 6.5))  # until the agent's start; until the end of the log
    assert timeline.notes == (
        "an end of audio of the user without a beginning was left out",
        "audio of the user that does not end was closed at the next audio event",
    )


def test_eva_sorts_events(tmp_path: Path) -> None:
    lines(tmp_path / "elevenlabs_events.jsonl", start(U, 3.0), end(U, 4.0), start(A, 1.0), end(A, 2.0))
    timeline = only(tmp_path)
    assert timeline.agent == (Segment(0.0, 1.0),)
    assert timeline.user == (Segment(2.0, 3.0),)
    assert timeline.notes == ("events were not in order and were sorted",)


# Which format it is


def everything(root: Path) -> dict[str, Path]:
    """One small example of each format."""
    simulation(root / "tau_voice" / "a.json", [tick(user=True), tick()])
    lines(root / "eva" / "r" / "elevenlabs_events.jsonl", start(A, 1.0), end(A, 2.0))
    values(root / "full_duplex_bench" / "pause_handling" / "1" / "output.json", {"text": "", "chunks": []})
    values(root / "full_duplex_bench" / "pause_handling" / "1" / "pause.json", [{"timestamp": [0.5, 1.0]}])
    audio(root / "humdial" / "en" / "Pause Handling" / "0001_0001.wav")
    audio(root / "humdial" / "en" / "Pause Handling" / "0001_0001_output.wav")
    audio(root / "stereo" / "a.wav", [(0, 1)], [(1, 2)])
    audio(root / "pairs" / "a_user.wav")
    audio(root / "pairs" / "a_agent.wav")
    text(root / "audacity" / "a.txt", "0\t1\tuser\n")
    text(root / "rttm" / "a.rttm", "SPEAKER a 1 0 1 <NA> <NA> user <NA> <NA>\n")
    text(root / "textgrid" / "a.TextGrid", long_grid({"user": [(0, 1, "hi")]}))
    lines(root / "timelines" / "a.jsonl", {"key": "a", "user": [], "agent": []})
    return {name: root / name for name in FORMATS}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_told_from_the_others(tmp_path: Path, name: str) -> None:
    path = everything(tmp_path)[name]
    found = read_conversations(path)
    assert (found.name, len(found)) == (name, 1)
    assert [t.key for t in read_conversations(path, name.replace("_", "-"))] == [t.key for t in found]
    before = list(found.fingerprint_parts())
    assert before
    moved = path.rename(tmp_path / "elsewhere")
    assert list(read_conversations(moved, name).fingerprint_parts()) == before


@pytest.mark.parametrize(("one", "other"), [("rttm", "textgrid"), ("pairs", "stereo"), ("tau_voice", "eva")])
def test_two_formats_in_one_folder_are_ambiguous(tmp_path: Path, one: str, other: str) -> None:
    everything(tmp_path)
    (tmp_path / "both").mkdir()
    for name in (one, other):
        (tmp_path / name).rename(tmp_path / "both" / name)
    with pytest.raises(InputError, match=r"more than one format fits(.|\n)*--format"):
        read_conversations(tmp_path / "both")
    assert read_conversations(tmp_path / "both", one).name == one


def test_what_cannot_be_told_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean stereo"):
        read_conversations(tmp_path, "sterio")
    with pytest.raises(UsageError, match="in memory"):
        read_conversations([{"key": "a"}], "rttm")
    with pytest.raises(InputError, match="the folder is empty"):
        read_conversations(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_conversations(tmp_path / "nowhere")
    with pytest.raises(InputError, match="cannot be read"):
        read_conversations(tmp_path / "nul\x00")
    (tmp_path / "junk.bin").write_bytes(bytes(range(256)) * 10)
    for path in (tmp_path, tmp_path / "junk.bin"):
        with pytest.raises(InputError, match="the format is not known"):
            read_conversations(path)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe\x80junk" * 50, b'{"ticks": [', b"\xef\xbb\xbf"])
def test_no_format_stumbles_over_junk(tmp_path: Path, name: str, content: bytes) -> None:
    """Every file of an example replaced by junk is an error that names what is wrong, or a counted finding."""
    path = everything(tmp_path)[name]
    files = [one for one in sorted(path.rglob("*")) if one.is_file()]
    for one in files:
        one.write_bytes(content)
    with pytest.raises(TurnwiseError) as error:
        read_conversations(path, name)
    assert str(path) in str(error.value)
