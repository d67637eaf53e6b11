"""What asking costs: tokens guessed before and counted after, and the limits that a user sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turnwise.judge.cassette import Answer
from turnwise.judge.settings import JudgeSettings
from turnwise.kernel.errors import UsageError

UNBOUNDED_ANSWER = 2048
"""Tokens that an answer is taken for where the settings set no bound."""
_PER_MESSAGE = 4


@dataclass
class Tally:
    """What became of the questions so far."""

    calls: int = 0
    """Requests that were answered, repairs included."""
    from_record: int = 0
    """Answers that were on record already, so that nobody was asked."""
    repaired: int = 0
    """Answers that could be read only after the judge was asked again."""
    retried: int = 0
    """Tries that ended in an error or a time-out and were made again."""
    refused: int = 0
    """Tries that the server refused because they were too many (429)."""
    failed: int = 0
    """Questions (each repeat counts) without a readable answer."""
    limited: int = 0
    """Questions (each repeat counts) that were not asked because a limit was reached."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unmetered: int = 0
    """Answers whose tokens the server did not tell; theirs are guessed from the length of the texts."""
    cost: float | None = None
    """None without a price."""
    notes: tuple[str, ...] = ()
    """What the server does not take, and how it was asked instead."""

    def sentence(self, model: str) -> str:
        """All of it in a line."""
        parts = [f"{self.calls:,} calls"]
        if self.calls:
            parts.append(f"{self.prompt_tokens:,} tokens in and {self.completion_tokens:,} out")
            parts.append("cost unknown (no prices in the config)" if self.cost is None else f"cost {money(self.cost)}")
        counts: Mapping[str, int] = {
            "answers were on record": self.from_record,
            "repaired": self.repaired,
            "failed": self.failed,
            "not asked (limit reached)": self.limited,
            "tries repeated": self.retried,
            "tries refused (429)": self.refused,
            "answers without token counts (guessed)": self.unmetered,
        }
        parts += [f"{number:,} {what}" for what, number in counts.items() if number]
        return f"judge {model}: " + ", ".join([*parts, *self.notes])


@dataclass(frozen=True)
class Estimate:
    """What asking would take."""

    calls: int
    on_record: int
    prompt_tokens: int
    completion_tokens: int
    """At most: as if every answer took all the tokens it may."""
    cost: float | None
    """At most, repairs aside; None without a price."""


def money(amount: float) -> str:
    """An amount in any currency; what is not nothing is not shown as nothing.

    >>> money(12.345), money(0.00448), money(0.0)
    ('12.35', '0.0045', '0.00')
    """
    return f"{amount:.2f}" if amount >= 0.1 or not amount else f"{amount:.2g}"


def guess_tokens(text: str) -> int:
    """Tokens of a text: four ASCII characters each, or one of any other script. A guess, on the high side.

    >>> guess_tokens("Two tables, please."), guess_tokens("两张桌子")
    (5, 4)
    """
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


def guess_prompt(messages: Sequence[Mapping[str, str]]) -> int:
    """Tokens of a request."""
    return sum(guess_tokens(message["content"]) + _PER_MESSAGE for message in messages)


def check_priced(settings: JudgeSettings, max_cost: float | None) -> None:
    """An error where a cost is limited that nobody can know."""
    if max_cost is not None and not settings.priced:
        remedy = "price_in and price_out (per million tokens) for the model in --judge-config"
        raise UsageError("--max-cost is set, but it is not known what the judge costs", remedy=remedy)


class Budget:
    """`--max-calls` and `--max-cost`: what is spent, and what is spoken for by requests under way."""

    def __init__(self, settings: JudgeSettings | None, max_calls: int | None, max_cost: float | None) -> None:
        if settings is not None:
            check_priced(settings, max_cost)
        self._settings, self._max_calls, self._max_cost = settings, max_calls, max_cost
        self.calls, self.spent = 0, 0.0
        self._held = 0.0
        self._ratio = 1.0

    def reached(self, prompt: int) -> str | None:
        """The limit that one more request would exceed; None where it would not."""
        return self._exceeded(self.most(prompt))

    def again(self, held: float, *, paid: bool) -> str | None:
        """One more try of a request: the limit that it would exceed; None where it would not, and it is counted.

        `paid`: the try before it may have been answered, and cost what it was held at, without our knowing.
        """
        cost = held if paid else 0.0
        if (reason := self._exceeded(cost)) is None:
            self.calls += 1
            self.spent += cost
        return reason

    def _exceeded(self, more: float) -> str | None:
        if self._max_calls is not None and self.calls >= self._max_calls:
            return f"--max-calls {self._max_calls} was reached"
        if self._max_cost is not None and self.spent + self._held + more > self._max_cost:
            return f"--max-cost {self._max_cost:g} was reached"
        return None

    def most(self, prompt: int) -> float:
        """The most that a request may cost, its guessed prompt corrected by what servers counted so far."""
        settings = self._settings
        if self._max_cost is None or settings is None:
            return 0.0
        return settings.cost(prompt * self._ratio, settings.max_tokens or UNBOUNDED_ANSWER) or 0.0

    def hold(self, prompt: int) -> float:
        """Count a request that is about to be sent; what it is held at, to be given back with `release`."""
        self.calls += 1
        held = self.most(prompt)
        self._held += held
        return held

    def release(self, held: float, cost: float, prompt: int = 0, counted: int | None = None) -> None:
        """A request is over and cost so much."""
        self._held -= held
        self.spent += cost
        if counted and prompt:
            self._ratio = max(self._ratio, counted / prompt)


def metered(answer: Answer, prompt: int) -> tuple[int, int, bool]:
    """Tokens in and out of an answer, and whether the server told them."""
    told = answer.prompt_tokens is not None and answer.completion_tokens is not None
    tokens_in = answer.prompt_tokens if answer.prompt_tokens is not None else prompt
    tokens_out = answer.completion_tokens
    return tokens_in, guess_tokens(answer.text) if tokens_out is None else tokens_out, told
