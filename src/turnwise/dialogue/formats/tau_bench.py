"""tau-bench: what an agent did on simulated tasks, several trials each, and the reward of every trial.

A task is a dialogue. Its exchanges are those of its first trial; the rewards of all trials stand on the first of them.
Tool calls between a user turn and the agent's answer belong to the exchange, but nothing here reads them.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.dialogue.formats.base import HeldDialogues, Tally, check_ids
from turnwise.dialogue.formats.fields import wrong_type
from turnwise.dialogue.records import Exchange
from turnwise.kernel.errors import InputError, shorten

NAME = "tau-bench"
ROLES = ("system", "user", "assistant", "tool")
STOP = "###STOP###"
"""With this the simulated user ends a dialogue; nobody answers it."""


class _Trial(NamedTuple):
    number: int
    reward: float
    messages: list[dict[str, Any]]
    place: str


def looks_like(data: Any) -> bool:
    """Whether parsed JSON has this format."""
    first = data[0] if isinstance(data, list) and data else None
    return isinstance(first, dict) and "traj" in first and "task_id" in first


def read(path: Path, data: Any, sha256: str) -> HeldDialogues:
    """All tasks of parsed JSON."""
    if not isinstance(data, list):
        raise wrong_type(str(path), "(whole file)", data, "a list of trials {task_id, reward, traj, trial}")
    tally = Tally()
    tasks: dict[str, list[_Trial]] = {}
    for number, raw in enumerate(data):
        task, trial = _trial(raw, f"{path}, entry {number}", tally)
        tasks.setdefault(task, []).append(trial)
    check_ids(tasks, str(path))
    for task, trials in tasks.items():
        trials.sort(key=lambda trial: trial.number)
        _check_trials(task, trials)
    _note_uneven(tasks, tally)
    held = {task: _exchanges(task, trials, tally) for task, trials in tasks.items()}
    return HeldDialogues(path, NAME, sha256, held, tally)


def _trial(raw: Any, place: str, tally: Tally) -> tuple[str, _Trial]:
    if not isinstance(raw, dict):
        raise wrong_type(place, "(trial)", raw, "an object {task_id, reward, traj, trial}")
    task, number, reward, messages = (raw.get(name) for name in ("task_id", "trial", "reward", "traj"))
    if isinstance(task, bool) or not isinstance(task, str | int):
        raise wrong_type(place, "task_id", task, "text or a whole number")
    place = f"{place} (task {task})"
    if isinstance(number, bool) or not isinstance(number, int):
        raise wrong_type(place, "trial", number, "a whole number")
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not (isfinite(reward) and 0 <= reward <= 1):
        raise wrong_type(place, "reward", reward, "a number between 0 and 1")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise wrong_type(place, "traj", messages, "a list of messages {role, content}")
    info = raw.get("info")
    if isinstance(info, dict) and "error" in info:
        tally.notes["trials broke off with an error; the reward that is written counts"] += 1
    return f"task-{task}", _Trial(number, float(reward), messages, place)


def _check_trials(task: str, trials: list[_Trial]) -> None:
    for one, other in pairwise(trials):
        if one.number == other.number:
            raise InputError(
                f"trial {one.number} of {task} is there twice",
                where=other.place,
                found=f"the same trial in {one.place.rpartition(', ')[2]}",
                expected="each trial of a task once",
                remedy="leave one of the two out, or number the trials 0, 1, 2 ...",
            )


def _note_uneven(tasks: dict[str, list[_Trial]], tally: Tally) -> None:
    counts = {task: len(trials) for task, trials in tasks.items()}
    if len(set(counts.values())) > 1:
        [(usual, _)] = Counter(counts.values()).most_common(1)
        odd = [task for task, count in counts.items() if count != usual]
        message = f"tasks have another number of trials than the usual {usual}, first {odd[0]} with {counts[odd[0]]}"
        tally.notes[message] += len(odd)


def _exchanges(task: str, trials: list[_Trial], tally: Tally) -> list[Exchange]:
    """The exchanges of the first trial that has any, with the rewards of all."""
    found = next((texts for trial in trials if (texts := _texts(trial, tally))), [(None, None)])
    rewards = tuple(trial.reward for trial in trials)
    return [
        Exchange(
            dialogue_id=task,
            turn_id=str(index),
            user=user,
            response=response,
            rewards=None if index else rewards,
        )
        for index, (user, response) in enumerate(found)
    ]


def _texts(trial: _Trial, tally: Tally) -> list[tuple[str | None, str | None]]:
    """What the user said and the last thing the agent said to it, for every user turn that the agent reacted to."""
    found: list[tuple[str | None, str | None]] = []
    heard: str | None = None
    waiting = False
    for number, message in enumerate(trial.messages):
        place = f"{trial.place}, message {number}"
        role, text = message.get("role"), _text(message.get("content"), place)
        if role not in ROLES:
            raise wrong_type(place, "role", role, " | ".join(ROLES))
        if role == "user":
            if waiting:
                _note_unanswered(heard, tally)
            heard, waiting = text, True
        elif role == "assistant" and (waiting or not found):
            found.append((heard, text))
            heard, waiting = None, False
        elif role == "assistant" and text is not None:
            found[-1] = (found[-1][0], text)
    if waiting:
        _note_unanswered(heard, tally)
    return found


def _note_unanswered(heard: str | None, tally: Tally) -> None:
    if STOP not in (heard or ""):
        tally.notes["user turns that the agent does not answer are left out"] += 1


def _text(content: Any, place: str) -> str | None:
    """A text, nothing (a tool call alone), or a list of parts, of which the texts count."""
    if content is None or isinstance(content, str):
        return content or None
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        parts = [part["text"] for part in content if isinstance(part.get("text"), str)]
        return "\n".join(parts) or None
    raise wrong_type(place, "content", shorten(content), "text")
