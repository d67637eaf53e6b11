"""What stands in for slow parts of the rooms while the contract is tested."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.rooms import ADAPTERS


@pytest.fixture(scope="module", autouse=True)
def _stand_ins() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for adapter in ADAPTERS.values():
            adapter.stand_in(patch)
        yield
