"""Audio at a URL: from a server on this machine, with what can go wrong on the way."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from turnwise.audio import remote
from turnwise.audio.remote import url_of
from turnwise.audio.wave import EMPTY, MISSING, TRUNCATED, UNREADABLE, UnusableAudio, read_wave
from turnwise.kernel.errors import TurnwiseError

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The URL of a folder with one recording, a cut one, an empty one and a text."""
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(8000) / 16000)
    soundfile.write(tmp_path / "tone.wav", tone, 16000, subtype="PCM_16")
    whole = (tmp_path / "tone.wav").read_bytes()
    (tmp_path / "cut.wav").write_bytes(whole[:-1000])
    (tmp_path / "empty.wav").write_bytes(b"")
    (tmp_path / "text.wav").write_text("no sound")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    remote.forget_urls()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_recording_is_the_same_by_path_and_by_url(served: str, tmp_path: Path) -> None:
    near, far = read_wave(tmp_path / "tone.wav", 8000), read_wave(f"{served}/tone.wav", 8000)
    assert np.array_equal(near.samples, far.samples)
    assert (far.rate, far.original_rate, far.encoding, far.steps) == (8000, 16000, near.encoding, near.steps)
    assert far.source == f"{served}/tone.wav"
    # Records keep paths, which take a slash away.
    assert np.array_equal(read_wave(Path(f"{served}/tone.wav"), 8000).samples, near.samples)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("nowhere.wav", MISSING), ("cut.wav", TRUNCATED), ("empty.wav", EMPTY), ("text.wav", UNREADABLE)],
)
def test_the_same_troubles_as_with_files(served: str, name: str, reason: str) -> None:
    with pytest.raises(UnusableAudio) as error:
        read_wave(f"{served}/{name}")
    assert (error.value.reason, error.value.where) == (reason, f"{served}/{name}")


def test_nobody_listens(served: str) -> None:
    with pytest.raises(UnusableAudio, match=UNREADABLE) as error:
        read_wave("http://127.0.0.1:9/tone.wav")
    assert error.value.where == "http://127.0.0.1:9/tone.wav"


class Moody(Quiet):
    """A server that answers by the name of what it is asked for; `asked` counts."""

    asked: ClassVar[Counter[str]] = Counter()

    def do_GET(self) -> None:
        name = self.path.strip("/").partition("?")[0]
        self.asked[name] += 1
        if name == "silent.wav":
            time.sleep(1.5)
            return
        if name == "busy.wav" and self.asked[name] < 3:
            self.send_error(503)
        elif name == "forbidden.wav":
            self.send_error(403)
        elif name == "broken.wav":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"RIFF")
        else:
            self.path = "/tone.wav"
            super().do_GET()


@pytest.fixture
def moody(served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Moody.asked.clear()
    monkeypatch.setattr(remote, "PAUSES_S", (0.01, 0.01, 0.0))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Moody, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_busy_server_is_asked_again(moody: str, tmp_path: Path) -> None:
    near, far = read_wave(tmp_path / "tone.wav"), read_wave(f"{moody}/busy.wav")
    assert np.array_equal(near.samples, far.samples)
    assert Moody.asked == {"busy.wav": 3}


@pytest.mark.parametrize(("name", "times"), [("forbidden.wav", 1), ("broken.wav", 3)])
def test_a_server_that_will_not_is_not_asked_by_each_metric(moody: str, name: str, times: int) -> None:
    for _ in range(3):
        with pytest.raises(UnusableAudio, match=UNREADABLE):
            read_wave(f"{moody}/{name}")
    assert Moody.asked == {name: times}


def test_a_server_that_is_probably_gone_is_not_waited_for_again(moody: str) -> None:
    """Three tries for the first recording, then one for each: of a thousand, each would cost seconds."""
    for place in range(3):
        with pytest.raises(UnusableAudio, match=UNREADABLE):
            read_wave(f"{moody}/broken.wav?{place}")
    assert Moody.asked == {"broken.wav": 3 + 1 + 1}
    read_wave(f"{moody}/tone.wav")


def test_a_server_that_says_nothing_is_given_up(moody: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SILENCE_S", 0.5)
    with pytest.raises(UnusableAudio, match=UNREADABLE) as error:
        read_wave(f"{moody}/silent.wav")
    assert "nothing came for 0.5 s" in str(error.value.found)
    assert Moody.asked == {"silent.wav": 1}


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    def missing(url: str) -> Any:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(TurnwiseError, match="a package that is not installed") as error:
        read_wave("s3://bucket/tone.wav")
    assert "pip install s3fs" in str(error.value.remedy)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("s3://bucket/a/b.wav", "s3://bucket/a/b.wav"),
        (Path("s3://bucket/a/b.wav"), "s3://bucket/a/b.wav"),
        (Path("https://host:80/a.wav"), "https://host:80/a.wav"),
        ("gs:/bucket/a.wav", "gs://bucket/a.wav"),
        ("/data/s3/a.wav", None),
        ("C:/data/a.wav", None),
        ("http", None),
        ("", None),
    ],
)
def test_what_is_a_url(text: str | Path, url: str | None) -> None:
    assert url_of(text) == url
