"""The pieces of a self-contained HTML report: escaping, the page around it, tables that sort and filter.

A page made of them needs no network and no other file. It is written piece by piece, so that a long one never has to
be in memory. What comes from data passes through `text` (between tags and inside quoted attributes alike).
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isfinite

# Controls but tab and line feed, halves of characters (UTF-8 cannot write them), and the two that are no characters.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MOST = 20_000
_CLAMP = 180


def text(value: object) -> str:
    """Anything as text that cannot be taken for markup; what cannot be shown becomes a replacement character.

    >>> text("</script> & 'so on'")
    '&lt;/script&gt; &amp; &#x27;so on&#x27;'
    """
    flat = str(value).replace("\r\n", "\n").replace("\r", "\n")
    return html.escape(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", flat), quote=True)


def foreign(value: str) -> str:
    """Text in a language of its own direction, which leaves the order of what is around it alone."""
    return f'<bdi dir="auto">{text(value)}</bdi>'


def clamped(value: str, limit: int = _CLAMP) -> str:
    """Foreign text; of a long one the beginning, and the rest at a click (at most 20,000 characters)."""
    if len(value) <= limit:
        return foreign(value)
    whole = value if len(value) <= _MOST else f"{value[:_MOST]} … ({len(value) - _MOST} characters more)"
    head = value[:limit].rsplit(None, 1)[0] if " " in value[limit // 2 : limit] else value[:limit]
    return f'<details class="long"><summary>{foreign(f"{head} …")}</summary>{foreign(whole)}</details>'


def number(value: float | None) -> str:
    """A score with about three digits that count; a dash for what is missing.

    >>> number(45.347), number(0.68349), number(5.2), number(None)
    ('45.35', '0.683', '5.20', '–')
    """
    if value is None or not isfinite(value):
        return "–"
    magnitude = abs(value)
    if magnitude >= 1000:
        return f"{value:,.0f}"
    if magnitude and magnitude < 0.001:
        return f"{value:.2g}"
    return f"{value:.3f}" if magnitude < 1 else f"{value:.2f}"


def banded(words: str, band: str | None) -> str:
    """Words on the colour of a band; plain without one."""
    if band is None:
        return text(words)
    return f'<span class="band {class_name(band)}" title="{text(band)}">{text(words)}</span>'


# The page


def page_head(title: str) -> str:
    """Everything up to the opened `<main>`."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>\n{_static('report.css')}</style>\n</head>\n<body>\n<main>\n"
    )


def page_tail() -> str:
    """Everything after the content."""
    return f"</main>\n<script>{_static('report.js')}</script>\n</body>\n</html>\n"


def section(title: str, body: str, anchor: str = "") -> str:
    """A titled part of the page; nothing where there is no body."""
    named = f' id="{text(anchor)}"' if anchor else ""
    return f"<section{named}>\n<h2>{text(title)}</h2>\n{body}\n</section>\n" if body else ""


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values side by side; empty values are left out."""
    items = "".join(f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in pairs if value)
    return f'<dl class="facts">{items}</dl>'


def bullets(items: Iterable[str], style: str = "") -> str:
    """A list of pieces of HTML; nothing where there are none."""
    lines = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="{text(style)}">{lines}</ul>' if lines else ""


@cache
def _static(name: str) -> str:
    return (files("turnwise.report") / "static" / name).read_text(encoding="utf-8")


@cache
def _policy() -> str:
    """What the page may do: its own style, its own script and data inside it. No other script, and no network."""
    script = base64.b64encode(hashlib.sha256(_static("report.js").encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; img-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


# Tables


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    numeric: bool = False
    sortable: bool = True
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: a piece of HTML (its maker escapes), and what it is sorted by."""

    content: str
    key: float | str | None = None
    """None is missing, and last in both directions."""
    style: str = ""
    """Classes."""
    inline: str = ""
    """A declaration of CSS that has to stand on this cell alone."""
    searched: bool = True


def words(value: object, style: str = "") -> Cell:
    """A cell of text, sorted by it."""
    shown = str(value)
    return Cell(text(shown), shown, style)


def figure_cell(value: float | None, band: str | None = None, note: str = "", why: str = "") -> Cell:
    """A cell with a number on the colour of its band; where there is none, the reason, as text and as a tooltip."""
    if value is None or not isfinite(value):
        reason = f"<small>{text(why)}</small>" if why else ""
        return Cell(f'<span class="none" title="{text(why or "missing")}">–</span>{reason}', None, "number")
    aside = f"<small>{text(note)}</small>" if note else ""
    return Cell(banded(number(value), band) + aside, value, "number")


def table_start(columns: Sequence[Column], *, name: str, anchor: str = "", tall: bool = False) -> str:
    """A table in a box of its own, up to the opened body; `name` says what it shows to who cannot see it."""
    heads = "".join(_head(column) for column in columns)
    own = f' id="{text(anchor)}"' if anchor else ""
    sortable = " data-sortable" if any(column.sortable for column in columns) else ""
    size = "box tall" if tall else "box"
    return (
        f'<div class="{size}" role="region" aria-label="{text(name)}" tabindex="0"><table{own}{sortable}>'
        f"<thead><tr>{heads}</tr></thead><tbody>\n"
    )


def table_row(cells: Iterable[Cell], group: str = "") -> str:
    """A row; `group` is what a select beside the table chooses by."""
    return f"<tr{_attribute('data-group', group)}>{''.join(map(_cell, cells))}</tr>\n"


def table_end() -> str:
    """The end of a table and its box."""
    return "</tbody></table></div>\n"


def table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], *, name: str) -> str:
    """A whole table."""
    return table_start(columns, name=name) + "".join(map(table_row, rows)) + table_end()


def filter_tools(anchor: str, groups: Sequence[str] = (), label: str = "", prompt: str = "Filter") -> str:
    """A field to filter a table's rows by their text and, for several groups, a select."""
    status = '<span role="status" class="soft"></span>'
    options = "".join(f'<option value="{text(group)}">{text(group)}</option>' for group in groups)
    select = f'<select aria-label="{text(label)}"><option value="">all</option>{options}</select>'
    return (
        f'<div class="tools" data-for="{text(anchor)}"><input type="search" placeholder="{text(prompt)}" '
        f'aria-label="{text(prompt)}">{select if len(groups) > 1 else ""}{status}</div>\n'
    )


def _head(column: Column) -> str:
    kind = ' class="number" data-kind="number"' if column.numeric else ""
    label = text(column.name)
    if column.sortable:
        label = f'<button type="button">{label}</button>'
        kind += ' aria-sort="none"'
    return f'<th scope="col"{kind}{_attribute("title", column.hint)}>{label}</th>'


def _cell(cell: Cell) -> str:
    key = "" if cell.key is None else f"{cell.key:.12g}" if isinstance(cell.key, float) else str(cell.key)
    # A cell that is nothing but its text is sorted by it; the key need not be written twice.
    own = "" if key and text(key) == cell.content else f' data-v="{text(key)}"'
    return (
        f"<td{_attribute('class', cell.style)}{_attribute('style', cell.inline)}{own}"
        f"{'' if cell.searched else ' data-unsearched'}>{cell.content}</td>"
    )


def _attribute(name: str, value: str) -> str:
    return f' {name}="{text(value)}"' if value else ""


def class_name(band: str) -> str:
    """The name of a band as one class."""
    return re.sub(r"[^a-z0-9-]", "-", band.lower())
