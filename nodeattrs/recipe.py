"""Names for recipes and attribute files: `from nodeattrs.recipe import node, default, include_recipe`.

The import is for linters, type checkers and editors: a file that runs has the names without it. Each name belongs to
the run that imports it. Attribute files have the writers (`default`, `normal_unless`, `override_full`, ...),
`has_attribute` and `include_attribute`; recipes have `include_recipe`, `tag`, `untag`; both have `node`, `lazy`,
`Sensitive`, `Symbol`, `log`, `data_bag`, `data_bag_item`, `search`, `tagged`, `has_recipe`, `has_role`, `run_state`,
`read_json`, `read_yaml`, `read_toml`, and the questions about the machine: `platform`, `platform_family`,
`value_for_platform`, `value_for_platform_family`, `debian`, `virtual`, ... (docs/from-chef.md lists them). The words by
which recipes declare resources are in docs/catalog.md.

>>> from nodeattrs.recipe import node
Traceback (most recent call last):
nodeattrs.errors.WordNotKnownHere: 'node' is known only while a recipe or attribute file runs
  run it with: nodeattrs run --repo DIR
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nodeattrs.dialects.chef.run.lookups import READERS
from nodeattrs.dialects.chef.run.platform_words import QUESTIONS
from nodeattrs.dialects.chef.run.recipes import BOTH, FILES_ONLY, RECIPES_ONLY, words_now
from nodeattrs.errors import WordNotKnownHere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike

    from nodeattrs.catalog import RefMaker, Refs
    from nodeattrs.node.node import Node
    from nodeattrs.node.writers import FullWriter, UnlessWriter, Writer

    node: Node
    default: Writer
    force_default: Writer
    normal: Writer
    override: Writer
    force_override: Writer
    default_unless: UnlessWriter
    normal_unless: UnlessWriter
    override_unless: UnlessWriter
    default_full: FullWriter
    force_default_full: FullWriter
    normal_full: FullWriter
    override_full: FullWriter
    force_override_full: FullWriter

    def has_attribute(key: str) -> bool: ...
    def include_attribute(*names: str) -> None: ...
    def include_recipe(*names: str) -> None: ...
    def data_bag(bag: str) -> list[str]: ...
    def data_bag_item(bag: str, item: str, secret: str | None = None) -> dict[str, Any]: ...
    def read_json(file: str | PathLike[str]) -> Any: ...
    def read_yaml(file: str | PathLike[str]) -> Any: ...
    def read_toml(file: str | PathLike[str]) -> Any: ...
    def inject(key: Any, type: Any = None, /, **args: Any) -> Any: ...
    def parameters(target: str, /, **defaults: Any) -> dict[str, Any]: ...
    def search(kind: str, query: str = "*:*", **options: Any) -> list[dict[str, Any]]: ...
    def lookup(name: str | list[str], **options: Any) -> Any: ...
    def tag(*names: str) -> list[str]: ...
    def untag(*names: str) -> list[str]: ...
    def tagged(*names: str) -> bool: ...
    def log(message: object, level: str = "info") -> None: ...
    def has_recipe(name: str) -> bool: ...
    def has_role(name: str) -> bool: ...
    def platform(*names: str) -> bool: ...
    def platform_family(*names: str) -> bool: ...
    def value_for_platform(values: Mapping[str | tuple[str, ...], Any]) -> Any: ...
    def value_for_platform_family(values: Mapping[str | tuple[str, ...], Any]) -> Any: ...

    run_state: dict[Any, Any]

    File: RefMaker
    Directory: RefMaker
    Link: RefMaker
    Execute: RefMaker
    Log: RefMaker
    Recipe: RefMaker
    Class: RefMaker

    # One title gives a reference, several give references side by side: both can stand in a chain.
    def file(titles: str | Iterable[str], **parameters: Any) -> Any: ...
    def directory(titles: str | Iterable[str], **parameters: Any) -> Any: ...
    def link(titles: str | Iterable[str], **parameters: Any) -> Any: ...
    def execute(titles: str | Iterable[str], **parameters: Any) -> Any: ...
    def message(titles: str | Iterable[str], **parameters: Any) -> Any: ...
    def resource(kind: str, titles: str | Iterable[str], **parameters: Any) -> Any: ...
    def reference(kind: str) -> RefMaker: ...
    def refs(*given: Any) -> Refs: ...
    def chain(text: str) -> None: ...
    def define(body: Callable[..., Any]) -> Any: ...
    def require_recipe(*names: str) -> None: ...
    def contain_recipe(*names: str) -> None: ...


_ALL = [
    *FILES_ONLY,
    *RECIPES_ONLY,
    *BOTH,
    *QUESTIONS,
    "Sensitive",
    "Symbol",
    "include_attribute",
    "lazy",
    "log",
    "node",
    *READERS,
]


def __getattr__(name: str) -> Any:
    words = words_now()
    if words is not None:
        own, known = words
        if name in known:
            return known[name]
        if name in own:
            return own[name]
    if name == "__all__":  # of `import *`: what the file that runs has
        return _ALL if words is None else [*words[0], *words[1]]
    if name.startswith("__"):
        raise AttributeError(name)
    if words is None:
        if name not in _ALL:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        raise WordNotKnownHere(
            f"{name!r} is known only while a recipe or attribute file runs",
            hint="run it with: nodeattrs run --repo DIR",
        )
    if name in FILES_ONLY:
        raise WordNotKnownHere(f"{name!r} is a word of attribute files", hint=f"in a recipe write node.{name}")
    if name in RECIPES_ONLY:
        raise WordNotKnownHere(f"{name!r} is a word of recipes", hint="attribute files only set attributes")
    raise WordNotKnownHere(f"there is no word {name!r} for cookbook files", hint="see docs/from-chef.md")
