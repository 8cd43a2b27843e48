"""Serves the explorer with uvicorn: on this machine alone, or with a token."""

from __future__ import annotations

import ipaddress
import secrets
import signal
import socket
from collections.abc import Callable

from nodeattrs.errors import NodeattrsError, missing_extra
from nodeattrs.web.asking import Site
from nodeattrs.web.site import app


def serve(site: Site, address: str, port: int, say: Callable[[str], object]) -> int:
    """Serve until somebody interrupts; the exit code. raises: MissingExtra, NodeattrsError

    say: is given the address to open, once it can be
    """
    try:
        import uvicorn
    except ImportError as error:
        raise missing_extra("uvicorn", "web", "a server of pages") from error
    listener = _listening(address, port)
    is_local = ipaddress.ip_address(listener.getsockname()[0]).is_loopback
    token = "" if is_local else secrets.token_urlsafe(24)
    hosts = {"localhost", "127.0.0.1", "::1", address} | (
        set() if is_local else {socket.gethostname(), socket.getfqdn()}
    )
    server = uvicorn.Server(
        uvicorn.Config(
            app(site, hosts, token), log_level="warning", access_log=False, server_header=False, date_header=False,
            lifespan="off", ws="none", proxy_headers=False, timeout_graceful_shutdown=1,
        )
    )  # fmt: skip
    shown = f"[{address}]" if ":" in address else address
    say(f"http://{shown}:{listener.getsockname()[1]}/" + (f"?token={token}" if token else ""))
    # A server that is ended has a folder to remove; uvicorn gives the signal on when it has closed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.run([listener])
    except KeyboardInterrupt:
        pass  # as people end it
    finally:
        listener.close()
    return 0


def _listening(address: str, port: int) -> socket.socket:
    """raises: NodeattrsError, where the address or port cannot be had"""
    try:
        family, _, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NodeattrsError(
            f"nobody can listen on {address}, port {port}: {reason}", hint="name others: --bind, --port"
        ) from None
    return listener
