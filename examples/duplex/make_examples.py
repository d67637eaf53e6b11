"""Makes the files of this folder: an experiment from `experiment.yaml`, recordings from `conversations.yaml`.

Running it again gives the same bytes. The experiment needs nothing but what turnwise needs. The speech is by SVOX Pico
(Apache-2.0), which is no part of turnwise and is used by this script only. Its package is built on installation:

    pip install turnwise wheel setuptools
    pip install ttspico==0.3.2
    python make_examples.py
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from make_experiment import make_experiment
from make_recordings import make_recordings

HERE = Path(__file__).parent


def main() -> None:
    """Make all files, here or in another folder."""
    parser = argparse.ArgumentParser(description="Makes an experiment and recordings, with synthetic speech.")
    parser.add_argument("--into", type=Path, default=HERE, help="folder to write to; the script's own unless told")
    parser.add_argument("--without-speech", action="store_true", help="make the experiment alone")
    options = parser.parse_args()
    categories = make_experiment(options.into)
    made = f"an experiment of {categories} categories in two languages"
    if not options.without_speech:
        try:
            import ttspico  # noqa: F401
        except ImportError:
            sys.exit("The speech needs SVOX Pico, which is not installed. Remedy: pip install ttspico==0.3.2")
        made += f" and {make_recordings(options.into)} recordings"
    print(f"{made} in {options.into}")


if __name__ == "__main__":
    main()
