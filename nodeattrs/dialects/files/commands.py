"""The command `nodeattrs fold`: its arguments, the layers that they name, and the report or text that it prints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeattrs.contract.argument_values import nested_of
from nodeattrs.contract.arguments import ENV_PREFIX, NESTED
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.contract.folder import Folder
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Folded, Layer, fold
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.rules import PathRule
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import dig, json_or_text, parse, tree_with
from nodeattrs.core.unknown import Unknown
from nodeattrs.core.unread import Unread, encrypted_at, unread_below, unread_layer
from nodeattrs.dialects.files.compose import layers_of_project
from nodeattrs.dialects.files.doubts import warnings_of_dotted_keys
from nodeattrs.dialects.files.folds import (
    FoldLayers,
    chart_folder,
    check_policy,
    fold_named,
    folded,
    layers_of,
    layers_of_fold,
    layers_over_chart,
)
from nodeattrs.dialects.files.found import is_of_terraform
from nodeattrs.dialects.files.reports import BlameReport, LastChanges, ShownPolicies, trace_report
from nodeattrs.dialects.files.text import text_of
from nodeattrs.errors import BadArgument, BadUsage, DocumentError, FoldNotFound
from nodeattrs.formats.documents import read
from nodeattrs.formats.layers import LayerReader, with_variables
from nodeattrs.policies import COMPOSE, DEFAULT_POLICY, NAMES, REPLACE, policy_named
from nodeattrs.policies.helm import HelmPolicy
from nodeattrs.policies.helm_set import set_layers
from nodeattrs.project.config import PlainFold, read_fold
from nodeattrs.project.fields import Fields
from nodeattrs.project.settings import Settings
from nodeattrs.reports import Report

_FLAG: Mapping[str, Any] = {"action": "store_true"}
_SHOWN = "what to print instead of the merged tree"
_ARGUMENTS = (
    Argument(("files",), "a file, a folder, a pattern, FILE#2, or -", {"metavar": "FILE", "nargs": "*"}),
    Argument(
        ("--policy",),
        "what happens where two values meet: a name, or a TOML file with policy and [merge] (default: across)",
        {"metavar": "POLICY"},
    ),
    ENV_PREFIX,
    NESTED,
    Argument(("--name",), "a fold of nodeattrs.toml; further files override it", {"metavar": "NAME"}),
    Argument(
        ("--set",),
        "a last layer; VALUE is JSON, else text; with --policy helm as in Helm: a.b=1,c[0]=x; may be repeated",
        {"metavar": "PATH=VALUE", "action": "append", "default": []},
    ),
    Argument(
        ("--syntax",),
        "the syntax of all files (default: by their names, else by their content)",
        {"choices": ("json", "yaml", "toml", "env", "ini", "properties", "hcl")},
    ),
    Argument(("--document",), "only the N-th document of each file", {"metavar": "N", "type": int}),
    Argument(("--repo",), "whose nodeattrs.toml counts (default: the nearest one here or above)", {"metavar": "DIR"}),
    Argument(
        ("--explain",),
        "the line that sets a path, and what it overrides; may be repeated",
        {"metavar": "PATH", "action": "append"},
        _SHOWN,
        "shown",
    ),
    Argument(("--blame",), "the tree with the place of each value in a margin", _FLAG, _SHOWN, "shown"),
    Argument(("--origins",), "the tree with the place of each value behind it", _FLAG, _SHOWN, "shown"),
    Argument(("--diff-last",), "what the last layer changes", _FLAG, _SHOWN, "shown"),
    Argument(("--policies",), "the policies that have a name, with their lines", _FLAG, _SHOWN, "shown"),
)


class _Layers:
    """The layers that the arguments name, the weakest first, and their policy. All files are read when it is made.

    raises: FoldNotFound, NoFileFits, DocumentError, BadArgument
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = arguments
        settings = Settings(arguments, os.environ).repository
        self._repository = None if settings is None else Folder(settings.root, settings=settings)
        named = self._named(arguments["name"])
        syntax: Any = arguments["syntax"] or (named.syntax if named else None) or None
        self._reader = LayerReader(syntax, document=arguments["document"], pipes=True)
        name, self._rules = _policy(arguments["policy"], named, arguments["files"])
        self._policy = policy_named(name)
        self.all, self._charts = self._read_all(named)

    def _read_all(self, named: PlainFold | None) -> FoldLayers:
        """The fold that nodeattrs.toml names, or the first chart; then files, then --set."""
        words: Sequence[str] = self._arguments["files"]
        chart = None if named is not None else chart_folder(words, Path(), self._policy)
        words = words[chart is not None :]
        files = [*layers_of(words, self._reader, Path(), policy=self._policy.name)]
        if named is not None and self._repository is not None:
            below = layers_of_fold(self._repository, named, self._policy, files)
            layers, charts = self._with_variables([*below.layers]), len(below.charts)
            return FoldLayers([*layers, *self._set(layers[charts or 1 :])], below.charts)
        if self._policy.name == COMPOSE:
            files = layers_of_project(files, self._reader, Path())
        files = self._with_variables(files)
        if chart is not None:
            return layers_over_chart(chart, [*files, *self._set(files)], self._reader, self._policy)
        over = self._set(files[1:])
        is_bare = not files and over and isinstance(self._policy, HelmPolicy)
        return FoldLayers([*([Layer({})] if is_bare else files), *over])

    @property
    def warnings(self) -> list[DocumentError]:
        """Warnings about probable mistakes in the files."""
        kept = self._repository.warnings if self._repository else ()
        return [*self._reader.warnings, *kept, *warnings_of_dotted_keys(self.all)]

    def folded(self, layers: Sequence[Layer]) -> Folded:
        """The fold of some of them. raises: MergeConflict; UnknownLayer with --strict"""
        sensitive = self._repository.config.sensitive if self._repository is not None else ()
        return folded(layers, self._policy, self._rules, sensitive, self._arguments["strict"], self._charts)

    def _named(self, name: str | None) -> PlainFold | None:
        if name is None:
            return None
        if self._repository is None:
            hint = f"write [fold.{name}] with files = [...] into nodeattrs.toml, or name files"
            raise FoldNotFound("there is no nodeattrs.toml here or above that could name a fold", hint=hint)
        return fold_named(self._repository, name)

    def _with_variables(self, layers: list[Layer]) -> list[Layer]:
        """The layers, and the variables of --env-prefix as one more.

        raises: BadArgument, for two variables of one path; BadUsage, for --nested alone
        """
        prefix, nested = self._arguments["env_prefix"], nested_of(self._arguments)
        return with_variables(layers, prefix, nested) if prefix else layers

    def _set(self, values: Sequence[Layer]) -> Sequence[Layer]:
        """The layers of --set; Helm sets it in its values files. values: their layers. raises: BadArgument"""
        words = self._arguments["set"]
        if not words or not isinstance(self._policy, HelmPolicy):
            return [*map(_set_layer, words)]
        files = [one for one in values if type(one.value) is not Unknown]
        return [*set_layers(words, fold(files, ACROSS).value if files else {})]


def _policy(word: str | None, named: PlainFold | None, files: Sequence[str]) -> tuple[str, Sequence[PathRule]]:
    """(Name of the policy, rules for paths) of --policy, which may name a file; without --policy, those of the fold.

    Without both: Terraform's policy if all files are Terraform's, else the default policy.
    """
    if word is None and named is not None:
        return named.policy, named.rules
    if word is None:
        return REPLACE if files and all(map(is_of_terraform, files)) else DEFAULT_POLICY, ()
    if word in NAMES or not (os.path.exists(word) or word.endswith(".toml")):
        return word, ()
    document = read(Path(word))
    fields = Fields(document.tree, document.locator("policy", ""), "the policy")
    one = read_fold(fields)
    fields.finish()
    check_policy(document, one)
    return one.policy, one.rules


def _set_layer(word: str) -> Layer:
    """The layer of one --set. raises: BadArgument"""
    spelled, equals, written = word.partition("=")
    path = parse(spelled)
    if not (equals and path) or not all(isinstance(step, str) for step in path):
        hint = "write --set http.port=8080; a list is set as a whole, and a number that is a key is quoted"
        raise BadArgument(f"--set {spelled} names no value", hint=hint)
    return Layer(tree_with(path, json_or_text(written)), Origin("option", f"--set {spelled}"))


def _fold(question: Question) -> Output:
    asked = question.arguments
    is_report = any(asked[name] for name in ("explain", "blame", "origins", "diff_last", "policies"))
    if is_report and asked["format"] in ("toml", "env"):
        raise BadUsage(f"--format {asked['format']} is for the merged tree")
    if asked["policies"]:
        return Output(ShownPolicies([policy_named(name) for name in NAMES]))
    if not (asked["files"] or asked["name"] or asked["set"]):
        raise BadUsage("there is nothing to fold: name a file, or a fold with --name")
    layers = _Layers(asked)
    question.caller.warn(layers.warnings)
    tree = layers.folded(layers.all)
    report = _report(layers, tree, asked) if is_report else text_of(tree.value, asked["format"])
    paths = [*map(parse, asked["explain"] or ())]
    return Output(report, unread=[*_unread(layers.all, tree, paths)])


def _unread(layers: Sequence[Layer], tree: Folded, paths: Sequence[TreePath]) -> Iterator[Unread]:
    """Yield the unread places that may change the tree; with *paths*, those that may change one of the paths."""
    for path in paths:
        yield from unread_below(tree.trace, path)
        yield from encrypted_at(dig(tree.value, path), path, tree.origins)
    if not paths:
        yield from (unread_layer(one.value, one.origin.at(())) for one in layers if type(one.value) is Unknown)
        yield from encrypted_at(tree.value, (), tree.origins)


def _report(layers: _Layers, tree: Folded, asked: Mapping[str, Any]) -> Report:
    if asked["explain"]:
        return trace_report(tree, map(parse, asked["explain"]))
    if not asked["diff_last"]:
        return BlameReport(tree, asked["blame"])
    *others, last = layers.all
    if not others:
        raise BadArgument("--diff-last compares the last layer with those before it, and there is one only")
    return LastChanges(last.title or last.origin.at(()).name, layers.folded(others), tree)


COMMANDS: Mapping[str, Command] = {
    "": Command(
        "",
        "",
        _ARGUMENTS,
        (
            "base.yaml team.yaml prod.yaml",
            "base.yaml prod.yaml --explain http.port",
            "base.yaml prod.yaml --blame",
            "values.yaml prod.yaml --policy helm --set image.tag=v2 --diff-last",
            "--name site  # [fold.site] of nodeattrs.toml",
        ),
        {
            0: "done",
            1: "an error",
            2: "not understood",
            5: "done, and a layer cannot be read or a value is encrypted",
        },
        _fold,
        ("strict", "output"),
        ("text", "yaml", "json", "toml", "env"),
    )
}
