"""What a gate found, for people and for CI: a table, Markdown, JUnit XML."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from turnwise.comparison.gate import Gated, RuleOutcome, State
from turnwise.comparison.verdicts import plural
from turnwise.report.tables import Table, as_markdown

# What XML 1.0 cannot hold.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gate_table(found: Gated) -> Table:
    """One line for each limit of each rule."""
    rows = [
        [
            outcome.rule.name,
            check.state.value if check.state.value == "passed" else check.state.value.upper(),
            check.message,
        ]
        for outcome in found.outcomes
        for check in outcome.checks
    ]
    notes = [summary_line(found), *(f"WARNING: {text}" for text in found.warnings)]
    against = "" if found.baseline is None else f" against {found.baseline.label or found.baseline.text}"
    return Table(f"gate: {found.run.label or found.run.text}{against}", ["rule", "outcome", "numbers"], rows, notes)


def _word(state: State) -> str:
    return state.value if state is State.PASSED else state.value.upper()


def summary_line(found: Gated) -> str:
    """Passed, or how many rules were not met."""
    failed = [outcome for outcome in found.outcomes if not outcome.passed]
    if not failed:
        return f"passed: {plural(len(found.outcomes), 'rule')} met"
    return f"FAILED: {len(failed)} of {plural(len(found.outcomes), 'rule')} not met"


def gate_markdown(found: Gated) -> str:
    """A summary for a pull request."""
    return f"{'✅' if found.passed else '❌'} {as_markdown(gate_table(found))}\n"


def junit(found: Gated) -> str:
    """JUnit XML, as CI systems read it: one test case for each rule."""
    failed = sum(not outcome.passed for outcome in found.outcomes)
    counts = {"tests": str(len(found.outcomes)), "failures": str(failed), "errors": "0"}
    top = ET.Element("testsuites", {"name": "turnwise gate", **counts})
    run = found.run.runs[-1]
    suite = ET.SubElement(top, "testsuite", {"name": "turnwise gate", **counts, "skipped": "0", "time": "0"})
    properties = ET.SubElement(suite, "properties")
    facts = [("run", ", ".join(one.id for one in found.run.runs)), ("system", run.system), ("version", run.version)]
    if found.baseline is not None:
        facts.append(("baseline", ", ".join(one.id for one in found.baseline.runs)))
    for name, value in [*facts, *(("warning", text) for text in found.warnings)]:
        ET.SubElement(properties, "property", {"name": name, "value": _clean(value)})
    for outcome in found.outcomes:
        _case(suite, outcome, run.suite)
    ET.indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(top, encoding="unicode")}\n'


def _case(suite: ET.Element, outcome: RuleOutcome, room: str) -> None:
    about = {"classname": f"turnwise.gate.{_clean(room)}", "name": _clean(outcome.rule.name), "time": "0"}
    case = ET.SubElement(suite, "testcase", about)
    lines = "\n".join(_clean(check.message) for check in outcome.checks)
    if not outcome.passed:
        failure = ET.SubElement(case, "failure", {"message": _clean(outcome.message), "type": "gate"})
        failure.text = lines
    output = ET.SubElement(case, "system-out")
    output.text = lines


def _clean(text: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
