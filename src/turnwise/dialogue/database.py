"""The entity database of a task dialogue: what can be found, and which entities meet a state."""

from __future__ import annotations

from pathlib import Path


class Database:
    """Entities by domain, read from `<domain>_db.json` files."""

    path: Path
    digest: str
