"""What can be wrong with a catalog.

    NodeattrsError
    ├── DuplicateResource         (also ValueError)   two declarations of one reference, or of one place
    ├── DependencyCycle           (also ValueError)   resources that wait for each other
    ├── ResourceFailed                                a resource that cannot be brought into its state
    ├── RefreshComesLater                             a warning: a timing that is not Puppet's
    ├── NoopDoesNotReach                              a warning: a class in no-op whose contents are not
    ├── MoreRelations                                 a warning: a type with relations that only its Ruby knows
    └── NotFound
        └── ReferenceNotFound                         a relationship with a resource that is not there

`DependencyCycle` and `ReferenceNotFound` also have the message of Puppet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nodeattrs.codes import declared
from nodeattrs.errors import NodeattrsError, NotFound


class DuplicateResource(NodeattrsError, ValueError):
    """Two declarations of one resource, or of one place on the machine."""

    entry = declared(
        "NA0601",
        "DuplicateResource",
        cause="Two declarations of one resource, or of one place on the machine.",
        example='file("/etc/motd"); file("/etc/motd")',
        way_out="Remove one, or declare it in a recipe that both include.",
    )


class ReferenceNotFound(NotFound):
    """A relationship with a resource that is not in the catalog.

    missing:         the reference for which there is no resource
    by:              the reference of the resource that has the relationship, or of the other end of a chain
    parameter:       "require", "before", ...; None for a relationship of a chain
    compile_message: the message of Puppet's compiler; None for virtual resources, which the compiler accepts
    apply_message:   the message of Puppet when it applies the catalog; None for chains, which fail earlier
    details:         further lines of the error
    origins:         the source lines of the relationship
    hint:            a similar name, if there is one

    The text of the error is `compile_message`, else `apply_message`, else *missing*.
    """

    entry = declared(
        "NA0602",
        "ReferenceNotFound",
        cause="A relationship with a resource that is not in the catalog.",
        example='file("/a", require="Package[nosuch]")',
        way_out="Declare the resource, or correct the reference.",
    )

    def __init__(
        self,
        missing: str,
        by: str,
        *,
        parameter: str | None = None,
        compile_message: str | None = None,
        apply_message: str | None = None,
        details: Iterable[str] = (),
        origins: Iterable[Any] = (),
        hint: str | None = None,
    ) -> None:
        message = compile_message or apply_message or missing
        super().__init__(message, origins=tuple(origins), details=details, hint=hint)
        self.missing = missing
        self.by = by
        self.parameter = parameter
        self.compile_message = compile_message
        self.apply_message = apply_message


class DependencyCycle(NodeattrsError, ValueError):
    """Resources wait for each other, so the catalog cannot be applied.

    message:        the rings of the cycles in one line
    cycles:         the cycles, each a `nodeattrs.catalog.cycles.Cycle`
    details:        lines of the error: a line for each edge on a ring, with its reason
    origins:        the source lines of these edges
    hint:           what to remove
    puppet_message: the message that Puppet prints for the same cycles; "" if it is not known
    """

    entry = declared(
        "NA0603",
        "DependencyCycle",
        cause="Resources that wait for each other: nothing can be applied.",
        example='file("/a", before="File[/b]"); file("/b", before="File[/a]")',
        way_out="Remove one of the edges; the message has the line of each.",
    )

    def __init__(
        self,
        message: str,
        cycles: Iterable[Any],
        details: Iterable[str] = (),
        origins: Iterable[Any] = (),
        hint: str | None = None,
        puppet_message: str = "",
    ) -> None:
        super().__init__(message, details=details, origins=tuple(origins), hint=hint)
        self.cycles = tuple(cycles)
        self.puppet_message = puppet_message


class ResourceFailed(NodeattrsError):
    """A resource that cannot be read, or cannot be brought into the state that was asked for."""

    entry = declared(
        "NA0604",
        "ResourceFailed",
        cause="A resource cannot be read, or cannot be brought into its state.",
        example='file("/proc/x", content="a")',
        way_out="The message has the system's reason.",
    )


class FolderMissing(ResourceFailed):
    """The parent folder of a file or link does not exist."""

    entry = declared(
        "NA0605",
        "FolderMissing",
        cause="The folder of a file, directory or link does not exist.",
        example='file("/srv/new/motd", content="a")',
        way_out='Declare the folder: directory("/srv/new").',
    )


class RefreshComesLater(NodeattrsError):
    """A timing such as `:immediately`, which has no effect: a target refreshes at its own place in the order."""

    entry = declared(
        "NA0606",
        "RefreshComesLater",
        cause="A timing such as `:immediately` has no effect: a target refreshes at its own turn.",
        example='notifies=("restart", Service["ntpd"], ":immediately")',
        way_out="Leave the timing out, or order the resources.",
    )


class NoopDoesNotReach(NodeattrsError):
    """A container is in no-op mode, but some of its resources are not, and would be changed."""

    entry = declared(
        "NA0607",
        "NoopDoesNotReach",
        cause="A container in no-op mode, with resources in it that are really changed.",
        example="a class with noop=True that contains a file with noop=False",
        way_out="Write noop=True on the resources, or use --noop.",
    )


class MoreRelations(NodeattrsError):
    """Types of modules that may have automatic relations, or react to refreshes, in ways that are not known here."""

    entry = declared(
        "NA0620",
        "MoreRelations",
        cause="Resources of module types may have relations or refreshes that are not known.",
        example="nodeattrs catalog check --puppet web1.json, with a mysql_grant",
        way_out="Name their folder with --modulepath; the rest is known to their Ruby code only.",
    )
