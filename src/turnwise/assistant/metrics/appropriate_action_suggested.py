"""Does the reply suggest an appropriate action?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics.base import ReplyMetric, turn_spec, yes_or_no
from turnwise.assistant.reading import Reading, find_actions
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement


class AppropriateActionSuggested(ReplyMetric):
    """1 if an action is suggested and, where the scenario has a list, none but those on it; else 0."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "appropriate_action_suggested",
        "Does the reply suggest an appropriate next action: email, call, calendar, escalate, document?",
        "suggested",
        "action",
    )

    def verdict(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The actions with the words that suggest them, and those that the scenario does not allow."""
        actions = find_actions(reading.masked, reading.profile)
        allowed = reading.profile.allowed.get(reading.turn.scenario.strip().casefold())
        wrong = not_allowed(actions, allowed)
        return yes_or_no(bool(actions) and not wrong, actions=actions, not_allowed=wrong)


def not_allowed(actions: Mapping[str, str], allowed: Collection[str] | None) -> list[str]:
    """The suggested actions that are not on a scenario's list; without a list none (decision 002-12)."""
    return [] if allowed is None else [name for name in actions if name not in allowed]
