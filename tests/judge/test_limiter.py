"""What the limiter learns, in made-up time: a server with a limit is simulated, and the client is told nothing.

Expected values are the limits of the simulated servers: how many at once, or how many a second, they accept.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Callable
from itertools import pairwise

import pytest

from turnwise.judge.limiter import Limiter

Accepts = Callable[[float, int], bool]
"""Whether a request at this time, with so many under way, is accepted."""


class Run:
    """So many requests through a limiter, against a server that accepts or refuses."""

    def __init__(
        self,
        accepts: Accepts,
        *,
        requests: int = 1000,
        answer_s: float = 0.2,
        spread: float = 0.1,
        retry_after: float | None = None,
        limiter: Limiter | None = None,
        begin: float = 0.0,
    ) -> None:
        self.limiter = limiter or Limiter()
        self.most = self.sent = 0
        self.times: list[float] = []
        dice = random.Random(7)
        events: list[tuple[float, int, bool, object]] = []
        now, left, done, busy = begin, requests, 0, 0
        while done < requests:
            delay = self.limiter.delay(now) if left else math.inf
            if delay == 0:
                ticket = self.limiter.send(now)
                self.times.append(now)
                accepted = accepts(now + 0.001, busy)
                took = 0.002 + (answer_s * (1 + spread * (dice.random() - 0.5)) if accepted else 0)
                heapq.heappush(events, (now + took, self.sent, accepted, ticket))
                self.sent, left, busy = self.sent + 1, left - 1, busy + accepted
                self.most = max(self.most, self.limiter.in_flight)
                continue
            if now + delay < (events[0][0] if events else math.inf):
                now += delay + 0.0005 * dice.random()
                continue
            now, _, accepted, ticket = heapq.heappop(events)
            if accepted:
                self.limiter.answered(ticket, now)
                done, busy = done + 1, busy - 1
            else:
                self.limiter.refused(ticket, now, retry_after)
                left += 1
        self.seconds = now - begin
        self.refused = self.limiter.refusals / self.sent


def at_once(limit: int) -> Accepts:
    return lambda _, busy: busy < limit


def bucket(rate: float, capacity: float) -> Accepts:
    state = [capacity, 0.0]

    def spend(now: float, _: int) -> bool:
        state[:] = [min(capacity, state[0] + rate * (now - state[1])), now]
        if state[0] < 1:
            return False
        state[0] -= 1
        return True

    return spend


def window(rate: int, *, sliding: bool) -> Accepts:
    seen: deque[float] = deque()

    def accepts(now: float, _: int) -> bool:
        begin = now - 1 if sliding else math.floor(now)
        while seen and seen[0] < begin:
            seen.popleft()
        if len(seen) >= rate:
            return False
        seen.append(now)
        return True

    return accepts


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.5])
def test_thirty_two_at_once(spread: float) -> None:
    run = Run(at_once(32), spread=spread)
    ideal = 1000 / 32 * 0.2  # seconds: 31.25 rounds of 0.2 s
    assert run.seconds <= 1.2 * ideal
    assert run.refused < 0.05
    assert 28 <= run.limiter.window <= 34


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 13, 21, 50])
def test_any_number_at_once(limit: int) -> None:
    run = Run(at_once(limit))
    # Ramp, tail and probing take a while whatever the limit is.
    assert run.seconds <= 1.1 * 1000 / limit * 0.2 + 1.0
    assert run.refused < 0.05


def test_no_limit_means_the_highest() -> None:
    run = Run(lambda *_: True, limiter=Limiter(4, 64))
    assert run.most == 64
    assert run.limiter.refusals == 0
    assert Run(lambda *_: True, limiter=Limiter(4, 10)).most == 10
    assert Run(lambda *_: True, limiter=Limiter(4, 1), requests=20).most == 1


def test_it_begins_with_no_more_than_it_is_told() -> None:
    limiter = Limiter(4, 64)
    for _ in range(4):
        limiter.send(0.0)
    assert limiter.in_flight == 4
    assert limiter.delay(0.0) == math.inf


@pytest.mark.parametrize("answer_s", [0.02, 0.2])
@pytest.mark.parametrize(
    "server",
    [
        lambda: bucket(50, 50),
        lambda: bucket(50, 10),
        lambda: window(50, sliding=True),
        lambda: window(50, sliding=False),
    ],
    ids=["bucket", "small bucket", "sliding window", "fixed window"],
)
@pytest.mark.parametrize("retry_after", [None, 0.02])
def test_fifty_a_second(server: Callable[[], Accepts], answer_s: float, retry_after: float | None) -> None:
    run = Run(server(), requests=2000, answer_s=answer_s, retry_after=retry_after)
    assert 2000 / run.seconds >= 0.9 * 50
    assert run.refused < 0.1


def test_a_rate_far_below_one_answer() -> None:
    """Five a second, answers in 20 ms: even one at once is too many without a pace."""
    run = Run(window(5, sliding=True), requests=300, answer_s=0.02)
    assert 300 / run.seconds >= 0.85 * 5
    assert run.limiter.pace is not None
    assert run.limiter.pace.rate == pytest.approx(5, rel=0.15)


@pytest.mark.parametrize("server", [lambda: bucket(50, 50), lambda: window(50, sliding=False)])
def test_pauses_that_the_server_asks_for(server: Callable[[], Accepts]) -> None:
    """Each costs a second for everybody, so there must be few of them."""
    run = Run(server(), requests=4000, retry_after=1.0)
    assert 4000 / run.seconds >= 0.85 * 50


def test_everybody_waits_as_told() -> None:
    limiter = Limiter(4)
    first, second = limiter.send(0.0), limiter.send(0.0)
    limiter.refused(first, 0.01, 3.0)
    assert limiter.delay(0.01) == pytest.approx(3.0)
    limiter.refused(second, 0.02, 1.0)
    assert limiter.delay(0.02) == pytest.approx(2.99)


def test_one_event_shrinks_once() -> None:
    limiter = Limiter(4, 64)
    limiter.window = 40.0
    tickets = [limiter.send(0.0) for _ in range(40)]
    for ticket in reversed(tickets[32:]):
        limiter.refused(ticket, 0.01)
    # Accepted were 32; what is left is nine tenths of them, not nine tenths eight times over.
    assert limiter.window == pytest.approx(0.9 * 32)
    assert limiter.in_flight == 32


def test_a_limit_that_falls_and_rises() -> None:
    limiter = Limiter()
    Run(at_once(32), limiter=limiter, requests=500)
    fell = Run(at_once(6), limiter=limiter, requests=600, begin=1000.0)
    assert fell.seconds <= 1.5 * 600 / 6 * 0.2
    rose = Run(at_once(32), limiter=limiter, requests=20_000, begin=2000.0)
    assert rose.seconds <= 1.6 * 20_000 / 32 * 0.2


def test_errors_teach_nothing() -> None:
    limiter = Limiter()
    for _ in range(50):
        limiter.dropped(limiter.send(0.0))
    assert (limiter.in_flight, limiter.window, limiter.refusals) == (0, 4.0, 0)


def test_requests_are_spread() -> None:
    """Not all at once: a full window's worth over a good part of the time an answer takes."""
    run = Run(lambda *_: True, limiter=Limiter(4, 20), requests=400, spread=0.0)
    late = run.times[200:]
    crowded = sum(b - a < 0.2 / 20 / 4 for a, b in pairwise(late))
    assert crowded < 0.05 * len(late)
