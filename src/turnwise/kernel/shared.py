"""A setting of the whole process that several threads want at the same time: made by the first, undone by the last.

Each of them putting back what it found would undo it for those who are still at work, or leave it for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock


class SharedSetting:
    """A setting that holds for as long as anybody wants it."""

    def __init__(
        self, make: Callable[[], AbstractContextManager[object]], depends_on: Callable[[], Hashable] = lambda: None
    ) -> None:
        """`make` gives what sets it and puts it back; it is made again when what it `depends_on` has changed."""
        self._make, self._depends_on = make, depends_on
        self._lock = Lock()
        self._inside = 0
        self._seen: Hashable = None
        self._undo = ExitStack()

    @contextmanager
    def wanted(self) -> Iterator[None]:
        """It holds inside."""
        with self._lock:
            seen = self._depends_on()
            if not self._inside or seen != self._seen:
                self._undo.enter_context(self._make())
                self._seen = seen
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._undo.close()
