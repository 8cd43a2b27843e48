"""Render Jinja templates of parts and conf.d files with instance data, as cloud-init does.

A template is always rendered in Jinja's sandbox, and a template that needs to leave it is an error. Older releases of
cloud-init have no sandbox. Jinja2 is imported when a template is rendered. The module does not read the rendered text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.cloudinit.codes import INSTANCE_DATA, TEMPLATE
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.unpacking import read_document
from nodeattrs.errors import TooMuch
from nodeattrs.formats.jinja import line_of, module, rendering, sandboxed

MISSING = "CI_MISSING_JINJA_VAR/"
"""The text that cloud-init writes before the name of an undefined variable."""
REDACTED = "redacted for non-root user"
"""The text that replaces secrets in the instance data that every user may read."""

_FIRST_LINE = re.compile(r"##\s*template:(.*)", re.IGNORECASE)
_VERSION = re.compile(r"v\d+")


def template_in(text: str, is_rendered: bool = True) -> str | None:
    """The text below a first line `## template: jinja`. None without that line, and for `## template: basic`.

    is_rendered: True: another kind of template is an error; False: None is returned for it
    raises:      CloudConfigError of kind "template", for a kind of template that cloud-init does not have

    >>> template_in("## template: jinja\\n#cloud-config\\n"), template_in("#cloud-config\\n")
    ('#cloud-config\\n', None)
    """
    first, _, rest = text.partition("\n")
    found = _FIRST_LINE.match(first)
    kind = found and found[1].lower().strip()
    if kind in (None, "basic") or (kind != "jinja" and not is_rendered):
        return None
    if kind != "jinja":
        raise CloudConfigError(TEMPLATE, f"there are no templates of the kind {kind!r}", line=1, hint="write jinja")
    return rest


class InstanceData:
    """The instance data of a machine: variables for templates, and methods that render templates with them.

    For an unknown machine a template is rendered several times. A *way* is one rendering: it fixes which side of each
    condition on the machine is taken. For a known machine there is one way.

    tree:   the map, in the layout of instance-data.json: `v1`, `ds`, `merged_cfg`
    ways:   how many ways the template with the most ways has, of all that were rendered so far; 1 for a known machine
    unseen: how many branches of a template were left out because they need too many ways; of several templates the
            largest number. 0 for a known machine

    The constructor takes a map and reads nothing. `read` reads a file, `of_meta_data` takes meta-data of NoCloud, and
    `missing` is for an unknown machine; then `is_missing` is true. `render` gives the text of a template. It raises
    CloudConfigError for a broken template, and MissingExtra without Jinja2. `lines` gives the line of the file for each
    line of the rendered text; () if the lines are not known. `lacking(template)` names a variable of the template that
    the instance data does not have; None if it has all of them. `variables` are all variables.
    """

    def __init__(self, tree: Mapping[str, Any]) -> None:
        self.tree = tree
        self.ways = 1
        self.unseen = 0
        self._way: int | None = None
        self._is_whole = True

    @classmethod
    def missing(cls, way: int = 0) -> InstanceData:
        """Instance data of an unknown machine: each variable is a placeholder, and so is everything below it.

        way: the number of the way (see `branches`) that templates take where a condition depends on the machine. To try
             all, render with way 0, and then with each number below `ways`
        """
        data = cls({})
        data._way = way
        return data

    @property
    def is_missing(self) -> bool:
        """Whether the machine is unknown, as after `missing`."""
        return self._way is not None

    @classmethod
    def of_meta_data(cls, tree: Mapping[str, Any]) -> InstanceData:
        """Instance data from the meta-data of NoCloud: `ds.meta_data`, and in `v1` the instance id and the host name.

        By default `instance-id` is "nocloud" and `dsmode` is "net". The host name is the first label of
        `local-hostname`; it is not set for an IPv4 address or another type than text. `v1` has both keys with "_" and
        with "-". `lacking` names any other variable, and a template with it is not rendered.
        """
        meta = {"instance-id": "nocloud", "dsmode": "net", **tree}
        known = {"instance_id": str(meta["instance-id"])}
        name = meta.get("local-hostname")
        if isinstance(name, str) and not _ADDRESS.fullmatch(name):
            known["local_hostname"] = name.partition(".")[0]
        known |= {key.replace("_", "-"): value for key, value in known.items()}
        data = cls({"ds": {"meta_data": meta}, "v1": known})
        data._is_whole = False
        return data

    @classmethod
    def read(cls, path: Path) -> InstanceData:
        """Read a file: instance data in JSON, or the meta-data of NoCloud in YAML or JSON; an empty file is meta-data.

        JSON with the key `instance-id` is meta-data.
        raises: CloudConfigError, for a file that cannot be read, or is anything but a map
        """
        document = read_document(path, INSTANCE_DATA)
        tree = {} if document.tree is None else document.tree
        if not isinstance(tree, dict):
            raise CloudConfigError(INSTANCE_DATA, "instance data is a map", file=document.file)
        is_json = document.text.lstrip().startswith("{")
        return cls(tree) if is_json and "instance-id" not in tree else cls.of_meta_data(tree)

    def lacking(self, template: str) -> str | None:
        """One variable of a template that is not known, such as "v1.region"; None if all are known.

        Data of `of_meta_data` know `ds.meta_data` with all below it, and the keys of `v1`, also at the top. Other data
        know every variable. None for a broken template.
        """
        if self._is_whole:
            return None
        budget = Budget("a template")
        try:
            with rendering(budget):
                tree = _environment(budget, self._way is None).parse(template)
        except module().TemplateError:  # `render` raises the error
            return None
        known = {("ds", "meta_data"), *(("v1", key) for key in self.tree["v1"]), *((key,) for key in self.tree["v1"])}
        asked = (chain for chain in _variables_read(tree) if not any(chain[: len(one)] == one for one in known))
        return next((".".join(chain) for chain in asked), None)

    @cached_property
    def variables(self) -> dict[str, Any]:
        """The variables of templates: the tree with aliases, such as a_b for a-b; the keys of `v1` also at the top."""
        paths = self.tree.get("base64-encoded-keys", ())
        return _variables(self.tree, "", {path.replace("-", "_") for path in paths if isinstance(path, str)})

    def render(self, template: str, budget: Budget | None = None) -> str:
        """The text of a rendered template. Includes and imports of other templates fail.

        raises: CloudConfigError of kind "template", whose cause is Jinja's error; TooMuch; MissingExtra, without Jinja2
        """
        return self._rendered(_environment(budget or Budget("a template"), self._way is None), template)

    def lines(self, template: str, text: str, budget: Budget | None = None) -> tuple[int, ...]:
        """For each line of the rendered *text*, the line of the file that it comes from. The template begins on line 2
        of the file.

        () if the template cannot be rendered to *text* again, as with random values. cost: one more rendering
        """
        environment = _environment(budget or Budget("a template"), self._way is None)
        marked = "".join(
            _marked(value, line) if kind == "data" else value for line, kind, value in environment.lex(template)
        )
        try:
            rows = self._rendered(environment, marked + "\n" * template.endswith("\n")).split("\n")
        except CloudConfigError:
            return ()
        if "\n".join(_MARK.sub("", row) for row in rows) != text:
            return ()
        found, last = [], template.removesuffix("\n").count("\n") + 1
        for row in reversed(rows):
            marks = _MARK.findall(row)
            last = int(marks[0]) if marks else last
            found.append(last + 1)
        return tuple(reversed(found))

    def _rendered(self, environment: Any, template: str) -> str:
        try:
            with rendering(environment.meter.budget):
                source = template if self._way is None else self._on_one_way(environment, template, self._way)
                text: str = environment.from_string(source).render(**self.variables)
        except TooMuch as passed:
            line = line_of(passed)
            raise passed.located(passed.file, None if line is None else line + 1) from None
        except Exception as error:
            line = getattr(error, "lineno", None)
            reason = str(error).partition("\n")[0]
            raise CloudConfigError(
                TEMPLATE, f"the template cannot be rendered: {reason}", line=None if line is None else line + 1
            ) from error
        return text + "\n" * template.endswith("\n")

    def _on_one_way(self, environment: Any, template: str, way: int) -> Any:
        """The parsed template with one branch of each condition; the first way where it has fewer."""
        from nodeattrs.dialects.cloudinit.branches import ONCE, follow, once, ways_of

        tree = environment.parse(template)
        ways, unseen, unknown = ways_of(tree, environment.meter.budget)
        self.unseen = max(self.unseen, unseen)
        self.ways = max(self.ways, len(ways))
        environment.filters[ONCE] = once
        return follow(tree, ways[way] if way < len(ways) else ways[0], unknown)


_ADDRESS = re.compile(r"\d+(?:\.\d+){3}")


def _variables_read(tree: Any) -> Iterator[tuple[str, ...]]:
    """Yield each variable that a parsed template reads and does not set, with the steps below it."""
    from jinja2 import meta, nodes

    free = meta.find_undeclared_variables(tree) - tree.environment.globals.keys()
    open_ = [tree]
    while open_:
        node, steps = open_.pop(), tuple[str, ...]()
        while isinstance(node, (nodes.Getattr, nodes.Getitem)):
            if isinstance(node, nodes.Getattr):
                steps = (node.attr, *steps)
            else:
                open_.append(node.arg)
                steps = (str(node.arg.value), *steps) if isinstance(node.arg, nodes.Const) else ()
            node = node.node
        if not isinstance(node, nodes.Name):
            open_ += node.iter_child_nodes()
        elif node.name in free:
            yield (node.name, *steps)


_MARK = re.compile("\ue000(\\d+)\ue001")


def _marked(text: str, line: int) -> str:
    """The text between two tags of a template, each of its lines with a mark behind it."""
    rows = text.split("\n")
    marked = [f"{row}\ue000{line + index}\ue001" for index, row in enumerate(rows[:-1])]
    end = f"{rows[-1]}\ue000{line + len(rows) - 1}\ue001" if rows[-1].strip() else rows[-1]
    return "\n".join([*marked, end])


def unrendered(
    data: InstanceData | None, template: str, title: str, origin: Origin, sets: Mapping[TreePath, int] | None = None
) -> Layer | None:
    """The unknown layer that replaces a template that cannot be rendered; None if the template can be rendered.

    data:     instance data. None, or data that lack a variable of the template: it cannot be rendered
    template: the text of the template
    title:    the title of the layer
    origin:   the place of the template
    sets:     the paths that the template may set, with their lines; None: any
    raises:   TooMuch
    """
    if data is None:
        return Layer.unknown(title, origin, "is a template, and there is no instance data", sets)
    lacking = data.lacking(template)
    if lacking is None:
        return None
    return Layer.unknown(title, origin, f"is a template that asks for {lacking}, which the meta-data do not say", sets)


def _variables(tree: Mapping[str, Any], above: str, packed: set[str]) -> dict[str, Any]:
    from jinja2.lexer import operator_re

    found: dict[str, Any] = {}
    for key, value in sorted(tree.items()):
        path = f"{above}/{key}" if above else key
        value = _unpacked(value) if path in packed else value
        if isinstance(value, dict):
            value = _variables(value, path, packed)
            if _VERSION.fullmatch(key):
                found |= value
        found[key] = value
        alias = operator_re.sub("_", key)
        if alias != key:
            found[alias] = value
    return found


def _unpacked(value: Any) -> Any:
    content = base64.b64decode(value)
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _environment(budget: Budget, is_known: bool = True) -> Any:
    """The environment of Jinja for templates.

    is_known: whether the machine is known; else undefined variables are placeholders, and an access is no error
    """
    base = module().DebugUndefined if is_known else _placeholder()

    class Undefined(base):  # type: ignore[misc, valid-type]  # loaded on use
        def __str__(self) -> str:
            return f"{MISSING}{self._undefined_name}"

        def __sub__(self, other: Any) -> Any:
            name, rest = self._undefined_name, str(other).replace(MISSING, "")
            raise TypeError(f"{name}-{rest} is not defined; is {name}_{rest} meant?")

    return sandboxed(budget, undefined=Undefined, trim_blocks=True, extensions=["jinja2.ext.do"])


def _placeholder() -> Any:
    """A class for undefined variables of an unknown machine: it can be called, computed with, and has one element."""

    class Placeholder(module().ChainableUndefined):  # type: ignore[misc]  # loaded on use
        def _itself(self, *args: Any, **named: Any) -> Any:
            return self

        def __iter__(self) -> Iterator[Any]:
            yield self

        def __len__(self) -> int:
            return 1

        def __int__(self) -> int:
            return 0

        def __float__(self) -> float:
            return 0.0

        def _is_less(self, other: Any) -> bool:
            return False

        __call__ = __add__ = __radd__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _itself
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __pow__ = __rpow__ = __neg__ = __pos__ = _itself
        __lt__ = __le__ = __gt__ = __ge__ = _is_less

    return Placeholder
