"""Rows of scores on their way into the database."""

from __future__ import annotations

from turnwise.store.rows import SCORE_COLUMNS, without_nulls

KEY = (1, 0, "value", "", 7, 0, "code", "")
"""run, metric, output, variant, item, repeat, source, rater: never NULL."""
NAMES = ["run", *SCORE_COLUMNS[:7]]


def test_rows_are_written_without_what_they_do_not_have() -> None:
    plain = (*KEY, 0.5, None, "[0.5]", None, "scored", None, None)
    again = (*KEY, 0.0, None, "[0.0]", None, "scored", None, None)  # zero is a value
    told = (*KEY, 0.5, None, "[0.5]", None, "scored", None, "{}")
    missing = (*KEY, None, None, None, None, "skipped", "no text came", None)
    full = (*KEY, 0.5, "", "[0.5]", '[["a"],[0.5]]', "scored", "why", "{}")  # an empty label is a label
    found = [(names, list(rows)) for names, rows in without_nulls([plain, told, missing, again, full])]
    assert found == [
        ([*NAMES, "value", "statistics", "status"], [(*KEY, 0.5, "[0.5]", "scored"), (*KEY, 0.0, "[0.0]", "scored")]),
        ([*NAMES, "value", "statistics", "status", "evidence"], [(*KEY, 0.5, "[0.5]", "scored", "{}")]),
        ([*NAMES, "status", "reason"], [(*KEY, "skipped", "no text came")]),
        (["run", *SCORE_COLUMNS], [full]),
    ]


def test_no_rows_are_no_groups() -> None:
    assert list(without_nulls([])) == []
