"""Whether a judge's scores may be trusted as far as anybody has checked: the marks that stand beside judged metrics.

A judged metric's signature holds `judge=<model>` and `rubric=<name>:<hash>`. Until the store has a calibration of that
hash and model, its scores are uncalibrated, and every table says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from turnwise.judge.records import CONSISTENCY
from turnwise.report.tables import UNCALIBRATED
from turnwise.store.calibrations import CalibrationRecord, newest_calibrations
from turnwise.store.store import Store

NOBODY = "none"
"""The judge in the signature of a metric that had none to ask."""


def parts_of(signature: str) -> dict[str, str]:
    """The `key=value` parts of a signature, with what was written out for its separators put back."""
    found = {}
    for part in signature.split("|"):
        key, equals, value = part.partition("=")
        if equals:
            text = value.replace("%0A", "\n").replace("%3D", "=").replace("%7C", "|").replace("%25", "%")
            found[key] = text
    return found


def judged_by(signature: str) -> str | None:
    """The model behind a judged metric; None for a metric that no judge gave."""
    parts = parts_of(signature)
    model = parts.get("judge")
    return model if "rubric" in parts and model not in (None, "", NOBODY) else None


def marks(store: Store, outputs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """For each (signature, output) of a judged metric, `uncalibrated` or how well it agrees with people.

    Outputs of other metrics are left out, and so is how often the judge agrees with itself.
    """
    asked = [one for one in dict.fromkeys(outputs) if one[1] != CONSISTENCY]
    known = dict(_records(store, (signature for signature, _ in asked)))
    found = {}
    for signature, output in asked:
        if signature in known:
            record = _of(output, known[signature])
            found[signature, output] = UNCALIBRATED if record is None else mark(record)
    return found


def _of(output: str, records: Mapping[str, CalibrationRecord]) -> CalibrationRecord | None:
    """The record of an output: the rubric's main question is the metric's value, the others go by their names."""
    if output == "value":
        return next((one for one in records.values() if one.record.get("primary")), None)
    return records.get(output)


def mark(record: CalibrationRecord) -> str:
    """A record in a few words: `calibrated: kappa 0.71 (n=120)`, and whether that was found to be too little."""
    kappa = record.record.get("kappa")
    said = "undefined" if kappa is None else f"{kappa:.2f}"
    answer = record.record.get("verdict", {}).get("answer")
    short = "" if answer == "yes" else ", no stand-in for people" if answer == "no" else ", not yet sure"
    return f"calibrated: kappa {said} (n={record.n}){short}"


def _records(store: Store, signatures: Iterable[str]) -> Iterable[tuple[str, dict[str, CalibrationRecord]]]:
    known: dict[tuple[str, str], dict[str, CalibrationRecord]] = {}
    for signature in dict.fromkeys(signatures):
        model = judged_by(signature)
        if model is None:
            continue
        key = (parts_of(signature)["rubric"].rpartition(":")[2], model)
        if key not in known:
            known[key] = newest_calibrations(store, *key)
        yield signature, known[key]
