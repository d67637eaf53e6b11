"""The example of a translation system: complete, readable, small, and with its faults where its README says."""

from __future__ import annotations

import csv
import json
import re
import string
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.chrf import CHRF

from turnwise.audio.wave import MISSING, SILENT, UnusableAudio, read_wave

EXAMPLES = Path(__file__).parents[2] / "examples" / "translation"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
ISO = {"swahili": "swh", "xhosa": "xho"}
PREDICTIONS = ["segment_id", "user_id", "src_text", "predicted_tgt_text", "ground_truth_tgt_text", "iso_code"]
MAPPED = ["segment_id", "user_id", "src_text", "tgt_text", "tgt_audio", "iso_code"]
LARGEST_BYTES = 9_000_000
TAG = re.compile(r"^(>>\w+<<|__\w+__) ")

Row = dict[str, str]


def table(language: str, name: str) -> list[Row]:
    with (EXAMPLES / "languages" / language / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE))


def readme_table(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without the header."""
    section = README.split(f"\n### {heading}\n", 1)[1]
    lines = section.strip().split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def words(text: str) -> list[str]:
    return text.lower().translate(str.maketrans("", "", string.punctuation)).split()


def spoken(language: str, model: str) -> dict[tuple[str, str], Path]:
    """Where the speech of each row is, or would be."""
    folder = EXAMPLES / "languages" / language / f"predicted_tgt_audio_{model}"
    return {
        (row["segment_id"], row["user_id"]): folder
        / f"Segment={row['segment_id']}_User={row['user_id']}_Language={ISO[language]}_pred.wav"
        for row in table(language, "mapped_metadata_test.csv")
    }


# Layout


@pytest.mark.parametrize("language", ISO)
def test_tables(language: str) -> None:
    mapped = table(language, "mapped_metadata_test.csv")
    keys = [(row["segment_id"], row["user_id"]) for row in mapped]
    assert len(keys) == len(set(keys)) == 12
    users = Counter(segment for segment, _ in keys)
    assert (len(users), sum(count == 2 for count in users.values())) == (9, 3)
    for row in mapped:
        assert list(row) == MAPPED
        assert all(row.values())
        assert row["iso_code"] == ISO[language]
    for model in ("nmt_v1", "nmt_v2"):
        predicted = table(language, f"nmt_predictions_{model}.csv")
        assert [(row["segment_id"], row["user_id"]) for row in predicted] == keys
        for row, other in zip(predicted, mapped, strict=True):
            assert list(row) == PREDICTIONS
            assert None not in row.values()
            assert (row["src_text"], row["ground_truth_tgt_text"]) == (other["src_text"], other["tgt_text"])
            assert row["iso_code"] == ISO[language]


@pytest.mark.parametrize("language", ISO)
def test_source_and_reference_audio_is_there_for_every_row_and_for_nothing_else(language: str) -> None:
    folder = EXAMPLES / "languages" / language
    sources, references = set(), set()
    for row in table(language, "mapped_metadata_test.csv"):
        start = f"Segment={row['segment_id']}_User={row['user_id']}_Language="
        sources.add(folder / "src_audio" / f"{start}en_src.wav")
        references.add(folder / "processed_audio_normalized" / f"{start}{ISO[language]}.wav")
        assert folder / row["tgt_audio"] in references
    assert set((folder / "src_audio").iterdir()) == sources
    assert set((folder / "processed_audio_normalized").iterdir()) == references


def test_ground_truth() -> None:
    folders = sorted((EXAMPLES / "ground_truth" / "audio_to_audio").iterdir())
    assert [folder.name for folder in folders] == ["bus-01", "bus-02", "clinic-01", "clinic-02"]
    pairs = []
    for folder in folders:
        names = {"metadata.json", "source.txt", "target.txt", "transcribed.txt", "source_audio.wav", "target_audio.wav"}
        assert {file.name for file in folder.iterdir()} == names
        metadata = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
        ending = "lang" if folder.name.startswith("bus") else "language"
        pairs.append((metadata[f"source_{ending}"], metadata[f"target_{ending}"]))
        source, heard = (
            words((folder / name).read_text(encoding="utf-8")) for name in ("source.txt", "transcribed.txt")
        )
        wrong = [b for a, b in zip(source, heard, strict=True) if a != b]
        assert wrong == {"bus-01": ["a"], "bus-02": ["ya"]}.get(folder.name, [])
    assert pairs == [("eng", "swh"), ("swh", "eng")] * 2


def test_lines_and_data_say_what_the_tables_say() -> None:
    def lines(name: str) -> list[str]:
        return (EXAMPLES / "lines" / name).read_text(encoding="utf-8").split("\n")[:-1]

    first, second = (table("swahili", f"nmt_predictions_nmt_{version}.csv") for version in ("v1", "v2"))
    assert lines("source.txt") == [row["src_text"] for row in first]
    assert lines("reference.txt") == [row["ground_truth_tgt_text"] for row in first]
    assert lines("hypothesis_v1.txt") == [row["predicted_tgt_text"] for row in first]
    assert lines("hypothesis_v2.txt") == [row["predicted_tgt_text"] for row in second]

    data = [json.loads(line) for line in (EXAMPLES / "data.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {tuple(row) for row in data} == {("id", "source", "hypothesis", "reference", "language", "domain")}
    assert len({row["id"] for row in data}) == 24
    assert Counter(row["domain"] for row in data) == {"clinic": 14, "bus": 10}  # (4 + 3) * 2 and (3 + 2) * 2
    expected = [
        (language, row["src_text"], row["predicted_tgt_text"], row["ground_truth_tgt_text"])
        for language in ISO
        for row in table(language, "nmt_predictions_nmt_v1.csv")
    ]
    assert [(row["language"], row["source"], row["hypothesis"], row["reference"]) for row in data] == expected


def test_size() -> None:
    sizes = [file.stat().st_size for file in EXAMPLES.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert sum(sizes) < LARGEST_BYTES


# Audio


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("*.wav")), ids=lambda file: file.stem)
def test_audio(file: Path) -> None:
    wave = read_wave(file, rate=None, tolerate=(SILENT,))
    assert (wave.rate, wave.channels, wave.encoding) == (16000, 1, "WAV PCM_16")
    assert wave.clipped_share == 0
    if file not in {spoken(row[0], row[3])[row[1], row[2]] for row in readme_table("Speech")}:
        assert 2 <= wave.seconds <= 3.5
        assert 10 ** (-30 / 20) < np.sqrt(np.mean(wave.samples**2)) < 10 ** (-15 / 20)


def test_number_of_audio_files_is_what_the_readme_says() -> None:
    assert f"{len(list(EXAMPLES.rglob('*.wav')))} files of 2 to 3.5 seconds" in README


@pytest.mark.parametrize(("language", "model"), [("swahili", "tts_v1"), ("swahili", "tts_v2"), ("xhosa", "tts_v1")])
def test_faults_of_speech_are_those_of_the_readme(language: str, model: str) -> None:
    listed = {(row[1], row[2]): row[4] for row in readme_table("Speech") if (row[0], row[3]) == (language, model)}
    found = {}
    for key, path in spoken(language, model).items():
        try:
            if read_wave(path).seconds < 1:
                found[key] = "cut off"
        except UnusableAudio as error:
            found[key] = error.reason
    assert found == listed
    if (language, model) == ("swahili", "tts_v1"):
        assert sorted(found.values()) == ["cut off", MISSING, SILENT]


# Text


def has_fault(fault: str, row: Row, said: str) -> bool:
    """Whether a row has the fault that README names; a wrong word is the first one that README quotes."""
    hypothesis, reference = row["predicted_tgt_text"], row["ground_truth_tgt_text"]
    quoted = re.findall('"([^"]+)"', said)
    if fault == "empty":
        return hypothesis == ""
    if fault == "source copied":
        return hypothesis == row["src_text"]
    if fault == "language tag":
        return hypothesis.startswith(quoted[0]) and TAG.sub("", hypothesis) == reference
    if fault == "word left out":
        return Counter(words(reference)) - Counter(words(hypothesis)) == Counter(words(quoted[0]))
    if fault == "other order":
        return Counter(words(reference)) == Counter(words(hypothesis)) and words(reference) != words(hypothesis)
    assert fault in {"synonym", "wrong concord", "wrong meaning"}
    return quoted[0] in hypothesis and quoted[0] not in reference


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("language", ISO)
def test_faults_of_text_are_those_of_the_readme(language: str, version: int) -> None:
    listed = {row[1]: (row[2], row[3]) for row in readme_table(f"Version {version}") if row[0] == language}
    rows = table(language, f"nmt_predictions_nmt_v{version}.csv")
    assert listed.keys() <= {row["segment_id"] for row in rows}
    for row in rows:
        if row["segment_id"] in listed:
            assert has_fault(listed[row["segment_id"]][0], row, listed[row["segment_id"]][1]), row
        else:
            assert row["predicted_tgt_text"] == row["ground_truth_tgt_text"]


@pytest.mark.parametrize("language", ISO)
def test_the_second_version_is_better(language: str) -> None:
    chrf = CHRF()
    scores = []
    for model in ("nmt_v1", "nmt_v2"):
        rows = table(language, f"nmt_predictions_{model}.csv")
        hypotheses = [row["predicted_tgt_text"] for row in rows]
        scores.append(chrf.corpus_score(hypotheses, [[row["ground_truth_tgt_text"] for row in rows]]).score)
    assert scores[1] > scores[0] + 5
