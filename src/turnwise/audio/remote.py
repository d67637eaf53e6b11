"""Files that lie elsewhere: what a URL looks like, also after it has passed for a path, and its bytes by fsspec."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.extras import import_extra

_URL = re.compile(r"(https?|s3|gs|gcs|az|abfs):/{1,2}(?=[^/])")
"""A `Path` of `s3://bucket/key` keeps one slash only."""


def url_of(path: str | PurePath) -> str | None:
    """The URL that a text or a path stands for; None for a file of this machine."""
    text = path if isinstance(path, str) else path.as_posix()
    found = _URL.match(text)
    return f"{found[1]}://{text[found.end() :]}" if found else None


@lru_cache(maxsize=2)
def read_url(url: str) -> bytes:
    """Everything at a URL; the two read last are kept, for a pair is often asked about more than once.

    Raises:
        FileNotFoundError: nothing is there.
        OSError: whatever else a server, or the way to it, has to say.
        TurnwiseError: a package is missing.
    """
    fsspec = import_extra("fsspec", "cluster", "audio at a URL")
    try:
        files, path = fsspec.core.url_to_fs(url)
    except ImportError as error:  # fsspec names the package: s3fs, gcsfs ...
        raise TurnwiseError(
            "audio at a URL needs a package that is not installed",
            where=url,
            found=str(error),
            remedy="pip install s3fs for s3://, gcsfs for gs://, adlfs for az://, aiohttp for http://",
        ) from error
    try:
        return bytes(files.cat_file(path))
    except OSError:
        raise
    except Exception as error:  # every kind of store has its own
        raise OSError(f"{type(error).__name__}: {error}") from error
