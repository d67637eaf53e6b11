"""Calibrations are added, never replaced; the newest counts; an older database gets the table by an upgrade."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from turnwise.kernel.errors import StoreError
from turnwise.store import calibrations as module
from turnwise.store.calibrations import calibrations, newest_calibrations, output_scores, save_calibration
from turnwise.store.connect import connect
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store
from turnwise.store.upgrade import upgrade_database


def save(store: Store, **changes: Any) -> None:
    values: dict[str, Any] = {"rubric": "quality", "rubric_hash": "ab12", "model": "m", "dimension": "overall", "n": 60}
    save_calibration(store, **{**values, "record": {"kappa": 0.5}, **changes})


def test_nothing_is_overwritten_and_the_newest_counts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    # All in the same moment: what was added last is the newest nevertheless.
    monkeypatch.setattr(module, "now", lambda: "2026-11-15T10:00:00.000+00:00")
    save(store)
    save(store, n=80, record={"kappa": 0.7, "text": "≥ 'x'"})
    save(store, dimension="clarity", n=40)
    found = calibrations(store, "ab12", "m")
    assert [(one.dimension, one.n) for one in found] == [("clarity", 40), ("overall", 80), ("overall", 60)]
    newest = newest_calibrations(store, "ab12", "m")
    assert {name: one.n for name, one in newest.items()} == {"overall": 80, "clarity": 40}
    assert newest["overall"].record == {"kappa": 0.7, "text": "≥ 'x'"}
    assert newest["overall"].created == "2026-11-15T10:00:00.000+00:00"


def test_another_wording_or_another_model_has_no_record(store: Store) -> None:
    save(store)
    assert calibrations(store, "ab13", "m") == []
    assert calibrations(store, "ab12", "m2") == []


def test_what_cannot_be_stored_as_it_is_is_written_out(store: Store) -> None:
    save(store, model="m\x00", record={"reasoning": "half a character: \ud83d"})
    assert calibrations(store, "ab12", "m\\x00")[0].record == {"reasoning": "half a character: \\ud83d"}


def test_the_scores_of_an_output(
    store: Store, begin_run: Callable[..., Run], make_batch: Callable[..., BatchRows]
) -> None:
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [0.5, None]))
    first, second = output_scores(store, run, 0, "value")
    assert (first.id, first.cluster, first.value, first.status) == ("d0/0", "d0", 0.5, "scored")
    assert (second.id, second.value, second.reason) == ("d0/1", None, "no predicted state")
    assert output_scores(store, run, 0, "clarity") == output_scores(store, run, 1, "value") == []


def test_a_database_from_before_is_upgraded(db: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(resources.files("turnwise.store") / "migrations"))
    engine = connect(db, check=False)
    with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "0002"
    engine.dispose()
    with pytest.raises(StoreError, match="another version of turnwise"):
        Store(db)
    assert upgrade_database(db)[0] == "0002"
    store = Store(db)
    save(store)
    assert len(calibrations(store, "ab12", "m")) == 1
    store.close()
