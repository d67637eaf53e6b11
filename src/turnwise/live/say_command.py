"""The command that synthesises speech: who names it, and the words that are run. `speech` runs it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turnwise.kernel.errors import UsageError, near_misses, shorten
from turnwise.live.scenario import Scenario

COMMAND_VARIABLE = "TURNWISE_SAY_COMMAND"
PLACEHOLDERS = ("text", "out", "language")
INSTALL = (
    "Debian: apt install espeak-ng, then --say-command 'espeak-ng -v {language} -w {out} -- {text}'; or flite: "
    "'flite -o {out} -t {text}'; PyPI: ttspico, with the script of docs/scenarios.md"
)

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class SayCommand:
    """A command that writes a text as speech into a file."""

    words: tuple[str, ...]
    """With `{out}`, and `{text}` and `{language}` where they belong; without `{text}` it reads standard input."""
    origin: str
    """Who named it, for errors."""
    folder: Path | None = None
    """Where it runs; None is here."""

    @classmethod
    def parse(cls, given: str | Sequence[str], origin: str, folder: Path | None = None) -> SayCommand:
        """A line, split as a shell would split it, or a list of words; checked."""
        try:
            words = tuple(shlex.split(given)) if isinstance(given, str) else tuple(given)
        except ValueError as error:
            raise UsageError(f"{origin} cannot be split into words", found=shorten(given), remedy=str(error)) from error
        expected = "e.g. espeak-ng -v {language} -w {out} -- {text}"
        if not words or not words[0]:
            raise UsageError(f"{origin} names no program", found=shorten(given), expected=expected)
        used = [name for word in words for name in _PLACEHOLDER.findall(word)]
        for name in used:
            if name not in PLACEHOLDERS:
                known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
                remedy = near_misses(name, PLACEHOLDERS) or None
                raise UsageError(f"{origin} has no {{{name}}}", found=shorten(given), expected=known, remedy=remedy)
        if "out" not in used:
            raise UsageError(f"{origin} does not say where {{out}} goes", found=shorten(given), expected=expected)
        return cls(words, origin, folder)

    @property
    def name(self) -> str:
        """For errors: who named which program. Its arguments may hold a key and are not shown."""
        return f"{self.origin} ({self.words[0]})"

    @property
    def installed(self) -> bool:
        """Whether the program is there."""
        program = self.words[0]
        return shutil.which(str((self.folder or Path()) / program) if "/" in program else program) is not None

    @property
    def reads_input(self) -> bool:
        """Whether it gets its text on standard input."""
        return not any("{text}" in word for word in self.words)

    @property
    def needs_language(self) -> bool:
        """Whether the language is part of it."""
        return any("{language}" in word for word in self.words)

    def filled(self, text: str, language: str, out: Path) -> list[str]:
        """The words to run; a text that has placeholders in it stays as it is."""
        values = {"text": text, "language": language, "out": str(out)}
        return [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in self.words]


def configured_say_command(
    scenario: Scenario | None = None, option: str | Sequence[str] | None = None
) -> SayCommand | None:
    """The command that is configured: by the option, else by TURNWISE_SAY_COMMAND, else by the scenario."""
    if option is not None:
        return SayCommand.parse(option, "--say-command")
    if given := os.environ.get(COMMAND_VARIABLE):
        return SayCommand.parse(given, COMMAND_VARIABLE)
    if scenario is not None and scenario.say_command is not None:
        folder = scenario.path.absolute().parent if scenario.path else None
        return SayCommand.parse(scenario.say_command, f"say_command of scenario {scenario.id}", folder)
    return None
