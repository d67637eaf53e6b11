"""Packages that come with an extra: imported when they are used, with the remedy where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from turnwise.kernel.errors import TurnwiseError


def remedy(extra: str) -> str:
    """How an extra is installed."""
    return f'pip install "turnwise[{extra}]"'


def import_extra(package: str, extra: str, purpose: str) -> Any:
    """A package of an extra, imported now; `purpose` is what needs it."""
    try:
        return import_module(package)
    except (ImportError, OSError) as error:  # OSError: the package is there, its library is not
        raise TurnwiseError(
            f"{purpose} needs {package}, which is not installed",
            found=f"{type(error).__name__}: {error}",
            remedy=remedy(extra),
        ) from error
    except Exception as error:  # whatever its own modules raise
        raise TurnwiseError(
            f"{purpose} needs {package}, which cannot be imported",
            found=f"{type(error).__name__}: {error}",
            remedy=f"look after its configuration files, or install it anew: {remedy(extra)}",
        ) from error
