"""Records `tape/`: what a judge said about six responses, so that judging can be tried without one.

The judge here is no model. It is this script behind a real endpoint, with a verdict written down for each response; so
the tape shows what turnwise does with a judge, not what a judge can do.

    python examples/judge/make_tape.py
"""

from __future__ import annotations

import json
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import turnwise

HERE = Path(__file__).parent
MODEL = "scripted-judge"
SCORES = ("correctness", "completeness", "clarity", "policy_adherence", "overall")
VERDICTS: dict[str, tuple[str, tuple[int | None, ...]]] = {
    "The Oak Lodge is a cheap hotel in the north and has parking.": (
        "It names a hotel that fits, and says that there is parking, as the user asked.",
        (5, 5, 5, None, 5),
    ),
    "I have booked it for you.": (
        "The policy wants the day, the number of people and the nights before anything is booked; none was known.",
        (2, 2, 4, 1, 1),
    ),
    "It is booked from Friday for two people and three nights. Your reference is A1B2C3.": (
        "Everything the user gave is confirmed, and the reference is told.",
        (5, 5, 5, 5, 5),
    ),
    "There are several. Which area do you prefer?": (
        "A sensible question, but the user has already said that the area does not matter.",
        (3, 3, 5, None, 3),
    ),
    "The Red Lantern serves Chinese food. Its number is 01223 555013.": (
        "It answers both questions.",
        (5, 5, 5, None, 5),
    ),
    "You are welcome. Goodbye!": (
        "Polite, but the user asked for the postcode as well.",
        (4, 2, 5, None, 3),
    ),
}


class Handler(BaseHTTPRequestHandler):
    """Answers as the protocol has it."""

    def do_POST(self) -> None:
        """One chat completion."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        shown = asked["messages"][1]["content"]
        reasons, scores = next(verdict for said, verdict in VERDICTS.items() if f"\n{said}\n" in shown)
        text = json.dumps({"reasoning": reasons, **dict(zip(SCORES, scores, strict=True))})
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(shown) // 4, "completion_tokens": len(text) // 4}
        body = json.dumps({"model": MODEL, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: the tape is the log."""


def main() -> None:
    """Ask about every response and keep the answers."""
    tape = HERE / "tape"
    shutil.rmtree(tape, ignore_errors=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    result = turnwise.evaluate(
        {"references": HERE / "references.jsonl", "predictions": HERE / "predictions.jsonl"},
        metrics=["response_quality"],
        judge_url=f"http://127.0.0.1:{server.server_port}/v1",
        judge_model=MODEL,
        judge_cassette=tape,
    )
    server.shutdown()
    print(result)


if __name__ == "__main__":
    main()
