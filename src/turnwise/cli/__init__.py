"""The command line. One file per command; heavy imports wait until a command runs."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Entry point of `turnwise`: a user's mistake never shows a traceback."""
    from turnwise.cli.app import app
    from turnwise.kernel.errors import TurnwiseError

    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115  (closed by the caller: `>&-`)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that cannot show a character is no reason to fail
    try:
        app()
    except TurnwiseError as error:
        _say(f"error: {error.message}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(1)
    except UnicodeEncodeError as error:
        _say(f"error: an argument is not UTF-8 text\n  found: {error.object!a}\n  remedy: type it in UTF-8")
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output has gone (`turnwise runs | head`): nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if os.environ.get("TURNWISE_DEBUG"):
            raise
        _say(f"error: {error.strerror or error}\n  where: {error.filename or 'standard output'}\n  remedy: check it")
        sys.exit(1)
    except Exception as error:
        if os.environ.get("TURNWISE_DEBUG"):
            raise
        _say(
            f"internal error: {type(error).__name__}: {error}\n"
            "  this is a fault of turnwise, not yours\n"
            "  remedy: run it again with TURNWISE_DEBUG=1 and report what it prints"
        )
        sys.exit(1)


def _say(text: str) -> None:
    print(text, file=sys.stderr)
