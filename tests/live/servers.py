"""Live systems for tests, each in a thread of its own on loopback: the simulator, and ones that break."""

from __future__ import annotations

import asyncio
import threading
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from turnwise.live.behaviours import behaviour_named
from turnwise.live.simulator import Simulator
from turnwise.live.transports import transport_named

RATE = 16000


@contextmanager
def serving(start: Callable[[], Any]) -> Iterator[str]:
    """The address of a server that `start` (a coroutine function) begins; it ends with the block."""
    ready, box = threading.Event(), {}

    def run() -> None:
        async def serve() -> None:
            server = await start()
            box["loop"], box["over"] = asyncio.get_running_loop(), asyncio.Event()
            box["port"] = server.sockets[0].getsockname()[1]
            ready.set()
            await box["over"].wait()
            server.close()

        asyncio.run(serve())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield f"ws://127.0.0.1:{box['port']}/"
    finally:
        box["loop"].call_soon_threadsafe(box["over"].set)
        thread.join(10)


@contextmanager
def simulated(protocol: str = "acs", behaviour: str = "good", **times: float) -> Iterator[str]:
    simulator = Simulator(transport_named(protocol), behaviour_named(behaviour, **times))
    with serving(lambda: simulator.serve("127.0.0.1", 0)) as address:
        yield address


@contextmanager
def broken(handler: Callable[[Any], Any]) -> Iterator[str]:
    """A server whose connections are handed to `handler`."""
    from websockets.asyncio.server import serve

    with serving(lambda: serve(handler, "127.0.0.1", 0, compression=None)) as address:
        yield address


def write_tone(path: Path, seconds: float) -> Path:
    """Something that the simulator takes for speech, from the first sample to the last."""
    at = np.arange(int(seconds * RATE)) / RATE
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((0.3 * np.sin(2 * np.pi * 220 * at) * 32767).astype("<i2").tobytes())
    return path


def write_scenario(folder: Path, *, name: str = "correction", barge_in_ms: int = 2600, tail_ms: int = 1500) -> Path:
    """Somebody speaks for a second, and breaks into the answer."""
    write_tone(folder / "one.wav", 1.0)
    turns: list[dict[str, Any]] = [
        {"id": "first", "type": "play_audio", "participant": "caller", "audio_file": "one.wav", "start_at_ms": 0},
        {
            "id": "second",
            "type": "play_audio",
            "participant": "caller",
            "audio_file": "one.wav",
            "start_at_ms": barge_in_ms,
            "barge_in": True,
        },
    ]
    scenario = {
        "id": name,
        "participants": {"caller": {"source_language": "en", "target_language": "no"}},
        "turns": turns,
        "tail_silence_ms": tail_ms,
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(scenario))
    return path
