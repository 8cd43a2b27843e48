"""`python -m tests.picture` makes docs/images/explorer.png anew: why `app.workers` of web1 in the example is 30.

Needs chromium and chromedriver; wants to be looked at before it is kept.
"""

from __future__ import annotations

import base64
import contextlib
import shutil
import tempfile
from pathlib import Path

from nodeattrs.cli import main
from tests.test_web_browser import Browser, served

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/explorer.png"
SIZE = {"width": 1180, "height": 850, "deviceScaleFactor": 1.5, "mobile": False}


def taken(address: str) -> bytes:
    """The PNG of the page of web1, filtered to `app.workers`, with its layers open."""
    browser = Browser()
    try:
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
        browser.open(f"{address}/nodes/web1")
        browser.one("input[type=search]").send_keys("app workers")
        browser.opened(["app.workers"])
        browser.js("document.activeElement.blur()")
        shot = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        return base64.b64decode(shot["data"])
    finally:
        browser.driver.quit()


def make() -> None:
    """Run the example, serve it, and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "example")
        shutil.copytree(ROOT / "cookbooks_example", place)
        with contextlib.chdir(place):
            main(["run", "--all", "--quiet", "--facts", "facts", "--store", "nodes.db"])
        with contextlib.chdir(place), served(Path()) as address:
            PICTURE.write_bytes(taken(address))


if __name__ == "__main__":
    make()
