"""The explorer and the report in a real browser: Debian's chromium, without a screen.

Each page is opened, clicked and searched. `make slow` opens each in light, in dark and on a small screen, and keeps
pictures in `.run/screens/`; `make test` opens each second one in one of these, and keeps none.
What is read from the page is compared with `explain --format json`. Where there is no chromium the reason is given;
NODEATTRS_BROWSER=required makes that a failure.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.store import Noted, Saved, open_store
from tests import test_web_site as example
from tests.benchmarks import fleet
from tests.effort import EFFORT, examples

PROGRAMS = ("chromium", "chromedriver")
MISSING = [name for name in PROGRAMS if shutil.which(name) is None]
if MISSING and os.environ.get("NODEATTRS_BROWSER") == "required":
    raise RuntimeError(f"no {' and no '.join(MISSING)} here")
pytestmark = [
    pytest.mark.skipif(
        bool(MISSING), reason=f"no {' and no '.join(MISSING)}: apt-get install chromium chromium-driver"
    ),
]
webdriver = pytest.importorskip("selenium.webdriver")
pytest.importorskip("uvicorn")
pytest.importorskip("lark")

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "cookbooks_example"
SCREENS = ROOT / ".run" / "screens"
LOOKS = {"light": (1280, 900), "dark": (1280, 900), "small": (390, 844)}
KEYS = {"down": "\ue015", "up": "\ue013", "left": "\ue012", "right": "\ue014", "enter": "\ue007", "escape": "\ue00c"}
PATHS, NODES = examples(50), 12
_SEEN = "[...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility())"
_WINNER = """
    const row = arguments[0], layer = row.querySelector('.layer.wins, .layer.joins') || row;
    const at = layer.querySelector('.where .at') || layer.querySelector('.at');
    return [layer.querySelector('.num').innerText, at.innerText]"""
"""Slot and place of the uppermost layer that is read, as the page shows them."""


@contextlib.contextmanager
def served(place: Path, *words: str, token: bool = False) -> Iterator[str]:
    """The address of a server; it goes at the end."""
    where = ["--repo", str(place), "--store", str(place / "nodes.db"), "--port", "0", *words]
    where += [] if token else ["--no-token"]
    process = subprocess.Popen(
        [sys.executable, "-m", "nodeattrs", "web", *where],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip().rstrip("/")
    finally:
        process.terminate()
        process.wait(20)


class Browser:
    """One chromium. What it asks for is noted, and has to stay on this machine."""

    def __init__(self, script: bool = True) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        if not script:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        self.driver.implicitly_wait(0)

    def look(self, name: str) -> None:
        """Light, dark or small."""
        width, height = LOOKS[name]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": name == "small"}
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if name == "dark" else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    def open(self, address: str) -> Browser:
        self.driver.get(address)
        return self

    def js(self, text: str, *given: object):
        return self.driver.execute_script(text, *given)

    def all(self, selector: str) -> list:
        """What is seen of a selector."""
        return self.js(f"return {_SEEN}", selector)

    def texts(self, selector: str) -> list[str]:
        return self.js(f"return {_SEEN}.map((one) => one.innerText)", selector)

    def one(self, selector: str):
        return self.until(lambda: self.all(selector))[0]

    def until(self, question):
        """What a question gives as soon as that is something."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 20, 0.05).until(lambda _: question())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.driver.switch_to.active_element.send_keys(KEYS.get(key, key))

    def keep(self, name: str) -> None:
        """A picture of the whole page, where there is time."""
        if EFFORT < 1:
            return
        SCREENS.mkdir(parents=True, exist_ok=True)
        width, height = self.js("return [innerWidth, Math.min(document.documentElement.scrollHeight, 2400)]")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        import base64

        (SCREENS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def asked(self) -> set[str]:
        """Every address that pages have asked for since this was asked last."""
        events = (json.loads(one["message"])["message"] for one in self.driver.get_log("performance"))
        return {one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"}

    def complaints(self) -> list[str]:
        return [one["message"] for one in self.driver.get_log("browser") if one["level"] in ("SEVERE", "WARNING")]

    def opened(self, paths: list[str]) -> list:
        """Rows of the tree, opened, once the layers of each are there."""
        rows = self.js(
            "const every = [...document.querySelectorAll('.leaf')];"
            "const rows = arguments[0].map((path) => every.find((one) => one.dataset.p === path));"
            "for (const row of rows) row.open = true; return rows",
            paths,
        )
        there = "return arguments[0].every((one) => one.tagName !== 'DETAILS' || one.querySelector('.layers'))"
        self.until(lambda: self.js(there, rows))
        return rows


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    one = Browser()
    yield one
    one.driver.quit()


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return example.made(tmp_path_factory.mktemp("site") / "example")


@pytest.fixture(scope="module")
def site(place) -> Iterator[str]:
    with served(place, "--run-code") as address:
        yield address


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Path:
    """A fleet of twelve nodes in six roles and two environments, with all facts."""
    place = fleet.example(tmp_path_factory.mktemp("fleet"))
    facts = fleet.write_facts(place / "facts", 0, NODES)
    from nodeattrs.chef import Repository
    from nodeattrs.dialects.chef.facts import load_facts

    repository, store = Repository(place), open_store(str(place / "nodes.db"))
    for number in range(NODES):
        saved = fleet.resolved(repository, number, load_facts(facts / f"n{number}.json", f"facts/n{number}.json"))
        store.save(
            Saved(
                saved.name,
                saved.document,
                saved.snapshot,
                noted=Noted(ok=number != 7, error="RecipeFailed" * (number == 7)),
            )
        )
    return place


@pytest.fixture(scope="module")
def site_of_many(many) -> Iterator[str]:
    with served(many) as address:
        yield address


@pytest.fixture(scope="module")
def report(many, tmp_path_factory) -> Path:
    """Of a node with all facts."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    assert 0 == main(["report", "n1", "--store", str(many / "nodes.db"), "--output", str(out)])
    return out


def printed(*words: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main([*words, "--format", "json"])
    return out.getvalue()


def explained(place: Path, node: str, path: str) -> dict:
    return json.loads(printed("explain", node, path, "--store", str(place / "nodes.db")))


def winner_of(found: dict) -> tuple[str, str]:
    claim = found["claims"][0]
    line = f":{claim['line']}" if claim["line"] else ""
    return str(claim["rank"]), f"{claim['file']}{line}" if claim["file"] else f"{claim['kind']} {claim['name']}".strip()


PAGES = {
    path: path.strip("/").translate(str.maketrans("/?=&:[]~.@", "-" * 10)) or "start"
    for path in example.PAGES
    if "part=1" not in path
}
SHOWN = [
    (path, look)
    for at, path in enumerate(PAGES)
    for turn, look in enumerate(LOOKS)
    if EFFORT >= 1 or at % (2 * len(LOOKS)) == 2 * turn
]
"""Each second page in one of the looks, unless there is time for all in all."""
FOR_AXE = [*product(PAGES, LOOKS)][:: 1 if EFFORT >= 1 else 20]
"""Some pages in one of the looks, unless there is time for all pages in all looks."""


_ANSWERS = [path for path in PAGES if "?" in path or path.startswith("/subjects/")]
_FIRST = (
    "main .wrong, main .card, main .big, main table, main .past, main .tree, main .groups, main .step, main .empty,"
    " main .graph"
)
_CUT = """return [...document.querySelectorAll('main *:not(.sr):not(.canvas)')]
.filter((one) => getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1)
.map((one) => one.innerText)"""
_TOP = "return Math.round(document.querySelector(arguments[0]).getBoundingClientRect().top + scrollY)"


class TestPages:
    @pytest.mark.parametrize(("path", "look"), SHOWN)
    def test_each_is_shown_and_asks_nobody_else(self, browser, site, path, look):
        """
        No complaint of the browser, no request to another machine, nothing wider than the screen. An answer comes
        first, also where the window changes.
        """
        browser.asked(), browser.complaints()
        browser.look(look)
        browser.open(site + path)
        browser.keep(f"{PAGES[path]}-{look}")

        assert browser.texts("h1")
        assert [] == browser.complaints()
        assert [] == [one for one in browser.asked() if not one.startswith((f"{site}/", "data:"))]
        assert browser.js("return document.documentElement.scrollWidth <= innerWidth + 1"), path
        assert browser.js("return [...document.images].every((one) => one.complete)")
        if path in _ANSWERS:
            self.require_the_answer_first(browser, look)
            other = "small" if look != "small" else "light"
            browser.look(other)
            self.require_the_answer_first(browser, other)

    def require_the_answer_first(self, browser, look):
        """In the first 600 pixels, and nothing is cut."""
        assert browser.js(_TOP, _FIRST) < 600, look
        assert browser.js(_CUT) == [], look

    def test_dark_is_dark_and_light_is_light(self, browser, site):
        def paper() -> int:
            return sum(
                map(
                    int,
                    browser.js("return getComputedStyle(document.body).backgroundColor")
                    .split("(")[1]
                    .strip(")")
                    .split(",")[:3],
                )
            )

        browser.look("dark")
        dark = browser.open(f"{site}/") and paper()
        browser.look("light")
        assert dark < 150 < 600 < paper()


class TestSubjects:
    def test_a_value_of_a_subject_leads_to_its_why(self, browser, site):
        browser.open(site + "/subjects/ansible?on=web1")
        rows = browser.js(
            "return [...document.querySelectorAll('main .past li')].map((one) => !!one.querySelector('a'))"
        )
        assert rows
        assert all(rows)

    def test_a_subject_of_3000_values_is_a_short_page(self, browser, tmp_path):
        (tmp_path / "c").mkdir()
        (tmp_path / "c/Chart.yaml").write_text("name: c\n")
        lines = (f"k{number}:\n" + "".join(f"  v{inner}: 1\n" for inner in range(100)) for number in range(30))
        (tmp_path / "c/values.yaml").write_text("".join(lines))
        browser.look("light")
        with served(tmp_path) as address:
            browser.open(f"{address}/subjects/folds?on=c")
            assert browser.js("return document.querySelectorAll('main .past a').length") == 3000
            assert browser.js("return document.documentElement.scrollHeight") < 20_000

    @pytest.mark.skipif("NODEATTRS_AXE" not in os.environ, reason="NODEATTRS_AXE names no axe.min.js")
    @pytest.mark.parametrize(("path", "look"), FOR_AXE)
    def test_axe_finds_nothing(self, browser, site, path, look):
        browser.look(look)
        browser.open(site + path)
        browser.js(Path(os.environ["NODEATTRS_AXE"]).read_text())
        run = "const done = arguments[0]; axe.run(document).then((found) => done(found.violations))"
        found = browser.driver.execute_async_script(run)

        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


def test_the_printed_address_lets_the_browser_in_and_the_token_leaves_it(browser, place):
    """What a page loads later has the cookie, too."""
    browser.look("light")
    with served(place, token=True) as address:
        site = address.partition("/?token=")[0]
        assert site != address
        browser.open(address)
        assert f"{site}/" == browser.driver.current_url
        browser.open(f"{site}/nodes/web1")
        assert browser.opened(["app.workers"])


class TestTheTree:
    def test_the_tree_in_the_browser_is_searched_narrowed_and_opened(self, browser, site):
        browser.look("light")
        browser.open(f"{site}/nodes/web1")
        browser.one("#find").send_keys("app workers")
        browser.until(lambda: browser.one("#count").text == "1 attribute")
        assert ["workers"] == [one.strip() for one in browser.texts(".leaf .key")]
        assert ["app"] == browser.texts(".branch")
        browser.all(".leaf summary")[0].click()
        browser.one(".layers")
        browser.keep("layers-of-the-puzzle")

        assert ["12", "11", "7", "6", "1"] == browser.texts(".layer:not(.none) .num")
        assert ["wins"] == browser.texts(".layer.wins .outcome")
        assert "overridden by 12" in browser.texts(".layer.loses .outcome")[0]
        layers = browser.js("return [...document.querySelectorAll('.layer')].map((one) => one.className)")
        assert 15 == sum(int(found[1]) if (found := re.search(r" n(\d+)", one)) else 1 for one in layers)

    def test_only_what_is_overridden_and_only_what_changed(self, browser, site):
        browser.open(f"{site}/nodes/web1")
        everything = len(browser.all(".leaf"))
        browser.one("#only-over").click()
        overridden = len(browser.all(".leaf"))
        browser.one("#only-over").click()
        browser.one("#only-chg").click()

        assert 0 < overridden < everything
        assert "workers" in [one.split()[-1] for one in browser.texts(".leaf .key")]
        assert len(browser.all(".leaf")) < 10

    def test_the_keyboard_is_enough(self, browser, site):
        browser.open(f"{site}/nodes/web1")
        browser.driver.find_element("css selector", "body").send_keys("/")
        browser.press("app.workers", "down")
        browser.press("down")
        browser.press("right")
        browser.one(".layers")
        assert "workers" in browser.js("return document.activeElement.textContent")
        browser.press("left")
        assert 0 == browser.js("return document.querySelectorAll('details[open]').length")
        browser.press("left")
        assert "branch" in browser.js("return document.activeElement.className")
        browser.press("left")
        assert [] == browser.all(".leaf")
        browser.press("right")
        assert 1 == len(browser.all(".leaf"))

    def test_a_list_is_shown_element_by_element(self, browser, site):
        browser.open(f"{site}/nodes/web1#apache2.listen_ports")
        browser.one(".elements")

        assert ["80", "443", "9443", "8080"] == browser.texts(".elements li > .v")
        assert ["1", "3", "3", "4"] == browser.texts(".elements .num")
        assert "environments/production.yaml:15" == browser.texts(".elements .at")[2]

    def test_a_fold_of_a_map_hides_what_is_in_it_and_no_more(self, browser, site):
        browser.open(f"{site}/nodes/web1")
        before = len(browser.all(".leaf"))
        browser.all(".branch.d0")[0].click()
        inside = before - len(browser.all(".leaf"))
        browser.all(".branch.d0")[0].click()

        assert 0 < inside < before == len(browser.all(".leaf"))

    @pytest.mark.parametrize(("folder", "served_at"), [("place", "site"), ("many", "site_of_many")])
    def test_the_winner_and_its_line_are_those_of_explain(self, request, browser, folder, served_at):
        """Random paths, read from the page."""
        browser.look("light")
        place, address = request.getfixturevalue(folder), request.getfixturevalue(served_at)
        store = open_store(str(place / "nodes.db"))
        draw = random.Random(2024)
        names = draw.sample(store.names(), 1 if EFFORT < 1 else 2)  # to open a page is what takes the time
        checked = 0
        for name in names:
            browser.open(f"{address}/nodes/{name}")
            paths = browser.js("return [...document.querySelectorAll('.leaf')].map((one) => one.dataset.p)")
            over = browser.js("return [...document.querySelectorAll('.leaf.over')].map((one) => one.dataset.p)")
            count = PATHS // len(names) + 1
            asked = [*draw.sample(over, min(len(over), 4)), *draw.sample(paths, count)][:count]
            for path, row in zip(asked, browser.opened(asked), strict=True):
                assert winner_of(explained(place, name, path)) == tuple(browser.js(_WINNER, row)), (name, path)
                checked += 1
        assert checked >= PATHS


class TestAsking:
    def test_a_search_is_completed_and_finds(self, browser, site):
        browser.look("light")
        browser.open(f"{site}/nodes")
        field = browser.one("input[name=q]")
        field.send_keys("role:web AND app.work")
        browser.until(lambda: "app.workers" in browser.texts(".offer li"))
        browser.keep("completion")
        field.send_keys(KEYS["down"], KEYS["enter"])
        assert "role:web AND app.workers" == field.get_attribute("value")
        field.send_keys(">20", KEYS["enter"])
        browser.until(lambda: "q=" in browser.driver.current_url)

        assert ["web1"] == browser.texts("tbody td:first-child")

    def test_from_a_node_to_its_line_of_time_and_to_what_changed(self, browser, site):
        browser.open(f"{site}/")
        for link in ("web1", "History", "what changed"):
            browser.until(lambda link=link: browser.driver.find_elements("link text", link))[0].click()

        assert "app.workers" in browser.texts(".sides td:first-child")
        assert {"30", "28"} <= set(browser.texts(".sides .v"))

    def test_one_attribute_over_the_fleet(self, browser, site_of_many):
        browser.look("light")
        browser.open(f"{site_of_many}/attribute?path=app.workers")
        browser.keep("attribute-of-a-fleet")
        counts = [int(one) for one in browser.texts(".amount b")]

        assert NODES == sum(counts)
        assert counts == sorted(counts, reverse=True)
        browser.open(f"{site_of_many}/nodes?failed=1")
        browser.keep("failed")
        assert ["n7"] == browser.texts("tbody td:first-child")
        browser.open(f"{site_of_many}/roles/edge")
        browser.keep("role-of-a-fleet")
        assert browser.texts(".groups .amount b")

    def test_a_subject_of_any_dialect_leads_to_its_values_and_their_layers(self, browser, site):
        """As `blame` and `why` do."""
        browser.look("light")
        browser.open(f"{site}/subjects")
        browser.driver.find_element("css selector", "a[href*='cloud-init']").click()
        browser.one(".past")
        values = json.loads(printed("blame", "web", "--dialect", "cloud-init", "--repo", str(EXAMPLE)))["answers"][0]

        assert [one["path"] for one in values["values"]] == browser.texts(".past li > a > code")
        browser.driver.find_elements("link text", "ntp.servers")[0].click()
        browser.one(".layers")
        why = json.loads(printed("why", "ntp.servers", "--dialect", "cloud-init", "--repo", str(EXAMPLE)))
        claims = why["answers"][0]["claims"]
        assert [str(one["rank"]) for one in claims] == browser.texts(".layers .num")
        assert [f"{one['file']}:{one['line']}" for one in claims] == browser.texts(".layers .at")
        assert "wins" in browser.texts(".layer.wins .outcome")[0]
        browser.keep("user-data")

    def test_a_graph_shows_what_is_near(self, browser, site):
        browser.open(f"{site}/nodes/web1/catalog")
        browser.js("document.querySelector('.box[data-r=\"File[/a]\"]').dispatchEvent(new Event('focus'))")

        assert 2 == browser.js("return document.querySelectorAll('.box.near').length")
        browser.one("input[name=first]").send_keys("File[/a]")
        browser.one("input[name=then]").send_keys("File[/c]", KEYS["enter"])
        browser.one("#because")
        assert 2 == len(browser.all(".chain li"))


@pytest.fixture
def plain() -> Iterator[Browser]:
    one = Browser(script=False)
    yield one
    one.driver.quit()


class TestWithoutScript:
    def test_all_can_be_read(self, plain, site):
        plain.open(f"{site}/nodes/web1")
        assert 100 < len(plain.all(".leaf"))
        assert [] == plain.all("#find")
        plain.all('.leaf[data-p="app.workers"] summary')[0].click()
        plain.one('.leaf[data-p="app.workers"] a.more').click()

        assert ["12", "11", "7", "6", "1"] == plain.texts(".layer:not(.none) .num")


class TestReport:
    @pytest.mark.parametrize("look", ["small"] if EFFORT < 1 else LOOKS)
    def test_a_report_opens_from_disk(self, browser, many, report, look):
        """Small enough, and whole."""
        assert report.stat().st_size < 1_500_000
        browser.asked(), browser.complaints()
        browser.look(look)
        browser.open(report.as_uri())
        (row,) = browser.opened(["app.workers"])
        browser.js("arguments[0].scrollIntoView()", row)
        browser.keep(f"report-{look}")

        assert winner_of(explained(many, "n1", "app.workers")) == tuple(browser.js(_WINNER, row))
        browser.one("#find").send_keys("apache2.listen")
        assert ["listen_ports"] == [one.strip() for one in browser.texts(".leaf .key")]
        assert [] == browser.complaints()
        assert {report.as_uri()} == browser.asked()

    def test_winners_of_a_report_are_those_of_explain(self, browser, many, tmp_path):
        out = tmp_path / "report.html"
        assert 0 == main(["report", "n2", "--store", str(many / "nodes.db"), "--output", str(out)])
        browser.look("light")
        browser.open(out.as_uri())
        paths = browser.js("return [...document.querySelectorAll('.leaf')].map((one) => one.dataset.p)")

        drawn = random.Random(5).sample(paths, PATHS)
        for path, row in zip(drawn, browser.opened(drawn), strict=True):
            assert winner_of(explained(many, "n2", path)) == tuple(browser.js(_WINNER, row)), path
