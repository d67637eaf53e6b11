"""The judge's config file (`--judge-config`): roles, models, and the rule that nobody judges themselves unasked.

judge: {model: big-model, url: https://host/v1}
system: {model: our-assistant, url: https://host/v1}
models:
  big-model: {timeout_s: 120, price_in: 2.5, price_out: 10}
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnwise.judge.address import endpoint, holds_secret, names_secret, secret_error
from turnwise.judge.settings import JudgeSettings, Tuning
from turnwise.kernel.errors import UsageError, near_misses, shorten

Name = Annotated[str, Field(min_length=1)]
_VARIABLE_NAMES = ("api_key_env", "api_key_header", "max_tokens")


class Role(BaseModel):
    """Who plays a part: a model and where it is."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    model: Name | None = None
    url: Name | None = None


class JudgeRole(Role):
    """The judge's part."""

    api_key_env: Name | None = None
    allow_self_judging: bool = False


class Config(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    judge: JudgeRole = JudgeRole()
    system: Role = Role()
    models: dict[str, Tuning] = Field(default_factory=dict)


_SECTIONS: dict[str, type[BaseModel]] = {"judge": JudgeRole, "system": Role}


def read_config(path: Path, *, url: str | None = None, model: str | None = None) -> JudgeSettings:
    """The judge of a config file; an address and a model that are given go before those of the file."""
    config = _parsed(path)
    name = model or config.judge.model
    if not name:
        raise UsageError("the judge has no model", where=str(path), remedy="judge: {model: NAME}, or --judge-model")
    tuning = config.models.get(name, Tuning())
    given = tuning.model_dump(exclude_unset=True)
    # A model with an address of its own is found there, unless the judge's role or the command line says otherwise.
    address = url or (config.judge.url if name == config.judge.model or "url" not in given else None)
    changes: dict[str, Any] = {"model": name, **({"url": address} if address else {})}
    if config.judge.api_key_env and "api_key_env" not in given:
        changes["api_key_env"] = config.judge.api_key_env
    found = JudgeSettings(**{**given, **changes})
    _refuse_self_judging(found, config, path)
    return found


def _refuse_self_judging(judge: JudgeSettings, config: Config, path: Path) -> None:
    system = config.system
    if config.judge.allow_self_judging or system.model is None or system.model != judge.model:
        return
    elsewhere = system.url and judge.url and endpoint(system.url, f"{path}: system.url") != endpoint(judge.url)
    if not elsewhere:
        raise UsageError(
            "the judge is the system under test",
            where=str(path),
            found=f"{judge.model} in both roles, at the same address",
            expected="another model: one that judges itself is kind to itself",
            remedy="choose another judge, or set allow_self_judging: true under judge",
        )


def _parsed(path: Path) -> Config:
    content = _content(path)
    _refuse_secrets(content, path)
    _refuse_unknown(content, path)
    _check_addresses(content, path)
    try:
        config = Config.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{field}: {message}", where=str(path), found=_found(content, first["loc"])) from None
    return config


def _content(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError("the judge's config file is not there", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("the judge's config file cannot be read", where=str(path), found=str(error)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        found = getattr(error, "problem", None) or "text that is no YAML"
        raise UsageError("the judge's config file is no YAML", where=where, found=found) from None
    if not isinstance(content, dict):
        expected = "sections judge, system and models"
        raise UsageError("the judge's config file has no sections", where=str(path), expected=expected)
    return {str(name): {} if section is None else section for name, section in content.items()}


def _refuse_secrets(content: object, path: Path, field: str = "") -> None:
    """A key in a file is a key in a repository."""
    if isinstance(content, dict):
        for name, value in content.items():
            inner = f"{field}.{name}" if field else str(name)
            secret = names_secret(str(name)) and name not in _VARIABLE_NAMES and isinstance(value, str)
            if secret and "$" not in str(value) and not field.endswith("models"):
                raise secret_error(f"{inner} is a key in a config file", str(path))
            _refuse_secrets(value, path, inner)
    elif isinstance(content, list):
        for value in content:
            _refuse_secrets(value, path, field)
    elif isinstance(content, str) and holds_secret(content):
        raise secret_error(f"{field} looks like a key in a config file", str(path))


def _refuse_unknown(content: dict[str, Any], path: Path) -> None:
    _known("", content, Config, path)
    for name, model in _SECTIONS.items():
        _known(name, content.get(name, {}), model, path)
    models = content.get("models", {})
    if not isinstance(models, dict):
        raise UsageError("models is no section", where=str(path), found=shorten(models), expected="name: settings")
    for name, section in models.items():
        _known(f"models.{name}", section or {}, Tuning, path)


def _check_addresses(content: dict[str, Any], path: Path) -> None:
    sections = {name: content.get(name, {}) for name in _SECTIONS}
    sections |= {f"models.{name}": section for name, section in content.get("models", {}).items()}
    for name, section in sections.items():
        if section and isinstance(section.get("url"), str):
            endpoint(section["url"], f"{path}: {name}.url")


def _known(section: str, content: object, model: type[BaseModel], path: Path) -> None:
    if not isinstance(content, dict):
        raise UsageError(f"{section} is no section", where=str(path), found=shorten(content), expected="name: value")
    for name in map(str, content):
        if name not in model.model_fields:
            about = f"{section} has no setting {name}" if section else f"the judge's config has no section {name}"
            remedy = near_misses(name, model.model_fields) or _belongs(name)
            raise UsageError(about, where=str(path), expected=", ".join(model.model_fields), remedy=remedy)


def _belongs(name: str) -> str | None:
    """Where a setting that stands in the wrong section should be."""
    homes = {
        **dict.fromkeys(Tuning.model_fields, "models: {MODEL: ...}"),
        **dict.fromkeys(JudgeRole.model_fields, "judge:"),
    }
    return f"{name} belongs under {homes[name]}" if name in homes else None


def _found(content: object, place: tuple[int | str, ...]) -> str | None:
    for part in place:
        if not isinstance(content, dict) or part not in content:
            return None
        content = content[part]
    return shorten(content)
