"""tau-bench: tasks with the rewards of all their trials and the exchanges of the first."""

from __future__ import annotations

import json
from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import shared
from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.read import read_dialogues
from turnwise.dialogue.records import Exchange
from turnwise.kernel.errors import InputError

FACTS = ("what", "where", "found", "expected", "remedy")


def message(role: str, content: Any = None, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


CALL = message("assistant", tool_calls=[{"function": {"name": "search", "arguments": "{}"}}])
TALK = [
    message("system", "policy"),
    message("user", "A flight, please."),
    message("assistant", "Let me look.", tool_calls=CALL["tool_calls"]),
    message("tool", "[]", name="search"),
    CALL,
    message("tool", "[]", name="search"),
    message("assistant", "There is none."),
    message("user", "Then a person."),
    CALL,
    message("tool", "Transfer successful"),
    message("user", "###STOP###"),
]


def trial(task: Any = 0, number: Any = 0, reward: Any = 1.0, traj: Any = TALK, **more: Any) -> dict[str, Any]:
    return {"task_id": task, "reward": reward, "info": {}, "traj": traj, "trial": number, **more}


def write(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def read(folder: Path, *trials: Any) -> Dialogues:
    return read_dialogues(write(folder / "x.json", list(trials)))


def test_a_task_is_a_dialogue(tmp_path: Path) -> None:
    other = [message("user", "Hi"), message("assistant", "Hello")]
    trials = [trial(7, 1, 0.0, other), trial("b", 0, 1, other), trial(7, 0), trial("b", 1, 0.5, [])]
    dialogues = read(tmp_path, *trials)
    assert (dialogues.format, list(dialogues.ids())) == ("tau-bench", ["task-7", "task-b"])
    assert dialogues.exchanges("task-7") == [  # of trial 0, wherever it stands in the file
        Exchange(
            dialogue_id="task-7",
            turn_id="0",
            user="A flight, please.",
            response="There is none.",
            rewards=(1.0, 0.0),
        ),
        Exchange(dialogue_id="task-7", turn_id="1", user="Then a person."),  # a tool call is no text
    ]
    assert [exchange.rewards for exchange in dialogues.exchanges("task-b")] == [(1.0, 0.5)]
    assert dialogues.tally.notes == {}
    assert read_dialogues(dialogues.path, "tau-bench").sha256 == dialogues.sha256


def test_texts_in_parts(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "One."}, {"type": "tool_use", "name": "x"}, {"type": "text", "text": "Two."}]
    [exchange] = read(tmp_path, trial(traj=[message("user", "Hi"), message("assistant", parts)])).exchanges("task-0")
    assert exchange.response == "One.\nTwo."


def test_an_agent_that_speaks_first(tmp_path: Path) -> None:
    talk = [message("assistant", "Hello!"), message("user", "Hi"), message("assistant", "What?")]
    found = read(tmp_path, trial(traj=talk)).exchanges("task-0")
    assert [(exchange.user, exchange.response) for exchange in found] == [(None, "Hello!"), ("Hi", "What?")]


def test_a_trial_that_broke_off_counts_and_is_noted(tmp_path: Path) -> None:
    dialogues = read(tmp_path, trial(0, 0, 0.0, [], info={"error": "rate limit"}), trial(0, 1))
    first, _ = dialogues.exchanges("task-0")
    assert (first.user, first.rewards) == ("A flight, please.", (0.0, 1.0))  # the first trial with an exchange
    assert [n for note, n in dialogues.tally.notes.items() if "broke off" in note] == [1]
    [alone] = read(tmp_path, trial(0, 0, 0.0, [])).exchanges("task-0")
    assert (alone.user, alone.response, alone.rewards) == (None, None, (0.0,))


def test_user_turns_without_an_answer_are_noted(tmp_path: Path) -> None:
    talk = [message("user", "Hi"), message("user", "Hello?"), message("assistant", "Yes"), message("user", "Bye")]
    dialogues = read(tmp_path, trial(traj=talk))
    assert [(exchange.user, exchange.response) for exchange in dialogues.exchanges("task-0")] == [("Hello?", "Yes")]
    assert list(dialogues.tally.notes.values()) == [2]


def test_tasks_with_another_number_of_trials_are_noted(tmp_path: Path) -> None:
    trials = [trial(task, number) for task in range(4) for number in range(3) if (task, number) != (2, 1)]
    dialogues = read(tmp_path, *trials)
    assert list(dialogues.tally.notes.items()) == [
        ("tasks have another number of trials than the usual 3, first task-2 with 2", 1)
    ]


# Name: data, what the message must say beside the file's name.
BAD: dict[str, tuple[Any, list[str]]] = {
    "an object": ({"task_id": 0}, ["list of trials"]),
    "no trial": ([], ["no dialogue"]),
    "trial": ([trial(), 5], ["entry 1"]),
    "no task": ([{**trial(), "task_id": None}], ["entry 0", "task_id"]),
    "task": ([trial(1.5)], ["entry 0", "task_id"]),
    "task with NUL": ([trial("a\u0000")], ["dialogue id"]),
    "no number": ([trial(3, None)], ["entry 0 (task 3)", "trial"]),
    "number": ([trial(3, "0")], ["task 3", "trial"]),
    "no reward": ([trial(reward=None)], ["reward"]),
    "reward": ([trial(reward="1")], ["reward"]),
    "reward as truth": ([trial(reward=True)], ["reward"]),
    "negative reward": ([trial(reward=-1)], ["reward"]),
    "traj": ([trial(traj=None)], ["traj"]),
    "messages": ([trial(traj=["hi"])], ["traj"]),
    "role": ([trial(traj=[*TALK, message("bot", "x")])], ["task 0", "message 11", "role"]),
    "content": ([trial(traj=[message("user", 5)])], ["message 0", "content"]),
    "a trial twice": (
        [trial(4, 0), trial(4, 1), trial(4, 0)],
        ["trial 0 of task-4 is there twice", "entry 2", "entry 0"],
    ),
    "a task as text and as number": ([trial(4, 0), trial("4", 0)], ["trial 0 of task-4 is there twice"]),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_what_is_wrong_is_said_with_its_place(name: str, tmp_path: Path) -> None:
    data, words = BAD[name]
    path = write(tmp_path / "bad.json", data)
    with pytest.raises(InputError) as caught:
        read_dialogues(path, "tau-bench")
    error = caught.value
    assert [fact for fact in FACTS if not getattr(error, fact)] == []
    assert str(path) in error.message
    said = error.message.replace(str(path), "")
    assert [word for word in words if word not in said] == [], error.message
    assert len(said) < 1000


# The published trajectories


def test_published_trajectories() -> None:
    dialogues = read_dialogues(shared("tau_bench", "gpt-4o-airline.json"))
    assert (dialogues.format, len(dialogues.facts)) == ("tau-bench", 50)
    first = [dialogues.exchanges(task)[0].rewards or () for task in dialogues.ids()]
    assert Counter(len(rewards) for rewards in first) == {4: 50}  # 200 trials
    assert dialogues.tally.fields["rewards"] == 50
    assert dialogues.tally.notes == {}
    # pass^k as published: the chance that k trials, drawn without replacement, all succeed.
    solved = [sum(reward == 1 for reward in rewards) for rewards in first]
    passed = [sum(comb(c, k) / comb(4, k) for c in solved) / 50 for k in (1, 2, 3, 4)]
    assert passed == pytest.approx([0.42, 0.2733, 0.22, 0.2], abs=5e-5)


def test_published_exchanges_against_the_messages() -> None:
    path = shared("tau_bench", "gpt-4o-airline.json")
    dialogues = read_dialogues(path)
    for one in json.loads(path.read_bytes()):
        if one["trial"] == 0:
            said = [m["content"] for m in one["traj"] if m["role"] == "user"]
            found = dialogues.exchanges(f"task-{one['task_id']}")
            answered = said[:-1] if one["traj"][-1]["role"] == "user" else said
            assert [exchange.user for exchange in found] == answered
            answers = [exchange.response for exchange in found if exchange.response is not None]
            texts = [m["content"] for m in one["traj"] if m["role"] == "assistant" and m["content"]]
            assert [text for text in texts if text in answers] == answers
