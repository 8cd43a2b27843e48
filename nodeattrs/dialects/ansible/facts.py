"""Read the fact cache: a JSON file for each host, as Ansible up to 2.18 and Ansible 2.19 write it.

A fact `ansible_x` becomes the variable `ansible_x`, and `ansible_facts.x`. The layers are of level 11 alone.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.ansible.config import AnsibleConfig
from nodeattrs.dialects.ansible.faults import YAML, AnsibleError
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.values import Unsafe, with_leaves

_PREFIX = "ansible_"
_CONNECTION_TEXT = """
    connection user host port password ssh_host ssh_port ssh_user ssh_pass become become_user become_pass
    become_password become_method become_exe become_flags shell_type shell_executable sudo_pass su_pass
    private_key_file timeout ssh_private_key_file ssh_common_args ssh_extra_args ssh_executable"""
_CONNECTION = _CONNECTION_TEXT.split()
_STEERING = frozenset({*(_PREFIX + name for name in _CONNECTION), "hostvars", "vars"})
_INTERPRETER = re.compile(r"ansible_\w+_interpreter")


class FactCache:
    """Reads cached facts, one file for each host. Nothing is kept: each call reads the file of the host again.

    config: the settings of fact_caching in ansible.cfg, and inject_facts_as_vars
    root:   messages name files relative to this folder
    folder: the folder with the files. None: the folder that *config* names, if its cache is of the kind jsonfile;
            otherwise there are no facts

    `facts_of` gives (facts, name of the file), and `layer` the variables that the facts set. `ansible_facts_of` gives
    the value of the variable `ansible_facts`. A host without a file has no facts: ({}, ""), None and {}. The methods
    raise AnsibleError if its file cannot be read or parsed.
    """

    def __init__(self, config: AnsibleConfig, root: Path, folder: Path | None) -> None:
        is_file = config.fact_caching.rpartition(".")[2] == "jsonfile" and config.fact_caching_connection
        self.folder = folder or (Path(config.fact_caching_connection) if is_file else None)
        self._prefix = config.fact_caching_prefix
        self._inject = config.inject_facts_as_vars
        self._root = root

    def facts_of(self, host: str) -> tuple[dict[str, Any], str]:
        """The facts of a host, name -> value, and the name of their file. ({}, "") if no file of the host has a map.

        Templates in facts are not evaluated: their texts are `Unsafe`.

        raises: AnsibleError, if the file cannot be read or parsed
        """
        for name in (f"{self._prefix}s1_{host}", f"{self._prefix}{host}", host):
            path = self.folder / name if self.folder is not None else None
            if path is not None and os.path.isfile(path):
                try:
                    tree = json.loads(path.read_text(encoding="utf-8"))
                    tree = json.loads(tree["__payload__"]) if "__payload__" in tree else tree
                except (OSError, ValueError, TypeError) as error:
                    raise AnsibleError(YAML, f"these facts cannot be read: {error}", file=str(path)) from None
                if isinstance(tree, dict):
                    file = path.relative_to(self._root) if path.is_relative_to(self._root) else path
                    return {key: _plain(value) for key, value in tree.items()}, file.as_posix()
        return {}, ""

    def layer(self, host: str) -> Layer | None:
        """The layer of variables that the facts of a host set; None if they set none.

        Facts that would change the connection, such as `ansible_connection`, set no variable. If inject_facts_as_vars
        is off, the layer sets only `ansible_local`, for every host. raises: AnsibleError
        """
        facts, file = self.facts_of(host)
        steering = [name for name in facts if name in _STEERING or _INTERPRETER.fullmatch(name)]
        injected = {name: value for name, value in facts.items() if name not in steering}
        if not self._inject:  # then this one is there for every host
            injected = {"ansible_local": facts.get("ansible_local", {})}
        return Layer(injected, Origin("facts", host, file or None), title(11)) if injected else None

    def ansible_facts_of(self, host: str) -> dict[str, Any]:
        """The value of the variable `ansible_facts` of a host: name without `ansible_` -> value; {} without facts."""
        return {
            name if name == "ansible_local" else name.removeprefix(_PREFIX): value
            for name, value in self.facts_of(host)[0].items()
        }


def _plain(value: Any) -> Any:
    return with_leaves(value, lambda one: Unsafe(one) if isinstance(one, str) else one, marked=_typed)


def _typed(value: dict[Any, Any]) -> Any:
    return _plain(value["value"]) if "__ansible_type" in value and "value" in value else ABSENT
