"""Putting questions to a judge: as many at once as it takes, each answer recorded the moment it is there.

Questions are taken one at a time, as there is room for them. Whatever ends the asking (the last question, Ctrl-C, a
key that is not accepted), what is under way is waited for a little and recorded: it has been paid for.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sized
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from turnwise.judge.cassette import Answer, Call, Cassette
from turnwise.judge.client import ChatClient, Unanswered
from turnwise.judge.dialect import Dialect
from turnwise.judge.gate import Closed, Gate
from turnwise.judge.interview import first_call, next_step
from turnwise.judge.limiter import Limiter, Ticket
from turnwise.judge.records import Failure, Question, Verdict
from turnwise.judge.settings import JudgeSettings
from turnwise.judge.tally import Budget, Tally, guess_prompt, metered
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.interrupts import interrupts_to

GRACE_S = 5.0
"""How long what is under way is waited for when the asking ends early."""
MOST_LOST = 20
"""Questions in a row that fail after all their tries before the judge is given up."""
_RECORDS_AT_ONCE = 50
Progress = Callable[[int, int, int], None]
"""Called with the judgements done, their total (0 if unknown), and the requests under way."""


@dataclass
class Session:
    """What a judge keeps from one round of asking to the next."""

    settings: JudgeSettings
    cassette: Cassette
    budget: Budget
    repeats: int = 1
    tally: Tally = field(default_factory=Tally)
    limiter: Limiter = field(default_factory=Limiter)
    failures: dict[str, Failure] = field(default_factory=dict)
    """By the key of the request that failed."""
    dialect: Dialect = field(default_factory=Dialect)

    def step(self, question: Question, first: Call) -> Verdict | Failure | Call:
        """What is known of a question whose first request this is."""
        return next_step(question, first, self.cassette.get)


def ask_all(session: Session, questions: Iterable[Question], progress: Progress | None) -> None:
    """Put every question that is not on record; returns when each has an answer or a failure."""
    asking = Asking(session, questions, progress)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with interrupts_to(asking.interrupt):
            asyncio.run(asking.run())
    else:
        _in_a_thread(asking)
    if asking.error is not None:
        raise asking.error
    if asking.interrupted:
        raise KeyboardInterrupt


def _in_a_thread(asking: Asking) -> None:
    """For callers inside an event loop, such as a notebook."""
    broke: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(asking.run())
        except BaseException as error:
            broke.append(error)

    thread = threading.Thread(target=run, name="judge", daemon=True)
    with interrupts_to(asking.interrupt):
        thread.start()
        thread.join()
    if broke:
        raise broke[0]


class Asking:
    """One round of asking."""

    def __init__(self, session: Session, questions: Iterable[Question], progress: Progress | None) -> None:
        self.session, self._questions, self._progress = session, questions, progress
        self._total = len(questions) * session.repeats if isinstance(questions, Sized) else 0
        self.error: Exception | None = None
        self.interrupted = False
        self._done = self._lost = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._begun: set[str] = set()
        self._client: ChatClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def interrupt(self) -> None:
        """No new requests; from any thread."""
        self.interrupted = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._over.set)

    async def run(self) -> None:
        """Ask until all is asked or something ends it."""
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        self.session.limiter.in_flight = 0  # whatever an interrupted round left behind
        self._gate = Gate(self.session.limiter)
        async with AsyncExitStack() as self._stack:
            asking, over = asyncio.create_task(self._ask_each()), asyncio.create_task(self._over.wait())
            if self.interrupted:
                self._over.set()
            await asyncio.wait({asking, over}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                await self._wind_up(asking)
            over.cancel()
            await asyncio.gather(over, return_exceptions=True)
            if not asking.cancelled() and (error := asking.exception()) is not None:
                await self._wind_up(asking)
                raise error
        if self._client is not None:
            self.session.tally.notes = self._client.dialect.notes(self.session.settings)

    async def _wind_up(self, asking: asyncio.Task[None]) -> None:
        self._gate.close()
        asking.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE_S)
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.gather(asking, return_exceptions=True)

    async def _ask_each(self) -> None:
        for number, (question, repeat) in enumerate(self._each()):
            if number % _RECORDS_AT_ONCE == 0:
                await asyncio.sleep(0)
            first = first_call(question, repeat, self.session.settings)
            step = self.session.step(question, first)
            if isinstance(step, Call):
                await self._begin(question, first, step)
            else:
                self.session.tally.from_record += 1
                self._ended(step)
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _each(self) -> Iterable[tuple[Question, int]]:
        return ((question, repeat) for question in self._questions for repeat in range(self.session.repeats))

    async def _begin(self, question: Question, first: Call, call: Call) -> None:
        if call.key in self._begun:
            self._ended(None)  # the same question about another unit: what comes of it counts for both
            return
        self._begun.add(call.key)
        if reason := await self._limit(call):
            self.session.failures[call.key] = Failure(reason, limited=True)
            self.session.tally.limited += 1
            self._ended(None)
            return
        if self._client is None:
            client = ChatClient(self.session.settings, self._gate, self.session.tally, self.session.dialect)
            self._client = await self._stack.enter_async_context(client)
        held = self.session.budget.hold(guess_prompt(call.request["messages"]))
        ticket = await self._gate.enter()
        task = asyncio.create_task(self._settle(question, first, call, ticket, held))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _limit(self, call: Call) -> str | None:
        """The limit that is reached, after waiting for what is under way to cost less than was feared."""
        prompt = guess_prompt(call.request["messages"])
        while (reason := self.session.budget.reached(prompt)) and self._tasks and "cost" in reason:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        return reason

    async def _settle(self, question: Question, first: Call, call: Call, ticket: Ticket, held: float) -> None:
        """A question to its end: its answer, and the repair if that cannot be read."""
        try:
            await self._answer(call, ticket, held)
            step = self.session.step(question, first)
            if isinstance(step, Call):
                step = await self._repair(question, first, step)
            self._ended(None if isinstance(step, Call) else step)
        except Closed:
            return
        except Unanswered as failure:
            self._failed(call.key, failure)
        except Exception as error:
            self.error = self.error or error
            self._over.set()

    async def _repair(self, question: Question, first: Call, call: Call) -> Verdict | Failure | Call:
        prompt = guess_prompt(call.request["messages"])
        if reason := self.session.budget.reached(prompt):
            failure = Failure(f"unreadable, and not asked again: {reason}", call.messages[-2]["content"])
            self.session.failures[call.key] = failure
            return failure
        held = self.session.budget.hold(prompt)
        try:
            await self._answer(call, await self._gate.enter(again=True), held)
        except Unanswered as error:
            failure = Failure(f"unreadable, and asking again failed: {error.reason}", error.raw)
            self.session.failures[call.key] = failure
            return failure
        return self.session.step(question, first)

    async def _answer(self, call: Call, ticket: Ticket, held: float) -> None:
        """The answer to one request, recorded and counted."""
        budget, tally, settings = self.session.budget, self.session.tally, self.session.settings
        assert self._client is not None
        prompt = guess_prompt(call.request["messages"])
        try:
            answer: Answer = await self._client.ask(call, ticket, lambda paid: budget.again(held, paid=paid))
        except BaseException:
            budget.release(held, held)  # it may have been answered, and paid for, without our knowing
            raise
        self.session.cassette.put(call, answer)
        self.session.dialect = self._client.dialect
        tokens_in, tokens_out, told = metered(answer, prompt)
        cost = settings.cost(tokens_in, tokens_out)
        budget.release(held, cost or 0.0, prompt, answer.prompt_tokens)
        tally.calls += 1
        tally.unmetered += not told
        tally.prompt_tokens += tokens_in
        tally.completion_tokens += tokens_out
        tally.cost = None if cost is None else (tally.cost or 0.0) + cost
        self._lost = 0

    def _failed(self, key: str, failure: Unanswered) -> None:
        self.session.failures[key] = found = Failure(failure.reason, failure.raw)
        self._lost = self._lost + 1 if failure.lost else 0
        if self._lost >= MOST_LOST:
            remedy = "what was answered is on record: run it again when the judge is well"
            what = f"the judge gave no answer to {self._lost} questions in a row"
            self.error = self.error or TurnwiseError(what, found=failure.reason, remedy=remedy)
            self._over.set()
        self._ended(found)

    def _ended(self, outcome: Verdict | Failure | None) -> None:
        self._done += 1
        self.session.tally.failed += isinstance(outcome, Failure)
        self.session.tally.repaired += isinstance(outcome, Verdict) and outcome.repaired
        if self._progress is not None:
            self._progress(self._done, self._total, self.session.limiter.in_flight)
