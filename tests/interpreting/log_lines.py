"""Lines as SimulEval and OmniSTEval write them, and logs made of such lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnwise.interpreting.instances import Instance, read_instances
from turnwise.kernel.errors import InputError

PLAIN: dict[str, Any] = {
    "index": 0,
    "prediction": "Wo tut es weh? </s>",
    "delays": [1000.0, 1000.0, 1500.0, 2000.0, 2000.0],
    "elapsed": [1100.5, 1101.0, 1700.0, 2300.0, 2301.0],
    "prediction_length": 5,
    "reference": "Wo haben Sie Schmerzen?",
    "source": ["/data/visit_0.wav", "samplerate: 16000 Hz", "channels: 1"],
    "source_length": 2000.0,
    "metric": {},
}
SPOKEN: dict[str, Any] = {
    "index": 3,
    "prediction": "/out/wavs/3_pred.wav",
    "delays": [960.0, 1600.0],
    "durations": [800.0, 400.0],
    "prediction_offset": 960.0,
    "elapsed": [],
    "intervals": [[960.0, 800.0], [1760.0, 400.0]],
    "prediction_length": 1.2,
    "source_length": 2000.0,
    "reference": "Where does it hurt?",
    "source": "/data/visit_3.wav",
}
SEGMENT: dict[str, Any] = {
    "index": 7,
    "docid": 2,
    "segid": 7,
    "prediction": "Wo tut es weh?",
    "reference": "Wo haben Sie Schmerzen?",
    "source_length": 1800.0,
    "emission_cu": [-200.0, 700.0, 2400.0, 2400.0],
    "emission_ca": [300.5, 900.0, 2900.0, 2900.0],
    "time_to_recording_end": 60000.0,
}


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def log(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "instances.log"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def read_one(folder: Path, row: dict[str, Any] | str) -> Instance:
    (instance,) = read_instances(log(folder, row))
    return instance


def refused(folder: Path, *rows: dict[str, Any] | str) -> InputError:
    with pytest.raises(InputError) as caught:
        list(read_instances(log(folder, *rows)))
    assert caught.value.where is not None
    return caught.value
