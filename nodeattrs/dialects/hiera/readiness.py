"""`nodeattrs hiera ready-for-8`: keys that fail or change under Puppet 8, and lines that name legacy facts.

All keys of each node are looked up twice: by the rules of Puppet 7, and by those of Puppet 8 without legacy facts.
No code runs: manifests and templates are searched as texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import NamedTuple

from nodeattrs import border
from nodeattrs.contract.command import PlainReport
from nodeattrs.dialects.hiera.census import differences, values_or_errors
from nodeattrs.dialects.hiera.scope import Hiera, Scope
from nodeattrs.dialects.hiera.static import LegacyUse, code_files, legacy_uses_in_tree
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats.documents import text_of
from nodeattrs.puppet.legacy_facts import modern_fact
from nodeattrs.reports.screen import first_of, printable

_CODE = (".pp", ".epp", ".erb")
_USES = re.compile(r"""\$::(\w+)|\bfacts\[['"](\w+)['"]\]|\bfact\(['"](\w+)['"]\)|['"]::(\w+)['"]|(?<![\w@])@(\w+)""")
"""How code names a fact: `$::id`, `$facts['id']`, `fact('id')`, `scope['::id']`, and `@id` in ERB."""
_SHOWN = 5


class _NewFailure(NamedTuple):
    """A fault that lookups have under Puppet 8 and not under Puppet 7.

    fault: the error
    keys:  the keys that fail with it, in order; the values of this map are None
    nodes: the nodes on which they fail, in order; "" is a node without a name. The values of this map are None
    """

    fault: NodeattrsError
    keys: dict[str, None]
    nodes: dict[str, None]

    @property
    def place(self) -> tuple[str | None, int | None]:
        """File and line of the fault; None where it has none."""
        return (self.fault.file, self.fault.line) if isinstance(self.fault, DocumentError) else (None, None)


def without_legacy_facts(scope: Scope, tree: Hiera) -> Scope:
    """A scope for the same node in another tree, without legacy facts.

    Variables that have the name and the value of a legacy fact are left out, too.
    """
    old = scope.variables["facts"]
    facts = {name: value for name, value in old.items() if modern_fact(name) is None}
    others = {name: value for name, value in scope.variables.items() if name in facts or value is not old.get(name)}
    return tree.scope(
        facts,
        node=scope.node,
        environment=scope.environment,
        trusted=scope.variables["trusted"],
        variables={**others, "facts": facts},
        knows_facts=scope.knows_facts,
    )


def _changed_keys(
    before: Mapping[str, Scope], after: Mapping[str, Scope]
) -> tuple[list[_NewFailure], dict[str, list[str]]]:
    """(new failures, key -> the nodes on which its value is another one) under Puppet 8.

    One failure for each error text. A key that fails under Puppet 7, too, is left out.
    """
    fails: dict[str, _NewFailure] = {}
    changes: dict[str, list[str]] = {}
    for name, scope in before.items():
        keys = scope.known_keys()
        for key, (old, new) in differences(values_or_errors(scope, keys), values_or_errors(after[name], keys)).items():
            if isinstance(new, NodeattrsError) and not isinstance(old, NodeattrsError):
                one = fails.setdefault(str(new), _NewFailure(new, {}, {}))
                one.keys[key] = one.nodes[name] = None
            elif not isinstance(old, NodeattrsError):
                changes.setdefault(key, []).append(name)
    return [*fails.values()], changes


def _legacy_uses(tree: Hiera, environments: Iterable[str]) -> list[LegacyUse]:
    """The lines of levels, data files, manifests and templates that name legacy facts, each once."""
    found: dict[LegacyUse, None] = {}
    for environment in environments:
        for uses in (legacy_uses_in_tree(tree, environment), _in_code(tree, environment)):
            found |= dict.fromkeys(uses)
    return [*found]


def _in_code(tree: Hiera, environment: str) -> Iterator[LegacyUse]:
    layer = tree.environment_layer(environment)
    roots = [] if layer is None else [str(layer.folder)]
    for path in code_files(dict.fromkeys([*roots, *map(str, tree.modulepath(environment))])):
        if path.endswith(_CODE) and not border.is_outside(path):
            shown = tree.shown(path)
            for number, line in enumerate(text_of(FilePath(path), shown).splitlines(), 1):
                yield from (LegacyUse(shown, number, "code", *use) for use in _uses(line, path.endswith(".erb")))


def _uses(line: str, is_erb: bool) -> Iterator[tuple[str, str]]:
    """Yield (legacy fact, fact to write) for a line of code; nothing for a comment. is_erb: `@name` is a variable"""
    for found in _USES.finditer(line) if not line.lstrip().startswith("#") else ():
        name = next(filter(None, found.groups()))
        new = modern_fact(name) if found[5] is None or is_erb else None
        if new is not None:
            yield name, new


def readiness_report(before: Mapping[str, Scope], after: Mapping[str, Scope], tree: Hiera) -> PlainReport:
    """The report of three lists: new failures under Puppet 8, keys with another value, and uses of legacy facts.

    Failures with the same error text are one entry, with all keys and nodes; a changed key has its nodes. Both lists
    are in the order in which *before* has the nodes. Uses are grouped by environment: levels and data, then code. No
    lines if all three are empty. A key that fails under Puppet 7, too, is left out.
    before, after: name -> scope under Puppet 7, and under Puppet 8; *after* has each name of *before*
    tree:          the tree of *before*, whose levels, data files and code are searched for legacy facts
    cost:          two lookups for each key of each node, and one look at each file
    raises:        NodeattrsError, where the keys of a node cannot be listed, or a file cannot be read
    """
    fails, changes = _changed_keys(before, after)
    uses = _legacy_uses(tree, dict.fromkeys(scope.environment for scope in before.values()))
    text: list[str] = []
    for one in fails:
        first, *rest = str(one.fault).splitlines()
        text += [f"{first}: fails in Puppet 8", *rest, f"  {first_of([*one.keys], _SHOWN)}{_on(one.nodes)}"]
    text += [f"{key} has another value in Puppet 8{_on(nodes)}" for key, nodes in changes.items()]
    text += [f"{use.file}:{use.line}: {use}: write facts.{use.instead}" for use in uses]
    data = {
        "version": 1,
        "fails": [
            {"message": one.fault.message, "code": one.fault.code, "file": one.place[0], "line": one.place[1],
             "keys": [*one.keys], "nodes": [*one.nodes]} for one in fails
        ],
        "changes": changes,
        "legacy": [use._asdict() for use in uses],
    }  # fmt: skip
    return PlainReport([printable(line) for line in text], data)


def _on(nodes: Iterable[str]) -> str:
    names = [name for name in nodes if name]
    return f" on {first_of(names, _SHOWN)}" if names else ""
