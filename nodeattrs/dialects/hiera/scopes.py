"""The nodes for which a Hiera tree is asked: their facts, trusted facts, and the answer of a classifier.

Used by the commands; `scope_of` also by `opened`, which has facts and classifier from the repository.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeattrs import children
from nodeattrs.core.budget import in_force
from nodeattrs.core.code import require_may_run
from nodeattrs.core.tree import json_or_text
from nodeattrs.dialects.hiera.answers import trusted_facts
from nodeattrs.dialects.hiera.scope import Hiera, Scope
from nodeattrs.errors import BadArgument, BadUsage, DocumentError, TooMuch
from nodeattrs.puppet.facts import facts_at, map_at, map_in

USUAL_ENVIRONMENT = "production"
_DATA = (".json", ".yaml", ".yml")
_SECONDS = 60
"""How long a classifier may think."""


def scope_of(
    hiera: Hiera,
    node: str,
    facts: Mapping[str, Any],
    environment: str | None,
    variables: Mapping[str, Any],
    trusted: Mapping[str, Any] | None = None,
    knows_facts: bool | None = None,
) -> Scope:
    """A node with its facts.

    node:        its name; "" takes the one that the facts have
    environment: None or "" is production
    trusted:     None takes those among the facts, or makes them from the name
    knows_facts: see `Hiera.scope`
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
    )


def _name_in(facts: Mapping[str, Any]) -> str:
    return str(facts.get("clientcert") or facts.get("fqdn") or "")


def scopes_of(asked: Mapping[str, Any], hiera: Hiera, names: Sequence[str] | None) -> dict[str, Scope]:
    """A scope for each node, by name, as the arguments of a command say.

    names:  the nodes; None is all of the folder of facts, else one without a name
    raises: BadArgument, BadUsage, DocumentError, UnknownLayer
    """
    return {name: asked_scope(asked, hiera, name, file) for name, file in names_of(asked, names).items()}


def names_of(asked: Mapping[str, Any], names: Sequence[str] | None) -> dict[str, Path | None]:
    """The nodes that the arguments of a command name, each with the file of its facts. raises: BadArgument, BadUsage"""
    place = None if asked["facts"] is None else Path(asked["facts"])
    if place is not None and asked["facts"] != "-" and place.is_dir():
        files = {path.stem: path for path in sorted(place.iterdir()) if path.suffix in _DATA}
        for name in names or ():
            if name not in files:
                hint = f"there are: {', '.join(files) or 'none'}"
                raise BadArgument(f"{asked['facts']} has no facts of {name}", hint=hint)
        return {name: files[name] for name in names or files}
    if names is not None and len(names) > 1:
        raise BadUsage("several --node need --facts to be a folder")
    return {names[0] if names else "": place}


def asked_scope(asked: Mapping[str, Any], hiera: Hiera, name: str, file: Path | None) -> Scope:
    """The scope of a node, as the arguments of a command say. file: with its facts; None for none"""
    facts = {} if file is None else facts_at(file)
    node, trusted = name or _name_in(facts), None
    if asked["trusted"] is not None:
        trusted = trusted_facts(node) | map_at(Path(asked["trusted"]), "trusted facts are a map")
    classified = {} if asked["enc"] is None else _classified(Path(asked["enc"]), node)
    environment = asked["environment"] or classified.get("environment")
    variables = {**(classified.get("parameters") or {}), **_set(asked["set"])}
    return scope_of(hiera, node, facts, environment, variables, trusted)


def _set(given: Sequence[str]) -> dict[str, Any]:
    pairs = [one.partition("=") for one in given]
    if any(not name or not mark for name, mark, _ in pairs):
        raise BadUsage("--set takes NAME=VALUE")
    return {name: json_or_text(value) for name, _, value in pairs}


def _classified(place: Path, node: str) -> dict[str, Any]:
    """The answer of a classifier for a node: `environment` and `parameters`. Classes set no variable.

    place:  a file with its answer, or the program
    raises: DocumentError; UnknownLayer, where code is held back
    """
    file, message = place.as_posix(), "a classifier answers with a map"
    hint = "write `parameters:` with the variables of the node"
    is_answer = place.suffix in _DATA
    answer = map_at(place, message, hint) if is_answer else map_in(_printed_by(place, node), file, message, hint)
    fits = isinstance(answer.get("environment") or "", str) and isinstance(answer.get("parameters") or {}, dict)
    if not fits:
        raise DocumentError("an environment is a text, and parameters are a map", file=file)
    return answer


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
