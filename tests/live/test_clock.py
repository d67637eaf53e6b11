"""Frames at their moments: one timer for everybody, nothing adds up, and how punctual it was."""

from __future__ import annotations

import asyncio

import pytest

from tests.live.virtual import run_virtually
from turnwise.live.clock import FRAME_S, SLOTS, FrameClock, Metronome
from turnwise.live.outbox import Outbox


def test_everybody_is_called_at_their_moments() -> None:
    async def work() -> dict[str, list[float]]:
        loop, metronome = asyncio.get_running_loop(), Metronome(Outbox())
        start, called = loop.time(), {"one": [], "other": []}  # type: ignore[var-annotated]

        def frames(name: str, most: int):
            def frame(due: float) -> bool:
                assert loop.time() == pytest.approx(due, abs=1e-3)
                called[name].append(due - start)
                return len(called[name]) < most

            return frame

        await asyncio.gather(metronome.keep(start, frames("one", 4)), metronome.keep(start + 0.005, frames("other", 3)))
        return called

    called = run_virtually(work())
    assert called["one"] == pytest.approx([0, 0.02, 0.04, 0.06])
    assert called["other"] == pytest.approx([0.005, 0.025, 0.045])


def test_who_is_late_is_late_once() -> None:
    """Whoever takes 50 ms for the second frame sends the next two at once and is on time again."""

    async def work() -> list[float]:
        loop, metronome, moments = asyncio.get_running_loop(), Metronome(Outbox()), []
        start = loop.time()

        def frame(due: float) -> bool:
            moments.append(round(1000 * (loop.time() - start)))
            if len(moments) == 2:
                loop._selector_of_time.now += 0.05  # type: ignore[attr-defined]
            return len(moments) < 6

        await metronome.keep(start, frame)
        return moments

    # Due at 0, 20, 40, 60, 80, 100; the second one, at 20, lasts until 70.
    assert run_virtually(work()) == [0, 20, 70, 70, 80, 100]


def test_what_one_raises_is_theirs_alone() -> None:
    async def work() -> int:
        metronome, count = Metronome(Outbox()), 0

        def fails(due: float) -> bool:
            raise OSError(28, "No space left on device")

        def counts(due: float) -> bool:
            nonlocal count
            count += 1
            return count < 5

        start = asyncio.get_running_loop().time()
        broken, sound = metronome.keep(start, fails), metronome.keep(start, counts)
        with pytest.raises(OSError, match="No space left"):
            await broken
        await sound
        return count

    assert run_virtually(work()) == 5


def test_who_has_gone_is_not_called() -> None:
    async def work() -> int:
        metronome, count = Metronome(Outbox()), 0

        def counts(due: float) -> bool:
            nonlocal count
            count += 1
            return True

        over = metronome.keep(asyncio.get_running_loop().time(), counts)
        await asyncio.sleep(0.05)  # frames at 0, 20 and 40 ms
        over.cancel()
        await asyncio.sleep(0.1)
        return count

    assert run_virtually(work()) == 3


def test_calls_share_a_few_moments() -> None:
    async def work() -> set[int]:
        metronome = Metronome(Outbox())
        moments = await asyncio.gather(*(metronome.beginning(place) for place in range(40)))
        now = asyncio.get_running_loop().time()
        assert max(moments) <= now
        return {round(1e6 * (moment % FRAME_S)) % 20_000 for moment in moments}

    assert SLOTS == 4
    assert run_virtually(work()) == {0, 5000, 10_000, 15_000}


def test_the_drift_is_that_of_the_typical_frame() -> None:
    async def work() -> dict[str, float]:
        clock = FrameClock()
        # A second at 1 ms, eight at 2 ms, a last one at 4 ms; one frame of each comes 90 ms late.
        clock.lateness = [*[1.0] * 49, 90.0, *[2.0] * 400, *[4.0] * 49, 90.0]
        return clock.summary()

    summary = run_virtually(work())
    assert summary["frames"] == 500
    assert summary["drift_ms"] == 3.0  # 4 - 1
    assert summary["late_p50_ms"] == 2.0
    assert summary["late_max_ms"] == 90.0


def test_a_clock_that_never_began_says_no_more() -> None:
    async def work() -> dict[str, float]:
        return FrameClock().summary()

    assert run_virtually(work()) == {"frames": 0}


def test_frames_of_a_moment_leave_together() -> None:
    class Transport:
        def __init__(self) -> None:
            self.sent: list[bytes] = []

        def write(self, data: bytes) -> None:
            self.sent.append(data)

    outbox, one, other = Outbox(), Transport(), Transport()
    outbox.write(one, b"now")
    assert one.sent == [b"now"]
    with outbox:
        outbox.write(one, b"later")
        outbox.write(other, b"later, too")
        assert (one.sent, other.sent) == ([b"now"], [])
    assert (one.sent, other.sent) == ([b"now", b"later"], [b"later, too"])
