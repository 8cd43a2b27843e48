"""The commands `nodeattrs hiera ...`: a table, and the functions that perform them.

`lookup`, `explain`, `list`, `unused`, `variables` and `ready-for-8` are performed here; `diff`, `matrix` and `who-has`
are verbs. Each function asks the tree for all nodes of the arguments, and returns an Output.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from nodeattrs.contract.arguments import ALL_NAMES, NO_SHARING
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.core.sensitive import plain
from nodeattrs.core.tree import spell
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.hiera.arguments import (
    CLEAR_NODES,
    FLAG,
    KEY,
    KEYS,
    MERGING,
    NODES,
    ONE_VALUE,
    SIDES,
    USUAL_ENVIRONMENT,
    Arguments,
    check_arguments,
    lookup_arguments,
    scopes_of,
    tree_of,
    warnings_of,
)
from nodeattrs.dialects.hiera.census import as_asked, still_encrypted, undecided, unused, view
from nodeattrs.dialects.hiera.codes import REDACTED_TEXT, UNSET_VARIABLE
from nodeattrs.dialects.hiera.explain import Explanation, UnknownLevel
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS
from nodeattrs.dialects.hiera.possible_files import (
    FileCache,
    all_possible_files,
    possible_files,
    unset_variables,
    with_needed_keys,
)
from nodeattrs.dialects.hiera.readiness import readiness_report, without_legacy_facts
from nodeattrs.dialects.hiera.reports import ExplainReport, LookupReport, NeededVariables, NodeResult, unused_report
from nodeattrs.dialects.hiera.scope import Hiera, Scope
from nodeattrs.dialects.hiera.values import redacted_in
from nodeattrs.dialects.hiera.values import written as as_ruby
from nodeattrs.dialects.hiera.variables import needed
from nodeattrs.errors import BadValue, NodeattrsError
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.formats.yaml_writing import written

_NO_SUCH_KEY = 3
_CODES = {"not_found": _NO_SUCH_KEY, "value_type_mismatch": 4}
"""Kind of an error -> exit code, where it is not 1."""
_EXITS = {0: "done", 1: "failed", 2: "usage", 3: "no such key", 4: "wrong type", 5: "unknown layer"}

_RENDER = Argument(
    ("--render-as",),
    "print as `puppet lookup` does",
    {"choices": ("s", "json", "yaml")},
)


def _perform(ask: Callable[[Question, Hiera], Output], question: Question) -> Output:
    """Call *ask* with the tree that the arguments name, and then show the warnings. raises: BadUsage, NodeattrsError"""
    check_arguments(question.arguments)
    hiera = tree_of(question.arguments, question.arguments["hiera"])
    try:
        return ask(question, hiera)
    finally:
        question.caller.warn(warnings_of(hiera))


def known_keys(arguments: Arguments) -> set[str]:
    """The keys that the nodes of a command may look up, for completion; for `who-has` the keys of all data files.

    Reads facts and data files. raises: NodeattrsError
    """
    hiera = tree_of(arguments, arguments["hiera"])
    if arguments.get("action") == "who-has":
        files = hiera.data_files(arguments["environment"] or USUAL_ENVIRONMENT)
        return {key for file in files for key in file.tree if type(key) is str and key != LOOKUP_OPTIONS}
    return {key for scope in scopes_of(arguments, hiera, arguments.get("node")).values() for key in scope.known_keys()}


# --- answers


def _code(value: Any) -> int:
    """The exit code of a value: 0 unless it is an error."""
    if not isinstance(value, NodeattrsError):
        return 0
    return _NO_SUCH_KEY if value.may_be_there else _CODES.get(value.kind, 1)


def _unread(question: Question, scopes: Mapping[str, Scope], answers: Mapping[str, NodeResult]) -> list[Unread]:
    """The unread places of an answer, and a warning for each variable that is not set although facts are given.

    Unread are levels, encrypted parts, unset variables, and files that facts which are not given may choose.
    """
    arguments = question.arguments
    found = [level.unread for one in answers.values() for level in one.unknown]
    found += [kept.unread for one in answers.values() for kept in one.kept]
    known: dict[str, dict[str, None]] = {}
    others: dict[str, dict[str, None]] = {}
    for name, one in answers.items():
        for variable, keys in one.unset.items():
            unset = known if scopes[name].knows_facts else others
            unset.setdefault(variable, {}).update(dict.fromkeys(keys))
    found += [one._replace(is_warned=True) for one in unset_variables(known, True)]
    found += unset_variables(others, False)
    names = arguments["keys"] if "keys" in arguments else [arguments["key"]] if "key" in arguments else None
    merge, looks = lookup_arguments(arguments).get("merge"), FileCache(os.path.relpath)
    for name, scope in scopes.items():
        wanted = None if names is None else with_needed_keys(scope, names, merge)
        found += possible_files(scope, looks, wanted, is_node=bool(name), merge=merge)
    pairs = ((name, next(iter(keys))) for name, keys in known.items())
    texts = (f"the value of {key} names {name}, which is not set: the text is empty there" for name, key in pairs)
    question.caller.warn(texts, UNSET_VARIABLE.entry)
    return found


def _redacted(question: Question, values: Iterable[Any], key: str) -> None:
    """Warn of each text in some values that has a redacted secret in it."""
    paths = dict.fromkeys(path for value in values for path in redacted_in(value))
    names = (".".join(filter(None, (key, spell(path) if path else ""))) for path in paths)
    texts = [f"{name} has a Sensitive inside a text, which redacts it, in Puppet too" for name in names]
    question.caller.warn(texts, REDACTED_TEXT.entry)


def _values(
    question: Question,
    scopes: Mapping[str, Scope],
    found: Mapping[str, NodeResult],
    key: str,
    *,
    is_whole: bool = False,
) -> Output:
    """The values of nodes, in the form that the caller wants. is_whole: all values of each node"""
    answers = found.values()
    code = max((_code(one.value) for one in answers), default=0)
    _redacted(question, [one.value for one in answers], key)
    report: LookupReport | str = LookupReport(key, found, is_whole)
    if question.arguments["render_as"]:
        report = _rendered(question, {name: plain(one.value) for name, one in found.items()})
    return Output(report, code, unread=_unread(question, scopes, found))


def _rendered(question: Question, found: Mapping[str, Any]) -> str:
    """The value of the only node, or a map of all nodes, printed as --render-as says."""
    value = next(iter(found.values())) if len(found) == 1 else found
    if question.arguments["render_as"] == "json":
        return json.dumps(value, ensure_ascii=False).translate(ESCAPES) + "\n"
    if question.arguments["render_as"] == "yaml":
        return written(value, blocks=True)
    return f"{as_ruby(value)}\n"


def _harmless(
    arguments: Arguments, name: str, error: NodeattrsError, key: str | list[str], **how: Any
) -> NodeattrsError:
    """The error without decrypted text: that of the same lookup without decryption, where this command decrypts."""
    decrypts = arguments["decrypt"] or arguments["eyaml_private_key"]
    if not decrypts or error.kind == "cannot_decrypt":
        return error
    hiera = tree_of(arguments, arguments["hiera"], decrypts=False)
    try:
        scopes_of(arguments, hiera, [name] if name else None)[name].lookup(key, **how)
    except NodeattrsError as same:
        return same
    return BadValue("the lookup failed over what was decrypted", hint="ask for it without --decrypt")


# --- commands


def _lookup(question: Question, hiera: Hiera) -> Output:
    arguments = question.arguments
    if arguments["explain"] or arguments["explain_options"]:
        how = {"options": arguments["explain_options"], "because": False}
        return _explain(question._replace(arguments={**arguments, **how}), hiera)
    scopes = scopes_of(arguments, hiera, arguments["node"])
    found = {name: _looked_up(arguments, name, scope) for name, scope in scopes.items()}
    errors = [one.value for one in found.values() if isinstance(one.value, NodeattrsError)]
    if errors and len(found) == 1:
        return Output(code=_code(errors[0]), error=errors[0], unread=_unread(question, scopes, found))
    return _values(question, scopes, found, ", ".join(arguments["keys"]))


def _looked_up(arguments: Arguments, name: str, scope: Scope) -> NodeResult:
    """The value of the first key that a node has, or the error."""
    keys, how = arguments["keys"], lookup_arguments(arguments)
    key = keys if len(keys) > 1 else keys[0]
    try:
        value, unset = scope.lookup(key, **how), scope.missing
        encrypted = (still_encrypted(scope, {one: value}, how.get("merge")) for one in keys)
        found = NodeResult(value, (), unset, next(filter(None, encrypted), []))
    except NodeattrsError as error:
        found = NodeResult(_in_words_of_the_command(_harmless(arguments, name, error, key, **how)))
    if scope.has_unknown and _code(found.value) in (0, _NO_SUCH_KEY):
        return found._replace(unknown=scope.unknown_levels(keys, merge=how.get("merge")))
    return found


def _in_words_of_the_command(error: NodeattrsError) -> NodeattrsError:
    """The same error; its hint now names the option of the command and not the argument of the library."""
    error.hint = (error.hint or "").replace("a default_value", "--default TEXT") or None
    return error


def _explain(question: Question, hiera: Hiera) -> Output:
    arguments = question.arguments
    scopes = scopes_of(arguments, hiera, arguments["node"])
    found = {name: _explained(arguments, scope) for name, scope in scopes.items()}
    report = ExplainReport({name: one.value for name, one in found.items()}, arguments["because"])
    code = max((_code(one.value.error) for one in found.values()), default=0)
    _redacted(question, [one.value.value for one in found.values()], ", ".join(arguments["keys"]))
    shown = _rendered(question, report.nodes()) if arguments["render_as"] in ("json", "yaml") else report
    return Output(shown, code, unread=_unread(question, scopes, found))


def _explained(arguments: Arguments, scope: Scope) -> NodeResult:
    """The explanation of the first key that a node has; else of the last key."""
    tried: list[Explanation] = []
    for key in arguments["keys"]:
        tried.append(
            scope.explain_options(key) if arguments["options"] else scope.explain(key, **lookup_arguments(arguments))
        )
        if tried[-1].error is None:
            break
    last = tried[-1]
    if last.error is not None:
        _in_words_of_the_command(last.error)
    if _code(last.error) not in (0, _NO_SUCH_KEY):
        return NodeResult(last)
    values = {} if last.error is not None else {last.key: last.value}
    kept = still_encrypted(scope, values, lookup_arguments(arguments).get("merge"))
    return NodeResult(last, [level for one in tried for level in one.unknown], scope.missing, kept)


def _list(question: Question, hiera: Hiera) -> Output:
    arguments = question.arguments
    scopes = scopes_of(arguments, hiera, arguments["node"])
    found = {name: _listed(arguments, name, scope) for name, scope in scopes.items()}
    return _values(question, scopes, found, "", is_whole=True)


def _listed(arguments: Arguments, name: str, scope: Scope) -> NodeResult:
    """Every key of a node with its value, or with its error."""
    values, unset = view(scope), scope.missing
    for key, value in values.items():
        if isinstance(value, NodeattrsError):
            values[key] = _harmless(arguments, name, value, as_asked(key))
    unknown = _undecided(scope)
    return NodeResult(
        values, unknown, unset, still_encrypted(scope, {as_asked(key): one for key, one in values.items()})
    )


def _undecided(scope: Scope) -> list[UnknownLevel]:
    return [level for levels in undecided(scope).values() for level in levels]


def _unused(question: Question, hiera: Hiera) -> Output:
    scopes = list(scopes_of(question.arguments, hiera, question.arguments["node"]).values())
    report = unused_report(unused(hiera, scopes), len(scopes))
    unread = [level.unread for scope in scopes for level in _undecided(scope)]
    looks = FileCache(os.path.relpath)
    for scope in scopes:
        unread += all_possible_files(scope, looks)
    return Output(report, unread=unread)


def _variables(question: Question, hiera: Hiera) -> Output:
    nodes = {}
    for name, scope in scopes_of(question.arguments, hiera, question.arguments["node"]).items():
        modules = (None, *hiera.modules(scope.environment))
        nodes[name or "here"] = list(dict.fromkeys(one for module in modules for one in needed(scope, module)))
    return Output(NeededVariables(nodes))


def _ready_for_8(question: Question, hiera: Hiera) -> Output:
    arguments = question.arguments
    seven, eight = (tree_of({**arguments, "puppet_version": one}, arguments["hiera"]) for one in ("7", "8"))
    before = scopes_of(arguments, seven, arguments["node"])
    after = {name: without_legacy_facts(scope, eight) for name, scope in before.items()}
    report = readiness_report(before, after, seven)
    unread = [level.unread for scope in before.values() for level in _undecided(scope)]
    for scope in after.values():
        unread += unset_variables(scope.missing, scope.knows_facts) if not scope.knows_facts else ()
    return Output(report, int(bool(report.text)), unread=unread)


_EXAMPLE = " --hiera cookbooks_example/hiera --facts cookbooks_example/facts"
"""The end of each example: they run at the top of a checkout."""


def _command(
    summary: str,
    ask: Callable[[Question, Hiera], Output],
    arguments: Iterable[Argument],
    exits: Mapping[int, str] = _EXITS,
    *,
    example: str,
) -> Command:
    return Command(summary, "", [*arguments], (example + _EXAMPLE,), exits, partial(_perform, ask), ("code", "output"))


def _verb(summary: str, verb: str, arguments: Iterable[Argument], *, example: str) -> Command:
    return Command(summary, "", [*arguments], (example + _EXAMPLE,), {}, verb, ("code", "output"))


COMMANDS: Mapping[str, Command] = {
    "lookup": _command(
        "print the value of a key; of several keys the first one found counts",
        _lookup,
        [
            KEYS,
            Argument(("--explain",), "explain instead, as `nodeattrs hiera explain`", FLAG),
            Argument(("--explain-options",), "explain lookup_options instead", FLAG),
            *CLEAR_NODES,
            *MERGING,
            *ONE_VALUE,
            _RENDER,
        ],
        example="lookup profile::users --node web1",
    ),
    "explain": _command(
        "print the levels that were searched for a key, and the line that sets each value",
        _explain,
        [
            KEYS,
            Argument(("--options",), "how lookup_options merged, level by level", FLAG),
            Argument(("--because",), "also the lines that choose the levels and the merge", FLAG),
            *NODES,
            *MERGING,
            *ONE_VALUE,
            _RENDER,
        ],
        example="explain profile::users --node web1",
    ),
    "list": _command(
        "print all keys of a node, with their values", _list, [*CLEAR_NODES, _RENDER], example="list --node web1"
    ),
    "diff": _verb(
        "print the keys that differ between two nodes, or between two trees", "diff", SIDES, example="diff web1 db1"
    ),
    "who-has": _verb(
        "print every line that has a key: where it wins, and which line overrides it",
        "where",
        [KEY, *NODES],
        example="who-has profile::users",
    ),
    "unused": _command(
        "print the files that no node reads, and the keys that are always overridden",
        _unused,
        NODES,
        {},
        example="unused",
    ),
    "matrix": _verb(
        "print the values that a key has for many nodes, each with its lines and its nodes",
        "matrix",
        [KEY, *NODES, *MERGING, ALL_NAMES, NO_SHARING],
        example="matrix profile::users",
    ),
    "ready-for-8": _command(
        "print what fails under Puppet 8 and not under Puppet 7, and the lines that name legacy facts",
        _ready_for_8,
        NODES,
        {0: "ready", 1: "not ready, or failed", 2: "usage", 5: "not known"},
        example="ready-for-8",
    ),
    "variables": _command(
        "print the variables that the hierarchies need, and for which nodes they are not set",
        _variables,
        NODES,
        {},
        example="variables",
    ),
}
