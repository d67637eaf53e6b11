"""What the metrics of a run share beside the records: the tables a user can replace, and the entity database."""

from __future__ import annotations

from dataclasses import dataclass, field

from turnwise.dialogue.database import Database
from turnwise.dialogue.tables import ActionTable, PolicyTable, TransferTable, load_actions, load_policy, load_transfer


@dataclass(frozen=True, slots=True)
class Resources:
    """The defaults are the tables that come with turnwise, and no database."""

    policy: PolicyTable = field(default_factory=load_policy)
    transfer: TransferTable = field(default_factory=load_transfer)
    actions: ActionTable = field(default_factory=load_actions)
    database: Database | None = None
