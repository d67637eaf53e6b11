"""May two sides be compared at all? Other data, another profile or another way of measuring is no fair comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from turnwise.comparison.selectors import SYSTEM, VERSION
from turnwise.comparison.sides import Name, Side, unfinished
from turnwise.kernel.errors import UsageError
from turnwise.report.tables import UNCALIBRATED, metric_label

ALLOW = "--allow-different"
VERSION_OR_SYSTEM = re.compile(f"({VERSION}|{SYSTEM}):")


def check_comparable(a: Side, b: Side, metrics: Iterable[str], *, allow_different: bool) -> list[str]:
    """Warnings that every output has to carry; an error where the sides differ and nobody said that they may."""
    reasons = [*_data(a, b), *_profiles(a, b)]
    if not any(name == "profile" for name, _ in reasons):  # of another profile, every signature is another one
        reasons += _signatures(a, b, metrics)
    if reasons and not allow_different:
        named = list(dict.fromkeys(name for name, _ in reasons))
        raise UsageError(
            f"A and B cannot be compared as they are: not the same {' and '.join(named)}",
            found="; ".join(text for _, text in reasons),
            expected="the same data, profile and settings on both sides",
            remedy=f"evaluate both alike, choose metrics that are alike with --metric, or say {ALLOW}",
        )
    told = [f"not the same {name}: {text}" for name, text in reasons]
    for letter, side in (("A", a), ("B", b)):
        told += [f"{letter}: run {run.id} is {run.status}; what was measured so far" for run in unfinished(side)]
    return told


def one_way(side: Side, metric: str, *, allow_different: bool, what: str) -> list[str]:
    """The same for the runs of one series: a metric has to be measured in one way throughout."""
    signs = side.signatures(metric)
    if len(signs) < 2:
        return []
    text = f"{metric}: {_apart(signs)}"
    if not allow_different:
        raise UsageError(
            f"{metric} was not measured in one way in {what}",
            found=text,
            remedy=f"narrow it down with --system, or say {ALLOW}",
        )
    return [f"not the same way of measuring: {text}"]


def uncalibrated(sides: Iterable[Side], names: Iterable[Name]) -> list[str]:
    """The outputs that are a judge's opinion which nobody has compared with people yet: a line for each judge."""
    wanted = list(dict.fromkeys(names))
    found: dict[str, dict[str, None]] = {}
    for side in sides:
        outputs = [((sign, output), metric) for metric, output in wanted for sign in side.signatures(metric)]
        if not any("|rubric=" in sign for (sign, _), _ in outputs):
            continue
        from turnwise.judge.calibrated import judged_by, marks

        known = marks(side.parts[0].chosen.store, (key for key, _ in outputs))
        for key, metric in outputs:
            if known.get(key) == UNCALIBRATED:
                label = metric_label({"metric": metric, "output": key[1]})
                found.setdefault(judged_by(key[0]) or "", {})[label] = None
    return [
        f"{', '.join(labels)} {'is' if len(labels) == 1 else 'are'} the opinion of the judge {model}, {UNCALIBRATED}"
        for model, labels in found.items()
    ]


def _data(a: Side, b: Side) -> list[tuple[str, str]]:
    """Other data, unless that is in their nature: what testers said, or whatever was run under a version's name.

    Then nothing pairs up, and every output says so. Where items do pair up, they have to be of the same data.
    """
    first, second = ({run.dataset_fingerprint for run in side.runs} for side in (a, b))
    by_name = all(VERSION_OR_SYSTEM.match(side.text) for side in (a, b))
    expected = by_name or all(run.config.get("open_ended") for side in (a, b) for run in side.runs)
    if first == second or (expected and not (a.has & b.has).any()):
        return []
    return [("data", f"{_list(first)} (A) and {_list(second)} (B)")]


def _profiles(a: Side, b: Side) -> list[tuple[str, str]]:
    first, second = ({run.profile for run in side.runs} for side in (a, b))
    return [("profile", f"{_list(first)} (A) and {_list(second)} (B)")] if len(first | second) > 1 else []


def _signatures(a: Side, b: Side, metrics: Iterable[str]) -> list[tuple[str, str]]:
    found = []
    for metric in dict.fromkeys(metrics):
        signs = list(dict.fromkeys([*a.signatures(metric), *b.signatures(metric)]))
        if len(signs) > 1:
            found.append(("way of measuring", f"{metric}: {_apart(signs)}"))
    return found


def _apart(signatures: Sequence[str]) -> str:
    """Only the fields in which signatures differ."""
    fields = [sign.split("|") for sign in signatures]
    common = set(fields[0]).intersection(*fields[1:])
    return " and ".join(", ".join(f for f in one if f not in common) or "(without)" for one in fields)


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
