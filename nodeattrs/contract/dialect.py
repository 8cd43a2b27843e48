"""The contract of a dialect: what a way to layer configuration gives, so that every verb can ask it.

A dialect is a light object: its module imports no parser and no library. `open` and `check` import what they need.
From `Opened` alone follow why, where, blame, list, matrix, diff, impact, what-if, the editor's hover, the pages and the
tools of `nodeattrs mcp`. A dialect prints nothing and writes no HTML. docs/how-to/own-dialect.md builds one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from nodeattrs.contract.answers import Answered, Setting, Unread
from nodeattrs.contract.command import Argument, Command, CommandGroup
from nodeattrs.contract.fixes import Fix
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.core.claim import Origin
from nodeattrs.core.looks import Look, Looks
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.reports.findings import Finding

_DATA = (".json", ".yaml", ".yml", ".toml")


class Option(NamedTuple):
    """The option that names the place of a dialect's files: --hiera PLACE."""

    name: str
    metavar: str
    help: str


class CheckedFiles(NamedTuple):
    """What a check looked at.

    what:  one of them, as a word: "cloud-config file"
    total: how many there are
    found: what is wrong or probably not meant, with files as they are seen from the folder
    fixes: the files that can be corrected without changing a value, for some of the findings
    """

    what: str
    total: int
    found: Sequence[Finding]
    fixes: Callable[[Container[Finding]], Sequence[Fix]] = lambda wanted: ()


class Opened(ABC):
    """One side of a question, opened by a dialect. It reads nothing before it is asked.

    It may keep what it has read for the next subject. The verbs open it anew where they need to know what one answer
    has read.
    """

    unread: Sequence[Unread] = ()
    """What could not be read, or must not run, and may change the last answer."""

    looks: Looks | None = None
    """Where the next answer notes what it looks at of its subject; None: nowhere. See `contract.sharing`."""

    notes_looks: bool = False
    """Whether answers note everything that they look at of their subject, so that others may share them."""

    def __init__(self, side: Side, request: Request) -> None:
        self.side, self.request = side, request

    @property
    def warnings(self) -> Sequence[object]:
        """What was read, and is probably not meant: sentences, errors or findings. Complete after the last answer."""
        return ()

    @property
    @abstractmethod
    def is_there(self) -> bool:
        """Whether the side has anything of this dialect. raises: NodeattrsError"""

    @abstractmethod
    def subjects(self) -> Iterable[str]:
        """The names of the nodes, hosts, releases that can be asked. raises: NodeattrsError"""

    @abstractmethod
    def answer(self, name: str) -> Answered:
        """The values of one subject. raises: NodeattrsError"""

    def settings(self, file: str) -> Iterator[Setting]:
        """The paths that a file of the side sets, with their lines. file: below the top of the side

        This one gives all leaves of a JSON, YAML or TOML file, and nothing for a file that cannot be parsed.
        """
        if not file.endswith(_DATA):
            return
        from nodeattrs.formats.documents import read  # parsers, which a list of dialects does not need

        try:
            document = read(self.side.top / file, file)
        except NodeattrsError:
            return
        for path in _leaves(document.tree, ()):
            if path:
                yield Setting(path, document.place(path)[0])

    def lines_of(self, path: TreePath) -> Iterable[tuple[Origin, str]]:
        """The lines that set a path in files that perhaps no subject reads, each with a note or "".

        The note says where the line counts. raises: NodeattrsError
        """
        return ()

    def unread_lines(self, path: TreePath) -> Iterable[Unread]:
        """What was not read among the files of `lines_of`, and may set a path. raises: NodeattrsError"""
        return ()

    def may_run(self, file: str) -> bool:
        """Whether code that was not run, and may set anything, may run a file. file: below the top of the side"""
        return False

    def covers(self, file: str) -> bool:
        """Whether a file belongs to this dialect, read or not. file: below the top of the side

        `impact` asks this about a changed file that no subject has read.
        """
        return False

    def leaves_out(self, file: str) -> bool:
        """Whether a file may set values that `answer` does not give, such as variables of a play.

        Where such a file changes, `impact` answers that its effect is not known.
        file: below the top of the side
        """
        return False

    def levels(self) -> Iterable[str]:
        """The names of levels that `what-if --without` can leave out. raises: NodeattrsError"""
        return ()

    def facts_file(self, name: str) -> Path | None:
        """The file with the facts of a subject, or None. raises: NodeattrsError"""
        return None

    def look(self, name: str, look: Look) -> Any:
        """What a subject has where an answer looked: equal values stand for equal things. raises: NodeattrsError"""
        raise NotFound(f"{type(self).__name__} notes no looks")

    def own(self, name: str) -> Any:
        """What only one subject has and `look` reads: equal on two sides if a change is none of its own.

        Marks of its files, there or not, and what files of several subjects say of it. raises: NodeattrsError
        """
        return ()

    def revisions(self) -> Mapping[str, int]:
        """Subject -> the number of its last revision, for a dialect that starts from saved ones."""
        return {}


class FirstSteps(NamedTuple):
    """What lies in a folder without subjects, and the commands that lead to a first value there.

    found: a sentence without a full stop: "2 cookbooks, and no node"
    """

    found: str
    commands: Sequence[str]


class Dialect(ABC):
    """A way to layer configuration.

    name: how commands and reports call it: "hiera"
    noun: what a subject is, in one word: "node", "host"
    needs_facts: whether an answer without facts of its subject is doubtful
    facts_choose_files: whether facts decide which files a subject reads
    command:     the word of its commands on the command line; "" for a built-in dialect without such commands
    checks_settings: whether its `check` reports what is wrong in nodeattrs.toml, and runs where that cannot be read
    kinds:       what `nodeattrs list` can list beside subjects: "roles"; `complete` has the names
    tops:        the commands of a built-in dialect that stand beside the verbs, `nodeattrs NAME`: name -> summary
    found_upwards: a file that makes the nearest folder above the current one the repository that is asked; "" for none
    project:     what makes the current folder a part of what is asked, beside the files that a command names
    summary, description, examples: what the help of that command says; an example is a line without "nodeattrs"
        at its beginning; a line that has it elsewhere is printed as it is
    """

    name: ClassVar[str]
    noun: ClassVar[str] = "node"
    option: ClassVar[Option | None] = None
    needs_facts: ClassVar[bool] = False
    facts_choose_files: ClassVar[bool] = False
    command: ClassVar[str] = ""
    checks_settings: ClassVar[bool] = False
    kinds: ClassVar[Sequence[str]] = ()
    tops: ClassVar[Mapping[str, str]] = {}
    found_upwards: ClassVar[str] = ""
    project: ClassVar[Sequence[str]] = ()
    summary: ClassVar[str] = ""
    description: ClassVar[str] = ""
    examples: ClassVar[Sequence[str]] = ()

    @abstractmethod
    def open(self, side: Side, request: Request) -> Opened:
        """One version of the files."""

    def platform(self, name: str) -> Path | None:
        """The file with the facts of a platform, such as debian-12; None where the dialect has no such files.

        raises: NotFound, for a platform that it does not have
        """
        return None

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """What is wrong in a folder. Code of it runs where `core.code.may_run` says so. raises: MissingExtra

        count: called with the name of each file
        """
        return ()

    def ways_on(self, folder: Path) -> Iterable[str]:
        """What to do in a folder where no dialect found anything to check, a line each."""
        return ()

    def first_steps(self, folder: Path) -> FirstSteps | None:
        """What to type in a folder that has files of the dialect and no subject; None where it has none.

        It may read a few files, and takes no time that a person notices.
        """
        return None

    def commands(self) -> Mapping[str, Command]:
        """Its own commands, beside the verbs: `nodeattrs NAME COMMAND`.

        A command under the key "" is the only one, and has no action: `nodeattrs NAME ARGUMENTS`. The help of it has
        the summary and description of the dialect.
        """
        return {}

    def top(self, name: str) -> Command | CommandGroup:
        """The command of a name in `tops`, which has its summary: help that names all commands opens none of them."""
        return self.commands()[name]

    def options(self) -> Sequence[Argument]:
        """What the verbs among its commands take: which files are meant, and who is asked. They come in the request."""
        return ()

    def complete(self, noun: str, arguments: Mapping[str, Any]) -> Iterable[str]:
        """What an argument of its commands may be, in any order; for shells. No code may run. raises: NodeattrsError

        noun:      the "metavar" of the argument: "KEY", "HOST", "VAR"; or one of `kinds`
        arguments: name -> value, of the words that are already there, and defaults
        """
        return ()


def _leaves(tree: Any, path: TreePath) -> Iterator[TreePath]:
    """The paths that end: lists are one value."""
    if isinstance(tree, dict) and tree:
        for step, entry in tree.items():
            yield from _leaves(entry, (*path, step))
    else:
        yield path
