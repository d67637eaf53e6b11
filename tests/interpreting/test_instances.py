"""Logs of simultaneous translation: what tools write is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interpreting.log_lines import PLAIN, SEGMENT, SPOKEN, log, read_one, without
from tests.shared_data import shared
from turnwise.interpreting import lag
from turnwise.interpreting.instances import read_instances
from turnwise.kernel.errors import InputError


def test_a_line_of_simuleval(tmp_path: Path) -> None:
    found = read_one(tmp_path, PLAIN)
    assert found.index == "0"
    assert found.where == f"{tmp_path / 'instances.log'}, line 1"
    assert found.source == "/data/visit_0.wav"
    assert found.source_ms == 2000
    assert found.delays == (1000, 1000, 1500, 2000, 2000)
    assert found.elapsed == (1100.5, 1101, 1700, 2300, 2301)
    assert (found.unit, found.reference_words) == ("word", 4)
    assert (found.durations, found.document, found.recording_ms, found.notes) == (None, None, None, ())
    assert found.unaware == lag.Emission(found.delays, 2000, 4)
    assert found.aware == lag.Emission(found.elapsed, 2000, 4, read_ms=found.delays, cumulative=True)


def test_the_published_log() -> None:
    """evaluation_report.txt: 2580 instances, none with an empty prediction; each has a delay for its </s>, too."""
    instances = list(read_instances(shared("simulst", "short_form", "instances.log")))
    assert len(instances) == 2580
    assert [one.index for one in instances[:3]] == ["0", "1", "2"]
    assert all(one.prediction.endswith("</s>") for one in instances)
    assert all(len(one.prediction.split(" ")) == len(one.delays) for one in instances)
    assert {one.unit for one in instances} == {"word"}
    assert not any(one.notes for one in instances)
    assert all(one.elapsed is not None for one in instances)


def test_the_log_s_own_values_of_single_instances() -> None:
    """SimulEval 0.x wrote DAL beside each instance, in single precision. Its AL and AP of that time are others."""
    path = shared("simulst", "short_form", "instances.log")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row, instance in zip(rows, read_instances(path), strict=True):
        assert instance.aware is not None
        for emission, key in ((instance.unaware, "latency"), (instance.aware, "latency_ca")):
            assert lag.dal(emission) == pytest.approx(row["metric"][key]["DAL"], rel=1e-5)


def test_spoken_output(tmp_path: Path) -> None:
    found = read_one(tmp_path, SPOKEN)
    assert (found.unit, found.durations, found.elapsed) == ("piece of speech", (800, 400), None)
    assert found.aware is None
    assert found.reference == "Where does it hurt?"
    assert found.reference_words is None  # there are no words to set it against
    assert lag.al(found.unaware) is None
    assert lag.start_offset(found.unaware) == 960
    assert lag.end_offset(found.unaware) == 1760 + 400 - 2000
    assert read_one(tmp_path, without(SPOKEN, "durations")) == found
    assert read_one(tmp_path, without(SPOKEN, "intervals")) == found


def test_a_segment_of_a_recording(tmp_path: Path) -> None:
    found = read_one(tmp_path, SEGMENT)
    assert (found.index, found.document, found.recording_ms) == ("7", "2", 60000)
    assert found.delays == (-200, 700, 2400, 2400)
    assert found.elapsed == (300.5, 900, 2900, 2900)
    # one word every 1800 / 4 = 450 ms, and all count: the recording goes on
    assert lag.yaal(found.unaware) == (-200 + (700 - 450) + (2400 - 900) + (2400 - 1350)) / 4


def test_delays_per_character(tmp_path: Path) -> None:
    chinese = {**PLAIN, "prediction": "哪里疼？", "delays": [900, 900, 1200, 2000], "reference": "你哪里疼？\n"}
    found = read_one(tmp_path, without(chinese, "elapsed"))
    assert (found.unit, found.reference_words) == ("character", 5)
    # one character: as many words as characters, and a reference without a space tells which
    found = read_one(tmp_path, without({**chinese, "prediction": "疼", "delays": [900.0]}, "elapsed"))
    assert (found.unit, found.reference_words) == ("character", 5)
    found = read_one(tmp_path, without({**PLAIN, "prediction": "I", "delays": [900.0]}, "elapsed"))
    assert (found.unit, found.reference_words) == ("word", 4)


def test_delays_per_subword(tmp_path: Path) -> None:
    row = {**PLAIN, "prediction": "Schmerzen", "prediction_spm": ["▁Schmerz", "en"], "delays": [900.0, 1200.0]}
    found = read_one(tmp_path, without(row, "elapsed"))
    assert (found.unit, found.reference_words) == ("subword", None)
    assert found.notes == ("delays are of subwords: how many the reference has is not known",)


def test_an_end_mark_without_a_delay(tmp_path: Path) -> None:
    found = read_one(tmp_path, {**PLAIN, "delays": PLAIN["delays"][:4], "elapsed": PLAIN["elapsed"][:4]})
    assert (found.unit, len(found.delays)) == ("word", 4)


def test_no_output(tmp_path: Path) -> None:
    found = read_one(tmp_path, {**PLAIN, "prediction": "", "delays": [], "elapsed": []})
    assert (found.delays, found.elapsed) == ((), None)
    assert lag.al(found.unaware) is None
    assert found.as_json()["delays"] == ()


@pytest.mark.parametrize("reference", [None, "", " \n"])
def test_no_reference(tmp_path: Path, reference: str | None) -> None:
    found = read_one(tmp_path, {**PLAIN, "reference": reference})
    assert (found.reference, found.reference_words) == (None, None)
    assert read_one(tmp_path, without(PLAIN, "reference")) == found


def test_words_of_the_reference_are_what_stands_between_single_spaces(tmp_path: Path) -> None:
    """As SimulEval and OmniSTEval count: a doubled space holds an empty word, one at the end of the line does not."""
    assert read_one(tmp_path, {**PLAIN, "reference": "Wo haben  Sie Schmerzen? \n"}).reference_words == 5


def test_computing_that_was_not_timed(tmp_path: Path) -> None:
    for row in (without(PLAIN, "elapsed"), {**PLAIN, "elapsed": None}, {**PLAIN, "elapsed": []}):
        found = read_one(tmp_path, row)
        assert (found.elapsed, found.aware, found.notes) == (None, None, ())
    found = read_one(tmp_path, {**PLAIN, "elapsed": [0, 0, 0, 0, 0]})
    assert (found.elapsed, found.notes) == (None, ("elapsed is 0 throughout: computing was not timed",))


def test_odd_times_with_computing_are_noted(tmp_path: Path) -> None:
    back = read_one(tmp_path, {**PLAIN, "elapsed": [1100, 1090, 1700, 2300, 2301]})
    assert back.notes == ("elapsed goes back in time",)
    early = read_one(tmp_path, {**PLAIN, "elapsed": [900, 1090, 1700, 2300, 2301]})
    assert early.notes == ("elapsed is earlier than the delay",)


def test_an_index_is_text_and_may_be_the_source(tmp_path: Path) -> None:
    assert read_one(tmp_path, {**PLAIN, "index": "visit-07"}).index == "visit-07"
    assert read_one(tmp_path, without(PLAIN, "index")).index == "/data/visit_0.wav"


def test_blank_lines_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "instances.log"
    second = json.dumps({**PLAIN, "index": 1}, ensure_ascii=False)
    path.write_bytes(b"\xef\xbb\xbf" + f"{json.dumps(PLAIN)}\r\n\r\n{second}".encode())
    assert [(one.index, one.where[-6:]) for one in read_instances(path)] == [("0", "line 1"), ("1", "line 3")]


def test_a_log_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    instances = read_instances(log(tmp_path, PLAIN, "broken"))
    assert next(instances).index == "0"
    with pytest.raises(InputError):
        next(instances)


def test_what_is_kept_of_an_instance(tmp_path: Path) -> None:
    kept = read_one(tmp_path, PLAIN).as_json()
    assert kept["prediction"] == PLAIN["prediction"]
    assert kept["elapsed"] == tuple(PLAIN["elapsed"])
    assert not {"index", "durations", "document", "recording_ms", "notes"} & set(kept)
