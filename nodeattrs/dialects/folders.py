"""Find the repositories below a folder, for `check` and `overview` in a folder that is none itself."""

from __future__ import annotations

import os
from pathlib import Path

from nodeattrs.dialects.ansible.static import is_repository as is_of_ansible

_PASSED = frozenset(
    (".git", "node_modules", "vendor", "vendor_cookbooks", "cookbooks", "modules", "roles", "spec", "test", "tests")
)
_MARKS = frozenset(("cookbooks", "hiera.yaml", "metadata.rb", "nodeattrs.toml", "Policyfile.rb"))
_DEPTH = 2


def repositories_below(root: Path) -> list[str]:
    """The folders below *root* that look like a repository, as paths relative to *root*; [] for none.

    Such a folder contains `cookbooks`, a settings file such as hiera.yaml, or a folder with a metadata.rb; or it is an
    Ansible repository. A Puppet module, which has a metadata.json, does not count. Only two levels of folders are
    searched. *root* itself and folders inside a repository are left out. So are hidden folders, and names such as
    `modules`, `roles`, `tests` and `vendor`.
    """
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        steps = here.relative_to(root).parts
        is_module = "metadata.json" in names  # of Puppet, which may have a hiera.yaml of its own
        has_mark = bool(_MARKS & {*folders, *names}) or any(here.glob("*/metadata.rb"))
        is_one = bool(steps) and not is_module and (has_mark or is_of_ansible(here))
        found += ["/".join(steps)] if is_one else []
        is_end = is_one or len(steps) == _DEPTH
        folders[:] = [] if is_end else sorted(one for one in folders if one[0] != "." and one not in _PASSED)
    return found
