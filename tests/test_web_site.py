"""The explorer as a server: who may ask, what it answers, and that its data are those of the commands."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from queue import Empty, Queue
from threading import Event
from urllib.parse import quote

import pytest

from nodeattrs import Node
from nodeattrs.cli import codes, impact, main
from nodeattrs.cli.asked import CommandRunner
from nodeattrs.store import Saved, open_store, saved_document
from nodeattrs.web.asking import QUESTIONS, ShownProject, answer, words_of
from nodeattrs.web.drawing import drawn
from nodeattrs.web.rendering import SourceLinks
from tests import schemas

pytest.importorskip("starlette")
pytest.importorskip("lark")
httpx = pytest.importorskip("httpx")

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
CATALOG = {
    "resources": [{"type": "File", "title": name} for name in ("/a", "/b", "/c")],
    "chains": ["File['/a'] -> File['/b'] ~> File['/c']"],
}
CYCLE = {**CATALOG, "chains": [*CATALOG["chains"], "File['/c'] -> File['/a']"]}


def made(place: Path) -> Path:
    """The example with all that there are pages for, in git, run twice."""
    shutil.copytree(EXAMPLE, place)
    (place / "catalogs").mkdir()
    for name, content in (("web1", CATALOG), ("web2", CYCLE)):
        (place / "catalogs" / f"{name}.json").write_text(json.dumps(content))
    git(place, "init", "-q")
    commit(place)
    run(place, "--all")
    production = place / "environments" / "production.yaml"
    production.write_text(production.read_text().replace("workers: 30", "workers: 28"))
    commit(place)
    run(place, "--node", "web1")
    return place


def git(place: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words], cwd=place, check=True)


def commit(place: Path) -> None:
    git(place, "add", "-A")
    git(place, "commit", "-qm", "a change")


def run(place: Path, *words: str) -> None:
    where = ["--repo", str(place), "--facts", str(place / "facts"), "--store", str(place / "nodes.db")]
    assert 0 == main(["run", "--quiet", *words, *where])


def site_of(place: Path, runs_code: bool = False, pattern: str = "") -> ShownProject:
    """What `nodeattrs web` makes of its options."""
    import argparse

    from nodeattrs.cli.web import site

    options = argparse.Namespace(repo=str(place), store=str(place / "nodes.db"), run_code=runs_code)
    found = site(options)
    return found._replace(source=SourceLinks(pattern, str(place))) if pattern else found


def client(site: ShownProject, token: str = "", **more: object) -> Client:
    from nodeattrs.web.site import app

    return Client(app(site, token, **more))


class Client:
    """Asks an application as a browser asks a server."""

    def __init__(self, app: object) -> None:
        self._app = app

    def get(self, path: str, host: str = "127.0.0.1:8700", method: str = "GET", **headers: str):
        return self.request(method, path, [("host", host), *headers.items()])

    def request(self, method: str, path: str, headers: list[tuple[str, str]], reached: str = "127.0.0.1"):
        """reached: the address of the machine that the request came to"""

        async def asked():
            transport = httpx.ASGITransport(app=self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{reached}:8700") as one:
                return await one.request(method, path, headers=headers)

        return asyncio.run(asked())


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return made(tmp_path_factory.mktemp("site") / "example")


@pytest.fixture(scope="module")
def site(place) -> ShownProject:
    """It asks nothing twice."""
    site = site_of(place, runs_code=True)
    return site._replace(ask=cache(site.ask))


@pytest.fixture(scope="module")
def web(site) -> Client:
    return client(site)


PAGES = [
    "/", "/nodes?q=role:web", "/nodes?failed=1", "/nodes/web1", "/nodes/web1?at=1", "/nodes/web1/history",
    "/nodes/web1/why?path=app.workers", "/nodes/web1/why?path=apache2.listen_ports&part=1", "/nodes/web1/catalog",
    "/nodes/web1/catalog?first=File[/a]&then=File[/c]", "/nodes/db1/catalog", "/diff", "/diff?before=web1",
    "/diff?before=web1&after=web2&slots=1", "/values", "/values?key=app.workers",
    "/attribute", "/attribute?path=app.workers", "/roles", "/roles/web",
    "/environments", "/environments/production", "/values?key=ntp::servers&dialect=hiera",
    "/subjects", "/subjects/cloud-init?on=web", "/subjects/ansible?on=web1", "/subjects/hiera?on=web1",
    "/subjects/folds", "/values?key=runcmd&dialect=cloud-init", "/values?key=http_port&dialect=ansible",
    "/impact", "/impact?range=HEAD~1..HEAD", "/where", "/where?file=roles/web.json:38", "/check",
]  # fmt: skip


class TestPages:
    @pytest.mark.parametrize("path", PAGES)
    def test_each_is_there_and_loads_nothing_from_elsewhere(self, web, path):
        answer = web.get(path)

        assert 200 == answer.status_code, answer.text
        assert [] == re.findall(r"""(?:\son\w+=|\sstyle=|<style|@import|url\(|src="[^/]|href="//)""", answer.text)
        assert [] == [one for one in re.findall(r'(?:src|action)="([^"]*)"', answer.text) if not one.startswith("/")]

    @pytest.mark.parametrize(
        ("path", "texts"),
        [
            ("/", ["web1", "ubuntu", "production", "web2", "db1"]),
            ("/nodes/web1", ["workers", ">28<", "production.yaml:29", "chg"]),
            ("/nodes/web1?at=1", [">30<", "not the latest"]),
            ("/nodes/web1/history", ["revision 2", "revision 1", "what changed"]),
            ("/nodes/web1/why?path=app.workers", ["overridden by 12", "inside the level", "roles/<wbr>web.json:38"]),
            ("/nodes/web1/why?path=apache2.listen_ports", ["Elements", "9443", "production.yaml:15"]),
            ("/diff?before=web1@1&after=web1", [">30<", ">28<"]),
            ("/attribute?path=app.workers", [">28<", ">30<", ">8<", "roles/<wbr>web.json:38"]),
            ("/values?key=app.workers", [">28<", "roles/<wbr>web.json:38", "web2"]),
            ("/values", ["/subjects/nodes?on=web1", "/subjects/folds"]),
            ("/where?file=roles/web.json:38", ["app.workers", "overridden on", "production.yaml:29"]),
            ("/check", ["unused-attribute", "storage.toml:5", "what the line sets"]),
            ("/roles/web", ["apache2.keepalive", "overridden on 2", "default.py:29"]),
            ("/environments/production", ["app.log_level"]),
            ("/values?key=ntp::servers&dialect=hiera", ["ntp", "web2"]),
            ("/values?key=runcmd&dialect=cloud-init", ["cloud-init/<wbr>web.yaml:7"]),
            ("/values?key=http_port&dialect=ansible", [">8000<", "web2", ">80<", "db1", "host vars (8 of 22)"]),
            ("/subjects", ["on=web1", "/subjects/ansible", "/subjects/cloud-init"]),
            ("/subjects/ansible?on=web1", ["http_port", ">8080<", "hosts.ini:2", "key=http_port&amp;dialect=ansible"]),
            ("/subjects/cloud-init?on=web", ["runcmd", "cloud-init/<wbr>"]),
            ("/impact?range=HEAD~1..HEAD", ["app.workers", ">30<", ">28<", "db1"]),
            ("/nodes/web1/catalog?first=File[/a]&then=File[/c]", ["<svg", "comes before", "refreshes"]),
            ("/nodes/web1/catalog?first=File[/a]&then=File[/c]", ['value="File[/a]"', 'value="File[/c]"']),
            ("/nodes/web2/catalog", ["1 cycle", "cyc"]),
        ],
    )
    def test_each_shows_what_it_is_about(self, web, path, texts):
        text = web.get(path).text

        assert [] == [one for one in texts if one not in text]

    @pytest.mark.parametrize(
        ("path", "status", "text"),
        [
            ("/nosuch", 404, "no such page"),
            ("/nodes/nosuch", 404, "no saved node nosuch"),
            ("/nodes/..%2f..%2fetc%2fpasswd", 404, ""),
            ("/nodes/%2e%2e", 400, ""),
            ("/roles/..%5c..%5cx", 400, ""),
            ("/roles/nosuch", 404, "nosuch"),
            ("/where?file=/etc/passwd", 404, "no file"),
            ("/where?file=a%00b", 400, "null character"),
            ("/subjects/%2fetc%2fpasswd", 404, ""),
            ("/subjects/nosuch", 400, "no dialect"),
            ("/subjects/ansible?on=nosuch", 404, "nosuch"),
            ("/subjects/ansible?on=--version", 404, "--version"),
            ("/api/where?file=/etc/passwd", 404, "no file"),
            ("/api/where?file=../../../../../../etc/passwd", 404, "no file"),
            ("/api/where?file=roles/web.json&repo=/", 400, "knows no parameter"),
            ("/nodes?q=((", 400, ""),
            ("/nodes/web1/why", 400, "path is missing"),
            ("/nodes/web1/why?path=nosuch.x", 404, "is not set"),
            ("/nodes/web1?at=xx", 400, "neither"),
            ("/nodes/--help", 404, "--help"),
            ("/impact?range=--output=x..y", 400, ""),
            ("/impact?range=/etc", 400, "range of commits"),
            ("/static/..%2fsite.py", 404, ""),
            ("/static/site.py", 404, ""),
            ("/api/nosuch", 404, "no question"),
            ("/api/run?node=web1", 404, "no question"),
            ("/api/explain?node=web1&path=app&store=x", 400, "knows no parameter"),
            ("/api/search?query=role:web&limit=x", 400, ""),
        ],
    )
    def test_what_is_wrong_is_a_page_and_no_path(self, web, path, status, text):
        answer = web.get(path)

        assert (status, True) == (answer.status_code, text in answer.text), answer.text
        assert "Traceback" not in answer.text

    def test_names_and_values_are_no_markup(self, tmp_path):
        node = Node("web1")
        node.default["<script>x</script>"] = {'"><img src=x>': "<b>\u202e"}
        node.default["app"]["x'y"] = ["</code><script>"]
        open_store(str(tmp_path / "nodes.db")).save(Saved("web1", saved_document(node), node.snapshot()))
        web = client(site_of(tmp_path))

        for path in (
            "/nodes/web1",
            "/nodes/web1/why?path=app",
            "/attribute?path=app",
            "/nodes?q=<script>",
            "/diff?before=<script>",
        ):
            text = web.get(path).text
            assert [] == re.findall(r"<script>|<img|<b>\W|\u202e", text), path


OURS = ["127.0.0.1:8700", "127.0.0.1", "localhost", "LOCALHOST:8700", "LocalHost", "[::1]:8700", "[::1]"]
NOT_OURS = [
    "", ":8700", " ", "evil.example", "evil.example:8700", "10.0.0.1", "10.0.0.1:8700", "0.0.0.0", "[::]",
    "127.0.0.1.evil.example", "127.0.0.1.evil.example:8700", "localhost.evil.example", "evil.localhost",
    "[localhost].evil.example", "[localhost]", "[127.0.0.1]", "[::1]evil", "[::1].evil.example:8700", "[::1", "::1",
    "localhost:1@evil", "localhost@evil.example", "evil.example@localhost", "user@localhost:8700",
    "localhost.", "localhost.:8700", "127.0.0.1.", "127.1", "0x7f.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433",
    "127.0.0.2", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::1%lo]", "localhost:", "localhost:80", "localhost:08700",
    "localhost:8700:8700", "localhost:evil", "localhost:8700.evil.example", "localhost:-1", "localhost:+8700",
    "localhost, evil.example", "localhost evil.example", "localhost/evil", "localhost#", "localhost\\", "*",
    "http://localhost", "%6cocalhost", "\u0130localhost",
]  # fmt: skip
NO_TOKEN = "open the address with the token that `nodeattrs web` prints in its terminal\n"
COOKIES = [
    "",
    "nodeattrs-token-8700=wrong",
    "nodeattrs-token-8700=",
    "nodeattrs-token-8701=s3cret",
    "nodeattrs-token=s3cret",
    "s3cret",
    '; ;=;,"x',
]
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NOSUCH"]
STATIC = ("style.css", "app.js", "icon.svg")

OTHER_USER = """
import encodings.idna, http.client, json, os, sys

port, paths = int(sys.argv[1]), sys.argv[2:]
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
answers = {}
for path in paths:
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    asked.request("GET", path)
    answer = asked.getresponse()
    answers[path] = [answer.status, answer.read().decode()]
print(json.dumps(answers))
"""
"""Asks a server on this machine as a user who owns nothing, and who cannot read the modules of this Python."""


@contextlib.contextmanager
def served(place: Path, *words: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """A server in a process of its own, and the first line that it prints."""
    where = ["--repo", str(place), "--store", str(place / "nodes.db"), "--port", "0", *words]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "nodeattrs", "web", *where],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process, process.stdout.readline()
    finally:
        process.terminate()
        process.wait(20)


class TestGuard:
    @pytest.mark.parametrize("host", OURS)
    def test_a_request_under_a_name_of_this_machine_and_the_port_served_is_answered(self, web, host):
        assert 200 == web.get("/static/style.css", host).status_code

    @pytest.mark.parametrize("host", NOT_OURS)
    def test_a_request_under_any_other_host_is_refused_with_or_without_the_token(self, web, site, host):
        with_token = client(site, token="s3cret")

        assert 421 == web.request("GET", "/", [("host", host.encode())]).status_code
        assert 421 == with_token.request("GET", "/?token=s3cret", [("host", host.encode())]).status_code

    @pytest.mark.parametrize(
        "hosts", [[], ["localhost", "evil.example"], ["evil.example", "localhost"], ["localhost"] * 2]
    )
    def test_a_request_without_exactly_one_host_is_refused(self, web, hosts):
        """httpx adds the header where it is missing, so the application is asked without it."""
        from nodeattrs.web.site import Guard

        sent = []

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"",
            "headers": [(b"host", one.encode()) for one in hosts], "server": ("127.0.0.1", 8700),
        }  # fmt: skip
        asyncio.run(Guard(None, "", ())(scope, None, send))

        assert 421 == sent[0]["status"]

    @pytest.mark.parametrize(
        ("reached", "host", "status"),
        [
            ("10.0.0.5", "10.0.0.5:8700", 403),
            ("10.0.0.5", "10.0.0.6:8700", 421),
            ("10.0.0.5", "10.0.0.5:80", 421),
            ("[fd00::5]", "[fd00::5]:8700", 403),
            ("[::ffff:a00:5]", "10.0.0.6", 421),
            ("10.0.0.5", "shop.example:8700", 403),
            ("10.0.0.5", "other.example", 421),
        ],
    )
    def test_a_server_of_others_is_asked_under_its_name_and_the_address_that_is_reached(
        self, site, reached, host, status
    ):
        web = client(site, token="s3cret", hosts=["shop.example"])

        assert status == web.request("GET", "/", [("host", host)], reached).status_code

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    @pytest.mark.parametrize("path", ["/", "/nodes/web1", "/api/status"])
    def test_the_guard_refuses_methods_that_write(self, web, method, path):
        assert 405 == web.get(path, method=method).status_code

    @pytest.mark.parametrize("path", ["/", "/nosuch", "/api/status", "/static/app.js", "/nodes/nosuch"])
    def test_every_answer_has_the_policy(self, web, path):
        headers = web.get(path).headers

        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert ("nosniff", "no-referrer", "no-store") == tuple(
            headers[name] for name in ("x-content-type-options", "referrer-policy", "cache-control")
        )
        assert "access-control-allow-origin" not in headers

    @pytest.mark.parametrize(
        "path",
        [
            "/", "/nosuch", "/api/status", "/static/app.js", "//evil.example/", "/?token=wrong", "/?token=",
            "/?token=%ff", "/?token=s3cre", "/?token=s3cret5", "/?Token=s3cret", "/?token=wrong&token=",
            "/?q=token=s3cret",
        ],
    )  # fmt: skip
    def test_without_the_token_nothing_is_answered(self, path):
        """Whatever the method, and whatever other cookies come with it."""
        web = client(ShownProject(None, SourceLinks(), ""), token="s3cret")
        for method, cookie in product(METHODS, COOKIES):
            answer = web.get(path, method=method, cookie=cookie)
            assert (403, NO_TOKEN) == (answer.status_code, answer.text), (method, cookie)
            assert "set-cookie" not in answer.headers
            assert "no-referrer" == answer.headers["referrer-policy"]

    @pytest.mark.parametrize(
        ("path", "place_of"),
        [
            ("/?token=s3cret", "/"),
            ("/nodes/a%2Fb?token=s3cret", "/nodes/a%2Fb"),
            ("/nodes?q=a%26b&token=s3cret&failed=1", "/nodes?q=a%26b&failed=1"),
            ("/nodes?token=x&q=a&q=b&token=s3cret", "/nodes?q=a&q=b"),
            ("http://127.0.0.1:8700//evil.example/?token=s3cret", "/evil.example/"),
            ("http://127.0.0.1:8700/%5Cevil.example/?token=s3cret", "/%5Cevil.example/"),
        ],
    )
    def test_the_token_becomes_a_cookie_and_leaves_the_address(self, site, path, place_of):
        moved = client(site, token="s3cret").get(path, cookie="nodeattrs-token-8700=s3cret" if "q=a" in path else "")
        same = {
            name: value for name, _, value in (one.partition("=") for one in moved.headers["set-cookie"].split("; "))
        }

        assert (303, place_of, "") == (moved.status_code, moved.headers["location"], moved.text)
        assert {"nodeattrs-token-8700": "s3cret", "HttpOnly": "", "SameSite": "strict", "Path": "/"} == same

    def test_a_browser_with_the_cookie_sees_all_pages_and_no_page_has_the_token(self, site):
        web = client(site, token="s3cret-token")

        for path in (*PAGES, "/api/status", "/static/app.js"):
            answer = web.get(path, cookie="other=1; nodeattrs-token-8700=s3cret-token; nodeattrs-token-1=x")
            assert 200 == answer.status_code, path
            assert "s3cret-token" not in f"{answer.text}{answer.headers}", path

    def test_code_is_run_for_who_asked_at_the_start_only(self, place, tmp_path):
        copy = tmp_path / "copy"
        shutil.copytree(place, copy)
        (copy / "roles" / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nname('evil')\n")
        web = client(site_of(copy))

        for path in ("/roles/evil", "/nodes/db1/catalog", "/impact?range=HEAD~1..HEAD", "/roles", "/nodes/web1"):
            web.get(path)
        assert not (tmp_path / "ran").exists()
        text = web.get("/nodes/db1/catalog").text
        assert ("is code" in text, str(copy / "cookbooks") in text) == (True, False)

    def test_nothing_is_written(self, place):
        """SQLite has files beside a store that is read; what stands in them is moved into the store before."""
        with contextlib.closing(sqlite3.connect(place / "nodes.db")) as store:
            store.execute("pragma wal_checkpoint(truncate)")
        before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
        web = client(site_of(place))
        for path in PAGES:
            web.get(path)

        after = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
        changed = {path.name for path in after if before.get(path) != after[path]}
        assert {"nodes.db-shm", "nodes.db-wal"} >= changed


_NTP = "Recipe[base::default]", "Recipe[base::ntp]"
_DB1 = "--node db1 --repo . --facts facts"
_SEEN = "--repo . --facts facts --run-code"
ASKED = {
    "status": ("", "status"),
    "show": ("node=web1", "show web1 --winners"),
    "explain": ("node=web1&path=app.workers", "explain web1 app.workers"),
    "history": ("node=web1", "history web1"),
    "search": ("query=role:web&attribute=roles&limit=1", "search role:web -a roles --limit 1"),
    "diff": ("before=web1&after=web2&slots=1", "diff web1 web2 --slots"),
    "matrix": ("path=app.workers&count=1", "matrix app.workers --count"),
    "list": ("kind=fields", "list fields"),
    "role-show": ("name=web", "role show web --origins --repo ."),
    "environment-show": ("name=production", "environment show production --origins --repo ."),
    "catalog-graph": ("node=db1", f"catalog graph {_DB1}"),
    "catalog-why": ("node=db1&first={}&then={}".format(*_NTP), f"catalog why {' '.join(_NTP)} {_DB1}"),
    "why": ("key=app.workers&dialect=nodes", f"why app.workers --dialect nodes {_SEEN}"),
    "where": (
        "file=roles/web.json&on=web1&dialect=nodes",
        f"where roles/web.json --on web1 --dialect nodes --from-store nodes.db {_SEEN}",
    ),
    "check": ("", "check --repo {0}"),
    "blame": ("subject=web1&dialect=ansible", f"blame web1 --dialect ansible {_SEEN}"),
    "impact": ("range=HEAD~1..HEAD", "impact HEAD~1..HEAD --jobs 1"),
}


class TestData:
    def test_every_question_is_here(self):
        assert set(QUESTIONS) == set(ASKED)

    @pytest.mark.parametrize("name", QUESTIONS)
    def test_data_of_the_site_equals_the_output_of_the_command(self, place, monkeypatch, name):
        """Byte for byte, and it conforms to the schema that the answer names."""
        query, line = ASKED[name]
        web = client(site_of(place, runs_code=True))
        monkeypatch.chdir(place)
        monkeypatch.setenv("NODEATTRS_STORE", "nodes.db")
        if name == "impact":  # it counts what it has looked at before
            web.get(f"/api/{name}?{query}")
        answer = web.get(f"/api/{name}?{query}")

        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            main([*line.format(place).split(), "--format", "json"])

        assert out.getvalue() == answer.text
        assert f"</api/schema?name={name}>" in answer.headers["link"]
        jsonschema = pytest.importorskip("jsonschema")
        schema = web.get(f"/api/schema?name={name}").json()
        assert [] == list(jsonschema.Draft202012Validator(schema).iter_errors(answer.json()))
        assert schemas.OUTPUTS[name]

    def test_a_name_is_never_another_word(self):
        site = ShownProject(None, SourceLinks(), "")  # type: ignore[arg-type]

        words = words_of(site, "diff", {"before": ["--store=x"], "after": ["--"], "path": ["--slots"]})

        assert ["diff", "--path=--slots", "--", "--store=x", "--"] == words

    def test_data_of_the_site_shows_later_runs(self, place, tmp_path):
        copy = tmp_path / "copy"
        shutil.copytree(place, copy)
        web = client(site_of(copy))
        assert 2 == web.get("/api/show?node=web1").json()["revision"]

        run(copy, "--node", "web1")

        assert 3 == web.get("/api/show?node=web1").json()["revision"]


def rows_of(text: str) -> Iterator[tuple[str, int, str]]:
    """Path, slot and place of each row of a node's page."""
    for row in re.findall(r'<(?:details|div) class="leaf.*', text):
        path = re.search(r'data-p="([^"]*)"', row)[1]
        rank = re.search(r'<b class="num \w+">(\d+)</b>', row)[1]
        place = re.search(r'<(?:a|span) class="at"[^>]*>(.*?)</(?:a|span)>', row)[1].replace("<wbr>", "")
        yield path, int(rank), place


def test_the_winner_and_the_line_are_those_of_explain(place, web):
    """Of fifty random attributes of the example; the browser's tests read them from the screen."""
    import html

    rows = [(name, *row) for name in ("web1", "web2", "db1") for row in rows_of(web.get(f"/nodes/{name}").text)]

    for name, path, rank, shown in random.Random(1).sample(rows, 50):
        asked = quote(html.unescape(path))
        winner = web.get(f"/api/explain?node={name}&path={asked}").json()["claims"][0]
        assert rank == winner["rank"], path
        assert html.unescape(shown) == (
            f"{winner['file']}:{winner['line']}" if winner["line"] else winner["file"] or shown
        )


class TestDrawing:
    def test_what_comes_before_stands_to_the_left(self):
        edges = [{"before": "a", "after": "b"}, {"before": "b", "after": "c"}, {"before": "a", "after": "c"}]
        graph = {"resources": [{"resource": one, "is_container": False} for one in "cba"], "edges": edges, "cycles": []}

        boxes = {one["resource"]: one["x"] for one in drawn(graph)["boxes"]}

        assert boxes["a"] < boxes["b"] < boxes["c"]

    def test_a_cycle_is_drawn_and_marked(self):
        edges = [{"before": "a", "after": "b"}, {"before": "b", "after": "a"}]
        graph = {
            "resources": [{"resource": one, "is_container": False} for one in "ab"],
            "edges": edges,
            "cycles": [["a", "b", "a"]],
        }

        assert [True, True] == [one["on_cycle"] for one in drawn(graph)["lines"]]

    def test_nothing_is_a_small_drawing(self):
        assert [] == drawn({"resources": [], "edges": [], "cycles": []})["boxes"]


class TestAsked:
    def test_pages_are_answered_side_by_side_as_they_are_alone(self, place):
        web = client(site_of(place, runs_code=True))
        some = [path for path in PAGES if not path.startswith("/impact")][::2]
        alone = [web.get(path).text for path in some]

        with ThreadPoolExecutor(8) as threads:
            assert alone == [one.text for one in threads.map(web.get, some)]

    def test_who_takes_long_keeps_nobody_waiting_and_there_is_a_bound(self, place, monkeypatch):
        """Impacts take turns; of other commands four are asked at a time."""
        begun, go_on = Queue(), Event()

        def slow(options, terminal):
            begun.put(options.command)
            assert go_on.wait(20)

        for module in (impact, codes):
            monkeypatch.setattr(module, "perform", slow)
        ask = CommandRunner({"store": str(place / "nodes.db"), "repo": str(place)}, False)
        with ThreadPoolExecutor(9) as threads:
            waiting = [threads.submit(ask, "impact", "a..b", "--no-run-code") for _ in range(3)]
            assert "impact" == begun.get(timeout=20)
            waiting += [threads.submit(ask, "codes") for _ in range(6)]
            assert ["codes"] * 3 == [begun.get(timeout=20) for _ in range(3)]
            with pytest.raises(Empty):
                begun.get(timeout=0.1)
            go_on.set()
        assert [None] * 9 == [one.result().error for one in waiting]

    def test_pages_show_files_as_they_were_edited(self, place, tmp_path):
        copy = tmp_path / "copy"
        shutil.copytree(place, copy)
        web = client(site_of(copy))
        assert "31337" not in web.get("/roles/web").text

        role = json.loads((copy / "roles" / "web.json").read_text())
        role["default_attributes"]["port"] = 31337
        (copy / "roles" / "web.json").write_text(json.dumps(role))

        assert "31337" in web.get("/roles/web").text

    def test_a_fault_is_in_the_answer_and_ends_nothing(self, place):
        ask = CommandRunner({"store": str(place / "nodes.db"), "repo": str(place)}, False)

        assert "NodeNotFound" == ask("explain", "nosuch", "a").error["name"]
        assert ask("status", "--nosuch").error is not None
        assert ask("show", "web1", "--slot", "99").error is not None
        assert ask("show", "web1", "--slot", "99").code == 1
        assert ask("status").error is None

    @pytest.mark.parametrize(
        "words", [(), ("",), ("--help",), ("--man",), ("nosuch",), ("list", "--help"), ("role", "show", "-h")]
    )
    def test_words_without_a_command_and_a_wish_for_help_are_errors_in_the_answer(self, place, capsys, words):
        found = CommandRunner({"repo": str(place)}, False)(*words)

        assert (found.error["name"], found.code) == ("BadArgument", 1)
        assert capsys.readouterr() == ("", "")

    def test_a_question_that_is_not_understood_has_the_exit_code_of_an_error(self):
        shop = ShownProject(None, SourceLinks(), "")

        assert [answer(shop, name).code for name in ("nosuch", "explain")] == [1, 1]


@pytest.mark.parametrize("size", [3, 30])
def test_counting_by_the_index_gives_the_values_of_asking_each(tmp_path, monkeypatch, capsys, size):
    """Groups and their nodes are the same, whatever kinds of values there are."""
    monkeypatch.chdir(tmp_path)
    drawn_from = random.Random(size)
    values = [1, "1", 1.0, True, None, "", [1], ["1"], [], {}, {"b": 1}, [[1]], "a\x00b", "x", [{"a": 1}]]
    store = open_store("nodes.db")
    for number in range(size):
        node = Node(f"n{number}")
        if value := drawn_from.choice([*values, "absent"]) != "absent":
            node.default["k"]["v"] = drawn_from.choice(values)
        if drawn_from.random() < 0.3:
            node.default["other"]["v"] = 1
        if drawn_from.random() < 0.1:
            node.override["k"] = [{"v": "x"}]
        assert value is not None
        store.save(Saved(node.name, saved_document(node), node.snapshot()))

    def groups(*words: str) -> list:
        main(["matrix", "k.v", "--store", "nodes.db", "--format", "json", *words])
        found = json.loads(capsys.readouterr().out)["groups"]
        rows = [
            (
                json.dumps(one.get("value", one.get("code"))),
                sorted(name for at in one["places"] for name in at["nodes"]),
            )
            for one in found
        ]
        return sorted(rows)

    assert groups() == groups("--count")


class TestServer:
    """The command itself, asked over a socket."""

    def test_each_start_makes_another_token_and_prints_it_once(self, place):
        """It is in no other line, whatever the server is asked, nor in words or variables of its process."""
        tokens = set()
        for _ in range(2):
            with served(place) as (server, line):
                address, _, token = line.strip().partition("?token=")
                for path in ("", "?token=wrong", "nosuch", f"?token={token}", f"nodes?q=((&token={token}"):
                    httpx.get(f"{address}{path}")
                httpx.get(f"{address}?token={token}", headers={"host": "evil.example"})
                known = [Path(f"/proc/{server.pid}/{name}") for name in ("cmdline", "environ")]
                assert [] == [file for file in known if file.exists() and token.encode() in file.read_bytes()]
            assert "" == server.stdout.read()
            tokens.add(token)

        assert [32, 32] == [len(token) for token in tokens]
        assert [] == [file for file in place.rglob("*") if file.is_file() and token.encode() in file.read_bytes()]

    def test_the_printed_address_opens_the_pages(self, place):
        with served(place) as (_, line), httpx.Client(follow_redirects=True) as browser:
            address = line.partition("?token=")[0]
            opened = browser.get(line.strip())
            assert (200, address, True) == (opened.status_code, str(opened.url), "web1" in opened.text)
            assert 200 == browser.get(f"{address}api/status").status_code
            assert 403 == httpx.get(f"{address}api/status").status_code
            types = {name: browser.get(f"{address}static/{name}").headers["content-type"] for name in STATIC}
            assert {"style.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"} == {
                name: kind.partition(";")[0] for name, kind in types.items()
            }

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can ask as another user")
    def test_another_user_of_the_machine_reads_nothing(self, place):
        paths = [path.replace(" ", "%20") for path in (*PAGES, "/api/status", "/static/app.js", "/nosuch")]
        with served(place) as (_, line):
            port = re.search(r":(\d+)/", line)[1]
            asked = [sys.executable, "-c", OTHER_USER, port, *paths]
            done = subprocess.run(asked, capture_output=True, text=True, check=True)

        assert {path: [403, NO_TOKEN] for path in paths} == json.loads(done.stdout)

    def test_option_no_token_prints_a_warning(self, place):
        with served(place, "--no-token") as (server, warning):
            address = server.stdout.readline().strip()
            assert "every user of this machine can read" in warning
            assert 200 == httpx.get(f"{address}api/status").status_code

    @pytest.mark.parametrize("address", ["0.0.0.0", "::"])
    def test_other_machines_are_never_served_without_a_token(self, place, capsys, address):
        where = ["--repo", str(place), "--store", str(place / "nodes.db"), "--port", "0"]

        assert 0 != main(["web", *where, "--bind", address, "--no-token"])
        assert f"--bind {address} serves other machines, and they need a token" in capsys.readouterr().err


class TestAFolderWithoutSettings:
    """The pages of a folder that has no nodeattrs.toml and no store."""

    def pages(self, folder: Path, monkeypatch) -> Client:
        import argparse

        from nodeattrs.cli.web import site

        monkeypatch.chdir(folder)
        return client(site(argparse.Namespace(repo=None, store=None, run_code=False)))

    def test_the_first_page_says_that_nothing_lies_there(self, tmp_path: Path, monkeypatch):
        page = self.pages(tmp_path, monkeypatch).get("/")
        assert (page.status_code, "Nothing was found here" in page.text) == (200, True)

    @pytest.mark.parametrize(
        ("files", "subject", "key", "line"),
        [
            ({"roles/web.json": '{"name": "web", "default_attributes": {"port": 80}}',
              "nodes/web1.json": '{"name": "web1", "run_list": ["role[web]"]}'},
             "/subjects/nodes?on=web1", "port", "web.json:1"),
            ({"hiera.yaml": "version: 5\nhierarchy:\n- name: all\n  path: all.yaml\n", "data/all.yaml": "port: 80\n",
              "facts/web1.json": "{}"},
             "/subjects/hiera?on=web1", "port", "all.yaml:1"),
            ({"hosts.ini": "web1\n", "group_vars/all.yml": "port: 80\n",
              "ansible.cfg": "[defaults]\ninventory=hosts.ini\n"},
             "/subjects/ansible?on=web1", "port", "all.yml:1"),
            ({"Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n", "values.yaml": "port: 80\n"},
             "/subjects/folds?on=.", "port", "values.yaml:1"),
        ],
        ids=["chef", "hiera", "ansible", "helm"],
    )  # fmt: skip
    def test_the_first_page_leads_to_each_value_and_its_line(
        self, tmp_path: Path, monkeypatch, files: dict[str, str], subject: str, key: str, line: str
    ):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        pages = self.pages(tmp_path, monkeypatch)
        assert f'href="{subject}"' in pages.get("/").text
        assert f"key={key}" in pages.get(subject).text
        assert line in pages.get(f"/values?key={key}").text.replace("<wbr>", "")

    def test_a_resource_has_no_link_to_layers_that_it_does_not_have(self, tmp_path: Path, monkeypatch):
        (tmp_path / "roles").mkdir()
        (tmp_path / "roles/web.json").write_text('{"name": "web", "default_attributes": {"a": 80}}')
        text = self.pages(tmp_path, monkeypatch).get("/subjects/nodes").text
        assert ("Stage[main]" in text, "key=Stage" in text, "key=a&" in text) == (True, False, True)

    def test_a_change_that_was_not_read_is_not_called_nothing(self, tmp_path: Path, monkeypatch):
        (tmp_path / "roles").mkdir()
        (tmp_path / "roles/web.json").write_text('{"name": "web", "default_attributes": {"a": 80}}')
        subprocess.run(("git", "init"), cwd=tmp_path, check=True, capture_output=True)
        for content in ("one", "two"):
            (tmp_path / "app.conf").write_text(content)
            for words in (("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", content)):
                subprocess.run(("git", *words), cwd=tmp_path, check=True, capture_output=True)
        text = self.pages(tmp_path, monkeypatch).get("/impact?range=HEAD~1..HEAD").text
        assert ("Nothing changes" in text, "is read by no dialect" in text) == (False, True)

    def test_a_line_that_sets_no_value_of_any_subject_is_there(self, tmp_path: Path, monkeypatch):
        (tmp_path / "roles").mkdir()
        (tmp_path / "roles/web.json").write_text('{"name": "web", "default_attributes": {"<b>": 80}}')
        (tmp_path / "nodes").mkdir()
        (tmp_path / "nodes/web1.json").write_text('{"name": "web1"}')
        text = self.pages(tmp_path, monkeypatch).get("/where?file=roles/web.json").text
        assert "sets no value of any subject that was read" in text
        assert "It sets nothing" not in text
        assert "<b>" not in text


def test_a_folder_that_is_not_there_is_an_error(capsys, tmp_path: Path):
    assert main(["web", str(tmp_path / "nosuch")]) == 1
    assert "nosuch is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "99999999"])
def test_a_port_that_there_is_not_is_an_error(capsys, tmp_path: Path, port: str):
    assert main(["web", str(tmp_path), f"--port={port}"]) == 1
    assert f"cannot listen on 127.0.0.1, port {port}" in capsys.readouterr().err


def test_pages_ask_the_folder_that_the_command_names(monkeypatch, tmp_path: Path):
    (tmp_path / "there/c").mkdir(parents=True)
    (tmp_path / "there/c/Chart.yaml").write_text("name: c\n")
    (tmp_path / "there/c/values.yaml").write_text("port: 80\n")
    monkeypatch.chdir(tmp_path)
    begun = [sys.executable, "-P", "-m", "nodeattrs", "web", "there", "--port", "0", "--no-token"]
    with subprocess.Popen(begun, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        found = httpx.get(f"{address}subjects/folds?on=c")
        process.terminate()
    assert (found.status_code, "c/values.yaml:1" in found.text.replace("<wbr>", "")) == (200, True)
