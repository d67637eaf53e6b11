"""What is known of a judge before it is asked: who and where it is, how it is asked, what it costs.

A key is no part of it: it is read from the environment when a client is made, so that settings can be shown, compared,
pickled and kept.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from turnwise.judge.address import KEY_VARIABLE, endpoint, holds_secret, names_secret
from turnwise.kernel.errors import UsageError

MOST_AT_START = 4
Seconds = Annotated[float, Field(gt=0, le=24 * 3600, allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_OWN_FIELDS = ("model", "messages", "temperature", "seed", "max_tokens", "response_format", "stream", "logprobs", "n")


class Tuning(BaseModel):
    """The settings that a model may have of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str = ""
    api_key_env: str = KEY_VARIABLE
    """The variable of the environment that holds the key."""
    api_key_header: str = "Authorization"
    """The header that carries the key: `Authorization: Bearer KEY`, or any other name with the bare key."""
    timeout_s: Seconds = 60
    """How long one try may take, from its first byte sent to its last byte received."""
    retries: Annotated[int, Field(ge=0, le=100)] = 5
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0.0
    seed: int | None = 0
    """Sent where the server takes it; repeat n is asked with seed + n."""
    max_tokens: Annotated[int, Field(ge=1)] | None = 2048
    json_schema: Literal["auto", "on", "off"] = "auto"
    """Whether answers are forced into the rubric's schema: where the server can, always, or never."""
    stream: bool = False
    logprobs: bool = False
    """Whether the server is asked how probable the answer's tokens were."""
    price_in: Price | None = None
    """For a million tokens of questions, in any currency."""
    price_out: Price | None = None
    """For a million tokens of answers."""
    start_concurrency: Annotated[int, Field(ge=1, le=MOST_AT_START)] = MOST_AT_START
    highest_concurrency: Annotated[int, Field(ge=1, le=1024)] = 64
    headers: dict[str, str] = Field(default_factory=dict)
    """More headers; `${NAME}` in a value stands for a variable of the environment."""
    body: dict[str, Any] = Field(default_factory=dict)
    """More fields of the request, such as `reasoning_effort`; they are part of what an answer is recorded under."""

    @field_validator("url")
    @classmethod
    def _address(cls, value: str) -> str:
        if value:
            endpoint(value)
        return value.strip()

    @field_validator("json_schema", mode="before")
    @classmethod
    def _word(cls, value: object) -> object:
        # YAML reads a bare `on` or `off` as a truth value.
        return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value

    @field_validator("headers")
    @classmethod
    def _no_keys(cls, value: dict[str, str]) -> dict[str, str]:
        for name, content in value.items():
            if (names_secret(name) and "$" not in content) or holds_secret(content):
                raise ValueError(f"the header {name} holds a key: write ${{NAME}}, and keep the key in that variable")
            if not name.isascii() or not (name + content).isprintable():
                raise ValueError(f"the header {name!r} holds characters that no header may")
        return value

    @field_validator("body")
    @classmethod
    def _only_others(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            if name in _OWN_FIELDS:
                raise ValueError(f"{name} is not one for the body: it has a setting of its own, or none")
            if names_secret(name):
                raise ValueError(f"the body holds a key: {name}")
        return value


class JudgeSettings(Tuning):
    """A judge: a model, where it answers, and how it is asked."""

    model: Annotated[str, Field(min_length=1)]

    @property
    def endpoint(self) -> str:
        """The address that requests go to."""
        if not self.url:
            raise UsageError("it is not known where the judge is", remedy="--judge-url URL, or url: in --judge-config")
        return endpoint(self.url)

    @property
    def parameters(self) -> dict[str, Any]:
        """What an answer depends on beside the model and the question; part of what it is recorded under."""
        found = {"temperature": self.temperature, "seed": self.seed, "max_tokens": self.max_tokens}
        return {**found, **({"body": self.body} if self.body else {})}

    @property
    def priced(self) -> bool:
        """Whether a cost can be told."""
        return self.price_in is not None and self.price_out is not None

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """What tokens cost; None without a price."""
        if self.price_in is None or self.price_out is None:
            return None
        return (prompt_tokens * self.price_in + completion_tokens * self.price_out) / 1e6

    def key(self) -> str | None:
        """The key, from the environment; None where there is none, as for a model of one's own."""
        return os.environ.get(self.api_key_env, "").strip() or None


def judge_settings(
    *,
    url: str | None = None,
    model: str | None = None,
    config: Path | None = None,
    replay: Path | None = None,
) -> JudgeSettings:
    """A judge's settings: options over the config file; of a cassette, those it was recorded with.

    A cassette that is replayed needs neither address nor config; if it holds the answers of several judges, `model`
    says whose are wanted.
    """
    from turnwise.judge.cassette import recorded_settings
    from turnwise.judge.settings_file import read_config

    if config is not None:
        found = read_config(config, url=url, model=model)
    elif replay is not None:
        return recorded_settings(replay, model)
    else:
        if not model:
            raise UsageError("the judge has no model", remedy="--judge-model NAME, or model: in --judge-config")
        found = JudgeSettings(url=url or "", model=model)
    if replay is None:
        _ = found.endpoint  # a wrong address is told before anything is read
    return found
