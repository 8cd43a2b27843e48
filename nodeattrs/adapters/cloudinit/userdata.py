"""The parts of user-data joined to one config, each by its own definition.

`merge` is the handler of cloud-init for a whole user-data; nothing is run, fetched or
written. A part that cannot be merged leaves the result as it was. The folding keeps its steps,
so that what each part did, and who has set what, can be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodeattrs.adapters.cloudinit.definitions import (
    CONFIG_DEFAULT,
    PART_DEFAULT,
    Definition,
    parse_definition,
    take_definition,
)
from nodeattrs.adapters.cloudinit.faults import CloudConfigError
from nodeattrs.adapters.cloudinit.loading import load_config
from nodeattrs.adapters.cloudinit.merged import Merged
from nodeattrs.adapters.cloudinit.mergers import Mode, lay, policy_of
from nodeattrs.adapters.cloudinit.merging import as_definition
from nodeattrs.adapters.cloudinit.parts import CLOUD_CONFIG, INCLUDES, JSONP, SCRIPTS, CloudPart, PartReport, status_of
from nodeattrs.adapters.cloudinit.patching import changes_in, operations_of, said_in
from nodeattrs.adapters.cloudinit.steps import Joining, Row
from nodeattrs.adapters.cloudinit.unfolding import unfold
from nodeattrs.core.claim import Origin
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import origins_at, sources
from nodeattrs.core.part import Part
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.errors import MergeConflict, MissingExtra, NodeattrsError

__all__ = ["HEADERS", "merge"]

HEADERS = ("Merge-Type", "X-Merge-Type")
_WRITTEN = re.compile(r"^(merge_how|merge_type)\s*:", re.MULTILINE)


def merge(
    parts: Iterable[Any],
    *,
    mode: Mode = "current",
    how: Any = None,
    launch_index: int | None = None,
    include_root: Path | None = None,
) -> Merged:
    """Merge user-data as cloud-init does, offline.

    parts:        texts or bytes of whole user-data (cloud-config, MIME, gzip, archive, patch), paths
                  of such files, or `CloudPart`s; read one after the other into one row of parts
    mode:         "current": each part joins by its own definition; "documented": by the stack of
                  the older manual
    how:          a definition to use for every part instead of its own: a what-if
    launch_index: keep the parts for this index, and those without one
    include_root: the folder in which includes are looked up; nothing is ever fetched
    raises:       CloudConfigError, where unfolding itself stops. A part that is rejected or fails
                  raises nothing: its report says so
    source:       docs/cloudinit.md

    >>> merged = merge(["#cloud-config\\npackages: [vim]", "#cloud-config\\npackages: [git]"])
    >>> merged.config, [warning.name for warning in merged.warnings]
    ({'packages': ['git']}, ['default-replaces'])
    """
    asked = None if how is None else as_definition(how)
    run = _Run(mode, asked)
    for part in unfold(parts, launch_index=launch_index, include_root=include_root):
        run.take(part)
    return run.merged()


class _Run:
    def __init__(self, mode: Mode, how: Definition | None) -> None:
        self.mode = mode
        self.how = how
        self.folding: Folding | None = None
        self.reports: list[PartReport] = []
        self.joinings: list[Joining] = []
        self.stack: list[tuple[Definition, str]] = [(CONFIG_DEFAULT, "default")]

    def take(self, part: CloudPart) -> None:
        number = len(self.reports) + 1
        name = part.filename or f"part-{number:03d}"
        if part.type in (CLOUD_CONFIG, JSONP):
            self.reports.append(self._handled(number, part, name))
        elif part.type in SCRIPTS:
            self.reports.append(PartReport(number, part, name, "script"))
        elif part.type in INCLUDES:
            self.reports.append(PartReport(number, part, name, "include"))
        else:
            self.reports.append(PartReport(number, part, name, "ignored" if part.body else "empty"))

    def _handled(self, number: int, part: CloudPart, name: str) -> PartReport:
        if self.folding is None:
            self.folding = Folding(start=Part({}, 0))
        elif self.folding.result.value is None:
            self._begin_anew(self.folding)
        try:
            if part.type == JSONP:
                operations = operations_of(part.text)
                self.folding.change(*changes_in(operations), of=said_in(operations, number))
                self.joinings.append(Joining(number, part, name, None, None, steps=len(operations)))
                return PartReport(number, part, name, "merged")
            config = load_config(part.text)
            own, rest, source = _own_definition(config, part)
            used, source = self._used(own, source)
            policy = policy_of(used, self.mode)
            said = Part(rest, number)
            lay(self.folding, said, policy)
            self.joinings.append(Joining(number, part, name, policy, said))
            if own:
                self.stack.append((own, f"part {number}"))
            return PartReport(number, part, name, "merged", used, source)
        except MissingExtra:
            raise
        except RecursionError:
            error: NodeattrsError = CloudConfigError("too-deep", "nested too deep to be merged")
        except NodeattrsError as raised:
            error = raised
        error = self._placed(error, part, name)
        return PartReport(number, part, name, status_of(error), error=error)

    def _placed(self, error: NodeattrsError, part: CloudPart, name: str) -> NodeattrsError:
        """The error with the part's name, and the line of what it is about."""
        title = PartReport(0, part, name, "failed").title
        shown = title if part.file is None or title.startswith(part.file) else f"{part.file} {name}"
        first = part.line if part.line is not None and part.file is not None else 1
        if isinstance(error, MergeConflict):
            from nodeattrs.adapters.cloudinit.places import YamlSpeaker

            path = tuple(error.path or ())
            origin = YamlSpeaker(part.text, Origin("part", "", shown), first).at(path)
            said = [f"what was there is said by {old}" for old in self._said_before(path)]
            return MergeConflict(
                f"{origin.place}: {error.message}", path=path, origins=(origin,), said=said, hint=error.hint
            )
        if not isinstance(error, CloudConfigError):
            return error
        line = error.line
        if line is None and error.kind in ("format", "definition", "unknown-merger"):
            written = None if "in the header" in error.reason else _WRITTEN.search(part.text)
            line = None if written is None else part.text.count("\n", 0, written.start()) + 1
        line = None if line is None else line + first - 1
        return CloudConfigError(error.kind, error.reason, file=shown, line=line, column=error.column, hint=error.hint)

    def _said_before(self, path: TreePath) -> list[str]:
        """The titles of the parts whose word stands at a path so far."""
        told = self.folding.result.origins if self.folding is not None else ()
        for step in path:
            told = origins_at(told, step)
        return [self.reports[number - 1].title for number in sources(told) if number]

    def _used(self, own: Definition, source: str) -> tuple[Definition, str]:
        if self.how is not None:
            return self.how, "asked"
        if self.mode == "documented":
            policy_of(own, self.mode)  # one that cannot be built fails its own part, not the next one
            return self.stack[-1]
        return (own, source) if own else (PART_DEFAULT, "default")

    def _begin_anew(self, folding: Folding) -> None:
        """A patch has put null in place of the whole config: cloud-init goes on with nothing."""
        folding.change(lambda before, said: Part({}, 0))
        self.joinings.append(replace(self.joinings[-1], policy=None, said=None, steps=1))

    def merged(self) -> Merged:
        if self.folding is None:
            return Merged(None, tuple(self.reports))
        return Merged(self.folding.result, tuple(self.reports), (Row(self.folding, tuple(self.joinings)),))


def _own_definition(config: dict[Any, Any], part: CloudPart) -> tuple[Definition, dict[Any, Any], str]:
    """What body and header ask for together, the body first; the config without it; and who asked."""
    body, rest, key = take_definition(config)
    name = next((name for name in HEADERS if part.headers.get(name)), None)
    text = "" if name is None else part.headers[name]
    if not isinstance(text, str):
        raise CloudConfigError("definition", f"the header {name} is no plain text")
    try:
        header = parse_definition(text)
    except CloudConfigError as error:
        raise CloudConfigError("format", f"in the header {name}: {error.reason}", hint=error.hint) from error
    sources = [f"body {key}"] * bool(body) + [f"header {name}"] * bool(header)
    return body + header, rest, " and ".join(sources)
