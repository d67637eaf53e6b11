"""A whole experiment of the challenge as files, with totals that can be worked out by hand."""

from __future__ import annotations

import json
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.kernel.errors import InputError

LANGUAGES = ("cn", "en")
RESPOND = {
    "Follow-up Questions": (0.5, 0.6),
    "Negation or Dissatisfaction": (0.6, 0.7),
    "Repetition Requests": (0.7, 0.8),
    "Silence or Termination": (0.8, 0.9),
    "Topic Switching": (0.9, 1.0),
}
RESUME = {
    "Speech Directed at Others": (0.4, 0.6),
    "Third-party Speech_after": (0.2, 0.4),
    "User Real-time Backchannels": (0.8, 1.0),
}
REJECT = {"Pause Handling": (0.5, 0.7), "Third-party Speech_before": (0.0, 0.2)}
"""The shares in Chinese and in English; all of ten conversations."""
NAMES = (*RESPOND, *RESUME, *REJECT)
STOP, RESP, DELAY = (0.5, 1.0), (1.0, 2.0), (1.0, 2.0)
"""Seconds in Chinese and in English; Third-party Speech_before has no delay at all."""
PLACES = [f"{language}/{name}" for language, name in product(LANGUAGES, NAMES)]

INTERRUPTION = 100 * (0.5 + 0.6 + 0.7 + 0.8 + 0.9 + 0.6 + 0.7 + 0.8 + 0.9 + 1.0) / 10  # 75
REJECTION = 100 * (0.5 + (0.3 + 0.1) / 2 + 0.9 + 0.6) / 4  # 55: languages first, then before and after, then four parts
FIRST, FIRST_SPEC = 1.5, 18 * 1.5 / 20
TOTAL, TOTAL_SPEC = (0.75 + 1.5 + FIRST) / 3, (0.75 + 1.5 + FIRST_SPEC) / 3  # 1.25 and 1.2


def delay_score(seconds: float, least: float = 0.624, base: float = 2.531, span: float = 40) -> float:
    return 100 - span * log(seconds / least) / log(base / least)


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def write_category(folder: Path, name: str, at: int) -> None:
    """All files of one category, that of the averages among them."""
    delay = {"avg_first_time_delay": 0 if name == "Third-party Speech_before" else DELAY[at]}
    n = 0 if name == "Third-party Speech_before" else 10
    write(folder / f"{name}_ftd.json", {"folder": str(folder), **delay, "num_samples": n})
    if name in REJECT:
        share = REJECT[name][at]
        write(folder / "reject_rate.json", {"total": 10, "ahead": round(10 * share), "ratio": share})
        write(folder / f"{name}_all.json", {**delay, "reject_rate": share})
        return
    label, share = ("C_RESPOND", RESPOND[name][at]) if name in RESPOND else ("C_RESUME", RESUME[name][at])
    given = [label if n < round(10 * share) else "C_UNKNOWN" for n in range(10)]
    rows = [json.dumps({"key": f"t{n}", "behaviour": [one]}) for n, one in enumerate(given)]
    write(folder / f"{name}_content_tags.jsonl", "\n".join(rows) + "\n")
    if name not in RESPOND:
        write(folder / f"{name}_all.json", {**delay, "average_RESUME_score": share})
        return
    stop, resp = STOP[at], RESP[at]
    results = [
        {"key": f"k{n}", "latency_stop_list": [[3.0, 3.0 + stop]], "latency_resp_list": [[5.0, 5.0 + resp]]}
        for n in range(10)
    ]
    latency = {"avg_latency_stop": stop, "avg_latency_resp": resp}
    write(folder / f"{name}_latency_results.json", {"results": results, "average_latency": latency})
    write(folder / f"{name}_all.json", {**latency, **delay, "average_RESPOND_score": share})


def write_experiment(folder: Path) -> Path:
    """All categories in both languages."""
    for at, language in enumerate(LANGUAGES):
        for name in NAMES:
            write_category(folder / language / name, name, at)
    return folder


def run(**options: Any) -> turnwise.Result:
    return turnwise.evaluate(suite="duplex", resamples=100, **options)


def refused(**options: Any) -> str:
    with pytest.raises(InputError) as caught:
        run(**options)
    assert caught.value.exit_code == 2
    return str(caught.value)


def change(path: Path, **fields: Any) -> None:
    write(path, {**json.loads(path.read_text()), **fields})


def findings(result: turnwise.Result, check: str) -> list[str]:
    return [one["message"] for one in result.summary["run"]["findings"] if one["check"] == check]
