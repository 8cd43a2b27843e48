"""Who asks a Hiera tree on the command line: facts, the node variables of a classifier, trusted facts."""

from __future__ import annotations

import argparse
import pathlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeattrs.core.tree import json_or_text

if TYPE_CHECKING:
    from nodeattrs.adapters.hiera import Hiera, Scope

_OF_A_SERVER = "--- !ruby/object:Puppet::Node::Facts"
"""The first line of a file in which a Puppet server keeps the facts of a node."""
_SECONDS = 60
"""How long a classifier may think."""


def add_who(parser: argparse.ArgumentParser, name: str) -> None:
    """The options that say who asks, for an action."""
    who = parser.add_argument_group("who asks")
    if name not in ("diff", "who-has"):
        who.add_argument(
            "--node", metavar="NAME", action="append", help="its name; may be repeated with a folder of facts"
        )
    who.add_argument("--environment", metavar="NAME", help="(default: that of --enc, or production)")
    if name == "who-has":
        return
    facts = "facts in JSON or YAML, or a folder with NODE.json or NODE.yaml; - is stdin"
    who.add_argument("--facts", metavar="FILE", help=facts)
    who.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a variable of the node; VALUE is JSON or text"
    )
    who.add_argument("--trusted", metavar="FILE", help="trusted facts in JSON or YAML, over those of the name")
    who.add_argument(
        "--enc", metavar="FILE", help="the YAML answer of a classifier; or the program itself, with --run-code"
    )


def environment_of(options: argparse.Namespace) -> str:
    """The environment that was named, or the one of everybody."""
    return options.environment or "production"


def scopes_of(options: argparse.Namespace, hiera: Hiera, names: list[str] | None) -> dict[str, Scope]:
    """A scope for each node, by name. raises: BadArgument, DocumentError, UnknownLayer"""
    if options.facts is not None and options.facts != "-" and pathlib.Path(options.facts).is_dir():
        folder = pathlib.Path(options.facts)
        files = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in (".json", ".yaml", ".yml")}
        return {name: _scope(options, hiera, name, _file_of(options, name, files)) for name in names or files}
    if names is not None and len(names) > 1:
        options.refuse("several --node need --facts to be a folder")
    name = names[0] if names else ""
    return {name: _scope(options, hiera, name, options.facts and pathlib.Path(options.facts))}


def _file_of(options: argparse.Namespace, name: str, files: dict[str, Path]) -> Path:
    if name not in files:
        from nodeattrs.errors import BadArgument

        hint = f"there are: {', '.join(files) or 'none'}"
        raise BadArgument(f"{options.facts} has no facts of {name}", hint=hint)
    return files[name]


def _scope(options: argparse.Namespace, hiera: Hiera, name: str, path: Path | None) -> Scope:
    from nodeattrs.adapters.hiera import trusted_facts

    facts = {} if path is None else _map(path, "facts are a map", "write what `facter --json` prints")
    # What Puppet keeps about a node has its facts under `values`.
    facts = facts["values"] if isinstance(facts.get("values"), dict) and isinstance(facts.get("name"), str) else facts
    node = name or str(facts.get("clientcert") or facts.get("fqdn") or "")
    trusted = facts.get("trusted") if isinstance(facts.get("trusted"), dict) else None
    if options.trusted is not None:
        trusted = trusted_facts(node) | _map(_path(options.trusted), "trusted facts are a map", None)
    classified = _classified(options, node)
    return hiera.scope(
        facts,
        node=node,
        environment=options.environment or classified.get("environment") or "production",
        trusted=trusted,
        variables={**(classified.get("parameters") or {}), **_set(options)},
    )


def _set(options: argparse.Namespace) -> dict[str, Any]:
    pairs = [given.partition("=") for given in options.set]
    if any(not name or not mark for name, mark, _ in pairs):
        options.refuse("--set takes NAME=VALUE")
    return {name: json_or_text(value) for name, _, value in pairs}


def _path(place: str) -> Path:
    return pathlib.Path(place)


def _map(path: Path, message: str, hint: str | None, text: str | None = None) -> dict[str, Any]:
    """The map that a file holds, or what a program printed in its place; an empty one where there is nothing."""
    from nodeattrs.errors import DocumentError
    from nodeattrs.texts.documents import content_of, decoded, parse, standard_input

    if path.as_posix() == "-":
        path = _path("standard input")
        text = decoded(standard_input(), path.as_posix())
    if text is None:
        text = decoded(content_of(path, path.as_posix()), path.as_posix()).removeprefix(_OF_A_SERVER)
    is_json = path.suffix not in (".yaml", ".yml") and text.lstrip().startswith("{")
    document = parse(text, path.as_posix(), "json" if is_json else "yaml")
    tree = {} if document.tree is None else document.tree
    if not isinstance(tree, dict):
        raise DocumentError(message, file=document.file, hint=hint)
    return tree


def _classified(options: argparse.Namespace, node: str) -> dict[str, Any]:
    """What a classifier says of a node: `environment` and `parameters`. Classes set no variable."""
    from nodeattrs.errors import DocumentError

    if options.enc is None:
        return {}
    path = _path(options.enc)
    text = None if path.suffix in (".yaml", ".yml", ".json") else _asked(path, node)
    answer = _map(path, "a classifier answers with a map", "write `parameters:` with the variables of the node", text)
    fits = isinstance(answer.get("environment") or "", str) and isinstance(answer.get("parameters") or {}, dict)
    if not fits:
        raise DocumentError("an environment is a text, and parameters are a map", file=path.as_posix())
    return answer


def _asked(program: Path, node: str) -> str:
    """What a classifier prints for a node. raises: UnknownLayer, where code is held back; DocumentError"""
    from nodeattrs import children
    from nodeattrs.core.budget import in_force
    from nodeattrs.core.code import require_may_run
    from nodeattrs.errors import DocumentError, TooMuch

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
