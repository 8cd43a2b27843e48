"""`nodeattrs hiera`: keys in a Hiera 5 tree, as `puppet lookup` has them, and why."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.exits import DONE, FAILED, NO_SUCH_KEY, NOT_UNDERSTOOD, UNKNOWN_LAYER, WRONG_TYPE, described
from nodeattrs.cli.hiera_nodes import add_who, environment_of, scopes_of
from nodeattrs.cli.options import actions_of, add_output, add_run_code, sensitive_paths, unmarked
from nodeattrs.cli.terminal import Terminal
from nodeattrs.errors import NodeattrsError
from nodeattrs.kinds import ENCRYPTED

if TYPE_CHECKING:
    from nodeattrs.adapters.hiera import Hiera, Kept, Scope, UnknownLevel
    from nodeattrs.core.unread import Unread

    Unset = Mapping[str, Mapping[str, str]]

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
  nodeattrs hiera matrix ntp::servers --facts facts/
  nodeattrs hiera variables --facts facts/
  facter --json | nodeattrs hiera lookup ntp::servers --node web1 --facts - --set role=web
"""

_SUMMARIES = {
    "lookup": "print the value of a key; of several keys the first one found counts",
    "explain": "say which places were searched for a key, and who set each leaf",
    "list": "print all keys that a node sees, with their values",
    "diff": "say which keys differ between two nodes, or for one node between two trees",
    "who-has": "print every file and line that has a key, read or not",
    "unused": "print the files that no node reads, and the keys that are always shadowed",
    "matrix": "print the values that a key has for many nodes, each with its lines and its nodes",
    "variables": "print the variables that the hierarchies need, and for which nodes they are not set",
}
_CODES = described(DONE, FAILED, NOT_UNDERSTOOD, NO_SUCH_KEY, WRONG_TYPE, UNKNOWN_LAYER)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command: eight of its own."""
    codes = dict.fromkeys(("lookup", "explain", "list", "diff", "matrix"), _CODES)
    for name, one in actions_of(parser, _SUMMARIES, codes):
        _add_asked(one, name)
        _add_tree(one, name)
        add_who(one, name)
        if name in ("lookup", "explain", "matrix"):
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
    elif name in ("who-has", "matrix"):
        parser.add_argument("key", metavar="KEY", help="such as ntp::servers")
    elif name == "diff":
        parser.add_argument("before", metavar="NODE", nargs="?", default="", help="its name")
        parser.add_argument("after", metavar="OTHER", nargs="?", help="another one (default: NODE)")
        parser.add_argument("--against-tree", metavar="PLACE", help="what OTHER sees in this tree")
    if name == "explain":
        parser.add_argument("--options", action="store_true", help="how lookup_options came to be")
        parser.add_argument("--all", action="store_true", help="also the lines that decided who is asked, and how")


def _add_tree(parser: argparse.ArgumentParser, name: str) -> None:
    tree = parser.add_argument_group("where the data is")
    tree.add_argument("--hiera", metavar="PLACE", help="a hiera.yaml, or a folder with one (default: ./hiera.yaml)")
    tree.add_argument("--environmentpath", metavar="DIR", help="a folder with a folder for each environment")
    tree.add_argument("--hiera-config", "--hiera_config", metavar="FILE", help="the hiera.yaml of the global layer")
    tree.add_argument(
        "--modulepath", metavar="DIR", action="append", default=[], help="a folder with modules; repeatable"
    )
    tree.add_argument(
        "--basemodulepath", metavar="DIR", action="append", default=[], help="what $basemodulepath is; repeatable"
    )
    tree.add_argument(
        "--puppet-conf", "--confdir", metavar="PLACE", help="a puppet.conf or its folder: where data and modules are"
    )
    tree.add_argument("--skip-level", metavar="NAME", action="append", default=[], help="leave a level out; repeatable")
    if name in ("lookup", "list"):
        tree.add_argument("--decrypt", action="store_true", help="decrypt eyaml with the keys that hiera.yaml names")
        for one in ("private", "public"):
            tree.add_argument(f"--eyaml-{one}-key", metavar="FILE", help=f"decrypt eyaml; the {one} key, in PEM")
    tree.add_argument("--documented", action="store_true", help="strategies follow the documentation, not Puppet")
    tree.add_argument("--strict", action="store_true", help="warnings, and levels that cannot be read, are errors")


def _add_merging(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("how values become one")
    how.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    how.add_argument("--merge", metavar="STRATEGY", help="first, unique, hash or deep; goes before lookup_options")
    how.add_argument(
        "--knock-out-prefix",
        metavar="PREFIX",
        type=unmarked,
        help="with --merge deep: what marks a value to be removed",
    )
    how.add_argument("--sort-merged-arrays", action="store_true", help="with --merge deep: sort merged lists")
    how.add_argument(
        "--merge-hash-arrays", action="store_true", help="with --merge deep: merge maps in lists by position"
    )
    how.add_argument("--type", metavar="TYPE", help="what the value has to be, such as 'Array[String]'")
    how.add_argument("--default", metavar="TEXT", help="the answer where nothing has the key")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do one of the eight."""
    _check(options)
    hiera = _hiera(options, options.hiera)
    try:
        return _PERFORM[options.action](options, terminal, hiera)
    finally:
        terminal.warn(hiera.warnings)
        left = hiera.skip_levels - hiera.skipped
        terminal.warn(f"no level that was asked is called {name!r}" for name in sorted(left))


def _check(options: argparse.Namespace) -> None:
    for word in ("knock_out_prefix", "sort_merged_arrays", "merge_hash_arrays"):
        if getattr(options, word, None) not in (None, False) and options.merge != "deep":
            options.refuse(f"--{word.replace('_', '-')} is about --merge deep")
    if options.action == "diff" and options.after is None and options.against_tree is None:
        options.refuse("name another node, or a tree with --against-tree")
    if getattr(options, "compile", False):
        options.refuse(
            "--compile runs manifests, which nothing here does; give the variables they set: --set NAME=VALUE"
        )
    if bool(getattr(options, "eyaml_private_key", None)) != bool(getattr(options, "eyaml_public_key", None)):
        options.refuse("--eyaml-private-key and --eyaml-public-key are a pair")
    if options.hiera and options.environmentpath:
        options.refuse("--hiera and --environmentpath are two ways to name the environment layer")


def _hiera(options: argparse.Namespace, place: str | None, decrypts: bool = True) -> Hiera:
    from nodeattrs.adapters.hiera import Hiera, has_environments

    environmentpath = None if place else options.environmentpath
    private, public = (getattr(options, f"eyaml_{one}_key", None) for one in ("private", "public"))
    decrypt = decrypts and getattr(options, "decrypt", False)
    if decrypts and private and public:
        from nodeattrs.adapters.hiera import Pkcs7

        decrypt = Pkcs7(private, public)
    is_tree = has_environments(pathlib.Path()) or os.path.isfile("environment.conf")
    is_named = place or environmentpath or options.hiera_config or options.puppet_conf
    return Hiera(
        place if is_named else "." if is_tree else "hiera.yaml",
        environmentpath=environmentpath,
        global_config=options.hiera_config,
        modulepath=options.modulepath,
        basemodulepath=options.basemodulepath,
        puppet_conf=options.puppet_conf,
        skip_levels=options.skip_level,
        decrypt=decrypt,
        documented=options.documented,
        strict=options.strict,
        sensitive_paths=sensitive_paths(options, place, environmentpath, getattr(options, "against_tree", None)),
    )


def keys_known(options: argparse.Namespace) -> set[str]:
    """The keys that whoever asks may look up. raises: NodeattrsError"""
    hiera = _hiera(options, options.hiera)
    if "facts" not in options:  # of who-has, which asks every file
        from nodeattrs.adapters.hiera.keys import NAME

        files = hiera.data_files(environment_of(options))
        return {key for file in files for key in file.tree if type(key) is str and key != NAME}
    scopes = scopes_of(options, hiera, getattr(options, "node", None))
    return {key for scope in scopes.values() for key in scope.known_keys()}


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
    from nodeattrs.adapters.hiera import encrypted_in
    from nodeattrs.errors import NodeattrsError
    from nodeattrs.reports.lookup import LookedUp, plain

    values: dict[str, Any] = {}
    unknown: dict[str, tuple[UnknownLevel, ...]] = {}
    unset: dict[str, dict[str, str]] = {}
    kept: list[Kept] = []
    code = 0
    keys = options.keys if len(options.keys) > 1 else options.keys[0]
    merge = _merge(options)
    scopes = scopes_of(options, hiera, options.node)
    for name, scope in scopes.items():
        try:
            values[name] = scope.lookup(keys, **_arguments(options))
            unset[name] = scope.missing
            if encrypted_in(values[name]):
                from nodeattrs.adapters.hiera import still_encrypted

                found = (still_encrypted(scope, {key: values[name]}, merge) for key in options.keys)
                kept += next(filter(None, found), [])
        except NodeattrsError as error:
            values[name] = _harmless(options, name, error, keys, **_arguments(options))
            values[name].hint = (values[name].hint or "").replace("a default_value", "--default TEXT") or None
            code = max(code, _code(error))
        if scope.has_unknown and code in (DONE, NO_SUCH_KEY):
            unknown[name] = scope.unknown_levels(options.keys, merge=merge)
    unread = [*_unread(options, terminal, unknown, unset), *_open(options, scopes, options.keys)]
    terminal.note_unread(unread)
    if len(values) == 1 and code:
        (failed,) = values.values()
        terminal.complain(failed, None, failed if options.traceback else None)
        return code
    if options.render_as:
        _render(options, terminal, _alone({name: plain(value) for name, value in values.items()}))
    else:
        terminal.report(LookedUp(", ".join(options.keys), values, unset=unset), unread)
    return code or _warned(terminal, kept)


def _harmless(
    options: argparse.Namespace, name: str, error: NodeattrsError, keys: str | list[str], **arguments: Any
) -> NodeattrsError:
    """An error that shows nothing of what was decrypted: the one that comes where nothing is."""
    from nodeattrs.errors import BadValue, NodeattrsError

    decrypts = getattr(options, "decrypt", False) or getattr(options, "eyaml_private_key", None)
    if not decrypts or error.kind == "cannot_decrypt":
        return error
    hiera = _hiera(options, options.hiera, decrypts=False)
    try:
        scopes_of(options, hiera, [name] if name else None)[name].lookup(keys, **arguments)
    except NodeattrsError as same:
        return same
    return BadValue("the lookup failed over what was decrypted", hint="ask for it without --decrypt")


def _alone(found: dict[str, Any]) -> Any:
    """What was found for the only node, or for each by its name."""
    return next(iter(found.values())) if len(found) == 1 else found


def _open(options: argparse.Namespace, scopes: Mapping[str, Scope], keys: Iterable[str] | None) -> list[Unread]:
    """The files that paths with unset variables may mean, where only the name of a node is given. keys: None for all"""
    from nodeattrs.adapters.hiera.keys import split_key
    from nodeattrs.adapters.hiera.open_paths import open_paths

    if not _is_bare(options):
        return []
    wanted = None if keys is None else {str(split_key(key)[0]) for key in keys}
    found = (open_paths(scope, os.path.relpath, wanted, is_node=bool(name)) for name, scope in scopes.items())
    return [one for some in found for one in some]


def _unread(
    options: argparse.Namespace, terminal: Terminal, unknown: Mapping[str, Iterable[UnknownLevel]], unset: Unset
) -> list[Unread]:
    """The levels that were not read, and the unset variables in values where only the name of a node is given.

    With facts such a variable is a warning: nothing unread can set it.
    """
    from nodeattrs.adapters.hiera.codes import UNSET_VARIABLE
    from nodeattrs.core.unread import Unread

    found = [level.unread for levels in unknown.values() for level in levels]
    names = {name: key for one in unset.values() for name, key in one.items()}
    if not _is_bare(options):
        way = "Puppet 8 ends here, older ones take empty text"
        texts = [f"the value of {key} names {name}, which is not set: {way}" for name, key in names.items()]
        terminal.warn(texts, UNSET_VARIABLE.entry)
        return found
    reason = "is not set, and no facts are given (--facts)"
    return [*found, *(Unread(name, reason, ((key,),), "variable") for name, key in names.items())]


def _is_bare(options: argparse.Namespace) -> bool:
    """Whether nothing but a name is given of the nodes that ask."""
    return not (options.facts or options.set or options.enc or options.trusted)


def _warned(terminal: Terminal, kept: Iterable[Kept]) -> int:
    """Say what of the answer is encrypted; the exit code."""
    texts = [f"{one.key} is encrypted ({', '.join(str(at.place) for at in one.origins)}): {one.reason}" for one in kept]
    terminal.warn(texts, ENCRYPTED.entry)
    return UNKNOWN_LAYER if texts else 0


def _explain(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.reports.lookup import Explained

    found = {}
    unknown: dict[str, list[UnknownLevel]] = {}
    unset: dict[str, dict[str, str]] = {}
    scopes = scopes_of(options, hiera, options.node)
    for name, scope in scopes.items():
        for key in options.keys:
            if options.options:
                found[name] = scope.explain_options(key)
            else:
                found[name] = scope.explain(key, **_arguments(options))
            unknown.setdefault(name, []).extend(found[name].unknown)
            unset[name] = scope.missing
            if found[name].error is None:
                break
    report = Explained(found, options.all)
    unread = [*_unread(options, terminal, unknown, unset), *_open(options, scopes, options.keys)]
    terminal.note_unread(unread)
    if options.render_as and options.render_as != "s":
        _render(options, terminal, _alone(report.nodes()))
    else:
        terminal.report(report, unread)
    return max((_code(one.error) for one in found.values() if one.error is not None), default=0)


def _list(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.adapters.hiera import as_asked, still_encrypted
    from nodeattrs.reports.lookup import LookedUp, plain

    scopes = scopes_of(options, hiera, options.node)
    views = {name: _view(options, name, scope) for name, scope in scopes.items()}
    unknown = {name: _undecided(scope) for name, scope in scopes.items()}
    unset = {name: scope.missing for name, scope in scopes.items()}
    kept = [
        one
        for name, scope in scopes.items()
        for one in still_encrypted(scope, {as_asked(key): value for key, value in views[name].items()})
    ]
    unread = [*_unread(options, terminal, unknown, unset), *_open(options, scopes, None)]
    terminal.note_unread(unread)
    if options.render_as:
        bare = {name: {key: plain(value) for key, value in one.items()} for name, one in views.items()}
        _render(options, terminal, _alone(bare))
    else:
        terminal.report(LookedUp("", views, whole=True, unset=unset), unread)
    return _warned(terminal, kept)


def _view(options: argparse.Namespace, name: str, scope: Scope) -> dict[str, Any]:
    """Every key of a scope with its value, or with an error that shows nothing of what was decrypted."""
    from nodeattrs.adapters.hiera import as_asked, view
    from nodeattrs.errors import NodeattrsError

    found = view(scope)
    for key, value in found.items():
        if isinstance(value, NodeattrsError):
            found[key] = _harmless(options, name, value, as_asked(key))
    return found


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
    unread = [level.unread for level in (*_undecided(one), *_undecided(other))]
    terminal.report(Compared(sides, differences(view(one), view(other))), unread)
    return DONE


def _only(options: argparse.Namespace, hiera: Hiera, name: str) -> Scope:
    scopes = scopes_of(options, hiera, [name] if name else None)
    if len(scopes) != 1:
        options.refuse("with a folder of facts, say which NODE is meant")
    return next(iter(scopes.values()))


def _who_has(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.reports.lookup import WhoHas

    origins = tuple(hiera.who_has(options.key, environment_of(options)))
    terminal.report(WhoHas(options.key, origins))
    return 0 if origins else NO_SUCH_KEY


def _unused(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.adapters.hiera import unused
    from nodeattrs.reports.lookup import NobodyReads

    scopes = list(scopes_of(options, hiera, options.node).values())
    terminal.report(NobodyReads(unused(hiera, scopes), len(scopes)))
    return 0


def _matrix(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.adapters.hiera import across
    from nodeattrs.errors import NodeattrsError
    from nodeattrs.reports.matrix import Cell, Matrix

    seen = across(scopes_of(options, hiera, options.node), options.key, **_arguments(options))
    cells = [(node or "here", Cell(one.value, one.origins)) for node, one in seen.items()]
    terminal.report(Matrix(options.key, cells), [level.unread for one in seen.values() for level in one.unknown])
    return max((_code(one.value) for one in seen.values() if isinstance(one.value, NodeattrsError)), default=0)


def _variables(options: argparse.Namespace, terminal: Terminal, hiera: Hiera) -> int:
    from nodeattrs.adapters.hiera import needed
    from nodeattrs.reports.lookup import Variables

    nodes = {}
    for name, scope in scopes_of(options, hiera, options.node).items():
        modules = (None, *hiera.modules(scope.environment))
        nodes[name or "here"] = list(dict.fromkeys(one for module in modules for one in needed(scope, module)))
    terminal.report(Variables(nodes))
    return 0


_PERFORM = {
    "lookup": _lookup,
    "explain": _explain,
    "list": _list,
    "diff": _diff,
    "who-has": _who_has,
    "unused": _unused,
    "matrix": _matrix,
    "variables": _variables,
}


def _render(options: argparse.Namespace, terminal: Terminal, value: Any) -> None:
    if options.render_as == "json":
        from nodeattrs.texts.hidden import ESCAPES

        terminal.text(json.dumps(value, ensure_ascii=False).translate(ESCAPES) + "\n")
    elif options.render_as == "yaml":
        from nodeattrs.texts.yaml_writing import written

        terminal.text(written(value, blocks=True))
    else:
        from nodeattrs.adapters.hiera.values import written as as_ruby

        terminal.text(f"{as_ruby(value)}\n")
