"""Read the files beside the hiera.yaml of a control repository: environment.conf, puppet.conf, Puppetfile.

These files name the folders of modules, and modules that need not be installed. The Ruby of a Puppetfile is not run,
and the Puppet of this machine is not asked for its settings.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nodeattrs.core.budget import Budget
from nodeattrs.dialects.hiera.codes import CONFIG_INVALID
from nodeattrs.dialects.hiera.errors import BadData
from nodeattrs.dialects.hiera.locations import globbed
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.formats.documents import text_of
from nodeattrs.formats.places import Text

Warn = Callable[[DocumentError], None]

ENVIRONMENT_CONF = "environment.conf"

_SECTION = re.compile(r"\[(\w+)\]")
_NAME = re.compile(r"\w+")
_QUOTES = re.compile(r"^[\"']|[\"']\Z")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_MODULE = re.compile(r"^[ \t]*mod\b[ \t(]*(?:(['\"])(?:\w+[-/])?(\w+)\1|\S)", re.MULTILINE)


class SettingLine(NamedTuple):
    """The value of a setting, without quotes, and the number of its line."""

    value: str
    line: int


def settings_in(file: pathlib.Path, name: str, sections: Sequence[str] = ("main",)) -> dict[str, SettingLine]:
    """Name -> setting in an INI file as Puppet reads it; {} if there is no such file.

    Settings before the first heading belong to `main`.
    name:     the name of the file in messages
    sections: the sections to read, the strongest first; all others are left out. In one section the first line of a
              name counts
    raises:   BadData, for a line that is no setting, heading or comment
    """
    if not file.is_file():
        return {}
    found: dict[str, dict[str, SettingLine]] = {section: {} for section in sections}
    section = "main"
    for number, line in enumerate(text_of(file, name).splitlines(), 1):
        written, is_set, value = (part.strip() for part in line.partition("="))
        if heading := _SECTION.fullmatch(line.strip()):
            section = heading[1]
        elif is_set and _NAME.fullmatch(written) and "\0" not in value:
            value = str(_QUOTES.sub("", value)).rstrip()
            found.get(section, {}).setdefault(written, SettingLine(value, number))
        elif line.strip() and not line.lstrip().startswith("#"):
            hint = "write `name = value`, or begin a comment with #"
            raise BadData("is no setting", kind=CONFIG_INVALID, file=name, line=number, hint=hint)
    return {name: setting for section in reversed(sections) for name, setting in found[section].items()}


def _parts(text: str, budget: Budget) -> list[str]:
    """The folders that a text names. raises: TooMuch"""
    budget.bytes(len(text))
    parts = [part for part in text.split(os.pathsep) if part]
    budget.values(len(parts))
    return parts


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: known.get(found[1] or found[2], found[0]), text)


@dataclass(frozen=True)
class PuppetConf:
    """The places that a puppet.conf names. A setting that it leaves out has Puppet's default, relative to that file.

    hiera_config:    the global hiera.yaml, which need not exist
    environmentpath: the folders with environments, as one text with ":" between them
    basemodulepath:  the folders with modules
    known:           the values of confdir, codedir and environmentpath, for other settings that contain `$confdir`
    """

    hiera_config: pathlib.Path
    environmentpath: str
    basemodulepath: tuple[pathlib.Path, ...]
    known: Mapping[str, str]


def puppet_conf(place: pathlib.Path) -> PuppetConf:
    """Read a puppet.conf, or the one in a folder; a folder without one has Puppet's defaults.

    raises: BadArgument, where *place* does not exist; BadData; TooMuch
    """
    file = place / "puppet.conf" if place.is_dir() else place
    if not place.exists():
        raise BadArgument(f"there is no {place}", hint="name a puppet.conf, or the folder that it belongs in")
    given = settings_in(file, file.as_posix(), ("server", "master", "main"))
    confdir = file.parent
    beside = confdir.parent / "code"
    known = {"confdir": str(confdir), "codedir": str(beside if beside.is_dir() else confdir / "code")}

    def place_of(name: str, default: str) -> str:
        return _filled(given[name].value if name in given else default, known)

    for name, default in (("codedir", "$codedir"), ("environmentpath", "$codedir/environments")):
        known[name] = place_of(name, default)
    budget = Budget(str(file))
    home = "$codedir" if os.path.exists(f"{known['codedir']}/hiera.yaml") else "$confdir"
    hiera_config = pathlib.Path(place_of("hiera_config", f"{home}/hiera.yaml"))
    folders = tuple(map(pathlib.Path, _parts(place_of("basemodulepath", "$codedir/modules"), budget)))
    return PuppetConf(hiera_config, known["environmentpath"], folders, known)


def modulepath(
    folder: pathlib.Path, name: str, base: Sequence[pathlib.Path], known: Mapping[str, str], warn: Warn
) -> list[pathlib.Path]:
    """The folders of the modules of an environment: from its environment.conf; without a setting there its `modules`
    and *base*.

    A part with wildcards gives only folders that exist; other folders need not exist. A part with an unknown setting is
    left out, with a warning.
    folder: the folder of the environment
    name:   the name of environment.conf in messages
    base:   the value of `$basemodulepath`
    known:  setting -> value, for `$name` in the text
    warn:   called with each warning
    raises: BadData, for a faulty environment.conf; TooMuch
    """
    written = settings_in(folder / ENVIRONMENT_CONF, name).get("modulepath")
    if written is None:
        return [folder / "modules", *base]
    known = {**known, "basemodulepath": os.pathsep.join(map(str, base))}
    budget = Budget(name, where=lambda: (written.line, None))
    found: list[pathlib.Path] = []
    for part in _parts(written.value, budget):
        filled = _filled(part if part.startswith("$") else str(folder / part), known)
        if "$" in filled:
            hint = "name the folder itself, or with --modulepath"
            warn(BadData(f"{part!r} needs a setting that is not here", kind=CONFIG_INVALID, file=name,
                         line=written.line, hint=hint))  # fmt: skip
            continue
        for path in _parts(filled, budget):
            is_pattern = any(mark in path for mark in "*?[{")
            found += map(pathlib.Path, globbed("", path, budget, folders=True) if is_pattern else [path])
    return found


def named_modules(file: pathlib.Path, name: str, warn: Warn) -> dict[str, int]:
    """Module -> its line, for the modules that a Puppetfile names; {} where there is no file.

    A `mod` counts only as the first word of a line. Its name is the part behind the author: "stdlib" for
    'puppetlabs/stdlib' and 'puppetlabs-stdlib'. Of several lines with one name, the last counts. A name that is not a
    plain text in quotes is left out, with a warning.
    file:   the Puppetfile
    name:   the name of the file in messages
    warn:   called with each warning
    raises: DocumentError, for a file that cannot be read; TooMuch
    """
    text, budget = Text(name, text_of(file, name) if file.is_file() else ""), Budget(name)
    modules: dict[str, int] = {}
    for found in _MODULE.finditer(text.text):
        budget.values()
        line, _ = text.place(found.end() - 1)
        if found[2] is not None:
            modules[found[2]] = line
        else:
            warn(BadData("which module this is only Ruby can say, which was not run", kind=CONFIG_INVALID,
                         file=name, line=line, hint="write its name in quotes"))  # fmt: skip
    return modules
