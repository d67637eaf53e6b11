"""The pages of a comparison and of a trend in a real browser: nothing goes wrong, nothing scrolls sideways."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.comparison.conftest import Versions

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if chromium is None or sync_playwright is None:
        reason = "a browser test needs chromium (apt install chromium) and playwright (requirements/test.txt)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def pages(cli: Cli, versions: Versions, tmp_path: Path) -> list[Path]:
    comparison, trend = tmp_path / "compare.html", tmp_path / "trend.html"
    cli("compare", versions.a, versions.b, "--db", versions.db, "--by", "domain", "--html", comparison)
    cli("trend", "--metric", "joint_goal_accuracy", "--db", versions.db, "--html", trend)
    return [comparison, trend]


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_open_without_trouble(browser: Any, pages: list[Path], width: int, scheme: str) -> None:
    for path in pages:
        assert seen(browser, path, width, scheme) == []


def seen(browser: Any, path: Path, width: int, scheme: str) -> list[str]:
    """What goes wrong when a page is opened: errors, requests, a page that is wider than the screen."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.extend([request.url] if not request.url.startswith("file:") else []))
    page.goto(path.as_uri())
    wide = page.evaluate("document.scrollingElement.scrollWidth")
    context.close()
    return troubles + ([f"{wide} wide"] if wide > width else [])


def test_bars_lie_on_the_side_of_who_is_better(browser: Any, pages: list[Path]) -> None:
    """Latency got worse, slots got better: left and right of the line."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(pages[0].as_uri())
    script = """name => { const row = [...document.querySelectorAll('#metrics tbody tr')]
        .find(r => r.cells[0].textContent.startsWith(name));
        const svg = row.querySelector('svg').getBoundingClientRect();
        const dot = row.querySelector('circle, polygon').getBoundingClientRect();
        return (dot.left + dot.width / 2 - svg.left) / svg.width; }"""
    assert page.evaluate(script, "system_latency_ms") < 0.45
    assert page.evaluate(script, "slot_accuracy") > 0.55
    page.context.close()
