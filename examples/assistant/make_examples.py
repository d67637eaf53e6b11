"""Make `turns.jsonl` and `export.csv` from `sessions.yaml`: python examples/assistant/make_examples.py.

The first version of the prompt often guides before it asks, cites loosely or not at all, and offers a call and an email
at once; the second one does so less often. Which conversation has which fault is fixed below, not drawn.
"""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
VERSIONS = ("fc26922", "ee59fe5")
GUIDES_AT_ONCE = {"fc26922": {0, 1, 3, 4, 7}, "ee59fe5": {7}}
CITES_NOTHING = {"fc26922": {1, 3, 6}, "ee59fe5": {6}}
CITES_LOOSELY = {"fc26922": {0, 4, 5, 8}, "ee59fe5": {3}}
OFFERS_BOTH = {"fc26922": {0, 2, 4, 8, 9}, "ee59fe5": {4}}
NO_ACKNOWLEDGMENT = {"fc26922": {3, 5, 9}, "ee59fe5": {9}}
SLOW = {"fc26922": {2, 5, 9}, "ee59fe5": {5}}
NOTES = {0: ("Should ask clarifying questions first", "content"), 4: ("A call and an email at once", "content")}
START = datetime(2025, 10, 24, 10, tzinfo=UTC)


def main() -> None:
    """Write both files."""
    sessions = yaml.safe_load((HERE / "sessions.yaml").read_text(encoding="utf-8"))
    turns = [
        turn for version in VERSIONS for place, found in enumerate(sessions) for turn in talk(found, place, version)
    ]
    lines = "".join(json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns)
    (HERE / "turns.jsonl").write_text(lines, encoding="utf-8")
    write_export(turns[:3])
    print(f"{len(turns)} turns")


def talk(session: dict[str, Any], place: int, version: str) -> list[dict[str, Any]]:
    """One conversation as one version has it: a question, the guidance, and what follows from it."""
    active = session["queries"][0].startswith(("My", "One of", "Our"))
    guides = not active or place in GUIDES_AT_ONCE[version]
    first = (
        guidance(session, place, version) if guides else f"I understand, and thanks for telling me. {session['asks']}"
    )
    second = short_guidance(session) if guides else guidance(session, place, version)
    replies = (first, second, follow_up(session, place, version))
    return [
        turn(session, place, version, number, query, reply)
        for number, (query, reply) in enumerate(zip(session["queries"], replies, strict=True), start=1)
    ]


def guidance(session: dict[str, Any], place: int, version: str) -> str:
    """A whole reply: acknowledgment, citation, advice, steps."""
    begins = "" if place in NO_ACKNOWLEDGMENT[version] else "I understand that this is not easy.\n\n"
    rule = session["loose"] if place in CITES_LOOSELY[version] else session["rule"]
    cited = "" if place in CITES_NOTHING[version] else f"Per our {session['policy']}, {rule}.\n\n"
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(session["steps"], start=1))
    return f"{begins}{cited}{session['advice']}\n\n{steps}"


def short_guidance(session: dict[str, Any]) -> str:
    """What is left to say where everything was said at once."""
    return f"Thanks, that helps. What I said holds. {session['follow']}"


def follow_up(session: dict[str, Any], place: int, version: str) -> str:
    """The last reply, with an offer, or with two."""
    offer = session["offer"]
    if place in OFFERS_BOTH[version]:
        offer = "You should call them today. Would you also like me to draft a follow-up email?"
    cited = "" if place in CITES_NOTHING[version] else f"According to the {session['policy']}, {session['rule']}. "
    return f"Got it. {session['follow']} {cited}{session['advice']}\n\n{offer}"


def turn(session: dict[str, Any], place: int, version: str, number: int, query: str, reply: str) -> dict[str, Any]:
    """One line of turns.jsonl."""
    note, category = NOTES.get(place, ("", "")) if version == VERSIONS[0] and number != 2 else ("", "")
    similarities = [round(0.91 - 0.03 * place - 0.02 * number + 0.02 * VERSIONS.index(version), 2), 0.55]
    days = timedelta(days=7 * VERSIONS.index(version), hours=place, minutes=4 * number)
    return {
        "session_id": f"{version[:2]}-{session['id']}",
        "turn": number,
        "version": version,
        "tester": ("HR partner", "club manager")[place % 2],
        "query": query,
        "response": reply,
        "chunks": [
            {"title": session["policy"], "text": text, "similarity": similarity}
            for text, similarity in zip(session["chunks"], similarities, strict=True)
        ],
        "processing_time_ms": 1150
        + 170 * place
        + 90 * number
        + (2000 if place in SLOW[version] and number == 2 else 0),
        "is_first_response": number == 1,
        "scenario": session["scenario"],
        **({"improvement_notes": note, "category": category} if note else {}),
        "timestamp": f"{START + days:%Y-%m-%d %H:%M:%S}",
    }


def write_export(turns: list[dict[str, Any]]) -> None:
    """One session in the document's CSV form; the scores are left empty."""
    header = ["Turn", "User Message", "ERA Response", "Improvement Notes", "Category"]
    header += ["Objective Score", "Subjective Score", "Overall Score", "Timestamp"]
    with (HERE / "export.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for one in turns:
            noted = [one.get("improvement_notes", ""), one.get("category", "")]
            writer.writerow([one["turn"], one["query"], one["response"], *noted, "", "", "", one["timestamp"]])


if __name__ == "__main__":
    main()
