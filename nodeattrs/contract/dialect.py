"""The contract of a dialect. A dialect is a way to layer configuration, such as Hiera or Ansible.

`Dialect` is its base class, and `Opened` the base class for one version of its files.

The module of a dialect imports no parser and no library; `open` and `check` import what they need. All verbs, pages,
editors and tools work from `Opened` alone. A dialect prints nothing. docs/how-to/own-dialect.md builds one.
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
from nodeattrs.core.tree import leaves
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.reports.findings import Finding

_DATA = (".json", ".yaml", ".yml", ".toml")


class Option(NamedTuple):
    """The option that names the place of a dialect's files: --hiera PLACE. `Request.places` has its value.

    name:    the option: "--hiera"
    metavar: the word for its value in help: "PLACE"
    help:    a phrase for help: "the site of bindings (default: as set, or here)"
    """

    name: str
    metavar: str
    help: str


class CheckedFiles(NamedTuple):
    """Files of one kind that a check has read, and its findings.

    what:  one file of the kind, in words: "cloud-config file"
    total: the number of files
    found: what is wrong or probably not meant; file names are relative to the folder of the check
    fixes: called with findings of *found*, it returns corrected files without some of them. The corrections change no
           value, and nothing is written. By default ()
    """

    what: str
    total: int
    found: Sequence[Finding]
    fixes: Callable[[Container[Finding]], Sequence[Fix]] = lambda wanted: ()


class Opened(ABC):
    """One version of a dialect's files, opened for one question. The base class: a dialect writes a subclass.

    side:    the version of the files
    request: facts, options and overrides of the question
    unread:  what could not be read, or must not run, and may change the last answer; `answer` sets it
    looks:   where the next answer notes what it reads of its subject; a verb sets it. None: nowhere

    The constructor reads nothing. A verb calls `is_there`, then `subjects`, then `answer` for each subject. Only these
    three must be written. `answer` raises NodeattrsError for an unknown subject. An instance may keep what it has read
    for the next subject. The other methods have defaults. `settings` yields the leaves of a JSON, YAML or TOML file,
    and `values_of` raises NotFound; all others return an empty value, None or False.

    warnings:     what was read and is probably not meant; a property, complete after the last answer
    settings:     the paths that a file sets, with their lines
    lines_of:     (line, note) of each line that sets a path, in files that perhaps no subject reads
    unread_lines: the files that `lines_of` did not read
    may_run:      whether code that was not run may run a changed file
    may_have:     whether a subject of the other side may be there, though it is not listed
    covers:       whether a changed file belongs to this dialect
    leaves_out:   whether a changed file sets values that `answer` does not give
    fetches:      whether a changed file names things to fetch that the last answer lacked
    levels:       the names that `what-if --without` takes
    facts_file:   the file with the facts of a subject, or None
    values_of:    a function. It takes a look, a place where another subject's answer read, and returns this subject's
                  value there. Two subjects with equal values may share an answer
    own:          data of one subject alone. If it differs between two sides, the subject shares no answer
    revisions:    subject -> number of its last saved revision
    """

    unread: Sequence[Unread] = ()
    looks: Looks | None = None

    def __init__(self, side: Side, request: Request) -> None:
        self.side, self.request = side, request

    @property
    def notes_looks(self) -> bool:
        """Whether answers note all that they read of their subject, so that subjects may share answers."""
        return False

    @property
    def warnings(self) -> Sequence[object]:
        """What was read and is probably not meant: sentences, errors or findings. Complete after the last answer."""
        return ()

    @property
    @abstractmethod
    def is_there(self) -> bool:
        """Whether the side has any file of this dialect. raises: NodeattrsError"""

    @abstractmethod
    def subjects(self) -> Iterable[str]:
        """The names of the nodes, hosts or releases that `answer` takes; () for none. raises: NodeattrsError"""

    @abstractmethod
    def answer(self, name: str) -> Answered:
        """The values of one subject: kind -> Part. It sets `unread`. raises: NodeattrsError, for an unknown
        subject, too
        """

    def settings(self, file: str) -> Iterator[Setting]:
        """Yield the paths that a file sets, with their lines; nothing for a file of another dialect.

        By default: all leaves of a JSON, YAML or TOML file, and nothing for one that cannot be parsed.
        file: relative to the top of the side
        """
        if not file.endswith(_DATA):
            return
        from nodeattrs.formats.documents import read

        try:
            document = read(self.side.top / file, file)
        except NodeattrsError:
            return
        for path, _ in leaves(document.tree):
            if path:
                yield Setting(path, document.place(path)[0])

    def lines_of(self, path: TreePath) -> Iterable[tuple[Origin, str]]:
        """(line, note) for each line that sets a path in a file that perhaps no subject reads; by default none.

        The note says where the line counts; "" for none. raises: NodeattrsError
        """
        return ()

    def unread_lines(self, path: TreePath) -> Iterable[Unread]:
        """The files of `lines_of` that were not read and may set a path; by default none. raises: NodeattrsError"""
        return ()

    def may_run(self, file: str) -> bool:
        """Whether a file may be run by code that was not run itself, and may set anything; by default no.

        file: relative to the top of the side
        """
        return False

    def may_have(self, name: str) -> bool:
        """Whether a subject may be there though `subjects` does not list it; by default no.

        `impact` asks it about a subject that only the other side lists, and compares the subject if the answer is True.
        """
        return False

    def covers(self, file: str) -> bool:
        """Whether a file belongs to this dialect, read or not; by default no.

        `impact` asks it about a changed file that no subject has read. file: relative to the top of the side
        """
        return False

    def leaves_out(self, file: str) -> bool:
        """Whether a file may set values that `answer` does not give, such as variables of a play; by default no.

        Where such a file changes, `impact` answers that its effect is not known.
        file: relative to the top of the side
        """
        return False

    def fetches(self, file: str) -> bool:
        """Whether a file names things to fetch, such as modules, that the last answer lacked; by default no.

        Where such a file changes, `impact` answers that its effect is not known.
        file: relative to the top of the side
        """
        return False

    def levels(self) -> Iterable[str]:
        """The names of levels that `what-if --without` can leave out; by default none. raises: NodeattrsError"""
        return ()

    def facts_file(self, name: str) -> Path | None:
        """The file with the facts of a subject; None where there is none. raises: NodeattrsError"""
        return None

    def values_of(self, name: str) -> Callable[[Look], Any]:
        """A function that returns the value of a subject for a look: a place where another subject's answer read.

        The two subjects can share an answer if they have equal values for all looks. The function may keep the facts of
        the subject, so use it only while the files stay as they are. It raises a NodeattrsError for a value that cannot
        be read.
        raises: NodeattrsError; by default always NotFound
        """
        raise NotFound(f"{type(self).__name__} notes no looks")

    def own(self, name: str) -> Any:
        """Data that belongs to one subject alone, such as its own files, and its parts of files for several subjects.

        If it differs between two sides, the subject shares no answer with others. By default ().
        raises: NodeattrsError
        """
        return ()

    def revisions(self) -> Mapping[str, int]:
        """Subject -> number of its last revision, for a dialect that starts from saved ones; by default {}."""
        return {}


class FirstSteps(NamedTuple):
    """A hint for a folder that has files of a dialect and no subject.

    found:    what is there, as a sentence without a full stop: "2 cookbooks, and no node"
    commands: commands that lead to a first value, whole lines
    """

    found: str
    commands: Sequence[str]


class Dialect(ABC):
    """A way to layer configuration, such as Hiera. The base class: a dialect writes a subclass without state.

    Only the method `open` and the field `name` must be written. All others have defaults that add nothing.

    Methods:
    open:        an `Opened` for one side of the files; it reads nothing yet
    check:       the files that a check has read, with its findings
    ways_on:     lines of advice for a folder without anything to check
    commands:    word -> command, of the commands of the dialect that are called as `nodeattrs COMMAND WORD`
    top:         the command of a name in *tops*; by default the one in `commands`
    options:     further arguments of its commands that are verbs
    complete:    the values that an argument may have, for completion in a shell
    platform:    the file with the facts of a platform, or None
    first_steps: what to type in a folder with files and without subjects, or None

    Fields:
    name:        the name in commands and reports: "hiera"
    noun:        the word for one of its subjects: "node", "host"
    option:      the option that names the place of its files; None: there is no option
    needs_facts: whether an answer without the facts of its subject may be wrong, and is reported so
    facts_choose_files: whether facts decide which files a subject reads
    command:     the word of its commands on the command line. "": a built-in dialect without such commands
    checks_settings: whether its `check` also reports faults of nodeattrs.toml. It then runs even if that file is wrong
    kinds:       what `nodeattrs list` can list beside subjects: "roles"; `complete` gives the names
    tops:        name -> summary, of the commands of a built-in dialect that are called as `nodeattrs NAME`
    found_upwards: the name of a file. The nearest folder at or above the current one with this file is the repository.
                   "": folders above are not searched
    project:     names of files. If the current folder has a file with such a name, a command needs trust in the
                 repository of the current folder, too
    summary, description: texts for the help of `command`
    examples:    lines for that help, without "nodeattrs" at their beginning. A line with "nodeattrs" elsewhere is
                 printed as it is
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
        """The files of one side, opened for a request. Nothing is read yet."""

    def platform(self, name: str) -> Path | None:
        """The file with the facts of a platform, such as debian-12; None where the dialect has no such files.

        raises: NotFound, for a platform that it does not have
        """
        return None

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """Check the files of a folder; () where it has none of this dialect.

        Code of the repository runs only where `core.code.may_run` allows it.
        count:  a function to call with the name of each file that is read
        raises: MissingExtra
        """
        return ()

    def ways_on(self, folder: Path) -> Iterable[str]:
        """Lines about what to do in a folder where no dialect found anything to check; () for no such advice."""
        return ()

    def first_steps(self, folder: Path) -> FirstSteps | None:
        """What to type in a folder that has files of the dialect and no subject; None for a folder without files of it.

        It is called for help, so it may read only a few files.
        """
        return None

    def commands(self) -> Mapping[str, Command]:
        """Word -> command of its own commands, beside the verbs: `nodeattrs NAME WORD`; {} for none.

        The word "" is for a dialect with one command: `nodeattrs NAME ARGUMENTS`. Its help has the summary and
        description of the dialect.
        """
        return {}

    def top(self, name: str) -> Command | CommandGroup:
        """The command of a name in `tops`, loaded at this call; by default the one in `commands`.

        raises: KeyError, by default, for a name that is not in `commands`
        """
        return self.commands()[name]

    def options(self) -> Sequence[Argument]:
        """Further arguments of its commands that are verbs; their values are in `Request.options`."""
        return ()

    def complete(self, noun: str, arguments: Mapping[str, Any]) -> Iterable[str]:
        """The values that an argument of its commands may have, in any order, for completion in a shell; () for none.

        No code of the repository may run.
        noun:      the "metavar" of the argument: "KEY", "HOST", "VAR"; or one of `kinds`
        arguments: name -> value of the words that are there already, and defaults
        raises:    NodeattrsError
        """
        return ()
