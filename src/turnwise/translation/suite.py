"""What a run of the translation room is: its options, its records, its hierarchy and the files it writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_serializer, field_validator, model_validator

import turnwise.translation.metrics  # noqa: F401  (registers the metrics)
from turnwise.audio.cepstra import LITERATURE, convention_named
from turnwise.audio.quality import dnsmos_name
from turnwise.audio.quality import why_not as no_dnsmos
from turnwise.engine.executors import local_workers
from turnwise.engine.options import PROFILES, RunOptions, engine_of
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.filenames import absolute
from turnwise.kernel.metric import SPEC
from turnwise.kernel.registry import REGISTRY
from turnwise.neural.device import DEVICES, resolve_device
from turnwise.store.run import Run
from turnwise.store.store import Store
from turnwise.translation import comet_files, sonar_models
from turnwise.translation.batch import BASELINES, PROBES
from turnwise.translation.conclusions import conclusions
from turnwise.translation.files import write_translation_files
from turnwise.translation.formats.base import Samples
from turnwise.translation.formats.data import DataSamples
from turnwise.translation.formats.ground_truth import TYPES, GroundTruthSamples
from turnwise.translation.formats.lines import LineSamples
from turnwise.translation.formats.predictions import PredictionSamples
from turnwise.translation.languages import language_name
from turnwise.translation.load import TranslationSource
from turnwise.translation.metrics.blaser import MODES
from turnwise.translation.metrics.comet import DEFAULT_MODEL
from turnwise.translation.records import AUDIO, FIELDS, LANGUAGE, UNIT
from turnwise.translation.transcripts import recognisers

DEFAULT_OUTPUT_DIR = Path("results")
WAYS = "--data-dir with --mode, --hypotheses with --references, or --data"


class TranslationOptions(RunOptions):
    """Options of `turnwise run translation`."""

    mode: Literal["predictions", "ground_truth"] | None = None
    language: list[str] = Field(default_factory=list)
    """Target languages by name or code; none: every language found."""
    data_dir: Path | None = None
    nmt_model: str | None = None
    tts_model: str | None = None
    type: str | None = None
    """Of the ground truth: text_to_text, text_to_audio, audio_to_text or audio_to_audio."""
    hypotheses: Path | None = None
    references: list[Path] = Field(default_factory=list)
    sources: Path | None = None
    data: Path | list[dict[str, Any]] | None = None
    """A JSONL, CSV, TSV or Parquet file, or records in memory."""
    column: dict[str, str] = Field(default_factory=dict)
    """Columns of `data` that have other names: {"hypothesis": "mt"}."""
    mcd_convention: str = LITERATURE.name
    blaser_mode: str | None = None
    """qe or ref; none: ref where there are reference texts."""
    comet_model: str = DEFAULT_MODEL
    device: str = "auto"
    """Where neural models run: cpu, cuda, or auto: a graphics card where there is one."""
    probes: bool = False
    output_dir: Path | None = None
    execution_id: str | None = None

    @field_validator("language", "references", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return [] if value is None else value if isinstance(value, list | tuple) else [value]

    @field_validator("language", mode="after")
    @classmethod
    def _names(cls, value: list[str]) -> list[str]:
        names = [part.strip() for text in value for part in text.split(",")]
        return list(dict.fromkeys(language_name(name) for name in names if name))

    @field_validator("metrics", mode="after")
    @classmethod
    def _short_names(cls, value: list[str] | None) -> list[str] | None:
        return None if value is None else [name.removeprefix("translation/") for name in value]

    @field_validator("nmt_model", "tts_model", "execution_id", mode="before")
    @classmethod
    def _models_are_names(cls, value: object) -> object:
        return str(value) if isinstance(value, int | float) else value

    @field_serializer("data_dir", "hypotheses", "sources", "output_dir")
    def _absolute(self, value: Path | None) -> str | None:
        return None if value is None else str(absolute(value))

    @field_serializer("references")
    def _all_absolute(self, value: list[Path]) -> list[str]:
        return [str(absolute(path)) for path in value]

    @field_serializer("data")
    def _place(self, value: Path | list[dict[str, Any]] | None) -> str | None:
        if isinstance(value, list):
            return f"{len(value)} samples in memory"
        return None if value is None else str(absolute(value))

    @model_validator(mode="after")
    def _settle(self) -> TranslationOptions:
        """One way to name the data, one folder for the results, a name for the system."""
        self._check_ways()
        convention_named(self.mcd_convention)
        _check_choice("--blaser-mode", self.blaser_mode, MODES)
        _check_choice("--type", self.type, TYPES)
        _check_choice("--device", self.device, DEVICES)
        if self.device == "cuda":
            resolve_device(self.device)  # a graphics card that is not there is said before anything runs
        if self.output_dir is not None or self.execution_id is not None:
            folder = self._execution_folder()
            if self.out is not None and absolute(self.out) != absolute(folder):
                raise UsageError(
                    "--out and --output-dir name two folders",
                    found=f"{self.out} and {folder}",
                    remedy="give one of them",
                )
            self.out = folder
        if "system" not in self.model_fields_set and self.nmt_model:
            self.system = " + ".join(model for model in (self.nmt_model, self.tts_model) if model)
        return self

    def _execution_folder(self) -> Path:
        if self.execution_id is None:
            self.execution_id = f"eval_{datetime.now(UTC):%Y%m%d_%H%M%S}"
        plain = Path(self.execution_id).name == self.execution_id and self.execution_id.isprintable()
        if not plain or self.execution_id in ("", ".", ".."):
            raise UsageError(f"--execution-id {self.execution_id!r} is not a plain name", expected="e.g. eval_20251201")
        return (self.output_dir or DEFAULT_OUTPUT_DIR) / self.execution_id

    def _check_ways(self) -> None:
        given = [
            name
            for name, is_given in (
                ("--data-dir", self.data_dir is not None or self.mode is not None),
                ("--hypotheses", self.hypotheses is not None or bool(self.references) or self.sources is not None),
                ("--data", self.data is not None),
            )
            if is_given
        ]
        if len(given) != 1:
            what = "the data are named in two ways" if given else "no data are named"
            raise UsageError(
                what, found=", ".join(given) or None, expected=WAYS, remedy="turnwise run translation --help"
            )
        if given == ["--data-dir"] and self.data_dir is None:
            raise UsageError("--data-dir is missing", expected="the folder with the data")
        if given == ["--hypotheses"] and (self.hypotheses is None or not self.references):
            missing = "--references" if self.hypotheses is not None else "--hypotheses"
            raise UsageError(f"{missing} is missing", expected="--hypotheses FILE --references FILE...")
        if given == ["--hypotheses"] and len(self.language) > 1:
            raise UsageError("plain lines are in one language", found=", ".join(self.language))
        if self.column and self.data is None:
            raise UsageError("--column is for --data only")
        if self.type is not None and self.mode != "ground_truth":
            raise UsageError("--type is for --mode ground_truth only")


class TranslationSuite:
    """The translation room as the engine sees it."""

    name = "translation"
    options = TranslationOptions
    profiles = PROFILES
    units = frozenset({UNIT})
    groupings = ((LANGUAGE,),)
    baselines = BASELINES
    open_ended = False
    replaceable = frozenset({"data_dir", "hypotheses", "references", "sources", "data", "output_dir", "execution_id"})

    def load(self, options: TranslationOptions) -> TranslationSource:
        """The samples of a layout, checked."""
        needs = _needs(options)
        listens = needs is None or any(name in AUDIO for name in needs) or options.mode == GroundTruthSamples.mode
        source = TranslationSource(_samples(options), check_audio=listens, workers=local_workers(*engine_of(options)))
        if options.profile == SPEC:
            # MCD is not measured on ground truth, so nothing is asked for its sake.
            asked = _needs(options, without="mcd") if options.mode == GroundTruthSamples.mode else needs
            source.all_need = [name for name in FIELDS if source.fields[name]] if asked is None else asked
        if _wants_blaser(options, source):
            used = sonar_models.notes(_blaser_mode(options, source), *_spoken_languages(source))
            source.findings += [Finding("proxy", note) for note in used]
        return source

    def context(self, options: TranslationOptions, source: TranslationSource) -> Mapping[str, str]:
        """What the metrics' values depend on besides their own settings."""
        spoken = source.fields["hypothesis_audio"] > 0
        return {
            "references": source.reference_count,
            "mcd_convention": options.mcd_convention,
            "comet_model": options.comet_model,
            "comet_weights": comet_files.describe(options.comet_model) if _wants(options, "comet") else "none",
            "blaser_mode": _blaser_mode(options, source),
            "blaser_models": _blaser_models(options, source),
            "blaser_languages": _blaser_languages(options, source),
            "device": options.device,
            "recogniser": recognisers(source.languages) if spoken else "none",
            "dnsmos": dnsmos_name() if spoken and not no_dnsmos() else "none",
            **(self._of_ground_truth(options, source) if options.mode == GroundTruthSamples.mode else {}),
        }

    def _of_ground_truth(self, options: TranslationOptions, source: TranslationSource) -> dict[str, str]:
        """Texts are not held against themselves: what a recogniser hears takes the place of the translation."""
        heard = "none" if options.profile == SPEC else recognisers(source.languages)
        return {"mode": GroundTruthSamples.mode, "transcripts": heard}

    def variants(self, config: Mapping[str, Any]) -> Mapping[str, Callable[[Any], Any]]:
        """Baselines and probes, where they are asked for."""
        return {**(BASELINES if config.get("baselines") else {}), **(PROBES if config.get("probes") else {})}

    def conclusions(self, store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
        """The document's diagnoses, and metrics that a probe shows to be blind."""
        return conclusions(store, run, results)

    def write_files(self, store: Store, run: Run, source: Any, folder: Path) -> list[Path]:
        """The document's tree of results."""
        return write_translation_files(store, run, folder)

    def draw(self, item: Mapping[str, Any], *, colour: bool = False, encoding: str = "utf-8") -> str:
        """Nothing: a sample is shown as text, and heard on the page."""
        return ""


def _samples(options: TranslationOptions) -> Samples:
    if options.data is not None:
        data = absolute(options.data) if isinstance(options.data, Path) else options.data
        return DataSamples(data, options.column, options.language)
    if options.hypotheses is not None:
        language = options.language[0] if options.language else None
        return LineSamples(options.hypotheses, options.references, options.sources, language)
    folder = absolute(options.data_dir or Path())
    if options.mode == GroundTruthSamples.mode:
        return GroundTruthSamples(folder, options.language, options.type)
    return PredictionSamples(folder, options.language, options.nmt_model, options.tts_model)


def _needs(options: TranslationOptions, without: str = "") -> list[str] | None:
    """The fields that the chosen metrics need; None where no metric was chosen."""
    if options.metrics is None:
        return None
    names = [name if "/" in name else f"translation/{name}" for name in options.metrics if name != without]
    wanted = [need for name in names for need in REGISTRY.get(name).spec.needs]
    return [name for name in FIELDS if name in wanted]


def _wants(options: TranslationOptions, metric: str) -> bool:
    return options.metrics is None or metric in options.metrics


def _wants_blaser(options: TranslationOptions, source: TranslationSource) -> bool:
    return _wants(options, "blaser") and bool(source.fields["source_audio"] and source.fields["hypothesis_audio"])


def _blaser_mode(options: TranslationOptions, source: TranslationSource) -> str:
    if options.mode == GroundTruthSamples.mode:  # the reference would be held against its own recording
        return options.blaser_mode or sonar_models.QE
    return options.blaser_mode or (sonar_models.REF if source.fields["reference"] else sonar_models.QE)


def _blaser_models(options: TranslationOptions, source: TranslationSource) -> str:
    if not _wants_blaser(options, source):
        return "none"
    return sonar_models.describe(_blaser_mode(options, source), *_spoken_languages(source))


def _blaser_languages(options: TranslationOptions, source: TranslationSource) -> str:
    """What the choice of encoders rests on; whoever measures elsewhere makes it again."""
    spoken = _spoken_languages(source) if _wants_blaser(options, source) else ()
    return json.dumps([sorted(names, key=str) for names in spoken] or [[], []])


def _spoken_languages(source: TranslationSource) -> tuple[set[str | None], set[str | None]]:
    """Targets and sources; where nobody says, the source is English."""
    return set(source.languages), {spoken or sonar_models.ENGLISH for _, spoken in source.directions}


def _check_choice(option: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        remedy = near_misses(value, choices) or None
        raise UsageError(f"{option} cannot be {value!r}", expected=" or ".join(choices), remedy=remedy)


SUITE = TranslationSuite()
