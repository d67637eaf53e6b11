"""YAML as nodes that know their lines: nothing is guessed from how a value looks.

`no` is text, `010` is text, and each field is read as what it has to be (`scenario_fields`). Anchors, aliases and merge
keys work; tags, keys that are given twice, documents after the first and aliases that never end are refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from turnwise.kernel.errors import InputError, shorten
from turnwise.live.scenario_problems import Problem, ScenarioError

LARGEST_FILE = 4 << 20
"""Bytes. A scenario takes a few thousand."""
MOST_NODES = 200_000
"""Values of a file with every alias written out."""

_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")}
_MERGE = "<<"


class Problems:
    """What is wrong with one file, so far, and where its fields are."""

    def __init__(self, file: Path) -> None:
        self.file = str(file)
        self.found: dict[Problem, None] = {}
        """In the order in which they were seen; the same twice, by an alias, is one."""
        self.lines: dict[str, int] = {}
        """By field."""

    def add(
        self,
        line: int,
        field: str,
        what: str,
        *,
        found: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        """One more."""
        self.found[Problem(self.file, line, field, what, found, expected, remedy)] = None


def read_tree(file: Path, problems: Problems) -> Node | None:
    """The one document of a file; None if there is none, or no sense can be made of it."""
    text = _read_text(file, problems)
    if text is None:
        return None
    try:
        root = _compose(text, problems)
        if root is not None:
            _check_tree(root, problems)
    except yaml.YAMLError as error:
        _not_yaml(error, text, problems)
    except ScenarioError as error:
        problems.found |= dict.fromkeys(error.problems)
    except (ValueError, OverflowError) as error:  # numbers of escapes and directives that Python does not have
        problems.add(1, "", "this is not YAML", found=shorten(str(error)))
    except RecursionError:
        problems.add(1, "", "this is nested too deeply", expected="a scenario: id, participants, turns")
    else:
        return root
    return None


def line_of(node: Node) -> int:
    """Where a node begins, from 1."""
    return int(node.start_mark.line) + 1


def is_null(node: Node) -> bool:
    """Whether nothing is there: no value, `~` or `null`, without quotes."""
    return isinstance(node, ScalarNode) and not node.style and node.value in ("", "~", "null")


def described(node: Node) -> str:
    """What was found, in a few words."""
    if isinstance(node, SequenceNode):
        return f"a list of {len(node.value)}"
    if isinstance(node, MappingNode):
        names = [key.value for key, _ in node.value if isinstance(key, ScalarNode)]
        return shorten(f"a mapping of {', '.join(names)}", 100).strip("'\"") if names else "an empty mapping"
    if is_null(node):
        return "nothing"
    return f"{shorten(node.value)}, in quotes" if getattr(node, "style", None) in ("'", '"') else shorten(node.value)


def members(node: MappingNode) -> dict[str, tuple[Node, Node]]:
    """Keys and values by the text of the key, with what is merged in; the first of several equal keys counts."""
    own: dict[str, tuple[Node, Node]] = {}
    merged: dict[str, tuple[Node, Node]] = {}
    for key, value in node.value:
        if _is_merge(key):
            for other in value.value if isinstance(value, SequenceNode) else [value]:
                if isinstance(other, MappingNode):
                    merged = {**members(other), **merged}
        elif isinstance(key, ScalarNode):
            own.setdefault(key.value, (key, value))
    return {**merged, **own}


def as_json(node: Node) -> Any:
    """A value of no known meaning, ready for JSON: true, false, null and plain numbers; all else is text."""
    if isinstance(node, SequenceNode):
        return [as_json(item) for item in node.value]
    if isinstance(node, MappingNode):
        return {name: as_json(value) for name, (_, value) in members(node).items()}
    if is_null(node):
        return None
    if getattr(node, "style", None):
        return node.value
    if node.value in ("true", "false"):
        return node.value == "true"
    return _number(node.value)


def _number(text: str) -> int | float | str:
    """`-12`, `0.5`; what begins with a needless 0, has an exponent or more digits than a double is text."""
    whole, point, decimals = text.removeprefix("-").partition(".")
    digits = whole + decimals
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 15 and whole):
        return text
    if (len(whole) > 1 and whole[0] == "0") or (point and not decimals):
        return text
    return float(text) if point else int(text)


# A file


def _read_text(file: Path, problems: Problems) -> str | None:
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with NUL in it
        found = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{file} cannot be read", found=found, remedy="check the path") from error
    if len(data) > LARGEST_FILE:
        what = f"a scenario file has at most {LARGEST_FILE >> 20} MB"
        problems.add(1, "", what, remedy="recordings stay in files of their own")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found = f"byte 0x{data[error.start]:02x}" + (
            ", a file in UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        )
        problems.add(line, "", "this is not UTF-8 text", found=found, remedy="save the file as UTF-8")
        return None


def _compose(text: str, problems: Problems) -> Node | None:
    # The loader in Python: the one in C has no limit to how deep it goes, and ends the process.
    loader = yaml.BaseLoader(text)
    try:
        root: Node | None = loader.get_node() if loader.check_node() else None
        if root is None or is_null(root):
            problems.add(1, "", "the file is empty", expected="a scenario: id, participants, turns")
            return None
        if loader.check_node():
            second = loader.get_node() or root
            what = "a second document begins here"
            problems.add(line_of(second), "", what, expected="one scenario per file", remedy="give it its own file")
        return root
    finally:
        loader.dispose()


def _not_yaml(error: yaml.YAMLError, text: str, problems: Problems) -> None:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = " ".join(str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).split())
    if mark is not None:
        line, column = mark.line + 1, mark.column + 1
    else:
        before = text[: getattr(error, "position", 0)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    lines = text.split("\n")
    shown = lines[line - 1] if line <= len(lines) else ""
    indent = shown[: len(shown) - len(shown.lstrip())]
    remedy = "indent with spaces: the line begins with a tab" if "\t" in indent else None
    if remedy is None and "mapping values are not allowed" in said:
        remedy = "put text that has a colon in it in quotes"
    found = f"{said}, at column {column} of {shorten(shown)}" if shown.strip() else said
    problems.add(line, "", "this is not YAML", found=found, remedy=remedy)


# The tree


def _check_tree(root: Node, problems: Problems) -> None:
    """Look at every node once; a tree that is too large, or has no end, is given up."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def give_up(node: Node, path: str, what: str) -> ScenarioError:
        return ScenarioError([Problem(problems.file, line_of(node), path, what)])

    def size(node: Node, path: str) -> int:
        if id(node) in open_nodes:
            raise give_up(node, path, "an alias is inside of what it stands for")
        if id(node) in sizes:
            return sizes[id(node)]
        open_nodes.add(id(node))
        if node.tag not in _PLAIN_TAGS:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            problems.add(line_of(node), path, "tags have no meaning in a scenario", found=tag, remedy="leave it out")
        total = 1
        if isinstance(node, MappingNode):
            _check_keys(node, path, problems)
            for key, value in node.value:
                inner = f"{path}.{key.value}".lstrip(".") if isinstance(key, ScalarNode) else path
                total += size(key, inner) + size(value, inner)
        elif isinstance(node, SequenceNode):
            total += sum(size(item, f"{path}[{place}]") for place, item in enumerate(node.value))
        else:
            _check_scalar(node, path, problems)
        if total > MOST_NODES:
            raise give_up(node, path, f"with its aliases written out this has more than {MOST_NODES} values")
        open_nodes.discard(id(node))
        sizes[id(node)] = total
        return total

    size(root, "")


def _is_merge(key: Node) -> bool:
    return isinstance(key, ScalarNode) and key.value == _MERGE and not key.style


def _check_keys(node: MappingNode, path: str, problems: Problems) -> None:
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = line_of(key)
        if not isinstance(key, ScalarNode):
            problems.add(line, path, "a key has to be text", found=described(key))
            continue
        inner = f"{path}.{key.value}".lstrip(".")
        if key.value in seen:
            what = f"{key.value} is given twice"
            problems.add(line, inner, what, found=f"line {seen[key.value]} has it, too", remedy="keep one of them")
        seen.setdefault(key.value, line)
        if _is_merge(key):
            others = value.value if isinstance(value, SequenceNode) else [value]
            for other in others:
                if not isinstance(other, MappingNode):
                    found = described(other)
                    problems.add(line_of(other), inner, "<< merges mappings", found=found, expected="an alias of one")


def _check_scalar(node: Node, path: str, problems: Problems) -> None:
    text = node.value
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        what = "a text has a character that no file and no program takes"
        problems.add(line_of(node), path, what, found=shorten(text), expected="no NUL, no half of a surrogate pair")
