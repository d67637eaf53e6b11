"""The rules of a gate, read from YAML or given as dictionaries, and checked before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from turnwise.kernel.errors import InputError, UsageError, near_misses, shorten

SHAPE = "rules: [{metric: joint_goal_accuracy, min: 0.5}, {metric: system_latency_ms, rollup: p95, max_rise: 50}]"
MIN, MAX, MAX_DROP, MAX_RISE, MIN_COVERAGE = "min", "max", "max_drop", "max_rise", "min_coverage"
CRITERIA = (MIN, MAX, MAX_DROP, MAX_RISE, MIN_COVERAGE)
RELATIVE = (MAX_DROP, MAX_RISE)
KEYS = ("metric", "output", "rollup", "group", "name", *CRITERIA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one metric has to meet; every limit that is given counts."""

    metric: str
    output: str | None = None
    rollup: str | None = None
    group: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, float]
    """By criterion."""
    given: str = ""
    """A name of its own."""
    where: str = ""
    """File and line, for messages."""

    @property
    def name(self) -> str:
        """The rule in one line, the same every time."""
        if self.given:
            return self.given
        metric = self.metric if self.output in (None, "value") else f"{self.metric}.{self.output}"
        rollup = f" ({self.rollup})" if self.rollup else ""
        group = f" where {', '.join(f'{k}={v}' for k, v in self.group.items())}" if self.group else ""
        return f"{metric}{rollup}{group}: {', '.join(f'{k} {v:g}' for k, v in self.limits.items())}"

    @property
    def is_relative(self) -> bool:
        """Whether it takes a baseline."""
        return any(name in self.limits for name in RELATIVE)


def read_rules(file: Path) -> list[Rule]:
    """The rules of a YAML file."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{file} cannot be read", found=error.strerror or str(error), remedy="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text", found=str(error)) from error
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        top = _mapping(loader, root, str(file))
        unknown = [name for name in top if name != "rules"]
        if unknown or not isinstance(root, MappingNode):
            raise _unknown(unknown[0], ["rules"], _at(file, top[unknown[0]]))
        return _rules(loader, top.get("rules"), file)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file} is not YAML", found=" ".join(str(error).split()), expected=SHAPE) from error
    finally:
        loader.dispose()


def make_rules(given: Mapping[str, Any] | Sequence[Mapping[str, Any]], where: str = "rules") -> list[Rule]:
    """Rules that were given in Python: one, or a list of them."""
    several = [given] if isinstance(given, Mapping) else list(given)
    if not several:
        raise UsageError("there is no rule", where=where, expected=SHAPE)
    for number, one in enumerate(several):
        if not isinstance(one, Mapping):
            what = "a rule is a mapping of keys and values"
            raise UsageError(what, where=f"{where}[{number}]", found=shorten(one), expected=SHAPE)
    return [_rule(dict(one), f"{where}[{number}]", {}) for number, one in enumerate(several)]


def _rules(loader: yaml.SafeLoader, node: Node | None, file: Path) -> list[Rule]:
    if not isinstance(node, SequenceNode) or not node.value:
        where = str(file) if node is None else _at(file, node)
        raise InputError("a file of rules needs a list of rules", where=where, expected=SHAPE)
    found = []
    for number, one in enumerate(node.value):
        fields = _mapping(loader, one, _at(file, one))
        lines = {name: f"{_at(file, value)}, rules[{number}].{name}" for name, value in fields.items()}
        values = {name: loader.construct_object(value, deep=True) for name, value in fields.items()}
        found.append(_rule(values, f"{_at(file, one)}, rules[{number}]", lines))
    return found


def _mapping(loader: yaml.SafeLoader, node: Node | None, where: str) -> dict[str, Node]:
    """The keys of a mapping with their values; a key that is given twice is refused."""
    if not isinstance(node, MappingNode):
        found = "nothing" if node is None else shorten(loader.construct_object(node, deep=True))
        raise InputError("this is not a mapping of keys and values", where=where, found=found, expected=SHAPE)
    fields: dict[str, Node] = {}
    for key, value in node.value:
        name = str(loader.construct_object(key, deep=True))
        if name in fields:
            raise InputError(f"{name!r} is given twice", where=where, remedy="keep one of them")
        fields[name] = value
    return fields


def _rule(values: dict[str, Any], where: str, lines: Mapping[str, str]) -> Rule:
    for name in values:
        if name not in KEYS:
            raise _unknown(str(name), KEYS, lines.get(name, where))
    metric = _text(values, "metric", where, lines)
    if metric is None:
        raise UsageError("a rule needs a metric", where=where, expected="metric: joint_goal_accuracy")
    limits = {name: _limit(values[name], name, lines.get(name, where)) for name in CRITERIA if name in values}
    if not limits:
        raise UsageError(
            f"the rule for {metric} asks for nothing", where=where, expected=f"one of {', '.join(CRITERIA)}"
        )
    if MIN in limits and MAX in limits and limits[MIN] > limits[MAX]:
        raise UsageError(
            f"nothing can meet the rule for {metric}", where=where, found=f"min {limits[MIN]:g}, max {limits[MAX]:g}"
        )
    name, _, output = metric.partition(".")
    chosen = _text(values, "output", where, lines)
    if output and chosen is not None:
        raise UsageError(
            f"the rule for {name} names its output twice", where=where, found=f"{metric}, output: {chosen}"
        )
    return Rule(
        metric=name,
        output=chosen or output or None,
        rollup=_text(values, "rollup", where, lines),
        group=_group(values.get("group"), lines.get("group", where)),
        limits=limits,
        given=_text(values, "name", where, lines) or "",
        where=where,
    )


def _text(values: Mapping[str, Any], name: str, where: str, lines: Mapping[str, str]) -> str | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name} is not a name", where=lines.get(name, where), found=shorten(value), expected="text")
    return value.strip()


def _limit(value: Any, name: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise UsageError(
            f"{name} is not a number",
            where=where,
            found=shorten(value),
            expected="a number such as 0.85",
            remedy=_without_quotes(value),
        )
    if name in RELATIVE and value < 0:
        raise UsageError(f"{name} is a margin", where=where, found=f"{value:g}", expected="0 or more")
    if name == MIN_COVERAGE and not 0 <= value <= 1:
        raise UsageError(f"{name} is a share", where=where, found=f"{value:g}", expected="0 to 1")
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond what a float holds
        return False


def _without_quotes(value: Any) -> str | None:
    """How a number is written that YAML reads as text."""
    try:
        number = float(value) if isinstance(value, str) else float("nan")
    except ValueError:
        return None
    return f"write it without quotes, and a power of ten with a point: {number}" if isfinite(number) else None


def _group(value: Any, where: str) -> dict[str, str]:
    if value is None:
        return {}
    fits = isinstance(value, Mapping) and all(isinstance(one, str | int | float) for one in value.values())
    if not fits:
        what = "group is not a mapping of dimensions to values"
        raise UsageError(what, where=where, found=shorten(value), expected="group: {language: xhosa}")
    return {str(name): str(one) for name, one in value.items()}


def _unknown(name: str, known: Sequence[str], where: str) -> UsageError:
    return UsageError(
        f"a rule has no {name!r}" if "metric" in known else f"a file of rules has no {name!r}",
        where=where,
        expected=", ".join(known),
        remedy=near_misses(name, known) or None,
    )


def _at(file: Path, node: Node) -> str:
    return f"{file}, line {node.start_mark.line + 1}"
