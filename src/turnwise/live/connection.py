"""The connection to the system under test: opened with a reason when it fails, written to and read without waiting.

A caller sends its frame at its moment, whether the system reads or not; what is not read queues up here, and a system
that does not read for some seconds has stalled. What the system sends is handed over as it arrives.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

from turnwise.live.address import Address
from turnwise.live.masked import MaskedFrames
from turnwise.live.outbox import Outbox

STARTING_S, RETRY_S = 3.0, 0.2
"""How long a system that refuses the connection may still be starting, and how often it is tried."""
PING_S = 5.0
"""How often the system is asked whether it is still there, and how long it may take to say so, or to read."""
LARGEST = 16 << 20
"""Bytes of one message."""
BEHIND = 1 << 16
"""Bytes that may wait to be sent."""
HUNG_UP = "the system ended the call"
_TOO_BIG, _PROPERLY = 1009, (1000, 1001)


class Ended(Exception):
    """Why a scenario ended before its time."""


class Connection:
    """An open WebSocket; a client's, if it has what masks its frames."""

    def __init__(self, socket: Any, outbox: Outbox, masked: MaskedFrames | None = None) -> None:
        from websockets.exceptions import ConnectionClosed
        from websockets.protocol import State

        self._socket, self._closed, self._open = socket, ConnectionClosed, State.OPEN
        self._outbox, self._masked = outbox, masked
        self._behind_since: float | None = None

    def send(self, text: str) -> bool:
        """Hand a message to the network, at once; False if the connection is broken, which the reader gets to know.

        A system that has said that it closes is not waited for, as some never do. This is what the library's own `send`
        does, without waiting for the buffer to empty: that costs more than everything else that is done for a frame.
        """
        protocol, transport = self._socket.protocol, self._socket.transport
        if protocol.state is not self._open:
            if protocol.close_rcvd is not None or protocol.close_sent is not None:
                raise Ended(closing(protocol.close_rcvd, protocol.close_sent, protocol.close_rcvd_then_sent))
            return False
        if self._masked is not None:
            self._outbox.write(transport, self._masked.frame(text.encode()))
        else:
            protocol.send_text(text.encode())
            for data in protocol.data_to_send():
                self._outbox.write(transport, data)
        if transport.get_write_buffer_size() > BEHIND:
            self._stalls()
        else:
            self._behind_since = None
        return True

    def _stalls(self) -> None:
        now = self._socket.loop.time()
        self._behind_since = self._behind_since or now
        if now - self._behind_since > PING_S:
            raise Ended(f"the system stalled: it did not read for {PING_S:g} s")

    def take(self, taker: Callable[[bytes], None] | None) -> None:
        """Hand whole messages over as they arrive, which must not raise; None: no more."""
        self._socket.take = taker

    async def messages(self) -> AsyncIterator[str | bytes]:
        """What is not handed over: what came before, and what came in pieces. Why there is no more is raised."""
        try:
            async for raw in self._socket:
                yield raw
            raise Ended(HUNG_UP)
        except self._closed as closed:
            raise Ended(closing(closed.rcvd, closed.sent, closed.rcvd_then_sent)) from closed


def prompt(kind: type[Any]) -> type[Any]:
    """The library's kind of connection, which hands whole messages over where it would queue them and wake a task."""
    from websockets.frames import Frame, Opcode

    class Prompt(kind):  # type: ignore[misc]
        take: Callable[[bytes], None] | None = None

        def process_event(self, event: Any) -> None:
            whole = isinstance(event, Frame) and event.fin and event.opcode in (Opcode.TEXT, Opcode.BINARY)
            if whole and self.take is not None:
                self.take(bytes(event.data))
            else:
                super().process_event(event)

    return Prompt


async def _entered(socket: Callable[[], Any], stack: AsyncExitStack) -> Any:
    """An open connection; a system that is just starting is given some seconds to listen."""
    patience = asyncio.get_running_loop().time() + STARTING_S
    while True:
        try:
            return await stack.enter_async_context(socket())
        except OSError as error:
            refused = isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error)
            if not refused or asyncio.get_running_loop().time() >= patience:
                raise
            await asyncio.sleep(RETRY_S)


async def connect_to(
    address: Address, timeout_s: float, outbox: Outbox, masked: MaskedFrames, stack: AsyncExitStack
) -> Connection:
    """A connection that is closed with the stack; what prevents it is raised as the reason."""
    from websockets.asyncio.client import ClientConnection, connect
    from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidURI

    def socket() -> Any:
        return connect(
            address.url,
            additional_headers=address.headers,
            ssl=address.ssl,
            max_size=LARGEST,
            open_timeout=min(10.0, timeout_s),
            close_timeout=1,
            ping_interval=PING_S,
            ping_timeout=PING_S,
            compression=None,
            create_connection=prompt(ClientConnection),
            proxy=None if address.is_loopback else True,
        )

    try:
        return Connection(await _entered(socket, stack), outbox, masked)
    except TimeoutError:
        raise Ended("the system did not answer the call") from None
    except InvalidURI as error:
        raise Ended(address.hushed(f"no address of a WebSocket: {error}")) from error
    except InvalidMessage as error:
        hint = "" if address.ssl else "; if it listens with TLS, its address begins with wss://"
        raise Ended(f"the system does not answer as a WebSocket does{hint}") from error
    except InvalidHandshake as error:
        raise Ended(address.hushed(f"the system refused the call: {error}")) from error
    except OSError as error:
        raise Ended(refusal(error, secure=address.ssl is not None)) from error


def refusal(error: OSError, *, secure: bool) -> str:
    """Why there is no connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the system's certificate is not trusted: {error.verify_message} (--ca names an authority)"
    if isinstance(error, ssl.SSLError) or (secure and isinstance(error, ConnectionResetError | ConnectionAbortedError)):
        what = getattr(error, "reason", None) or error.strerror or type(error).__name__
        return f"the connection failed: no TLS was agreed on ({what}); a system without TLS is called with ws://"
    return f"the connection failed: {error.strerror or type(error).__name__}"


def closing(theirs: Any, ours: Any, theirs_first: bool | None) -> str:
    """Why a connection that was open is not any more, by what the two sides said when they closed it."""
    if ours is not None and not theirs_first:
        if "ping" in ours.reason:
            return f"the system stalled: it did not answer for {PING_S:g} s"
        if ours.code == _TOO_BIG:
            return f"the system sent a message of more than {LARGEST >> 20} MB"
        return f"the system broke the protocol ({ours.code}{f': {ours.reason}' if ours.reason else ''})"
    if theirs is None:
        return "the connection broke off"
    if theirs.code in _PROPERLY:
        return HUNG_UP
    return f"the system closed the connection ({theirs.code}{f': {theirs.reason}' if theirs.reason else ''})"
