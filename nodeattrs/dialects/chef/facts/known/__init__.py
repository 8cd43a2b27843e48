"""Find the file with the facts of a platform by its name, "debian-12": beside this module, or in a folder of fauxhai.

The files here are output of ohai in a root folder of that release, without names of a machine. A folder in fauxhai's
form has files PLATFORM/VERSION.json, which are preferred to the files here.

>>> from nodeattrs.dialects.chef.facts import load_facts
>>> load_facts(platform_file("debian-12")).tree["platform_family"]
'debian'
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

from nodeattrs.core.tree import near
from nodeattrs.errors import NotFound

_INSIDE = pathlib.PurePath("lib", "fauxhai", "platforms")


def platforms(folder: pathlib.Path | None = None) -> dict[str, pathlib.Path]:
    """Platform ("debian-12") -> the file with its facts, sorted by name and version. No file is read.

    folder: further platforms in fauxhai's form, or a checkout of fauxhai; its files replace ours
    raises: NotFound, where *folder* does not exist
    """
    found = dict(_files(pathlib.Path(__file__).parent, "*.json"))
    if folder is not None:
        if not folder.is_dir():
            raise NotFound(
                f"there is no folder {folder} of platforms", hint="name a checkout of fauxhai, or its platforms/"
            )
        inside = folder / _INSIDE
        found |= dict(_files(inside if inside.is_dir() else folder, "*/*.json"))
    return dict(sorted(found.items(), key=lambda one: _in_order(one[0])))


def _files(folder: pathlib.Path, shape: str) -> Iterator[tuple[str, pathlib.Path]]:
    for file in folder.glob(shape):
        yield "-".join(file.relative_to(folder).with_suffix("").parts), file


def _in_order(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[-.]", name)]


def platform_file(name: str, folder: pathlib.Path | None = None) -> pathlib.Path:
    """The file with the facts of a platform. A name without a full version gives the newest version of that name.

    name:   "ubuntu-22.04", "ubuntu-22" or "ubuntu"
    folder: a folder with further platforms in fauxhai's form, which replace ours; None: only ours
    raises: NotFound, with similar names, and if *folder* does not exist
    """
    known = platforms(folder)
    fitting = [one for one in known if one == name or one.startswith((f"{name}-", f"{name}."))]
    if not fitting:
        close = near(name, known)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(known)}"
        more = "" if folder else "; a folder of fauxhai's has more: [facts] fauxhai = DIR in nodeattrs.toml"
        raise NotFound(f"there are no facts of a platform {name}", hint=hint + more)
    return known[name if name in known else fitting[-1]]
