"""Samples in a Parquet file: the same as the same samples in JSONL, and what cannot be meant is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.kernel.errors import InputError, UsageError
from turnwise.translation.formats.data import DataSamples
from turnwise.translation.load import TranslationSource
from turnwise.translation.records import Sample

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

EXAMPLE = Path(__file__).parents[2] / "examples" / "translation" / "data.jsonl"
Row = dict[str, Any]


def example() -> list[Row]:
    return [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]


def written(path: Path, rows: Sequence[Row], group: int | None = None) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in names}), path, row_group_size=group)
    return path


def every(path: Path, **options: Any) -> list[Sample]:
    samples = DataSamples(path, **options)
    return [sample for numbers in samples.order.portions(2) for sample in samples.read(numbers)]


def test_a_table_has_the_samples_of_the_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "data.parquet", example(), group=3)
    assert every(path) == every(EXAMPLE)
    table, lines = (TranslationSource(DataSamples(data)) for data in (path, EXAMPLE))
    assert table.input_fingerprint == lines.input_fingerprint
    assert table.dataset_fingerprint == lines.dataset_fingerprint
    assert table.findings == lines.findings
    assert table.fields == lines.fields


def test_a_run_on_a_table_has_the_results_of_a_run_on_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "data", example())  # known by its beginning
    found, expected = (
        turnwise.evaluate({"data": data}, suite="translation", metrics=["bleu", "chrf"], by="domain")
        for data in (path, EXAMPLE)
    )
    assert found.results == expected.results


def test_references_columns_and_languages(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "mt": "a", "reference": ["x", "y"], "language": "xho", "audio": "a.wav", "cost": Decimal("0.25")},
        {"id": 2, "mt": None, "reference": [], "language": "swh", "audio": None, "cost": None},
        {"id": 3, "mt": "", "reference": None, "language": "xho", "audio": None, "cost": None},
    ]
    path = written(tmp_path / "data.parquet", rows)
    columns = {"hypothesis": "mt", "hypothesis_audio": "audio"}
    first, second, third = every(path, columns=columns)
    assert (first.id, first.hypothesis, first.references, first.language) == ("1", "a", ("x", "y"), "xhosa")
    assert (first.hypothesis_audio, first.operations) == (tmp_path / "a.wav", {"cost": 0.25})
    assert (second.hypothesis, second.references, second.operations) == (None, (), {})
    assert (third.hypothesis, third.references) == ("", (None,))
    assert [sample.id for sample in every(path, columns=columns, languages=["xhosa"])] == ["1", "3"]


def test_documents_whose_samples_are_scattered(tmp_path: Path) -> None:
    rows = [{"hypothesis": f"text {n}", "document": f"d{n % 3}"} for n in range(9)]
    found = every(written(tmp_path / "data.parquet", rows, group=2))
    assert [sample.hypothesis for sample in found] == [f"text {n}" for n in (0, 3, 6, 1, 4, 7, 2, 5, 8)]


def refused(path: Path, *words: str, **options: Any) -> None:
    with pytest.raises((InputError, UsageError)) as caught:
        DataSamples(path, **options)
    assert [word for word in words if word not in caught.value.message] == [], caught.value.message


def test_what_cannot_be_meant(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    refused(written(path, [{"hypotesis": "a"}]), "no column 'hypothesis'", "hypotesis", f"{path}, row 1")
    refused(written(path, [{"hypothesis": "a"}]), "'mt'", columns={"hypothesis": "mt"})
    refused(written(path, [{"hypothesis": "a"}, {"hypothesis": "b", "id": 2.5}]), "id is not a text", f"{path}, row 2")
    refused(written(path, [{"hypothesis": 5}]), "hypothesis is not a text", f"{path}, row 1")
    twice = [{"id": str(n % 2), "hypothesis": "a", "language": "xhosa"} for n in range(4)]
    refused(written(path, twice), "the same id stands twice", f"{path}, row 3", f"xhosa, 0, as in {path}, row 1")
    pq.write_table(pa.schema([("hypothesis", pa.string())]).empty_table(), path)
    refused(path, "there is no sample", str(path))


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"")
    refused(path, "damaged")
    path.write_bytes(written(path, example()).read_bytes()[:-5])
    refused(path, "damaged", str(path))
    path.unlink()
    refused(path, "cannot be read")
    path.mkdir()
    refused(path, "a folder")
