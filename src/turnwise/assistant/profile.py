"""The profile of an assistant: what is looked for in its replies, as a YAML file that an organisation replaces.

`hr` is the default, `spec` holds the document's patterns. A section that a file lacks stays the one of `hr`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from turnwise.assistant.patterns import Dialect, Patterns, check_patterns
from turnwise.assistant.profile_file import Priorities, ProfileFile, Weights
from turnwise.kernel.errors import InputError, UsageError, near_misses, shorten
from turnwise.kernel.metric import SPEC, TURNWISE
from turnwise.kernel.signature import digest

DEFAULT = "hr"
PROFILES = (TURNWISE, SPEC)
LARGEST = 1_000_000
_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LONGEST_FOUND = 120
_MERGE = "tag:yaml.org,2002:merge"
_ABOUT_COMPOSITES = {"weights", "production_ready"}


class _Loader(_Safe):  # type: ignore[misc]
    """Safe, and strict: a section that stands twice would lose its first half without a word."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.tag == _MERGE or key.value in seen:
                what = "merge keys (<<) are not used here" if key.tag == _MERGE else f"{key.value!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, what, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


@dataclass(frozen=True, slots=True)
class Profile:
    """What is looked for, ready to use. It can be sent to other processes."""

    name: str
    digest: str
    """Of all that the metrics of the replies depend on; weights and bands are not among it."""
    to_the_letter: bool
    """The document's own: texts are looked at as they are, and lengths are counted as JavaScript counts them."""
    latin_only: bool
    citation: Patterns
    actions: Mapping[str, Patterns]
    offers: Mapping[str, Patterns]
    masks: Patterns
    """What is blanked before actions and offers are looked for; names of policies are among it."""
    policy_names: Patterns
    acknowledgements: Patterns
    within_characters: int
    guidance_characters: int
    next_steps: Patterns
    active: Patterns
    questions: Patterns
    guidance: Patterns
    common_words: frozenset[str]
    min_words: int
    max_words: int
    processing_time_ms: float
    allowed: Mapping[str, tuple[str, ...]]
    """By scenario (in lower case), the actions that are appropriate; a scenario that is not here has no list."""
    weights: Weights
    scenario_weights: Mapping[str, Priorities]
    """By scenario (in lower case), what counts otherwise there."""
    production_ready: float

    @property
    def label(self) -> str:
        """Name and digest, for signatures."""
        return f"{self.name}:{self.digest}"


def load_profile(patterns: Path | str | None = None, profile: str = TURNWISE) -> Profile:
    """A profile from a file, or one that comes with turnwise: the document's under `spec`, otherwise that of HR.

    Args:
        patterns: the organisation's file.
        profile: `turnwise` or `spec`.
    """
    if profile not in PROFILES:
        raise UsageError(
            f"unknown profile {profile!r}",
            expected=" or ".join(PROFILES),
            remedy=near_misses(str(profile), PROFILES) or "--patterns names a file of patterns",
        )
    if patterns is not None and profile == SPEC:
        raise InputError(
            "the profile 'spec' has the document's patterns",
            found=f"--patterns {patterns}",
            remedy="leave out --patterns, or --profile spec",
        )
    return built_in(SPEC if profile == SPEC else DEFAULT) if patterns is None else _from_file(Path(patterns))


@cache
def built_in(name: str) -> Profile:
    """A profile that comes with turnwise, read once."""
    where = f"{name}.yaml"
    return _made(_parsed(_content(name), where), name, where, "javascript" if name == SPEC else "turnwise")


def _content(name: str) -> bytes:
    return (resources.files("turnwise.assistant") / "data" / f"{name}.yaml").read_bytes()


def _from_file(path: Path) -> Profile:
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{path} cannot be read", found=what, expected="a YAML file of patterns", remedy="check the path"
        ) from error
    if len(content) > LARGEST:
        raise InputError(
            f"{path} is too large for a file of patterns", found=f"{len(content)} bytes", expected=f"at most {LARGEST}"
        )
    return _made(_parsed(content, str(path)), path.stem, str(path))


def _parsed(content: bytes, where: str) -> dict[str, Any]:
    try:
        data = yaml.load(content, Loader=_Loader)  # noqa: S506 - it is a safe loader
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
        raise InputError(
            "this is not YAML",
            where=f"{where}, line {mark.line + 1}, column {mark.column + 1}" if mark else where,
            found=" ".join(problem.split()),
            expected="YAML, as UTF-8",
            remedy="put patterns in single quotes; docs/assistant.md shows the built-in file",
        ) from error
    if not isinstance(data, dict):
        raise InputError(
            "the file has no sections",
            where=where,
            found=_short(data),
            expected=", ".join(ProfileFile.model_fields),
            remedy="docs/assistant.md shows the built-in file",
        )
    return data


def _made(own: dict[str, Any], name: str, where: str, dialect: Dialect = "turnwise") -> Profile:
    data = _checked({**_default_sections(), **own}, where)
    for section, sources in _pattern_lists(data).items():
        check_patterns(sources, dialect, f"{where}: {section}")
    check_patterns(data.policy_names, "turnwise", f"{where}: policy_names")  # the document has none of its own
    _check_scenarios(data, where)
    to_the_letter = dialect == "javascript"
    policies = [*data.policy_names, *map(_title, data.policy_titles)]
    scenarios = {key.strip().casefold(): one for key, one in data.scenarios.items()}
    about_replies = data.model_dump(exclude=_ABOUT_COMPOSITES)
    about_replies["scenarios"] = {key: one.actions for key, one in scenarios.items() if one.actions is not None}

    def made(sources: list[str]) -> Patterns:
        return Patterns(tuple(sources), dialect)

    return Profile(
        name=name,
        digest=digest(about_replies),
        to_the_letter=to_the_letter,
        latin_only=data.script == "latin",
        citation=made(data.citation),
        actions={key: made(found) for key, found in data.actions.items()},
        offers={key: made(found) for key, found in data.offers.items()},
        masks=made(data.masks if to_the_letter else [*policies, *data.masks]),
        policy_names=Patterns(tuple(policies)),
        acknowledgements=made(data.structure.acknowledgements),
        within_characters=data.structure.within_characters,
        guidance_characters=data.structure.guidance_characters,
        next_steps=made(data.structure.next_steps),
        active=made(data.clarifying.active),
        questions=made(data.clarifying.questions),
        guidance=made(data.clarifying.guidance),
        common_words=frozenset(word.casefold() for word in data.common_words.split()),
        min_words=data.length.min_words,
        max_words=data.length.max_words,
        processing_time_ms=data.processing_time_ms,
        allowed={key: tuple(one.actions) for key, one in scenarios.items() if one.actions is not None},
        weights=data.weights,
        scenario_weights={key: one.weights for key, one in scenarios.items()},
        production_ready=data.production_ready,
    )


def _pattern_lists(data: ProfileFile) -> dict[str, list[str]]:
    """Every list of patterns by its place in the file."""
    structure, clarifying = data.structure, data.clarifying
    return {
        "citation": data.citation,
        **{f"actions > {key}": found for key, found in data.actions.items()},
        **{f"offers > {key}": found for key, found in data.offers.items()},
        "masks": data.masks,
        "structure > acknowledgements": structure.acknowledgements,
        "structure > next_steps": structure.next_steps,
        "clarifying > active": clarifying.active,
        "clarifying > questions": clarifying.questions,
        "clarifying > guidance": clarifying.guidance,
    }


@cache
def _default_sections() -> dict[str, Any]:
    """What a file does not say."""
    return _parsed(_content(DEFAULT), f"{DEFAULT}.yaml")


def _checked(data: dict[str, Any], where: str) -> ProfileFile:
    try:
        return ProfileFile.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = " > ".join(str(part) for part in first["loc"]) or "the whole file"
        known = list(ProfileFile.model_fields)
        unknown = first["type"] == "extra_forbidden"
        raise InputError(
            "the file of patterns does not have the right shape",
            where=f"{where}: {place}",
            found=_short(first["input"]),
            expected=f"one of {', '.join(known)}" if unknown and len(first["loc"]) == 1 else first["msg"],
            remedy=(near_misses(str(first["loc"][-1]), known) if unknown else "")
            or "docs/assistant.md shows the built-in file",
        ) from error


def _short(value: object) -> str:
    """A part of the file as it was found; written out in full, aliases within aliases could fill the memory."""
    brief = reprlib.Repr()
    brief.maxlevel = 3
    return shorten(value) if isinstance(value, str | float | int | None) else brief.repr(value)[:LONGEST_FOUND]


def _check_scenarios(data: ProfileFile, where: str) -> None:
    names: dict[str, str] = {}
    for name, scenario in data.scenarios.items():
        other = names.setdefault(name.strip().casefold(), name)
        if other != name or not name.strip():
            raise InputError(
                "a scenario stands twice" if name.strip() else "a scenario has no name",
                where=f"{where}: scenarios",
                found=f"{other!r} and {name!r}" if name.strip() else repr(name),
                expected="every scenario once, by its name in the turns; case and blanks do not count",
            )
        for action in scenario.actions or ():
            if action not in data.actions:
                raise InputError(
                    f"the scenario {name!r} allows an action that the file does not have",
                    where=f"{where}: scenarios > {name} > actions",
                    found=action,
                    expected=", ".join(data.actions),
                    remedy=near_misses(action, data.actions) or None,
                )


def _title(words: str) -> str:
    """A policy's title as a pattern: its words, however they are set apart."""
    parts = ["".join(c if c.isalnum() else rf"\x{{{ord(c):x}}}" for c in word) for word in words.split()]
    return r"\b" + r"[\s/,-]+".join(parts) + r"\b"
