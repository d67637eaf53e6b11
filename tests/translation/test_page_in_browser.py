"""The page of a run in a real browser: no script of the data, no network, sorting, filtering, playing, phone width."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.translation import outcomes
from turnwise.translation.page import write_report

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--no-first-run"]


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


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    samples = outcomes.samples(24, folder / "audio")
    return write_report(folder / "summary_report.html", outcomes.execution(samples), samples, bands=outcomes.BANDS)


class Opened:
    """A page in a fresh profile, with what went wrong and what it asked for."""

    def __init__(self, browser: Any, report: Path, width: int = 1280) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900})
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(report.as_uri())

    def column(self, number: int) -> list[str]:
        """The texts of a column of the table of samples, hidden rows left out."""
        script = "n => [...document.querySelectorAll('#samples-table tbody tr')].filter(r => !r.hidden)"
        texts: list[str] = self.page.evaluate(f"{script}.map(r => r.cells[n].textContent)", number)
        return texts


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    found = Opened(browser, report)
    yield found
    found.context.close()
    assert found.troubles == []
    assert [url for url in found.requests if not url.startswith(("file:", "data:"))] == []


def test_a_browser_runs_no_script_of_the_data(opened: Opened) -> None:
    assert opened.page.evaluate("typeof window.hacked") == "undefined"


def test_sorting_by_click_and_by_key_keeps_missing_values_last(opened: Opened) -> None:
    header = opened.page.locator("#samples-table th", has_text="mcd")
    for use in (header.locator("button").click, lambda: header.locator("button").press("Enter")):
        use()
        cells = opened.column(7)
        numbers = [float(cell) for cell in cells[:20]]
        descending = header.get_attribute("aria-sort") == "descending"
        assert numbers == sorted(numbers, reverse=descending)
        assert all(cell.startswith("–") for cell in cells[20:])
        assert len(cells) == 24
    assert header.get_attribute("aria-sort") == "descending"
    opened.page.locator("#samples-table th button", has_text="sample").click()
    assert header.get_attribute("aria-sort") == "none"
    assert opened.column(0) == sorted(opened.column(0))


def test_filtering_by_text_and_language(opened: Opened) -> None:
    tools = opened.page.locator(".tools")
    tools.locator("select").select_option("xhosa")
    assert set(opened.column(1)) == {"xhosa"}
    assert tools.locator("[role=status]").text_content() == "12 of 24 shown"
    tools.locator("input").fill("科技")
    assert opened.column(0) == ["xho/152802/11"]
    tools.locator("input").fill("SUQz")  # how an encoded recording may begin: it is not searched
    assert opened.column(0) == []
    tools.locator("input").fill("")
    tools.locator("select").select_option("")
    assert len(opened.column(0)) == 24


def test_a_recording_plays(opened: Opened) -> None:
    pytest.importorskip("soundfile")
    opened.page.locator("button.play").nth(1).click()
    player = opened.page.locator("audio")
    player.wait_for(state="attached")
    loaded = "new Promise(done => a.addEventListener('loadedmetadata', () => done(a.duration)))"
    assert player.evaluate(f"a => a.readyState > 0 ? a.duration : {loaded}") == pytest.approx(1.2, abs=0.2)
    assert player.get_attribute("src").startswith("data:audio/")


@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_itself_never_scrolls_sideways(browser: Any, report: Path, width: int) -> None:
    found = Opened(browser, report, width)
    assert found.page.evaluate("document.scrollingElement.scrollWidth") <= width
    found.context.close()


def test_a_thousand_rows_sort_quickly(browser: Any, tmp_path: Path) -> None:
    samples = [replace(s, id=f"s{n}") for n, s in enumerate(outcomes.samples(24, tmp_path / "audio") * 42)][:1000]
    path = write_report(tmp_path / "page.html", outcomes.execution(samples), samples)
    found = Opened(browser, path)
    script = "b => { const t = performance.now(); b.click(); return performance.now() - t; }"
    assert found.page.locator("#samples-table th button").last.evaluate(script) < 5000
    found.context.close()
