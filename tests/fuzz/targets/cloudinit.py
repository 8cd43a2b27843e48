"""cloud-init: user-data of every kind, definitions of mergers, JSON patches, layers and kernel command lines."""

from __future__ import annotations

import base64
import gzip
import json
import random
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml

from nodeattrs.cloudinit import (
    Blob,
    Schema,
    config_of_cmdline,
    load_config,
    masked,
    merge,
    merge_confd,
    merge_layers,
    parse_definition,
)
from nodeattrs.dialects.cloudinit.reports import findings_of
from nodeattrs.reports.finding_forms import FORMS
from nodeattrs.reports.selection import Findings
from tests.fuzz.grammar import Grammar
from tests.fuzz.mutation import mutated
from tests.fuzz.shapes import TREE, as_yaml, grown, spoiled
from tests.fuzz.target import Refused, Target, from_grammar, from_shape, json_of, seeds_in, texts_of, tried
from tests.fuzz.targets.texts import YAML

__all__ = ["TARGETS"]

_DEFINITIONS = Grammar(
    r"""
    start: merger ("+" merger)*
    merger: _KIND "(" [_OPTION ("," _OPTION)*] ")"
    """,
    {
        "_KIND": ("list", "dict", "str", "m_list", "x"),
        "_OPTION": ("append", "prepend", "replace", "no_replace", "recurse_list", "recurse_dict", "recurse_str",
            "allow_delete", "recurse_array"),
    },
    glue="",
)  # fmt: skip


def _how(chance: random.Random) -> Any:
    """A definition as text, as a word, or as data."""
    if chance.random() < 0.6:
        return _DEFINITIONS.grown(chance)
    options = ["append", "replace", "recurse_list", "no_replace", 1]
    return [{"name": chance.choice(("list", "dict", "str")), "settings": chance.sample(options, chance.randrange(3))}]


_CONFIG = {
    "merge_how": _how, "merge_type": _how, "runcmd": [["ls", "a"], "b"], "packages": [("vim", "git", ["a", "1"])],
    "users": [{"name": ("a", "b"), "groups": TREE}, "default"], "write_files": [{"path": "/a", "content": "c"}],
    "a": TREE, "b": TREE,
}  # fmt: skip
_TYPES = (
    "text/cloud-config", "text/x-shellscript", "text/cloud-config-archive", "text/cloud-config-jsonp",
    "text/x-include-url",
    "text/plain", "message/rfc822", "application/gzip", "multipart/mixed", "text/cloud-boothook", "text/jinja2", "x/y",
)  # fmt: skip
_PATCH = {
    "op": ("add", "remove", "replace", "copy", "move", "test"),
    "path": ("/a", "/l/-", "/l/0", "", "/b/c", "/l/01", "/a~1b", "/l/-1", "/~2"),
    "from": ("/a", "/l/0", "/b", ""), "value": TREE,
}  # fmt: skip
_WORDS = (
    "#cloud-config\n", "#cloud-config-archive\n", "#cloud-config-jsonp\n", "## template: jinja\n", "#include\n",
    "#!/bin/sh\n",
    "merge_how: ", "Merge-Type: ", "Content-Type: ", "multipart/mixed; boundary=", "charset=", "filename*=utf-8''%ff",
    "=?utf-8?b?",
    "--b\n", "--b--\n", "\n\n", "Launch-Index: 1\n", "Content-Transfer-Encoding: ", "quoted-printable", "<<: ", "&a ",
    "*a",
)  # fmt: skip


def _config(chance: random.Random) -> str:
    """One cloud-config, now and then as JSON or any YAML."""
    if chance.random() < 0.2:
        return f"#cloud-config\n{YAML.grown(chance)}"
    tree = grown(_CONFIG, chance, 0.5)
    for _ in range(chance.choice((0, 0, 1, 2))):
        tree = spoiled(tree, chance)
    return f"#cloud-config\n{as_yaml(tree, chance)}"


def _patch(chance: random.Random) -> str:
    operations = [grown(_PATCH, chance, 0.9) for _ in range(chance.randrange(1, 5))]
    return f"#cloud-config-jsonp\n{json.dumps(spoiled(operations, chance) if chance.random() < 0.3 else operations)}"


def _archive(chance: random.Random, depth: int) -> str:
    parts: list[Any] = []
    for _ in range(chance.randrange(4)):
        content = user_data(chance, depth - 1)
        part = {
            "content": content,
            "type": chance.choice(_TYPES),
            "merge_how": _how(chance),
            "launch-index": chance.choice((0, 1, "1")),
        }
        parts.append(
            chance.choice((content, {key: part[key] for key in part if key == "content" or chance.random() < 0.3}))
        )
    return f"#cloud-config-archive\n{yaml.safe_dump(parts)}"


def _encoded(text: str, chance: random.Random) -> tuple[str, str]:
    raw = text.encode("utf-8", "backslashreplace")
    return chance.choice((
        ("7bit", text), ("8bit", text), ("base64", base64.encodebytes(raw).decode()),
        ("quoted-printable", text.replace("=", "=3D")),
        ("base64", base64.encodebytes(gzip.compress(raw, 1, mtime=0)).decode()), ("x-odd", text),
    ))  # fmt: skip


def _mime(chance: random.Random, depth: int) -> str:
    lines = ['Content-Type: multipart/mixed; boundary="b"', "MIME-Version: 1.0", ""]
    for _ in range(chance.randrange(4)):
        encoding, body = _encoded(user_data(chance, depth - 1), chance)
        kind = "text/cloud-config" if chance.random() < 0.6 else chance.choice(_TYPES)
        lines += ["--b", f"Content-Type: {kind}; charset={chance.choice(('utf-8', 'us-ascii', 'latin-1', 'x'))}"]
        head = (
            f"Content-Transfer-Encoding: {encoding}",
            f"Merge-Type: {_DEFINITIONS.grown(chance)}",
            'Content-Disposition: attachment; filename="f"',
            "Launch-Index: 1",
        )
        lines += [one for one in head if chance.random() < 0.4 or one.endswith("base64")]
        lines += ["", body]
    return "\n".join([*lines, "--b--", ""])


def user_data(chance: random.Random, depth: int = 2) -> str:
    """User-data of any kind."""
    kind = chance.randrange(10)
    if depth and kind in (0, 1):
        return _mime(chance, depth)
    if depth and kind == 2:
        return _archive(chance, depth)
    if kind == 3:
        return _patch(chance)
    if kind == 4:
        return chance.choice(
            (
                "#!/bin/sh\ntrue\n",
                "#include\nhttp://a/b\n",
                "## template: jinja\n#cloud-config\na: {{ v1 }}\n",
                "plain\n",
                "",
            )
        )
    return _config(chance)


_SEEDS = (
    *seeds_in("cloudinit-parts", lambda text: "\n" in text),
    *seeds_in("cloudinit-merge", lambda text: "#cloud" in text),
    *texts_of("cloud-init/*.yaml"),
)


def _grown(chance: random.Random) -> str:
    way = chance.random()
    text = chance.choice(_SEEDS) if way > 0.85 else user_data(chance)
    return text if way < 0.6 else mutated(text, chance, _WORDS)


def _merged(text: str, **options: Any) -> Any:
    """What comes of it; refused where no part at all was merged."""
    merged = merge([text], **options)
    if not any(report.status == "merged" for report in merged.parts):
        raise Refused("no part was merged")
    return text, merged


def _asked(found: tuple[str, Any]) -> None:
    text, merged = found
    _told(merged)
    tried(
        lambda: _told(merge([text, "#cloud-config\na: 1\nl: [1]\n", text])),
        lambda: _told(merge(["#cloud-config\nruncmd: [a]\nb: {c: x}\n", text], mode="documented")),
        lambda: _told(merge([text, text], how="list(append)+dict(recurse_list)+str(append)", launch_index=1)),
    )


def _told(merged: Any) -> None:
    str(merged.text), list(merged.warnings), list(merged.changes())
    if isinstance(merged.config, dict):
        tried(*(partial(merged.explain, (key,)) for key in list(merged.config)[:3]))


_LINTED = {
    "runcmd": [("ls", ["a"], {"a": "b"}, 5), "echo"], "bootcmd": ("a", ["a"], {"a": 1}),
    "users": [("default", {"name": ("a", "default"), "ssh-keys": TREE}), "b"], "write_files": [
        {"path": ("/a", "${b}"), "permissions": (420, 644, "0644", -1), "content": ("#!/bin/sh\r\n", "a"), "pth": 1}],
    "run_cmd": TREE, "package": ["a"], "hostname": ("${a}", "{{ b }}", "a"), "apt_update": True, "ntp": TREE,
    "password": ("x", 5), "chpasswd": {"list": ("a:b", ["a:b"])}, "coreos": ({}, 1), "power_state": TREE, "a": TREE,
}  # fmt: skip
_RULES = {
    "properties": {
        "runcmd": {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "array"}]}, "uniqueItems": True},
        "users": {"items": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["name"]}]}},
        "ntp": {"type": "object", "additionalProperties": False, "patternProperties": {"^[a-c]": {"minItems": 1}}},
        "power_state": {"enum": ["a", 1]}, "hostname": {"type": "string", "pattern": "^[a-z]+$"},
        "apt_update": {"deprecated": True, "type": "boolean"}, "password": {"type": "string", "minLength": 2},
    },
    "additionalProperties": False,
}  # fmt: skip


def _linted_text(chance: random.Random) -> str:
    """What a linter is for: user-data with traps, now and then with an odd beginning or odd ends of lines."""
    text = f"#cloud-config\n{as_yaml(grown(_LINTED, chance, 0.4), chance)}"
    if chance.random() < 0.3:
        text = chance.choice(("\ufeff", "\n\n", "# ", "%{ if a }\n", "## template: jinja\n", "<powershell>\n")) + text
    if chance.random() < 0.2:
        text = text.replace("\n", "\r\n", chance.randrange(1, 4))
    if chance.random() < 0.2:
        text = f"#cloud-config-archive\n{yaml.safe_dump([text, text])}"
    return text if chance.random() < 0.7 else user_data(chance)


@cache
def _schema() -> Schema:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rules.json")
        file.write_text(json.dumps(_RULES), "utf-8")
        return Schema(file)


def _checked(text: str) -> Any:
    merged = merge([Blob(text, "a.yaml")])
    found = list(findings_of(merged, _schema()))
    if any(one.line is None or one.column is None for one in found):
        raise AssertionError(f"a finding without a place: {found}")
    return merged, Findings(found)


def _reported(found: Any) -> None:
    merged, findings = found
    for form in FORMS.values():
        form(findings, "0")
    _told(masked(merged))
    tried(lambda: list(findings_of(merge_layers(user=merged, vendor=merged, base={"runcmd": ["z"], "users": ["y"]}))))


def _defined(text: str) -> None:
    tried(lambda: _told(merge(["#cloud-config\na: [1]\nb: {c: x, l: [y]}\ns: t\n"] * 2, how=text)))


def _patched(text: str) -> Any:
    json_of(text)
    return text


def _with_patch(text: str) -> None:
    patch = f"#cloud-config-jsonp\n{text}"
    tried(lambda: _told(merge(["#cloud-config\na: 1\nl: [1, {x: y}]\nb: {c: 1}\n", patch, "#cloud-config\nz: 1\n"])))


def _layered(text: str) -> None:
    tried(
        lambda: _told(merge_confd(text, {"10.cfg": "a: 1\nb: {c: [1]}\n", "20.cfg": text})),
        lambda: _told(merge_layers(user=text, vendor="a: {b: 1}\nruncmd: [x]\n", confd=text, builtin={"a": 1},
                datasource=text)),
        lambda: _told(merge_layers(extra=[text], env="a: [1]", base=text, mode="documented")),
    )  # fmt: skip


_CMDLINE = Grammar(
    r"""
    start: part*
    part: _WORD " " | "cc:" pair (_BREAK pair)* [" end_cc "]
    pair: _KEY ":" _BLANK _VALUE
    """,
    {
        "_WORD": ("root=/dev/sda", "quiet", "end_cc"), "_KEY": ("a", "runcmd", "%61", "merge_how", "b%20c"),
        "_BLANK": (" ", "%20", "%0A  "),
        "_VALUE": ("1", "[ls, a]", "{c: d}", "%22x%22", "list(append)", "%ff", "'q'"),
        "_BREAK": ("\\n", "\\n", "%0A", " "),
    },
    glue="",
)  # fmt: skip


def _cmdline(text: str) -> str:
    config = config_of_cmdline(text)
    load_config(config)
    return config


TARGETS = (
    Target("user-data", _grown, _merged, _asked),
    Target("user-data-check", lambda chance: mutated(_linted_text(chance), chance, _WORDS) if chance.random() < 0.3
        else _linted_text(chance), _checked, _reported),
    Target("definition", from_grammar(_DEFINITIONS), lambda text: (parse_definition(text), text)[1], _defined),
    Target("json-patch", from_shape([_PATCH, _PATCH, _PATCH]), _patched, _with_patch),
    Target("cloud-cfg", lambda chance: _grown(chance).removeprefix("#cloud-config\n"),
        lambda text: (load_config(text), text)[1], _layered),
    Target("cmdline", from_grammar(_CMDLINE), _cmdline, lambda text: tried(lambda: _told(merge_layers(cmdline=text,
                    builtin="a: 1")))),
)  # fmt: skip
