"""The tables of the verbs as declared commands: `TOP` for `nodeattrs why`, `OF_DIALECT` for `nodeattrs DIALECT why`.

Help and completion read these tables. The module of a verb is imported when the verb runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from nodeattrs.contract.arguments import ALL_NAMES, ENV_PREFIX, NESTED, NO_SHARING
from nodeattrs.contract.command import Argument, Command, Output, PlainReport, Question

_EXITS = {
    0: "done",
    1: "it could not be done",
    2: "not understood",
    5: "done, and what was not read may matter",
}
_OF_SOME = Argument(
    ("--on",), "only this node, host or set; may be repeated", {"metavar": "SUBJECT", "action": "append"}
)
_KEY = Argument(("key",), 'keys joined by dots; odd ones are quoted: app.ports."80"', {"metavar": "KEY"})


def _list(question: Question) -> Output:
    from nodeattrs.verbs.asking import Subjects

    names = Subjects(question).names
    text = [f"{dialect}  {name}".rstrip() for dialect, some in names.items() for name in some]
    return Output(PlainReport(text, {"version": 1, "subjects": names}))


def _why(question: Question) -> Output:
    from nodeattrs.verbs.why import why

    return why(question)


def _overview(question: Question) -> Output:
    from nodeattrs.verbs.overview import overview

    return overview(question)


def _where(question: Question) -> Output:
    from nodeattrs.verbs.where import where

    return where(question)


def _blame(question: Question) -> Output:
    from nodeattrs.verbs.values import blame

    return blame(question)


def _matrix(question: Question) -> Output:
    from nodeattrs.verbs.values import matrix

    return matrix(question)


def _diff(question: Question) -> Output:
    from nodeattrs.verbs.values import diff

    return diff(question)


TOP: Mapping[str, Command] = {
    "overview": Command(
        "name what lies in a folder, and commands to type next",
        "List the nodes, hosts, charts and user-data that lie in a folder, and three commands that work there.\n"
        "`nodeattrs` without arguments is the same. It needs no settings, and no code of the repository runs.",
        [],
        ["overview", "overview --repo cookbooks_example"],
        _EXITS,
        _overview,
    ),
    "why": Command(
        "name the line that set a value, and what it overrode",
        "Name the file and line that set a value, what it overrides, and the rule. Every dialect of the folder is\n"
        "asked. Subjects with the same reasons are printed together. No code of the repository runs without\n"
        "--run-code.",
        [
            _KEY,
            Argument(
                ("files",),
                "files in their order, the weakest first, instead of a folder",
                {"metavar": "FILE", "nargs": "*"},
            ),
            Argument(
                ("--policy",),
                "how the files are merged (default: as Helm, Compose, or `nodeattrs fold` merge files of these names)",
                {"metavar": "POLICY"},
            ),
            ENV_PREFIX,
            NESTED,
            _OF_SOME,
        ],
        [
            "why http.port base.yaml prod.yaml",
            "why app.workers",
            "why app.workers --on web1 --run-code",
            "why ntp::servers --facts facts/",
        ],
        _EXITS,
        _why,
    ),
    "where": Command(
        "name where a line wins, and what overrides it elsewhere",
        "Name what a line of a file sets, where that value is read, and what overrides it elsewhere. FILE alone means\n"
        "all of its lines, the key of a map the lines below it; --key means all lines that set a key. No code of the\n"
        "repository runs without --run-code.",
        [
            Argument(("place",), "a file, or one line of it", {"metavar": "FILE[:LINE]", "nargs": "?"}),
            Argument(("--key",), "all lines that set this key", {"metavar": "KEY"}),
            ENV_PREFIX,
            NESTED,
            _OF_SOME,
            NO_SHARING,
        ],
        ["where roles/web.json", "where data/common.yaml:3 --facts facts/", "where --key app.workers"],
        _EXITS,
        _where,
    ),
    "blame": Command(
        "print all values of a subject, each with file and line",
        "Print the merged values of a node, a host or a set, each followed by the line that set it. No code of the\n"
        "repository runs without --run-code.",
        [Argument(("subject",), "a node, host or set (default: all)", {"metavar": "SUBJECT", "nargs": "?"})],
        ["blame web1 --run-code", "blame --dialect folds"],
        _EXITS,
        _blame,
    ),
}
"""The commands that ask every dialect."""

OF_DIALECT: Mapping[str, Command] = {
    "list": Command("list the subjects", "List the subjects, one a line.", [], ["list"], _EXITS, _list),
    **{name: one for name, one in TOP.items() if name != "overview"},
    "explain": TOP["why"],
    "matrix": Command(
        "print the values that a key has, each with the subjects that have it",
        "Group the subjects by the value of a key, the largest group first, with the lines that set it.",
        [_KEY, ALL_NAMES, NO_SHARING],
        ["matrix app.workers"],
        _EXITS,
        _matrix,
    ),
    "diff": Command(
        "compare two subjects",
        "Compare two subjects: each value that differs, with the line that set it on either side.",
        [
            Argument(("before",), "a subject", {"metavar": "SUBJECT"}),
            Argument(("after",), "another one", {"metavar": "OTHER"}),
            Argument(("--path",), "only what is there", {"metavar": "PATH"}),
        ],
        ["diff web1 web2"],
        _EXITS,
        _diff,
    ),
}
"""The commands that a dialect of an installed package gets: `nodeattrs NAME matrix KEY`."""
