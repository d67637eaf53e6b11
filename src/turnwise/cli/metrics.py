"""`turnwise metrics`: what can be measured."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from turnwise.cli import options as o


def metrics(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One metric, `name` or `room/name`.")] = None,
    room: Annotated[str | None, typer.Option("--room", metavar="ROOM", help="Only this room's.")] = None,
    use: Annotated[
        str | None,
        typer.Option("--for", metavar="text|tts|pipeline|speech", help="Which metrics suit this kind of translation."),
    ] = None,
    json: o.Json = False,
) -> None:
    """List all metrics, or describe one.

    Example: turnwise metrics joint_goal_accuracy
    """
    from turnwise.cli.console import print_json, print_table
    from turnwise.kernel.registry import REGISTRY
    from turnwise.report.tables import Table
    from turnwise.rooms import check_room, register_metrics

    register_metrics()
    if use is not None:
        from turnwise.cli.guide import print_guide

        print_guide(use, as_json=json)
        return
    if room is not None:
        check_room(room, {full.partition("/")[0] for full in REGISTRY.names()})
    if name is None:
        specs = [_describe(REGISTRY.get(full)) for full in REGISTRY.names(room)]
        rows = [[s["metric"], s["unit"], ", ".join(s["components"]), s["question"]] for s in specs]
        if json:
            print_json(specs)
        else:
            print_table(Table("metrics", ["metric", "unit", "tests", "question"], rows))
        return
    found = [_describe(REGISTRY.get(full)) for full in _matching(name, room)]
    if json:
        print_json(found[0] if len(found) == 1 else found)
        return
    for spec in found:
        _print_one(spec)


def _matching(name: str, room: str | None) -> list[str]:
    from turnwise.kernel.errors import UsageError, near_misses
    from turnwise.kernel.registry import REGISTRY

    known = REGISTRY.names(room)
    found = [full for full in known if name in (full, full.partition("/")[2])]
    if not found:
        short = [full.partition("/")[2] for full in known]
        raise UsageError(
            f"there is no metric {name!r}", remedy=near_misses(name, [*short, *known]) or "turnwise metrics lists all"
        )
    return found


def _describe(metric: Any) -> dict[str, Any]:
    spec = metric.spec
    return {
        "metric": spec.full_name,
        "version": spec.version,
        "question": spec.question,
        "unit": spec.unit,
        "needs": list(spec.needs),
        "components": list(spec.components),
        "outputs": [
            {
                "name": output.name,
                "statistics": list(output.statistics),
                "direction": output.direction.value,
                "range": list(output.range),
                "rollups": [rollup.name for rollup in output.rollups],
                "primary": output.primary.name,
            }
            for output in spec.outputs
        ],
        "settings": [
            {
                "name": p.name,
                "default": p.default,
                "choices": list(p.choices),
                "help": p.help,
                "by_profile": dict(p.by_profile),
            }
            for p in spec.parameters
        ],
        "inputs": [i.label for i in getattr(metric, "inputs", ())],
        "part": spec.part,
        "source": spec.source,
    }


def _print_one(spec: dict[str, Any]) -> None:
    print(f"{spec['metric']} (version {spec['version']})\n{spec['question']}\n")
    facts = [("unit", spec["unit"]), ("needs", ", ".join(spec["needs"])), ("tests", ", ".join(spec["components"]))]
    facts += [("split by", spec["part"]), ("made of", ", ".join(spec["inputs"])), ("source", spec["source"])]
    for key, text in facts:
        if text:
            print(f"{key}: {text}")
    for output in spec["outputs"]:
        low, high = ("" if bound is None else f"{bound:g}" for bound in output["range"])
        rollups = ", ".join(f"{r} (primary)" if r == output["primary"] else r for r in output["rollups"])
        print(f"output {output['name']}: {low}..{high}, {output['direction']}; roll-ups {rollups}")
    for setting in spec["settings"]:
        choices = f" ({' | '.join(setting['choices'])})" if setting["choices"] else ""
        profiles = "".join(f"; {profile}: {value}" for profile, value in setting["by_profile"].items())
        default = str(setting["default"]).lower() if isinstance(setting["default"], bool) else setting["default"]
        print(f"--set {setting['name']}={default}{choices}{profiles}: {setting['help']}")
