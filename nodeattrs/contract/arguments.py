"""Arguments that several commands share. Each constant is an `Argument`, or a tuple of them to add to a command.

`argument_values` parses what is given for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from nodeattrs.contract.argument import Argument

FORMATS = ("text", "json", "yaml")

OUTPUT = "output"
"""The group of the options that every command has: help names them, and explains them in docs/cli.md."""

REPO_HELP = "the repository (default: NODEATTRS_REPO, else the nearest nodeattrs.toml, else this folder)"


ALLOWED_PATHS = (
    Argument(
        ("--allow-path",),
        "files below DIR may be read where the repository names them; may be repeated (default: only files of "
        "the repository, or of the Git work tree around it)",
        {"metavar": "DIR", "action": "append"},
    ),
)
"""The option for folders outside of the repository whose files the repository may name."""


BUDGET = (
    Argument(
        ("--budget",),
        "what one document, lookup, merge or query may take at most: steps, values, bytes, depth or seconds; "
        "may be repeated (default: [limits] in nodeattrs.toml)",
        {"metavar": "LIMIT=N", "action": "append"},
    ),
    *ALLOWED_PATHS,
)
"""The options for limits on one document, lookup, merge or query, and `ALLOWED_PATHS`."""


UNREAD = (
    Argument(
        ("--allow-unknown",),
        "no exit code 5 where something that was not read may change the answer; it is named all the same",
        {"action": "store_true"},
    ),
    Argument(
        ("--unread",), "a line for each place that was not read (default: for each kind)", {"action": "store_true"}
    ),
)
"""The options for places that were not read and may change the answer."""


TEXT = tuple(
    one._replace(group=OUTPUT)
    for one in (
        Argument(("--traceback",), "print the traceback of an error", {"action": "store_true"}),
        *UNREAD,
        *BUDGET,
    )
)
"""The options of every output, also of a command that has a format of its own."""


STORE = (
    Argument(
        ("--store",), "a .db file or a URL (default: nodeattrs.toml, or .nodeattrs/nodes.db)", {"metavar": "PLACE"}
    ),
)
"""The option for the store of saved nodes."""


STRICT = (Argument(("--strict",), "fail where an unreadable layer may decide", {"action": "store_true"}),)
"""The option that makes an unknown layer which may decide an error."""


AT = (
    Argument(
        ("--at",),
        "a revision, 7, or a time: 2030-01-31, 2030-01-31T12:00Z",
        {"metavar": "WHEN"},
    ),
)
"""The option for a revision by number or time; `argument_values.revision_or_time` parses it."""


ALL_NAMES = Argument(
    ("--all-names",), "name all nodes of each group (default: 10, and how many more)", {"action": "store_true"}
)

ENV_PREFIX = Argument(
    ("--env-prefix",),
    "then the variables with this beginning, also in .env files: with APP_, APP_DB__PORT sets db.port",
    {"metavar": "PREFIX"},
)
NESTED = Argument(("--nested",), "the text between keys in such a name (default: __)", {"metavar": "TEXT"})


NO_SHARING = Argument(("--no-sharing",), "share no answers: compute each subject", {"action": "store_true"})

RUBY = (
    Argument(
        ("--ruby",),
        "run code in Ruby too, with `ruby`",
        {"action": "store_true"},
    ),
)
"""The option that runs attribute files in Ruby."""


SETTINGS_FROM = (
    Argument(
        ("--repo",),
        "whose nodeattrs.toml counts (default: NODEATTRS_REPO, else the nearest one here or above)",
        {"metavar": "DIR"},
    ),
)
"""The option for the folder whose settings count, for a command that runs nothing."""


RUN_CODE = (
    Argument(
        ("--run-code",),
        "run Python code of the repository and packages",
        {"action": "store_true"},
    ),
)
"""The option that lets a command run code that documents name."""


SOURCES = (
    Argument(
        ("--sources",),
        "the folder with the lines of saved values (default: the repository that was run)",
        {"metavar": "DIR"},
    ),
)
"""The option for the folder in which the sources of saved values are looked for."""


def output(forms: Sequence[str] = FORMATS, also: Sequence[str] = ()) -> tuple[Argument, ...]:
    """The options of every output: format, colour, tracebacks, limits, unread places.

    forms: the formats, the default first; also: further formats of this command
    """
    form = {"choices": (*forms, *also), "default": forms[0]}
    color = {"choices": ("auto", "always", "never"), "default": "auto"}
    return (
        Argument(("--format", "-F"), f"for people, or as data (default: {forms[0]})", form, OUTPUT),
        Argument(("--color",), "auto: on a terminal, unless NO_COLOR is set (default)", color, OUTPUT),
        *TEXT,
    )
