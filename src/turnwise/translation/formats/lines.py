"""Plain lines: a file of hypotheses, one or more files of references, perhaps one of sources; line by line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from turnwise.engine.plan import Finding
from turnwise.engine.rows import TEXT, PlainLines
from turnwise.kernel.errors import InputError
from turnwise.translation.formats.base import Order
from turnwise.translation.records import Sample


class LineSamples:
    """Parallel files of plain lines."""

    mode = "lines"

    def __init__(
        self, hypotheses: Path, references: Sequence[Path], sources: Path | None, language: str | None
    ) -> None:
        self.findings: list[Finding] = []
        self.order = Order()
        self._language = language
        files = [hypotheses, *references, *([sources] if sources is not None else [])]
        self._files = [PlainLines(path) for path in files]
        self._has_sources = sources is not None
        for file in self._files:
            for _ in file.scan():
                pass
        self._check_lengths()
        for _ in range(len(self._files[0])):
            self.order.add()

    def _check_lengths(self) -> None:
        lengths = [len(file) for file in self._files]
        if len(set(lengths)) > 1:
            raise InputError(
                "the files do not have the same number of lines",
                where=", ".join(str(file.path) for file in self._files),
                found=", ".join(f"{file.path.name}: {len(file)}" for file in self._files),
                expected="the translation of line n of the sources, and its reference, on line n of each file",
                remedy="an untranslated segment keeps its (empty) line",
            )
        if not lengths[0]:
            raise InputError("the files are empty", where=str(self._files[0].path), expected="one segment per line")

    def read(self, numbers: Sequence[int]) -> list[Sample]:
        """Samples by line, counted from 0; their ids count from 1, as editors do."""
        columns = [[row[TEXT] for row in file.read(numbers)] for file in self._files]
        sources = columns.pop() if self._has_sources else [None] * len(numbers)
        return [
            Sample(
                id=str(number + 1),
                segment=str(number + 1),
                language=self._language,
                pair=self._language or "",
                source=source,
                hypothesis=hypothesis,
                references=tuple(references),
            )
            for number, source, hypothesis, *references in zip(numbers, sources, *columns, strict=True)
        ]
