"""What a run showed that a reader should be told: what is in no mean, what sounds wrong, how firm the numbers are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from turnwise.duplex.baselines import BASELINES
from turnwise.duplex.experiment import places
from turnwise.duplex.records import CATEGORY, CONVERSATION, LANGUAGE
from turnwise.duplex.totals import DELAY, TOTAL, Totals
from turnwise.engine.plan import DIAGNOSIS, VERIFY, Finding
from turnwise.kernel.jsontext import loads
from turnwise.kernel.metric import SPEC
from turnwise.store.reading import stream_items
from turnwise.store.run import Run
from turnwise.store.store import Store

SENSITIVITY = "sensitivity"
NAMED = 3
ROUNDED_LATER = (
    "the document rounds the values of every category before it goes on; from recordings that is done in the files "
    "that are written with --out: score them with --scores OUT/score --profile spec"
)


def conclusions(store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
    """All of it."""
    totals = Totals(results, run.profile == SPEC)
    found = [] if totals.spec else [*_without_delay(totals), *_silent(results)]
    if run.config.get("recordings"):
        found += _sounds_wrong(store, run)
        found += [Finding(DIAGNOSIS, ROUNDED_LATER)] if totals.spec and totals.known else []
    if run.config.get("sensitivity"):
        found += _moves(results)
    if run.config.get("verify"):
        coverage = run.config["coverage"]
        checks = totals.checklist(coverage["files"], coverage["files_predicted"])
        found += [Finding(VERIFY, check.line, 1) for check in checks]
    return found


def _without_delay(totals: Totals) -> Iterator[Finding]:
    """The sentence that says why two of the twenty delays are not averaged."""
    files = list(places())
    results = {key: totals.result(DELAY, **{LANGUAGE: key[0], CATEGORY: key[1].name}) for key in files}
    there = {key: one for key, one in results.items() if one is not None and one["value"] is not None}
    none = [key for key, one in results.items() if one is not None and one["value"] is None]
    total, all_of_it = totals.value(DELAY), totals.value(TOTAL)
    if not none or total is None or len(there) + len(none) != len(files):
        return
    names = ", ".join(f"{language}/{category.name}" for language, category in none)
    as_zero = sum(one["value"] for one in there.values()) / len(files)
    moved = "" if all_of_it is None else f" and a Total Delay of {all_of_it + (as_zero - total) / 3:.3f} s"
    yield Finding(
        DIAGNOSIS,
        f"First Response Delay {total:.3f} s is the mean of {len(there)} of {len(files)} files: in {names} no "
        f"conversation was answered in time, so there is no delay to average; the document counts them as 0 s, which "
        f"would give {as_zero:.3f} s{moved} (--profile spec)",
        len(none),
    )


def _silent(results: list[dict[str, Any]]) -> Iterator[Finding]:
    """Outputs without a word are right where nothing should be answered; how many is said."""
    for one in results:
        if (one["metric"], one["output"], one["rollup"]) == ("reject_rate", "silent", "micro") and not one["group"]:
            n = round((one["value"] or 0) * one["n_scored"])
            if n and not one["variant"]:
                yield Finding(DIAGNOSIS, f"{n} of {one['n_scored']} outputs are silent and count as rejected", n)


def _sounds_wrong(store: Store, run: Run) -> Iterator[Finding]:
    """What was noted about single recordings, counted over all."""
    told = [finding["message"] for finding in run.findings]
    counted: Counter[str] = Counter()
    named: dict[str, list[str]] = {}
    for item in stream_items(store, run, CONVERSATION):
        content = loads(item["content"]) if item["content"] else {}
        unusable = content.get("unusable")
        for note in [f"not used: {unusable}"] if unusable else content.get("notes", []):
            counted[note] += 1
            named.setdefault(note, []).append(item["id"])
    for note, n in counted.items():
        if any(message.startswith(note) for message in told):  # when the files were read
            continue
        more = ", ..." if n > NAMED else ""
        yield Finding("recording", f"{note}: {', '.join(named[note][:NAMED])}{more}", n)


def _moves(results: list[dict[str, Any]]) -> Iterator[Finding]:
    """How far each number moves over the settings of the detector."""
    spread: dict[tuple[str, str, str], dict[str, float]] = {}
    for one in results:
        if not one["group"] and one["primary"] and one["value"] is not None:
            spread.setdefault((one["metric"], one["output"], one["rollup"]), {})[one["variant"]] = one["value"]
    for (metric, output, rollup), values in spread.items():
        values = {name: value for name, value in values.items() if name not in BASELINES}
        if len(values) > 1 and "" in values:
            name = metric if output == "value" else f"{metric}.{output}"
            low, high = min(values.values()), max(values.values())
            yield Finding(
                SENSITIVITY,
                f"{name} {rollup} {values['']:.4g} lies between {low:.4g} and {high:.4g} over {len(values)} settings "
                "of the detector",
                len(values),
            )
