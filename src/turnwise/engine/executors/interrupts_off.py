"""Imported first by the server that worker processes are forked from: Ctrl-C is not its business either."""

from __future__ import annotations

import signal
import threading

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
