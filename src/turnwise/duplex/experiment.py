"""An experiment of the challenge as files: `{language}/{category}/`, with averages and with what lies under them.

What is wrong is collected and said at once: twenty folders are mended in one go, not in twenty.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from turnwise.duplex.categories import CATEGORIES, LANGUAGES, Category, category_named, language_named
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import JSONDecodeError, loads

ALL, TAGS, INTERVALS, DELAYS, REJECTS = (
    "_all.json",
    "_content_tags.jsonl",
    "_latency_results.json",
    "_ftd.json",
    "reject_rate.json",
)
"""How the names of the files end."""


MOST = 10**12
"""No experiment has more of anything."""
T = TypeVar("T")


class Unusable(Exception):
    """Something about one file, to be said with the others."""


@dataclass
class Experiment:
    """The folders of an experiment, and what was read from them."""

    root: Path
    folders: dict[tuple[str, Category], Path] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)
    """What is wrong, by the place under the root."""
    findings: list[Finding] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)
    """Every file that was read, with a digest of its content."""

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            found = "a file" if self.root.exists() else "nothing there"
            raise InputError(
                "no folder of scores",
                where=str(self.root),
                found=found,
                expected="a folder with cn/ and en/, as in exp/EXP/score",
            )
        self._find()
        if not self.folders:
            raise InputError(
                "no category is found",
                where=str(self.root),
                found=", ".join(sorted(path.name for path in self.root.iterdir())[:10]) or "an empty folder",
                expected="cn/ and en/ with the folders of the ten categories",
                remedy="name the folder that holds cn/ and en/",
            )
        for language, category in places():
            if (language, category) not in self.folders:
                self.troubles[place(language, category)] = "no such folder"

    def _find(self) -> None:
        strange: list[str] = []
        for folder in sorted(path for path in self.root.iterdir() if path.is_dir()):
            language = language_named(folder.name)
            if language is None:
                strange.append(folder.name)
                continue
            for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
                category = category_named(inner.name)
                if category is None:
                    strange.append(f"{folder.name}/{inner.name}")
                elif (language, category) in self.folders:
                    raise InputError(
                        f"two folders are {category.name} in {language}",
                        where=str(self.root),
                        found=f"{self.folders[language, category].name} and {inner.name}",
                        remedy="take one of them away",
                    )
                else:
                    self.folders[language, category] = inner
        if strange:
            said = ", ".join(strange[:5]) + (", ..." if len(strange) > 5 else "")
            self.findings.append(
                Finding("unknown folder", f"not a category or language, not read: {said}", len(strange))
            )

    def read(
        self, language: str, category: Category, ending: str, reader: Callable[[bytes], T], *, needed: bool = True
    ) -> T | None:
        """One file of a folder through its reader; None where it cannot be used, and the trouble is noted."""
        folder = self.folders.get((language, category))
        if folder is None:
            return None
        where = f"{place(language, category)}/{category.name if ending.startswith('_') else ''}{ending}"
        try:
            content = _only(folder, ending, category).read_bytes()
            self.marks[where] = hashlib.sha256(content).hexdigest()
            return reader(content)
        except Unusable as error:
            trouble = str(error)
        except JSONDecodeError as error:
            trouble = f"no JSON: {error}"
        except OSError as error:
            trouble = error.strerror or str(error)
        if needed:
            self.troubles.setdefault(where, trouble)
        else:
            self.findings.append(Finding("stored value", f"{where} is not compared: {trouble}"))
        return None

    def has(self, language: str, category: Category, ending: str) -> bool:
        """Whether a folder has a file of that ending."""
        folder = self.folders.get((language, category))
        return folder is not None and any(folder.glob(f"*{ending}"))

    def check(self, *, allow_missing: bool) -> None:
        """Refuse an experiment that is not whole, unless told to score the rest."""
        if not self.troubles:
            return
        listed = [f"{where}: {trouble}" for where, trouble in self.troubles.items()]
        if not allow_missing:
            raise InputError(
                f"the experiment is not whole: {len(listed)} of its files cannot be used",
                where=str(self.root),
                found="\n         ".join(listed),
                expected=f"all of {len(CATEGORIES)} categories in {' and '.join(LANGUAGES)}",
                remedy="mend or add them, or score the rest with --allow-missing",
            )
        self.findings += [Finding("missing file", f"left out: {line}") for line in listed]


def places() -> Iterator[tuple[str, Category]]:
    """Every language and category, in the order of the document."""
    yield from ((language, category) for language in LANGUAGES for category in CATEGORIES)


def place(language: str, category: Category) -> str:
    """How a folder is named in messages and ids."""
    return f"{language}/{category.name}"


def _only(folder: Path, ending: str, category: Category) -> Path:
    found = sorted(path for path in folder.iterdir() if path.name.endswith(ending) and path.is_file())
    if len(found) > 1:
        named = [path for path in found if category_named(path.name.removesuffix(ending)) is category]
        found = named if len(named) == 1 else found
    if len(found) > 1:
        raise Unusable(f"several files, {', '.join(path.name for path in found)}; expected one")
    if not found:
        raise Unusable("no such file")
    return found[0]


# Readers of single files


def read_object(content: bytes) -> dict[str, Any]:
    """A JSON object."""
    value = loads(content.removeprefix(b"\xef\xbb\xbf"))
    if not isinstance(value, dict):
        raise Unusable(f"a JSON {type(value).__name__}; expected an object")
    return value


def number(holder: dict[str, Any], name: str, most: float | None = None) -> float:
    """A field that has to be a number from 0 on."""
    if name not in holder:
        raise Unusable(f"no field {name}; found {', '.join(map(str, holder)) or 'none'}")
    value = holder[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise Unusable(f"{name} is {value!r}; expected a number")
    if value < 0 or (most is not None and value > most):
        raise Unusable(f"{name} is {value!r}; expected " + ("0 or more" if most is None else f"0 to {most:g}"))
    return float(value)


def count(holder: dict[str, Any], name: str) -> int:
    """A field that has to be a whole number from 0 on."""
    value = number(holder, name)
    if value != int(value) or value > MOST:
        raise Unusable(f"{name} is {value!r}; expected a whole number up to {MOST:,}")
    return int(value)
