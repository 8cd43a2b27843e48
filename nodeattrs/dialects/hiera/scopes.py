"""Make the scopes of nodes from arguments of a command: with facts, trusted facts, and the answer of a classifier.

Used by the commands. `opened` uses only `scope_of`, with facts and classifier from the repository.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeattrs import children
from nodeattrs.core.budget import in_force
from nodeattrs.core.code import require_may_run
from nodeattrs.core.looks import Looks
from nodeattrs.core.tree import json_or_text
from nodeattrs.dialects.hiera.scope import Hiera, Scope
from nodeattrs.dialects.hiera.search import trusted_facts
from nodeattrs.errors import BadArgument, BadUsage, DocumentError, TooMuch
from nodeattrs.puppet.facts import NodeFacts, classified, map_at, map_in, node_at, nodes_at
from nodeattrs.reports.screen import first_of

USUAL_ENVIRONMENT = "production"
_DATA = (".json", ".yaml", ".yml")
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
    """The scope of a node with its facts; as `Hiera.scope`, with defaults from the facts.

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
        known = {path.stem: path for path in sorted(place.iterdir()) if path.suffix in _DATA}
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

    place:  a file with its answer, or the program
    raises: DocumentError; UnknownLayer, where code is held back
    """
    file, message = place.as_posix(), "a classifier answers with a map"
    hint = "write `parameters:` with the variables of the node"
    is_answer = place.suffix in _DATA
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
