"""The arguments of the commands `nodeattrs hiera ...`, and the tree, the nodes and the lookup that they describe.

Each node gets a scope with its facts, its trusted facts and the answer of a classifier. Verbs such as `matrix` have the
same arguments as options of their request; `opened` reads them from there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeattrs import children
from nodeattrs.contract.command import Argument
from nodeattrs.core.budget import in_force
from nodeattrs.core.code import require_may_run
from nodeattrs.core.looks import Looks
from nodeattrs.core.tree import json_or_text
from nodeattrs.dialects.hiera.eyaml import Pkcs7
from nodeattrs.dialects.hiera.hierarchies import DEFAULT_VERSION, has_environments
from nodeattrs.dialects.hiera.scope import Hiera, Scope
from nodeattrs.dialects.hiera.search import trusted_facts
from nodeattrs.errors import BadArgument, BadUsage, DocumentError, TooMuch
from nodeattrs.project.settings import settings_beside
from nodeattrs.puppet.facts import NodeFacts, classified, map_at, map_in, node_at, nodes_at
from nodeattrs.reports.screen import first_of

_MANY: Mapping[str, Any] = {"action": "append", "default": []}
FLAG: Mapping[str, Any] = {"action": "store_true"}
_FILE: Mapping[str, Any] = {"metavar": "FILE"}

# --- arguments

KEY = Argument(("key",), "such as ntp::servers", {"metavar": "KEY"})
KEYS = Argument(("keys",), "such as ntp::servers or users.bob.uid", {"metavar": "KEY", "nargs": "+"})

_DATA = "where the data is"
_TREE = (
    Argument(("--hiera",), "a hiera.yaml or its folder (default: ./hiera.yaml)", {"metavar": "PLACE"}, _DATA),
    Argument(("--environmentpath",), "a folder with a folder for each environment", {"metavar": "DIR"}, _DATA),
    Argument(("--hiera-config", "--hiera_config"), "the hiera.yaml of the global layer", _FILE, _DATA),
    Argument(("--modulepath",), "a folder with modules; repeatable", {"metavar": "DIR", **_MANY}, _DATA),
    Argument(("--basemodulepath",), "what $basemodulepath is; repeatable", {"metavar": "DIR", **_MANY}, _DATA),
    Argument(
        ("--puppet-conf", "--confdir"),
        "a puppet.conf or its folder",
        {"metavar": "PLACE"},
        _DATA,
    ),
    Argument(("--skip-level",), "leave a level out; repeatable", {"metavar": "NAME", **_MANY}, _DATA),
)
_DECRYPTION = (
    Argument(("--decrypt",), "decrypt eyaml with the keys of hiera.yaml", FLAG, _DATA),
    Argument(("--eyaml-private-key",), "decrypt eyaml; the private key, in PEM", _FILE, _DATA),
    Argument(("--eyaml-public-key",), "decrypt eyaml; the public key, in PEM", _FILE, _DATA),
)
_CARE = (
    Argument(
        ("--puppet-version",),
        "whose rules hold (default: nodeattrs.toml, or 8)",
        {"choices": ("7", "8")},
        _DATA,
    ),
    Argument(
        ("--ruby",),
        "run data functions of modules, with `ruby`",
        FLAG,
        _DATA,
    ),
    Argument(("--documented",), "strategies follow the documentation, not Puppet", FLAG, _DATA),
    Argument(("--strict",), "warnings and unreadable levels are errors", FLAG, _DATA),
)

_ASKS = "the node"
NODE = Argument(
    ("--node",), "its name; may be repeated with a folder of facts", {"metavar": "NAME", "action": "append"}, _ASKS
)
ENVIRONMENT = Argument(
    ("--environment", "-E"), "its environment (default: of --enc, or production)", {"metavar": "NAME"}, _ASKS
)
FACTS = (
    Argument(
        ("--facts",),
        "facts of a node or of PuppetDB, or a folder of NODE.json or NODE.yaml; - is stdin",
        {"metavar": "PLACE"},
        _ASKS,
    ),
    Argument(("--set",), "a variable of the node; VALUE is JSON or text", {"metavar": "PATH=VALUE", **_MANY}, _ASKS),
    Argument(("--trusted",), "trusted facts in JSON or YAML", _FILE, _ASKS),
    Argument(("--enc",), "YAML of a classifier; with --run-code a program", _FILE, _ASKS),
)
_ANY_NODE = (*_TREE, *_CARE, ENVIRONMENT, *FACTS)
NODES = (*_ANY_NODE, NODE)
CLEAR_NODES = (*NODES, *_DECRYPTION)

_VALUES = "the merge"
MERGING = (
    Argument(("--compile",), "", FLAG, _VALUES),
    Argument(("--merge",), "first, unique, hash, deep; over lookup_options", {"metavar": "STRATEGY"}, _VALUES),
    Argument(
        ("--knock-out-prefix",), "with --merge deep: the mark of values to remove", {"metavar": "PREFIX"}, _VALUES
    ),
    Argument(("--sort-merged-arrays",), "with --merge deep: sort merged lists", FLAG, _VALUES),
    Argument(("--merge-hash-arrays",), "with --merge deep: merge lists by position", FLAG, _VALUES),
)
ONE_VALUE = (
    Argument(("--type",), "the type of the value, such as 'Array[String]'", {"metavar": "TYPE"}, _VALUES),
    Argument(("--default",), "the answer if the key is not set", {"metavar": "TEXT"}, _VALUES),
)
SIDES = (
    Argument(("before",), "the node's name", {"metavar": "NODE", "nargs": "?", "default": ""}),
    Argument(("after",), "another one (default: NODE)", {"metavar": "OTHER", "nargs": "?"}),
    Argument(("--against-tree",), "what OTHER sees in this tree", {"metavar": "PLACE", "dest": "against"}),
    *_ANY_NODE,
)

# --- the tree, and the lookup

Arguments = Mapping[str, Any]
"""The arguments of a command, by name."""


def check_arguments(arguments: Arguments) -> None:
    """Check that the arguments of a command fit together.

    raises: BadUsage, for the first fault: --compile; two options that exclude each other; one of the two key options
            alone; an option about --merge deep without it
    """
    for word in ("knock_out_prefix", "sort_merged_arrays", "merge_hash_arrays"):
        if arguments.get(word) not in (None, False) and arguments.get("merge") != "deep":
            raise BadUsage(f"--{word.replace('_', '-')} is about --merge deep")
    if arguments.get("compile"):
        raise BadUsage(
            "--compile runs manifests, which nothing here does; give the variables they set: --set NAME=VALUE"
        )
    if (arguments.get("explain") or arguments.get("explain_options")) and (
        arguments["decrypt"] or arguments["eyaml_private_key"]
    ):
        raise BadUsage("--explain shows nothing that was decrypted: leave the keys out")
    if bool(arguments.get("eyaml_private_key")) != bool(arguments.get("eyaml_public_key")):
        raise BadUsage("--eyaml-private-key and --eyaml-public-key are a pair")
    if arguments["hiera"] and arguments["environmentpath"]:
        raise BadUsage("--hiera and --environmentpath are two ways to name the environment layer")


def tree_of(arguments: Arguments, place: str | None, decrypts: bool = True) -> Hiera:
    """The tree that the arguments and nodeattrs.toml describe; reads no hiera.yaml and no data.

    place:    a hiera.yaml, or a folder with one. None: the places that other arguments name, such as --environmentpath,
              or else the current folder
    decrypts: False: no value is decrypted, and the arguments with keys are ignored
    raises:   BadArgument, if a named place does not exist
    """
    environmentpath = None if place else arguments["environmentpath"]
    private, public = arguments.get("eyaml_private_key"), arguments.get("eyaml_public_key")
    decrypt = Pkcs7(private, public) if private and public else arguments.get("decrypt", False)
    is_named = place or environmentpath or arguments["hiera_config"] or arguments["puppet_conf"]
    is_tree = has_environments(Path()) or os.path.isfile("environment.conf")
    here = "." if is_tree else "hiera.yaml"
    beside = settings_beside(arguments.get("repo"), place, environmentpath, arguments.get("against"))
    named = [one.puppet_version for one in beside if one.puppet_version is not None]
    return Hiera(
        place if is_named else here,
        environmentpath=environmentpath,
        global_config=arguments["hiera_config"],
        modulepath=arguments["modulepath"],
        basemodulepath=arguments["basemodulepath"],
        puppet_conf=arguments["puppet_conf"],
        skip_levels=arguments["skip_level"],
        decrypt=decrypts and decrypt,
        documented=arguments["documented"],
        strict=arguments["strict"],
        sensitive_paths=[path for one in beside for path in one.sensitive],
        ruby=arguments["ruby"],
        puppet_version=int(arguments["puppet_version"] or max(named, default=DEFAULT_VERSION)),
    )


def warnings_of(hiera: Hiera) -> list[object]:
    """The warnings of a tree, and one for each --skip-level that it does not have. Complete after the last lookup."""
    left = sorted(hiera.skip_levels - hiera.skipped)
    return [*hiera.warnings, *(f"no level of the hierarchy is called {name!r}" for name in left)]


def lookup_arguments(arguments: Arguments) -> dict[str, Any]:
    """The arguments of `Scope.lookup` that the arguments of a command give, by name; {} for none."""
    given = {
        "knockout_prefix": arguments.get("knock_out_prefix"),
        "sort_merged_arrays": arguments.get("sort_merged_arrays") or None,
        "merge_hash_arrays": arguments.get("merge_hash_arrays") or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    merge = {"strategy": arguments["merge"], **given} if given else arguments.get("merge")
    how = {"merge": merge, "value_type": arguments.get("type"), "default_value": arguments.get("default")}
    return {name: value for name, value in how.items() if value is not None}


USUAL_ENVIRONMENT = "production"
_OF_DATA = (".json", ".yaml", ".yml")
_SHOWN = 10
_SECONDS = 60
"""How long a classifier may run."""


def scope_of(
    hiera: Hiera,
    node: str,
    facts: Mapping[str, Any],
    environment: str | None,
    variables: Mapping[str, Any],
    trusted: Mapping[str, Any] | None = None,
    knows_facts: bool | None = None,
    looks: Looks | None = None,
) -> Scope:
    """The scope of a node with its facts. Takes the arguments of `Hiera.scope`, with defaults from the facts.

    node:        its name; "": clientcert or fqdn of the facts
    environment: None or "": production
    trusted:     None: those among the facts, else made from the name
    """
    if trusted is None and isinstance(facts.get("trusted"), dict):
        trusted = facts["trusted"]
    return hiera.scope(
        facts,
        node=node or _name_in(facts),
        environment=environment or USUAL_ENVIRONMENT,
        trusted=trusted,
        variables=variables,
        knows_facts=knows_facts,
        looks=looks,
    )


def _name_in(facts: Mapping[str, Any]) -> str:
    return str(facts.get("clientcert") or facts.get("fqdn") or "")


def scopes_of(arguments: Mapping[str, Any], hiera: Hiera, names: Sequence[str] | None) -> dict[str, Scope]:
    """Name -> scope for each node that the arguments of a command name; reads the files of facts.

    names:  the nodes; None: all nodes of the folder or file of facts, or one without a name
    raises: BadArgument, BadUsage, DocumentError; UnknownLayer, for a classifier that may not be run
    """
    return {
        name: scope_from_arguments(arguments, hiera, name, file) for name, file in named_nodes(arguments, names).items()
    }


def named_nodes(arguments: Mapping[str, Any], names: Sequence[str] | None) -> dict[str, Path | NodeFacts]:
    """Name -> facts, or the file of the facts, for each node that the arguments of a command name; never empty.

    Without --facts, or with facts of one node, the result has one name: the first of *names*, or "".
    arguments: the arguments; "facts" is a file, a folder, "-" for standard input, or None
    names:     the nodes; None or () for all nodes of --facts
    raises:    BadArgument, if --facts has no facts of a node; BadUsage, for several names with facts of one node;
               DocumentError
    """
    place = None if arguments["facts"] is None else Path(arguments["facts"])
    if place is None:
        known: dict[str, Path | NodeFacts] = {"": NodeFacts({})}
    elif arguments["facts"] != "-" and place.is_dir():
        known = {path.stem: path for path in sorted(place.iterdir()) if path.suffix in _OF_DATA}
    else:
        known = {**nodes_at(place)}
    if not known:
        raise BadArgument(
            f"{arguments['facts']} has no facts: there is no node in it", hint="name a folder or file that has some"
        )
    if "" not in known:
        for name in names or ():
            if name not in known:
                hint = f"there are: {first_of([*known], _SHOWN) or 'none'}"
                raise BadArgument(f"{arguments['facts']} has no facts of {name}", hint=hint)
        return {name: known[name] for name in names or known}
    if names is not None and len(names) > 1:
        raise BadUsage("several --node need --facts to be a folder, or an answer of PuppetDB")
    return {names[0] if names else "": known[""]}


def scope_from_arguments(
    arguments: Mapping[str, Any], hiera: Hiera, name: str, given: Path | NodeFacts, looks: Looks | None = None
) -> Scope:
    """The scope of a node with the trusted facts, classifier, environment and variables that arguments name.

    --environment overrides the classifier, and the classifier overrides the facts; without any it is production. --set,
    classifier and facts override each other in the same order for variables. A --trusted file is merged over facts made
    from the name; without it, trusted facts in the facts count.
    arguments: the arguments of a command of the dialect
    name:      the name of the node; "": the name in its facts
    given:     its facts, or the file that has them, which is read
    looks:     notes what the scope reads of the node; None: nothing is noted
    raises:    BadUsage, DocumentError; UnknownLayer, for a classifier that may not be run
    """
    found = node_at(given) if isinstance(given, Path) else given
    node, trusted = name or _name_in(found.facts), None
    if arguments["trusted"] is not None:
        trusted = trusted_facts(node) | map_at(Path(arguments["trusted"]), "trusted facts are a map")
    given_by = NodeFacts({}) if arguments["enc"] is None else _classified(Path(arguments["enc"]), node)
    environment = arguments["environment"] or given_by.environment or found.environment
    variables = {**found.variables, **given_by.variables, **_set(arguments["set"])}
    return scope_of(hiera, node, found.facts, environment, variables, trusted, looks=looks)


def _set(given: Sequence[str]) -> dict[str, Any]:
    pairs = [one.partition("=") for one in given]
    if any(not name or not mark for name, mark, _ in pairs):
        raise BadUsage("--set takes NAME=VALUE")
    return {name: json_or_text(value) for name, _, value in pairs}


def _classified(place: Path, node: str) -> NodeFacts:
    """The answer of a classifier for a node.

    place:  a file with its answer (.json, .yaml or .yml), or the program, which is run
    raises: DocumentError; UnknownLayer, where code is held back
    """
    file, message = place.as_posix(), "a classifier answers with a map"
    hint = "write `parameters:` with the variables of the node"
    is_answer = place.suffix in _OF_DATA
    answer = map_at(place, message, hint) if is_answer else map_in(_printed_by(place, node), file, message, hint)
    return classified(answer, file)


def _printed_by(program: Path, node: str) -> str:
    """What a classifier prints for a node. raises: UnknownLayer, where code is held back; DocumentError"""
    require_may_run(f"the classifier {program.as_posix()}")
    command = [str(program.absolute()), node]
    try:
        done = children.run(command, env=children.callers_environment(), seconds=_SECONDS, most_bytes=in_force().bytes)
        answer = done.output.decode("utf-8")
    except (OSError, UnicodeDecodeError, TooMuch) as error:
        raise DocumentError(f"cannot be asked: {error}", file=program.as_posix()) from error
    if done.code:
        last = (done.errors.strip() or "nothing").splitlines()[-1]
        raise DocumentError(f"ended with {done.code} for {node!r} and wrote: {last}", file=program.as_posix())
    return answer
