"""The server's ASGI application: pages and `/api/`, read-only, for browsers that have the token.

The application turns requests into pages and responses. `pages` has the questions of each page, and `asking` the
command for each question.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from nodeattrs.errors import InternalError, NotFound, missing_extra
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.reports import schemas
from nodeattrs.web.asking import QUESTIONS, CommandAnswer, ShownProject, answer
from nodeattrs.web.pages import PAGES, Page, failed
from nodeattrs.web.rendering import page, static

Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, _Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_FILES = {"style.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"}
"""Files of the pages, and their types. `mimetypes` would read /etc/mime.types, which is outside of the border."""

_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_NO_TOKEN = "open the address with the token that `nodeattrs web` prints in its terminal\n"
_STATUS = {"NoSuchAttribute": 404, "MissingExtra": 501, "InternalError": 500}


def app(site: ShownProject, token: str, hosts: Collection[str] = ()) -> App:
    """The ASGI application of the explorer, behind a `Guard`. An unknown address and a fault in a page are shown as
    pages.

    token:  the secret that a browser needs; "" for none
    hosts:  allowed values of the Host header, besides localhost and the address of the connection
    raises: MissingExtra, without starlette
    """
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError as error:
        raise missing_extra("starlette", "web", "a server of pages") from error
    routes = [Route(path, partial(_page, site, make), methods=["GET"]) for path, make in PAGES.items()]
    routes += [
        Route("/api/{name}", partial(_api, site), methods=["GET"]),
        Route("/static/{name}", _static, methods=["GET"]),
    ]
    lost = partial(_lost, site)
    return Guard(Starlette(routes=routes, exception_handlers={404: lost, 500: lost}), token, hosts)


class Guard:
    """ASGI middleware: answers 421 to a forbidden Host header, and 403 without the token; else it calls *inner*.

    Allowed are localhost, 127.0.0.1, [::1], the address that the request came in at, and *hosts*, each alone or with
    the port that is served. A request with the token in its URL gets a cookie and a redirect to the same URL without
    the token. Later requests need the cookie. With "" as token no request needs one.

    Security headers are added to every response of HTTP. Other kinds of connections are passed on unchecked.
    """

    def __init__(self, inner: App, token: str, hosts: Collection[str]) -> None:
        self._inner, self._token, self._hosts = inner, token, {*_LOCAL, *hosts}

    async def __call__(self, scope: Message, receive: _Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = self._refusal(scope) or self._inner
            await answer(scope, receive, partial(_sent, send))
        else:
            await self._inner(scope, receive, send)

    def _refusal(self, scope: Message) -> Any:
        """The guard's own response: an error, or the redirect with the cookie. None: the request may pass."""
        from starlette.requests import Request
        from starlette.responses import PlainTextResponse, RedirectResponse

        request, (address, port) = Request(scope), scope["server"]
        if not self._is_ours(request.headers.getlist("host"), address, port):
            return PlainTextResponse("this server is not asked under that name\n", 421)
        cookie = f"nodeattrs-token-{port}"  # browsers send a cookie to all ports of a host
        if self._is_token(request.query_params.get("token", "")):
            rest = urlencode([one for one in request.query_params.multi_items() if one[0] != "token"])
            # Two slashes at the start would name another server.
            place = "/" + scope["raw_path"].decode("latin-1").lstrip("/\\") + (f"?{rest}" if rest else "")
            moved = RedirectResponse(place, 303)
            moved.set_cookie(cookie, self._token, httponly=True, samesite="strict")
            return moved
        if self._token and not self._is_token(request.cookies.get(cookie, "")):
            return PlainTextResponse(_NO_TOKEN, 403)
        return None

    def _is_ours(self, given: list[str], address: str, port: int) -> bool:
        """Whether the request has exactly one Host header, with an allowed name, alone or with the port that is served.

        Starlette's TrustedHostMiddleware accepts any port, and the first of two headers.
        """
        names = {*self._hosts, in_url(address.removeprefix("::ffff:"))}
        return len(given) == 1 and given[0].lower() in {*names, *(f"{name}:{port}" for name in names)}

    def _is_token(self, given: str) -> bool:
        return bool(self._token) and secrets.compare_digest(given.encode("utf-8", "replace"), self._token.encode())


def in_url(address: str) -> str:
    """A host name or an address in lower case, with brackets around an IPv6 address."""
    return f"[{address}]".lower() if ":" in address else address.lower()


async def _sent(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        headers = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
        message["headers"] = [*message.get("headers", ()), *headers]
    await send(message)


# --- answers ------------------------------------------------------------------------


def _page(site: ShownProject, make: Callable[..., Page], request: Any) -> Any:
    """The response with a page as HTML; an error of its question is shown on the page."""
    from starlette.responses import HTMLResponse

    given = {**request.query_params, **request.path_params}
    made = make(site, given)
    return HTMLResponse(_text(site, made, request.url.path), _status(made.error))


def _text(site: ShownProject, made: Page, path: str) -> str:
    error = made.error
    shown = made if error is None or made.data else failed(error, made.title)
    return page(
        shown.template, site.source.at(made.commit), **shown.data, site=site, title=made.title, here=path, api=made.api,
        warnings=made.warnings, error=error,
    )  # fmt: skip


def _lost(site: ShownProject, request: Any, error: Exception) -> Any:
    from starlette.responses import HTMLResponse

    is_ours = getattr(error, "status_code", 500) == 404
    message = "there is no such page" if is_ours else f"a fault in nodeattrs itself: {type(error).__name__}"
    code = NotFound.entry.code if is_ours else InternalError.entry.code
    made = failed({"code": code, "message": message, "hint": None, "details": []})
    return HTMLResponse(_text(site, made, request.url.path), 404 if is_ours else 500)


def _api(site: ShownProject, request: Any) -> Any:
    from starlette.responses import Response

    given = {name: request.query_params.getlist(name) for name in request.query_params}
    name = request.path_params["name"]
    found = _schema(given) if name == "schema" else answer(site, name, **given)
    data = found.data if found.data is not None else {"version": 1, "error": found.error}
    text = json.dumps(data, indent=2, ensure_ascii=False).translate(ESCAPES) + "\n"
    schema = f'</api/schema?name={name}>; rel="describedby"'
    headers = {"link": schema} if name in QUESTIONS else {}
    return Response(text.encode("utf-8", "surrogatepass"), _status(found.error), headers, "application/json")


def _schema(given: dict[str, list[str]]) -> CommandAnswer:
    """The schema of the question `name`; the names of all questions where it is unknown or missing."""
    name = given.get("name", [""])[0]
    if name not in QUESTIONS:
        return CommandAnswer({"version": 1, "kind": "schemas", "names": sorted(QUESTIONS)})
    return CommandAnswer(schemas.schema(name))


def _status(error: Any) -> int:
    name = "" if error is None else error.get("name", "")
    return 200 if error is None else _STATUS.get(name, 404 if name.endswith("NotFound") else 400)


def _static(request: Any) -> Any:
    from starlette.responses import PlainTextResponse, Response

    name = request.path_params["name"]
    if name not in _FILES:
        return PlainTextResponse("there is no such file\n", 404)
    return Response(static(name), media_type=_FILES[name])
