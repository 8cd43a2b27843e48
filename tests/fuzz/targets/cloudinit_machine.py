"""A whole machine of cloud-init: plans and secrets with user-data, templates, instance data, folders of an instance."""

from __future__ import annotations

import base64
import gzip
import json
import random
from pathlib import Path
from typing import Any

from nodeattrs.cloudinit import InstanceData, given_in, merge, merge_confd, merge_layers, read_instance, vendor_in
from nodeattrs.dialects.cloudinit.inputs import choose_machine
from nodeattrs.dialects.cloudinit.templates import template_in
from nodeattrs.dialects.cloudinit.unpacking import blob_of
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import TREE, as_json, as_yaml
from tests.fuzz.target import Target, from_grammar, from_shape, json_of, tried
from tests.fuzz.targets.cloudinit import user_data

__all__ = ["TARGETS"]


def _content(chance: random.Random) -> str:
    """User-data, packed as clouds want it or not at all."""
    raw = user_data(chance).encode("utf-8", "backslashreplace")
    way = chance.random()
    if way < 0.4:
        return raw.decode()
    return base64.b64encode(gzip.compress(raw, 1, mtime=0) if way < 0.7 else raw).decode()


_RESOURCE = {
    "address": ("aws_instance.a", "data.cloudinit_config.c", "m.b"),
    "mode": ("managed", "data"),
    "type": ("aws_instance", "cloudinit_config", "x"),
    "values": {
        "user_data": (_content, _content, "a" * 40, None),
        "user_data_base64": _content,
        "custom_data": _content,
        "rendered": _content,
        "metadata": {"user-data": _content, "user_data": _content},
        "extra_config": {"guestinfo.userdata": _content},
    },
}
_MODULE = {"resources": [_RESOURCE, _RESOURCE], "child_modules": [{"resources": [_RESOURCE], "child_modules": [{}]}]}
_CHANGE = {"address": "aws_instance.a", "change": {"after_unknown": ({"user_data": True}, {}, None)}}
_TERRAFORM = {
    "format_version": "1.2",
    "planned_values": {"root_module": _MODULE},
    "prior_state": {"values": {"root_module": _MODULE}},
    "values": {"root_module": _MODULE},
    "resource_changes": [_CHANGE],
}
_SECRET = {
    "apiVersion": "v1",
    "kind": ("Secret", "Secret", "List", "ConfigMap"),
    "metadata": {"name": ("a", "b"), "namespace": "n"},
    "data": {"value": _content, "userData": _content, "format": ("aWduaXRpb24=", "Y2xvdWQtY29uZmln")},
    "stringData": {"userdata": _content, "format": "ignition"},
    "items": [{"kind": "Secret", "data": {"value": _content}}],
}


def _secret(tree: Any, chance: random.Random) -> str:
    text = (as_yaml if chance.random() < 0.7 else as_json)(tree, chance)
    return text if chance.random() < 0.7 else f"---\n{text}\n---\n{text}\n"


def _machines(text: str) -> Any:
    return given_in(blob_of(text))


def _each_merged(found: Any) -> None:
    tried(lambda: choose_machine(found), lambda: choose_machine(found, found[0].address))
    for one in found[:4]:
        tried(lambda one=one: merge(one.sources).explain(("runcmd",)))
        tried(lambda one=one: [merge(vendor_in(blob)) for blob in one.user])


_TEMPLATE = Grammar(
    r"""
    start: _FIRST line*
    line: _KEY ": " value _BREAK | "{% if " name " %}" _BREAK line* "{% endif %}" _BREAK
        | "{% for i in " many " %}" _BREAK line* "{% endfor %}" _BREAK | "{# " _KEY " #}" _BREAK
        | "{% set " _KEY " = " name " %}" _BREAK | "{% do " name " %}" _BREAK | "- " value _BREAK
    value: "{{ " name _FILTER " }}" | _KEY | "'{{ " name " }}'"
    name: _NAME | _NAME "." _KEY | _NAME "['" _KEY "']" | name _SIGN _NUMBER
    many: name | "range(" _NUMBER ")"
    """,
    {
        "_FIRST": ("## template: jinja\n#cloud-config\n", "## template:jinja\n", "## Template: Jinja\n#!/bin/sh\n"),
        "_KEY": ("a", "runcmd", "local_hostname", "k-k", "merge_how", "__class__"), "_BREAK": ("\n", "\n", " "),
        "_NAME": ("v1", "ds", "a", "i", "region", "nope", "merged_cfg", "self", "loop"),
        "_FILTER": ("", "", " | tojson", " | upper", " | join(',')", " | odd", " | list"),
        "_SIGN": (" * ", " ** ", " - ", " // ", " ~ ", " + "), "_NUMBER": ("0", "3", "99999", "'x'", "10 ** 9"),
    },
    glue="",
)  # fmt: skip
_DATA = {
    "v1": {"local-hostname": "web", "region": ("eu", REDACTED := "redacted for non-root user"), "k.k": TREE},
    "v2": {"region": "x"},
    "ds": {"meta_data": TREE, "a-b": {"c/d": TREE}},
    "merged_cfg": TREE,
    "base64-encoded-keys": ["ds/a_b", "v1/region", 5],
    "self": "x",
    "sensitive_keys": ["merged_cfg"],
}


def _rendered(text: str) -> Any:
    template = template_in(text)
    data = InstanceData({"v1": {"local-hostname": "web"}, "a": [1, "x", {"b": 2}], "region": "eu", "ds": {"k-k": 1}})
    data.render(template or "")
    return text, data


def _in_parts_and_files(found: Any) -> None:
    text, data = found
    for release in ("22.4", "26.2"):
        rules: Any = {"cloud_init": release, "instance_data": data}
        tried(
            lambda rules=rules: str(merge(["#cloud-config\na: 1", text], **rules).explain(("a",))),
            lambda rules=rules: merge_confd(text, {"10.cfg": text}, **rules),
            lambda: merge_layers(user=merge([text]), vendor=merge([text]), confd=merge_confd("a: 1", {"1.cfg": text})),
        )


_ASKING = (
    "## template: jinja\n#cloud-config\na: {{ v1.local_hostname }}\nb: {{ ds.a_b }}\nc: {{ region }}\nd: {{ a }}\n"
)


def _data(text: str) -> Any:
    file = Path("instance-data.json")
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    return InstanceData.read(file)


_FOLDER = (
    "user-data.txt",
    "vendor-data.txt",
    "cloud.cfg",
    "combined-cloud-config.json",
    "cmdline",
    "cloud.cfg.d/9.cfg",
)


def _folder(text: str) -> Any:
    """All files of a machine, any of them the text."""
    tree = json_of(text)
    for number, name in enumerate(_FOLDER):
        Path(name).parent.mkdir(exist_ok=True)
        own = tree.get(name) if isinstance(tree, dict) else text
        Path(name).write_text(own if isinstance(own, str) else json.dumps(own), encoding="utf-8", errors="replace")
        if own is None and number:
            Path(name).unlink()
    return read_instance(Path())


def _as_text(make: Any) -> Any:
    return lambda chance: make(chance)


_FILES = {
    "user-data.txt": user_data,
    "vendor-data.txt": user_data,
    "cloud.cfg": (user_data, "a: 1\nvendor_data: {enabled: false}\n", "conf_d: x\n"),
    "cloud.cfg.d/9.cfg": user_data,
    "cmdline": ("ro cc: a: 1 end_cc", "cloud-config-url=http://a/b", "cc:%ff"),
    "combined-cloud-config.json": {"a": TREE, "runcmd": ["a"], "_doc": "x", "null": 1, "users": [TREE]},
}

TARGETS = (
    Target("terraform", from_shape(_TERRAFORM), _machines, _each_merged),
    Target("secret", from_shape(_SECRET, written=_secret), _machines, _each_merged),
    Target("cloud-template", from_grammar(_TEMPLATE), _rendered, _in_parts_and_files),
    Target("instance-data", from_shape(_DATA), _data, lambda data: tried(lambda: data.render(_ASKING), lambda: merge(
        [_ASKING], instance_data=data).explain(("a",)))),
    Target("instance-folder", from_shape(_FILES), _folder, lambda machine: tried(lambda: list(machine.differing()))),
)  # fmt: skip
