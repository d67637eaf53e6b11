"""Makes `captures/`: the five scenarios, played to the simulated interpreter, without audio and raw messages.

Version 1 stops late when somebody barges in, version 2 at once. Times differ by some milliseconds from one making to
the next, as those of any live system do.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from turnwise.live.behaviours import behaviour_named
from turnwise.live.rehearsal import rehearse
from turnwise.live.scenario import load_scenarios

HERE = Path(__file__).parent
VERSIONS = {"version-1": "slow_cutoff", "version-2": "good"}


def main() -> None:
    """Play everything, keep what scoring needs."""
    scenarios = load_scenarios(sorted(HERE.glob("*.yaml")))
    for version, behaviour in VERSIONS.items():
        out = HERE / "captures" / version
        shutil.rmtree(out, ignore_errors=True)
        with TemporaryDirectory() as folder:
            rehearse(scenarios, behaviour_named(behaviour), "acs", Path(folder), parallel=len(scenarios))
            for scenario in scenarios:
                keep(Path(folder) / scenario.id, out / scenario.id)
        print(f"{out}: {len(scenarios)} captures, {sum(p.stat().st_size for p in out.rglob('*.json*')) // 1000} kB")


def keep(capture: Path, folder: Path) -> None:
    """The events without their raw messages, and the capture itself."""
    folder.mkdir(parents=True)
    shutil.copyfile(capture / "capture.json", folder / "capture.json")
    with (capture / "events.jsonl").open() as events, (folder / "events.jsonl").open("w") as kept:
        for line in events:
            event = json.loads(line)
            event.pop("raw", None)
            if "audio" in event:
                event["audio"] = {"duration_ms": event["audio"]["duration_ms"]}
            kept.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
