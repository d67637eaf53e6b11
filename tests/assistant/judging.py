"""A server that judges as it is told: by what is asked (the scale) and by what was said (the query)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.judge.server import MODEL, Reply, Request, completion

Said = int | str
"""A score, or an answer that is none."""


def asked_for(request: Request) -> str:
    """The dimension that the rubric asks for, the first of several."""
    found = re.search(r'^  "(\w+)": <', request.body["messages"][0]["content"], re.MULTILINE)
    assert found is not None
    return found.group(1)


def shown(request: Request) -> dict[str, str]:
    """What the judge was shown, by the name of the piece."""
    text = request.body["messages"][1]["content"]
    return dict(re.findall(r"^BEGIN (\w+) \w{16}\n(.*?)\nEND \1 \w{16}$", text, re.M | re.S))


def judging(scores: Mapping[str, Mapping[str, Said]], default: Said = 3) -> Callable[[Request], Reply]:
    """Answers by query and scale; `default` for all others."""

    def answer(request: Request) -> Reply:
        scale = asked_for(request)
        said = scores.get(shown(request)["query"], {}).get(scale, default)
        if isinstance(said, str):
            return completion(said)
        return completion(json.dumps({"reasoning": f"{scale} of this reply", scale: said}))

    return answer


def by_judge(url: str, **more: Any) -> dict[str, Any]:
    """The options of a run that such a server judges."""
    return {"judge_url": url, "judge_model": MODEL, **more}
