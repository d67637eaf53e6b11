"""Databases of an application that has the document's tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.assistant.database import SESSIONS, SHORT, TABLES, turn


@pytest.fixture
def own(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the application whose database it is."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def era(own: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """The same, with two turns of one session and one of another."""
    own.execute(TABLES + SESSIONS + turn("abc-123", 1) + turn("abc-123", 2, SHORT) + turn("def-456", 1))
    return own
