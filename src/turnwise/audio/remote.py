"""Files that lie elsewhere: what a URL looks like, also after it has passed for a path, and its bytes by fsspec."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import PurePath
from typing import Any
from urllib.parse import SplitResult, urlsplit

from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.extras import import_extra

_URL = re.compile(r"(https?|s3|gs|gcs|az|abfs):/{1,2}(?=[^/])")
"""A `Path` of `s3://bucket/key` keeps one slash only."""
PAUSES_S = (0.3, 1.0, 0.0)
"""How long a server of HTTP is left alone after each try that failed."""
SILENCE_S = 30.0
"""A server that sends nothing for so long is given up."""
TRUST_S = 60.0
"""After all tries have failed, a server gets one for each URL for so long: it is probably gone."""
_FAILED: dict[str, float] = {}
"""When a server failed last, by its name and port."""
_BUSY = (408, 425, 429)
_FAULTS_OF_THE_SERVER = 500


def url_of(path: str | PurePath) -> str | None:
    """The URL that a text or a path stands for; None for a file of this machine."""
    text = path if isinstance(path, str) else path.as_posix()
    found = _URL.match(text)
    return f"{found[1]}://{text[found.end() :]}" if found else None


def read_url(url: str) -> bytes:
    """Everything at a URL; the two asked for last are kept, for a pair is often asked about more than once.

    Raises:
        FileNotFoundError: nothing is there.
        OSError: whatever else a server, or the way to it, has to say.
        TurnwiseError: a package is missing.
    """
    found = _outcome(url)
    if isinstance(found, OSError):
        raise found.with_traceback(None)
    return found


def forget_urls() -> None:
    """Keep nothing of what was read, or could not be."""
    _FAILED.clear()
    _outcome.cache_clear()


@lru_cache(maxsize=2)
def _outcome(url: str) -> bytes | OSError:
    """The bytes, or why there are none: a server that hangs is not asked by each metric anew."""
    fsspec = import_extra("fsspec", "cluster", "audio at a URL")
    try:
        files, path = fsspec.core.url_to_fs(url, **_patience(url))
    except ImportError as error:  # fsspec names the package: s3fs, gcsfs ...
        raise TurnwiseError(
            "audio at a URL needs a package that is not installed",
            where=url,
            found=str(error),
            remedy="pip install s3fs for s3://, gcsfs for gs://, adlfs for az://, aiohttp for http://",
        ) from error
    found = _tried(lambda: bytes(files.cat_file(path)), urlsplit(url))
    return found if isinstance(found, bytes) else _as_os_error(found)


def _tried(read: Callable[[], bytes], url: SplitResult) -> bytes | Exception:
    """What comes of it, at the latest at the last try; other stores than HTTP try again by themselves."""
    again = url.scheme.startswith("http") and time.monotonic() - _FAILED.get(url.netloc, -TRUST_S) >= TRUST_S
    for pause_s in PAUSES_S if again else (0.0,):
        try:
            return read()
        except Exception as error:  # every kind of store has its own
            trouble = error
        if not _passes(trouble):
            return trouble
        time.sleep(pause_s)
    _FAILED[url.netloc] = time.monotonic()
    return trouble


def _as_os_error(trouble: Exception) -> OSError:
    if isinstance(trouble, FileNotFoundError) or (isinstance(trouble, OSError) and str(trouble)):
        return trouble
    return OSError(f"{type(trouble).__name__}: {str(trouble) or f'nothing came for {SILENCE_S:g} s'}")


def _patience(url: str) -> dict[str, Any]:
    """A large recording may take as long as it needs, as long as something comes."""
    if not url.startswith("http"):
        return {}
    aiohttp = import_extra("aiohttp", "cluster", "audio at a URL")
    limits = aiohttp.ClientTimeout(total=None, sock_connect=SILENCE_S, sock_read=SILENCE_S)
    return {"client_kwargs": {"timeout": limits}}


def _passes(trouble: Exception) -> bool:
    """Whether it may be over in a moment: a busy server, a connection that broke. A silent one was waited for."""
    if isinstance(trouble, TimeoutError | FileNotFoundError | PermissionError):
        return False
    status = getattr(trouble, "status", None)
    if isinstance(status, int):
        return status in _BUSY or status >= _FAULTS_OF_THE_SERVER
    return isinstance(trouble, OSError) or type(trouble).__module__.partition(".")[0] == "aiohttp"
