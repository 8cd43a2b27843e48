"""Add unknown layers for files that their own program reads in another way: Spring, Git, systemd, npm.

An unknown layer says that a value may be another one in that program. The warnings about keys with dots are here, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.dialects.files.extends import spelled_paths
from nodeattrs.errors import DocumentError
from nodeattrs.kinds import DOTTED_KEY
from nodeattrs.policies import GIT, SYSTEMD

_OF_SPRING = re.compile(r"application(?:-(.+))?\.(?:ya?ml|properties)")
_PROFILE = re.compile(r"!?[^\s!&|()]+")
_CONDITIONS: tuple[tuple[Path, str], ...] = (
    (("spring", "config", "activate", "onprofile"), "under the profile"),
    (("spring", "config", "activate", "oncloudplatform"), "on the platform"),
    (("spring", "profiles"), "under the profile"),
)
"""(Path of Spring's condition for a document, words for messages). Paths as `spelled_paths` takes them; the last one is
of Spring up to 2.3."""


_OF_GIT = r"(?:.*/)?(?:(?:\.|dot_)?gitconfig(?:[.-](?!tmpl|j2|erb|json|ya?ml|toml)[\w-]+)?|\.gitmodules|git/config)"
"""Also the names that collections of settings have: gitconfig.symlink, .gitconfig-work, dot_gitconfig."""
_OF_SYSTEMD = r".*\.(?:service|socket|timer|target|mount|automount|swap|path|slice|scope)(?:\.d/[^/]*\.conf)?"
_OF_NPM = r"(?:.*/)?\.npmrc"
_VARIABLE = "${"
_READ_OTHERWISE = {
    _OF_GIT: "is read as INI, and Git takes quotes, comments, capitals and repeated keys otherwise",
    _OF_SYSTEMD: "is read as INI, and systemd joins the values of many keys, until an empty one resets them",
    r".*\.(?:network|netdev|link|nspawn)(?:\.d/[^/]*\.conf)?": "is read as INI, and systemd takes a section that comes "
    "again as another one",
    _OF_NPM: "is read as INI, and npm makes lists of keys with [] and fills in variables",
}
"""A pattern of the paths of files -> how their program reads them otherwise than an INI reader."""


def policy_of_repeated(file: str) -> str:
    """The policy for a file of Git or a unit of systemd, which is its syntax, too; "" for any other file name."""
    if re.fullmatch(_OF_GIT, file):
        return GIT
    return SYSTEMD if re.fullmatch(_OF_SYSTEMD, file) else ""


def is_of_npm(file: str) -> bool:
    """Whether a file is called as npm calls its settings.

    >>> is_of_npm("web/.npmrc"), is_of_npm("npmrc")
    (True, False)
    """
    return re.fullmatch(_OF_NPM, file) is not None


def is_of_spring(file: str) -> bool:
    """Whether a file is called as Spring Boot calls its settings.

    >>> [is_of_spring(one) for one in ("a/application.yml", "application-prod.properties", "application.json")]
    [True, True, False]
    """
    return _OF_SPRING.fullmatch(os.path.basename(file)) is not None


def profiles_of(files: Iterable[str]) -> set[str]:
    """The profiles that names of files of Spring have, such as prod of application-prod.yml; empty for none."""
    found = (_OF_SPRING.fullmatch(os.path.basename(file)) for file in files)
    return {one[1] for one in found if one and one[1]}


def with_unknown(
    layers: Iterable[Layer], is_chosen: bool = False, is_own: bool = False, profiles: Collection[str] = ()
) -> Iterator[Layer]:
    """Yield the layers, with unknown layers among them.

    Spring takes some documents under a condition, such as a profile. If *profiles* decides the condition, the document
    is kept or left out; if not, an unknown layer replaces it. After a file of Git, systemd or npm comes an unknown
    layer. Any other layer stays as it is.

    is_chosen: True: documents of Spring are kept, since the caller has chosen one document of a file
    is_own:    True: the layers were read as Git, systemd or npm reads them; only variables in .npmrc are then unknown
    profiles:  the profiles of Spring that are active; empty: they are not known
    """
    for layer in layers:
        if is_chosen:
            yield layer
        else:
            yield from _conditional(layer, profiles)
        yield from _filled_in(layer) if is_own else _read_otherwise(layer)


def _conditional(layer: Layer, profiles: Collection[str]) -> Iterator[Layer]:
    """The layer; an unknown one for a document of Spring that counts under a condition; none if it does not count."""
    for steps, when in _CONDITIONS:
        for path in spelled_paths(layer.value, steps):
            value = dig(layer.value, path)
            if not isinstance(value, (str, list)) or not value:
                continue
            at = layer.origin.at(())
            names = [value] if isinstance(value, str) else [*map(str, value)]
            words = [word.strip() for name in names for word in name.split(",")]
            can_decide = profiles and steps[-1] != "oncloudplatform" and not str(at.file).endswith(".properties")
            if not can_decide or not all(map(_PROFILE.fullmatch, words)):
                reason = f"counts {when} {', '.join(names)} alone in Spring"
                yield Layer.unknown(at.name, layer.origin, reason, dict(_lines(layer, layer.value, ())))
                return
            if not any((word.lstrip("!") in profiles) != word.startswith("!") for word in words):
                return
    yield layer


def unread_profiles(layers: Iterable[Layer], profiles: Collection[str]) -> Iterator[Layer]:
    """Yield an unknown layer for each place in files of Spring that activates further profiles; nothing for none.

    profiles: the profiles that are active. Empty: they are not known, and `spring.profiles.active` counts, too
    """
    names = [re.sub("[-_]", "", one.lower()) for one in profiles]
    places: list[Path] = [("spring", "profiles", "include"), *(("spring", "profiles", "group", one) for one in names)]
    if not profiles:
        places.append(("spring", "profiles", "active"))
    for layer in layers:
        for path in (path for steps in places for path in spelled_paths(layer.value, steps)):
            if dig(layer.value, path) not in (None, "", []):
                at = layer.origin.at(path)
                name = spell(path)
                origin = Origin("file", name, at.file, at.line)
                yield Layer.unknown(name, origin, "activates profiles, whose files were not read")


def _lines(layer: Layer, value: Any, path: Path) -> Iterator[tuple[Path, int]]:
    """The path of each text, number and list, with its line. Dots in keys also make the path of Spring."""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from _lines(layer, entry, (*path, key))
    elif path:
        line = layer.origin.at(path).line or 1
        yield path, line
        yield tuple(step for key in path for step in str(key).split(".")), line


def _filled_in(layer: Layer) -> Iterator[Layer]:
    """An unknown layer for the keys and values of a .npmrc in which npm fills in variables of the environment."""
    at = layer.origin.at(())
    if not is_of_npm(at.file or "") or not isinstance(layer.value, dict):
        return
    found = [path for path, value in _texts(layer.value, ()) if _VARIABLE in spell(path) or _VARIABLE in value]
    if found:
        has_name = any(_VARIABLE in spell(path) for path in found)
        lines = None if has_name else {path: layer.origin.at(path).line or 1 for path in found}
        yield Layer.unknown(at.name, layer.origin, "npm fills in variables of the environment", lines)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Each scalar in a value as a text, with its path."""
    if isinstance(value, (dict, list)):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(entry, (*path, key))
    else:
        yield path, str(value)


def _read_otherwise(layer: Layer) -> Iterator[Layer]:
    at = layer.origin.at(())
    how = read_otherwise(at.file or "")
    if how and isinstance(layer.value, dict):
        yield Layer.unknown(at.name, Origin(at.kind, at.name, at.file), how)


def read_otherwise(file: str) -> str:
    """How Git, systemd or npm reads a file otherwise than an INI reader, in words; "" for any other file name.

    >>> read_otherwise("etc/web.service.d/10.conf")
    'is read as INI, and systemd joins the values of many keys, until an empty one resets them'
    """
    return next((how for pattern, how in _READ_OTHERWISE.items() if re.fullmatch(pattern, file)), "")


def warnings_of_dotted_keys(layers: Sequence[Layer]) -> Iterator[DocumentError]:
    """Yield a warning for each top key with dots, such as "a.b", if a layer also has the path a.b of two keys."""
    for layer in layers:
        if isinstance(layer.value, dict):
            yield from (_dotted(layer, key) for key in layer.value if _is_path_of(key, layers))


def _is_path_of(key: Any, layers: Sequence[Layer]) -> bool:
    steps = tuple(key.split(".")) if isinstance(key, str) else ()
    return len(steps) > 1 and any(dig(one.value, steps) is not ABSENT for one in layers)


def _dotted(layer: Layer, key: str) -> DocumentError:
    message = f"{spell((key,))} is a key of its own, and not the path {key} that is set, too"
    at = layer.origin.at((key,))
    hint = "write both in one way; for Spring they are one"
    return DocumentError(message, file=at.file, line=at.line, column=at.column, kind=DOTTED_KEY, hint=hint)
