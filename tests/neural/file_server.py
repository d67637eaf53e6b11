"""A file server on this machine, as good or as bad as a test needs it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Served:
    """What is served and how; what was asked for."""

    content: bytes
    ranges: bool = True
    """Whether a part can be asked for."""
    etag: str = '"one"'
    cut_after: int | None = None
    """Bytes after which the connection breaks."""
    status: int | None = None
    """An error instead of the file."""
    url: str = ""
    asked: list[str | None] = field(default_factory=list)
    """The range of each request."""


@contextmanager
def serving(served: Served) -> Iterator[Served]:
    """A server of one file, whatever the path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            served.asked.append(wanted)
            if served.status is not None:
                self.send_error(served.status)
                return
            changed = self.headers.get("If-Range", served.etag) != served.etag
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and served.ranges and not changed else 0
            size = len(served.content)
            if start >= size > 0:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{size}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.send_header("ETag", served.etag)
            self.send_header("Content-Length", str(size - start))
            self.end_headers()
            end = size if served.cut_after is None else start + served.cut_after
            self.wfile.write(served.content[start:end])

        def log_message(self, *_: object) -> None:
            """Nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A client that hangs up is what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}/model.pt"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
