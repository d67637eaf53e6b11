"""The room's own files: every turn with its scores and what its qualities are made of, every session, every version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turnwise.assistant.outcomes import Averages, TurnOutcome, by_judge, document_value, turn_outcomes
from turnwise.assistant.scales import COMPOSITES, OBJECTIVE, SUBJECTIVE
from turnwise.judge.metric import JUDGE
from turnwise.kernel.jsontext import dumps
from turnwise.report.files import CsvWriter, whole_file, write_csv
from turnwise.store.run import Run
from turnwise.store.store import Store

_AVERAGES = ("avg_objective_quality", "avg_subjective_quality", "avg_overall_quality")
"""The document's names, and after them how many turns each is over."""
_COUNTED = ("n_objective", "n_subjective", "n_overall")


def write_assistant_files(store: Store, run: Run, folder: Path) -> list[Path]:
    """`turns.csv` and `turns.jsonl`, `sessions.csv`, `versions.csv`; with the judge's ratings of a run that has one."""
    judged = [by_judge(name) for name in SUBJECTIVE] if JUDGE in run.config.get("context", {}) else []
    sessions: dict[tuple[str, str], Averages] = {}
    versions: dict[str, Averages] = {}
    paths = [folder / "turns.csv", folder / "turns.jsonl"]
    with whole_file(paths[0]) as table, whole_file(paths[1]) as lines:
        about = ("session_id", "turn", "version", "scenario", "tester", "category")
        scores = [*OBJECTIVE, *SUBJECTIVE, *COMPOSITES]
        rows = CsvWriter(table, [*about, *scores, "objective_n", "band", "missing", *judged])
        for outcome in turn_outcomes(store, run):
            rows.write(_row(outcome, about, SUBJECTIVE if judged else ()))
            lines.write(f"{dumps(_line(outcome))}\n")
            sessions.setdefault((outcome.session_id, outcome.version), Averages()).add(outcome)
            versions.setdefault(outcome.version, Averages()).add(outcome)
    header = [*_AVERAGES, "total_turns", *_COUNTED]
    paths.append(
        write_csv(
            folder / "sessions.csv",
            ["session_id", "master_prompt_version", *header],
            ([session, version, *_averages(found)] for (session, version), found in sessions.items()),
        )
    )
    averaged = [*OBJECTIVE, *SUBJECTIVE, *judged]
    paths.append(
        write_csv(
            folder / "versions.csv",
            ["master_prompt_version", *header, *(f"avg_{name}" for name in averaged)],
            (
                [version, *_averages(found), *(found.mean(name) for name in averaged)]
                for version, found in versions.items()
            ),
        )
    )
    return paths


def _averages(found: Averages) -> list[Any]:
    means = [found.mean(name) for name in COMPOSITES]
    return [*means, found.turns, *(found.count(name) for name in COMPOSITES)]


def _row(outcome: TurnOutcome, about: tuple[str, ...], judged: tuple[str, ...]) -> list[Any]:
    q = outcome.qualities
    scores = [outcome.values.get(name) for name in (*OBJECTIVE, *SUBJECTIVE)]
    reasons = "; ".join(f"{name}: {reason}" for name, reason in outcome.missing.items())
    made = [q.objective, q.subjective, q.overall, q.made_of["objective"]["n"], q.band]
    opinions = [outcome.judged.get(name) for name in judged]
    return [*(outcome.content.get(name) for name in about), *scores, *made, reasons, *opinions]


def _line(outcome: TurnOutcome) -> dict[str, Any]:
    q = outcome.qualities
    made = dict(zip(COMPOSITES, (q.objective, q.subjective, q.overall), strict=True))
    return {
        "id": outcome.id,
        **outcome.content,
        "metrics": {
            **{name: document_value(name, outcome.values.get(name)) for name in OBJECTIVE},
            **{name: outcome.values[name] for name in SUBJECTIVE if name in outcome.values},
            **made,
        },
        "band": q.band,
        "made_of": q.made_of,
        "missing": outcome.missing,
        "evidence": outcome.evidence,
        "ratings": outcome.ratings,
        **({"judged": outcome.judged} if outcome.judged else {}),
    }
