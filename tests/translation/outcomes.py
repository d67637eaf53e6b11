"""A made-up run of the room, as its reports see it: two languages, awkward texts, audio of which some is missing."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.audio.signals import chirp, tone
from turnwise.kernel.bands import Band, Bands
from turnwise.translation.outcome import Execution, LanguageOutcome, MetricOutcome, SampleOutcome

INJECTION = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'> \"quoted\" & 'so on'"
ARABIC = "رأيتُ اسمين أُرسلا إليّ بعجائب التكنولوجيا (2 أسماء)."
CHINESE = "我看到了两个名字，是通过科技的奇迹发送给我的。"
XHOSA = "Ndabona amagama amabini, athunyelwe kum ngemimangaliso yetekhnoloji."
NO_AUDIO = "no reference audio: Segment=7_User=11_Language=xho.wav is not there"


def _bands(better: str, *borders: float) -> Bands:
    """As row 003-6 of the decisions has it: the better band takes the border, excellent excepted."""
    fair, good, excellent = borders
    ends = (
        Band("fair", f"{better}={fair}"),
        Band("good", f"{better}={good}"),
        Band("excellent", f"{better}{excellent}"),
    )
    return Bands((Band("poor"), *ends))


BANDS = {
    "bleu": _bands(">", 15, 30, 50),
    "chrf": _bands(">", 30, 50, 70),
    "comet": _bands(">", 0.3, 0.5, 0.7),
    "mcd": _bands("<", 8, 6, 4.5),
}
LOWER = ("mcd", "ter")
PRIMARY_MEAN = ("comet", "mcd")


def execution(
    samples: Sequence[SampleOutcome], names: Sequence[str] = ("bleu", "chrf", "comet", "mcd", "ter")
) -> Execution:
    """What a run over these samples would have shown."""
    by_language: dict[str, list[SampleOutcome]] = {}
    for sample in samples:
        by_language.setdefault(sample.language, []).append(sample)
    return Execution(
        execution_id="eval_20251201",
        run_id="01JQ5Z8K3T",
        system="nllb-600M + xtts <v2>",
        version="2025-11-05",
        profile="turnwise",
        started="2025-12-01T09:14:03+00:00",
        finished="2025-12-01T09:15:41+00:00",
        mode="predictions",
        languages=[language_outcome(name, those, names) for name, those in by_language.items()],
        overall={name: metric_outcome(name, samples) for name in names},
        findings=[("hypothesis is a copy of the source", 2), ("audio at 22050 Hz, resampled to 16000 Hz", 9)],
        not_measured={"blaser": 'the SONAR encoders are not installed; pip install "turnwise[neural]" turns it on'},
        probes=[
            ("bleu", "identity", 100.0, True),
            ("bleu", "shuffled", 3.1, True),
            ("comet", "source copied", 0.71, False),
            ("chrf", "empty", None, True),
        ],
    )


def language_outcome(language: str, samples: Sequence[SampleOutcome], names: Sequence[str]) -> LanguageOutcome:
    counts = {
        name: {band: sum(s.bands.get(name) == band for s in samples) for band in ("excellent", "good", "fair", "poor")}
        for name in names
        if name in BANDS
    }
    return LanguageOutcome(
        language=language,
        pair=f"en-{language[:3]}",
        metrics={name: metric_outcome(name, samples) for name in names},
        values={name: [s.values.get(name) for s in samples] for name in names},
        band_counts=counts,
        diagnoses=["Low BLEU with high chrF: the characters fit, the words do not. Look for word choice."],
    )


def metric_outcome(name: str, samples: Sequence[SampleOutcome]) -> MetricOutcome:
    values = [s.values[name] for s in samples if name in s.values]
    reasons: dict[str, int] = {}
    for sample in samples:
        if name in sample.missing:
            reasons[sample.missing[name]] = reasons.get(sample.missing[name], 0) + 1
    empty = MetricOutcome(metric=name, lower_is_better=name in LOWER, total=len(samples), reasons=reasons)
    if not values:
        return replace(empty, skipped=len(samples))
    mean = statistics.fmean(values)
    value = mean if name in PRIMARY_MEAN else mean * 0.97
    return replace(
        empty,
        corpus=value,
        mean=mean,
        std=statistics.pstdev(values),
        min=min(values),
        max=max(values),
        median=statistics.median(values),
        primary="mean" if name in PRIMARY_MEAN else "corpus",
        low=value * 0.93,
        high=value * 1.06,
        band=BANDS[name].of(value) if name in BANDS else None,
        valid=len(values),
        skipped=len(samples) - len(values),
        mismatched=7.93 if name == "mcd" else None,
        signature=f"translation/{name}|v1|profile=turnwise|tok=13a|smooth=exp|case=mixed|"
        + "convention=literature|" * 3,
    )


def samples(count: int = 24, audio: Path | None = None, seed: int = 5) -> list[SampleOutcome]:
    """Alternating Xhosa and Swahili; every seventh lacks a reference recording, the fourth has no score at all."""
    random = np.random.default_rng(seed)
    made = []
    for index in range(count):
        language = "xhosa" if index % 2 == 0 else "swahili"
        quality = float(random.uniform(0.1, 1))
        values = {
            "bleu": 62 * quality**1.4 + float(random.normal(0, 2)),
            "chrf": 25 + 55 * quality + float(random.normal(0, 2)),
            "comet": 0.2 + 0.6 * quality,
            "mcd": 9 - 4.8 * quality,
            "ter": 95 - 70 * quality,
        }
        missing: dict[str, str] = {}
        if index % 7 == 6:
            missing = {"mcd": NO_AUDIO}
        if index == 3:
            missing = dict.fromkeys(values, "empty hypothesis")
        values = {name: max(0.0, value) for name, value in values.items() if name not in missing}
        made.append(
            SampleOutcome(
                id=f"{language[:3]}/{152800 + index}/11",
                uuid=f"{index:08d}-0000-5000-8000-000000000000",
                segment_id=str(152800 + index),
                user_id="11",
                language=language,
                language_pair=f"en-{language[:3]}",
                source="I saw two names, sent to me by the wonders of technology.",
                hypothesis=_hypothesis(index),
                references=(XHOSA,) if index % 5 else (XHOSA, "Ndibone amagama amabini awathunyelwe kum."),
                transcript=XHOSA.lower() if index % 4 == 0 else None,
                values=values,
                bands={name: BANDS[name].of(value) for name, value in values.items() if name in BANDS},
                missing=missing,
                **_recordings(audio, index),
            )
        )
    return made


def _hypothesis(index: int) -> str:
    odd = {0: INJECTION, 1: ARABIC, 2: CHINESE, 3: "", 4: XHOSA * 12, 5: "bell \x07, escape \x1b[31m, lone \ud800 half"}
    return odd.get(index, f"Ndabona amagama amabini {index}, athunyelwa kum yimimangaliso yetekhnoloji.")


def _recordings(folder: Path | None, index: int) -> dict[str, Path]:
    if folder is None:
        return {}
    import soundfile

    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"source {index // 2}.wav"  # one recording for both languages
    signals = {source: tone(220, 0.8, 16000)}
    hypothesis = folder / f"Segment={index}_User=11_pred.wav"
    signals[hypothesis] = chirp(200, 900 + 20 * index, 1.2, 22050)
    found = {"source_audio": source, "hypothesis_audio": hypothesis}
    if index % 7 != 6:
        reference = found["reference_audio"] = folder / f"Segment={index}_User=11.wav"
        signals[reference] = chirp(150, 700 + 20 * index, 1.1, 16000)
    for path, signal in signals.items():
        if not path.exists():
            soundfile.write(path, signal, 22050 if path == hypothesis else 16000)
    return found
