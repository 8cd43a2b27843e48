"""Read user-data from plans and states of Terraform in JSON: where resources have it, and how it is packed.

Used by `inputs`. The results are texts and their paths; the module does not read what a text says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.cloudinit.forms import FormText, maps_in
from nodeattrs.dialects.cloudinit.packing import pack
from nodeattrs.dialects.cloudinit.parts import CloudPart
from nodeattrs.dialects.cloudinit.unpacking import Blob, type_of_text, unwrapped

_USER_DATA: dict[Path, bool | None] = {
    ("custom_data",): True, ("user_data",): None, ("user_data_base64",): True, ("metadata", "user-data"): False,
    ("metadata", "user_data"): True, ("metadata", 0, "user_data"): True, ("extra_config", "guestinfo.userdata"): False,
    ("config", "cloud-init.user-data"): False, ("config", "user.user-data"): False,
    ("user_data", "cloud-init"): False, ("deploy_params", 0, "user_data"): None, ("source_raw", 0, "data"): False,
}  # fmt: skip
"""The paths of user-data in the values of resources -> whether it is unpacked as base64; None where providers differ.

If a resource has two of them, the first one counts."""
_GUESTINFO: Path = ("extra_config", "guestinfo.userdata")
_ENCODINGS: dict[Path, tuple[str, tuple[str, ...]]] = {
    ("metadata", "user-data"): ("user-data-encoding", ("base64",)),
    _GUESTINFO: ("guestinfo.userdata.encoding", ("base64", "b64", "gzip+base64", "gz+b64")),
}
"""The keys beside user-data that say how it is encoded, and the words for base64."""
_DROPLET = "digitalocean_droplet"
"""Its user-data comes as it is: cloud-init's data source DigitalOcean unpacks nothing."""
_VENDOR_DATA: tuple[Path, ...] = (("config", "cloud-init.vendor-data"), ("config", "user.vendor-data"))
_LIKE_USER_DATA = re.compile(r"(?i)(?:.*[-_.])?(?:user|custom)[-_.]?data(?:[-_](?:base64|b64|raw|file))?|cicustom")
"""A key that may hold user-data, in a resource whose form is not known here."""
_CONFIGS = ("cloudinit_config", "template_cloudinit_config")
_MACHINE = re.compile(r"instance|server|machine|vm|droplet|profile|template")
"""A type of what is, or describes, a machine."""
_CONFIG_KEYS: tuple[Path, ...] = (("rendered",), ("part",))
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class ResourceUserData(NamedTuple):
    """The user-data of one resource of a plan or state.

    is_config: whether the resource is a `cloudinit_config`, whose text other resources may use
    text:      the user-data, or the reason why the document does not have it
    vendor:    the vendor-data: one text, or ()
    """

    is_config: bool
    text: FormText
    vendor: tuple[str, ...]


_Resource = tuple[Path, Any]
"""The path to the values of a resource, and the resource as a plan has it."""


def is_of_terraform(tree: Any) -> bool:
    """Whether a JSON document is a plan or a state of Terraform."""
    return _is_plan(tree) or (
        "terraform_version" in tree and any("instances" in one for one in maps_in(tree.get("resources")))
    )


def _is_plan(tree: Any) -> bool:
    return "format_version" in tree and not {"planned_values", "values", "prior_state"}.isdisjoint(tree)


def texts_in(tree: Any) -> Iterator[ResourceUserData]:
    """Yield the user-data of each resource of a plan or state: first of machines, then each `cloudinit_config`.

    A resource with user-data that is not in the document is yielded with the reason; others are left out.
    """
    known_later = {
        change["address"]: dig(change, ("change", "after_unknown"))
        for change in maps_in(tree.get("resource_changes"))
        if isinstance(change.get("address"), str)
    }
    found = list(_found(_of_plan(tree) if _is_plan(tree) else _of_state(tree), known_later))
    yield from sorted(found, key=lambda one: one.is_config)


def _of_plan(tree: Any) -> Iterator[_Resource]:
    tops = [(top, *rest) for top, *rest in (("planned_values",), ("values",), ("prior_state", "values"))]
    for top in tops:
        for path, resource in _resources(dig(tree, (*top, "root_module")), (*top, "root_module")):
            if not (top[0] == "prior_state" and resource.get("mode") != "data" and "planned_values" in tree):
                yield (*path, "values"), resource


def _of_state(tree: Any) -> Iterator[_Resource]:
    for at, resource in enumerate(maps_in(tree.get("resources"))):
        for number, one in enumerate(maps_in(resource.get("instances"))):
            words = [resource.get("module"), "data" if resource.get("mode") == "data" else None]
            address = ".".join(str(word) for word in (*words, resource.get("type"), resource.get("name")) if word)
            index = f"[{json.dumps(one['index_key'])}]" if "index_key" in one else ""
            known = {"address": f"{address}{index}", "type": resource.get("type"), "values": one.get("attributes")}
            yield ("resources", at, "instances", number, "attributes"), known


def _found(rows: Iterable[_Resource], known_later: Mapping[str, Any]) -> Iterator[ResourceUserData]:
    for path, resource in rows:
        address, values = str(resource.get("address", "")), resource.get("values")
        found = _written(resource, known_later.get(address, {}))
        if found is None:
            continue
        where, written = found
        is_hash = written is not None and _HASH.fullmatch(written) is not None
        why = _why_unread(values, where, is_hash)
        text = FormText(
            (*path, *where),
            None if is_hash else written,
            address,
            why,
            is_packed=_is_packed(resource.get("type"), values, where),
        )
        vendor = [row for key in _VENDOR_DATA if (row := _text_at(values, key))]
        yield ResourceUserData(where in _CONFIG_KEYS, text, tuple(vendor[:1]))


def _why_unread(values: Any, where: Path, is_hash: bool) -> str:
    """Why user-data has no text."""
    if is_hash:
        return "only its hash is there"
    is_there = dig(values, where) is not ABSENT
    return "is written in a form that is not read here" if is_there else "is known after the plan is applied"


def _resources(module: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Each resource of a module and of those in it, with its path."""
    if isinstance(module, dict):
        for index, one in enumerate(maps_in(module.get("resources"))):
            yield (*path, "resources", index), one
        for index, inner in enumerate(maps_in(module.get("child_modules"))):
            yield from _resources(inner, (*path, "child_modules", index))


def _written(resource: Any, later: Any) -> tuple[Path, str | None] | None:
    """(Path of a resource's user-data, its text). The text is None if the file does not have it. None: no user-data."""
    values = resource.get("values")
    keys = _CONFIG_KEYS if resource.get("type") in _CONFIGS else _USER_DATA
    texts = [(where, text) for where in keys if (text := _text_at(values, where))]
    if texts:
        return next((one for one in texts if not _HASH.fullmatch(one[1])), texts[0])
    is_machine = _MACHINE.search(str(resource.get("type"))) is not None
    unread = next((where for where in keys if _is_later(later, where, is_machine)), None) or _like_user_data(values)
    return None if unread is None else (unread, None)


def _is_packed(kind: Any, values: Any, where: Path) -> bool | None:
    """Whether user-data of a resource of some type is unpacked as base64; None where that is not known."""
    if kind == _DROPLET and where == ("user_data",):
        return False
    key, words = _ENCODINGS.get(where, ("", ()))
    return dig(values, (*where[:-1], key)) in words or _USER_DATA.get(where)


def _is_later(later: Any, where: Path, is_machine: bool) -> bool:
    """Whether a value is known only after the plan is applied. For a machine, a map around the value counts, too."""
    return any(dig(later, where[:end]) is True for end in range(1 if is_machine else len(where), len(where) + 1))


def _text_at(values: Any, where: Path) -> str | None:
    """The text of user-data at a path; the parts of a `cloudinit_config` as the message that it renders."""
    found = dig(values, where)
    if where == _GUESTINFO and isinstance(found, str):
        return found.rstrip()  # as cloud-init does
    if where == ("part",) and (rows := maps_in(found)) and all(isinstance(row.get("content"), str) for row in rows):
        return pack(
            CloudPart(
                row["content"],
                row.get("content_type") or "text/plain",
                row.get("filename"),
                {"X-Merge-Type": row["merge_type"]} if row.get("merge_type") else {},
            )
            for row in rows
        )
    return found if isinstance(found, str) else None


def _like_user_data(values: Any) -> Path | None:
    """The path of the first text that looks like user-data by its key or its first line; None for none."""
    open_: list[tuple[Path, Any]] = [((), values)] if isinstance(values, dict) else []
    while open_:
        path, value = open_.pop()
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, (dict, list)):
                open_.append(((*path, key), inner))
            elif isinstance(inner, str) and inner and (_LIKE_USER_DATA.fullmatch(str(key)) or _is_config(inner)):
                return (*path, key)
    return None


def _is_config(text: str) -> bool:
    """Whether a text is user-data by its first line, under any key."""
    kind = type_of_text(unwrapped(Blob(text)).content)
    return kind is not None and "cloud-config" in kind
