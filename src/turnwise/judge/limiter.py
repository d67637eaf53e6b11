"""How many requests may be under way, and how fast they may follow each other, when nobody says what is allowed.

Two limits are learnt from refusals (429): a *window* of requests at once, and, where refusals have to do with how often
rather than how many, a *rate*. Both grow by adding and shrink by multiplying, once per congestion event however many
refusals it brings. Both remember where the last event was and stay just below for a while before they try further, so
that a fixed limit is used nearly in full and run into rarely. There is no clock and no waiting in here: whoever asks
says what time it is, so that all of it can be tested in made-up time.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

SHRINK = 0.9
"""What is left of the window after an event; it is tight because the window is known to have fitted a moment ago."""
HOLD_ROUNDS, MOST_HOLD_ROUNDS, SMALL = 30, 480, 8
"""Rounds of answers just below the last event before more is tried: at first, at most (they double each time the same
limit is found again), and the window below which they begin with one."""
SMOOTHING = 2.0
"""Requests follow each other this much faster than a full window needs, rather than all at once."""
FEWER, SOON_S = 0.93, 5.0
"""A refusal with less than this share of what was under way at the last one, soon after it, is about rate and not about
number."""
RATE_SETTLES_S, RATE_KEPT, RATE_LEAST = 1.0, 0.98, 0.85
"""How long a new rate is left alone, what is kept of one that was measured while the server refused the rest, and what
is kept at least."""
RATE_SHRINKS = ((1.5, 0.8), (3.0, 0.9), (math.inf, 0.96))
"""What is kept of a rate that was refused within so many seconds: the longer it held, the nearer it was."""
RATE_RETURN, RATE_CLIMB, RATE_GROWTH, RATE_FIRST_GROWTH = 0.97, 0.05, 0.02, 0.05
"""How much of a refused rate is returned to soon, growth per second up to there, growth beyond, and growth before any
rate was refused."""
RATE_HOLD_S, MOST_RATE_HOLD_S = 20.0, 320.0
"""How long it stays there before more is tried, at first and at most."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 10.0
"""How long all wait after a refusal that does not say how long; it doubles while nothing gets through."""
_MEASURED_S, _LONG_PAUSE_S = (5.0, 1.0), 0.5


@dataclass(slots=True, eq=False)
class Ticket:
    """One request under way."""

    sent: float
    others: int
    """How many were under way when it was sent."""
    full: bool
    """Whether the window was in use: all of it, or half of it before the first refusal."""


class Limiter:
    """What is under way, what may be, and what the refusals have taught."""

    def __init__(self, start: int = 4, highest: int = 64) -> None:
        self.window, self.highest = float(min(start, highest)), highest
        self.pace: Pace | None = None
        """How often, once it is known that there is such a limit."""
        self.in_flight = self.answers = self.refusals = 0
        self._latency: float | None = None
        self._not_before = self._next = self._event = -math.inf
        self._ceiling: float | None = None
        self._hold, self._hold_rounds = 0, 0
        self._streak = 0
        self._passed: deque[float] = deque()
        self._begun = math.inf

    def delay(self, now: float) -> float:
        """Seconds until the next request may be sent; infinite until one comes back."""
        if self.in_flight >= int(self.window + 1e-9):
            return math.inf
        return max(0.0, self._not_before - now, self._next - now)

    def send(self, now: float) -> Ticket:
        """Note that a request is sent."""
        used = self.in_flight + 1 if self._ceiling is not None else 2 * self.in_flight + 2
        ticket = Ticket(now, self.in_flight, used >= int(self.window + 1e-9))
        self.in_flight += 1
        self._begun = min(self._begun, now)
        self._passed.append(now)
        spacing = self._spacing(now)
        # A request that was let go a little late does not delay the next one: half a step may be caught up.
        self._next = max(self._next, now - spacing / 2) + spacing
        return ticket

    def answered(self, ticket: Ticket, now: float) -> None:
        """Note that a request was answered, with whatever."""
        self.in_flight -= 1
        self.answers += 1
        took = now - ticket.sent
        self._latency = took if self._latency is None else 0.9 * self._latency + 0.1 * took
        if ticket.sent > self._event:
            self._streak = 0
            if ticket.full:
                self._grow()

    def dropped(self, ticket: Ticket) -> None:
        """Note that a request came to nothing (an error, a time-out): that says nothing about limits."""
        self.in_flight -= 1

    def refused(self, ticket: Ticket, now: float, retry_after: float | None = None) -> None:
        """Note a refusal, and how long the server asks everybody to wait."""
        self.in_flight -= 1
        self.refusals += 1
        if self._passed:
            self._passed.pop()
        if self.pace is not None:
            self.pace.passed -= 1
        is_new = ticket.sent > self._event
        if is_new:
            self._begin_event(ticket, now)
        if self.pace is None:
            self._shrink(ticket.others)
        if retry_after:
            self._wait_as_told(now, retry_after)
        if is_new:
            own = FIRST_PAUSE_S * 2.0 ** min(self._streak - 1, 20)
            self._not_before = max(self._not_before, now + min(LONGEST_PAUSE_S, own))

    def _begin_event(self, ticket: Ticket, now: float) -> None:
        self._streak += 1
        before, self._ceiling = self._ceiling, float(ticket.others)
        is_soon, self._event = now - self._event < SOON_S, now
        if self.pace is not None:
            self.pace.refused(now)
        elif ticket.others == 0 or (is_soon and before and ticket.others < min(FEWER * before, before - 1)):
            self.pace = Pace(self._measured(now), now)
        else:
            again = before is not None and ticket.others <= before + 1
            least = HOLD_ROUNDS if ticket.others >= SMALL else 1
            self._hold_rounds = min(MOST_HOLD_ROUNDS, max(least, 2 * self._hold_rounds if again else 1))

    def _wait_as_told(self, now: float, seconds: float) -> None:
        begin, end = max(now, self._not_before), now + seconds
        self._not_before = max(self._not_before, end)
        # A short pause belongs to how a limited rate looks; a long one would make it look lower than it is.
        if self.pace is not None and seconds >= _LONG_PAUSE_S:
            self.pace.paused += max(0.0, end - begin)

    # The window

    def _shrink(self, others: int) -> None:
        """Once per event; what the event's other refusals tell in addition is where it began."""
        self._ceiling = min(self._ceiling or 0.0, float(others))
        self.window = max(1.0, min(self.window, SHRINK * self._ceiling))
        self._hold = int(self._ceiling * self._hold_rounds)

    def _grow(self) -> None:
        if self._ceiling is None:
            self.window = min(self.highest, self.window + 1)
        elif self.window < self._ceiling or self._hold <= 0:
            top = self.highest if self._hold <= 0 else min(self.highest, self._ceiling)
            self.window = min(top, self.window + 1 / self.window)
        else:
            self._hold -= 1

    def _spacing(self, now: float) -> float:
        """Seconds from one request to the next."""
        if self.pace is not None:
            return self.pace.step(now, waited=now - self._next)
        return 0.0 if self._latency is None else self._latency / (SMOOTHING * self.window)

    def _measured(self, now: float) -> float:
        """What got through per second: of late, or over a while, pauses and all, if that is less."""
        found = []
        for seconds in _MEASURED_S:
            while self._passed and self._passed[0] < now - seconds:
                self._passed.popleft()
            open_for = min(seconds, now - self._begun)
            found.append(len(self._passed) / max(0.1, open_for))
        return min(found)


class Pace:
    """A rate that is learnt from refusals."""

    def __init__(self, rate: float, now: float) -> None:
        self.rate = max(1.0, rate)
        self.passed = 0
        """Requests since the rate was last changed, without the refused ones."""
        self.paused = 0.0
        """Seconds since then in which the server wanted nothing to be sent."""
        self._changed = self._grown = now
        self._hold = self._plateau = 0.0

    def step(self, now: float, waited: float) -> float:
        """Note a request; seconds to the next one. The rate grows only while it is what requests wait for."""
        self.passed += 1
        since, self._grown = now - self._grown, now
        if waited * self.rate < 1:
            since = min(since, 2 / self.rate)
            if self.rate < self._plateau:
                self.rate = min(self._plateau, self.rate * (1 + RATE_CLIMB * since))
            elif now - self._changed > self._hold:
                self.rate *= 1 + (RATE_GROWTH if self._hold else RATE_FIRST_GROWTH) * since
        return 1 / self.rate

    def refused(self, now: float) -> None:
        """Note an event."""
        held = now - self._changed - self.paused
        if held < RATE_SETTLES_S:
            return
        got = self.passed / held
        share = next(share for seconds, share in RATE_SHRINKS if held <= seconds)
        is_measured, refused = got < 0.95 * self.rate, self.rate
        self.rate = max(1.0, RATE_LEAST * refused, RATE_KEPT * got if is_measured else share * refused)
        self._plateau = RATE_RETURN * refused if is_measured else min(RATE_RETURN * refused, 1.05 * self.rate)
        self._hold = min(MOST_RATE_HOLD_S, max(RATE_HOLD_S, 2 * self._hold if held > self._hold else 0.0))
        self.passed, self.paused = 0, 0.0
        self._changed = now
