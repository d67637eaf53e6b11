"""Conversations of the challenge with transcripts, and a judge on loopback whose answers are known beforehand.

The agent's first words name a colour, and the judge labels by the colour: so every share can be counted by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.duplex.experiments import LANGUAGES, REJECT, RESPOND, RESUME
from tests.judge.server import MODEL, Reply, Request, Server, completion

LABEL_OF = {"blue": "C_RESPOND", "green": "C_RESUME", "amber": "C_UNCERTAIN_HANDLING", "grey": "C_UNKNOWN"}
UNREADABLE = "black"
COLOURS = {
    "en": {**dict.fromkeys(RESPOND, ("blue", "green")), **dict.fromkeys(RESUME, ("green", "green"))},
    "cn": {**dict.fromkeys(RESPOND, ("blue", "blue")), **dict.fromkeys(RESUME, ("green", "amber"))},
}
"""Two conversations in every category and language that is scored by labels."""
ASKED = 2 * 2 * (len(RESPOND) + len(RESUME))

INTERRUPTION = 100 * (5 * 0.5 + 5 * 1.0) / 10  # 75: one of two in English, both in Chinese
REJECTION = 100 * (0.75 + 0.75 + 1 + (0.75 + 1) / 2) / 4  # 84.375: three times (1 + 0.5) / 2; the agent always waits
BEHAVIOUR = {"C_RESPOND": 15 / 32, "C_RESUME": (5 + 6 + 3) / 32, "C_UNCERTAIN_HANDLING": 3 / 32, "C_UNKNOWN": 0.0}


def call(
    key: str, colour: str, category: str | None = "Topic Switching", number: int = 0, **more: Any
) -> dict[str, Any]:
    """A user who says something at 1 s and at 6 s, and an agent that says a colour.

    The same words are the same question, and asked once: a number tells two conversations apart.
    """
    said = [{"start": 1, "end": 3, "text": f"caller {number}"}, {"start": 6, "end": 8, "text": "only one please"}]
    first = 9.0 if category == "Third-party Speech_before" else 4.0
    words = [{"start": first, "end": 11.0, "text": colour}]
    speech = {"user": [[1, 3], [6, 8]], "agent": [[first, 11]], "sentences": said, "words": words}
    about = {"language": "en"} if category is None else {"language": "en", "category": category}
    return {"key": key, **speech, **about, **more}


def challenge(*, labelled: bool = False) -> Iterator[dict[str, Any]]:
    """Two conversations in every category and language, with or without what the judge would say."""
    for place, (language, category) in enumerate(product(LANGUAGES, (*RESPOND, *RESUME, *REJECT))):
        for n, colour in enumerate(COLOURS[language].get(category, ("grey", "grey"))):
            given = {"behaviour": LABEL_OF[colour]} if labelled and category not in REJECT else {}
            yield call(f"{language}/{category}/{n}", colour, category, 2 * place + n, language=language, **given)


def by_colour(request: Request) -> Reply:
    """The label of the colour that stands in what the judge is shown; chatter where it is the unreadable one."""
    shown = request.body["messages"][1]["content"]
    if UNREADABLE in shown:
        return completion("I would rather not say.")
    (label,) = (label for colour, label in LABEL_OF.items() if colour in shown)
    return completion(json.dumps({"reasoning": "The colour tells.", "behaviour": label}))


def loopback() -> Server:
    """The judge."""
    return Server(by_colour)


def asking(server: Server, **options: Any) -> dict[str, Any]:
    """The options that name it."""
    return {"judge_url": server.url, "judge_model": MODEL, **options}
