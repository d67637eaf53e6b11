from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from turnwise.neural.cache import EmbeddingCache, audio_key, default_folder, text_key


def test_what_was_put_is_found_by_another_cache(tmp_path: Path) -> None:
    rows = np.arange(6, dtype=np.float64).reshape(2, 3) / 7
    EmbeddingCache(tmp_path).put_many(["m/a", "m/b"], rows)
    found = EmbeddingCache(tmp_path).get_many(["m/b", "m/none", "m/a", "other/a"])
    assert found[1] is None
    assert found[3] is None
    assert found[0] is not None
    assert found[0].dtype == np.float32
    assert np.array_equal(found[0], rows[1].astype(np.float32))
    assert np.array_equal(found[2], rows[0].astype(np.float32))


def test_memory_only() -> None:
    cache = EmbeddingCache(None)
    cache.put_many(["m/a"], [np.ones(3)])
    assert np.array_equal(cache.get_many(["m/a"])[0], np.ones(3, dtype=np.float32))
    assert EmbeddingCache(None).get_many(["m/a"]) == [None]


def test_keys_are_no_paths(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "inner")
    keys = ["../../m/a", "m/../a", "", "/", "m/a\0b", "m/" + "x" * 5000]
    cache.put_many(keys, [np.full(2, place) for place in range(len(keys))])
    assert [row[0] for row in cache.get_many(keys) if row is not None] == list(range(len(keys)))
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]


@pytest.mark.parametrize("damage", [b"", b"TWE1", b"x" * 40, None])
def test_a_damaged_file_is_as_good_as_none(damage: bytes | None, tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.put_many(["m/a"], [np.arange(4.0)])
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    assert cache.get_many(["m/a"]) == [None]
    cache.put_many(["m/a"], [np.arange(4.0)])
    assert np.array_equal(cache.get_many(["m/a"])[0], np.arange(4.0))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = EmbeddingCache(tmp_path / "file")
    cache.put_many(["m/a"], [np.ones(3)])
    assert np.array_equal(cache.get_many(["m/a"])[0], np.ones(3))


def test_only_rows_of_numbers(tmp_path: Path) -> None:
    for wrong in (np.ones((2, 2)), np.ones(0), np.ones(1 << 17)):
        with pytest.raises(ValueError, match="a row of"):
            EmbeddingCache(tmp_path).put_many(["m/a"], [wrong])


def _write_all(folder: Path) -> int:
    cache = EmbeddingCache(folder)
    keys = [f"m/{place}" for place in range(60)]
    for _ in range(3):
        cache.put_many(keys, [np.full(256, place) for place in range(60)])
    return sum(row is not None and bool((row == place).all()) for place, row in enumerate(cache.get_many(keys)))


def test_several_processes(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(_write_all, [tmp_path] * 3)) == [60, 60, 60]
    assert not list(tmp_path.rglob(".new-*"))


def test_keys_by_content() -> None:
    samples = np.linspace(-1, 1, 50)
    assert audio_key(samples, 16000) == audio_key(samples.astype(np.float32), 16000)
    assert len({audio_key(samples, 16000), audio_key(samples, 8000), audio_key(samples[:-1], 16000)}) == 3
    assert len({text_key("a", "xho_Latn"), text_key("a", "ibo_Latn"), text_key("b", "xho_Latn")}) == 3


def test_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path))
    assert default_folder() == tmp_path / "embeddings"
    monkeypatch.delenv("TURNWISE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert default_folder() == tmp_path / "caches" / "turnwise" / "embeddings"
