"""The document's tree of results: manifest, summaries, tables, logs and pictures, from the stored rows of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from turnwise.engine.plan import DIAGNOSIS
from turnwise.kernel.extras import remedy
from turnwise.kernel.jsontext import dumps
from turnwise.report.files import CsvWriter, make_folder, whole_file, write_json
from turnwise.report.plots import plots_available
from turnwise.store.run import Run
from turnwise.store.store import Store
from turnwise.translation.outcome import Execution, LanguageOutcome, MetricOutcome, SampleOutcome
from turnwise.translation.outcomes import Outcomes
from turnwise.translation.page import write_report
from turnwise.translation.pictures import write_language_pictures, write_overview_picture
from turnwise.translation.records import AUDIO

_PLAIN = re.compile(r"[^\w.+-]+")
_OWN = ("summary.json", "manifest.json", "overall_summary.json", "summary_report.html", "visualizations")
LONGEST_NAME = 80
OPEN_LANGUAGES = 100
"""Languages whose files are written at the same time: a process may not have all too many open."""
MOST_SAMPLES = 500
"""On the page, with their recordings; all are in the tables."""
NO_PICTURES = f"pictures are not drawn: {remedy('report')}"


def write_translation_files(store: Store, run: Run, folder: Path) -> list[Path]:
    """Everything but the common `summary.json`; the manifest comes last and names the rest."""
    outcomes = Outcomes(store, run)
    execution = outcomes.execution
    names = folder_names([language.language for language in execution.languages])
    folders = {language: make_folder(folder / name) for language, name in names.items()}
    files = _write_samples(outcomes, run, folders)
    for language in execution.languages:
        files.append(write_json(folders[language.language] / "summary.json", _language_summary(execution, language)))
    if plots_available():
        for language in execution.languages:
            files += write_language_pictures(
                language, folders[language.language] / "visualizations", bands=outcomes.bands
            )
        files += write_overview_picture(execution, make_folder(folder / "visualizations"))
    files.append(write_json(folder / "overall_summary.json", _overall_summary(execution)))
    page = folder / "summary_report.html"
    files.append(write_report(page, execution, outcomes.samples(), MOST_SAMPLES, bands=outcomes.bands))
    files.append(write_json(folder / "manifest.json", _manifest(run, execution, folder, files)))
    return files


def folder_names(languages: Iterable[str]) -> dict[str, str]:
    """A folder for each language: its name in plain characters, numbered where two would be the same."""
    found: dict[str, str] = {}
    taken = set(_OWN)
    for language in languages:
        plain = _PLAIN.sub("_", language).strip(".")[:LONGEST_NAME] or "_"
        numbered = (plain, *(f"{plain}_{number}" for number in range(2, len(taken) + 3)))
        found[language] = next(name for name in numbered if name.casefold() not in taken)
        taken.add(found[language].casefold())
    return found


def metric_summary(found: MetricOutcome) -> dict[str, Any]:
    """One metric in a `summary.json` of a language: the document's statistics, then what turnwise adds."""
    return {
        "corpus": found.corpus,
        "mean": found.mean,
        "std": found.std,
        "min": found.min,
        "max": found.max,
        "median": found.median,
        "total": found.total,
        "valid": found.valid,
        "skipped": found.skipped,
        "reasons": dict(found.reasons),
        "primary": found.primary,
        "low": found.low,
        "high": found.high,
        "band": found.band,
        **({"mismatched": found.mismatched} if found.mismatched is not None else {}),
        "signature": found.signature,
        **({"calibration": found.calibration} if found.calibration is not None else {}),
    }


def _about(execution: Execution) -> dict[str, Any]:
    """Whose numbers a file holds."""
    return {
        "execution_id": execution.execution_id,
        "run": execution.run_id,
        "system": execution.system,
        "version": execution.version,
        "profile": execution.profile,
    }


def _language_summary(execution: Execution, language: LanguageOutcome) -> dict[str, Any]:
    return {
        **_about(execution),
        "language": language.language,
        "language_pair": language.pair,
        "total_samples": max((found.total for found in language.metrics.values()), default=0),
        "metrics": {name: metric_summary(found) for name, found in language.metrics.items()},
        "quality": {name: dict(counts) for name, counts in language.band_counts.items()},
        "diagnoses": list(language.diagnoses),
    }


def _overall_summary(execution: Execution) -> dict[str, Any]:
    return {
        **_about(execution),
        "languages": {
            language.language: {name: metric_summary(found) for name, found in language.metrics.items()}
            for language in execution.languages
        },
        "overall": {name: metric_summary(found) for name, found in execution.overall.items()},
        "findings": [{"message": message, "count": count} for message, count in execution.findings],
        "not_measured": dict(execution.not_measured),
        "probes": [
            {"metric": metric, "probe": probe, "value": value, "told_apart": told}
            for metric, probe, value, told in execution.probes
        ],
    }


def _manifest(run: Run, execution: Execution, folder: Path, files: Iterable[Path]) -> dict[str, Any]:
    return {
        **_about(execution),
        "mode": execution.mode,
        "started": run.started,
        "finished": run.finished,
        "languages": [language.language for language in execution.languages],
        "metrics": list(execution.overall),
        "config": dict(run.config),
        "dataset_fingerprint": run.dataset_fingerprint,
        "turnwise_version": run.turnwise_version,
        "environment": dict(run.environment),
        "files": sorted({"summary.json", "manifest.json", *(str(path.relative_to(folder)) for path in files)}),
        "notes": [] if plots_available() else [NO_PICTURES],
    }


def _write_samples(outcomes: Outcomes, run: Run, folders: dict[str, Path]) -> list[Path]:
    """`detailed_results.csv`, `per_sample_results.json` and the log of every language, side by side."""
    names = list(folders)
    lots = [names[start : start + OPEN_LANGUAGES] for start in range(0, len(names), OPEN_LANGUAGES)]
    return [path for lot in lots for path in _write_lot(outcomes, run, folders, lot)]


def _write_lot(outcomes: Outcomes, run: Run, folders: dict[str, Path], lot: Sequence[str]) -> list[Path]:
    columns = list(outcomes.outputs)
    header = ["uuid", "segment_id", "user_id", "language_pair", *columns, "missing"]
    paths = []
    with ExitStack() as stack:
        tables: dict[str, CsvWriter] = {}
        details: dict[str, _JsonList] = {}
        logs: dict[str, _Log] = {}
        for language in outcomes.execution.languages:
            if language.language not in lot:
                continue
            name, folder = language.language, folders[language.language]
            names = ("detailed_results.csv", "per_sample_results.json", "logs/evaluation.log")
            make_folder(folder / "logs")
            table, detail, log = (stack.enter_context(whole_file(folder / file)) for file in names)
            paths += [folder / file for file in names]
            tables[name] = CsvWriter(table, header)
            details[name] = stack.enter_context(_JsonList(detail))
            logs[name] = stack.enter_context(_Log(log, run, language, folders))
        for sample in outcomes.samples():
            if sample.language not in tables:
                continue
            about = [sample.uuid, sample.segment_id, sample.user_id, sample.language_pair]
            missing = "; ".join(f"{name}: {reason}" for name, reason in sample.missing.items())
            tables[sample.language].write([*about, *map(sample.values.get, columns), missing])
            details[sample.language].add(_detail(sample))
            logs[sample.language].add(sample)
    return paths


class _JsonList:
    """A JSON array that is written element by element, one to a line."""

    def __init__(self, file: IO[str]) -> None:
        self._file, self._any = file, False

    def __enter__(self) -> _JsonList:
        self._file.write("[")
        return self

    def add(self, value: Any) -> None:
        self._file.write((",\n" if self._any else "\n") + dumps(value))
        self._any = True

    def __exit__(self, *_: object) -> None:
        self._file.write("\n]\n")


def _detail(sample: SampleOutcome) -> dict[str, Any]:
    found = {name: value for name, value in asdict(sample).items() if value not in (None, (), "")}
    return found | {name: str(found[name]) for name in AUDIO if name in found}


class _Log:
    """What happened with one language; every sample without a score is named with its reason."""

    def __init__(self, file: IO[str], run: Run, language: LanguageOutcome, all_languages: Iterable[str]) -> None:
        self._file, self._run, self._language = file, run, language
        self._others = tuple(f"{name}: " for name in all_languages if name != language.language)

    def __enter__(self) -> _Log:
        run = self._run
        self._say(run.started, "INFO", f"run {run.id}: {self._language.language}, {run.system} {run.version}")
        self._say(
            run.started, "INFO", f"configuration {json.dumps(dict(run.config), ensure_ascii=False, sort_keys=True)}"
        )
        for finding in run.findings:
            if not finding["message"].startswith(self._others):
                about_results = finding["check"] == DIAGNOSIS
                count = "" if about_results else f" ({finding['count']})"
                moment = run.finished if about_results else run.started
                self._say(moment, "INFO" if about_results else "WARNING", finding["message"] + count)
        return self

    def add(self, sample: SampleOutcome) -> None:
        for name, reason in sample.missing.items():
            self._say(self._run.finished, "WARNING", f"{sample.id}: no {name}: {reason}")

    def __exit__(self, *_: object) -> None:
        for name, found in self._language.metrics.items():
            value = "no value" if found.value is None else f"{found.primary} {found.value:.6g}"
            counts = f"{found.valid} of {found.total} samples, {found.skipped} skipped"
            self._say(self._run.finished, "INFO", f"{name}: {value}, {counts}")

    def _say(self, moment: str | None, level: str, text: str) -> None:
        self._file.write(f"{moment} {level} {' '.join(text.split())}\n")
