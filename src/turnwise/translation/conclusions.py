"""What the numbers of a run mean together: the document's diagnoses as sentences, and metrics that are blind to probes.

In a pattern a metric is *high* where its band is good or excellent and *low* where it is fair or poor; for MCD, which
is a distance, it is the distance that is high or low (003-6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turnwise.engine.plan import DIAGNOSIS, Finding
from turnwise.kernel.metric import SPEC, Direction
from turnwise.report.tables import metric_label, number
from turnwise.store.run import FINISHED, Run
from turnwise.store.store import Store
from turnwise.translation.bands import HIGH
from turnwise.translation.batch import PROBES
from turnwise.translation.records import LANGUAGE

TITLES = {"bleu": "BLEU", "chrf": "chrF", "comet": "COMET", "mcd": "MCD", "blaser": "BLASER"}
TEXT = ("bleu", "chrf", "comet")
PROBE = "probe"
OTHER_RUNS_NAMED = 3
IDENTITY = "identity"
OF_SPEECH_ALONE = frozenset({"wer", "cer"})
"""They hold speech against its own text: exchanging both changes nothing, so they cannot be probed."""


class Reading(NamedTuple):
    """A number and the word for it."""

    value: float
    band: str


Readings = Mapping[str, Reading]


class Probed(NamedTuple):
    """What a metric says of made-up translations."""

    metric: str
    probe: str
    value: float
    told_apart: bool
    """Whether it came out as it must: the reference itself best, everything else worse."""


def conclusions(store: Store, run: Run, results: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """The diagnoses of every language, or of the whole where there is but one, and what the probes showed."""
    found = []
    groups = dict.fromkeys(r["group"].get(LANGUAGE) for r in results if list(r["group"]) in ([], [LANGUAGE]))
    languages = [name for name in groups if name is not None]
    for language in languages or [None]:
        readings = readings_of(results, {} if language is None else {LANGUAGE: language})
        prefix = "" if language is None else f"{language}: "
        found += [Finding(DIAGNOSIS, prefix + sentence) for sentence in diagnoses(readings, run.profile)]
    if advice := _comparing(store, run):
        found.append(Finding(DIAGNOSIS, advice))
    for metric in dict.fromkeys(probed.metric for probed in probes(results) if not probed.told_apart):
        blind = [p.probe for p in probes(results) if p.metric == metric and not p.told_apart]
        message = f"{metric} does not tell the reference itself from {', '.join(blind)}: do not rely on it here"
        found.append(Finding(PROBE, message, len(blind)))
    return found


def readings_of(results: Sequence[Mapping[str, Any]], group: Mapping[str, str]) -> dict[str, Reading]:
    """The primary numbers of the document's metrics in a group, with their bands."""
    return {
        r["metric"]: Reading(r["value"], r["band"])
        for r in results
        if r["metric"] in TITLES and r["primary"] and not r["variant"] and r["group"] == group and r["band"] is not None
    }


def diagnoses(readings: Readings, profile: str) -> Iterator[str]:
    """The document's patterns and problems that these numbers show."""
    high = {name for name, reading in readings.items() if _is_high(name, reading)}
    low = set(readings) - high
    text = [name for name in TEXT if name in readings]
    good_text = bool(text) and all(name in high for name in text)
    if "bleu" in low and "chrf" in high:
        yield _sentence(
            readings,
            ("bleu", "chrf"),
            "character patterns are captured, exact words are not",
            "word choice errors, or valid paraphrases",
        )
    if "bleu" in high and "comet" in low:
        yield _sentence(
            readings,
            ("bleu", "comet"),
            "the words are those of the reference, the meaning is not",
            "literal translation, or errors in idioms",
        )
    mismatch = low if profile == SPEC else high  # the document's row is upside down: MCD is a distance (003-4)
    if good_text and "mcd" in mismatch:
        yield _sentence(
            readings,
            (*text, "mcd"),
            "a good translation, poorly spoken",
            "quality of the speech synthesis (prosody, voice), not the translation",
        )
    if "mcd" in high and "blaser" in high:
        yield _sentence(
            readings,
            ("mcd", "blaser"),
            "poorly spoken, but the meaning is preserved",
            "audio quality was traded for meaning",
        )
    if good_text and "blaser" in low:
        yield _sentence(
            readings,
            (*text, "blaser"),
            "a good text, but trouble in speech",
            "pronunciation or speaking rate, not the translation",
        )
    yield from _problems(readings, high, low)


def _problems(readings: Readings, high: set[str], low: set[str]) -> Iterator[str]:
    """The document's problems that no pattern has named yet; comparing models is said elsewhere."""
    if "bleu" in low:
        if "comet" in high:
            yield f"{_named(readings, ('bleu', 'comet'))}: the meaning is there in other words, which BLEU punishes."
        elif "comet" not in readings:
            yield (
                f"{_named(readings, ('bleu',))}, and COMET was not measured: if readers find the translation good, "
                "check COMET; a high one means that the meaning is there in other words."
            )
    good = {name for name in readings if (name in high) != (name == "mcd")}
    if good and good != set(readings):
        yield "the metrics disagree: go by COMET for text, by MCD for sound, by BLASER for speech-to-speech."


def _is_high(name: str, reading: Reading) -> bool:
    good = reading.band in HIGH
    return not good if name == "mcd" else good


def _named(readings: Readings, names: Sequence[str]) -> str:
    words = []
    for name in names:
        reading = readings[name]
        level = "high" if _is_high(name, reading) else "low"
        words.append(f"{TITLES[name]} is {level} ({number(reading.value)}, {reading.band})")
    return ", ".join(words)


def _sentence(readings: Readings, names: Sequence[str], diagnosis: str, issue: str) -> str:
    return f"{_named(readings, names)}: {diagnosis}; likely {issue}."


def _comparing(store: Store, run: Run) -> str | None:
    """The document's advice on comparing models, where other systems were run on the same data."""
    others = [
        other
        for other in store.runs(run.suite)
        if other.dataset_fingerprint == run.dataset_fingerprint
        and other.status == FINISHED
        and (other.system, other.version) != (run.system, run.version)
    ]
    if not others:
        return None
    names = ", ".join(
        f"{other.system} {other.version}".strip() + f" ({other.id})" for other in others[:OTHER_RUNS_NAMED]
    )
    return (
        f"other systems were run on these data: {names}. Compare them on all metrics: BLEU for papers, chrF for "
        "morphologically rich languages, COMET for meaning, MCD for sound, BLASER for speech translation as a whole."
    )


def probes(results: Sequence[Mapping[str, Any]]) -> list[Probed]:
    """What each metric said of the probes it could score, over all data; empty where none were made."""
    found: dict[str, dict[str, float]] = {}
    lower: dict[str, bool] = {}
    for r in results:
        label = metric_label(r)
        if r["primary"] and not r["group"] and r["value"] is not None and r["variant"] in PROBES:
            found.setdefault(label, {})[r["variant"]] = r["value"]
            lower[label] = r["direction"] == Direction.LOWER.value
    return [
        Probed(label, probe, values[probe], _as_it_must(probe, values, lower[label]))
        for label, values in found.items()
        if IDENTITY in values and label not in OF_SPEECH_ALONE
        for probe in PROBES
        if probe in values
    ]


def _as_it_must(probe: str, values: Mapping[str, float], lower: bool) -> bool:
    value, best = values[probe], values[IDENTITY]
    return probe == IDENTITY or (value > best if lower else value < best)
