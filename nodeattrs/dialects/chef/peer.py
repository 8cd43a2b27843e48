"""What other dialects may use of Chef; they find this module by the dialect's name (`contract.peers`)."""

from __future__ import annotations

from pathlib import Path

from nodeattrs.dialects.chef.ruby.helper import Helper, ruby_command


def ruby_process(root: Path, script: Path) -> Helper:
    """Start a Ruby process that runs *script* in the folder *root*.

    raises: NotFound, without Ruby; UnknownLayer, if no code may run
    """
    return Helper(root, command=ruby_command(script))
