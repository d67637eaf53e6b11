"""What a run can be told about its judge, and the judge that comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, Field, field_serializer, field_validator

from turnwise.judge.ask import Judge
from turnwise.judge.metric import JUDGE
from turnwise.judge.records import Rubric
from turnwise.judge.rubric import read_rubric
from turnwise.judge.settings import JudgeSettings, judge_settings
from turnwise.judge.tally import check_priced
from turnwise.kernel.errors import UsageError
from turnwise.kernel.registry import REGISTRY
from turnwise.kernel.signature import digest


class JudgeOptions(BaseModel):
    """The judge's part of a run's options."""

    judge: list[Path] = Field(default_factory=list)
    """The user's own rubrics; each becomes a metric."""
    judge_url: str | None = None
    judge_model: str | None = None
    judge_config: Path | None = None
    judge_cassette: Path | None = None
    judge_replay: Path | None = None
    judge_repeats: int = Field(default=1, ge=1, le=99)
    max_calls: int | None = Field(default=None, ge=0)
    max_cost: float | None = Field(default=None, ge=0)

    @field_validator("judge", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        return [value] if isinstance(value, str | Path) else value

    @field_serializer("judge", when_used="json")
    def _absolute_all(self, value: list[Path]) -> list[str]:
        return [str(path.resolve()) for path in value]

    @field_serializer("judge_config", "judge_cassette", "judge_replay", when_used="json")
    def _absolute_judge(self, value: Path | None) -> str | None:
        return None if value is None else str(value.resolve())

    @property
    def judged(self) -> bool:
        """Whether there is anybody to ask."""
        named = (self.judge_url, self.judge_model, self.judge_config, self.judge_replay)
        return any(option is not None for option in named)


MAY_CHANGE = frozenset({"judge_url", "judge_config", "judge_cassette", "judge_replay", "max_calls", "max_cost"})
"""Where the judge is found and what it may cost may differ when a run is resumed; who it is may not."""


def settings_of(options: JudgeOptions) -> JudgeSettings | None:
    """The judge's settings; None where there is no judge."""
    if options.judge_cassette is not None and options.judge_replay is not None:
        raise UsageError("--judge-cassette records and --judge-replay replays", expected="one of the two")
    if not options.judged:
        idle = next((name for name in _FOR_A_JUDGE if getattr(options, name) != _default(name)), None)
        if idle:
            remedy = "--judge-url URL --judge-model NAME, or --judge-config FILE, or --judge-replay DIR"
            raise UsageError(f"--{idle.replace('_', '-')} is given, but there is no judge to ask", remedy=remedy)
        return None
    found = judge_settings(
        url=options.judge_url, model=options.judge_model, config=options.judge_config, replay=options.judge_replay
    )
    if options.judge_replay is None:
        check_priced(found, options.max_cost)
    return found


_FOR_A_JUDGE = ("judge", "judge_cassette", "judge_repeats", "max_calls", "max_cost")
"""Options that mean nothing without a judge."""


def _default(name: str) -> object:
    return JudgeOptions.model_fields[name].get_default(call_default_factory=True)


def own_rubrics(paths: Sequence[Path], room: str) -> list[Rubric]:
    """The user's rubrics; no two may have one name, and none that of a metric that is there."""
    rubrics = [read_rubric(path, room) for path in paths]
    names = [rubric.name for rubric in rubrics]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UsageError(f"two rubrics are called {twice}", remedy="rename one of them")
    for path, rubric in zip(paths, rubrics, strict=True):
        if f"{rubric.room}/{rubric.name}" in REGISTRY.names(rubric.room):
            what = f"{rubric.room} has a metric {rubric.name} already"
            remedy = "give the rubric another name: under the same one, two ways of measuring would be one column"
            raise UsageError(what, where=f"{path}, name", found=rubric.name, remedy=remedy)
    return rubrics


def signed(options: JudgeOptions, settings: JudgeSettings | None) -> Mapping[str, str]:
    """What signatures say of the judge."""
    if settings is None:
        return {}
    found = {JUDGE: settings.model, "judge_temperature": f"{settings.temperature:g}"}
    usual = JudgeSettings(model=settings.model, temperature=settings.temperature).parameters
    if settings.parameters != usual:  # another seed, another limit of tokens, fields of the user's own
        found["judge_parameters"] = digest(settings.parameters)
    return found | ({"judge_repeats": str(options.judge_repeats)} if options.judge_repeats > 1 else {})


def make_judge(options: JudgeOptions, settings: JudgeSettings, journal: Path | None) -> Judge:
    """The judge of a run; what it says is kept in `journal` unless the user names a place."""
    return Judge(
        settings,
        cassette=None if options.judge_replay else options.judge_cassette or journal,
        replay=options.judge_replay,
        repeats=options.judge_repeats,
        max_calls=options.max_calls,
        max_cost=options.max_cost,
    )
