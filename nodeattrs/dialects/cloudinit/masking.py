"""Mask the secrets of a merged config: in its value, in the claims of its traces, and in the changes of each part.

The texts of the parts keep their secrets: code that prints must not print these texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import Any

from nodeattrs.core.claim import Claim
from nodeattrs.core.part import Part
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.core.walk import SetValue
from nodeattrs.dialects.cloudinit.secrets import WITHHELD, guarded
from nodeattrs.dialects.cloudinit.steps import Change, PartChanges
from nodeattrs.dialects.cloudinit.userdata import Merged


class _Masked(Merged):
    """A merged config for printing. `value` is masked at once; claims and changes are masked when they are computed."""

    def __init__(self, of: Merged, sensitive: Iterable[Path]) -> None:
        self._guarded = partial(guarded, sensitive=tuple(sensitive))
        result = of._result and Part(self._guarded((), of._result.value), of._result.origins)
        super().__init__(result, of.parts, of.rows, of.unknown, of.rules)

    @cached_property
    def _parts(self) -> dict[int, Any]:
        laid = [(one.number, one.laid) for row in self.rows for one in row.joinings]
        return {number: self._guarded((), part.value) for number, part in laid if part is not None}

    def _shown(self, path: Path, value: Any) -> Any:
        hidden = value is not ABSENT and dig(self.value, path) == WITHHELD
        return WITHHELD if hidden else self._guarded(path, value)

    def _claim(self, setting: SetValue) -> Claim:
        claim = super()._claim(setting)
        hidden = dig(self._parts.get(setting.source), setting.own) == WITHHELD
        return claim._replace(value=WITHHELD if hidden else self._shown(setting.path, claim.value))

    def changes(self) -> Iterator[PartChanges]:
        """What each part did to the result so far, part by part."""
        for step in super().changes():
            yield step._replace(changes=tuple(map(self._changed, step.changes)))

    def _changed(self, change: Change) -> Change:
        return change._replace(old=self._shown(change.path, change.old), new=self._shown(change.path, change.new))


def masked(merged: Merged, sensitive: Iterable[Path] = ()) -> Merged:
    """A copy of a merged config for printing, in which each secret is replaced by "Sensitive(withheld)".

    What a secret is, `secrets` decides; *sensitive* names further paths. Traces and changes hide secrets, too.

    >>> from nodeattrs.dialects.cloudinit.userdata import merge
    >>> masked(merge(["#cloud-config\\npassword: hunter2"])).config
    {'password': 'Sensitive(withheld)'}
    """
    return _Masked(merged, sensitive)
