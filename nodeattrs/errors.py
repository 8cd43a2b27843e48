"""Every error this library raises.

An error says what could not be done, where (in the spelling of the person who
wrote it), who set each side, and the way out if there is one. The facts are
attributes too, so no program need parse the sentence.

    NodeattrsError
    ├── AttributeIsReadOnly       (also TypeError)      a write through a merged view
    ├── NoSuchAttribute           (also KeyError)       nothing at that path
    │   └── NoSuchElement         (also IndexError)     no such index in a list
    ├── TypeConflict              (also TypeError)      a step or store into a scalar or list
    │   └── NullInTheWay                                the same, into null or into nothing
    ├── BadArgument               (also ValueError)     a call that cannot mean anything
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
    │   ├── UnknownField                                a field whose name nobody knows (a warning's twin)
    │   └── TooMuch                                     what is read or asked takes more than a limit allows
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

Imports nothing of ours but the table of codes, so that everyone may raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nodeattrs.codes import code_of

Path = tuple[Any, ...]


class NodeattrsError(Exception):
    """What every error here has: a sentence, a place, who set what, a way out.

    path:    the steps to the attribute, or None
    origins: who set each side, as objects that print as "file:line (who)"
    hint:    the way out, one line, or None
    kind:    a word that distinguishes what one class is raised for; "" where it says all
    """

    kind: str = ""

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
        """All of its lines, with the code behind the first line."""
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
        """What docs/codes.md has it under: "NA0102"."""
        return code_of(type(self), self.kind)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[NodeattrsError], args: tuple[Any, ...], facts: dict[str, Any]) -> Any:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(facts)
    return error


class AttributeIsReadOnly(NodeattrsError, TypeError):
    """A write through a merged view; the hint shows the line to write instead."""


class NoSuchAttribute(NodeattrsError, KeyError):
    """Nothing at that path; the hint names near misses."""

    __str__ = NodeattrsError.__str__


class NoSuchElement(NoSuchAttribute, IndexError):
    """A list that is shorter than the index."""


class TypeConflict(NodeattrsError, TypeError):
    """A step or a store into something that has no such place."""


class NullInTheWay(TypeConflict):
    """A step or a store into null, or into nothing at all."""


class BadArgument(NodeattrsError, ValueError):
    """A call that cannot mean anything, such as removing the empty path."""


class BadKey(NodeattrsError, TypeError):
    """A key that is neither text nor an integer."""


class BadValue(NodeattrsError, TypeError):
    """A value that a tree of attributes cannot hold."""


class TooDeep(BadValue):
    """Deeper than 500 levels, or a container that holds itself."""


class UnknownName(NodeattrsError, AttributeError):
    """A name that older documents mention; the hint shows the line to write."""


class WordNotKnownHere(NodeattrsError, ImportError):  # type: ignore[misc]  # ImportError has a path of its own
    """A word of cookbook files outside of a run, or in the wrong sort of file."""


class DeferredCycle(NodeattrsError, RecursionError):
    """A deferred value that needs itself to be known."""


class ValueWithheld(NodeattrsError):
    """A Sensitive value that no document keeps; it has to be set again."""


class PolicyError(NodeattrsError, ValueError):
    """A merge policy that contradicts itself, found when it is built."""


class MergeConflict(NodeattrsError, ValueError):
    """Two values that a policy refuses to join."""


class UnknownLayer(NodeattrsError, LookupError):
    """Somebody asked to be strict, and a layer that might decide the answer cannot be read."""


class DocumentError(NodeattrsError, ValueError):
    """A file, or a text, that cannot be read as what it should be.

    file, line, column: where, as far as known (line and column count from 1)
    kind:               of a warning: "repeated-key", ...; docs/codes.md lists them
    """

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
        kind: str = "",
    ) -> None:
        where = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{where}: {message}" if where else message, path=path, hint=hint, details=details)
        self.reason = message
        self.file = file
        self.line = line
        self.column = column
        self.kind = kind


class UnknownField(DocumentError):
    """A field whose name nobody knows; usually given as a warning."""


class TooMuch(DocumentError):
    """What is read, or asked, takes more than a limit allows; the hint says how to raise it.

    limit: "steps", "values", "bytes", "depth" or "seconds": see `core.budget.Limits`
    """

    def __init__(self, message: str, *, limit: str, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.limit = limit

    def located(self, file: str | None, line: int | None = None, column: int | None = None) -> TooMuch:
        """The same error, with a place."""
        return TooMuch(self.reason, limit=self.limit, file=file, line=line, column=column, hint=self.hint)


class RunListError(NodeattrsError, ValueError):
    """A run-list that cannot be read or expanded."""


class InvalidRunListItem(RunListError):
    """An item that is no recipe[...], role[...] or bare recipe name."""


class AmbiguousRunList(RunListError):
    """A document with both `run_list` and `recipes`."""


class CookbookVersionConflict(RunListError):
    """Two versions asked of one recipe or cookbook."""


class NotFound(NodeattrsError, LookupError):
    """Something that was named and is not there."""


class RoleNotFound(NotFound):
    """A role on a run-list that does not exist."""


class EnvironmentNotFound(NotFound):
    """An environment that does not exist."""


class CookbookNotFound(NotFound):
    """A cookbook on a run-list, among dependencies or in an include that does not exist."""


class AttributeFileNotFound(NotFound):
    """An attribute file that was included and does not exist."""


class RecipeNotFound(NotFound):
    """A recipe that does not exist in its cookbook."""


class PolicyNotFound(NotFound):
    """A policy that nothing in the repository locks."""


class FoldNotFound(NotFound):
    """There is no plain fold of that name."""


class NoFileFits(NotFound):
    """A pattern that stands for no file."""


class NodeNotFound(NotFound):
    """A node that neither the store nor the repository knows."""


class NoRevision(NotFound):
    """A commit, or what it holds, that git does not have here."""


class DataBagItemNotFound(NotFound):
    """A data bag, or an item of one, that does not exist."""


class CannotDecrypt(NodeattrsError, ValueError):
    """An encrypted value, and no secret or a wrong one; nothing of what it holds is shown."""


class RecipeFailed(NodeattrsError):
    """Cookbook code raised; `__cause__` is what it raised."""


class StoreError(NodeattrsError, OSError):
    """A store that cannot be read or written."""

    __str__ = NodeattrsError.__str__


class FleetError(NodeattrsError):
    """A fleet that cannot go on: workers, their cluster or the store have gone, or a worker cannot do what it should.

    kind: "worker-died", "other-repository", ...; docs/codes.md lists them
    """

    def __init__(self, message: str, *, kind: str, details: Iterable[str] = (), hint: str | None = None) -> None:
        super().__init__(message, details=details, hint=hint)
        self.kind = kind


class BadName(NodeattrsError, ValueError):
    """A name from outside that must not become a path."""


class MissingExtra(NodeattrsError, ImportError):  # type: ignore[misc]  # ImportError has a path of its own
    """An optional library is not installed; the hint names the extra."""


class InternalError(NodeattrsError):
    """Our own bug. Please report it."""


def wrong_argument(what: str, wanted: str, given: object, hint: str | None = None) -> BadArgument:
    """The error for an argument of a wrong sort; what was given is named, and shown where it is short text or a number.

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
    """The error for an optional library that is absent.

    >>> print(missing_extra("psutil", "facts", "gathering facts of this machine"))
    gathering facts of this machine needs psutil, which is not installed
      install it with: pip install 'nodeattrs[facts]'
    """
    return MissingExtra(
        f"{purpose} needs {library}, which is not installed",
        hint=f"install it with: pip install 'nodeattrs[{extra}]'",
    )
