"""What a difference means, as a word and as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from turnwise.kernel.metric import Direction
from turnwise.stats.difference import Difference
from turnwise.stats.power import ALPHA, Needed


class Verdict(StrEnum):
    """What can be said about B."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    """Where neither way is better."""
    LOWER = "lower"
    SAME = "same"
    """On every item."""
    NOT_SHOWN = "no difference shown"
    UNKNOWN = "cannot be judged"


_SURE = {Verdict.BETTER, Verdict.WORSE, Verdict.HIGHER, Verdict.LOWER}


def judge(found: Difference, p: float | None, direction: Direction) -> Verdict:
    """The verdict by the p-value that the other tests are paid for in."""
    if found.difference is None or p is None:
        return Verdict.UNKNOWN
    if found.difference == 0.0 and found.test.p == 1.0 and found.interval.low == found.interval.high == 0.0:
        return Verdict.SAME
    if p > ALPHA or found.difference == 0.0:
        return Verdict.NOT_SHOWN
    up = found.difference > 0
    if direction is Direction.NEITHER:
        return Verdict.HIGHER if up else Verdict.LOWER
    return Verdict.BETTER if up == (direction is Direction.HIGHER) else Verdict.WORSE


def sentence(verdict: Verdict, found: Difference, p: float | None, needed: Needed, cluster: str, tests: int) -> str:
    """The verdict as a sentence, with what it would take where nothing was shown."""
    match verdict:
        case Verdict.UNKNOWN:
            why = found.test.method if found.difference is not None else found.interval.method
            return f"cannot be judged: {why.removeprefix('none: ')}"
        case Verdict.SAME:
            return "A and B are the same"
        case Verdict.NOT_SHOWN:
            return f"no difference shown ({_what_it_takes(found, p, needed, cluster, tests)})"
    return f"B is {verdict.value}"


def _what_it_takes(found: Difference, p: float | None, needed: Needed, cluster: str, tests: int) -> str:
    smallest, alone = found.test.smallest, found.test.p
    if alone is not None and p is not None and alone <= ALPHA < p:
        return f"p = {alone:.2g} would do alone, but {tests} were tested"
    if needed.more_clusters is None:
        more = needed.reason or "nothing says what it would take"
    elif needed.more_clusters == 0:
        more = ""
    else:
        more = f"it would take about {plural(rounded(needed.more_clusters), cluster, 'more ')}"
    few = smallest is not None and smallest > ALPHA
    limit = f"too few {cluster}s differ for a p below {smallest:.2g}" if few else ""
    return "; ".join(filter(None, (limit, more))) or "p is not below 0.05"


def rounded(number: int) -> int:
    """Two digits that count: the number is an order of magnitude."""
    step = int(10 ** max(0, len(str(number)) - 2))
    return max(1, round(number / step) * step)


def plural(number: int, word: str, before: str = "") -> str:
    """`1 dialogue`, `12 more dialogues`."""
    return f"{number:,} {before}{word}{'' if number == 1 else 's'}"


def overall(labels: Sequence[tuple[str, Verdict]]) -> str:
    """One line for all metrics."""
    if not labels:
        return "Nothing was compared."
    parts = []
    for verdict, words in (
        (Verdict.BETTER, "B is better in {}"),
        (Verdict.WORSE, "B is worse in {}"),
        (Verdict.HIGHER, "B is higher in {}"),
        (Verdict.LOWER, "B is lower in {}"),
    ):
        names = [label for label, one in labels if one is verdict]
        if names:
            parts.append(f"{words.format(len(names))} ({', '.join(names)})")
    same, open_, unknown = (
        sum(one is verdict for _, one in labels) for verdict in (Verdict.SAME, Verdict.NOT_SHOWN, Verdict.UNKNOWN)
    )
    if same == len(labels):
        return f"A and B are the same ({plural(same, 'result')})."
    parts += [f"no difference shown in {open_}"] if open_ else []
    parts += [f"the same in {same}"] if same else []
    parts += [f"{unknown} cannot be judged"] if unknown else []
    text = "; ".join(parts)
    return f"Of {len(labels)}: {text}."


def is_sure(verdict: Verdict) -> bool:
    """Whether a difference was shown."""
    return verdict in _SURE
