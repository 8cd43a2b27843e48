"""Libraries of which a command needs a part: loaded while something stands in for the rest.

For a process that is a command alone (`nodeattrs.cli.main`): who uses nodeattrs as a library gets each as it is.
"""

from __future__ import annotations

import sys
from _frozen_importlib_external import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


class Sparing:
    """Loads some libraries, each while something stands in for what it would load or make and few commands use.

    Together that is a fifth of a start. What stands in is there for all meanwhile.
    """

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """As those that find modules have it: where a library is, with a loader that spares something."""
        if name not in _SPARED:
            return None
        found = (one.find_spec(name, path, target) for one in sys.meta_path if one is not self)
        spec = next((spec for spec in found if spec is not None), None)
        loader: Any = spec and spec.loader  # which is the module's alone
        if issubclass(type(loader), SourceFileLoader):
            for made in _SPARED[name]:
                if made not in _STAND_INS:
                    _STAND_INS[made] = made()
                loader.exec_module = _sparing(loader.exec_module, _STAND_INS[made])
        return spec


def _sparing(load: Any, stand_in: ModuleType) -> Any:
    name = stand_in.__name__

    def loaded(module: ModuleType) -> None:
        before = sys.modules.get(name)
        sys.modules[name] = stand_in
        try:
            load(module)
        finally:
            del sys.modules[name]
            if (true := before or vars(stand_in).get("__true__")) is not None:
                sys.modules[name] = true

    return loaded


def _module(name: str, **has: Any) -> ModuleType:
    made: Any = type(sys)(name)
    vars(made).update(has)
    return made  # type: ignore[no-any-return]


def _late(name: str, **has: Any) -> ModuleType:
    """A module that is loaded when something is asked of it that it has not."""

    def found(asked: str) -> Any:
        if stand_in.__true__ is None:
            here = sys.modules.pop(name, None)
            stand_in.__true__ = here if here not in (None, stand_in) else __import__(name)
            sys.modules[name] = here or stand_in.__true__
        return getattr(stand_in.__true__, asked)

    stand_in: Any = _module(name, __true__=None, __getattr__=found, **has)
    return stand_in  # type: ignore[no-any-return]


def _expressions() -> ModuleType:
    """Each that a module has is compiled at its first use: where C does the work few ever are.

    Where all that are needed were compiled before, neither the compiler is loaded nor the enums that it needs. What a
    function compiles later may come from outside, and is nobody else's.
    """
    from nodeattrs.lazily import re, regexp

    def compiled(text: Any, flags: int = 0) -> Any:
        return (regexp if sys.modules.get("re") is stand_in else stand_in.__getattr__("compile"))(text, flags)

    flags = {name: getattr(re, name) for name in ("VERBOSE", "MULTILINE", "DOTALL", "IGNORECASE")}
    stand_in = _late("re", compile=compiled, X=re.VERBOSE, Pattern=re.Pattern, Match=re.Match, **flags)
    return stand_in


def _options() -> ModuleType:
    """Those of argparse are its own, whenever they are compiled, or of how many words an option takes."""
    from nodeattrs.lazily import regexp

    return _late("re", compile=regexp, match=lambda text, given: regexp(text).match(given), ASCII=256)


def _windows() -> ModuleType:
    """Its paths are asked for on Windows."""
    return _late("ntpath")


def _translations() -> ModuleType:
    """Beside ours argparse's own words stay English."""
    return _module("gettext", gettext=str, ngettext=lambda one, more, count: one if count == 1 else more)


def _addresses() -> ModuleType:
    """A path is rarely made a URL; what makes one knows addresses of networks, too."""

    def quote_from_bytes(text: bytes) -> str:
        from urllib.parse import quote_from_bytes

        return quote_from_bytes(text)

    return _module("urllib.parse", quote_from_bytes=quote_from_bytes)


def _encodings() -> ModuleType:
    """What a line is read with where nobody has its text yet."""
    return _late("tokenize")


def _words() -> ModuleType:
    """What the reader of TOML says of its types nobody asks."""
    from nodeattrs.records import NamedTuple

    class Kind:
        __class_getitem__ = classmethod(lambda cls, _: cls)

    return _module("typing", NamedTuple=NamedTuple, __getattr__=lambda name: Kind)


def _binary() -> ModuleType:
    """What is written in base64, under a tag that few files have."""
    return _late("base64")


def _letters() -> ModuleType:
    """Letters and digits; templates of `string`, for which it compiles something, nobody writes here."""
    lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
    return _late("string", ascii_letters=lower + lower.upper(), digits=digits, hexdigits=f"{digits}abcdefABCDEF")


_SPARED = {
    "yaml": [_expressions, _binary],
    "tomllib": [_expressions],
    "tomllib._parser": [_words, _letters],
    "json.scanner": [_expressions],
    "json.decoder": [_expressions],
    "json.encoder": [_expressions],
    "argparse": [_options, _translations],
    "linecache": [_encodings],
    "pathlib": [_expressions, _windows, _addresses],
    "typing": [_expressions],
}

_STAND_INS: dict[Any, Any] = {}
