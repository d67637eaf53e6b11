"""The judge: put questions to it, read what it said, know what it cost.

A run first asks, then measures from the record; replaying a cassette is measuring without asking. Nothing in here needs
a network until a question is asked that is not on record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnwise.judge.cassette import Call, Cassette, recorded_settings
from turnwise.judge.interview import first_call, next_step
from turnwise.judge.limiter import Limiter
from turnwise.judge.records import Failure, Judgement, Question, Verdict
from turnwise.judge.settings import JudgeSettings
from turnwise.judge.tally import UNBOUNDED_ANSWER, Budget, Estimate, Tally, guess_prompt
from turnwise.kernel.errors import UsageError

if TYPE_CHECKING:
    from turnwise.judge.asking import Session

Progress = Callable[[int, int, int], None]
"""Called with the judgements done, their total (0 if unknown), and the requests under way."""


class Judge:
    """A model that is asked, with everything it has said on record.

    `cassette` is the folder that answers are recorded in and found again; without one they last as long as this object.
    `replay` is a folder to read only: nothing is asked. Without settings, those the cassette was recorded with.
    """

    def __init__(
        self,
        settings: JudgeSettings | None,
        *,
        cassette: Path | None = None,
        replay: Path | None = None,
        repeats: int = 1,
        max_calls: int | None = None,
        max_cost: float | None = None,
    ) -> None:
        if cassette is not None and replay is not None:
            raise UsageError("--judge-cassette records and --judge-replay replays", expected="one of the two")
        if repeats < 1:
            raise UsageError("a judge is asked at least once", found=f"--judge-repeats {repeats}")
        if settings is None:
            if replay is None:
                raise UsageError("there is no judge to ask", remedy="--judge-url and --judge-model, or --judge-replay")
            settings = recorded_settings(replay)
        elif replay is not None and not replay.is_dir():
            raise UsageError("the cassette is not there", where=str(replay), expected="a folder with recorded answers")
        self.settings, self.repeats, self.replays = settings, repeats, replay is not None
        self._record = Cassette(replay if replay is not None else cassette, settings)
        self._budget = Budget(None if self.replays else settings, max_calls, max_cost)
        self._limiter = Limiter(settings.start_concurrency, settings.highest_concurrency)
        self._session: Session | None = None
        self._failures: dict[str, Failure] = {}
        self.tally = Tally(cost=0.0 if settings.priced else None)
        """What was asked so far, and what it cost."""

    @property
    def model(self) -> str:
        """Who is asked."""
        return self.settings.model

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What answers depend on beside the question: temperature, seed, token limit, extra fields."""
        return self.settings.parameters

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return self._limiter.in_flight

    def ask(self, questions: Iterable[Question], progress: Progress | None = None) -> Tally:
        """Put the questions whose answers are not on record; returns when each has an answer or a failure.

        `progress` is called with the judgements done, their total (0 if unknown), and the requests under way.
        Ctrl-C: nothing new is asked, what is under way is waited for briefly and recorded, then KeyboardInterrupt.
        """
        if self.replays:
            self._look_up(questions, progress)
            return self.tally
        from turnwise.judge.asking import Session, ask_all
        from turnwise.judge.dialect import Dialect

        if self._session is None:
            self._session = Session(
                self.settings,
                self._record,
                self._budget,
                self.repeats,
                self.tally,
                self._limiter,
                self._failures,
                Dialect.wanted(self.settings),
            )
        ask_all(self._session, questions, progress)
        return self.tally

    def judgement(self, question: Question) -> Judgement:
        """What came back for a question: from the record, and from this run's failures. Asks nobody."""
        steps = (self._step(question, repeat) for repeat in range(self.repeats))
        return Judgement(tuple(self._outcome(step) for step in steps), self.model)

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """What asking would take; asks nobody."""
        calls = on_record = tokens = 0
        seen: set[str] = set()
        for question in questions:
            for repeat in range(self.repeats):
                step = self._step(question, repeat)
                if not isinstance(step, Call):
                    on_record += 1
                elif step.key not in seen:
                    seen.add(step.key)
                    calls += 1
                    tokens += guess_prompt(step.request["messages"])
        most = calls * (self.settings.max_tokens or UNBOUNDED_ANSWER)
        return Estimate(calls, on_record, tokens, most, self.settings.cost(tokens, most))

    def _step(self, question: Question, repeat: int) -> Verdict | Failure | Call:
        return next_step(question, first_call(question, repeat, self.settings), self._record.get)

    def _outcome(self, step: Verdict | Failure | Call) -> Verdict | Failure:
        if not isinstance(step, Call):
            return step
        if step.key in self._failures:
            return self._failures[step.key]
        where = "on the cassette" if self.replays else "on record"
        return Failure(f"not {where}: {self.model}, key {step.key}")

    def _look_up(self, questions: Iterable[Question], progress: Progress | None) -> None:
        """Asking without anybody to ask: counts what is there and what is not."""
        total = len(questions) * self.repeats if isinstance(questions, Sized) else 0
        done = 0
        for question in questions:
            for repeat in range(self.repeats):
                step = self._step(question, repeat)
                outcome = self._outcome(step)
                done += 1
                self.tally.failed += isinstance(outcome, Failure)
                self.tally.repaired += isinstance(outcome, Verdict) and outcome.repaired
                self.tally.from_record += not isinstance(step, Call)
                if progress is not None:
                    progress(done, total, 0)
