"""Rubrics as people read them in a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turnwise.judge.records import Dimension, Rubric
from turnwise.report.tables import Table, printable


def listing(rubrics: Sequence[Rubric]) -> Table:
    """One line for each rubric."""
    rows = [
        [f"{one.room}/{one.name}", str(one.version), one.hash, one.unit, ", ".join(_names(one)), one.question]
        for one in rubrics
    ]
    header = ["rubric", "version", "hash", "unit", "scores", "question"]
    return Table("rubrics", header, rows, ["turnwise judge rubrics ROOM/NAME shows one"], (1,))


def page(rubric: Rubric) -> str:
    """A whole rubric, as the judge is told it, one thing on a line."""
    lines = [f"{rubric.room}/{rubric.name} (version {rubric.version}, hash {rubric.hash})", rubric.question]
    lines += ["", f"about: {rubric.unit}", f"needs: {', '.join(rubric.needs)}"]
    lines += [f"sees, where there: {', '.join(rubric.sees)}"] if rubric.sees else []
    lines += ["lower is better"] if rubric.lower_is_better else []
    for one in rubric.dimensions:
        main = ", the main one" if one.name == rubric.primary else ""
        optional = ", may not apply" if one.optional else ""
        lines += ["", f"{one.name} ({_range(one)}{main}{optional}): {one.asks}"]
        meanings = one.labels if one.scale is None else one.scale.anchors
        lines += [f"  {mark}: {meaning}" for mark, meaning in meanings.items()]
    if rubric.spans is not None:
        kinds, severities = ", ".join(rubric.spans.kinds), ", ".join(rubric.spans.severities)
        lines += ["", f"spans of {rubric.spans.of} ({kinds}; {severities}): {rubric.spans.asks}"]
    lines += ["", rubric.guidance] if rubric.guidance else []
    lines += ["", f"examples: {len(rubric.examples)}"] if rubric.examples else []
    return "\n".join(printable(line) for text in lines for line in text.split("\n"))


def as_json(rubric: Rubric) -> dict[str, Any]:
    """The file as it was read, with what turnwise makes of it."""
    return {
        "rubric": f"{rubric.room}/{rubric.name}",
        "version": rubric.version,
        "hash": rubric.hash,
        "unit": rubric.unit,
        "primary": rubric.primary,
        "needs": list(rubric.needs),
        "sees": list(rubric.sees),
        "scores": {one.name: _range(one) for one in rubric.dimensions},
        "content": dict(rubric.content),
    }


def _names(rubric: Rubric) -> list[str]:
    """The names of the scores, the main one first."""
    return sorted((one.name for one in rubric.dimensions), key=lambda name: name != rubric.primary)


def _range(dimension: Dimension) -> str:
    if dimension.scale is None:
        return " | ".join(dimension.labels)
    return f"{dimension.scale.low:g} to {dimension.scale.high:g}"
