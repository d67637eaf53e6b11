"""`turnwise audio`: preparing recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o

app = typer.Typer(help="Prepare recordings.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def root() -> None:
    """Prepare recordings."""


@app.command()
def resample(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with WAV and FLAC files, at any depth.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where they go (default: DIR-RATE beside DIR).")
    ] = None,
    rate: Annotated[int, typer.Option("--rate", metavar="HZ", min=1, help="Samples per second.")] = 16000,
    workers: o.Workers = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there already.")] = False,
    json: o.Json = False,
) -> None:
    """Write every WAV and FLAC file of a folder as mono WAV of 16 bits at one rate; the originals stay.

    Example: turnwise audio resample recordings --out recordings-16000
    """
    from turnwise.audio.folder import resample_folder
    from turnwise.cli.console import print_json, progress_bar, say
    from turnwise.kernel.errors import InputError

    with progress_bar("resampling") as progress:
        done = resample_folder(folder, out, rate=rate, workers=workers, overwrite=overwrite, progress=progress)
    found = _summary(done)
    if json:
        print_json(found)
    else:
        print(f"{done.out}: {found['written']} of {found['files']} files, mono, {rate} Hz")
        if found["upsampled"]:
            print(f"{found['upsampled']} were of a lower rate: they hold nothing above half of it")
        for reason, count in done.reasons.items():
            print(f"skipped, {reason}: {count}")
        for file in done.skipped:
            say(f"  {file.source}: {file.reason} ({file.found})")
    if not done.written:
        raise InputError("no file could be read", where=str(folder), found=", ".join(done.reasons))


def _summary(done: Any) -> dict[str, Any]:
    return {
        "folder": str(done.folder),
        "out": str(done.out),
        "rate": done.rate,
        "files": len(done.files),
        "written": len(done.written),
        "mixed_down": sum(file.channels > 1 for file in done.written),
        "resampled": sum(file.original_rate != done.rate for file in done.written),
        "upsampled": sum(file.upsampled for file in done.written),
        "seconds": sum(file.seconds for file in done.written),
        "skipped": [{"file": file.source, "reason": file.reason, "found": file.found} for file in done.skipped],
    }
