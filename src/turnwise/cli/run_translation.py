"""`turnwise run translation`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o


class TranslationCommand(o.GreedyCommand):
    """Several references, and several languages, may follow their option, too."""

    greedy = ("--metrics", "--references", "--language", "--column")


@o.with_shared
def translation(
    mode: Annotated[
        str | None,
        typer.Option(metavar="predictions|ground_truth", help="With --data-dir: what is there (default: predictions)."),
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(metavar="NAME...", help="Target languages (default: every language found).")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The languages' folders, or those of the ground truth's samples.")
    ] = None,
    nmt_model: Annotated[str | None, typer.Option(metavar="NAME", help="nmt_predictions_NAME.csv is read.")] = None,
    tts_model: Annotated[str | None, typer.Option(metavar="NAME", help="predicted_tgt_audio_NAME/ is read.")] = None,
    type_: Annotated[
        str | None,
        typer.Option("--type", metavar="KIND", help="Of ground truth: {text,audio}_to_{text,audio}."),
    ] = None,
    hypotheses: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Translations, one per line; with --references.")
    ] = None,
    references: Annotated[
        list[Path] | None, typer.Option(metavar="FILE...", help="References, one per line; several files if there are.")
    ] = None,
    sources: Annotated[Path | None, typer.Option(metavar="FILE", help="Source texts, one per line.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSONL, CSV, TSV or Parquet: id, source, hypothesis, reference, language, "
            "{source,hypothesis,reference}_audio.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(metavar="NAME=COLUMN", help="A column of --data that has another name.")
    ] = None,
    mcd_convention: Annotated[
        str | None, typer.Option(metavar="literature|guide|package", help="How MCD is computed (default: literature).")
    ] = None,
    blaser_mode: Annotated[
        str | None, typer.Option(metavar="qe|ref", help="BLASER 2.0 without or with reference (default: ref if there).")
    ] = None,
    comet_model: Annotated[
        str | None, typer.Option(metavar="NAME|PATH", help="COMET model (default: McGill-NLP/ssa-comet-qe).")
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="auto|cpu|cuda", help="Where neural models run (default: auto).")
    ] = None,
    probes: Annotated[
        bool,
        typer.Option(
            "--probes", help="Also score the reference itself, shuffled pairs, the source copied and nothing."
        ),
    ] = False,
    output_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --execution-id: the same as --out DIR/ID.")
    ] = None,
    execution_id: Annotated[str | None, typer.Option(metavar="ID", help="A name for this run's folder.")] = None,
    *,
    shared: o.Shared,
) -> None:
    """Score translations, as text and as speech.

    Example: turnwise run translation --hypotheses hyp.txt --references ref.txt --sources src.txt --out results
    """
    shared.run(
        "translation",
        mode=mode,
        language=language,
        data_dir=data_dir,
        nmt_model=nmt_model,
        tts_model=tts_model,
        type=type_,
        hypotheses=hypotheses,
        references=references,
        sources=sources,
        data=data,
        column=o.parse_settings(column, "--column", "--column hypothesis=mt"),
        mcd_convention=mcd_convention,
        blaser_mode=blaser_mode,
        comet_model=comet_model,
        device=device,
        probes=probes,
        output_dir=output_dir,
        execution_id=execution_id,
    )
