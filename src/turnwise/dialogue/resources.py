"""What the metrics of a run share beside the records: the tables a user can replace, and the entity database."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from turnwise.dialogue.database import Database
from turnwise.dialogue.tables import ActionTable, PolicyTable, TransferTable, load_actions, load_policy, load_transfer

NO_DATABASE = "no database: give --database DIR"
policy, transfer, actions = cache(load_policy), cache(load_transfer), cache(load_actions)
"""What comes with turnwise is read once."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The defaults are the tables that come with turnwise, and no database."""

    policy: PolicyTable = field(default_factory=policy)
    transfer: TransferTable = field(default_factory=transfer)
    actions: ActionTable = field(default_factory=actions)
    database: Database | None = None
