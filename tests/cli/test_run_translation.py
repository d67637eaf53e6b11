"""`turnwise run translation` and `turnwise metrics --for`, as they are typed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import soundfile
from sacrebleu.metrics.bleu import BLEU

from tests.cli.conftest import ROOT, Cli

EXAMPLES = ROOT / "examples" / "translation"
LANGUAGES = EXAMPLES / "languages"
LINES = EXAMPLES / "lines"
DOCUMENT = ("--nmt-model", "nmt_v1", "--tts-model", "tts_v1", "--metrics", "bleu", "chrf", "comet", "mcd", "blaser")
FAST = ("--resamples", "100")
TEXT = (
    "--hypotheses",
    LINES / "hypothesis_v1.txt",
    "--references",
    LINES / "reference.txt",
    "--metrics",
    "bleu",
    "chrf",
)


def values(summary: dict[str, list[dict[str, object]]], rollup: str = "corpus") -> dict[object, object]:
    return {r["metric"]: r["value"] for r in summary["results"] if r["rollup"] == rollup and not r["group"]}


def test_the_documents_first_command(cli: Cli, tmp_path: Path) -> None:
    summary = cli(
        *("run", "translation", "--mode", "predictions", "--language", "xhosa", "--data-dir", LANGUAGES, *DOCUMENT),
        *("--output-dir", tmp_path / "results", "--execution-id", "eval_20251201", "--json", *FAST),
    ).json()
    assert {r["group"].get("language") for r in summary["results"]} == {None, "xhosa"}
    assert summary["run"]["system"] == "nmt_v1 + tts_v1"
    folder = tmp_path / "results" / "eval_20251201"
    assert json.loads((folder / "summary.json").read_text()) == summary
    assert json.loads((folder / "manifest.json").read_text())["languages"] == ["xhosa"]
    assert "<audio" not in (folder / "summary_report.html").read_text()  # players are made when asked for


def test_the_documents_second_command(cli: Cli) -> None:
    summary = cli(
        *("run", "translation", "--mode", "ground_truth", "--type", "audio_to_audio"),
        *("--data-dir", EXAMPLES / "ground_truth" / "audio_to_audio", "--metrics", "bleu", "chrf", "comet", "blaser"),
        *("--json", *FAST),
    ).json()
    bleu = {r["group"].get("language"): r for r in summary["results"] if r["metric"] == "bleu" and r["primary"]}
    assert bleu["swahili"]["missing"] == {"ground truth: the text would be compared with itself": 2}
    # The two English targets are heard by a recogniser, and what it heard is the hypothesis.
    assert bleu["english"]["n_scored"] == 2
    assert bleu["english"]["value"] > 50


@pytest.mark.parametrize(
    "names", [("--metrics", "bleu", "chrf"), ("--metrics", "bleu,chrf"), ("--metrics", "bleu", "--metrics", "chrf")]
)
def test_metrics_are_named_in_any_way(cli: Cli, names: tuple[str, ...]) -> None:
    summary = cli("run", "translation", *TEXT[:4], *names, "--json", *FAST).json()
    assert set(values(summary)) == {"bleu", "chrf"}


def test_several_references_follow_their_option(cli: Cli) -> None:
    one = cli("run", "translation", *TEXT, "--json", *FAST).json()
    references = (LINES / "reference.txt", LINES / "hypothesis_v1.txt")
    two = cli(
        *("run", "translation", "--hypotheses", LINES / "hypothesis_v1.txt", "--references", *references),
        *("--metrics", "bleu", "--json", *FAST),
    ).json()
    assert values(one)["bleu"] < 60
    hypotheses, targets = (
        (LINES / f"{name}.txt").read_text("utf-8").splitlines() for name in ("hypothesis_v1", "reference")
    )
    # The empty line of the second file is no reference.
    expected = BLEU().corpus_score(hypotheses, [targets, [text or None for text in hypotheses]]).score
    assert values(two)["bleu"] == pytest.approx(expected, abs=1e-9)
    assert "nrefs:var" in two["results"][0]["signature"]


def test_out_is_the_folder_of_the_execution(cli: Cli, tmp_path: Path) -> None:
    cli("run", "translation", *TEXT, "--out", tmp_path / "d" / "e", *FAST)
    cli("run", "translation", *TEXT, "--output-dir", tmp_path / "x", "--execution-id", "e", *FAST)
    trees = [sorted(path.relative_to(root) for path in root.rglob("*")) for root in (tmp_path / "d", tmp_path / "x")]
    assert trees[0] == trees[1]
    done = cli("run", "translation", *TEXT, "--out", tmp_path / "a", "--execution-id", "b", code=2)
    assert "--out and --output-dir" in done.err


def test_one_sample_is_shown(cli: Cli, tmp_path: Path) -> None:
    cli("run", "translation", "--data", EXAMPLES / "data.jsonl", "--metrics", "chrf", "--db", tmp_path / "x", *FAST)
    shown = cli("show", "latest", "--db", tmp_path / "x", "--item", "swh-4101-11").out
    assert "segment_id: swh-4101-11" in shown
    assert "source: Please take one tablet every morning after eating." in shown
    assert "chrf: " in shown
    assert "chrf" in cli("export", "latest", "--db", tmp_path / "x", "--format", "markdown").out


def test_a_model_that_is_no_file_and_no_name(cli: Cli) -> None:
    done = cli("run", "translation", "--data", EXAMPLES / "data.jsonl", "--metrics", "comet", "--comet-model", "/x/y")
    assert "no COMET model /x/y here: check the path" in done.out


def test_systems_land_in_one_store(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "all.sqlite"
    for version in ("1", "2"):
        hypotheses = LINES / f"hypothesis_v{version}.txt"
        cli(
            *("run", "translation", "--hypotheses", hypotheses, *TEXT[2:], "--system", "nllb", "--version", version),
            *("--db", db, *FAST),
        )
    runs = cli("runs", "--db", db, "--json").json()
    assert [(run["system"], run["version"]) for run in runs] == [("nllb", "2"), ("nllb", "1")]
    assert len({run["dataset_fingerprint"] for run in runs}) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no data are named"),
        (("--mode", "predictions"), "--data-dir is missing"),
        (("--hypotheses", "h.txt"), "--references is missing"),
        (("--references", "h.txt"), "--hypotheses is missing"),
        (("--data", "x.csv", "--data-dir", "."), "two ways"),
        (("--mode", "guess", "--data-dir", "."), "mode"),
        (("--data", "none.csv"), "none.csv cannot be read"),
        (("--data-dir", "."), "no language to evaluate"),
        (("--mode", "ground_truth", "--data-dir", "."), "there is no sample"),
        (("--mode", "ground_truth", "--data-dir", ".", "--type", "audio"), "--type cannot be 'audio'"),
        (("--data-dir", ".", "--type", "text_to_text"), "--type is for --mode ground_truth"),
        (("--data-dir", ".", "--column", "source=s"), "--column is for --data"),
        (("--data", "x.csv", "--column", "source"), "--column source: not a setting"),
        (("--data-dir", ".", "--mcd-convention", "litrature"), "did you mean literature"),
        (("--data-dir", ".", "--blaser-mode", "both"), "qe or ref"),
        (("--data-dir", ".", "--metrics", "blue"), "did you mean bleu"),
        (("--data-dir", ".", "--output-dir", "o", "--execution-id", "../x"), "not a plain name"),
    ],
)
def test_wrong_usage_is_said(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in cli("run", "translation", *words, code=2).err


def test_bad_audio_costs_samples_and_not_the_run(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "languages"
    shutil.copytree(LANGUAGES / "xhosa", folder / "xhosa")
    spoken = sorted((folder / "xhosa" / "predicted_tgt_audio_tts_v1").glob("*.wav"))
    wave, rate = soundfile.read(spoken[0])
    spoken[0].write_bytes(spoken[0].read_bytes()[:1000])
    spoken[1].write_bytes(b"")
    spoken[2].write_text("this is no audio")
    soundfile.write(spoken[3], wave[::2], rate // 2)
    soundfile.write(spoken[4], wave, rate, subtype="FLOAT")
    summary = cli("run", "translation", "--data-dir", folder, *DOCUMENT, "--json", *FAST).json()
    (mcd,) = (r for r in summary["results"] if r["metric"] == "mcd" and not r["variant"] and not r["group"])
    assert mcd["missing"] == {
        "truncated audio": 1,
        "audio without samples": 1,
        "unreadable audio": 1,
        "audio of a lower rate than the convention's": 1,
    }
    assert mcd["n_scored"] == mcd["n_total"] - 4


def test_a_suite_file_names_references_beside_it(cli: Cli, tmp_path: Path) -> None:
    for name in ("hypothesis_v1.txt", "reference.txt"):
        shutil.copy(LINES / name, tmp_path / name)
    suite = tmp_path / "suite.yaml"
    run = "room: translation, hypotheses: hypothesis_v1.txt, references: [reference.txt], metrics: [bleu]"
    suite.write_text(f"runs: [{{{run}, resamples: 100}}]")
    summary = cli("run", suite, "--json").json()
    assert values(summary)["bleu"] == values(cli("run", "translation", *TEXT, "--json", *FAST).json())["bleu"]


def test_resuming_with_the_files_elsewhere_is_refused_only_if_they_changed(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "translation", *TEXT, "--db", tmp_path / "x.sqlite", *FAST)
    name = done.err.split("run ")[1].split(";")[0]
    assert "has finished" in cli("run", "translation", "--resume", name, "--db", tmp_path / "x.sqlite", code=2).err


@pytest.mark.parametrize(
    ("use", "metrics"),
    [
        ("text", {"bleu", "chrf", "chrf++", "ter", "comet"}),
        ("tts", {"mcd", "wer", "cer", "dnsmos"}),
        ("pipeline", {"bleu", "chrf", "chrf++", "ter", "comet", "mcd", "asr_bleu", "wer", "cer", "dnsmos"}),
    ],
)
def test_which_metrics_for_what(cli: Cli, use: str, metrics: set[str]) -> None:
    found = cli("metrics", "--for", use, "--json").json()
    assert {m["metric"] for m in found["metrics"]} == metrics
    assert found["command"].endswith(" ".join(m["metric"] for m in found["metrics"]))


def test_the_compatibility_matrix_is_the_documents(cli: Cli) -> None:
    found = cli("metrics", "--for", "speech", "--json").json()
    assert [m["metric"] for m in found["metrics"] if not m["for_detail"]] == ["blaser"]
    names = ("bleu", "chrf", "comet", "mcd", "blaser")
    matrix = {given: [row[name] for name in names] for given, row in found["compatibility"].items()}
    assert matrix == {
        "text only": ["yes", "yes", "yes", "no", "no"],
        "audio only": ["no", "no", "no", "yes", "no"],
        "text + audio": ["yes", "yes", "yes", "yes", "no"],
        "speech-to-speech": ["yes*", "yes*", "yes*", "yes", "yes"],
    }
    assert "speech-to-speech" in cli("metrics", "--for", "speech").out
    assert "did you mean" in cli("metrics", "--for", "txt", code=2).err
