"""A judge held against people: values of scikit-learn, krippendorff and scipy, or by hand; what is left out counts."""

from __future__ import annotations

from pathlib import Path

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from tests.judge.rating_data import LABELS, ONE_TO_FIVE, comparable, found_in, make_rubric, pairs, values, write_csv
from turnwise.judge.calibrate import calibrate
from turnwise.judge.calibration_table import KEPT, as_json, item_rows, tables
from turnwise.kernel.errors import InputError
from turnwise.report.tables import as_text

POINTS = [1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", range(3))
def test_the_packages_find_the_same(tmp_path: Path, seed: int) -> None:
    judge, human = pairs(80, seed)
    found = found_in(tmp_path, ["id", "rating", "judge"], list(zip(range(80), human, judge, strict=True)))
    got = values(found)
    x, y = np.array(judge), np.array(human)
    assert got["exact"] == pytest.approx(np.mean(x == y))
    assert got["within_one"] == pytest.approx(np.mean(abs(x - y) <= 1))
    assert got["kappa"] == pytest.approx(cohen_kappa_score(x, y), abs=1e-12)
    theirs = cohen_kappa_score(x, y, labels=POINTS, weights="quadratic")
    assert got["weighted_kappa"] == pytest.approx(theirs, abs=1e-12)
    assert got["alpha"] == pytest.approx(krippendorff.alpha([x, y], level_of_measurement="ordinal"), abs=1e-12)
    assert got["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert got["bias"] == pytest.approx(np.mean(x - y))
    assert got["ceiling"] == pytest.approx(np.mean(x == 5))
    assert got["reference_ceiling"] == pytest.approx(np.mean(y == 5))
    np.testing.assert_array_equal(found.confusion.counts, confusion_matrix(x, y, labels=POINTS))
    assert (found.n, found.clusters, found.step, found.people) == (80, 80, 1.0, None)
    for statistic in found.statistics.values():
        low, high = statistic.interval.low, statistic.interval.high
        assert statistic.value is not None
        assert low is not None
        assert high is not None
        assert low < statistic.value < high


def test_by_hand(tmp_path: Path) -> None:
    # (judge, people): (5,5) (4,2) (3,3) (2,3); bias (0 + 2 + 0 - 1) / 4.
    rows = [("a", 5, 5, "fine"), ("b", 2, 4, "polite"), ("c", 3, 3, ""), ("d", 3, 2, "short")]
    found = found_in(tmp_path, ["id", "human", "judge", "judge_reasoning"], rows)
    got = values(found)
    assert (got["exact"], got["within_one"], got["bias"]) == (0.5, 0.75, 0.25)
    assert (got["ceiling"], got["reference_ceiling"]) == (0.25, 0.25)
    # Squares: judge 25 + 16 + 9 + 4 = 54, people 25 + 4 + 9 + 9 = 47; sums 14 and 13.
    # Seen 0 + 4 + 0 + 1 = 5, expected 54 + 47 - 2 * 14 * 13 / 4 = 10.
    assert got["weighted_kappa"] == pytest.approx(1 - 5 / 10)
    assert [(one.id, one.human, one.judge, one.reasoning) for one in found.compared[:2]] == [
        ("b", 2, 4, "polite"),
        ("d", 3, 2, "short"),
    ]
    assert found.verdict.answer == "not yet"
    assert "n = 4 is too few" in found.verdict.sentence


def test_several_raters_are_compared_by_their_median_and_among_themselves(tmp_path: Path) -> None:
    judge, first = pairs(60, 1)
    third, second = pairs(60, 1, noise=0.9)
    rows = []
    for i in range(60):
        for rater, row in (("nurse", first), ("interpreter", second), ("clerk", third)):
            if rater != "clerk" or i % 2:  # the clerk rated every other item
                rows.append((f"item {i}", rater, row[i], judge[i]))
    found = found_in(tmp_path, ["id", "rater", "rating", "judge"], rows)
    middle = [float(np.median([first[i], second[i], third[i]] if i % 2 else [first[i], second[i]])) for i in range(60)]
    assert values(found)["bias"] == pytest.approx(np.mean(np.array(judge) - np.array(middle)))
    assert values(found)["spearman"] == pytest.approx(stats.spearmanr(judge, middle).statistic, abs=1e-12)
    assert found.between == sum(value % 1 != 0 for value in middle)
    people = found.people
    assert people is not None
    assert (people.raters, people.items) == (3, 60)
    odd = list(range(1, 60, 2))

    def kappa(x: list[float], y: list[float], places: list[int]) -> float:
        chosen = [[int(side[i]) for i in places] for side in (x, y)]
        return float(cohen_kappa_score(*chosen, labels=POINTS, weights="quadratic"))

    everything = list(range(60))
    among = [kappa(first, second, everything), kappa(first, third, odd), kappa(second, third, odd)]
    assert people.kappa.value == pytest.approx(np.mean(among), abs=1e-12)
    with_judge = [kappa(judge, first, everything), kappa(judge, second, everything), kappa(judge, third, odd)]
    assert people.judge.value == pytest.approx(np.mean(with_judge), abs=1e-12)
    matrix = [first, second, [value if i % 2 else np.nan for i, value in enumerate(third)]]
    alpha = krippendorff.alpha(matrix, level_of_measurement="ordinal")
    assert people.alpha.value == pytest.approx(alpha, abs=1e-12)


def test_labels_have_the_nominal_ones_and_ties_are_left_out(tmp_path: Path) -> None:
    said = ["yields", "resumes", "talks"]
    rng = np.random.default_rng(4)
    rows = []
    kept: list[tuple[str, str]] = []
    for i in range(40):
        judge = said[rng.integers(3)]
        human = judge if rng.random() < 0.7 else said[rng.integers(3)]
        rows += [(i, "a", human, judge), (i, "b", human, judge)]
        kept.append((judge, human))
    rows += [(40, "a", "yields", "talks"), (40, "b", "talks", "talks")]  # one each: nobody's reference
    found = found_in(tmp_path, ["id", "rater", "behaviour", "judge"], rows, LABELS)
    assert set(found.statistics) == {"exact", "kappa", "alpha"}
    judges, humans = [one for one, _ in kept], [one for _, one in kept]
    assert values(found)["kappa"] == pytest.approx(cohen_kappa_score(judges, humans), abs=1e-12)
    assert values(found)["exact"] == pytest.approx(np.mean([one == other for one, other in kept]))
    codes = [[said.index(label) for label in side] for side in (judges, humans)]
    assert values(found)["alpha"] == pytest.approx(krippendorff.alpha(codes, level_of_measurement="nominal"))
    assert found.confusion.categories == tuple(sorted(said))
    assert (found.n, found.undecided, found.step) == (40, 1, None)
    assert found.people is not None
    assert found.people.kappa.value == 1.0
    assert "tied: 1 item" in as_text(tables(found)[0])


def test_what_has_no_score_is_counted_and_never_a_score(tmp_path: Path) -> None:
    rows = [("a", 5, 5), ("b", 1, ""), ("c", "", 3), ("d", 4, 4), ("e", 3, 3)]
    found = found_in(tmp_path, ["id", "rating", "judge"], rows)
    assert (found.n, found.unscored, found.unrated) == (3, {"no score of the judge in the file": 1}, 1)
    assert values(found)["exact"] == 1.0
    # 1 of the 4 rated items has no score of the judge: more than a tenth.
    assert "no score to 1 of 4 items" in found.verdict.sentence
    shown = as_text(tables(found)[0])
    assert "no score of the judge, left out (no score of the judge in the file): 1" in shown
    assert "not rated by anybody: 1 item" in shown


def test_all_the_same_has_no_kappa_and_says_why(tmp_path: Path) -> None:
    found = found_in(tmp_path, ["id", "rating", "judge"], [(i, 4, 4) for i in range(60)])
    assert values(found)["exact"] == 1.0
    for name in ("kappa", "weighted_kappa", "alpha", "spearman"):
        assert found.statistics[name].value is None
        assert found.statistics[name].reason
    assert found.verdict.answer == "not yet"
    assert "undefined (all ratings are the same" in found.verdict.sentence
    assert as_json(found)["kappa"] is None
    assert len(tables(found)) == 2  # nothing to disagree about


def test_items_of_one_conversation_are_one_cluster(tmp_path: Path) -> None:
    judge, human = pairs(40, 2)
    rows = [(f"{i}.{k}", f"call {i}", human[i], judge[i]) for i in range(40) for k in range(4)]
    found = found_in(tmp_path, ["id", "cluster", "rating", "judge"], rows)
    alone = found_in(tmp_path, ["id", "rating", "judge"], [(i, human[i], judge[i]) for i in range(40)])
    assert (found.n, found.clusters) == (160, 40)
    assert found.statistics["exact"].interval.low == pytest.approx(alone.statistics["exact"].interval.low)


def test_a_wide_scale_has_steps_of_a_tenth(tmp_path: Path) -> None:
    rubric = make_rubric(adequacy={"asks": "?", "scale": {"low": 0, "high": 100}})
    people = list(range(0, 100, 2))
    rows = [(i, value, min(100, value + (12 if i % 5 == 0 else 4))) for i, value in enumerate(people)]
    found = found_in(tmp_path, ["id", "adequacy", "judge"], rows, rubric)
    assert found.step == 10.0
    # Every fifth of the 50 is 12 off but 90, which ends at 100; the others are 4 off or less: 41 of 50 within 10.
    assert values(found)["within_one"] == pytest.approx(41 / 50)
    assert found.confusion.categories[0] == "0 to 10"
    assert len(found.confusion.categories) == 10
    assert sum(map(sum, found.confusion.counts)) == 50
    # The judge from 10 to 20, people from 0 to 10: (12, 0), (10, 6), (12, 8).
    assert found.confusion.counts[1][0] == 3
    assert "within 10" in as_text(tables(found)[0])


def test_dimensions_are_compared_each_on_its_own(tmp_path: Path) -> None:
    scale = {"asks": "?", "scale": ONE_TO_FIVE}
    rubric = make_rubric(clarity=scale, policy=scale, overall=scale)
    header = ["id", "rating", "clarity", "policy", "judge", "judge_clarity"]
    rows = [("a", 5, 1, 3, 5, 2), ("b", 3, 2, 3, 3, 2), ("c", 4, 3, 3, 5, 3)]
    path = write_csv(tmp_path / "human.csv", header, rows)
    given = comparable(path, rubric)
    found = {one.dimension: one for one in calibrate(given)}
    assert set(found) == {"clarity", "overall"}
    assert (found["overall"].primary, found["clarity"].primary) == (True, False)
    assert values(found["overall"])["exact"] == pytest.approx(2 / 3)
    assert values(found["clarity"])["exact"] == pytest.approx(2 / 3)
    assert given.notes == ("rated by people, without scores of the judge: policy",)


def test_one_dimension_may_be_asked_for(tmp_path: Path) -> None:
    scale = {"asks": "?", "scale": ONE_TO_FIVE}
    rubric = make_rubric(clarity=scale, overall=scale)
    path = write_csv(tmp_path / "human.csv", ["id", "score", "judge"], [("a", 1, 2), ("b", 2, 2)])
    (found,) = calibrate(comparable(path, rubric, dimension="clarity"))
    assert (found.dimension, found.primary) == ("clarity", False)


def test_too_little_to_compare(tmp_path: Path) -> None:
    for rows in ([("a", 5, 5)], [("a", 5, ""), ("b", 4, 4)], [("a", "", 3), ("b", "", 4)]):
        with pytest.raises(InputError, match="too little to compare on overall"):
            found_in(tmp_path, ["id", "rating", "judge"], rows)


def test_as_json_and_every_item(tmp_path: Path) -> None:
    judge, human = pairs(300, 5, noise=2.0)
    found = found_in(tmp_path, ["id", "rating", "judge"], list(zip(range(300), human, judge, strict=True)))
    record = as_json(found)
    assert record["kappa"] == record["statistics"]["weighted_kappa"]["value"]
    assert len(record["disagreements"]) == KEPT
    apart = [abs(one["judge"] - one["human"]) for one in record["disagreements"]]
    assert apart == sorted(apart, reverse=True)
    assert len(item_rows(found)) == 300
    assert record["confusion"]["categories"] == [1.0, 2.0, 3.0, 4.0, 5.0]
