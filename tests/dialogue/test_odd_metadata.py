"""Metadata of exchanges that are no texts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from turnwise.dialogue.formats.exchange import exchange_from


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), ["a"]])
@pytest.mark.parametrize("inside", [True, False])
def test_what_cannot_be_sliced_by_is_left_out_and_noted(odd: Any, inside: bool) -> None:
    own = {"site": odd, "floor": 2.5}
    record = {"dialogue_id": "d", "turn_id": 0, **({"metadata": own} if inside else own)}
    notes: Counter[str] = Counter()
    assert exchange_from(record, "line 1", {}, notes).metadata == {"floor": "2.5"}
    assert notes["column 'site' is left out: it is not text or a finite number"] == 1
