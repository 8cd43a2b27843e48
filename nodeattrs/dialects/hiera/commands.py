"""`nodeattrs hiera`: keys in a Hiera 5 tree, as `puppet lookup` has them, and why."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.core.sensitive import plain
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.hiera.census import across, as_asked, differences, still_encrypted, undecided, unused, view
from nodeattrs.dialects.hiera.codes import UNSET_VARIABLE
from nodeattrs.dialects.hiera.explain import Explanation, UnknownLevel
from nodeattrs.dialects.hiera.eyaml import Pkcs7
from nodeattrs.dialects.hiera.hierarchies import has_environments
from nodeattrs.dialects.hiera.keys import NAME, split_key
from nodeattrs.dialects.hiera.open_paths import open_files, open_paths, unset_variables
from nodeattrs.dialects.hiera.reports import Explained, Found, LookedUp, Variables, places_of, unused_report
from nodeattrs.dialects.hiera.scope import Hiera, Scope
from nodeattrs.dialects.hiera.scopes import USUAL_ENVIRONMENT, scopes_of
from nodeattrs.dialects.hiera.values import written as as_ruby
from nodeattrs.dialects.hiera.variables import needed
from nodeattrs.errors import BadUsage, BadValue, NodeattrsError
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.formats.yaml_writing import written
from nodeattrs.project.settings import sensitive_beside
from nodeattrs.reports.compared import Compared
from nodeattrs.reports.matrix import Cell, Matrix

_NO_SUCH_KEY = 3
_CODES = {"not_found": _NO_SUCH_KEY, "value_type_mismatch": 4}
"""Kind of an error -> exit code, where it is not 1."""
_EXITS = {0: "done", 1: "failed", 2: "usage", 3: "no such key", 4: "wrong type", 5: "unknown layer"}

_MANY: Mapping[str, Any] = {"action": "append", "default": []}
_FLAG: Mapping[str, Any] = {"action": "store_true"}
_FILE: Mapping[str, Any] = {"metavar": "FILE"}

# --- arguments

_KEY = Argument(("key",), "such as ntp::servers", {"metavar": "KEY"})
_KEYS = Argument(("keys",), "such as ntp::servers or users.bob.uid", {"metavar": "KEY", "nargs": "+"})

_DATA = "where the data is"
_TREE = (
    Argument(("--hiera",), "a hiera.yaml, or a folder with one (default: ./hiera.yaml)", {"metavar": "PLACE"}, _DATA),
    Argument(("--environmentpath",), "a folder with a folder for each environment", {"metavar": "DIR"}, _DATA),
    Argument(("--hiera-config", "--hiera_config"), "the hiera.yaml of the global layer", _FILE, _DATA),
    Argument(("--modulepath",), "a folder with modules; repeatable", {"metavar": "DIR", **_MANY}, _DATA),
    Argument(("--basemodulepath",), "what $basemodulepath is; repeatable", {"metavar": "DIR", **_MANY}, _DATA),
    Argument(
        ("--puppet-conf", "--confdir"),
        "a puppet.conf or its folder: where data and modules are",
        {"metavar": "PLACE"},
        _DATA,
    ),
    Argument(("--skip-level",), "leave a level out; repeatable", {"metavar": "NAME", **_MANY}, _DATA),
)
_DECRYPTION = (
    Argument(("--decrypt",), "decrypt eyaml with the keys that hiera.yaml names", _FLAG, _DATA),
    Argument(("--eyaml-private-key",), "decrypt eyaml; the private key, in PEM", _FILE, _DATA),
    Argument(("--eyaml-public-key",), "decrypt eyaml; the public key, in PEM", _FILE, _DATA),
)
_CARE = (
    Argument(("--documented",), "strategies follow the documentation, not Puppet", _FLAG, _DATA),
    Argument(("--strict",), "warnings, and levels that cannot be read, are errors", _FLAG, _DATA),
)

_ASKS = "who asks"
_NODE = Argument(
    ("--node",), "its name; may be repeated with a folder of facts", {"metavar": "NAME", "action": "append"}, _ASKS
)
_ENVIRONMENT = Argument(("--environment", "-E"), "(default: that of --enc, or production)", {"metavar": "NAME"}, _ASKS)
_FACTS = (
    Argument(
        ("--facts",),
        "facts in JSON or YAML, or a folder with NODE.json or NODE.yaml; - is stdin",
        {"metavar": "PLACE"},
        _ASKS,
    ),
    Argument(("--set",), "a variable of the node; VALUE is JSON or text", {"metavar": "PATH=VALUE", **_MANY}, _ASKS),
    Argument(("--trusted",), "trusted facts in JSON or YAML, over those of the name", _FILE, _ASKS),
    Argument(("--enc",), "the YAML answer of a classifier; or the program itself, with --run-code", _FILE, _ASKS),
)
_NODES = (*_TREE, *_CARE, _NODE, _ENVIRONMENT, *_FACTS)
_CLEAR_NODES = (*_TREE, *_DECRYPTION, *_CARE, _NODE, _ENVIRONMENT, *_FACTS)

_VALUES = "how values become one"
_MERGING = (
    Argument(("--compile",), "", _FLAG, _VALUES),
    Argument(("--merge",), "first, unique, hash or deep; goes before lookup_options", {"metavar": "STRATEGY"}, _VALUES),
    Argument(
        ("--knock-out-prefix",), "with --merge deep: what marks a value to be removed", {"metavar": "PREFIX"}, _VALUES
    ),
    Argument(("--sort-merged-arrays",), "with --merge deep: sort merged lists", _FLAG, _VALUES),
    Argument(("--merge-hash-arrays",), "with --merge deep: merge maps in lists by position", _FLAG, _VALUES),
    Argument(("--type",), "what the value has to be, such as 'Array[String]'", {"metavar": "TYPE"}, _VALUES),
    Argument(("--default",), "the answer where nothing has the key", {"metavar": "TEXT"}, _VALUES),
)
_RENDER = Argument(
    ("--render-as",),
    "the bare value or explanation, as `puppet lookup` prints it",
    {"choices": ("s", "json", "yaml")},
)

# --- the tree, and how it is asked

Asked = Mapping[str, Any]
"""The arguments of a command, by name."""


def _perform(ask: Callable[[Question, Hiera], Output], question: Question) -> Output:
    """Ask the tree that the arguments name; its warnings come last. raises: BadUsage, NodeattrsError"""
    _check(question.arguments)
    hiera = _tree(question.arguments, question.arguments["hiera"])
    try:
        return ask(question, hiera)
    finally:
        left = hiera.skip_levels - hiera.skipped
        question.caller.warn(hiera.warnings)
        question.caller.warn(f"no level that was asked is called {name!r}" for name in sorted(left))


def _check(asked: Asked) -> None:
    """raises: BadUsage"""
    for word in ("knock_out_prefix", "sort_merged_arrays", "merge_hash_arrays"):
        if asked.get(word) not in (None, False) and asked["merge"] != "deep":
            raise BadUsage(f"--{word.replace('_', '-')} is about --merge deep")
    if "after" in asked and asked["after"] is None and asked["against_tree"] is None:
        raise BadUsage("name another node, or a tree with --against-tree")
    if asked.get("compile"):
        raise BadUsage(
            "--compile runs manifests, which nothing here does; give the variables they set: --set NAME=VALUE"
        )
    if bool(asked.get("eyaml_private_key")) != bool(asked.get("eyaml_public_key")):
        raise BadUsage("--eyaml-private-key and --eyaml-public-key are a pair")
    if asked["hiera"] and asked["environmentpath"]:
        raise BadUsage("--hiera and --environmentpath are two ways to name the environment layer")


def _tree(asked: Asked, place: str | None, decrypts: bool = True) -> Hiera:
    """The tree that the arguments name.

    place:    its hiera.yaml or folder; None is the one of --environmentpath, else the current folder
    decrypts: whether --decrypt and the keys count
    """
    environmentpath = None if place else asked["environmentpath"]
    private, public = asked.get("eyaml_private_key"), asked.get("eyaml_public_key")
    decrypt = Pkcs7(private, public) if private and public else asked.get("decrypt", False)
    is_named = place or environmentpath or asked["hiera_config"] or asked["puppet_conf"]
    is_tree = has_environments(Path()) or os.path.isfile("environment.conf")
    here = "." if is_tree else "hiera.yaml"
    return Hiera(
        place if is_named else here,
        environmentpath=environmentpath,
        global_config=asked["hiera_config"],
        modulepath=asked["modulepath"],
        basemodulepath=asked["basemodulepath"],
        puppet_conf=asked["puppet_conf"],
        skip_levels=asked["skip_level"],
        decrypt=decrypts and decrypt,
        documented=asked["documented"],
        strict=asked["strict"],
        sensitive_paths=sensitive_beside(asked.get("repo"), place, environmentpath, asked.get("against_tree")),
    )


def known_keys(asked: Asked) -> set[str]:
    """The keys that the nodes of a command may look up; of `who-has` those of all files. raises: NodeattrsError"""
    hiera = _tree(asked, asked["hiera"])
    if "facts" not in asked:
        files = hiera.data_files(asked["environment"] or USUAL_ENVIRONMENT)
        return {key for file in files for key in file.tree if type(key) is str and key != NAME}
    return {key for scope in scopes_of(asked, hiera, asked.get("node")).values() for key in scope.known_keys()}


def _how(asked: Asked) -> dict[str, Any]:
    """The arguments of `Scope.lookup`."""
    default = ABSENT if asked["default"] is None else asked["default"]
    return {"merge": _merge(asked), "value_type": asked["type"], "default_value": default}


def _merge(asked: Asked) -> str | dict[str, Any] | None:
    given = {
        "knockout_prefix": asked["knock_out_prefix"],
        "sort_merged_arrays": asked["sort_merged_arrays"] or None,
        "merge_hash_arrays": asked["merge_hash_arrays"] or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    return {"strategy": asked["merge"], **given} if given else asked["merge"]


# --- answers


def _code(value: Any) -> int:
    """The exit code of a value: 0 unless it is an error."""
    if getattr(value, "may_be_there", False):
        return _NO_SUCH_KEY
    return _CODES.get(value.kind, 1) if isinstance(value, NodeattrsError) else 0


def _is_bare(asked: Asked) -> bool:
    """Whether nothing but a name is given of the nodes."""
    return not (asked["facts"] or asked["set"] or asked["enc"] or asked["trusted"])


def _unread(question: Question, scopes: Mapping[str, Scope], answers: Collection[Found]) -> list[Unread]:
    """The levels that were not read, and what facts would decide that are not there.

    Facts fill in variables of values, and choose files. Facts that are given may be a part of the node's.
    """
    asked = question.arguments
    found = [level.unread for one in answers for level in one.unknown]
    found += [kept.unread for one in answers for kept in one.kept]
    unset = {name: keys for one in answers for name, keys in one.unset.items()}
    is_bare = _is_bare(asked)
    reason = "is not set, and no facts are given (--facts)" if is_bare else "is not set"
    found += unset_variables(unset, reason, is_told=not is_bare)
    names = asked["keys"] if "keys" in asked else [asked["key"]] if "key" in asked else None
    wanted = None if names is None else {str(split_key(key)[0]) for key in names}
    for name, scope in scopes.items():
        merge = _merge(asked) if "merge" in asked else None
        found += open_paths(scope, os.path.relpath, wanted, is_node=bool(name), merge=merge)
    if not is_bare:
        _warn_of_unset(question, unset)
    return found


def _warn_of_unset(question: Question, unset: Mapping[str, Iterable[str]]) -> None:
    way = "Puppet 8 ends here, older ones take empty text"
    pairs = [(name, next(iter(keys))) for name, keys in unset.items()]
    texts = [f"the value of {key} names {name}, which is not set: {way}" for name, key in pairs]
    question.caller.warn(texts, UNSET_VARIABLE.entry)


def _values(
    question: Question, scopes: Mapping[str, Scope], found: Mapping[str, Found], key: str, *, is_whole: bool = False
) -> Output:
    """The values of nodes, in the form that the caller wants. is_whole: all values of each node"""
    answers = found.values()
    code = max((_code(one.value) for one in answers), default=0)
    report: LookedUp | str = LookedUp(key, found, is_whole)
    if question.arguments["render_as"]:
        report = _rendered(question, {name: plain(one.value) for name, one in found.items()})
    return Output(report, code, unread=_unread(question, scopes, answers))


def _rendered(question: Question, found: Mapping[str, Any]) -> str:
    """What was found for the only node, or for each by its name, as --render-as says."""
    value = next(iter(found.values())) if len(found) == 1 else found
    if question.arguments["render_as"] == "json":
        return json.dumps(value, ensure_ascii=False).translate(ESCAPES) + "\n"
    if question.arguments["render_as"] == "yaml":
        return written(value, blocks=True)
    return f"{as_ruby(value)}\n"


def _harmless(asked: Asked, name: str, error: NodeattrsError, key: str | list[str], **how: Any) -> NodeattrsError:
    """An error that shows nothing of what was decrypted: the one of a lookup that decrypts nothing."""
    decrypts = asked["decrypt"] or asked["eyaml_private_key"]
    if not decrypts or error.kind == "cannot_decrypt":
        return error
    hiera = _tree(asked, asked["hiera"], decrypts=False)
    try:
        scopes_of(asked, hiera, [name] if name else None)[name].lookup(key, **how)
    except NodeattrsError as same:
        return same
    return BadValue("the lookup failed over what was decrypted", hint="ask for it without --decrypt")


# --- commands


def _lookup(question: Question, hiera: Hiera) -> Output:
    asked = question.arguments
    scopes = scopes_of(asked, hiera, asked["node"])
    found = {name: _looked_up(asked, name, scope) for name, scope in scopes.items()}
    errors = [one.value for one in found.values() if isinstance(one.value, NodeattrsError)]
    if errors and len(found) == 1:
        return Output(code=_code(errors[0]), error=errors[0], unread=_unread(question, scopes, found.values()))
    return _values(question, scopes, found, ", ".join(asked["keys"]))


def _looked_up(asked: Asked, name: str, scope: Scope) -> Found:
    """The value of the first key that a node has, or the error."""
    keys, how = asked["keys"], _how(asked)
    key = keys if len(keys) > 1 else keys[0]
    try:
        value, unset = scope.lookup(key, **how), scope.missing
        encrypted = (still_encrypted(scope, {one: value}, how["merge"]) for one in keys)
        found = Found(value, (), unset, next(filter(None, encrypted), []))
    except NodeattrsError as error:
        error = _harmless(asked, name, error, key, **how)
        error.hint = (error.hint or "").replace("a default_value", "--default TEXT") or None
        found = Found(error)
    if scope.has_unknown and _code(found.value) in (0, _NO_SUCH_KEY):
        return found._replace(unknown=scope.unknown_levels(keys, merge=how["merge"]))
    return found


def _explain(question: Question, hiera: Hiera) -> Output:
    asked = question.arguments
    scopes = scopes_of(asked, hiera, asked["node"])
    found = {name: _explained(asked, scope) for name, scope in scopes.items()}
    report = Explained({name: one.value for name, one in found.items()}, asked["because"])
    code = max((_code(one.value.error) for one in found.values()), default=0)
    shown = _rendered(question, report.nodes()) if asked["render_as"] in ("json", "yaml") else report
    return Output(shown, code, unread=_unread(question, scopes, found.values()))


def _explained(asked: Asked, scope: Scope) -> Found:
    """The explanation of the first key that a node has; else of the last key."""
    tried: list[Explanation] = []
    for key in asked["keys"]:
        tried.append(scope.explain_options(key) if asked["options"] else scope.explain(key, **_how(asked)))
        if tried[-1].error is None:
            break
    last = tried[-1]
    if _code(last.error) not in (0, _NO_SUCH_KEY):
        return Found(last)
    values = {} if last.error is not None else {last.key: last.value}
    kept = still_encrypted(scope, values, _how(asked)["merge"])
    return Found(last, [level for one in tried for level in one.unknown], scope.missing, kept)


def _list(question: Question, hiera: Hiera) -> Output:
    asked = question.arguments
    scopes = scopes_of(asked, hiera, asked["node"])
    found = {name: _listed(asked, name, scope) for name, scope in scopes.items()}
    return _values(question, scopes, found, "", is_whole=True)


def _listed(asked: Asked, name: str, scope: Scope) -> Found:
    """Every key of a node with its value, or with its error."""
    values = view(scope)
    for key, value in values.items():
        if isinstance(value, NodeattrsError):
            values[key] = _harmless(asked, name, value, as_asked(key))
    unknown, unset = _undecided(scope), scope.missing
    return Found(values, unknown, unset, still_encrypted(scope, {as_asked(key): one for key, one in values.items()}))


def _undecided(scope: Scope) -> list[UnknownLevel]:
    return [level for levels in undecided(scope).values() for level in levels]


def _diff(question: Question, hiera: Hiera) -> Output:
    asked = question.arguments
    name, place = asked["before"], asked["against_tree"]
    other_name = name if asked["after"] is None else asked["after"]
    other_hiera = hiera if place is None else _tree(asked, place)
    one, other = _only(asked, hiera, name), _only(asked, other_hiera, other_name)
    report = Compared((name or "here", place or other_name), differences(view(one), view(other)))
    unread = [level.unread for scope in (one, other) for level in _undecided(scope)]
    for scope in (one, other):
        unread += open_paths(scope, os.path.relpath, is_node=bool(scope.node))
    return Output(report, unread=unread)


def _only(asked: Asked, hiera: Hiera, name: str) -> Scope:
    scopes = scopes_of(asked, hiera, [name] if name else None)
    if len(scopes) != 1:
        raise BadUsage("with a folder of facts, say which NODE is meant")
    return next(iter(scopes.values()))


def _who_has(question: Question, hiera: Hiera) -> Output:
    asked = question.arguments
    environment = asked["environment"] or USUAL_ENVIRONMENT
    origins = hiera.who_has(asked["key"], environment)
    unread = [level.unread for level in hiera.scope(environment=environment).unknown_levels(asked["key"])]
    return Output(places_of(asked["key"], origins), 0 if origins else _NO_SUCH_KEY, unread=unread)


def _unused(question: Question, hiera: Hiera) -> Output:
    scopes = list(scopes_of(question.arguments, hiera, question.arguments["node"]).values())
    report = unused_report(unused(hiera, scopes), len(scopes))
    unread = [level.unread for scope in scopes for level in _undecided(scope)]
    for scope in scopes:
        unread += open_files(scope, os.path.relpath, is_node=bool(scope.node))
    return Output(report, unread=unread)


def _matrix(question: Question, hiera: Hiera) -> Output:
    asked = question.arguments
    scopes = scopes_of(asked, hiera, asked["node"])
    seen = across(scopes, asked["key"], **_how(asked))
    cells = [(node or "here", Cell(one.value, one.origins)) for node, one in seen.items()]
    code = max((_code(one.value) for one in seen.values()), default=0)
    found = [Found(one.value, one.unknown, one.unset, one.kept) for one in seen.values()]
    return Output(Matrix(asked["key"], cells), code, unread=_unread(question, scopes, found))


def _variables(question: Question, hiera: Hiera) -> Output:
    nodes = {}
    for name, scope in scopes_of(question.arguments, hiera, question.arguments["node"]).items():
        modules = (None, *hiera.modules(scope.environment))
        nodes[name or "here"] = list(dict.fromkeys(one for module in modules for one in needed(scope, module)))
    return Output(Variables(nodes))


def _command(
    summary: str,
    ask: Callable[[Question, Hiera], Output],
    arguments: Iterable[Argument],
    exits: Mapping[int, str] = _EXITS,
) -> Command:
    return Command(summary, "", [*arguments], (), exits, partial(_perform, ask), ("code", "output"))


COMMANDS: Mapping[str, Command] = {
    "lookup": _command(
        "print the value of a key; of several keys the first one found counts",
        _lookup,
        [_KEYS, *_CLEAR_NODES, *_MERGING, _RENDER],
    ),
    "explain": _command(
        "say which places were searched for a key, and who set each leaf",
        _explain,
        [
            _KEYS,
            Argument(("--options",), "how lookup_options came to be", _FLAG),
            Argument(("--because",), "also the lines that decided who is asked, and how", _FLAG),
            *_NODES,
            *_MERGING,
            _RENDER,
        ],
    ),
    "list": _command("print all keys that a node sees, with their values", _list, [*_CLEAR_NODES, _RENDER]),
    "diff": _command(
        "say which keys differ between two nodes, or for one node between two trees",
        _diff,
        [
            Argument(("before",), "its name", {"metavar": "NODE", "nargs": "?", "default": ""}),
            Argument(("after",), "another one (default: NODE)", {"metavar": "OTHER", "nargs": "?"}),
            Argument(("--against-tree",), "what OTHER sees in this tree", {"metavar": "PLACE"}),
            *_TREE,
            *_CARE,
            _ENVIRONMENT,
            *_FACTS,
        ],
    ),
    "who-has": _command(
        "print every file and line that has a key, read or not",
        _who_has,
        [_KEY, *_TREE, *_CARE, _ENVIRONMENT],
        {},
    ),
    "unused": _command(
        "print the files that no node reads, and the keys that are always shadowed", _unused, _NODES, {}
    ),
    "matrix": _command(
        "print the values that a key has for many nodes, each with its lines and its nodes",
        _matrix,
        [_KEY, *_NODES, *_MERGING],
    ),
    "variables": _command(
        "print the variables that the hierarchies need, and for which nodes they are not set", _variables, _NODES, {}
    ),
}
