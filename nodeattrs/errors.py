"""Every error this library raises.

The text of an error says what could not be done, and where. It names the source of each side, and the way out if there
is one. The same facts are attributes, so a program need not parse the text.

    NodeattrsError
    ├── AttributeIsReadOnly       (also TypeError)      a write through a merged view
    ├── NoSuchAttribute           (also KeyError)       nothing at that path
    │   └── NoSuchElement         (also IndexError)     no such index in a list
    ├── TypeConflict              (also TypeError)      a step or store into a scalar or list
    │   └── NullInTheWay                                the same, into null or into nothing
    ├── BadArgument               (also ValueError)     a call that cannot mean anything
    │   └── BadUsage                                    options of a command that do not go together; exit code 2
    ├── BadKey, BadValue          (also TypeError)      what a tree cannot hold
    │   └── TooDeep                                     deeper than 500 levels, or a cycle
    ├── UnknownName               (also AttributeError) a name that older documents mention
    ├── WordNotKnownHere          (also ImportError)    a word of cookbook files, in the wrong place
    ├── DeferredCycle             (also RecursionError) a lazy value that needs itself
    ├── ValueWithheld                                   a Sensitive value that was not stored
    ├── PolicyError               (also ValueError)     a merge policy that contradicts itself
    ├── MergeConflict             (also ValueError)     two values that a policy refuses to join
    ├── UnknownLayer              (also LookupError)    strict, and a layer that might decide cannot be read
    ├── DocumentError             (also ValueError)     a file that cannot be read as what it should be
    │   ├── UnknownField                                a field with an unknown name (a warning's twin)
    │   └── TooMuch                                     what is read or asked takes more than a limit allows
    ├── InvalidSettings           (also ValueError)     values that do not fit the class of a program's settings
    ├── RunListError              (also ValueError)
    │   ├── InvalidRunListItem
    │   ├── AmbiguousRunList
    │   └── CookbookVersionConflict
    ├── NotFound                  (also LookupError)
    │   ├── RoleNotFound
    │   ├── EnvironmentNotFound
    │   ├── CookbookNotFound
    │   ├── AttributeFileNotFound
    │   ├── RecipeNotFound
    │   ├── PolicyNotFound
    │   ├── FoldNotFound
    │   ├── NoFileFits
    │   ├── NodeNotFound
    │   ├── NoRevision
    │   └── DataBagItemNotFound
    ├── CannotDecrypt             (also ValueError)     an encrypted value, and no secret or a wrong one
    ├── RecipeFailed                                    cookbook code raised
    ├── StoreError                (also OSError)        a store that cannot be read or written
    ├── FleetError                                      many nodes on many machines, and one thing for all has gone
    ├── BadName                   (also ValueError)     a name from outside that must not become a path
    ├── MissingExtra              (also ImportError)    an optional library is not installed
    └── InternalError                                   our own bug; please report it

Each class declares its code in `entry`. This module imports nothing of ours but `codes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nodeattrs.codes import Kind, NoKind, declared

Path = tuple[Any, ...]


class NodeattrsError(Exception):
    """The base class of all errors. Its text is the message, then the details and the hint, each on an indented line.

    message:      one sentence
    path:         the steps to the attribute; None if the error is about no attribute
    origins:      the source of each side; each prints as "file:line (who)". The text does not have them
    details:      further lines
    hint:         what the user can do, one line; None for nothing
    kind:         a word for one of several reasons for which the class is raised; "" for a class with one reason
    may_be_there: True: the thing was not found, but an unread place may have it
    entry:        the declaration of its code; a subclass may inherit it
    code:         the code, such as "NA0102": of *kind* if that is a `Kind`, else of *entry*

    The last four are no arguments of this class. *kind* and *may_be_there* are class attributes; code that raises an
    error may set them on the object. *entry* is only set on classes. `coded()` returns the text with the code after its
    first line.
    """

    entry = declared(
        "NA0001",
        "NodeattrsError",
        cause=("The machine refused something, such as a write to a full disk."),
        example="nodeattrs show web1 > /dev/full",
        way_out="Correct what the message names, and call again.",
    )

    kind: Kind | NoKind = ""
    may_be_there = False

    def __init__(
        self,
        message: str,
        *,
        path: Path | None = None,
        origins: Sequence[object] = (),
        details: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.origins = tuple(origins)
        self.details = tuple(details)
        self.hint = hint

    def coded(self) -> str:
        """The text of the error, with its code behind the first line: "... [NA0102]"."""
        first, *rest = str(self).splitlines() or [""]
        return "\n".join([f"{first} [{self.code}]", *rest])

    def __str__(self) -> str:
        lines = [self.message]
        lines += [f"  {sentence}" for sentence in self.details]
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join(lines)

    @property
    def code(self) -> str:
        """The code of its kind, else of its class: "NA0102". A kind that is a plain text counts as none."""
        entry = self.kind.entry if isinstance(self.kind, Kind) else self.entry
        return entry.code

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[NodeattrsError], args: tuple[Any, ...], facts: dict[str, Any]) -> Any:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(facts)
    return error


class AttributeIsReadOnly(NodeattrsError, TypeError):
    """A write through a merged view; the hint shows the line to write instead."""

    entry = declared(
        "NA0101",
        "AttributeIsReadOnly",
        cause="A write through a merged view.",
        example='node["app"]["port"] = 80',
        way_out='Write to a level: `node.default["app"]["port"] = 80`.',
    )


class NoSuchAttribute(NodeattrsError, KeyError):
    """The path is not set; the hint names similar paths that are."""

    entry = declared(
        "NA0102",
        "NoSuchAttribute",
        cause="The path is not set.",
        example="nodeattrs explain web1 app.worker",
        way_out="The hint names near misses; `nodeattrs show web1` prints what there is.",
    )

    __str__ = NodeattrsError.__str__


class NoSuchElement(NoSuchAttribute, IndexError):
    """An index past the end of a list."""

    entry = declared(
        "NA0103",
        "NoSuchElement",
        cause="A list is shorter than the index.",
        example='node["app"]["ports"][7]',
        way_out="Count from 0, or ask with `read`, which gives None.",
    )


class TypeConflict(NodeattrsError, TypeError):
    """A path leads into a text or a number, or into a list by a key that is no index."""

    entry = declared(
        "NA0104",
        "TypeConflict",
        cause="A step or store into a text, a number or a list.",
        example='node.default["port"] = 80; node.default["port"]["ssl"] = 443',
        way_out="Remove the value there, or choose another path.",
    )


class NullInTheWay(TypeConflict):
    """A path leads into null, or below a path that is not set."""

    entry = declared(
        "NA0105",
        "NullInTheWay",
        cause="A step or a store into null.",
        example='node["nothing"]["below"]',
        way_out="Ask with `read` or `dig`, which give None, or set the map first.",
    )


class BadArgument(NodeattrsError, ValueError):
    """A call that cannot mean anything, such as removing the empty path."""

    entry = declared(
        "NA0004",
        "BadArgument",
        cause="A call, an option or a setting has a value that is not allowed.",
        example="nodeattrs show web1 --at yesterday",
        way_out="The message says what was given and what is wanted.",
    )


class BadUsage(BadArgument):
    """Options of a command that do not go together, or one that is missing. The command line ends with exit code 2."""

    entry = declared(
        "NA0002",
        "BadUsage",
        cause=("An option or argument is unknown, missing, or excludes another."),
        example="nodeattrs show",
        way_out="`nodeattrs COMMAND --help` lists what the command takes.",
    )


class BadKey(NodeattrsError, TypeError):
    """A key that is neither text nor an integer."""

    entry = declared(
        "NA0106",
        "BadKey",
        cause="A key that is neither text nor a whole number.",
        example="node.default[1.5] = 1",
        way_out="Use text.",
    )


class BadValue(NodeattrsError, TypeError):
    """A value that a tree of attributes cannot hold."""

    entry = declared(
        "NA0107",
        "BadValue",
        cause="A value that attributes, or the output format, cannot hold.",
        example='node.default["a"] = object()',
        way_out="Use JSON's values: maps, lists, texts, numbers, true, false, null.",
    )


class TooDeep(BadValue):
    """Deeper than 500 levels, or a container that holds itself."""

    entry = declared(
        "NA0108",
        "TooDeep",
        cause="Deeper than 500 levels, or a container that holds itself.",
        example='a = []; a.append(a); node.default["a"] = a',
        way_out="Break the ring, or keep the inner part as text.",
    )


class UnknownName(NodeattrsError, AttributeError):
    """An attribute of an object that only other tools or older versions have; the hint shows the line to write."""

    entry = declared(
        "NA0007",
        "UnknownName",
        cause="A name that other tools, or older documents, mention and that is not here.",
        example='node.set["a"] = 1',
        way_out="The hint shows the line to write.",
    )


class WordNotKnownHere(NodeattrsError, ImportError):  # type: ignore[misc]  # ImportError has a path of its own
    """A word of cookbook files, such as `default`, was used outside of a run or in the wrong kind of file."""

    entry = declared(
        "NA0109",
        "WordNotKnownHere",
        cause="A word of cookbook files is used outside of a run, or in the wrong file.",
        example='python -c "from nodeattrs.recipe import default"',
        way_out="Write it into a recipe or an attribute file.",
    )


class DeferredCycle(NodeattrsError, RecursionError):
    """A lazy value that reads itself while it is computed."""

    entry = declared(
        "NA0110",
        "DeferredCycle",
        cause="A deferred value that needs itself to be known.",
        example='node.default["a"] = lazy(lambda node: node["a"])',
        way_out="Let one of them be a plain value.",
    )


class ValueWithheld(NodeattrsError):
    """Read of a Sensitive value that was not saved; it has to be set again in this run."""

    entry = declared(
        "NA0111",
        "ValueWithheld",
        cause="A sensitive value that no document keeps.",
        example='a recipe that uses node["db"]["password"] of an earlier run',
        way_out="Set it again in this run.",
    )


class PolicyError(NodeattrsError, ValueError):
    """A merge policy that contradicts itself, found when it is built."""

    entry = declared(
        "NA0201",
        "PolicyError",
        cause="A merge policy, or a rule for a path, contradicts itself.",
        example='fold([a, b], rules={"users": "sideways"})',
        way_out="The message names the rule and the known words.",
    )


class MergeConflict(NodeattrsError, ValueError):
    """Two values that a policy refuses to join."""

    entry = declared(
        "NA0202",
        "MergeConflict",
        cause="Two values that a policy refuses to join.",
        example='a merge of the text "a" into the list [1] under append',
        way_out="Give both the same kind, or choose another policy for the path.",
    )


class UnknownLayer(NodeattrsError, LookupError):
    """With *strict*: a layer that may decide the answer cannot be read."""

    entry = declared(
        "NA0203",
        "UnknownLayer",
        cause="With --strict: an unreadable layer might decide the answer.",
        example="nodeattrs explain web1 app.port --strict",
        way_out="Make the layer readable, or ask without --strict.",
    )


class DocumentError(NodeattrsError, ValueError):
    """A file or text that cannot be parsed, or has a wrong value. A warning about a file is an instance, too.

    reason:             the message without the place, which the text of the error has before it
    file, line, column: the place; each is None where it is not known. Lines and columns count from 1
    path:               the steps to the wrong value; None if the error is about no value
    hint, details:      as for `NodeattrsError`
    kind:               of a warning: "repeated-key", ...; `nodeattrs codes` lists them
    """

    entry = declared(
        "NA0301",
        "DocumentError",
        cause="A file or text cannot be read as its format.",
        example='{"default": {"port": 80}',
        way_out="The message names the place, and the hint what was expected.",
    )

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        path: Path | None = None,
        hint: str | None = None,
        details: Iterable[str] = (),
        kind: Kind | NoKind = "",
    ) -> None:
        where = ":".join(str(part) for part in (file, line, column) if part is not None)
        where = "\\n".join(where.splitlines())  # else a file's name could begin a line of a log
        super().__init__(f"{where}: {message}" if where else message, path=path, hint=hint, details=details)
        self.reason = message
        self.file = file
        self.line = line
        self.column = column
        self.kind = kind


class UnknownField(DocumentError):
    """A field with an unknown name; usually given as a warning."""

    entry = declared(
        "NA0302",
        "UnknownField",
        cause="A field with an unknown name; it is ignored.",
        example='{"name": "web", "run_lists": ["recipe[app]"]}',
        way_out="Write one of the names in the hint, or remove the field.",
    )


class TooMuch(DocumentError):
    """An input, or the work for an answer, is larger than a limit of the budget.

    `Budget.exceeded` makes the error with a hint that says how to raise the limit; the constructor adds no hint.
    message: the limit that was exceeded, in words
    limit:   its name: "steps", "values", "bytes", "depth" or "seconds"
    facts:   further keyword arguments of `DocumentError`, such as *file* and *hint*

    `located` returns a copy for another place, without details.
    """

    entry = declared(
        "NA0310",
        "TooMuch",
        cause="The input exceeds a limit.",
        example="a document of a few bytes whose aliases stand for millions of values",
        way_out="Make it smaller, or raise the limit: --budget, or [limits] in nodeattrs.toml.",
    )

    def __init__(self, message: str, *, limit: str, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.limit = limit

    def located(self, file: str | None, line: int | None = None, column: int | None = None) -> TooMuch:
        """A copy of the error with the given place, and without details."""
        return TooMuch(self.reason, limit=self.limit, file=file, line=line, column=column, hint=self.hint)


class InvalidSettings(NodeattrsError, ValueError):
    """Settings of a Python program that do not fit the class that they are for; no value is in the message."""

    entry = declared(
        "NA0337",
        "InvalidSettings",
        cause="A value of a file or a variable does not fit the class of the settings.",
        example='load(Settings, ["prod.yaml"]) with port: eighty',
        way_out="The message names the line or the variable, and what the class takes.",
    )


class RunListError(NodeattrsError, ValueError):
    """A run-list that cannot be read or expanded."""

    entry = declared(
        "NA0401",
        "RunListError",
        cause="A run-list that cannot be read or expanded.",
        example='--run-list "role[web"',
        way_out="Write recipe[NAME], recipe[NAME::PART] or role[NAME].",
    )


class InvalidRunListItem(RunListError):
    """An item that is no recipe[...], role[...] or bare recipe name."""

    entry = declared(
        "NA0402",
        "InvalidRunListItem",
        cause="An item that is no recipe[...], role[...] or bare recipe name.",
        example='--run-list "rolle[web]"',
        way_out="Write recipe[NAME], recipe[NAME::PART] or role[NAME].",
    )


class AmbiguousRunList(RunListError):
    """A document with both `run_list` and `recipes`."""

    entry = declared(
        "NA0403",
        "AmbiguousRunList",
        cause="A document with both `run_list` and `recipes`.",
        example='{"run_list": ["role[web]"], "recipes": ["app"]}',
        way_out="Keep run_list.",
    )


class CookbookVersionConflict(RunListError):
    """One cookbook is needed in two versions, or in a version that does not exist."""

    entry = declared(
        "NA0404",
        "CookbookVersionConflict",
        cause="One cookbook is needed in two versions, or in a missing one.",
        example='depends: {"base": ">= 2.0"} where base is 1.4.0',
        way_out="Change the constraint, or the version in the cookbook's metadata.",
    )


class NotFound(NodeattrsError, LookupError):
    """A file, folder or name does not exist."""

    entry = declared(
        "NA0405",
        "NotFound",
        cause="A file, folder or name does not exist.",
        example="nodeattrs run --repo nosuch",
        way_out="Check the name; the hint has near misses.",
    )


class RoleNotFound(NotFound):
    """A role on a run-list that does not exist."""

    entry = declared(
        "NA0406",
        "RoleNotFound",
        cause="A role that does not exist.",
        example='--run-list "role[wbe]"',
        way_out="Write roles/NAME.json, .yaml or .py, or correct the name.",
    )


class EnvironmentNotFound(NotFound):
    """An environment that does not exist."""

    entry = declared(
        "NA0407",
        "EnvironmentNotFound",
        cause="An environment that does not exist.",
        example="nodeattrs run -E prodution",
        way_out="Write environments/NAME.json, .yaml or .py, or correct the name.",
    )


class CookbookNotFound(NotFound):
    """A cookbook on a run-list, among dependencies or in an include that does not exist."""

    entry = declared(
        "NA0408",
        "CookbookNotFound",
        cause="A cookbook of a run-list, dependency or include does not exist.",
        example='--run-list "recipe[ap]"',
        way_out="Put it below cookbooks/, or correct the name.",
    )


class AttributeFileNotFound(NotFound):
    """An attribute file that was included and does not exist."""

    entry = declared(
        "NA0409",
        "AttributeFileNotFound",
        cause="An attribute file that was included and does not exist.",
        example='include_attribute("app::tuning")',
        way_out="Write cookbooks/app/attributes/tuning.py, or correct the name.",
    )


class RecipeNotFound(NotFound):
    """A recipe that does not exist in its cookbook."""

    entry = declared(
        "NA0410",
        "RecipeNotFound",
        cause="A recipe that does not exist in its cookbook.",
        example='--run-list "recipe[app::deploi]"',
        way_out="Write cookbooks/app/recipes/NAME.py, or correct the name.",
    )


class PolicyNotFound(NotFound):
    """A Chef policy without a lock file in the repository."""

    entry = declared(
        "NA0417",
        "PolicyNotFound",
        cause="A policy that nothing in the repository locks.",
        example="nodeattrs run --repo . --policy-name web",
        way_out="Lock it (chef install), or name the file: --policy-name web.lock.json.",
    )


class FoldNotFound(NotFound):
    """A fold that nodeattrs.toml does not name."""

    entry = declared(
        "NA0210",
        "FoldNotFound",
        cause="There is no fold of that name in nodeattrs.toml.",
        example="nodeattrs fold --name shop",
        way_out="Write [fold.shop] with files = [...], or use a name that the hint lists.",
    )


class NoFileFits(NotFound):
    """A pattern that matches no file."""

    entry = declared(
        "NA0211",
        "NoFileFits",
        cause="A pattern matches no file, so the fold would lack a layer.",
        example="nodeattrs fold base.yaml 'env/*.yml'",
        way_out="Correct the pattern, or leave it out.",
    )


class NodeNotFound(NotFound):
    """A node that neither the store nor the repository knows."""

    entry = declared(
        "NA0411",
        "NodeNotFound",
        cause="A node that neither the store nor the repository knows.",
        example="nodeattrs show wbe1",
        way_out="`nodeattrs status` lists the saved nodes; --store names another store.",
    )


class NoRevision(NotFound):
    """A commit, or its content, that Git does not have in this clone."""

    entry = declared(
        "NA0460",
        "NoRevision",
        cause="Git does not have a commit, or its content, here.",
        example="nodeattrs impact origin/main..HEAD, in a clone that has one commit only",
        way_out="`git fetch --unshallow`, or in CI a checkout with `fetch-depth: 0`; or name two folders.",
    )


class DataBagItemNotFound(NotFound):
    """A data bag, or an item of one, that does not exist."""

    entry = declared(
        "NA0412",
        "DataBagItemNotFound",
        cause="A data bag, or an item of one, that does not exist.",
        example='data_bag_item("users", "anna")',
        way_out="Write data_bags/users/anna.json, or correct the name.",
    )


class CannotDecrypt(NodeattrsError, ValueError):
    """An encrypted value whose secret is missing or wrong; the text shows nothing of the value."""

    entry = declared(
        "NA0418",
        "CannotDecrypt",
        cause=("The secret of a data bag item is missing or wrong; or the item is chef-vault's."),
        example='data_bag_item("passwords", "db")',
        way_out="Name the file with the secret: --secret-file, or [chef] secret_file in nodeattrs.toml.",
    )


class RecipeFailed(NodeattrsError):
    """An exception in the code of a cookbook; `__cause__` is that exception."""

    entry = declared(
        "NA0413",
        "RecipeFailed",
        cause="Code of a cookbook raised.",
        example="workers = 1 / 0",
        way_out="The lines below the error are the calls through the cookbooks; --traceback shows all calls.",
    )


class StoreError(NodeattrsError, OSError):
    """A store that cannot be read or written."""

    entry = declared(
        "NA0501",
        "StoreError",
        cause="A store that cannot be read or written.",
        example="nodeattrs show web1 --store postgresql://nowhere/nodes",
        way_out="The message has the reason of the system or the database.",
    )

    __str__ = NodeattrsError.__str__


class FleetError(NodeattrsError):
    """A run of a fleet that cannot go on: workers, their cluster or the store are gone, or a worker cannot take part.

    message, details, hint: as for `NodeattrsError`
    kind: a word for the reason: "worker-died", "other-repository", ... It is not the code, but decides `code`;
          `nodeattrs codes` lists both
    """

    entry = declared(
        "NA1401",
        "FleetError",
        cause="A fleet cannot go on: something that all nodes need is gone.",
        example="nodeattrs fleet resolve --executor dask:tcp://head:8786",
        way_out="What was saved is kept; run the printed command with --since.",
    )

    def __init__(self, message: str, *, kind: Kind, details: Iterable[str] = (), hint: str | None = None) -> None:
        super().__init__(message, details=details, hint=hint)
        self.kind = kind


class BadName(NodeattrsError, ValueError):
    """A name from outside, such as "../web1", that must not become part of a path."""

    entry = declared(
        "NA0006",
        "BadName",
        cause="A name from outside cannot become a path.",
        example="nodeattrs show ../web1",
        way_out="Use a name without slashes and without a dot at the beginning.",
    )


class MissingExtra(NodeattrsError, ImportError):  # type: ignore[misc]  # ImportError has a path of its own
    """An optional library is not installed; the hint names the extra."""

    entry = declared(
        "NA0005",
        "MissingExtra",
        cause="An optional library is not installed.",
        example="nodeattrs facts",
        way_out="Install the extra that the message names: pip install 'nodeattrs[facts]'.",
    )


class InternalError(NodeattrsError):
    """Our own bug. Please report it."""

    entry = declared(
        "NA0003",
        "InternalError",
        cause="A fault in nodeattrs itself.",
        example='any command that ends in "a fault in nodeattrs itself"',
        way_out="Please report it, with what --traceback shows.",
    )


def wrong_argument(what: str, wanted: str, given: object, hint: str | None = None) -> BadArgument:
    """Make, not raise, the error for an argument of a wrong type: "WHAT is WANTED, and not GIVEN".

    A text or number is shown, up to 60 characters; of any other object the class is named.

    >>> print(wrong_argument("the origin of a layer", "an Origin", "common", 'Origin("file", "common")'))
    the origin of a layer is an Origin, and not the text 'common'
      Origin("file", "common")
    """
    return BadArgument(f"{what} is {wanted}, and not {_given(given)}", hint=hint)


def _given(value: object) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, (str, int, float)):
        shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
        return f"the text {shown}" if isinstance(value, str) else f"the number {shown}"
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    return f"the class {name}" if isinstance(value, type) else f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def missing_extra(library: str, extra: str, purpose: str) -> MissingExtra:
    """Make, not raise, the error for an optional library that is not installed; the hint names the extra.

    >>> print(missing_extra("psutil", "facts", "gathering facts of this machine"))
    gathering facts of this machine needs psutil, which is not installed
      install it with: pip install 'nodeattrs[facts]'
    """
    return MissingExtra(
        f"{purpose} needs {library}, which is not installed",
        hint=f"install it with: pip install 'nodeattrs[{extra}]'",
    )
