"""Serves the explorer with uvicorn, to browsers that have a token."""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
import signal
import socket
from collections.abc import Callable

from nodeattrs.errors import BadArgument, NodeattrsError, missing_extra
from nodeattrs.web.asking import ShownProject
from nodeattrs.web.site import app, in_url


def serve(site: ShownProject, address: str, port: int, say: Callable[[str], object], has_token: bool = True) -> int:
    """Serve the explorer until SIGINT or SIGTERM, then return the exit code 0. Replaces the handler of SIGTERM.

    address, port: where to listen; port 0 takes a free one
    say:       called once with the URL to open, token included, when connections are accepted
    has_token: whether a browser needs a token; False only for an address of this machine
    raises:    MissingExtra, without uvicorn or starlette; NodeattrsError, where the address or port cannot be used;
               BadArgument, if *has_token* is False and other machines can reach the address
    """
    try:
        import uvicorn
    except ImportError as error:
        raise missing_extra("uvicorn", "web", "a server of pages") from error
    with _listening(address, port) as listener:
        bound, port = listener.getsockname()[:2]
        is_local = ipaddress.ip_address(bound).is_loopback
        if not (has_token or is_local):
            hint = "leave out --no-token, or bind to 127.0.0.1"
            raise BadArgument(f"--bind {address} serves other machines, and they need a token", hint=hint)
        token = secrets.token_urlsafe(24) if has_token else ""
        hosts = {in_url(address)}
        if not is_local:
            hosts |= {in_url(socket.gethostname()), in_url(socket.getfqdn())}
        server = uvicorn.Server(
            uvicorn.Config(
                app(site, token, hosts), log_level="warning", access_log=False, server_header=False, date_header=False,
                lifespan="off", ws="none", proxy_headers=False, timeout_graceful_shutdown=1,
            )
        )  # fmt: skip
        say(f"http://{in_url(address)}:{port}/" + (f"?token={token}" if token else ""))
        # A server that is ended has a folder to remove; uvicorn gives the signal on when it has closed.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):  # as people end it
            server.run([listener])
    return 0


def _listening(address: str, port: int) -> socket.socket:
    """A socket that listens. raises: NodeattrsError, where the address or port cannot be used"""
    try:
        family, _, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((place[0], port, *place[2:]))  # the C library may take 70000 for another port
        listener.listen(128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NodeattrsError(
            f"cannot listen on {address}, port {port}: {reason}", hint="name others: --bind, --port"
        ) from None
    return listener
