"""What a run of the dialogue room is: its options, its records, its hierarchy and the files it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import field_serializer

import turnwise.dialogue.metrics  # noqa: F401  (registers the metrics)
from turnwise.dialogue.batch import BASELINES
from turnwise.dialogue.booked import read_booked_domains
from turnwise.dialogue.database import load_database
from turnwise.dialogue.files import write_dialogue_files
from turnwise.dialogue.formats.base import Dialogues, Unannotated
from turnwise.dialogue.load import DialogueSource
from turnwise.dialogue.normalise import load_normaliser
from turnwise.dialogue.read import read_dialogues
from turnwise.dialogue.records import DIALOGUE, UNIT
from turnwise.dialogue.resources import Resources
from turnwise.dialogue.tables import load_actions, load_policy, load_transfer
from turnwise.engine.options import PROFILES, RunOptions
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import UsageError
from turnwise.kernel.filenames import absolute
from turnwise.kernel.signature import digest
from turnwise.store.run import Run
from turnwise.store.store import Store


class DialogueOptions(RunOptions):
    """Options of `turnwise run dialogue`."""

    references: Path | list[dict[str, Any]] | None = None
    """A file, or exchanges in the form of turnwise JSONL; not needed where the predictions say how they fared."""
    predictions: Path | list[dict[str, Any]]
    reference_format: str | None = None
    prediction_format: str | None = None
    normaliser: str = "multiwoz-v1"
    database: Path | None = None
    """A folder of `<domain>_db.json` files: what the system could find."""
    booked_domains: Path | None = None
    """Which domains the reference dialogues had booked at each exchange."""
    policy: Path | None = None
    transferable: Path | None = None
    actions: Path | None = None
    submitted_only: bool = False
    allow_constant_state: bool = False

    @field_serializer("database", "booked_domains", "policy", "transferable", "actions")
    def _absolute(self, value: Path | None) -> str | None:
        return None if value is None else str(absolute(value))

    @field_serializer("references", "predictions")
    def _place(self, value: Path | list[dict[str, Any]] | None) -> str | None:
        if isinstance(value, list):
            return f"{len(value)} exchanges in memory"
        return None if value is None else str(absolute(value))


class DialogueSuite:
    """The dialogue room as the engine sees it."""

    name = "dialogue"
    options = DialogueOptions
    profiles = PROFILES
    units = frozenset({UNIT, DIALOGUE})
    groupings = (("domain",), ("slot",))
    baselines = BASELINES
    open_ended = False
    replaceable = frozenset(
        {"references", "predictions", "reference_format", "prediction_format", "database", "booked_domains"}
        | {"policy", "transferable", "actions"}
    )

    def load(self, options: DialogueOptions) -> DialogueSource:
        """References and predictions, joined and checked."""
        normaliser = load_normaliser(options.normaliser)
        predictions = read_dialogues(options.predictions, options.prediction_format, "predictions")
        references = self._references(options, predictions)
        resources = Resources(
            load_policy(options.policy),
            load_transfer(options.transferable),
            load_actions(options.actions),
            None if options.database is None else load_database(absolute(options.database)),
        )
        return DialogueSource(
            references,
            predictions,
            normaliser,
            options.submitted_only,
            options.allow_constant_state,
            resources,
            None if options.booked_domains is None else read_booked_domains(options.booked_domains),
        )

    def _references(self, options: DialogueOptions, predictions: Dialogues) -> Dialogues:
        if options.references is not None:
            return read_dialogues(options.references, options.reference_format, "references")
        if predictions.tally.fields["rewards"]:
            return Unannotated(predictions)
        raise UsageError(
            "option 'references' is missing",
            expected="annotated dialogues; only predictions that carry a reward can do without",
            remedy="turnwise run dialogue --help",
        )

    def context(self, options: DialogueOptions, source: DialogueSource) -> Mapping[str, str]:
        """The normaliser, the tables, the database, and whether only submitted exchanges count."""
        resources = source.resources
        context = {
            name: f"{used.name}:{used.digest}"
            for name, used in (
                ("normaliser", source.normaliser),
                ("policy", resources.policy),
                ("transferable", resources.transfer),
                ("actions", resources.actions),
            )
        }
        context["database"] = "none" if resources.database is None else resources.database.digest
        context["booked"] = "references" if source.booked is None else digest(source.booked)
        return context | ({"missing": "left out"} if options.submitted_only else {})

    def variants(self, config: Mapping[str, Any]) -> Mapping[str, Callable[[Any], Any]]:
        """The baselines, where they are asked for."""
        return BASELINES if config.get("baselines") else {}

    def conclusions(self, store: Store, run: Run, results: list[dict[str, Any]]) -> list[Finding]:
        """Nothing beyond the results themselves."""
        return []

    def write_files(self, store: Store, run: Run, source: Any, folder: Path) -> list[Path]:
        """`turns` and `dialogues`, each as `.csv` and `.jsonl`, and `rewrites.csv`."""
        return write_dialogue_files(store, run, source, folder)

    def draw(self, item: Mapping[str, Any], *, colour: bool = False, encoding: str = "utf-8") -> str:
        """Nothing: what was said is text."""
        return ""


SUITE = DialogueSuite()
