"""The judge's scores of a stored run against people's, from a file or from the store; and marks in tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.judge.rating_data import ONE_TO_FIVE, make_rubric, values, write_csv
from turnwise.judge.calibrate import calibrate
from turnwise.judge.calibrated import judged_by, mark, marks, parts_of
from turnwise.judge.calibration_input import rated_columns
from turnwise.judge.calibration_run import from_file_and_run, from_run
from turnwise.judge.calibration_table import as_json
from turnwise.judge.ratings_file import read_ratings
from turnwise.kernel.errors import InputError, UsageError
from turnwise.kernel.jsontext import dumps
from turnwise.kernel.score import Score, Source, Unit
from turnwise.kernel.signature import signature
from turnwise.report.tables import UNCALIBRATED
from turnwise.store.calibrations import save_calibration
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store

SCALE = {"asks": "?", "scale": ONE_TO_FIVE}
RUBRIC = make_rubric(clarity=SCALE, overall=SCALE)
SIGNATURE = signature(
    "dialogue/quality", 1, "turnwise", {"judge": "maker/model=7|b", "rubric": f"quality:{RUBRIC.hash}", "prompt": 1}
)


def judged_run(
    store: Store,
    begin_run: Callable[..., Run],
    scores: list[float | None],
    sign: str = SIGNATURE,
    unasked: bool = False,
) -> Run:
    """A run whose exchanges e0, e1 ... have these scores of overall, one less of clarity; None: no readable answer.

    With `unasked`, one more exchange that the judge could not be asked about: its only row says why.
    """
    run = begin_run(store)
    with store.writing() as connection:
        store._insert(connection, _run_metrics(), [(run.key, 2, "dialogue/quality", sign)])
    items, rows = [], []
    for n, score in enumerate(scores):
        items.append((n, "exchange", f"e{n}", f"d{n // 2}", "{}", None))
        items.append((1000 + n, "dialogue", f"d{n}", f"d{n}", "{}", None))
        for output, value in (("value", score), ("clarity", None if score is None else max(1.0, score - 1))):
            answers = [{"reasoning": f"because {n}", "scores": {"overall": score, "clarity": value}}]
            evidence = dumps({"answers": answers}) if output == "value" and score is not None else None
            told = ("scored", None) if value is not None else ("error", "no JSON in the answer")
            row = (2, output, "", n, 0, "judge", "m", value, None, None, None, *told, evidence)
            rows.append(row)
    if unasked:
        n = len(scores)
        items.append((n, "exchange", f"e{n}", f"d{n}", "{}", None))
        rows.append((2, "value", "", n, 0, "code", "", None, None, None, None, "skipped", "no response", None))
    store.write_batch(run, BatchRows(0, sorted(items), rows))
    return run


def _run_metrics() -> Any:
    from turnwise.store import schema

    return schema.run_metrics


def rate(store: Store, run: Run, metric: str, item: str, rater: str, value: float) -> None:
    unit = Unit(item, "d", kind="exchange")
    sign = SIGNATURE if metric == "dialogue/quality" else f"{metric}|v1"
    said = {"value": value, "statistics": (value,), "source": Source.HUMAN, "rater": rater}
    store.amend(run, [Score(metric=metric, unit=unit, signature=sign, **said)], by=rater)  # type: ignore[arg-type]


def from_file(tmp_path: Path, store: Store, run: Run, header: list[str], rows: list[tuple[Any, ...]]) -> Any:
    file = read_ratings(write_csv(tmp_path / "human.csv", header, rows))
    return from_file_and_run(file, RUBRIC, rated_columns(file.columns, RUBRIC, None), store, run)


def test_a_file_that_names_items_of_the_run(tmp_path: Path, store: Store, begin_run: Callable[..., Run]) -> None:
    run = judged_run(store, begin_run, [5.0, 3.0, None, 4.0], unasked=True)
    rows = [("e0", 5, 4), ("e1", 2, 2), ("e2", 4, ""), ("e4", 1, 1), ("e9", 3, 3)]
    given = from_file(tmp_path, store, run, ["id", "rating", "clarity"], rows)
    assert given.model == "maker/model=7|b"
    assert given.settings == {"profile": "turnwise", "prompt": "1"}
    clarity, overall = calibrate(given)
    assert (overall.dimension, overall.n, overall.clusters) == ("overall", 2, 1)
    # e0: 5 and 5, e1: 3 and 2; clarity 4 and 4, 2 and 2.
    assert (values(overall)["exact"], values(overall)["bias"], values(clarity)["exact"]) == (0.5, 0.5, 1.0)
    elsewhere = "not among the exchanges of the run"
    assert overall.unscored == {"no JSON in the answer": 1, "no response": 1, elsewhere: 1}
    assert clarity.unscored == {"no response": 1, elsewhere: 1}
    assert overall.compared[0].reasoning == "because 1"
    assert clarity.unrated == 1


def test_no_overlap(tmp_path: Path, store: Store, begin_run: Callable[..., Run]) -> None:
    run = judged_run(store, begin_run, [5.0, 3.0])
    with pytest.raises(InputError, match=r"no id of[\s\S]*such as x, y[\s\S]*such as e0, e1"):
        from_file(tmp_path, store, run, ["id", "rating"], [("x", 5), ("y", 4)])


def test_ratings_in_the_store(store: Store, begin_run: Callable[..., Run]) -> None:
    run = judged_run(store, begin_run, [5.0, 3.0, 4.0])
    for item, nurse, clerk in (("e0", 5, 5), ("e1", 2, 3), ("e2", 4, 4)):
        rate(store, run, "dialogue/quality", item, "nurse", nurse)
        rate(store, run, "dialogue/quality", item, "clerk", clerk)
    rate(store, run, "dialogue/clarity_score", "e0", "nurse", 4)
    rate(store, run, "dialogue/clarity_score", "e1", "nurse", 1)
    clarity, overall = calibrate(from_run(RUBRIC, store, run, None))
    assert (overall.n, overall.unrated, clarity.n, clarity.unrated) == (3, 0, 2, 1)
    # Overall: 5 and 5, 3 and 2.5, 4 and 4. Clarity: 4 and 4, 2 and 1.
    assert values(overall)["bias"] == pytest.approx(0.5 / 3)
    assert values(clarity)["bias"] == 0.5
    assert overall.people is not None
    assert (overall.people.raters, overall.people.items) == (2, 3)
    (only,) = calibrate(from_run(RUBRIC, store, run, "clarity"))
    assert only.dimension == "clarity"
    with pytest.raises(UsageError, match="no dimension 'tone'"):
        from_run(RUBRIC, store, run, "tone")


def test_a_run_that_nobody_rated_or_judged(store: Store, begin_run: Callable[..., Run]) -> None:
    run = judged_run(store, begin_run, [5.0, 3.0])
    with pytest.raises(InputError, match=r"no ratings by people[\s\S]*turnwise rate"):
        from_run(RUBRIC, store, run, None)
    with pytest.raises(UsageError, match=rf"another version of quality[\s\S]*quality:{RUBRIC.hash}"):
        from_run(make_rubric(), store, run, None)
    plain = begin_run(store)
    with pytest.raises(UsageError, match=r"has no quality[\s\S]*no metric of a judge"):
        from_run(RUBRIC, store, plain, None)
    nobody = judged_run(store, begin_run, [None], SIGNATURE.replace("maker/model%3D7%7Cb", "none"))
    with pytest.raises(UsageError, match="has no quality"):
        from_run(RUBRIC, store, nobody, None)


# Marks


def test_a_signature_is_read_back() -> None:
    parts = {"judge": "a=b|c%7Cd\ne", "rubric": "r:12"}
    made = signature("dialogue/quality", 1, "turnwise", parts)
    assert parts_of(made) == {"profile": "turnwise", **parts}
    assert judged_by(made) == "a=b|c%7Cd\ne"
    assert judged_by("dialogue/quality|v1|profile=turnwise|judge=none|rubric=r:12") is None
    assert judged_by("dialogue/slot_accuracy|v1|profile=turnwise") is None


def keep(store: Store, dimension: str, primary: bool, kappa: float | None, n: int, answer: str = "yes") -> None:
    record = {"primary": primary, "kappa": kappa, "verdict": {"answer": answer}}
    model = "maker/model=7|b"
    save_calibration(
        store, rubric="quality", rubric_hash=RUBRIC.hash, model=model, dimension=dimension, n=n, record=record
    )


def test_marks(store: Store) -> None:
    main, clarity = (SIGNATURE, "value"), (SIGNATURE, "clarity")
    other = (SIGNATURE.replace(RUBRIC.hash, "000000000000"), "value")
    plain = ("dialogue/slot_accuracy|v1|profile=turnwise", "value")
    asked = [main, clarity, other, plain, (SIGNATURE, "self_consistency")]
    assert marks(store, asked) == dict.fromkeys([main, clarity, other], UNCALIBRATED)
    keep(store, "clarity", False, 0.5, 60, "no")
    assert marks(store, asked) == {
        main: UNCALIBRATED,
        clarity: "calibrated: kappa 0.50 (n=60), no stand-in for people",
        other: UNCALIBRATED,
    }
    keep(store, "overall", True, 0.4, 60, "no")
    keep(store, "overall", True, 0.714, 120)
    assert marks(store, [main, other]) == {main: "calibrated: kappa 0.71 (n=120)", other: UNCALIBRATED}
    keep(store, "overall", True, None, 8, "not yet")
    assert marks(store, [main]) == {main: "calibrated: kappa undefined (n=8), not yet sure"}


def test_what_calibrate_keeps_is_what_the_mark_reads(
    tmp_path: Path, store: Store, begin_run: Callable[..., Run]
) -> None:
    run = judged_run(store, begin_run, [5.0, 3.0, 4.0])
    rows = [("e0", 5), ("e1", 3), ("e2", 4)]
    (found,) = calibrate(from_file(tmp_path, store, run, ["id", "rating"], rows))
    assert found.model is not None
    kept = save_calibration(
        store,
        rubric=found.rubric,
        rubric_hash=found.rubric_hash,
        model=found.model,
        dimension=found.dimension,
        n=found.n,
        record=as_json(found),
    )
    assert mark(kept) == "calibrated: kappa 1.00 (n=3), not yet sure"
    assert marks(store, [(SIGNATURE, "value")]) == {(SIGNATURE, "value"): mark(kept)}
