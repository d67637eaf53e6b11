"""The examples that come with turnwise and how each room is run on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnwise.kernel.errors import InputError

if TYPE_CHECKING:
    from turnwise.live.drive import Driven
    from turnwise.live.scenario import Scenario

REHEARSED = ("patient_correction", "no_barge_in")
"""The example scenarios that are played against the simulated interpreter."""
ANSWER_MS, TAIL_MS = 2500, 1500
"""How long its answers last, and how long is listened after the last turn: less than usual, for nobody likes to wait.
An answer begins 800 ms after its turn did; it is heard to its end if the last turn lasts 800 + 2500 - 1500 ms."""
_NEEDED = {"websockets": "live", "soundfile": "audio"}


@dataclass(frozen=True, slots=True)
class DemoRun:
    """One run of the demonstration."""

    title: str
    room: str
    folder: str
    options: Mapping[str, Any]


def demo_runs(examples: Path | None = None) -> Iterator[DemoRun]:
    """Every room on its examples."""
    folder = examples or examples_folder()
    yield from _dialogue(folder / "dialogue")
    yield from _assistant(folder / "assistant")
    yield from _translation(folder / "translation")
    yield from _duplex(folder / "duplex")
    yield from _interpreting(folder / "interpreting" / "captures")


def _dialogue(folder: Path) -> Iterator[DemoRun]:
    references = {"references": folder / "references.jsonl", "database": folder / "database"}
    common = {**references, "system": "example assistant"}
    yield DemoRun(
        "Dialogue: what a booking assistant understood, version 1",
        "dialogue",
        "dialogue",
        {**common, "predictions": folder / "predictions.jsonl", "version": "1", "by": ["component"]},
    )
    yield DemoRun(
        "Dialogue: the same assistant, version 2",
        "dialogue",
        "dialogue/version-2",
        {**common, "predictions": folder / "predictions_v2.jsonl", "version": "2"},
    )
    yield DemoRun(
        "Dialogue: another assistant, with placeholders in its responses",
        "dialogue",
        "dialogue/delexicalised",
        {
            **references,
            "predictions": folder / "delexicalised.jsonl",
            "system": "delexicalised assistant",
            "metrics": ["joint_goal_accuracy", "inform", "success"],
        },
    )
    yield DemoRun(
        "Dialogue: four tasks, each tried four times",
        "dialogue",
        "dialogue/trials",
        {
            "references": folder / "trials_references.jsonl",
            "predictions": folder / "trials.jsonl",
            "system": "assistant on trial",
            "metrics": ["joint_goal_accuracy", "memory_transfer", "task_reward"],
        },
    )


def _assistant(folder: Path) -> Iterator[DemoRun]:
    yield DemoRun(
        "Assistant: an HR assistant's replies, two versions of its prompt",
        "assistant",
        "assistant",
        {"turns": folder / "turns.jsonl", "system": "example HR assistant"},
    )


def _translation(folder: Path) -> Iterator[DemoRun]:
    metrics = ["bleu", "chrf", "chrf++", "ter", "comet", "mcd", "blaser"]
    predictions = {"mode": "predictions", "data_dir": folder / "languages", "metrics": metrics}
    yield DemoRun(
        "Translation: a clinic's and a bus company's interpreter, into two languages, as text and as speech",
        "translation",
        "translation",
        {**predictions, "nmt_model": "nmt_v1", "tts_model": "tts_v1", "system": "example interpreter", "version": "1"},
    )
    yield DemoRun(
        "Translation: the same interpreter, version 2",
        "translation",
        "translation/version-2",
        {**predictions, "nmt_model": "nmt_v2", "tts_model": "tts_v2", "system": "example interpreter", "version": "2"},
    )
    yield DemoRun(
        "Translation: is the reference data sound? Without a model that reads meaning, little can be said",
        "translation",
        "translation/ground-truth",
        {
            "mode": "ground_truth",
            "type": "audio_to_audio",
            "data_dir": folder / "ground_truth" / "audio_to_audio",
            "metrics": ["bleu", "chrf", "comet", "blaser"],
            "system": "reference data",
        },
    )


def _duplex(folder: Path) -> Iterator[DemoRun]:
    yield DemoRun(
        "Duplex: an experiment of a challenge, from its files to the final score",
        "duplex",
        "duplex",
        {"files": folder / "experiment" / "score", "system": "example agent"},
    )
    heard = {"system": "example voice agent", "by": ["scenario"]}
    yield DemoRun(
        "Duplex: six calls to a bus company and a clinic, as they were recorded",
        "duplex",
        "duplex/recordings",
        {**heard, "recordings": _calls(folder / "recordings"), "version": "1", "timelines": True},
    )
    yield DemoRun(
        "Duplex: the same callers, version 2 of the agent",
        "duplex",
        "duplex/recordings-version-2",
        {**heard, "recordings": _calls(folder / "recordings_v2"), "version": "2"},
    )


def _interpreting(folder: Path) -> Iterator[DemoRun]:
    for version, what in (("1", "five calls as they were captured"), ("2", "the same calls, version 2")):
        yield DemoRun(
            f"Interpreting: a live interpreter in a clinic and at a bus company, {what}",
            "interpreting",
            "interpreting" if version == "1" else "interpreting/version-2",
            {
                "captures": folder / f"version-{version}",
                "system": "example live interpreter",
                "version": version,
                "metrics": ["barge_in", "cutoff_latency", "barge_in_response", "wer", "latency", "laal"],
                "timelines": True,
            },
        )


def driven_run(driven: Sequence[Driven]) -> DemoRun:
    """What was played just now, scored."""
    return DemoRun(
        "Interpreting: what was played just now, scored",
        "interpreting",
        "captures",
        {
            "captures": [one.folder for one in driven],
            "system": "simulated interpreter",
            "metrics": ["barge_in", "latency"],
            "timelines": True,
        },
    )


def _calls(folder: Path) -> Path:
    """The recordings; without the packages to hear them, the file that says who speaks when."""
    return folder if find_spec("soundfile") else folder / "truth.jsonl"


def missing_for_rehearsal() -> list[str]:
    """The extras without which no scenario can be played."""
    return [extra for package, extra in _NEEDED.items() if not find_spec(package)]


def demo_rehearsal(
    out: Path, examples: Path | None = None, told: Callable[[Scenario, int, str], None] | None = None
) -> list[Driven]:
    """Two scenarios side by side against the simulated interpreter, shortened; their captures go into folders."""
    from turnwise.live.behaviours import behaviour_named
    from turnwise.live.rehearsal import rehearse
    from turnwise.live.scenario import load_scenarios

    folder = (examples or examples_folder()) / "interpreting"
    scenarios = load_scenarios([folder / f"{name}.yaml" for name in REHEARSED])
    short = [replace(scenario, tail_silence_ms=TAIL_MS) for scenario in scenarios]
    good = replace(behaviour_named("good"), answer_ms=ANSWER_MS, longer_ms=None)
    return rehearse(short, good, "acs", out, parallel=len(short), told=told)


def examples_folder() -> Path:
    """The examples beside an installed or a cloned turnwise."""
    package = Path(__file__).resolve().parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / "dialogue").is_dir():
            return folder
    raise InputError("the examples are not installed", remedy="name their folder: turnwise demo --examples DIR")
