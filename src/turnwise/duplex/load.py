"""From files to a checked source: cases of an experiment, or conversations to be heard."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

from turnwise.duplex.batch import DuplexBatch, Listener
from turnwise.duplex.cases import (
    DELAY,
    FACT_OF,
    FACTS,
    FILE_MISSING,
    PART,
    REJECT,
    RESP,
    STOP,
    Case,
    Fact,
    filed_case,
)
from turnwise.duplex.categories import Category, Measured, category_named
from turnwise.duplex.category_files import Averages, Under, read_all, read_averages
from turnwise.duplex.experiment import Experiment, place, places
from turnwise.duplex.formats.base import Conversations
from turnwise.duplex.metrics.base import CATEGORIES, CONVERSATIONS, RECORDINGS
from turnwise.duplex.opinion import can_be_asked
from turnwise.duplex.records import CATEGORY, CONVERSATION, KIND, LANGUAGE, TO_IGNORE, Timeline
from turnwise.engine.plan import Finding
from turnwise.kernel.signature import digest

BATCH_OF_CASES = 512
BATCH_OF_TIMELINES = 256
BATCH_WITH_AUDIO = 8
"""Conversations measured together. Listening takes longer, and its progress should be seen."""


@dataclass
class FiledSource:
    """Cases of an experiment's files; an engine source."""

    experiment: Experiment
    averages: dict[tuple[str, Category], Averages]
    """The values of every category and language that can be used."""
    cases: list[Case]
    level: str
    unit = CONVERSATION

    def __post_init__(self) -> None:
        missing = [(language, category) for language, category in places() if (language, category) not in self.averages]
        self.cases += [missing_case(language, category) for language, category in missing]
        self.n_items = len(self.cases)
        self.findings: list[Finding] = self.experiment.findings

    @property
    def dataset_fingerprint(self) -> str:
        """Which categories were asked about; what the system did is not known apart from the scores."""
        return digest([place(*key) for key in sorted(self.averages, key=lambda key: place(*key))])

    @property
    def input_fingerprint(self) -> str:
        """Every file that was read."""
        return digest([*sorted(self.experiment.marks.items()), self.level])

    @cached_property
    def fields(self) -> dict[str, int]:
        """How many cases carry each fact."""
        carried = Counter(name for case in self.cases for name in case.facts)
        labelled = sum(bool(case.labels) for case in self.cases)
        return {**{name: carried[name] for name in FACTS}, CATEGORY: self.n_items, "label": labelled, "speech": 0}

    @property
    def dimensions(self) -> set[str]:
        """Language, category, and what a category counts for."""
        return {LANGUAGE, CATEGORY, PART}

    @property
    def coverage(self) -> dict[str, int]:
        """How many of the twenty files could be used."""
        return {"files": len(list(places())), "files_predicted": len(self.averages)}

    def batches(self, done: Set[int] = frozenset()) -> Iterator[DuplexBatch]:
        """The batches that are not done yet."""
        for index, start in enumerate(range(0, self.n_items, BATCH_OF_CASES)):
            if index not in done:
                yield DuplexBatch(index, self.cases[start : start + BATCH_OF_CASES])


def missing_case(language: str, category: Category, *, delays: bool = True) -> Case:
    """A category and language that is not there: what needs it has no value."""
    times = (DELAY, *((STOP, RESP) if category.interrupts else ())) if delays else ()
    facts = dict.fromkeys([FACT_OF[category.measured], *times], Fact(0.0, 0, FILE_MISSING))
    return filed_case(place(language, category), language, category, facts, content={"note": FILE_MISSING})


def load_scores(folder: Path, *, allow_missing: bool) -> FiledSource:
    """The twenty `_all.json`, each a case."""
    experiment = Experiment(folder)
    averages = {}
    for language, category in places():
        found = read_averages(experiment, language, category)
        if found is not None:
            averages[language, category] = found
    experiment.check(allow_missing=allow_missing)
    cases = [found.case(*key, stored=True) for key, found in averages.items()]
    return FiledSource(experiment, averages, cases, CATEGORIES)


def load_files(folder: Path, *, allow_missing: bool, rounded: bool) -> FiledSource:
    """What lies under the twenty files; `rounded` makes the twenty files of it first, as the document does."""
    experiment = Experiment(folder)
    under: dict[tuple[str, Category], Under] = read_all(experiment)
    experiment.check(allow_missing=allow_missing)
    averages = {key: found.computed(key[1], rounded=rounded) for key, found in under.items()}
    if rounded:
        cases = [found.case(*key, stored=False) for key, found in averages.items()]
        return FiledSource(experiment, averages, cases, CATEGORIES)
    cases = [case for key, found in under.items() for case in found.cases(*key)]
    return FiledSource(experiment, averages, cases, CONVERSATIONS)


@dataclass
class HeardSource:
    """Conversations of any format; an engine source."""

    conversations: Conversations
    listener: Listener
    judged: bool = False
    """Whether there is a judge to say what the agent did."""
    unit = CONVERSATION
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._carried: Counter[str] = Counter()
        self._dimensions: set[str] = set()
        self._there: set[tuple[str, Category]] = set()
        self.with_audio = False
        self.to_judge = 0
        """Conversations whose label the judge is asked for."""
        self.voices: set[str] = set()
        """Who heard the conversations that come without audio."""
        self._scan()
        self.findings = [*self.conversations.findings, *self.findings]
        # Delays can be averaged over what is there; a score of the challenge is of all of it.
        absent = [missing_case(*key, delays=False) for key in places() if key not in self._there]
        self.absent = absent if self.level == CONVERSATIONS else []

    def _scan(self) -> None:
        asked = hashlib.sha256()
        self._heard = 0
        for timeline in self.conversations:
            self._heard += 1
            self._look_at(timeline)
            asked.update(repr((timeline.key, timeline.language, timeline.category)).encode("utf-8", "surrogatepass"))
        self._asked = asked.hexdigest()[:12]
        self.n_items = self._heard

    def _look_at(self, timeline: Timeline) -> None:
        category = category_named(timeline.category) if timeline.category else None
        self._dimensions.update(timeline.dimensions)
        self.with_audio = self.with_audio or timeline.user is None or timeline.agent is None
        if "voice" in timeline.context:
            self.voices.add(str(timeline.context["voice"]))
        self._carried["speech"] += 1
        to_judge = self.judged and can_be_asked(timeline)
        self.to_judge += to_judge
        labelled = to_judge or timeline.behaviour is not None
        self._carried["label"] += labelled
        self._carried["to_ignore"] += any(label.kind in TO_IGNORE for label in timeline.labels)
        if category is not None:
            self._carried[CATEGORY] += 1
            if timeline.language:
                self._there.add((timeline.language, category))
            if category.measured is Measured.REJECT:
                self._carried[REJECT] += 1
            elif labelled:
                self._carried[FACT_OF[category.measured]] += 1

    @property
    def level(self) -> str:
        """Conversations of the challenge, or any."""
        return CONVERSATIONS if self._carried[CATEGORY] == self._heard else RECORDINGS

    @property
    def dataset_fingerprint(self) -> str:
        """Which conversations; systems on the same ones can be compared."""
        return self._asked

    @property
    def input_fingerprint(self) -> str:
        """Every file that is read."""
        return digest([*map(list, self.conversations.fingerprint_parts()), self._size])

    @property
    def fields(self) -> dict[str, int]:
        """How many conversations carry what."""
        found = dict.fromkeys((*FACTS, CATEGORY, "label", "speech", "to_ignore"), 0) | dict(self._carried)
        # Totals over categories are totals only if every conversation belongs to one.
        return found if self.level == CONVERSATIONS else found | {CATEGORY: 0}

    @property
    def dimensions(self) -> set[str]:
        """Language, category, what the user did, and every metadata column."""
        return {*self._dimensions, KIND, *({PART} if self._carried[CATEGORY] else ())}

    @property
    def coverage(self) -> dict[str, int]:
        """How many conversations there are; which of them could be used is known when they were heard."""
        return {"conversations": self.n_items}

    @property
    def _size(self) -> int:
        return BATCH_WITH_AUDIO if self.with_audio else BATCH_OF_TIMELINES

    def batches(self, done: Set[int] = frozenset()) -> Iterator[DuplexBatch]:
        """The batches that are not done yet; what the challenge has and the data do not comes last."""
        conversations = iter(self.conversations)
        index = 0
        while portion := list(islice(conversations, self._size)):
            if index not in done:
                yield DuplexBatch(index, (), portion, self.listener)
            index += 1
        if self.absent and index not in done:
            yield DuplexBatch(index, self.absent)
