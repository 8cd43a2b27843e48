"""The cloud-config that Cluster API makes of a KubeadmConfig, row by row as the templates of its bootstrap provider do.

Only what the spec says is written. The provider adds certificates, and the configuration and command of kubeadm.

source: https://github.com/kubernetes-sigs/cluster-api/tree/main/bootstrap/kubeadm/pkg/cloudinit
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from nodeattrs.core.tree import Path

ADDED = "what Cluster API adds"
"""The name of the layer with the certificates, the configuration and the command of kubeadm."""
_KUBEADM = "  - '# kubeadm init or join, which Cluster API writes here'"


_Row = tuple[str, Path]
_KEY = re.compile(r"[a-z_]+:")
"""The beginning of the row of a key at the top."""


class MissingLayer(NamedTuple):
    """A layer of the machine's cloud-config that the spec does not have.

    name:   its name
    at:     the path in the spec that asks for it
    reason: why it is not read, as the end of a sentence
    sets:   the paths in the cloud-config that it may set
    """

    name: str
    at: Path
    reason: str
    sets: tuple[Path, ...]


class GeneratedConfig(NamedTuple):
    """The result of `cloud_config_of`: the cloud-config of a spec, and what it lacks.

    parts:  a list of the rows without Jinja's markup; if other rows have markup, a second list has these. A row is
            (text, path in the spec). The machine gets both lists as one template
    unread: the layers that are missing
    """

    parts: list[list[_Row]]
    unread: list[MissingLayer]


def cloud_config_of(spec: Mapping[str, Any]) -> GeneratedConfig:
    """The cloud-config that Cluster API writes from a spec: the rows of its text, and what it lacks with reasons.

    It lacks file contents and passwords that the spec takes from elsewhere. It also lacks the certificates, and the
    configuration and command of kubeadm. *spec* is not changed.
    raises: AttributeError or TypeError, for a value of a type that the spec does not have there
    """
    spec, unread = dict(spec), []
    for key, name, inner in (("files", "write_files", "content"), ("users", "users", "passwd")):
        entries = list(map(dict, spec.get(key) or ()))
        for number, entry in enumerate(entries):
            if reason := _why_unread(entry, inner):
                entry.pop(inner, None)
                unread.append(MissingLayer(f"{name}.{number}.{inner}", (key, number), reason, ((name, number, inner),)))
        spec[key] = entries
    command = ("runcmd", len(spec.get("preKubeadmCommands") or ()))
    reason = "is not in the file: certificates, and the configuration and command of kubeadm"
    return GeneratedConfig(
        _parts(list(_written(spec, _SPEC, ()))), [*unread, MissingLayer(ADDED, (), reason, (("write_files",), command))]
    )


def _parts(rows: list[_Row]) -> list[list[_Row]]:
    """The rows of a config; keys with markup are apart. Blocks of Jinja may be around keys: then all are one."""
    groups: list[list[_Row]] = []
    for row in rows:
        if not groups or _KEY.match(row[0]):
            groups.append([])
        groups[-1].append(row)
    head, jinja = ("#cloud-config", ()), ("## template: jinja", ())
    if any("{%" in text or "{#" in text for text, _ in rows):
        return [[jinja, head, *rows]]
    plain, template = [head], [jinja, head]
    for group in groups:
        (template if any("{{" in text for text, _ in group) else plain).extend(group)
    return [plain, template] if len(template) > 2 else [plain]


def _why_unread(entry: Mapping[str, Any], key: str) -> str:
    """Why the text under a key is not in the spec, as the end of a sentence; "" where it is."""
    if entry.get(f"{key}From"):
        return "is in a secret"
    return "is a template of Go, which Cluster API fills in" if entry.get("contentFormat") == "Template" else ""


# --- the rows


def _go(value: Any) -> str:
    """A value as Go prints it. raises: TypeError, for a map or list"""
    if not isinstance(value, (str, int, float, date, type(None))):
        raise TypeError(f"{type(value).__name__} is no value of one line")
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _quoted(value: Any) -> str:
    return f"  - {json.dumps(_go(value), ensure_ascii=False)}"


def _content(value: Any) -> str:
    return "    content: |\n" + "\n".join(f"      {row}" for row in _go(value).split("\n"))


def _layout(partition: Any) -> str:
    """The row of a whole disk; "" for one with a list of partitions."""
    whole = partition.get("layout")
    return "" if partition.get("diskLayout") else f"    layout: {'<nil>' if whole is None else _go(whole)}"


def _share(value: Any) -> str:
    kind = _PARTITION_TYPES.get(value.get("partitionType"), value.get("partitionType"))
    return f"      - [{_go(value.get('percentage'))}, {kind}]" if kind else f"      - {_go(value.get('percentage'))}"


def _mount(value: Any) -> str:
    if not isinstance(value, list):
        raise TypeError("a mount is a list")
    return "  - " + "\n    ".join(f"- {_go(one)}" for one in value)


_PARTITION_TYPES = {
    "Linux": "83", "LinuxSwap": "82", "LinuxRAID": "fd", "LVM": "8e", "Fat32": "0c", "NTFS": "07",
    "LinuxExtended": "85",
}  # fmt: skip


class _Key(NamedTuple):
    """A key of the spec and its rows.

    key:       the key; "" for the map around it
    row:       called with the value, or a text in which {} is the value; "" for none
    entry:     of a list: the rows of each entry, as keys or as *row* is
    is_always: whether it is also written where it is not set
    """

    key: str
    row: str | Callable[[Any], str]
    entry: tuple[_Key, ...] | str | Callable[[Any], str] = ()
    is_always: bool = False


_SPEC: tuple[_Key, ...] = (
    _Key("files", "write_files:", (
        _Key("path", "-   path: {}", (), True), _Key("encoding", '    encoding: "{}"'),
        _Key("owner", "    owner: {}"), _Key("permissions", "    permissions: '{}'"),
        _Key("append", "    append: {}"), _Key("content", _content),
    )),
    _Key("bootCommands", "bootcmd:", _quoted),
    _Key("preKubeadmCommands", "runcmd:", _quoted, True),
    _Key("", _KUBEADM),
    _Key("postKubeadmCommands", "", _quoted),
    _Key("ntp", "ntp:", (_Key("enabled", "  enabled: {}"), _Key("servers", "  servers:", "    - {}", True))),
    _Key("users", "users:", (
        _Key("name", "  - name: {}", (), True), _Key("passwd", "    passwd: {}"), _Key("gecos", "    gecos: {}"),
        _Key("groups", "    groups: {}"), _Key("homeDir", "    homedir: {}"), _Key("inactive", "    inactive: {}"),
        _Key("lockPassword", "    lock_passwd: {}"), _Key("shell", "    shell: {}"),
        _Key("primaryGroup", "    primary_group: {}"), _Key("sudo", "    sudo: {}"),
        _Key("sshAuthorizedKeys", "    ssh_authorized_keys:", "      - {}"),
    )),
    _Key("diskSetup", "disk_setup:", (
        _Key("partitions", "", (
            _Key("device", "  {}:", (), True), _Key("tableType", "    table_type: {}"), _Key("", _layout),
            _Key("diskLayout", "    layout:", _share), _Key("overwrite", "    overwrite: {}"),
        )),
        _Key("filesystems", "fs_setup:", (
            _Key("label", "  - label: {}", (), True), _Key("filesystem", "    filesystem: {}", (), True),
            _Key("device", "    device: {}", (), True), _Key("partition", "    partition: {}"),
            _Key("overwrite", "    overwrite: {}"), _Key("replaceFS", "    replace_fs: {}"),
            _Key("extraOpts", "    extra_opts:", "      - {}"),
        ), True),
    )),
    _Key("mounts", "mounts:", _mount),
)  # fmt: skip
"""The keys of a spec, in the order of the templates."""


def _written(value: Mapping[str, Any], keys: tuple[_Key, ...], path: Path) -> Iterator[_Row]:
    """Yield the rows of a map of the spec, each with its path."""
    for one in keys:
        at = (*path, one.key) if one.key else path
        found = value.get(one.key) if one.key else value
        if not one.is_always and found in (None, "", [], {}):
            continue
        if one.entry and not isinstance(found, (list, dict) if isinstance(one.entry, tuple) else (list, type(None))):
            raise TypeError(f"{one.key} has another type")
        yield from _row(one.row, found, at)
        rows = enumerate(found or ()) if isinstance(found, list) else ()
        for number, entry in rows:
            if isinstance(one.entry, tuple):
                yield from _written(entry, one.entry, (*at, number))
            else:
                yield from _row(one.entry, entry, (*at, number))
        if isinstance(found, dict) and isinstance(one.entry, tuple):
            yield from _written(found, one.entry, at)


def _row(shape: str | Callable[[Any], str], value: Any, path: Path) -> list[_Row]:
    if isinstance(shape, str) and "{" not in shape:  # the row above a list
        return [(shape, path)] if shape else []
    text = shape.format(_go(value)) if isinstance(shape, str) else shape(value)
    return [(row, path) for row in text.split("\n")] if text else []
