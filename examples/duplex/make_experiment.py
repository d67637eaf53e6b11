"""Makes `experiment/score/` from `experiment.yaml`: a made-up experiment of the challenge, with its final score.

What is averaged is worked out here with fractions of whole milliseconds and rounded half up where the challenge's
document rounds. Nothing of turnwise is used, so that its numbers can be held against these.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import yaml

HERE = Path(__file__).parent
LANGUAGES = {"cn": "dev_zh", "en": "dev_en"}
"""The folders of the results, and of the outputs they are about."""
LABELS = ("C_RESPOND", "C_RESUME", "C_UNCERTAIN_HANDLING", "C_UNKNOWN")
INTERRUPTION = (
    "Follow-up Questions",
    "Negation or Dissatisfaction",
    "Repetition Requests",
    "Silence or Termination",
    "Topic Switching",
)
RESUMED = ("Speech Directed at Others", "Third-party Speech_after", "User Real-time Backchannels")
REJECTED = ("Pause Handling", "Third-party Speech_before")
AFTER, BEFORE = RESUMED[1], REJECTED[1]
STOP, RESP, DELAY = "avg_latency_stop", "avg_latency_resp", "avg_first_time_delay"
RESPOND, RESUME, REJECT = "average_RESPOND_score", "average_RESUME_score", "reject_rate"
SCORE_OF = dict.fromkeys(INTERRUPTION, RESPOND) | dict.fromkeys(RESUMED, RESUME) | dict.fromkeys(REJECTED, REJECT)

SPREAD = 0.3
"""Times of single conversations lie so far around what is usual, as a share of it."""
GRID_MS, WORD_GRID_MS = 2, 10
"""Of segments of speech, and of the words of a recogniser."""

Interval = tuple[int, int]
Values = dict[str, Fraction]


# Single conversations


def around(draw: np.random.Generator, usual: int, grid: int) -> int:
    """A time near the usual one."""
    least, most = round(usual * (1 - SPREAD)) // grid, round(usual * (1 + SPREAD)) // grid
    return int(draw.integers(least, most + 1)) * grid


def between(draw: np.random.Generator, least: int, most: int) -> int:
    """Any time between two, in milliseconds."""
    return int(draw.integers(least // GRID_MS, most // GRID_MS + 1)) * GRID_MS


def intervals(draw: np.random.Generator, label: str, usual: Mapping[str, int]) -> tuple[list[Interval], list[Interval]]:
    """When both sides spoke, and when the agent was waited for, in a conversation that got a label.

    The user asks, the agent answers, and somebody speaks into the answer.
    """
    asked = between(draw, 2600, 6200)
    answered = asked + around(draw, usual["delay"], GRID_MS)
    start = answered + between(draw, 1200, 4200)
    end = start + between(draw, 900, 3200)
    silent = min(end, start + around(draw, usual["stop"], GRID_MS))
    again = end + around(draw, usual["resp"], GRID_MS)
    first = (asked, answered)
    if label == "C_RESPOND":
        return [(start, silent)], [first, (end, again)]
    if label == "C_RESUME":  # the agent talks on
        return [(start, end)], [first]
    if label == "C_UNCERTAIN_HANDLING":  # it falls silent, begins again too soon, and answers in the end
        half = silent + (end - silent) // 2 // GRID_MS * GRID_MS
        return [(start, silent), (half, end)], [first, (end, again)]
    return [], [first]  # it had finished before


def delays(draw: np.random.Generator, usual: int, answers: int) -> list[int]:
    """From the end of the user's first sentence to the agent's first word, where that came in time."""
    return [around(draw, usual, WORD_GRID_MS) for _ in range(answers)]


# One category in one language


def make_category(folder: Path, language: str, category: str, short: str, given: Mapping[str, Any]) -> Values:
    """Write the files of a category and give the values of its `_all.json`."""
    draw = np.random.default_rng(zlib.crc32(f"{language}/{category}".encode()))
    values: Values = {}
    if "outputs" in given:
        in_time, early, _silent = given["outputs"]
        rate = Fraction(in_time, in_time + early)
        write(folder / "reject_rate.json", {"total": in_time + early, "ahead": in_time, "ratio": float(rate)})
    else:
        labels = [label for label, n in zip(LABELS, given["labels"], strict=True) for _ in range(n)]
        labels = [labels[place] for place in draw.permutation(len(labels))]
        in_time = len(labels) - given.get("early", 0)
        ids = [f"{1 + place % 10:04}_{int(n):04}" for place, n in enumerate(draw.permutation(60)[: len(labels)])]
        tags = [{"key": f"{category}_{one}", "behaviour": [label]} for one, label in zip(ids, labels, strict=True)]
        write_lines(folder / f"{category}_content_tags.jsonl", [json.dumps(tag) for tag in tags])
        rate = half_up(Fraction(labels.count("C_RESPOND" if category in INTERRUPTION else "C_RESUME"), len(labels)), 2)
        if "stop" in given:
            found = [(f"{short}_{one}", *intervals(draw, label, given)) for one, label in zip(ids, labels, strict=True)]
            values = write_intervals(folder / f"{category}_latency_results.json", found)
    found_delays = delays(draw, given["delay"], in_time)
    values[DELAY] = mean_seconds(found_delays)
    about = {"folder": f"exp/example/{LANGUAGES[language]}/{category}"}
    write(folder / f"{category}_ftd.json", {**about, DELAY: number(values[DELAY]), "num_samples": in_time})
    values[SCORE_OF[category]] = rate
    if category not in INTERRUPTION:
        values = {name: values[name] for name in (DELAY, SCORE_OF[category])}
    printed = {name: float(value) if name == SCORE_OF[category] else number(value) for name, value in values.items()}
    write(folder / f"{category}_all.json", printed)
    return values


def write_intervals(path: Path, found: Sequence[tuple[str, list[Interval], list[Interval]]]) -> Values:
    """The intervals of all conversations of a category; gives their means."""
    rows = []
    for key, stop, resp in found:
        lists = {"latency_stop_list": stop, "latency_resp_list": resp}
        seconds = {name: [[ms / 1000 for ms in one] for one in listed] for name, listed in lists.items()}
        rows.append({"key": key, **seconds})
    means = {
        STOP: mean_seconds([end - start for _, stop, _ in found for start, end in stop]),
        RESP: mean_seconds([end - start for _, _, resp in found for start, end in resp]),
    }
    write(path, {"results": rows, "average_latency": {name: number(value) for name, value in means.items()}})
    return means


# The final score


def final_score(found: Mapping[tuple[str, str], Values]) -> dict[str, Any]:
    """The challenge's `all.json`, from the values of the twenty `_all.json`."""

    def over(name: str, categories: Sequence[str]) -> Fraction:
        return mean([found[language, category][name] for language in LANGUAGES for category in categories])

    rejected = (*RESUMED, *REJECTED)
    scores = {category: half_up(over(SCORE_OF[category], [category]), 3) for category in rejected}
    parts = [scores[category] for category in rejected if category not in (AFTER, BEFORE)]
    parts.append(mean([scores[AFTER], scores[BEFORE]]))
    interruption = half_up(100 * over(RESPOND, INTERRUPTION), 2)
    three = [half_up(over(STOP, INTERRUPTION), 3), half_up(over(RESP, INTERRUPTION), 3)]
    three.append(half_up(over(DELAY, (*INTERRUPTION, *rejected)), 3))
    return {
        "interrupt": {
            "Interruption Total Score": float(interruption),
            STOP: number(three[0]),
            RESP: number(three[1]),
            DELAY: number(half_up(over(DELAY, INTERRUPTION), 3)),
        },
        "reject": {
            category: {
                SCORE_OF[category]: float(scores[category]),
                DELAY: number(half_up(over(DELAY, [category]), 3)),
            }
            for category in rejected
        },
        "First Response Delay": number(three[2]),
        "Interruption Total Score": float(interruption),
        "Rejection Total Score": float(half_up(100 * mean(parts), 3)),
        "Total Delay": number(half_up(mean(three), 3)),
    }


# Arithmetic and files


def mean(values: Sequence[Fraction]) -> Fraction:
    """The plain mean."""
    return sum(values, Fraction(0)) / len(values)


def mean_seconds(milliseconds: Sequence[int]) -> Fraction:
    """The mean in seconds; as published, 0 where there is nothing to average."""
    return Fraction(sum(milliseconds), 1000 * len(milliseconds)) if milliseconds else Fraction(0)


def half_up(value: Fraction, digits: int) -> Fraction:
    """Rounded as on paper."""
    return Fraction(floor(value * 10**digits + Fraction(1, 2)), 10**digits)


def number(seconds: Fraction) -> float:
    """As it is printed: 0 and not 0.0 for none."""
    return float(seconds) if seconds else 0


def write(path: Path, value: Mapping[str, Any]) -> None:
    """A JSON file."""
    write_lines(path, [json.dumps(value, indent=2)])


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """A text file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def make_experiment(root: Path) -> int:
    """All files of the experiment; says how many categories it has."""
    given = yaml.safe_load((HERE / "experiment.yaml").read_text(encoding="utf-8"))
    score = root / "experiment" / "score"
    found = {
        (language, category): make_category(
            score / language / category, language, category, one["short"], one[language]
        )
        for language in LANGUAGES
        for category, one in given.items()
    }
    write(score / "all.json", final_score(found))
    return len(given)
