"""A catalog is applied below a root in which somebody swaps folders for links: nothing is written elsewhere."""

from __future__ import annotations

import os
import pathlib
import signal
import time
from typing import Any

from nodeattrs.catalog import Catalog, Report, Resource, apply_plan, ref_of
from nodeattrs.catalog.types import Site
from nodeattrs.catalog.types.files import Directory, File, Link


def strain(folder: pathlib.Path, count: int) -> dict[str, Any]:
    """Apply *count* catalogs meanwhile; outside is what must stay as it was."""
    root, outside = folder / "root", folder / "outside"
    for place in (root / "real", outside):
        place.mkdir(parents=True)
    for name in ("gone", "mode"):
        (outside / name).write_text("theirs")
    before = _listed(outside)
    swapper = os.fork()
    if not swapper:
        _swap(root / "real", root / "d", outside)
    inside = refused = 0
    bad: list[str] = []
    try:
        for number in range(count):
            report = _applied(root, number)
            failed = sum(outcome.failed for outcome in report.outcomes.values())
            inside, refused = inside + len(report.outcomes) - failed, refused + failed
            if _listed(outside) != before:
                bad.append(f"catalog {number} went outside: {_listed(outside)}")
                break
    finally:
        os.kill(swapper, signal.SIGKILL)
        os.waitpid(swapper, 0)
    return {"catalogs": count, "resources applied": inside, "resources refused": refused, "bad": bad}


def _applied(root: pathlib.Path, number: int) -> Report:
    catalog = Catalog()
    for subject in (
        File("/d/made", content=str(number)),
        Link("/d/link", to=str(number)),
        File("/d/gone", ensure="absent"),
        File("/d/mode", mode="0666"),
        Directory("/d/folder"),
    ):
        catalog.add(Resource(ref_of(f"{type(subject).__name__}[{subject.path}]"), subject=subject))
    return apply_plan(catalog.plan(), Site(root))


def _swap(real: pathlib.Path, folder: pathlib.Path, outside: pathlib.Path) -> None:
    try:
        while True:
            for step in (
                lambda: real.rename(folder),
                lambda: time.sleep(0.0005),
                lambda: folder.rename(real),
                lambda: folder.symlink_to(outside),
                lambda: time.sleep(0.0005),
                lambda: folder.unlink(),
            ):
                try:
                    step()
                except OSError:  # a Directory was made there meanwhile
                    if folder.is_dir() and not folder.is_symlink() and real.exists():
                        folder.rename(real.with_name(f"real{time.monotonic_ns()}"))
    finally:
        os._exit(1)


def _listed(folder: pathlib.Path) -> list[tuple[str, int, str]]:
    return sorted((path.name, path.stat().st_mode, path.read_text()) for path in folder.iterdir())
