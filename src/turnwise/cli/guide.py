"""`turnwise metrics --for`: which metrics of the translation room suit which kind of system."""

from __future__ import annotations

from turnwise.cli.console import print_json, print_table
from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.registry import REGISTRY
from turnwise.report.tables import Table
from turnwise.translation.guide import NOTE, OUTPUTS, USES, chosen, compatible, data_needed, judges_samples


def print_guide(use: str, *, as_json: bool) -> None:
    """The metrics for a use with what they need and a command, and the compatibility matrix of all."""
    if use not in USES:
        remedy = near_misses(use, USES) or None
        raise UsageError(f"--for cannot be {use!r}", expected=" or ".join(USES), remedy=remedy)
    specs = [REGISTRY.get(name).spec for name in REGISTRY.names("translation")]
    specs = [spec for spec in specs if judges_samples(spec)]
    found = chosen(USES[use], specs)
    needed = data_needed(found)
    first = [choice.metric for choice in found if not choice.for_detail]
    command = f"turnwise run translation --mode predictions --data-dir DIR --metrics {' '.join(first)}"
    matrix = {given: {spec.name: compatible(spec, given) for spec in specs} for given in OUTPUTS}
    if as_json:
        metrics = [{"metric": c.metric, "for_detail": c.for_detail, "needs": list(c.needs)} for c in found]
        print_json({"for": use, "metrics": metrics, "data": needed, "command": command, "compatibility": matrix})
        return
    rows = [[c.metric, "for detail" if c.for_detail else "yes", c.question] for c in found]
    notes = [f"data needed: {', '.join(needed)}", f"command: {command}"]
    print_table(Table(f"metrics for {USES[use].title}", ["metric", "use", "question"], rows, notes))
    print()
    cells = [[given, *row.values()] for given, row in matrix.items()]
    print_table(Table("model output and metric", ["output", *(spec.name for spec in specs)], cells, [NOTE]))
