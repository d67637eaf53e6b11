"""Speech to text: which recogniser, how a recording is cut, what Moonshine hears."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from tests.audio import signals as s
from turnwise.audio import recognise as r
from turnwise.audio.recognise import cut, recogniser_for, recogniser_name, why_not
from turnwise.audio.wave import SILENT, Wave, at_rate, from_samples, read_wave
from turnwise.kernel.errors import TurnwiseError, UsageError

SWAHILI = Path(__file__).parents[2] / "examples" / "translation" / "languages" / "swahili"
RATE = 16000


def words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "'" else " " for c in text.lower()).split()


def word_error_rate(pairs: list[tuple[str, str]]) -> float:
    """Of (said, heard)."""
    errors = sum(Levenshtein.distance(words(said), words(heard)) for said, heard in pairs)
    return errors / sum(len(words(said)) for said, _ in pairs)


# Plug-ins


class Parrot:
    """Hears the same in everything."""

    def __init__(self, *languages: str) -> None:
        self.name, self.languages = "parrot-1.0/loud", frozenset(languages)

    def transcribe(self, wave: Wave) -> str:
        return f"squawk {wave.seconds:.0f}"


MADE: list[str] = []


def swahili_parrot() -> Parrot:
    MADE.append("swahili")
    return Parrot("sw", "swh", "swahili")


def english_parrot() -> Parrot:
    return Parrot("en", "english")


def nameless() -> object:
    return SimpleNamespace(name="", languages=frozenset({"sw"}), transcribe=print)


def one_language() -> object:
    return SimpleNamespace(name="x", languages="sw", transcribe=print)


def shouted() -> object:
    return SimpleNamespace(name="x", languages=frozenset({"SW"}), transcribe=print)


def deaf() -> object:
    return SimpleNamespace(name="x", languages=frozenset({"sw"}))


def failing() -> object:
    raise OSError("no weights")


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No plug-ins but a test's own; nothing of them is remembered."""
    MADE.clear()
    plug_in(monkeypatch)
    yield
    monkeypatch.undo()
    r._entries.cache_clear()
    r._made.cache_clear()


def plug_in(patch: pytest.MonkeyPatch, **factories: str) -> None:
    found = [EntryPoint(name, f"{__name__}:{made}", r.ENTRY_POINT_GROUP) for name, made in factories.items()]
    patch.setattr(r, "entry_points", lambda group: found if group == "turnwise.recognisers" else [])
    r._entries.cache_clear()
    r._made.cache_clear()


@pytest.mark.parametrize("language", ["sw", "SWH", " Swahili ", "sw-KE", "sw_TZ"])
def test_plugin_is_found_by_language(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, parrot="swahili_parrot")
    found = recogniser_for(language)
    assert found is not None
    assert found.name == recogniser_name(language) == "parrot-1.0/loud"
    assert found.transcribe(from_samples(s.tone(440, 2, RATE), RATE)) == "squawk 2"
    assert why_not(language) is None


def test_plugin_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, parrot="swahili_parrot")
    assert recogniser_for("sw") is recogniser_for("swahili") is recogniser_for("sw", "parrot")
    assert MADE == ["swahili"]


def test_plugin_goes_before_moonshine(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, parrot="english_parrot")
    monkeypatch.setattr(r, "_moonshine", lambda: "moonshine")
    assert isinstance(recogniser_for("english"), Parrot)
    assert recogniser_for("english", "moonshine") == "moonshine"


def test_named_recogniser_must_understand(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, parrot="swahili_parrot")
    assert recogniser_for("english", "parrot") is None
    assert why_not("english", "parrot") == "no recogniser for english"
    assert recogniser_for("sw", "moonshine") is None
    assert MADE == ["swahili"]  # the second question did not make another


def test_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, parrot="swahili_parrot")
    with pytest.raises(UsageError, match="no recogniser 'parot'") as caught:
        recogniser_for("sw", "parot")
    assert caught.value.expected == "auto, moonshine, parrot"
    assert caught.value.remedy == "did you mean parrot?"


@pytest.mark.parametrize(
    ("factory", "what", "found"),
    [
        ("nowhere", "cannot be made", "AttributeError"),
        ("failing", "cannot be made", "OSError: no weights"),
        ("MADE", "cannot be made", "TypeError"),
        ("nameless", "is not a recogniser", "name is ''"),
        ("one_language", "is not a recogniser", "languages is 'sw'"),
        ("shouted", "is not a recogniser", "languages is frozenset({'SW'})"),
        ("deaf", "is not a recogniser", "no method transcribe"),
    ],
)
def test_bad_plugin(factory: str, what: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, bad=factory)
    for ask in (recogniser_for, why_not, recogniser_name):
        with pytest.raises(r.BrokenRecogniser, match=what) as caught:
            ask("sw")
        assert factory in caught.value.what
        assert found in (caught.value.found or "")


def test_bad_plugin_does_not_matter_where_another_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, bad="failing", parrot="swahili_parrot")
    assert isinstance(recogniser_for("sw", "parrot"), Parrot)


@pytest.mark.parametrize("name", ["auto", "moonshine"])
def test_names_of_turnwise_are_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, **{name: "swahili_parrot"})
    with pytest.raises(r.BrokenRecogniser, match="a name of turnwise"):
        recogniser_for("sw")


def test_two_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [EntryPoint("parrot", f"{__name__}:{made}", r.ENTRY_POINT_GROUP) for made in ("swahili_parrot", "deaf")]
    monkeypatch.setattr(r, "entry_points", lambda group: both)
    with pytest.raises(r.BrokenRecogniser, match="two recognisers are called 'parrot'"):
        recogniser_for("sw")


# No recogniser


def test_none_for_a_language() -> None:
    assert recogniser_for("swahili") is None
    assert recogniser_name("swahili") is None
    assert why_not("Swahili") == "no recogniser for swahili"


@pytest.mark.parametrize("language", [None, "", " "])
def test_none_without_a_language(language: str | None) -> None:
    assert recogniser_for(language) is None
    assert recogniser_name(language) is None
    assert why_not(language) == "no language given"


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "moonshine_voice", None)
    r._moonshine.cache_clear()
    with pytest.raises(TurnwiseError, match="needs moonshine_voice") as caught:
        recogniser_for("en")
    assert caught.value.remedy == 'pip install "turnwise[asr]"'
    monkeypatch.setattr(r, "find_spec", lambda name: None)
    assert why_not("en") == 'recogniser not installed: pip install "turnwise[asr]"'
    assert recogniser_name("en") is None


def test_version_without_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(get_model_path=lambda name: tmp_path / name)
    monkeypatch.setitem(sys.modules, "moonshine_voice", package)
    monkeypatch.setattr(r, "_moonshine_name", lambda: "moonshine-voice-9.9/tiny-en")
    with pytest.raises(TurnwiseError, match="no weights in it") as caught:
        r.Moonshine()
    assert caught.value.remedy == 'pip install "turnwise[asr]"'


# Cutting


def test_short_audio_is_one_piece() -> None:
    samples = s.noise(0.1, 16, RATE)
    assert [len(piece) for piece in cut(samples, RATE)] == [16 * RATE]


def test_cut_in_the_middle_of_the_pause() -> None:
    """Noise with half a second of silence from 10 s on: all stretches of 0.2 s in it are quiet, the last one is
    10.3 to 10.5 s, and its middle is 10.4 s. What is left, 9.6 s, is one piece."""
    samples = np.concatenate([s.noise(0.1, 10, RATE), s.silence(0.5, RATE), s.noise(0.1, 9.5, RATE)])
    assert [len(piece) / RATE for piece in cut(samples, RATE)] == [10.4, 9.6]


def test_a_pause_in_the_first_half_is_not_used() -> None:
    samples = np.concatenate([s.noise(0.1, 3, RATE), s.silence(1, RATE), s.noise(0.1, 16, RATE)])
    first, *_ = cut(samples, RATE)
    assert 8 * RATE <= len(first) <= 16 * RATE


@given(
    st.integers(0, 40_000), st.floats(0.5, 4.0), st.sampled_from([0.0, 0.5]), st.sampled_from([np.float32, np.float64])
)
def test_pieces_are_the_whole(count: int, longest_s: float, level: float, precision: type[Any]) -> None:
    samples = (level * np.sin(np.arange(count))).astype(precision)
    pieces = list(cut(samples, 4000, longest_s))
    assert (np.concatenate(pieces) == samples).all()
    assert all(len(piece) <= longest_s * 4000 for piece in pieces)
    assert all(len(piece) >= int(longest_s * 4000) // 2 for piece in pieces[:-1])


# Moonshine


@pytest.fixture(scope="module")
def moonshine() -> r.Recogniser:
    pytest.importorskip("moonshine_voice", reason="moonshine-voice is not installed")
    pytest.importorskip("soundfile", reason="soundfile is not installed")
    return r.Moonshine()


@pytest.fixture(scope="module")
def spoken() -> dict[Path, str]:
    """English recordings of the example, with what is said in them."""
    with (SWAHILI / "mapped_metadata_test.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="|"))
    names = {f"Segment={row['segment_id']}_User={row['user_id']}_Language=en_src.wav": row["src_text"] for row in rows}
    return {path: names[path.name] for path in sorted((SWAHILI / "src_audio").glob("*.wav")) if path.name in names}


def test_moonshine_is_found_and_kept(moonshine: r.Recogniser) -> None:
    r._moonshine.cache_clear()
    found = recogniser_for("eng")
    assert found is recogniser_for("English", "moonshine")
    assert found is not None
    assert found.name == moonshine.name == recogniser_name("en") == "moonshine-voice-0.1.0/tiny-en"
    assert why_not("en-GB") is None


def test_moonshine_hears_the_examples(moonshine: r.Recogniser, spoken: dict[Path, str]) -> None:
    assert len(spoken) >= 5
    heard = [(said, moonshine.transcribe(read_wave(path))) for path, said in spoken.items()]
    assert word_error_rate(heard) < 0.3, heard


def test_moonshine_hears_the_same_again(moonshine: r.Recogniser, spoken: dict[Path, str]) -> None:
    """Whatever it heard in between, which is what the package's own voice detector does not promise."""
    first, second, *_ = (read_wave(path) for path in spoken)
    alone = moonshine.transcribe(first)
    moonshine.transcribe(second)
    assert moonshine.transcribe(first) == alone != ""


def test_moonshine_hears_long_recordings(moonshine: r.Recogniser, spoken: dict[Path, str]) -> None:
    """The examples one after the other, half a minute and more, with a second of silence between them."""
    parts = [part for path in spoken for part in (read_wave(path).samples, s.silence(1, RATE))]
    wave = from_samples(np.concatenate(parts), RATE)
    assert wave.seconds > 2 * r.LONGEST_S
    assert word_error_rate([(" ".join(spoken.values()), moonshine.transcribe(wave))]) < 0.3


def test_moonshine_takes_any_rate(moonshine: r.Recogniser, spoken: dict[Path, str]) -> None:
    path, said = next(iter(spoken.items()))
    heard = moonshine.transcribe(at_rate(read_wave(path, rate=None), 44100))
    assert word_error_rate([(said, heard)]) < 0.4, heard


@pytest.mark.parametrize("seconds", [0.01, 1, 40])
def test_moonshine_hears_nothing_in_silence(seconds: float, moonshine: r.Recogniser) -> None:
    silent = from_samples(1e-4 * s.tone(200, seconds, RATE), RATE, tolerate=[SILENT])
    assert moonshine.transcribe(silent) == ""


def test_moonshine_takes_a_few_samples(moonshine: r.Recogniser) -> None:
    assert moonshine.transcribe(from_samples(s.tone(440, 0.01, RATE), RATE)) == ""


def test_failure_names_the_recogniser(moonshine: r.Recogniser, monkeypatch: pytest.MonkeyPatch) -> None:
    from moonshine_voice import MoonshineError

    def fail(*_: object) -> None:
        raise MoonshineError("invalid handle")

    monkeypatch.setattr(moonshine, "_model", SimpleNamespace(transcribe_without_streaming=fail))
    with pytest.raises(TurnwiseError, match="tiny-en failed") as caught:
        moonshine.transcribe(from_samples(s.tone(440, 1, RATE), RATE))
    assert caught.value.found == "invalid handle, on 1.0 s of audio"
