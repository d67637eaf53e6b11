"""What is compared before a worker may take part."""

from __future__ import annotations

import json
import pickle
import platform
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from faulty import Halved

import turnwise
from turnwise.assistant.metrics.citation_accuracy import CitationAccuracy
from turnwise.engine.executors import dask_worker
from turnwise.engine.executors.chunks import CHUNK, Task
from turnwise.engine.executors.dask_worker import Refusal
from turnwise.engine.executors.versions import (
    ABSENT,
    CORE,
    PACKAGES,
    differences,
    models_here,
    packages_of,
    turnwise_here,
    versions_here,
)
from turnwise.engine.measure import Workload
from turnwise.kernel.metric import Metric, Settings
from turnwise.kernel.registry import REGISTRY
from turnwise.rooms import register_metrics
from turnwise.translation.metrics.blaser import Blaser


def test_the_versions_of_this_process() -> None:
    found = versions_here(["numpy", "no-such-package"])
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["no-such-package"] == ABSENT
    assert found["turnwise"].startswith(f"{turnwise.__version__} (source ")
    assert found["turnwise"] == turnwise_here()


def test_what_differs_is_said_with_both_versions() -> None:
    expected = {"python": "3.11.7", "numpy": "2.4.6", "torch": ABSENT, "soxr": "1.0"}
    found = {"python": "3.12.1", "numpy": "2.4.6", "torch": "2.6.0"}
    assert differences(expected, found) == [
        "python 3.12.1 instead of 3.11.7",
        "torch 2.6.0 instead of not installed",
        "soxr not installed instead of 1.0",
    ]
    assert differences(expected, expected) == []


class Modelled(Halved):
    """A metric of a plug-in with packages and a model of its own."""

    packages: ClassVar[tuple[str, ...]] = ("scipy",)

    def models(self) -> dict[str, Any]:
        return {"weights": "sha256:00ff"}


def test_a_metric_says_what_it_stands_on() -> None:
    assert packages_of([]) == list(CORE)
    assert packages_of([Halved(), Modelled()]) == [*CORE, "scipy"]
    assert models_here([Halved(), Modelled()]) == {"weights of dialogue/halved": "sha256:00ff"}


def test_the_table_names_rooms_and_metrics_that_exist() -> None:
    register_metrics()
    names = set(REGISTRY.names())
    rooms = {name.partition("/")[0] for name in names}
    assert set(PACKAGES) <= names | rooms


def test_comet_says_which_weights_it_finds_here() -> None:
    from turnwise.translation.metrics.comet import Comet

    assert models_here([Comet()]) == {"weights of translation/comet": "none"}  # tests have no model


# Models


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files in the places of BLASER's weights: they are hashed, never loaded."""
    monkeypatch.setenv("TURNWISE_MODELS", str(tmp_path))
    for name in ("blaser_2_0_qe", "sonar_speech_encoder_eng", "sonar_speech_encoder_swh"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.pt").write_text(f"weights of {name}")
    return tmp_path


def blaser() -> Blaser:
    spoken = json.dumps([["swahili"], ["english"]])
    return Blaser(Settings(context={"blaser_mode": "qe", "blaser_languages": spoken}))


@pytest.fixture
def answer() -> Iterator[Any]:
    """What a worker says to a task of a run whose driver found some models."""
    token = "a run"

    def ask(metric: Metric, models: dict[str, str]) -> Any:
        dask_worker.forget(token)
        work = pickle.dumps(Workload([(0, metric)]))
        dask_worker.deliver(token, work, {}, models, dask_worker=SimpleNamespace(address="tcp://10.0.0.7:40001"))
        return pickle.loads(dask_worker.perform_here(token, Task(CHUNK, ())))

    yield ask
    dask_worker.forget(token)


def test_blaser_says_which_weights_it_finds_here(weights: Path) -> None:
    (said,) = models_here([blaser()]).values()
    assert [part.partition("@")[0] for part in said.split()] == [
        "blaser_2_0_qe",
        "sonar_speech_encoder_eng",
        "sonar_speech_encoder_swh",
    ]
    (weights / "blaser_2_0_qe" / "model.pt").unlink()
    assert models_here([blaser()]) == {"models of translation/blaser": "none"}


@pytest.mark.parametrize(
    "file",
    [
        "blaser_2_0_qe/model.pt",
        "sonar_speech_encoder_eng/model.pt",
        "sonar_speech_encoder_swh/model.pt",
        "blaser/checkpoints/finetuned_swh/model.pt",
    ],
)
def test_a_worker_with_other_weights_of_blaser_is_refused(weights: Path, answer: Any, file: str) -> None:
    """The head, an encoder, or one fine-tuned that only the worker has, which would be used there."""
    driver = models_here([blaser()])
    assert not isinstance(answer(blaser(), driver), Refusal)
    (weights / file).parent.mkdir(parents=True, exist_ok=True)
    (weights / file).write_text("weights of somebody else")
    refusal = answer(blaser(), driver)
    assert isinstance(refusal, Refusal)
    assert refusal.address == "tcp://10.0.0.7:40001"
    (reason,) = refusal.reasons
    (wanted,) = driver.values()
    assert reason.startswith("models of translation/blaser blaser_2_0_qe@")
    assert reason.endswith(f" instead of {wanted}")


def test_a_worker_with_another_embedding_model_is_refused(tmp_path: Path, answer: Any) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_text("ours")
    metric = CitationAccuracy(Settings(context={"embedding_folder": str(tmp_path)}))
    driver = models_here([metric])
    assert not isinstance(answer(metric, driver), Refusal)
    weights.write_text("somebody else's")
    assert isinstance(answer(metric, driver), Refusal)
    weights.unlink()
    refusal = answer(metric, driver)
    (wanted,) = driver.values()
    assert refusal.reasons == [f"embedding of assistant/citation_accuracy none instead of {wanted}"]
    assert models_here([CitationAccuracy()]) == {"embedding of assistant/citation_accuracy": "tfidf-char3"}
