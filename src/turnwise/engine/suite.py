"""What a room is to the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from turnwise.engine.plan import Finding, Source
from turnwise.store.run import Run
from turnwise.store.store import Store

if TYPE_CHECKING:
    from turnwise.engine.options import RunOptions


class Suite(Protocol):
    """What a room is to the engine."""

    name: str
    options: type[RunOptions]
    profiles: Sequence[str]
    units: frozenset[str]
    """The kinds of unit its metrics can score."""
    groupings: Sequence[tuple[str, ...]]
    """Dimensions that are always rolled up, beside the whole data set."""
    baselines: Mapping[str, Callable[[Any], Any]]
    replaceable: frozenset[str]
    """Options that name the data: they may have moved when a run is resumed; the fingerprint tells."""
    open_ended: bool
    """Whether what is asked is different by nature (sessions of testers): versions are compared all the same."""

    def load(self, options: Any) -> Source:
        """The checked records."""
        ...

    def context(self, options: Any, source: Any) -> Mapping[str, str]:
        """Settings of the run that go into signatures."""
        ...

    def variants(self, config: Mapping[str, Any]) -> Mapping[str, Callable[[Any], Any]]:
        """Other answers that are scored beside the real ones, as a run's configuration asks: baselines, probes."""
        ...

    def conclusions(self, store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
        """What the results show that a reader should be told."""
        ...

    def write_files(self, store: Store, run: Run, source: Any, folder: Path) -> list[Path]:
        """The room's own files."""
        ...

    def draw(self, item: Mapping[str, Any], *, colour: bool = False, encoding: str = "utf-8") -> str:
        """A picture of one kept item for the terminal; empty where there is nothing to draw."""
        ...
