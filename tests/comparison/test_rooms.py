"""Real rooms from their files to the verdict: corpus metrics against sacrebleu, the examples against sums by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest

import turnwise
from tests.comparison.keeping import all_signs, compared
from turnwise import UsageError
from turnwise.comparison.compare import Comparison
from turnwise.store.store import Store

EXAMPLES = Path(__file__).parents[2] / "examples"
WORDS = tuple(
    "the a bus train to from clinic nurse ticket please morning evening take one two pills before after meal".split()  # noqa: SIM905
)
SEGMENTS, DRAWS = 120, 10_000


def row(found: Comparison, metric: str, rollup: str | None = None, **group: str) -> dict[str, Any]:
    (one,) = (
        r
        for r in found
        if r["metric"] == metric and r["group"] == group and (r["rollup"] == rollup if rollup else r["primary"])
    )
    return one


def corpus(better: float) -> tuple[list[str], list[str], list[str]]:
    """References, and two translations with some words replaced; B replaces a little less often."""
    random = np.random.default_rng(5)

    def spoiled(text: list[str], chance: float) -> str:
        return " ".join(str(random.choice(WORDS)) if random.random() < chance else word for word in text)

    references = [[str(w) for w in random.choice(WORDS, size=random.integers(6, 14))] for _ in range(SEGMENTS)]
    a, b = ([spoiled(text, chance) for text in references] for chance in (0.35, 0.35 - better))
    return [" ".join(text) for text in references], a, b


@pytest.fixture(scope="module")
def translations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("corpus")
    references, a, b = corpus(0.03)
    for name, texts in (("ref", references), ("a", a), ("b", b)):
        (folder / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    results = [
        turnwise.evaluate(
            suite="translation",
            hypotheses=folder / f"{name}.txt",
            references=[folder / "ref.txt"],
            metrics=["bleu", "chrf"],
            resamples=200,
        )
        for name in "ab"
    ]
    return {"references": references, "a": a, "b": b, "found": results[0].compare(results[1])}


@pytest.mark.parametrize(("metric", "reference"), [("bleu", sacrebleu.BLEU), ("chrf", sacrebleu.CHRF)])
def test_corpus_metrics_agree_with_sacrebleu(
    translations: dict[str, Any], metric: str, reference: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same values, and the p of its paired approximate randomisation within the error of drawing."""
    monkeypatch.setenv("SACREBLEU_SEED", "11")
    found = row(translations["found"], metric)
    systems = [("A", translations["a"]), ("B", translations["b"])]
    measure = reference(references=[translations["references"]])
    _, scores = PairedTest(systems, {metric: measure}, None, test_type="ar", n_samples=DRAWS)()
    (name,) = set(scores) - {"System"}
    first, second = scores[name]
    assert (found["a"], found["b"]) == pytest.approx((first.score, second.score))
    p = second.p_value
    assert 0.01 < p < 0.9  # the corpora are made so that there is something to estimate
    assert found["p"] == pytest.approx(p, abs=4 * np.sqrt(2 * p * (1 - p) / DRAWS))
    assert found["test"] == f"sign flips by cluster, {DRAWS} draws"


def test_the_interval_of_a_corpus_metric_is_as_wide_as_a_bootstrap_written_here(translations: dict[str, Any]) -> None:
    """A hundred resamples give the standard error to 7 %; the interval is 1.98 of it to either side."""
    random = np.random.default_rng(12)
    sides = [translations[name] for name in ("references", "a", "b")]
    gaps = []
    for _ in range(100):
        drawn = random.integers(0, SEGMENTS, SEGMENTS)
        references, a, b = ([side[i] for i in drawn] for side in sides)
        gaps.append(sacrebleu.corpus_bleu(b, [references]).score - sacrebleu.corpus_bleu(a, [references]).score)
    found = row(translations["found"], "bleu")
    assert (found["high"] - found["low"]) / 2 / 1.98 == pytest.approx(np.std(gaps), rel=0.25)
    assert found["low"] < found["difference"] < found["high"]


@pytest.fixture(scope="module")
def assistants() -> tuple[turnwise.Result, turnwise.Result]:
    folder = EXAMPLES / "dialogue"

    def version(name: str) -> turnwise.Result:
        sides = {"references": folder / "references.jsonl", "predictions": folder / name}
        return turnwise.evaluate(
            sides, metrics=["joint_goal_accuracy", "slot_accuracy", "system_latency_ms"], resamples=200
        )

    return version("predictions.jsonl"), version("predictions_v2.jsonl")


def latencies(name: str) -> dict[tuple[str, Any], float]:
    lines = (EXAMPLES / "dialogue" / name).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return {(r["dialogue_id"], r["turn_id"]): r["latency_ms"] for r in rows if "latency_ms" in r}


def test_the_examples_of_the_dialogue_room(assistants: tuple[turnwise.Result, turnwise.Result]) -> None:
    """Latencies as the files have them; sums of differences by dialogue, all 2^12 patterns of signs."""
    found = assistants[0].compare(assistants[1], "system_latency_ms")
    a, b = latencies("predictions.jsonl"), latencies("predictions_v2.jsonl")
    shared = sorted(set(a) & set(b))
    gaps: dict[str, float] = {}
    for key in shared:
        gaps[key[0]] = gaps.get(key[0], 0.0) + b[key] - a[key]
    sums = np.array(list(gaps.values()))
    one = row(found, "system_latency_ms")
    assert (one["n_paired"], one["clusters_a"]) == (len(shared), len(gaps))
    assert one["a"] == pytest.approx(np.mean([a[key] for key in shared]))
    assert one["difference"] == pytest.approx(sums.sum() / len(shared))
    assert one["p"] == pytest.approx(np.mean(np.abs(all_signs(len(sums)) @ sums) >= abs(sums.sum()) - 1e-9))
    assert one["verdict"] == "worse"
    assert one["losses"] == len(shared)


def test_slices_by_slot_split_the_items(assistants: tuple[turnwise.Result, turnwise.Result]) -> None:
    """hotel-area is right in 9 of A's 14 (as test_api has it), and in all of B's."""
    found = assistants[0].compare(assistants[1], "slot_accuracy", by="slot")
    one = row(found, "slot_accuracy", slot="hotel-area")
    assert (one["a"], one["b"]) == (pytest.approx(9 / 14), 1.0)


def test_a_result_shows_itself_and_refuses_another_room(
    assistants: tuple[turnwise.Result, turnwise.Result], translations: dict[str, Any], tmp_path: Path
) -> None:
    found = assistants[0].compare(assistants[1], ["joint_goal_accuracy"])
    assert "B is better" in repr(found)
    assert "<table>" in found._repr_html_()
    assert len(found) == 1
    text = tmp_path / "x.txt"
    text.write_text("one\n")
    other = turnwise.evaluate(suite="translation", hypotheses=text, references=[text], metrics=["bleu"])
    with pytest.raises(UsageError, match="not of one room"):
        assistants[0].compare(other)


def test_data_that_differ_are_refused_from_python_too(assistants: tuple[turnwise.Result, turnwise.Result]) -> None:
    rows = [{"dialogue_id": name, "state": {"hotel-area": "north"}} for name in ("x", "y")]
    other = turnwise.evaluate({"references": rows, "predictions": rows}, metrics="joint_goal_accuracy")
    with pytest.raises(UsageError, match="not the same data"):
        assistants[0].compare(other, "joint_goal_accuracy")
    found = assistants[0].compare(other, "joint_goal_accuracy", allow_different=True)
    assert found.pairing == "unpaired"
    assert len(found.warnings) == 2


def test_two_versions_of_one_log_are_an_unpaired_comparison(sqlite_path: str) -> None:
    """The example log of the assistant room: 30 turns of each version, in sessions of their own."""
    log = EXAMPLES / "assistant" / "turns.jsonl"
    turnwise.evaluate(suite="assistant", turns=log, metrics=["response_length_appropriate"], db=sqlite_path)
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    sessions = {(line["version"], line["session_id"]) for line in lines}
    store = Store(sqlite_path)
    try:
        found = compared(store, "version:fc26922", "version:ee59fe5")
    finally:
        store.close()
    one = row(found, "response_length_appropriate")
    assert found.pairing == "unpaired"
    assert found.cluster == "session"
    asked = {version: sum(line["version"] == version for line in lines) for version in ("fc26922", "ee59fe5")}
    assert (found.as_json()["a"]["items"], found.as_json()["b"]["items"]) == (asked["fc26922"], asked["ee59fe5"])
    assert one["clusters_a"] <= sum(version == "fc26922" for version, _ in sessions)
    assert one["p"] is not None
