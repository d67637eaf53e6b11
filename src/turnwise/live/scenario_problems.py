"""What is wrong with scenario files: collected, put in order, and raised together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from turnwise.kernel.errors import InputError

ERROR, WARNING = "error", "warning"
MOST_SHOWN = 50
"""Problems in one message; `ScenarioError.problems` has them all."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what, what was found, what is expected, what helps."""

    file: str
    line: int
    """From 1."""
    field: str
    """Such as `turns[2].after.event`; empty for the file as a whole."""
    what: str
    found: str | None = None
    expected: str | None = None
    remedy: str | None = None
    level: str = ERROR

    @property
    def place(self) -> str:
        """Line and field."""
        return f"line {self.line}, {self.field}" if self.field else f"line {self.line}"

    @property
    def text(self) -> str:
        """The problem without its file, one fact per line."""
        facts = [("found", self.found), ("expected", self.expected), ("remedy", self.remedy)]
        head = f"{self.place}: {'' if self.level == ERROR else f'{self.level}: '}{self.what}"
        return "\n".join([head, *(f"  {name}: {fact}" for name, fact in facts if fact)])

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)


class ScenarioError(InputError):
    """Everything that is wrong with one or more scenario files."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        if len(self.problems) == 1:
            one = self.problems[0]
            where = f"{one.file}, {one.place}"
            super().__init__(one.what, where=where, found=one.found, expected=one.expected, remedy=one.remedy)
        else:
            super().__init__(_listed(self.problems))

    def __reduce__(self) -> tuple[object, ...]:
        return (ScenarioError, (self.problems,))


def in_order(problems: Sequence[Problem]) -> list[Problem]:
    """By file, as they were given, and by line."""
    files = {problem.file: None for problem in problems}
    places = {file: place for place, file in enumerate(files)}
    return sorted(problems, key=lambda problem: (places[problem.file], problem.line))


def raise_problems(problems: Sequence[Problem]) -> None:
    """Raise what is wrong, if anything is; warnings alone are not."""
    wrong = [problem for problem in in_order(problems) if problem.level == ERROR]
    if wrong:
        raise ScenarioError(wrong)


def _listed(problems: Sequence[Problem]) -> str:
    files = list(dict.fromkeys(problem.file for problem in problems))
    several = f" in {len(files)} files" if len(files) > 1 else f" in {files[0]}"
    lines = [f"{len(problems)} problems{several}"]
    file = files[0]
    for place, problem in enumerate(problems[:MOST_SHOWN]):
        if len(files) > 1 and (place == 0 or problem.file != file):
            lines.append(problem.file)
        file = problem.file
        lines += [f"  {line}" for line in problem.text.splitlines()]
    if len(problems) > MOST_SHOWN:
        lines.append(f"  and {len(problems) - MOST_SHOWN} more")
    return "\n".join(lines)
