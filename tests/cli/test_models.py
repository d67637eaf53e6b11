"""`turnwise models`, and what `turnwise doctor` says about models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.neural.file_server import Served, serving
from turnwise.neural import fetch, weights
from turnwise.neural.weights import Model, ModelFile


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TURNWISE_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def head(folder: Path) -> Path:
    file = folder / "blaser_2_0_qe" / "model.pt"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"weights")
    return file


def test_list(cli: Cli, tmp_path: Path) -> None:
    head(tmp_path / "models")
    lines = cli("models", "list").out.splitlines()
    by_name = {line.split()[0]: line.split()[1:] for line in lines}
    assert by_name["blaser_2_0_qe"][:3] == ["yes", "70", "CC-BY-NC-4.0"]
    assert by_name["McGill-NLP/ssa-comet-qe"][:2] == ["no", "2300"]
    assert lines[-1].endswith(str(tmp_path / "models"))


def test_list_json(cli: Cli, tmp_path: Path) -> None:
    file = head(tmp_path / "models")
    by_name = {model["name"]: model for model in cli("models", "list", "--json").json()}
    assert by_name["blaser_2_0_qe"]["path"] == str(file)
    assert by_name["blaser_2_0_ref"]["path"] is None
    assert by_name["blaser_2_0_ref"]["size_mb"] == 95


def test_fetch(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Served(b"weights" * 400_000)) as served:
        entries = {"small": Model("small", "tests", "none", 3, (ModelFile(served.url),))}
        for place in (weights, fetch):
            monkeypatch.setattr(place, "catalogue", lambda: entries)
        served.cut_after = 1_500_000
        cut = cli("models", "fetch", "small", code=1)
        assert "goes on where it stopped" in cut.err
        served.cut_after = None
        done = cli("models", "fetch", "small")
        assert done.out.strip() == str(tmp_path / "models" / "small" / "model.pt")
        assert "small: about 3 MB, licence: none" in done.err
        assert "small (MB): 2/2" in done.err
        assert served.asked[-1] == "bytes=1500000-"
        elsewhere = cli("models", "fetch", "small", "--to", tmp_path / "elsewhere", "--json")
        assert elsewhere.json() == {"name": "small", "files": [str(tmp_path / "elsewhere" / "small" / "model.pt")]}


def test_fetch_without_a_network(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {"small": Model("small", "tests", "none", 3, (ModelFile("http://127.0.0.1:9/model.pt"),))}
    for place in (weights, fetch):
        monkeypatch.setattr(place, "catalogue", lambda: entries)
    failed = cli("models", "fetch", "small", code=1)
    assert "its server is not reached" in failed.err
    assert "copy the file to" in failed.err


def test_fetch_what_nobody_knows(cli: Cli) -> None:
    assert "did you mean blaser_2_0_qe" in cli("models", "fetch", "blaser_2_0", code=2).err


def test_doctor(cli: Cli, tmp_path: Path) -> None:
    file = head(tmp_path / "models")
    out = cli("doctor").out
    assert f"model blaser_2_0_qe: {file}" in out
    assert "got by `turnwise models fetch NAME`" in out
    assert "  blaser_2_0_ref: 95 MB" in out
    found = cli("doctor", "--json").json()
    assert {model["name"]: bool(model["path"]) for model in found["models"]}["blaser_2_0_qe"]
