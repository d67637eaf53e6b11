"""Where models are, what their files are, and how they come."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.neural.file_server import Served, serving
from tests.translation.tiny_comet import into_hub_cache
from turnwise.kernel.errors import TurnwiseError, UsageError
from turnwise.neural import fetch as module
from turnwise.neural import weights
from turnwise.neural.device import resolve_device
from turnwise.neural.fetch import download, fetch
from turnwise.neural.weights import Model, ModelFile, catalogue, file_hash, find_model, is_hub_id, models_folder

CONTENT = bytes(range(256)) * 5000  # 1,280,000 bytes, more than one block
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(Served(CONTENT)) as one:
        yield one


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TURNWISE_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def known(monkeypatch: pytest.MonkeyPatch, *files: ModelFile) -> None:
    """A catalogue of one model, called `small`."""
    entries = {"small": Model("small", "tests", "none", 2, files)}
    for place in (weights, module):
        monkeypatch.setattr(place, "catalogue", lambda: entries)


# What there is


def test_catalogue() -> None:
    models = catalogue()
    assert {"McGill-NLP/ssa-comet-qe", "text_sonar_basic_encoder", "blaser_2_0_ref", "blaser_2_0_qe"} <= set(models)
    assert {"sonar_speech_encoder_eng", "sonar_speech_encoder_swh"} <= set(models)
    for name, model in models.items():
        assert model.name == name
        assert bool(model.files) is not bool(model.hub), "from an address or from Hugging Face"
        assert model.size_mb > 0
        assert model.purpose
        assert model.licence
        assert all(file.url.startswith("https://") and file.name for file in model.files)
        assert len({file.name for file in model.files}) == len(model.files)
        assert find_model(name) is None
    # 6 (or 4) times 1024 inputs, 3072, 1536 and 1 units, four bytes a number; the heads' sizes are no guess
    for name, width in (("blaser_2_0_ref", 6144), ("blaser_2_0_qe", 4096)):
        numbers = (width + 1) * 3072 + (3072 + 1) * 1536 + 1537
        assert models[name].size_mb == pytest.approx(4 * numbers / 1e6, rel=0.02)


def test_where_models_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert models_folder() == tmp_path / "models"
    monkeypatch.delenv("TURNWISE_MODELS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert models_folder() == tmp_path / "data" / "turnwise" / "models"


def test_all_files_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, ModelFile("https://a/one.pt"), ModelFile("https://a/two.model?download=true"))
    folder = models_folder() / "small"
    folder.mkdir(parents=True)
    (folder / "one.pt").touch()
    assert find_model("small") is None
    (folder / "two.model").touch()
    assert find_model("small") == folder / "one.pt"


def test_hub_cache(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    snapshot = into_hub_cache(tmp_path / "hub", "some/model", tmp_path / "model")
    other = snapshot.with_name("another")
    other.mkdir()
    assert find_model("some/model") == snapshot
    (snapshot.parents[1] / "refs" / "main").unlink()
    os.utime(snapshot, (1, 1))
    assert find_model("some/model") == other, "the newest"
    assert find_model("some/other") is None


def test_hub_names() -> None:
    assert is_hub_id("McGill-NLP/ssa-comet-qe")
    for name in ("blaser_2_0_qe", "../up", "a/b/c", "/absolute", "a/", "./here"):
        assert not is_hub_id(name)


# Hashes


def test_hash_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"abc")
    assert file_hash(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of FIPS 180-4
    monkeypatch.setattr(weights, "_HASHES", {})  # as in another process
    monkeypatch.setattr(weights.hashlib, "file_digest", None)
    assert file_hash(file).startswith("ba7816bf")


def test_hash_of_a_changed_file(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"abc")
    before = file_hash(file)
    file.write_bytes(b"abd")
    os.utime(file, ns=(1, 1))
    assert file_hash(file) != before


def test_hash_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TURNWISE_MODELS", str(tmp_path / "file" / "folder"))
    (tmp_path / "weights").write_bytes(b"abc")
    assert file_hash(tmp_path / "weights").startswith("ba7816bf")


# Downloads


def test_download(served: Served, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    target = tmp_path / "deep" / "model.pt"
    assert download(served.url, target, sha256=SHA256, progress=lambda *step: told.append(step)) == SHA256
    assert target.read_bytes() == CONTENT
    assert told[-1] == (1, 1)
    assert [path.name for path in target.parent.iterdir()] == ["model.pt"]


def test_interrupted_download_goes_on(served: Served, tmp_path: Path) -> None:
    target = tmp_path / "model.pt"
    served.cut_after = 500_000
    with pytest.raises(TurnwiseError, match="500000 of 1280000 bytes") as caught:
        download(served.url, target)
    assert "goes on where it stopped" in (caught.value.remedy or "")
    assert not target.exists()
    served.cut_after = None
    download(served.url, target, sha256=SHA256)
    assert target.read_bytes() == CONTENT
    assert served.asked == [None, "bytes=500000-"]


def test_server_without_ranges_starts_again(served: Served, tmp_path: Path) -> None:
    (tmp_path / "model.pt.part").write_bytes(CONTENT[:1000])
    served.ranges = False
    download(served.url, tmp_path / "model.pt", sha256=SHA256)
    assert served.asked == ["bytes=1000-"]
    assert (tmp_path / "model.pt").read_bytes() == CONTENT


def test_file_that_changed_starts_again(served: Served, tmp_path: Path) -> None:
    served.cut_after = 500_000
    with pytest.raises(TurnwiseError):
        download(served.url, tmp_path / "model.pt")
    served.cut_after, served.etag, served.content = None, '"two"', CONTENT[::-1]
    download(served.url, tmp_path / "model.pt")
    assert (tmp_path / "model.pt").read_bytes() == CONTENT[::-1]


def test_part_that_is_all_of_it(served: Served, tmp_path: Path) -> None:
    (tmp_path / "model.pt.part").write_bytes(CONTENT)
    download(served.url, tmp_path / "model.pt", sha256=SHA256)
    assert (tmp_path / "model.pt").read_bytes() == CONTENT


def test_part_that_is_too_long(served: Served, tmp_path: Path) -> None:
    (tmp_path / "model.pt.part").write_bytes(CONTENT + b"more")
    download(served.url, tmp_path / "model.pt", sha256=SHA256)
    assert (tmp_path / "model.pt").read_bytes() == CONTENT


def test_wrong_hash_is_refused(served: Served, tmp_path: Path) -> None:
    with pytest.raises(TurnwiseError, match="is not used") as caught:
        download(served.url, tmp_path / "model.pt", sha256="0" * 64)
    assert caught.value.found == f"sha256 {SHA256}"
    assert list(tmp_path.glob("model.pt*")) == []


def test_server_errors(served: Served, tmp_path: Path) -> None:
    served.status = 404
    with pytest.raises(TurnwiseError, match="404"):
        download(served.url, tmp_path / "model.pt")
    with pytest.raises(TurnwiseError, match="not reached") as caught:
        download("http://127.0.0.1:9/model.pt", tmp_path / "model.pt")
    assert str(tmp_path / "model.pt") in (caught.value.remedy or "")
    with pytest.raises(UsageError):
        download("file:///etc/hostname", tmp_path / "model.pt")


def test_no_room(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with pytest.raises(TurnwiseError, match="not enough room"):
        download(served.url, tmp_path / "model.pt")


# Models by name


def test_first_hash_is_noted_and_checked_afterwards(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, ModelFile(served.url))
    (path,) = fetch("small")
    assert path == find_model("small") == models_folder() / "small" / "model.pt"
    assert fetch("small") == [path]
    assert len(served.asked) == 1, "it was there"
    path.write_bytes(b"other")
    with pytest.raises(TurnwiseError, match="not what was fetched"):
        fetch("small")
    path.unlink()
    served.content = b"something else by now"
    with pytest.raises(TurnwiseError, match="is not used"):
        fetch("small")


def test_hash_of_the_catalogue(served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known(monkeypatch, ModelFile(served.url, "0" * 64))
    with pytest.raises(TurnwiseError, match="is not used"):
        fetch("small", tmp_path / "here")
    known(monkeypatch, ModelFile(served.url, SHA256))
    assert fetch("small", tmp_path / "here") == [tmp_path / "here" / "small" / "model.pt"]


def test_unknown_model() -> None:
    with pytest.raises(UsageError, match="blaser_2_0_qe"):
        fetch("blaser_2_0_q")


# Hugging Face


def hub_download(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, list[str] | None]]:
    """Stands in for the hub: gives a COMET model whose weights are called by their hash."""
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    asked: list[tuple[str, list[str] | None]] = []

    def snapshot_download(repository: str, cache_dir: Path | None, allow_patterns: list[str] | None) -> str:
        asked.append((repository, allow_patterns))
        place = (cache_dir or tmp_path / "hub") / ("models--" + repository.replace("/", "--")) / "snapshots" / "1"
        place.mkdir(parents=True, exist_ok=True)
        (place / "hparams.yaml").write_text("pretrained_model: some/encoder\n")
        blob = place.parents[1] / SHA256
        if not blob.exists():
            blob.write_bytes(CONTENT)
        (place / "model.ckpt").symlink_to(blob)
        return str(place)

    monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
    return asked


def test_hub_model_with_its_tokenizer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = hub_download(monkeypatch, tmp_path)
    assert fetch("some/model") == [find_model("some/model")]
    (name, everything), (encoder, some) = asked
    assert (name, everything, encoder) == ("some/model", None, "some/encoder")
    assert some is not None
    assert "config.json" in some
    assert not any("safetensors" in pattern or pattern == "*" for pattern in some), "the weights are in the checkpoint"


def test_hub_file_with_a_wrong_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub_download(monkeypatch, tmp_path)
    blob = tmp_path / "hub" / "models--some--model" / SHA256
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"something else")
    with pytest.raises(TurnwiseError, match="not the one that was meant"):
        fetch("some/model")
    assert not blob.exists()


# Devices


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve_device("cpu") == "cpu"
    with pytest.raises(UsageError, match="cpu or cuda or auto"):
        resolve_device("gpu")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device("auto") == "cpu"
    with pytest.raises(UsageError, match="--device auto"):
        resolve_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto") == resolve_device("cuda") == "cuda"
