"""What surrounds the hiera.yaml of a control repository: environment.conf, puppet.conf, Puppetfile.

They say where modules lie, and which ones are named and not there. No Ruby of a Puppetfile is
run, and nothing is looked for that no file names: not what is installed on this machine.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """A setting, and the line that has it."""

    value: str
    line: int


def settings_in(file: pathlib.Path, name: str, sections: Sequence[str] = ("main",)) -> dict[str, SettingLine]:
    """The settings of an INI file as Puppet reads it; {} where there is no file.

    sections: those that count, the strongest first; in one section the first line counts
    raises:   BadData
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
    """The places that a puppet.conf names; what it leaves out is where Puppet has it beside that file.

    known: what other settings may name: confdir, codedir, environmentpath
    """

    hiera_config: pathlib.Path
    environmentpath: str
    basemodulepath: tuple[pathlib.Path, ...]
    known: Mapping[str, str]


def puppet_conf(place: pathlib.Path) -> PuppetConf:
    """Read a puppet.conf, or that of a folder, which need not have one.

    raises: BadArgument, where there is none; BadData
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
    """The folders with the modules of an environment: of its environment.conf, else its `modules` and *base*.

    name:   that of environment.conf in messages
    base:   what `$basemodulepath` is
    raises: BadData
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
        found += (pathlib.Path(one) for path in _parts(filled, budget) for one in _globbed(path, budget))
    return found


def _globbed(path: str, budget: Budget) -> Iterable[str]:
    if not any(mark in path for mark in "*?[{"):
        return [path]
    return globbed("", path, budget, os.path.isdir)


def named_modules(file: pathlib.Path, name: str, warn: Warn) -> dict[str, int]:
    """The modules that a Puppetfile names in so many words, and the line of each; {} where there is no file.

    What Ruby would compute is a warning.
    """
    if not file.is_file():
        return {}
    return dict(_named(Text(name, text_of(file, name)), name, warn))


def _named(text: Text, name: str, warn: Warn) -> Iterator[tuple[str, int]]:
    budget = Budget(name)
    for found in _MODULE.finditer(text.text):
        budget.values()
        line, _ = text.place(found.end() - 1)
        if found[2] is not None:
            yield found[2], line
        else:
            warn(BadData("which module this is only Ruby can say, which was not run", kind=CONFIG_INVALID,
                         file=name, line=line, hint="write its name in quotes"))  # fmt: skip
