"""`turnwise doctor`: what is installed, what each missing extra and model would enable, is the database reachable."""

from __future__ import annotations

import sys
from typing import Any

from turnwise import __version__
from turnwise.cli import options as o
from turnwise.cli.models import known_models

ENABLES = {
    "postgres": "runs in PostgreSQL: --db postgresql://...",
    "parquet": "turnwise export --format parquet",
    "audio": "reading audio, voice activity, dynamic time warping",
    "asr": "English speech recognition",
    "mos": "DNSMOS: how clean speech sounds",
    "neural": "COMET and BLASER",
    "cluster": "running on a Dask cluster",
    "report": "pictures in reports",
    "live": "turnwise drive and simulate: calling a live voice system, and being one",
    "interpreting": "the language of a translation",
    "dspy": "optimising prompts with DSPy",
    "embeddings": "citations compared by meaning, with a model: docs/metrics/assistant/citation_accuracy.md",
}


def doctor(db: o.Db = None, json: o.Json = False) -> None:
    """Say what works here and what is missing.

    Example: turnwise doctor --db postgresql://localhost/turnwise
    """
    from turnwise.cli.console import print_json

    found: dict[str, Any] = {
        "turnwise": __version__,
        "python": sys.version.split()[0],
        "packages": {name: _version(name) for name in _requirements(None)},
        "extras": [_extra(name, what) for name, what in ENABLES.items()],
        "models": known_models(),
        "database": _database(db),
    }
    if json:
        print_json(found)
    else:
        _print(found)
    if not found["database"]["reachable"]:
        raise SystemExit(1)


def _requirements(extra: str | None) -> list[str]:
    """Names of the packages turnwise (or one of its extras) needs."""
    from importlib.metadata import requires

    names = []
    for line in requires("turnwise") or ():
        requirement, _, marker = line.partition(";")
        wanted = "extra" not in marker if extra is None else f"'{extra}'" in marker.replace('"', "'")
        if wanted:
            names.append(requirement.split("[")[0].split(">")[0].split("=")[0].split("<")[0].split("!")[0].strip())
    return names


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _extra(name: str, enables: str) -> dict[str, Any]:
    missing = [package for package in _requirements(name) if _version(package) is None]
    return {"name": name, "enables": enables, "installed": not missing, "missing": missing}


def _database(db: str | None) -> dict[str, Any]:
    """Whether the database answers; a file that is not there yet is not made for the asking."""
    from pathlib import Path

    from turnwise.kernel.errors import TurnwiseError
    from turnwise.store.connect import clear_errors, connect, current_version, database_url, describe

    try:
        url = database_url(db)
        if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).exists():
            return {"place": describe(url), "reachable": True, "schema": None, "note": "made at the first run"}
        engine = connect(db, check=False)
        try:
            with clear_errors(url):
                return {"place": describe(url), "reachable": True, "schema": current_version(engine), "note": None}
        finally:
            engine.dispose()
    except TurnwiseError as error:
        note = ": ".join(part for part in (error.what, error.found) if part)
        place = error.where or (db or "").split("@")[-1]
        return {"place": place, "reachable": False, "schema": None, "note": note}


def _print(found: dict[str, Any]) -> None:
    print(f"turnwise {found['turnwise']} on Python {found['python']}")
    print("core: " + ", ".join(f"{name} {v or 'MISSING'}" for name, v in found["packages"].items()))
    for extra in found["extras"]:
        if extra["installed"]:
            print(f"extra {extra['name']}: installed ({extra['enables']})")
        else:
            needs = ", ".join(extra["missing"])
            print(f"extra {extra['name']}: missing {needs}; would enable {extra['enables']}")
            print(f'  pip install "turnwise[{extra["name"]}]"')
    _print_models(found["models"])
    database = found["database"]
    state = "reachable" if database["reachable"] else "NOT reachable"
    details = [f"schema {database['schema']}" if database["schema"] else "", database["note"] or ""]
    print(f"database {database['place']}: {state} {' '.join(d for d in details if d)}".rstrip())


def _print_models(models: list[dict[str, Any]]) -> None:
    for model in models:
        if model["path"]:
            print(f"model {model['name']}: {model['path']} ({model['purpose']})")
    if missing := [model for model in models if not model["path"]]:
        print("models that are not here, got by `turnwise models fetch NAME`:")
        for model in missing:
            print(f"  {model['name']}: {model['size_mb']} MB, {model['licence']}; {model['purpose']}")
