"""What a run of the duplex room is: its options, its conversations, its hierarchy and the files it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import field_serializer, model_validator

import turnwise.duplex.metrics  # noqa: F401  (registers the metrics)
from turnwise.duplex.baselines import BASELINES
from turnwise.duplex.cases import PART
from turnwise.duplex.conclusions import conclusions
from turnwise.duplex.files import write_duplex_files
from turnwise.duplex.lanes import draw_text
from turnwise.duplex.listen import Ear, other_ears, voice_named
from turnwise.duplex.load import FiledSource, HeardSource, load_files, load_scores
from turnwise.duplex.marks import marks_of
from turnwise.duplex.metrics.base import LEVEL, TAU_VOICE
from turnwise.duplex.metrics.first_response_delay import FILED
from turnwise.duplex.metrics.labels import LABELLED_BY
from turnwise.duplex.read import read_conversations
from turnwise.duplex.records import CATEGORY, CONVERSATION, EVENT, KIND, LANGUAGE
from turnwise.duplex.timeline_json import from_json
from turnwise.engine.options import PROFILES, RunOptions
from turnwise.engine.plan import Finding
from turnwise.judge.metric import JUDGE
from turnwise.kernel.errors import UsageError
from turnwise.kernel.filenames import absolute
from turnwise.kernel.metric import SPEC
from turnwise.store.run import Run
from turnwise.store.store import Store

WAYS = "--scores DIR, --files DIR or --recordings PATH"
Source = FiledSource | HeardSource


class DuplexOptions(RunOptions):
    """Options of `turnwise run duplex`."""

    scores: Path | None = None
    """The folder with the `_all.json` of every category."""
    files: Path | None = None
    """The folder with what lies under them."""
    recordings: Path | list[dict[str, Any]] | None = None
    """Recordings or logs in any format, or timelines in memory."""
    format: str | None = None
    detector: str | None = None
    allow_missing: bool = False
    verify: bool = False
    sensitivity: bool = False
    timelines: bool = False
    """Whether a picture and a page of every conversation are written."""

    @field_serializer("scores", "files")
    def _absolute(self, value: Path | None) -> str | None:
        return None if value is None else str(absolute(value))

    @field_serializer("recordings")
    def _place(self, value: Path | list[dict[str, Any]] | None) -> str | None:
        if isinstance(value, list):
            return f"{len(value)} conversations in memory"
        return None if value is None else str(absolute(value))

    @model_validator(mode="after")
    def _settle(self) -> DuplexOptions:
        given = [name for name in ("scores", "files", "recordings") if getattr(self, name) is not None]
        if len(given) != 1:
            what = "the data are named in two ways" if given else "no data are named"
            found = ", ".join(f"--{name}" for name in given) or None
            raise UsageError(what, found=found, expected=WAYS, remedy="turnwise run duplex --help")
        heard = given == ["recordings"]
        for name in ("format", "detector", "sensitivity", "timelines"):
            if getattr(self, name) and not heard:
                raise UsageError(f"--{name} is for --recordings only", found=f"--{given[0]}")
        for name in ("allow_missing", "verify"):
            if getattr(self, name) and heard:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} is for --scores and --files only", found="--recordings")
        if self.profile == TAU_VOICE and not heard:
            raise UsageError(f"the profile {TAU_VOICE} is for --recordings only", found=f"--{given[0]}")
        if self.timelines and self.out is None:
            raise UsageError("--timelines needs a folder to write to", remedy="add --out DIR")
        voice_named(self.detector)  # a detector that is not there is said before anything runs
        return self


class DuplexSuite:
    """The duplex room as the engine sees it."""

    name = "duplex"
    options = DuplexOptions
    profiles = (*PROFILES, TAU_VOICE)
    units = frozenset({CONVERSATION, EVENT})
    groupings = ((LANGUAGE,), (CATEGORY,), (CATEGORY, LANGUAGE), (PART,), (KIND,))
    baselines = BASELINES
    open_ended = False
    replaceable = frozenset({"scores", "files", "recordings"})

    def load(self, options: DuplexOptions) -> Source:
        """The cases of files, or the conversations of recordings."""
        if options.scores is not None:
            return load_scores(absolute(options.scores), allow_missing=options.allow_missing)
        if options.files is not None:
            return load_files(
                absolute(options.files), allow_missing=options.allow_missing, rounded=options.profile == SPEC
            )
        given = options.recordings
        assert given is not None
        conversations = read_conversations(absolute(given) if isinstance(given, Path) else given, options.format)
        source = HeardSource(conversations, Ear(voice_named(options.detector)), options.judged)
        if options.sensitivity and not source.with_audio:
            raise UsageError(
                "--sensitivity needs audio to listen to again", found=f"{conversations.name}: who spoke when is given"
            )
        return source

    def context(self, options: DuplexOptions, source: Source) -> Mapping[str, str]:
        """What a case is, and how the audio was heard."""
        if isinstance(source, FiledSource):
            return {LEVEL: source.level, "delays": FILED}
        if source.with_audio:
            heard = voice_named(options.detector).description
        else:
            heard = "; ".join(sorted(source.voices)) or source.conversations.name
        return {LEVEL: source.level, "voice": heard, **({LABELLED_BY: JUDGE} if source.to_judge else {})}

    def variants(self, config: Mapping[str, Any]) -> Mapping[str, Callable[[Any], Any]]:
        """Agents that are none, and the same recordings heard with other settings, where that is asked for."""
        baselines = BASELINES if config.get("baselines") else {}
        return {**baselines, **(other_ears(config.get("detector")) if config.get("sensitivity") else {})}

    def conclusions(self, store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
        """What was left out, what looks wrong in the recordings, and the document's checklist."""
        return conclusions(store, run, results)

    def write_files(self, store: Store, run: Run, source: Any, folder: Path) -> list[Path]:
        """`all.json` and the files of every category; timelines and events of recordings."""
        return write_duplex_files(store, run, source, folder)

    def draw(self, item: Mapping[str, Any], *, colour: bool = False, encoding: str = "utf-8") -> str:
        """The two lanes of a conversation."""
        content = item["content"] or {}
        if item["kind"] != CONVERSATION or "user" not in content or "unusable" in content:
            return ""
        timeline = from_json(content, str(item["id"]))
        return draw_text(timeline, marks_of(timeline), colour=colour, encoding=encoding)


SUITE = DuplexSuite()
