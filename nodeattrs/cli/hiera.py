"""`nodeattrs hiera`: keys in a Hiera 5 tree, as `puppet lookup` has them, and why."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.exits import DONE, FAILED, NO_SUCH_KEY, NOT_UNDERSTOOD, UNKNOWN_LAYER, WRONG_TYPE, described
from nodeattrs.cli.options import actions_of, add_output, add_run_code
from nodeattrs.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nodeattrs.adapters.hiera import Hiera, Scope, UnknownLevel
    from nodeattrs.errors import NodeattrsError

SUMMARY = "look keys up in a Hiera 5 tree, and say which file and line gave what"
DESCRIPTION = """\
Ask layers of Hiera 5 data, for one node or for all of a folder of facts. The tree is hiera.yaml
here, or what --hiera or --environmentpath name."""
EXAMPLES = """\
examples:
  nodeattrs hiera lookup ntp::servers --hiera cookbooks_example/hiera --node web1 --facts cookbooks_example/facts
  nodeattrs hiera explain ntp::servers --environmentpath environments --node web1
  nodeattrs hiera lookup users --facts facts/ --merge deep --knock-out-prefix=--
  nodeattrs hiera list --facts facts/web1.yaml
  nodeattrs hiera diff web1 web2 --facts facts/
  nodeattrs hiera who-has ntp::servers
  nodeattrs hiera unused --facts facts/
"""

_SUMMARIES = {
    "lookup": "print the value of a key; of several keys the first one found counts",
    "explain": "say which places were searched for a key, and who set each leaf",
    "list": "print all keys that a node sees, with their values",
    "diff": "say which keys differ between two nodes, or for one node between two trees",
    "who-has": "print every file and line that has a key, read or not",
    "unused": "print the files that no node reads, and the keys that are always shadowed",
}
_CODES = described(DONE, FAILED, NOT_UNDERSTOOD, NO_SUCH_KEY, WRONG_TYPE, UNKNOWN_LAYER)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command: six of its own."""
    codes = dict.fromkeys(("lookup", "explain", "list", "diff"), _CODES)
    for name, one in actions_of(parser, _SUMMARIES, codes):
        _add_asked(one, name)
        _add_tree(one)
        _add_who(one, name)
        if name in ("lookup", "explain"):
            _add_merging(one)
        if name in ("lookup", "explain", "list"):
            one.add_argument(
                "--render-as",
                choices=("s", "json", "yaml"),
                help="the bare value or explanation, as `puppet lookup` prints it",
            )
        add_run_code(one)
        add_output(one)


def _add_asked(parser: argparse.ArgumentParser, name: str) -> None:
    if name in ("lookup", "explain"):
        parser.add_argument("keys", metavar="KEY", nargs="+", help="such as ntp::servers or users.bob.uid")
    elif name == "who-has":
        parser.add_argument("key", metavar="KEY", help="such as ntp::servers")
    elif name == "diff":
        parser.add_argument("before", metavar="NODE", nargs="?", default="", help="its name")
        parser.add_argument("after", metavar="OTHER", nargs="?", help="another one (default: NODE)")
        parser.add_argument("--against-tree", metavar="PLACE", help="what OTHER sees in this tree")
    if name == "explain":
        parser.add_argument("--options", action="store_true", help="how lookup_options came to be")
        parser.add_argument("--all", action="store_true", help="also the lines that decided who is asked, and how")


def _add_tree(parser: argparse.ArgumentParser) -> None:
    tree = parser.add_argument_group("where the data is")
    tree.add_argument("--hiera", metavar="PLACE", help="a hiera.yaml, or a folder with one (default: ./hiera.yaml)")
    tree.add_argument("--environmentpath", metavar="DIR", help="a folder with a folder for each environment")
    tree.add_argument("--hiera-config", "--hiera_config", metavar="FILE", help="the hiera.yaml of the global layer")
    tree.add_argument(
        "--modulepath", metavar="DIR", action="append", default=[], help="a folder with modules; repeatable"
    )
    tree.add_argument("--documented", action="store_true", help="strategies follow the documentation, not Puppet")
    tree.add_argument("--strict", action="store_true", help="warnings, and levels that cannot be read, are errors")


def _add_who(parser: argparse.ArgumentParser, name: str) -> None:
    who = parser.add_argument_group("who asks")
    if name not in ("diff", "who-has"):
        who.add_argument(
            "--node", metavar="NAME", action="append", help="its name; may be repeated with a folder of facts"
        )
    who.add_argument("--environment", metavar="NAME", default="production", help="(default: production)")
    if name != "who-has":
        facts = "facts in JSON or YAML, or a folder with NODE.json or NODE.yaml"
        who.add_argument("--facts", metavar="FILE", help=facts)


def _add_merging(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("how values become one")
    how.add_argument("--merge", metavar="STRATEGY", help="first, unique, hash or deep; goes before lookup_options")
    how.add_argument("--knock-out-prefix", metavar="PREFIX", help="with --merge deep: what marks a value to be removed")
    how.add_argument("--sort-merged-arrays", action="store_true", help="with --merge deep: sort merged lists")
    how.add_argument(
        "--merge-hash-arrays", action="store_true", help="with --merge deep: merge maps in lists by position"
    )
    how.add_argument("--type", metavar="TYPE", help="what the value has to be, such as 'Array[String]'")
    how.add_argument("--default", metavar="TEXT", help="the answer where nothing has the key")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do one of the six."""
    _check(options)
    hiera = _hiera(options, options.hiera)
    try:
        return _PERFORM[options.action](options, terminal, hiera)
    finally:
        terminal.warn(hiera.warnings)


def _check(options: argparse.Namespace) -> None:
    for word in ("knock_out_prefix", "sort_merged_arrays", "merge_hash_arrays"):
        if getattr(options, word, None) not in (None, False) and options.merge != "deep":
            options.refuse(f"--{word.replace('_', '-')} is about --merge deep")
    if options.action == "diff" and options.after is None and options.against_tree is None:
        options.refuse("name another node, or a tree with --against-tree")
    if options.hiera and options.environmentpath:
        options.refuse("--hiera and --environmentpath are two ways to name the environment layer")


def _hiera(options: argparse.Namespace, place: str | None) -> Hiera:
    from nodeattrs.adapters.hiera import Hiera

    environmentpath = None if place else options.environmentpath
    config = place if place or environmentpath or options.hiera_config else "hiera.yaml"
    return Hiera(
        config,
        environmentpath=environmentpath,
        global_config=options.hiera_config,
        modulepath=options.modulepath,
        documented=options.documented,
        strict=options.strict,
    )


def keys_known(options: argparse.Namespace) -> set[str]:
    """The keys that whoever asks may look up. raises: NodeattrsError"""
    scopes = _scopes(options, _hiera(options, options.hiera), getattr(options, "node", None))
    return {key for scope in scopes.values() for key in scope.known_keys()}


# --- who asks


def _scopes(options: argparse.Namespace, hiera: Hiera, names: list[str] | None) -> dict[str, Scope]:
    """A scope for each node, by name. raises: BadArgument, DocumentError"""
    import pathlib

    found: dict[str, Scope] = {}
    if options.facts is not None and pathlib.Path(options.facts).is_dir():
        folder = pathlib.Path(options.facts)
        files = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in (".json", ".yaml", ".yml")}
        for name in names or files:
            if name not in files:
                from nodeattrs.errors import BadArgument

                raise BadArgument(
                    f"{options.facts} has no facts of {name}", hint=f"there are: {', '.join(files) or 'none'}"
                )
            found[name] = _scope(options, hiera, name, files[name])
        return found
    if names is not None and len(names) > 1:
        options.refuse("several --node need --facts to be a folder")
    name = names[0] if names else ""
    return {name: _scope(options, hiera, name, None if options.facts is None else pathlib.Path(options.facts))}


def _scope(options: argparse.Namespace, hiera: Hiera, name: str, path: Any) -> Scope:
    from nodeattrs.errors import DocumentError
    from nodeattrs.texts.documents import read

    facts: dict[str, Any] = {}
    if path is not None:
        document = read(path)
        tree = {} if document.tree is None else document.tree
        if not isinstance(tree, dict):
            raise DocumentError("facts are a map", file=document.file, hint="write what `facter --json` prints")
        # What Puppet keeps about a node has its facts under `values`.
        facts = tree["values"] if isinstance(tree.get("values"), dict) and isinstance(tree.get("name"), str) else tree
    trusted = facts.get("trusted")
    return hiera.scope(
        facts,
        node=name or str(facts.get("clientcert") or facts.get("fqdn") or ""),
        environment=options.environment,
        trusted=trusted if isinstance(trusted, dict) else None,
    )


def _merge(options: argparse.Namespace) -> str | dict[str, Any] | None:
    given = {
        "knockout_prefix": options.knock_out_prefix,
        "sort_merged_arrays": options.sort_merged_arrays or None,
        "merge_hash_arrays": options.merge_hash_arrays or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    return {"strategy": options.merge, **given} if given else options.merge


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    from nodeattrs.core.tree import ABSENT

    return {
        "merge": _merge(options),
        "value_type": options.type,
        "default_value": ABSENT if options.default is None else options.default,
    }


# --- what is asked


def _code(error: NodeattrsError) -> int:
    return NO_SUCH_KEY if error.kind == "not_found" else WRONG_TYPE if error.kind == "value_type_mismatch" else 1


def _lookup(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.errors import NodeattrsError
    from nodeattrs.reports.lookup import LookedUp, plain

    values: dict[str, Any] = {}
    unknown: dict[str, tuple[UnknownLevel, ...]] = {}
    code = 0
    for name, scope in _scopes(options, hiera, options.node).items():
        try:
            values[name] = scope.lookup(
                options.keys if len(options.keys) > 1 else options.keys[0], **_arguments(options)
            )
            unknown[name] = scope.unknown_levels(options.keys, merge=_merge(options)) if scope.has_unknown else ()
        except NodeattrsError as error:
            error.hint = error.hint and error.hint.replace("a default_value", "--default TEXT")
            values[name] = error
            code = max(code, _code(error))
    if len(values) == 1 and code:
        (failed,) = values.values()
        terminal.complain(failed, None, failed if options.traceback else None)
        return code
    if options.render_as:
        _render(options, terminal, _alone({name: plain(value) for name, value in values.items()}))
    else:
        terminal.report(LookedUp(", ".join(options.keys), values, unknown=unknown))
    undecided = _warned(terminal, unknown)
    return code or undecided


def _alone(found: dict[str, Any]) -> Any:
    """What was found for the only node, or for each by its name."""
    return next(iter(found.values())) if len(found) == 1 else found


def _warned(terminal: Terminal, unknown: Mapping[str, Iterable[UnknownLevel]]) -> int:
    """Say which levels that cannot be read might decide what was printed, and how many keys of each; the exit code."""
    keys: dict[str, dict[str, None]] = {}
    for levels in unknown.values():
        for level in levels:
            keys.setdefault(str(level), {})[level.key] = None
    for level_text, names in keys.items():
        some = ", ".join([*names][:3])
        who = some if len(names) <= 3 else f"{len(names)} keys ({some}, ...)"
        terminal.warn([f"{who} may be overridden by {level_text}"], "unknown-layer")
    return UNKNOWN_LAYER if keys else 0


def _explain(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.reports.lookup import Explained

    found = {}
    unknown: dict[str, list[UnknownLevel]] = {}
    for name, scope in _scopes(options, hiera, options.node).items():
        for key in options.keys:
            if options.options:
                found[name] = scope.explain_options(key)
            else:
                found[name] = scope.explain(key, **_arguments(options))
            unknown.setdefault(name, []).extend(found[name].unknown)
            if found[name].error is None:
                break
    report = Explained(found, options.all)
    if options.render_as and options.render_as != "s":
        _render(options, terminal, _alone(report.nodes()))
    else:
        terminal.report(report)
    code = max((_code(one.error) for one in found.values() if one.error is not None), default=0)
    undecided = _warned(terminal, {name: levels for name, levels in unknown.items() if found[name].found})
    return code or undecided


def _list(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.adapters.hiera import view
    from nodeattrs.reports.lookup import LookedUp, plain

    scopes = _scopes(options, hiera, options.node)
    views = {name: view(scope) for name, scope in scopes.items()}
    unknown = {name: _undecided(scope) for name, scope in scopes.items()}
    if options.render_as:
        bare = {name: {key: plain(value) for key, value in one.items()} for name, one in views.items()}
        _render(options, terminal, _alone(bare))
    else:
        terminal.report(LookedUp("", views, whole=True, unknown=unknown))
    return _warned(terminal, unknown)


def _undecided(scope: Scope) -> tuple[UnknownLevel, ...]:
    from nodeattrs.adapters.hiera import undecided

    return tuple(level for levels in undecided(scope).values() for level in levels)


def _diff(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.adapters.hiera import differences, view
    from nodeattrs.reports.lookup import Compared

    name, other_name = options.before, options.before if options.after is None else options.after
    other_hiera = hiera if options.against_tree is None else _hiera(options, options.against_tree)
    one, other = _only(options, hiera, name), _only(options, other_hiera, other_name)
    sides = (name or "here", options.against_tree or other_name)
    terminal.report(Compared(sides, differences(view(one), view(other))))
    return _warned(terminal, {"one": _undecided(one), "other": _undecided(other)})


def _only(options: argparse.Namespace, hiera: Hiera, name: str) -> Scope:
    scopes = _scopes(options, hiera, [name] if name else None)
    if len(scopes) != 1:
        options.refuse("with a folder of facts, say which NODE is meant")
    return next(iter(scopes.values()))


def _who_has(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.reports.lookup import WhoHas

    origins = tuple(hiera.who_has(options.key, options.environment))
    terminal.report(WhoHas(options.key, origins))
    return 0 if origins else NO_SUCH_KEY


def _unused(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.adapters.hiera import unused
    from nodeattrs.reports.lookup import NobodyReads

    scopes = list(_scopes(options, hiera, options.node).values())
    terminal.report(NobodyReads(unused(hiera, scopes), len(scopes)))
    return 0


_PERFORM = {
    "lookup": _lookup,
    "explain": _explain,
    "list": _list,
    "diff": _diff,
    "who-has": _who_has,
    "unused": _unused,
}


def _render(options: argparse.Namespace, terminal: Terminal, value: Any) -> None:
    if options.render_as == "json":
        import json

        terminal.text(json.dumps(value, ensure_ascii=False) + "\n")
    elif options.render_as == "yaml":
        from nodeattrs.texts.yaml_writing import written

        terminal.text(written(value))
    else:
        terminal.text(f"{value}\n")
