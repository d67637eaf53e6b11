"""Imported last by the server that processes are forked from, the user's own among them: there Ctrl-C ends things."""

from __future__ import annotations

import signal
import threading

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
