"""The server: pages and `/api/`, to be read and never written, for who may ask.

It knows requests and answers of HTTP. What a page asks stands in `pages`, what a command is asked in `asking`.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import mimetypes
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from functools import partial
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlencode

from nodeattrs.errors import missing_extra
from nodeattrs.texts.hidden import ESCAPES
from nodeattrs.typed import Any
from nodeattrs.web.asking import QUESTIONS, Answer, Site, answer
from nodeattrs.web.pages import PAGES, Page, failed
from nodeattrs.web.rendering import page, static

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

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
_FILES = ("style.css", "app.js", "icon.svg")
_COOKIE = "nodeattrs-token"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_STATUS = {"NoSuchAttribute": 404, "MissingExtra": 501, "InternalError": 500}


def app(site: Site, hosts: Collection[str] = _LOCAL, token: str = "") -> App:
    """The application. raises: MissingExtra

    hosts: the names under which it may be asked; addresses of numbers may, where a token is needed
    token: what has to be known; "" for nothing
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
    return Guard(Starlette(routes=routes, exception_handlers={404: lost, 500: lost}), hosts, token)


class Guard:
    """Lets in who asks under a name of ours, and knows the token if there is one; gives every answer its headers."""

    def __init__(self, inner: App, hosts: Collection[str], token: str) -> None:
        self._inner, self._hosts, self._token = inner, {host.lower() for host in hosts}, token

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._inner(scope, receive, send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._is_ours(headers.get("host", "")):
            return await _short(send, 421, "this server is not asked under that name")
        if self._token and not self._knows(headers.get("cookie", "")):
            return await self._ask_token(scope, send)
        return await self._inner(scope, receive, partial(_sent, send))

    def _is_ours(self, host: str) -> bool:
        name = host.lower()
        name = name[1:].partition("]")[0] if name.startswith("[") else name.rpartition(":")[0] or name
        return name in self._hosts or (bool(self._token) and _is_address(name))

    def _knows(self, text: str) -> bool:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(text)
        except Exception:  # whatever somebody sends
            return False
        return _COOKIE in cookies and self._is_token(cookies[_COOKIE].value)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    async def _ask_token(self, scope: Message, send: Send) -> None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if self._is_token(query.pop("token", [""])[0]):
            rest = urlencode(query, doseq=True)
            # Twice a slash would be another server.
            place = "/" + scope["raw_path"].decode("latin-1").lstrip("/\\") + (f"?{rest}" if rest else "")
            cookie = f"{_COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
            return await _short(send, 303, "", {"location": place, "set-cookie": cookie})
        return await _short(send, 401, "a token is needed: open the address that `nodeattrs web` printed")


def _is_address(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


async def _sent(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        message["headers"] = [*message.get("headers", ()), *_encoded(_HEADERS)]
    await send(message)


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


async def _short(send: Send, status: int, text: str, more: dict[str, str] | None = None) -> None:
    headers = _encoded({**_HEADERS, "content-type": "text/plain; charset=utf-8", **(more or {})})
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode() if text else b""})


# --- answers ------------------------------------------------------------------------


def _page(site: Site, make: Callable[..., Page], request: Any) -> Any:
    """A page: its template with what it asked; whatever is wrong is a page, too."""
    from starlette.responses import HTMLResponse, RedirectResponse

    given = {**request.query_params, **request.path_params}
    made = make(site, given)
    if made.moved:
        return RedirectResponse(made.moved, 303)
    return HTMLResponse(_text(site, made, request.url.path), _status(made.error))


def _text(site: Site, made: Page, path: str) -> str:
    error = made.error
    shown = made if error is None or made.data else failed(error, made.title)
    return page(
        shown.template, site.source.at(made.commit), **shown.data, site=site, title=made.title, here=path, api=made.api,
        warnings=made.warnings, error=error,
    )  # fmt: skip


def _lost(site: Site, request: Any, error: Exception) -> Any:
    from starlette.responses import HTMLResponse

    is_ours = getattr(error, "status_code", 500) == 404
    message = "there is no such page" if is_ours else f"a fault in nodeattrs itself: {type(error).__name__}"
    made = failed({"code": "NA1530" if is_ours else "NA0003", "message": message, "hint": None, "details": []})
    return HTMLResponse(_text(site, made, request.url.path), 404 if is_ours else 500)


def _api(site: Site, request: Any) -> Any:
    from starlette.responses import Response

    given = {name: request.query_params.getlist(name) for name in request.query_params}
    name = request.path_params["name"]
    found = _schema(given) if name == "schema" else answer(site, name, **given)
    data = found.data if found.data is not None else {"version": 1, "error": found.error}
    text = json.dumps(data, indent=2, ensure_ascii=False).translate(ESCAPES) + "\n"
    schema = f'</api/schema?name={name}>; rel="describedby"'
    headers = {"link": schema} if name in QUESTIONS else {}
    return Response(text.encode("utf-8", "surrogatepass"), _status(found.error), headers, "application/json")


def _schema(given: dict[str, list[str]]) -> Answer:
    """The schema of a question, or of all that there are their names."""
    from importlib.resources import files

    name = given.get("name", [""])[0]
    if name not in QUESTIONS:
        return Answer({"version": 1, "kind": "schemas", "names": sorted(QUESTIONS)})
    shipped = json.loads((files(__name__.partition(".")[0]) / "schemas.json").read_text(encoding="utf-8"))
    return Answer(shipped["schemas"][name.removesuffix("-line")] | {"$defs": shipped["$defs"]})


def _status(error: Any) -> int:
    name = "" if error is None else error.get("name", "")
    return 200 if error is None else _STATUS.get(name, 404 if name.endswith("NotFound") else 400)


def _static(request: Any) -> Any:
    from starlette.responses import PlainTextResponse, Response

    name = request.path_params["name"]
    if name not in _FILES:
        return PlainTextResponse("there is no such file\n", 404)
    return Response(static(name), media_type=mimetypes.guess_type(name)[0] or "text/plain")
