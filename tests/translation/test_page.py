"""The page and the pictures of a run: everything is on them, no text breaks them, recordings are in it."""

from __future__ import annotations

import base64
import io
import re
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.report.pages import Page
from tests.translation import outcomes
from turnwise.report.sound import Recordings
from turnwise.translation.outcome import Execution, SampleOutcome
from turnwise.translation.page import write_report
from turnwise.translation.pictures import write_language_pictures, write_overview_picture

SAMPLES_TABLE_COLUMNS = ["sample", "language", "texts", "listen", "bleu", "chrf", "comet", "mcd ↓", "ter ↓"]


def written(folder: Path, samples: list[SampleOutcome], execution: Execution | None = None, **options: Any) -> Page:
    options.setdefault("bands", outcomes.BANDS)
    path = write_report(folder / "summary_report.html", execution or outcomes.execution(samples), samples, **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[SampleOutcome]:
    return outcomes.samples(24, tmp_path_factory.mktemp("recordings") / "audio")


@pytest.fixture(scope="module")
def page(samples: list[SampleOutcome], tmp_path_factory: pytest.TempPathFactory) -> Page:
    return written(tmp_path_factory.mktemp("page"), samples)


# Content


def test_the_page_is_balanced_and_stands_alone(page: Page) -> None:
    assert page.troubles == []
    assert page.outside == []


def test_the_head_says_what_ran_and_when(page: Page) -> None:
    for fact in ("nllb-600M + xtts <v2>", "2025-11-05", "eval_20251201", "turnwise", "predictions"):
        assert fact in page.text
    assert "2025-12-01 09:14:03 UTC" in page.text


def test_results_have_value_rollup_interval_band_and_n(page: Page, samples: list[SampleOutcome]) -> None:
    mcd = outcomes.metric_outcome("mcd", samples)
    assert mcd.value is not None
    row = next(row for row in page.rows if row[0] == "mcd ↓")
    assert row[1] == f"{mcd.value:.2f}wrong pairs: 7.93"
    assert row[2] == "mean of samples"
    assert row[3] == f"[{mcd.low:.2f}, {mcd.high:.2f}]"
    assert row[4] == "fair"
    assert row[-1] == "20 / 24"
    assert next(row for row in page.rows if row[0] == "bleu")[2] == "corpus (pooled)"


def test_every_part_of_the_run_is_there(page: Page) -> None:
    for said in (
        "Low BLEU with high chrF",
        "hypothesis is a copy of the source: 2",
        'pip install "turnwise[neural]" turns it on',
        "source copied",
        "30 ≤ x ≤ 50",
        "No bands are defined for ter.",
        "translation/bleu|v1|profile=turnwise|tok=13a",
    ):
        assert said in page.text
    assert ["swahili", "bleu, chrf, comet, mcd, ter", "1", "empty hypothesis"] in page.rows
    assert len([tag for tag in page.having("svg") if "values from" in str(tag["aria-label"])]) == 10
    assert ["comet", "source copied", "0.710", "NO"] in page.rows


def test_the_thresholds_of_the_metrics_themselves_are_the_default(tmp_path: Path) -> None:
    page = written(tmp_path, outcomes.samples(4), bands=None)
    assert ["bleu", "> 50", "30 ≤ x ≤ 50", "15 ≤ x < 30", "< 15"] in page.rows
    assert ["mcd", "< 4.5", "4.5 ≤ x ≤ 6", "6 < x ≤ 8", "> 8"] in page.rows


def test_texts_that_look_like_markup_stay_texts(page: Page) -> None:
    assert outcomes.INJECTION in page.text
    for said in (
        outcomes.ARABIC,
        outcomes.CHINESE,
        outcomes.XHOSA * 12,
        "bell \ufffd, escape \ufffd[31m, lone \ufffd half",
    ):
        assert said in page.text
    assert not page.having("img")
    assert len([tag for tag in page.having("script") if "type" not in tag]) == 1


def test_what_is_missing_is_a_dash_with_a_reason_never_zero(page: Page, samples: list[SampleOutcome]) -> None:
    by_id = {row[0]: row for row in page.rows}
    assert by_id["sample"] == SAMPLES_TABLE_COLUMNS
    for sample in samples:
        for name, cell in zip(("bleu", "chrf", "comet", "mcd", "ter"), by_id[sample.id][4:], strict=True):
            if name in sample.values:
                assert cell in (f"{sample.values[name]:.2f}", f"{sample.values[name]:.3f}")
            else:
                assert cell == f"–{sample.missing[name]}"
    assert page.having("span", title=outcomes.NO_AUDIO)


@pytest.mark.parametrize("count", [0, 1])
def test_runs_with_next_to_nothing(count: int, tmp_path: Path) -> None:
    samples = [replace(s, values={}, bands={}, missing={"bleu": "empty"}) for s in outcomes.samples(count)]
    page = written(tmp_path, samples)
    assert page.troubles == []
    assert "No sample has a score." in page.text
    empty = replace(outcomes.execution([]), overall={}, languages=[], findings=[], probes=[], not_measured={})
    assert written(tmp_path, [], empty).troubles == []


def test_twenty_languages_start_closed(tmp_path: Path) -> None:
    samples = [replace(s, language=f"language {n}") for n, s in enumerate(outcomes.samples(20))]
    page = written(tmp_path, samples)
    assert len(page.having("option")) == 21
    assert not [tag for tag in page.having("details") if tag.get("class") == "language" and "open" in tag]


# Many samples, much audio


def test_many_samples_are_streamed_and_the_rest_is_counted(tmp_path: Path) -> None:
    ten = outcomes.samples(10)
    execution = outcomes.execution(ten)

    def stream(count: int) -> Iterator[SampleOutcome]:
        for number in range(count):
            yield replace(ten[number % 10], id=f"s{number}", hypothesis="x" * 4000)

    tracemalloc.start()
    path = write_report(tmp_path / "page.html", execution, stream(5000), most_samples=500, bands=outcomes.BANDS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    page = Page(path.read_text())
    assert "The first 500 of 5,000; all are in detailed_results.csv." in page.text
    assert "s499" in page.text
    assert "s500" not in page.text
    assert path.stat().st_size > 2_000_000
    assert peak < 2_000_000


def test_recordings_are_in_the_page_once_and_can_be_decoded(samples: list[SampleOutcome], tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    path = write_report(tmp_path / "page.html", outcomes.execution(samples), samples)
    source = path.read_text()
    blocks = re.findall(r'<script type="text/plain" id="(audio-\d+)" data-type="(audio/\w+)">([^<]*)</script>', source)
    # 12 sources shared by two languages, 24 translations, 24 references of which every seventh is missing.
    assert len(blocks) == 12 + 24 + 21
    assert len({name for name, _, _ in blocks}) == len(blocks)
    page = Page(source)
    assert len(page.having("button", **{"class": "play"})) == 24 + 24 + 21
    assert {tag["data-audio"] for tag in page.having("button", **{"class": "play"})} == {b[0] for b in blocks}
    assert not page.having("audio")
    decoded, rate = soundfile.read(io.BytesIO(base64.b64decode(blocks[1][2])))
    assert rate == 16000
    assert len(decoded) / rate == pytest.approx(1.2, abs=0.15)


def test_beyond_the_budget_and_unreadable_recordings_are_linked(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    samples = outcomes.samples(6, tmp_path / "my audio")
    (broken := tmp_path / "my audio" / "javascript:alert(1).wav").write_bytes(b"RIFF no wave")
    samples[0] = replace(samples[0], source_audio=broken, reference_audio=tmp_path / "gone.wav")
    page = written(tmp_path, samples, audio_budget_bytes=8_000)
    assert page.outside == []
    embedded = [tag for tag in page.having("script") if tag.get("type") == "text/plain"]
    links = [tag["href"] for tag in page.having("a") if not str(tag["href"]).startswith("#")]
    assert 1 <= len(embedded) <= 4
    assert "my%20audio/javascript%3Aalert%281%29.wav" in links
    assert "not embedded: beyond the budget of this page" in page.text
    assert "1 not embedded: unreadable audio" in page.text
    assert "reference: no such file" in page.text


def test_without_the_extra_audio_recordings_are_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = outcomes.samples(2, tmp_path / "audio")
    monkeypatch.setattr("turnwise.report.sound._soundfile", lambda: None)
    page = written(tmp_path, samples)
    assert not page.having("button", **{"class": "play"})
    assert 'Recordings: 0 in this page; 5 not embedded: the extra "audio" is not installed.' in page.text


def test_without_mp3_recordings_are_wav(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (sample,) = outcomes.samples(1, tmp_path / "audio")
    monkeypatch.setattr("turnwise.report.sound._writes_mp3", lambda soundfile: False)
    assert sample.source_audio is not None
    made = Recordings(tmp_path, 10**6).listen(sample.source_audio, "source", "s")
    encoded = re.search(r'data-type="audio/wav">([^<]+)<', made)
    assert encoded is not None
    assert base64.b64decode(encoded[1])[:4] == b"RIFF"


# Pictures


def test_pictures_have_the_names_of_the_document(samples: list[SampleOutcome], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    execution = outcomes.execution(samples)
    made = write_language_pictures(execution.languages[0], tmp_path / "xhosa" / "visualizations", outcomes.BANDS)
    made += write_overview_picture(execution, tmp_path / "visualizations")
    names = ["metric_distributions", "score_correlations", "quality_breakdown", "language_metric_heatmap"]
    assert [path.name for path in made] == [f"{name}.png" for name in names]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)


def test_pictures_of_nothing_are_written_too(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (sample,) = outcomes.samples(1)
    execution = outcomes.execution([replace(sample, values={}, bands={}, missing={})])
    made = write_language_pictures(execution.languages[0], tmp_path) + write_overview_picture(execution, tmp_path)
    assert all(path.is_file() for path in made)
    assert len(made) == 4
