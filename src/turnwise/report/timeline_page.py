"""What the pages of a conversation share: its picture in two widths."""

from __future__ import annotations

from collections.abc import Callable

from turnwise.report.html import text
from turnwise.report.timeline_svg import WIDE

NARROW = 360
"""Pixels, for a telephone."""


def pictures(draw: Callable[[int], str], note: str) -> str:
    """The picture for a screen and for a telephone; the style of the page shows the one that fits.

    Args:
        draw: the picture of some width.
        note: how it is to be read.
    """
    return (
        f'<div class="timeline wide" role="region" aria-label="timeline" tabindex="0">{draw(WIDE)}</div>\n'
        f'<div class="timeline narrow">{draw(NARROW)}</div>\n'
        f'<p class="soft">{text(note)}</p>'
    )
