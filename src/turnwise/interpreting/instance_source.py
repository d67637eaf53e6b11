"""The instances of a SimulEval log as the engine reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from turnwise.engine.plan import Finding
from turnwise.interpreting.batch import InterpretingBatch
from turnwise.interpreting.instances import read_instances
from turnwise.interpreting.records import TURN
from turnwise.interpreting.shown import TERMS
from turnwise.kernel.errors import InputError
from turnwise.kernel.signature import digest
from turnwise.kernel.unchanged import FileState, changed, state_of

BATCH_OF_INSTANCES = 512


@dataclass
class InstanceSource:
    """The instances of a SimulEval log; an engine source."""

    path: Path
    unit = TURN
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.n_items = 0
        self._state = _state(self.path)
        asked = hashlib.sha256()
        for instance in read_instances(self.path):
            self.n_items += 1
            asked.update(repr((instance.index, instance.source_ms, instance.reference_words)).encode())
        if not self.n_items:
            raise InputError(f"{self.path} holds no instance", expected="one JSON object per line, as SimulEval writes")
        self._asked = asked.hexdigest()[:12]

    @property
    def dataset_fingerprint(self) -> str:
        """Which instances, how long, with how long a reference."""
        return self._asked

    @property
    def input_fingerprint(self) -> str:
        """The file."""
        return digest([_hash(self.path), BATCH_OF_INSTANCES])

    @property
    def fields(self) -> dict[str, int]:
        """Nothing but delays."""
        names = ("capture", "expected_text", "expected_language", "barge_in", "source_text", TERMS)
        absent = dict.fromkeys(names, 0)
        return {"emission": self.n_items, **absent}

    @property
    def dimensions(self) -> set[str]:
        """None."""
        return set()

    @property
    def coverage(self) -> dict[str, int]:
        """How many instances there are."""
        return {"instances": self.n_items}

    def batches(self, done: Set[int] = frozenset()) -> Iterator[InterpretingBatch]:
        """The batches that are not done yet."""
        instances = read_instances(self.path)
        index = 0
        while portion := list(islice(instances, BATCH_OF_INSTANCES)):
            self._check_unchanged()
            if index not in done:
                yield InterpretingBatch(index, instances=portion)
            index += 1
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        if _state(self.path) != self._state:
            raise changed(self.path)


def _state(path: Path) -> FileState | None:
    """None where there is no such file."""
    try:
        return state_of(path.stat())
    except OSError:
        return None


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except FileNotFoundError:
        raise InputError(f"{path.name} is missing", where=str(path.parent)) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read", found=error.strerror or str(error)) from error
