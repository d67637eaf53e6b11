"""The page of one call: its picture, and in tables why its barge-ins have their scores and what came of its turns.

One file that needs no network. What it says was measured elsewhere; here it is only shown.
"""

from __future__ import annotations

from pathlib import Path

from turnwise.interpreting.drawing import DrawnCall, DrawnPair, DrawnTurn, plain
from turnwise.interpreting.drawing_words import CAPS, evidence_lines, mixing_words, nothing_came
from turnwise.interpreting.picture import TURN_COLOURS, colour_number, timeline_svg
from turnwise.kernel.spans import length
from turnwise.report import html
from turnwise.report.files import whole_file
from turnwise.report.html import Cell, Column, clamped, figure_cell, foreign, text, words
from turnwise.report.timeline_page import pictures

_COLOURS = "The colour of a turn is the colour of its translation."
_BRACKETS = (
    " A line is where a barge-in begins; the thick bracket ends with the old translation, the thin one where the new "
    "one begins."
)


def write_timeline_page(path: Path, call: DrawnCall) -> Path:
    """Write the page of a call."""
    with whole_file(path) as file:
        file.write(html.page_head(f"{call.key}: timeline"))
        about = f"<p>{foreign(call.description)}</p>\n" if call.description else ""
        file.write(f"<header><h1>{foreign(call.key)}</h1>\n{about}{_facts(call)}\n</header>\n")
        reading = _COLOURS + (_BRACKETS if call.pairs else "")
        picture = pictures(lambda width: timeline_svg(call, width, bare=True), reading)
        file.write(html.section("Who spoke, and what is heard", picture, "timeline"))
        file.write(html.section("Barge-ins", _barge_ins(call), "barge-ins"))
        file.write(html.section("Turns", _turns(call), "turns"))
        file.write(html.section("Notes", html.bullets(map(text, call.notes)), "notes"))
        file.write(html.page_tail())
    return path


def _facts(call: DrawnCall) -> str:
    result = call.result or {}
    details = result.get("details", {})
    score, passed = result.get("score"), details.get("passed")
    pairs = [
        ("scenario", str(call.content.get("scenario_id", ""))),
        ("protocol", str(call.content.get("protocol", ""))),
        ("length", "" if call.seconds is None else f"{call.seconds:.1f} s"),
        ("barge-in", "" if score is None else f"{score:.1f} of 100"),
        ("threshold", "" if passed is None else f"{details['threshold']:g}, {'reached' if passed else 'not reached'}"),
        ("verdict", details.get("overall_interpretation") or ""),
    ]
    for name in call.participants:
        own = call.of(name)
        spoken = length((turn.start, turn.end) for turn in own)
        heard = length(span for turn in own for span in turn.heard)
        pairs.append((name, f"speaks {spoken:.1f} s, translation heard {heard:.1f} s"))
    return html.facts(pairs)


def _barge_ins(call: DrawnCall) -> str:
    if not call.pairs:
        why = (call.result or {}).get("reason") or "No barge-in."
        return f"<p class='soft'>{text(why)}</p>"
    columns = [
        Column("at, s", numeric=True),
        Column("turn"),
        Column("kind"),
        Column("score", numeric=True, hint="0 to 100"),
        Column("cutoff, ms", numeric=True, hint="until the old translation is over; points below"),
        Column("mixing", numeric=True, hint="words of one turn in the translation of the other; points below"),
        Column("response, ms", numeric=True, hint="until the new translation begins; points below"),
        Column("known by", hint="how it is known which turn a piece of the translation belongs to"),
        Column("why", sortable=False),
    ]
    rows = [_pair_row(call, pair) for pair in call.pairs]
    return html.table(columns, rows, name="barge-ins")


def _pair_row(call: DrawnCall, pair: DrawnPair) -> list[Cell]:
    facts = pair.facts
    turn, previous = call.turn(pair.turn), call.turn(pair.previous)
    named = f"{turn.number} {turn.id}" if turn else pair.turn
    during = f"<small>{text(f'during {previous.number} {previous.id}')}</small>" if previous else ""
    known = facts.get("mixing_score") is not None
    mixing = Cell(_with_points(mixing_words(facts), facts.get("mixing_score")), facts.get("mixing_share"), "number")
    return [
        figure_cell(None, why="never began") if pair.at is None else _time(pair.at),
        Cell(text(named) + during, named, inline=_edge(turn)),
        words(plain(facts.get("kind") or "–")),
        figure_cell(facts.get("score")),
        _latency(facts.get("cutoff_latency_ms"), facts.get("cutoff_score"), "not known"),
        mixing if known else figure_cell(None, why="not known"),
        _latency(facts.get("response_time_ms"), facts.get("response_score"), "no response"),
        words(facts.get("attribution") or "–"),
        Cell(_why(call, pair), "", "texts"),
    ]


def _latency(milliseconds: float | None, points: float | None, why: str) -> Cell:
    if milliseconds is None:
        return figure_cell(None, why=why)
    return Cell(_with_points(f"{milliseconds:.0f}", points), milliseconds, "number")


def _with_points(shown: str, points: float | None) -> str:
    return text(shown) + ("" if points is None else f"<small>{points:.1f} of 100</small>")


def _why(call: DrawnCall, pair: DrawnPair) -> str:
    """The document's sentence, what capped the score or kept it away, and what is out of place."""
    facts = pair.facts
    said = [facts.get("interpretation"), facts.get("reason"), *(CAPS.get(cap, cap) for cap in facts.get("caps", ()))]
    return "<br>".join(text(one) for one in (*filter(None, said), *evidence_lines(call, facts)))


def _turns(call: DrawnCall) -> str:
    if not call.turns:
        return "<p class='soft'>Nobody speaks.</p>"
    columns = [
        Column("turn"),
        Column("texts", sortable=False),
        Column("from, s", numeric=True),
        Column("to, s", numeric=True),
        Column("heard from, s", numeric=True),
        Column("to, s", numeric=True),
    ]
    return html.table(columns, [_turn_row(call, turn) for turn in call.turns], name="turns")


def _turn_row(call: DrawnCall, turn: DrawnTurn) -> list[Cell]:
    first = min((start for start, _ in turn.heard), default=None)
    last = max((end for _, end in turn.heard), default=None)
    who = f"<small>{text(turn.participant)}</small>{'<small>barge-in</small>' if turn.barge_in else ''}"
    return [
        Cell(f"{turn.number} {text(turn.id)}{who}", float(turn.number), inline=_edge(turn)),
        Cell(_texts(call, turn), "", "texts"),
        _time(turn.start),
        _time(turn.end),
        _time(first),
        _time(last),
    ]


def _texts(call: DrawnCall, turn: DrawnTurn) -> str:
    """What was said, what should have come, what came; words of another turn are marked."""
    pieces = call.pieces(turn)
    if any(strange for _, strange in pieces):
        marked = "".join(f"<mark>{text(said)}</mark>" if strange else text(said) for said, strange in pieces)
        came = f'<bdi dir="auto">{marked}</bdi>'
    else:
        came = clamped(turn.came) if turn.came else text(nothing_came(turn))
    shown = [(name, clamped(said)) for name, said in (("said", turn.source), ("expected", turn.expected)) if said]
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in (*shown, ("came", came))) + "</dl>"


def _edge(turn: DrawnTurn | None) -> str:
    """The colour of a turn as the edge of a cell, which has its number, too."""
    if turn is None:
        return ""
    light, dark = TURN_COLOURS[colour_number(turn)]
    return f"border-inline-start:6px solid light-dark({light},{dark})"


def _time(seconds: float | None) -> Cell:
    return Cell("–", None, "number") if seconds is None else Cell(f"{seconds:.2f}", seconds, "number")
