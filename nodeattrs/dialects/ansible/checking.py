"""Collect the findings of `check` about a folder: searches for groups, playbooks, roles and variables.

`static` finds most of them. Files that were not read become findings, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from nodeattrs.contract.dialect import CheckedFiles
from nodeattrs.contract.folder import Folder
from nodeattrs.dialects.ansible.faults import GROUP_SEARCH, AnsibleError, new_warning
from nodeattrs.dialects.ansible.saved_nodes import ansible_name
from nodeattrs.dialects.ansible.static import RepositoryCheck, is_repository
from nodeattrs.errors import BadArgument
from nodeattrs.formats.documents import read
from nodeattrs.kinds import LAYER_IS_UNKNOWN
from nodeattrs.reports.findings import Finding, finding_of
from nodeattrs.store.search import parse_query

_UNREAD = "was not looked at: it is encrypted, and may set and mention any variable"


def findings_of(root: Path, count: Callable[[str], object]) -> Iterator[CheckedFiles]:
    """Yield the checked files and findings of Ansible under a folder.

    First the searches of [ansible.groups], where nodeattrs.toml has some; then playbooks, roles and variables, where
    the folder has some. Yields nothing for any other folder.

    count: called with the name of each file that is read
    """
    groups = Folder(root).config.ansible_groups
    if groups:
        found = [finding_of(one, "warning") for one in _doubtful_groups(root, groups)]
        yield CheckedFiles("group of Ansible", len(groups), found)
    if is_repository(root):
        look = RepositoryCheck(root, count)
        warnings = [finding_of(one, "note" if one.kind in look.NOTES else "warning") for one in look.warnings()]
        places = {file: f"was not looked at: {why}" for file, why in look.not_read.items()}
        places |= dict.fromkeys(look.encrypted, _UNREAD)
        unread = [Finding(LAYER_IS_UNKNOWN.entry.code, "note", why, file) for file, why in places.items()]
        faults = [finding_of(one, "error") for one in look.faults]
        yield CheckedFiles("Ansible file", look.looked, [*faults, *unread, *warnings])


def _doubtful_groups(root: Path, groups: Mapping[str, str]) -> Iterator[AnsibleError]:
    """Yield a warning for each group of [ansible.groups] whose search cannot be parsed, or whose name another group
    gets, too.

    groups: name -> search. Reads root/nodeattrs.toml for the lines.
    """
    locator = read(root / "nodeattrs.toml", "nodeattrs.toml").locator("settings", "")
    words: dict[str, str] = {}
    for name, query in groups.items():
        origin = locator.at(("ansible", "groups", name))
        first = words.setdefault(ansible_name(name), name)
        if first != name:
            message = f"for Ansible {name} and {first} are one group, {ansible_name(name)}"
            yield new_warning(GROUP_SEARCH, message, origin.file, origin.line)
        try:
            parse_query(query)
        except BadArgument as error:
            yield new_warning(GROUP_SEARCH, f"the search of the group {name}: {error}", origin.file, origin.line)
