"""Asking before measuring: the judge's answers are put on record, then each batch carries its own.

So what is measured from them is the same on every engine, a killed run pays for no answer twice, and a recorded run can
be repeated without a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from turnwise.engine.measure import Workload
from turnwise.engine.plan import Finding, Source
from turnwise.store.connect import default_path
from turnwise.store.run import Run
from turnwise.store.store import Store

if TYPE_CHECKING:
    from turnwise.judge.ask import Judge
    from turnwise.judge.options import JudgeOptions
    from turnwise.judge.records import Question
    from turnwise.judge.settings import JudgeSettings

Progress = Callable[[int, int, int], None]
"""Called with the judgements done, their total, and the calls in flight."""
CHECK = "judge"
"""The check of findings about the judge."""


def asking_metrics(work: Workload) -> list[Any]:
    """The metrics that ask a judge."""
    return [
        metric for _, metric in work.metrics if hasattr(metric, "asked") and metric.spec.name not in work.not_measured
    ]


def questions(metrics: Sequence[Any], batches: Iterable[Any]) -> Iterator[Question]:
    """Every question about some batches."""
    from turnwise.judge.records import Question

    for batch in batches:
        for metric in metrics:
            yield from (asked for _, asked in metric.asked(batch) if isinstance(asked, Question))


def answered(metrics: Sequence[Any], batches: Iterable[Any], judge: Judge) -> Iterator[Any]:
    """The batches, each with what the judge said about its units."""
    from turnwise.judge.records import question_key

    for batch in batches:
        own = questions(metrics, [batch])
        batch.judged = {question_key(question): judge.judgement(question) for question in own}
        yield batch


@contextmanager
def judge_of(options: JudgeOptions, settings: JudgeSettings | None, journal: Path | None) -> Iterator[Judge | None]:
    """The judge of a run, if it has one; what it says goes where the user wants it, else into the journal."""
    from turnwise.judge.options import make_judge

    if settings is None:
        yield None
        return
    with TemporaryDirectory() as passing:
        yield make_judge(options, settings, journal or Path(passing))


def journal_of(store: Store, run: Run) -> Path | None:
    """Where the answers of a run are kept, so that it can be resumed; nowhere for a store that is not kept either.

    Beside the database, so that whoever has the one has the other; of a database that is no file, the user's own place.
    """
    url = store.engine.url
    if url.database in (None, "", ":memory:"):
        return None
    file = Path(url.database) if url.get_backend_name() == "sqlite" else default_path()
    return file.resolve().parent / "judge" / run.id


def ask(judge: Judge, metrics: Sequence[Any], source: Source, done: Set[int], progress: Progress | None) -> None:
    """Put every question of the batches that are not done yet."""
    if progress is None:
        judge.ask(questions(metrics, source.batches(done)))
        return
    # Going over the data once more is nothing beside asking, and lets people see how long it will take.
    total = judge.repeats * sum(1 for _ in questions(metrics, source.batches(done)))
    judge.ask(questions(metrics, source.batches(done)), lambda n, _, in_flight: progress(n, total, in_flight))


def told(judge: Judge, system: str) -> list[Finding]:
    """What the judge's part in the run was."""
    found = [Finding(CHECK, judge.tally.sentence(judge.model), judge.tally.calls)]
    if judge.model.casefold() == system.casefold():
        message = f"the judge {judge.model} has the name of the system under test: does it judge itself?"
        found.append(Finding("self_judging", message))
    return found
