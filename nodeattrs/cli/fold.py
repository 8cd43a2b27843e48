"""`nodeattrs fold`: any files laid over each other, and why each value is what it is."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.exits import UNKNOWN_LAYER
from nodeattrs.cli.options import add_budget, add_strict, add_unread, found_repository, path_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.errors import BadArgument, DocumentError, FoldNotFound
from nodeattrs.kinds import ENCRYPTED
from nodeattrs.texts.json_text import json_or_text
from nodeattrs.texts.nearest import SETTINGS_FILE, nearest

if TYPE_CHECKING:
    from nodeattrs.core.fold import Folded, Layer
    from nodeattrs.core.rules import PathRule
    from nodeattrs.policies.named import NamedPolicy
    from nodeattrs.reports import Report
    from nodeattrs.runs.config import PlainFold
    from nodeattrs.runs.repository import Repository
    from nodeattrs.texts.layers import LayerReader

DESCRIPTION = """\
Lay files over each other, the weakest first, and print what they come to: YAML, JSON, TOML, .env, .ini and
.properties; folders stand for their files by name, quoted patterns for what they fit, - for standard input."""
EXAMPLES = """\
examples:
  nodeattrs fold base.yaml team.yaml prod.yaml
  nodeattrs fold base.yaml prod.yaml --explain http.port
  nodeattrs fold base.yaml prod.yaml --blame
  nodeattrs fold values.yaml prod.yaml --policy helm --set image.tag=v2 --diff-last
  nodeattrs fold --name site                       [fold.site] of nodeattrs.toml

exit codes:
  0 done    1 could not be    2 not understood    5 done, and a layer cannot be read or a value is encrypted
"""

_SYNTAXES = ("json", "yaml", "toml", "env", "ini", "properties")
_FORMATS = ("text", "yaml", "json", "toml", "env")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command."""
    parser.add_argument("files", metavar="FILE", nargs="*", help="a file, a folder, a pattern, FILE#2, or -")
    parser.add_argument(
        "--policy",
        metavar="POLICY",
        help="what happens where two values meet: a name, or a TOML file with policy and [merge] (default: across)",
    )
    parser.add_argument("--name", metavar="NAME", help="a fold of nodeattrs.toml; further files are laid over it")
    parser.add_argument(
        "--set", metavar="PATH=VALUE", action="append", default=[], help="a last layer: JSON, or text; may be repeated"
    )
    parser.add_argument(
        "--syntax", choices=_SYNTAXES, help="of all files (default: as their names say, else their content)"
    )
    parser.add_argument("--document", metavar="N", type=int, help="of files with several, only this one")
    parser.add_argument(
        "--repo", metavar="DIR", help="whose nodeattrs.toml counts (default: the nearest one here or above)"
    )
    add_strict(parser)
    shown = parser.add_argument_group("what to print", "instead of the merged tree").add_mutually_exclusive_group()
    shown.add_argument("--explain", metavar="PATH", action="append", help="who set it, and who lost; may be repeated")
    shown.add_argument("--blame", action="store_true", help="the tree with the place of each value in a margin")
    shown.add_argument("--origins", action="store_true", help="the tree with the place of each value behind it")
    shown.add_argument("--diff-last", action="store_true", help="what the last layer changes")
    shown.add_argument("--policies", action="store_true", help="the policies that have a name, with their lines")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--format", "-F", choices=_FORMATS, default="text", help="of the tree, or of a report (default: text, in YAML)"
    )
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="(default: auto)")
    output.add_argument("--traceback", action="store_true", help="on an error, show the whole way to it")
    add_unread(output)
    add_budget(output)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Fold them."""
    is_report = options.explain or options.blame or options.origins or options.diff_last or options.policies
    if is_report and options.format in ("toml", "env"):
        options.refuse(f"--format {options.format} is for the merged tree")
    if options.policies:
        from nodeattrs.dialects.files.reports import ShownPolicies
        from nodeattrs.policies import NAMES, policy_named

        terminal.report(ShownPolicies([policy_named(name) for name in NAMES]))
        return 0
    if not (options.files or options.name or options.set):
        options.refuse("there is nothing to fold: name a file, or a fold with --name")
    question = _Question(options)
    terminal.warn(question.warnings)
    return _answered(question, options, terminal)


class _Question:
    """The layers that are meant, and how they are folded."""

    def __init__(self, options: argparse.Namespace) -> None:
        from nodeattrs.dialects.files.folds import named_layers
        from nodeattrs.policies import policy_named
        from nodeattrs.texts import layers

        self.options = options
        self.repository = _repository(options)
        named = _named(options, self.repository)
        syntax: Any = options.syntax or (named.syntax if named else None) or None
        self.reader = layers.LayerReader(syntax, document=options.document, pipes=True)
        self.layers: list[Layer] = []
        if named is not None and self.repository is not None:
            self.layers += named_layers(self.repository, named)
        self.layers += [layer for word in options.files for layer in _read(word, self.reader)]
        self.layers += [_set_layer(one) for one in options.set]
        policy, self.rules = _policy(options.policy, named)
        self.policy: NamedPolicy = policy_named(policy)

    @property
    def warnings(self) -> list[DocumentError]:
        """What was read and is probably not meant."""
        return [*self.reader.warnings, *(self.repository.warnings if self.repository else ())]

    def folded(self, layers: Sequence[Layer]) -> Folded:
        from nodeattrs.dialects.files.folds import folded

        sensitive = self.repository.config.sensitive if self.repository is not None else ()
        return folded(layers, self.policy, self.rules, sensitive, self.options.strict)


def _repository(options: argparse.Namespace) -> Repository | None:
    """The repository whose settings count; without one nobody waits for what knows settings."""
    if options.repo is None and not os.environ.get("NODEATTRS_REPO") and nearest(SETTINGS_FILE) is None:
        return None
    return found_repository(options)


def _named(options: argparse.Namespace, repository: Repository | None) -> PlainFold | None:
    if options.name is None:
        return None
    from nodeattrs.dialects.files.folds import fold_named

    if repository is None:
        hint = f"write [fold.{options.name}] with files = [...] into nodeattrs.toml, or name files"
        raise FoldNotFound("there is no nodeattrs.toml here or above that could name a fold", hint=hint)
    return fold_named(repository, options.name)


def _read(word: str, reader: LayerReader) -> Iterable[Layer]:
    if word == "-":
        from nodeattrs.texts.documents import standard_input

        return reader.layers(standard_input(), "-", "stdin")
    from nodeattrs.dialects.files.folds import layers_of

    return layers_of([word], reader, Path())


def _policy(word: str | None, named: PlainFold | None) -> tuple[str, Sequence[PathRule]]:
    """The name of the policy that is meant, and rules for paths: of --policy, which may be a file, else of the fold."""
    from nodeattrs.dialects.files.folds import check_policy
    from nodeattrs.policies import DEFAULT_POLICY, NAMES

    if word is None:
        return (named.policy, named.rules) if named else (DEFAULT_POLICY, ())
    if word in NAMES or not (os.path.exists(word) or word.endswith(".toml")):
        return word, ()
    from nodeattrs.runs.config import read_fold
    from nodeattrs.runs.fields import Fields
    from nodeattrs.texts.documents import read

    document = read(Path(word))
    fields = Fields(document.tree, document.locator("policy", ""), "the policy")
    one = read_fold(fields)
    fields.finish()
    check_policy(document, one)
    return one.policy, one.rules


def _set_layer(word: str) -> Layer:
    """The layer of one --set."""
    from nodeattrs.core.claim import Origin
    from nodeattrs.core.fold import Layer
    from nodeattrs.core.tree import under

    spelled, equals, written = word.partition("=")
    path = path_of(spelled)
    if not (equals and path) or not all(isinstance(step, str) for step in path):
        hint = "write --set http.port=8080; a list is set as a whole, and a number that is a key is quoted"
        raise BadArgument(f"--set {spelled} names no value", hint=hint)
    return Layer(under(path, json_or_text(written)), Origin("option", f"--set {spelled}"))


def _answered(question: _Question, options: argparse.Namespace, terminal: Terminal) -> int:
    folded = question.folded(question.layers)
    if options.explain or options.blame or options.origins or options.diff_last:
        terminal.report(_report(question, folded, options))
    else:
        from nodeattrs.dialects.files.text import text_of

        terminal.text(text_of(folded.value, options.format))
    return _warned(question, folded, terminal)


def _report(question: _Question, folded: Folded, options: argparse.Namespace) -> Report:
    from nodeattrs.dialects.files import reports as reports

    if options.explain:
        return reports.traced(folded, map(path_of, options.explain))
    if not options.diff_last:
        return reports.Blamed(folded, options.blame)
    *others, last = question.layers
    if not others:
        raise BadArgument("--diff-last compares the last layer with those before it, and there is one only")
    return reports.LastChanges(last.title or last.origin.at(()).name, question.folded(others), folded)


def _warned(question: _Question, folded: Folded, terminal: Terminal) -> int:
    """Say which layers cannot be read, and what is encrypted; the exit code."""
    from nodeattrs.core.unknown import Unknown
    from nodeattrs.core.unread import unread_layer
    from nodeattrs.dialects.files.text import holds_encrypted

    unknown = [one for one in question.layers if type(one.value) is Unknown]
    encrypted = holds_encrypted(folded.value)
    terminal.note_unread(unread_layer(one.value, one.origin.at(())) for one in unknown)
    if encrypted:
        from nodeattrs.dialects.files.reports import encrypted_in

        terminal.warn(encrypted_in(folded), ENCRYPTED.entry)
    return UNKNOWN_LAYER if encrypted else 0
