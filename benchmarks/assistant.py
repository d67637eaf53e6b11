"""All nine objective metrics against Python's `re.search`, once per pattern and text: `name  ratio  goal` per line.

100,000 distinct turns of about 250 words with three distinct chunks of about 100 words each; every reply cites a
policy, so that every citation is compared. The other side does nothing but search each reply for the document's
patterns (and each query for the one about queries), compiled once; it finds no sentence, compares nothing, counts no
word. One process on either side, the same turns, nothing kept from one turn to the next. The last line is the whole
run, from a file to a store with intervals. A first argument sets the number of turns.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import turnwise
from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.closeness import TFIDF
from turnwise.assistant.load import BATCH
from turnwise.assistant.profile import Profile, built_in
from turnwise.assistant.records import Chunk, Turn
from turnwise.assistant.scales import OBJECTIVE
from turnwise.kernel.metric import Metric
from turnwise.kernel.selection import select_metrics

TURNS = 100_000
WORDS, CHUNK_WORDS = 250, 100
LETTERS = "e" * 12 + "t" * 9 + "a" * 8 + "o" * 8 + "i" * 7 + "n" * 7 + "shr" * 6 + "dl" * 4 + "cumwfgypbvk" * 2
PLAIN = (
    *("employee", "manager", "shift", "policy", "record", "notice", "meeting", "call", "email", "schedule", "document"),
    *("the", "of", "and", "to", "in", "that", "is", "was", "for", "on", "are", "with", "as", "be", "this", "have"),
)
SCENARIOS = ("attendance", "discipline", "leave", "payroll")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    profile, document = built_in("hr"), built_in("spec")
    seconds = {"re": 0.0, "turnwise": 0.0, "spec": 0.0}
    searches = document_searches(document)
    for turns in portions(count):  # alternately, so that all meet the same machine
        seconds["re"] += timed(lambda turns=turns: search(turns, searches))
        seconds["turnwise"] += timed(lambda turns=turns: measure(turns, profile, "turnwise"))
        seconds["spec"] += timed(lambda turns=turns: measure(turns, profile, "spec"))
    report("assistant: nine metrics / re.search", seconds["turnwise"] / seconds["re"], "<= 4")
    report("assistant: nine metrics, spec / re.search", seconds["spec"] / seconds["re"], "<= 4")
    few = min(count, 20_000)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "turns.jsonl"
        baseline = write(path, few, searches)
        options = {"metrics": list(OBJECTIVE), "embedding": "none", "db": str(Path(folder) / "runs.sqlite")}
        whole = timed(lambda: turnwise.evaluate({"turns": path}, suite="assistant", **options))
    report(f"assistant: the whole run of {few} / re.search", whole / baseline, "<= 4")


def report(name: str, ratio: float, goal: str) -> None:
    print(f"{name:45} {ratio:6.2f}  {goal}", flush=True)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def document_searches(document: Profile) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
    """The document's patterns for replies and for queries, as Python compiles them."""
    lists = [
        *(document.citation, *document.actions.values(), *document.offers.values(), document.acknowledgements),
        *(document.next_steps, document.questions, document.guidance),
    ]
    replies = [re.compile(source, re.IGNORECASE) for patterns in lists for source in patterns.sources]
    return replies, [re.compile(source, re.IGNORECASE) for source in document.active.sources]


def search(turns: list[Turn], searches: tuple[list[re.Pattern[str]], list[re.Pattern[str]]]) -> int:
    """Every pattern once in every text."""
    found = 0
    for turn in turns:
        for patterns, text in zip(searches, (turn.response or "", turn.query or ""), strict=True):
            for pattern in patterns:
                found += pattern.search(text) is not None
    return found


def measure(turns: list[Turn], profile: Profile, name: str) -> int:
    """Every metric on every turn."""
    batch = TurnBatch(0, turns, profile)
    return sum(1 for metric in metrics(name) for _ in metric.measure(batch))


def metrics(profile: str) -> list[Metric]:
    return select_metrics("assistant", OBJECTIVE, profile=profile, context={"embedding": TFIDF}).metrics


def write(path: Path, count: int, searches: tuple[list[re.Pattern[str]], list[re.Pattern[str]]]) -> float:
    """Turns as a file; how long the other side takes for them."""
    seconds = 0.0
    with path.open("w", encoding="utf-8") as file:
        for turns in portions(count):
            file.writelines(json.dumps(turn.content()) + "\n" for turn in turns)
            seconds += timed(lambda turns=turns: search(turns, searches))
    return seconds


def portions(count: int) -> Iterator[list[Turn]]:
    """Batches of turns, no text twice."""
    draw = random.Random(20261)
    words = [*PLAIN * 20, *("".join(draw.choices(LETTERS, k=draw.randint(3, 10))) for _ in range(20_000))]
    for start in range(0, count, BATCH):
        yield [made(draw, words, number) for number in range(start, min(count, start + BATCH))]


def made(draw: random.Random, words: list[str], number: int) -> Turn:
    cited = f"Per our Attendance policy, {text(draw, words, 20)}"
    parts = ["I see.", text(draw, words, 100), cited, text(draw, words, 110), "Would you like me to send a note?"]
    chunks = tuple(Chunk(text(draw, words, CHUNK_WORDS), "policy", draw.random()) for _ in range(3))
    return Turn(
        session_id=f"s{number // 5}",
        turn=number % 5 + 1,
        version="b",
        query=f"What about {text(draw, words, 15)}",
        response=" ".join(parts),
        chunks=chunks,
        processing_time_ms=draw.uniform(500, 4000),
        is_first_response=number % 5 == 0,
        scenario=draw.choice(SCENARIOS),
    )


def text(draw: random.Random, words: list[str], count: int) -> str:
    found = draw.choices(words, k=count)
    for place in range(11, count, 12):
        found[place] += "."
    return " ".join(found).capitalize() + "."


if __name__ == "__main__":
    main()
