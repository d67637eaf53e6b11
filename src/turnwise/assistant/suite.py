"""What a run of the assistant room is: its options, its records, its hierarchy and the files it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import field_serializer, field_validator

import turnwise.assistant.metrics  # noqa: F401  (registers the metrics)
from turnwise.assistant.batch import BASELINES
from turnwise.assistant.composites import JUDGE_RATINGS, composite_context
from turnwise.assistant.embedding import AUTO, NONE, Embedding, find_embedding
from turnwise.assistant.files import write_assistant_files
from turnwise.assistant.load import AssistantSource
from turnwise.assistant.metrics.quality import with_judge_ratings
from turnwise.assistant.outcomes import turn_outcomes
from turnwise.assistant.profile import Profile, load_profile
from turnwise.assistant.read import open_rows
from turnwise.assistant.records import SCENARIO, UNIT, VERSION
from turnwise.assistant.scales import OBJECTIVE
from turnwise.engine.executors import is_address, local_workers
from turnwise.engine.options import PROFILES, RunOptions, engine_of
from turnwise.engine.plan import DIAGNOSIS, Finding
from turnwise.judge.metric import JUDGE
from turnwise.kernel.filenames import absolute
from turnwise.store.run import Run
from turnwise.store.store import Store


class AssistantOptions(RunOptions):
    """Options of `turnwise run assistant`."""

    turns: Path | str | list[dict[str, Any]]
    """A JSONL or Parquet file, the export as CSV, a PostgreSQL database's address, or records in memory."""
    patterns: Path | None = None
    """The organisation's profile; none: the one for HR, under `spec` the document's."""
    embedding: str = AUTO
    """What compares citations: an installed model (`auto`), trigrams (`none`), or a folder with a model."""

    @field_validator("turns", mode="before")
    @classmethod
    def _paths_are_paths(cls, value: object) -> object:
        return Path(value) if isinstance(value, str) and "://" not in value else value

    @field_serializer("turns")
    def _place(self, value: Path | str | list[dict[str, Any]]) -> str:
        if isinstance(value, list):
            return f"{len(value)} turns in memory"
        return str(absolute(value)) if isinstance(value, Path) else _address(value)

    @field_serializer("patterns")
    def _absolute(self, value: Path | None) -> str | None:
        return None if value is None else str(absolute(value))


class AssistantSuite:
    """The assistant room as the engine sees it."""

    name = "assistant"
    options = AssistantOptions
    profiles = PROFILES
    units = frozenset({UNIT})
    groupings = ((VERSION,), (SCENARIO,))
    baselines = BASELINES
    open_ended = True
    replaceable = frozenset({"turns", "patterns"})

    def load(self, options: AssistantOptions) -> AssistantSource:
        """The turns of a source, checked; a run is of the one version that all its turns have."""
        profile = load_profile(options.patterns, options.profile)
        chosen = {name.removeprefix(f"{self.name}/") for name in options.metrics or _COMPARING}
        compares = not chosen.isdisjoint(_COMPARING)
        embedding = find_embedding(options.embedding if compares else NONE)
        turns = absolute(options.turns) if isinstance(options.turns, Path) else options.turns
        rows = open_rows(turns)
        findings = list(getattr(rows, "findings", ()))
        engine = engine_of(options)
        source = AssistantSource(
            rows,
            profile,
            options.version,
            embedding,
            findings,
            local_workers(*engine),
            sent_whole=is_address(engine[0]),
        )
        if not options.version and len(source.versions) == 1:
            options.version = next(iter(source.versions))
        return source

    def context(self, options: AssistantOptions, source: AssistantSource) -> Mapping[str, str]:
        """What the metrics' values depend on besides their own settings."""
        folder = {"embedding_folder": str(source.embedding.folder or "")}  # for workers elsewhere
        return {**run_context(source.profile, source.embedding), **folder}

    def variants(self, config: Mapping[str, Any]) -> Mapping[str, Callable[[Any], Any]]:
        """The baselines, where they are asked for."""
        return BASELINES if config.get("baselines") else {}

    def conclusions(self, store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
        """Of how many metrics the objective quality is the mean, and where a judge stood in for people."""
        return [*_composition(results), *_stand_ins(store, run)]

    def write_files(self, store: Store, run: Run, source: Any, folder: Path) -> list[Path]:
        """Turns, sessions and versions."""
        return write_assistant_files(store, run, folder)

    def draw(self, item: Mapping[str, Any], *, colour: bool = False, encoding: str = "utf-8") -> str:
        """Nothing: what was said is text."""
        return ""


def _address(text: str) -> str:
    """The address of a database as it is kept: without the password."""
    from turnwise.assistant.postgres import without_password

    return without_password(text)


_COMPARING = {"citation_accuracy", "objective_quality_score", "overall_quality_score"}


def run_context(profile: Profile, embedding: Embedding) -> dict[str, str]:
    """The settings of a run that go into signatures."""
    return {"patterns": profile.label, "embedding": embedding.name, **composite_context(profile)}


def _composition(results: Sequence[Mapping[str, Any]]) -> list[Finding]:
    own = [one for one in results if one["primary"] and not one["variant"] and not one["group"]]
    measured = {one["metric"]: one for one in own if one["metric"] in OBJECTIVE}
    if len(measured) < len(OBJECTIVE) or not any(one["metric"] == "objective_quality_score" for one in own):
        return []
    turns = max(one["n_total"] for one in measured.values())
    scored = sum(one["n_scored"] for one in measured.values())
    seldom = sorted(measured.values(), key=lambda one: one["n_scored"])[0]
    message = f"objective_quality_score is the mean of {scored / turns:.1f} of {len(OBJECTIVE)} metrics per turn"
    if seldom["n_scored"] < turns:
        message += f"; {seldom['metric']} has a value in {seldom['n_scored']} of {turns}"
    return [Finding(DIAGNOSIS, message)]


def _stand_ins(store: Store, run: Run) -> list[Finding]:
    """For a run that lets a judge's ratings into its qualities: whose they are, and in how many turns."""
    if not with_judge_ratings(run.config):
        return []
    judge = run.config.get("context", {}).get(JUDGE)
    if judge is None:
        return [Finding(DIAGNOSIS, f"{JUDGE_RATINGS} is on, but the run has no judge: only people's ratings count")]
    made = [outcome.qualities.made_of["subjective"] for outcome in turn_outcomes(store, run)]
    n = sum("by_judge" in half for half in made)
    message = f"subjective and overall quality rest on ratings of the judge {judge} in {n} of {len(made)} turns"
    return [Finding(DIAGNOSIS, message, n)]


SUITE = AssistantSuite()
