"""Random questions about cloud-init's merge: values, rows of configs, user-data, conf.d folders, command lines, whole
machines. Each is plain data, made from a seed; none knows an answer.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import gzip
import json
import quopri
import random
from collections.abc import Callable
from typing import Any

import yaml

KEYS = ("a", "b", "c", "l", "m", "runcmd", "users", "write_files", 1, True, None)
TYPES = {
    "text/cloud-config": "#cloud-config\n",
    "text/x-shellscript": "#!/bin/sh\n",
    "text/cloud-boothook": "#cloud-boothook\n",
    "text/jinja2": "## template: jinja\n#cloud-config\n",
    "text/part-handler": "#part-handler\n",
    "text/cloud-config-archive": "#cloud-config-archive\n",
    "text/cloud-config-jsonp": "#cloud-config-jsonp\n",
}
INSTANCE_DATA = {
    "v1": {"local-hostname": "web", "cloud_name": "aws", "region": "eu-1"},
    "ds": {"meta_data": {"items": ["x", "y"], "local.ipv4": "10.0.0.1", "n": 3}, "v2.0": {"k-k": True}},
    "merged_cfg": {"a": {"b-c": 1}},
    "userdata": "no\nmore",
    "sensitive_keys": ["merged_cfg"],
    "base64_encoded_keys": [],
}

_OPTIONS = (
    "append", "prepend", "replace", "no_replace", "no-replace", "allow_delete", "recurse_list", "recurse_array",
    "recurse_str", "recurse_dict", " Append ", "unique", "", "x(y", "z)",
)  # fmt: skip
_MERGERS = ("dict", "list", "str", "dict", "list", "str", "m_dict", "List", " str ", "set", "int", "", "1x", "d-t")
_SCALARS: tuple[Any, ...] = (
    "x", "yz", "", "no_replace", "äß", "two\nlines\n", " lead", "off", "7", 0, 1, -3, True, False, None, 2.5,
    float("inf"), 10**24, datetime.date(2021, 2, 3), datetime.datetime(2021, 2, 3, 4, 5, 6), b"\x00\xfe", "\x1b",
    "\u2028", "k: v", "#no",
)  # fmt: skip
YAML = (
    "a: 017\n", "a: 1:20\n", "a: 0xF\nb: 2_000\n", "a: yes\nb: Off\n", "a: ~\n", "? [x]\n: 1\n", "? {a: b}\n: c\n",
    "a: !!set {x, y}\n", "a: !!binary aGk=\n", "a: !!omap [x: 1, y: 2]\n", "a: !!pairs [x: 1]\n",
    "a: 2021-02-03 04:05:06 +02:00\n", "b: &x {k: 1}\na: *x\nc: *x\n", "b: &x {k: 1, z: 2}\na:\n  <<: *x\n  k: 3\n",
    "a: &r\n  c: *r\n", "a: 1\na: 2\n", "a: 1\n---\nb: 2\n", "a:\t1\n", "\ta: 1\n", "\ufeffa: 1\n",
    "%YAML 1.1\n---\na: 1\n",
    "%YAML 1.2\n---\na: yes\n", "a: !!python/unicode x\n", "a: !!python/tuple [1]\n", "a: !foo x\n", "a: !!str 1\n",
    "a: !!int x\n", "a: !!int ''\n", "a: !!float 1\n", "a: !!float ''\n", "a: !!null ''\n", "a: !!map []\n", "a: [\n",
    "# only\n", "", "...\n", "---\n", "null\n", "[a]\n", "text\n", "1\n", "!!set {a, b}\n", "a: |\n  x\n  y\n",
    "a: >-\n  x\n  y\n", 'a: "\\x00"\n', 'a: "\\ud800"\n', 'a: "\\U0001F600"\n', "a: '\x07'\n", "a: \x85b\n",
    "a: b\r\nc: d\r\n", "a: @x\n", "a: `x\n", "a: %x\n", "a: {{ v1.region }}\n", "a: 2021-13-45\n",
    "a: 99999999999999999999:1\n", "a: 1e400\n", "a: .nan\n", "a: !!timestamp x\n", "a: !!bool maybe\n",
    "<<: {a: 1}\nb: 2\n", "<<: [{a: 1}, {a: 2, c: 3}]\n", "<<: 5\n", "a: {<<: [1]}\n", "=: 1\n", "a: =\n",
    "a: {=: 1}\n",
    "a: !!omap [=: 1]\n", "a: [a, b, ]\n", "a: {b, c}\n", "a: [x: 1]\n", "- x\n- a: 1\n",
    "merge_how: [list, append]\na: 1\n",
    "merge_how: dict(recurse_list)+list(append)\na: [z]\n", "launch-index: 1\na: 5\n", "launch-index: x\na: 6\n",
    "a: !!merge x\n", "? a\n? b\n", "a: ? b\n", '"a\\\n b": 1\n', "a: b: c\n", "a: 'x\n", "a: &x\nb: *x\n",
    "a: *nope\n",
    "a: -.inf\nb: 1.\nc: .5\n", "a: 1__0\n", "a: 0b11\nb: 0o7\n", "a: +1\n", "12:30:45: 1\n", "2021-02-03: 1\n",
    "~: 1\n",
    "true: 1\nTrue: 2\n1: 3\n1.0: 4\n", "a: !!bool maybe\nb: [\n", "a: {x: !!bool maybe}\nb: !!int x\n",
    "vendor_data: {enabled: false}\n", "allow_userdata: false\n",
)  # fmt: skip
_TEMPLATES = (
    "a: {{ v1.region }}\n", "a: {{ region }}\n", "b: {{ ds.meta_data.local_ipv4 }}\n", "b: {{ v1.local_hostname }}\n",
    "l:\n{% for x in ds.meta_data['items'] %}\n- {{ x }}\n{% endfor %}\n", "{% if v1.nope %}\na: 1\n{% endif %}\n",
    "a: {{ nope }}\n", "a: {{ nope.more }}\n", "a: {{ v1.a-b }}\n", "a: {{ ds.v2_0.k_k }}\n", "a: {{ 1 // 0 }}\n",
    "a: {% if\n", "{% endfor %}\n", "{# none #}\n", "a: {{ ''.__class__ }}\n", "{% do 1 %}a: 1\n",
    "a: {{ merged_cfg }}\n",
    "{{ userdata }}: 1\n", "{% set x = 5 %}\na: {{ x }}\n", "a: {{ ds.meta_data.n * 2 }}\n", "a: '{{ \"#\" }}'\n",
    "{% raw %}a: {{ x }}{% endraw %}\n", "{% for i in range(3) %}k{{ i }}: 1\n{% endfor %}", "a: {{ v1 | tojson }}\n",
    "merge_how: dict(recurse_list)+list(append)\nl: [{{ n }}]\n", "{% include 'x' %}\n", "a: {{ x | nofilter }}\n",
)  # fmt: skip
_GZIPS = ("application/gzip", "application/x-gzip")


class Maker:
    """Makes questions from one seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def may(self, chance: float) -> bool:
        return self.random.random() < chance

    def several(self, make: Callable[[], Any], most: int) -> list[Any]:
        return [make() for _ in range(self.random.randrange(most + 1))]

    # --- values and definitions -----------------------------------------------------------

    def value(self, depth: int = 0) -> Any:
        kind = self.random.random()
        if depth > 3 or kind < 0.4:
            return self.pick(*_SCALARS)
        if kind < 0.68:
            return self.several(lambda: self.value(depth + 1), 3)
        if kind < 0.95:
            return {self.pick(*KEYS): self.value(depth + 1) for _ in range(self.random.randrange(4))}
        return {self.pick("p", "q", 1)} if kind < 0.975 else tuple(self.several(lambda: self.value(depth + 1), 2))

    def config(self) -> dict[Any, Any]:
        return {self.pick(*KEYS): self.value(1) for _ in range(self.random.randrange(5))}

    def definition_text(self) -> str:
        def piece() -> str:
            options = self.pick(",", ", ").join(self.several(lambda: self.pick(*_OPTIONS), 3))
            return f"{self.pick(*_MERGERS)}{self.pick('(', '(', '(', ' (')}{options})"

        text = self.pick("+", "+", "+", " + ", ",", "++").join(self.several(piece, 3))
        return str(self.pick(text, text, text, f"dict(recurse_list)+{text}", text.replace(")", "", 1), f"{text}\n"))

    def _entry(self) -> Any:
        options = self.several(lambda: self.pick(*_OPTIONS), 3)
        return self.pick(
            {"name": self.pick(*_MERGERS), "settings": options},
            {"name": self.pick("dict", "list", "str"), "settings": options},
            {"name": "list", "settings": self.pick("append", "no_replace", "", None, 5, {"append": 1})},
            {"name": self.pick("list", 5, None)}, {"settings": []}, [self.pick(*_MERGERS), *options],
            [], [5], ["list", 5], "list", "list(append)", 5, None, [["list"], "append"],
        )  # fmt: skip

    def definition(self) -> Any:
        if self.may(0.55):
            return self.definition_text()
        if self.may(0.8):
            return self.several(self._entry, 3)
        return self.pick(None, "", [], {}, 5, True, {"name": "list", "settings": ["append"]}, "append", 1.5)

    # --- texts ----------------------------------------------------------------------------

    def body(self) -> str:
        """The text of a config; now and then an odd one."""
        if self.may(0.3):
            return "".join(self.pick(*YAML) for _ in range(self.pick(1, 1, 1, 2)))
        config = self.config()
        for key in self.pick((), (), ("merge_how",), ("merge_how",), ("merge_type",), ("merge_how", "merge_type")):
            config[key] = self.definition()
        if self.may(0.1):
            config["a"] = config["b"] = self.value()
        text = _dumped(config, self.may(0.5), self.pick(True, False, None))
        odd = (text.replace("\n", "\r\n"), f"{text}---\nb: 1\n", text[:-3], f"\n\n{text}", text.rstrip("\n"))
        return str(self.pick(text, text, text, text, *odd))

    def template(self) -> str:
        first = self.pick(
            "## template: jinja\n", "## template: jinja\n", "## template:jinja\n", "## Template: Jinja \n"
        )
        text = first + self.pick("#cloud-config\n", "#cloud-config\n", "#cloud-config\n", "#!/bin/sh\n", "")
        text += "".join(self.pick(*_TEMPLATES) for _ in range(self.pick(1, 1, 2)))
        odd = (f"\n{text}", text.rstrip("\n"), text.replace("jinja", "cheetah"), text.replace("jinja", "jinja2"))
        jsonp = text.replace("#cloud-config\n", '#cloud-config-jsonp\n[{"op": "add", "path": "/a", "value": 1}]\n')
        return str(self.pick(*[text] * 8, jsonp, text.replace("\n", "\r\n"), *odd))

    def patch(self) -> str:
        def operation() -> Any:
            path = self.pick(
                "/a", "/b", "/a/-", "/a/0", "/a/b", "", "/", "/c", "/a~1b", "/l/-", "a", "/x/y", "/a/01", None
            )
            return self.pick(
                {"op": "add", "path": path, "value": self.value(2)}, {"op": "add", "path": path, "value": [1]},
                {"op": "remove", "path": path}, {"op": "replace", "path": path, "value": 5},
                {"op": "copy", "from": self.pick("/a", "/b"), "path": path}, {"op": "move", "from": "/a",
                "path": path},
                {"op": "test", "path": path, "value": self.pick(1, "x", [], True)}, {"op": "odd", "path": path},
                {"op": "add", "path": path}, {"path": path}, 5, [],
            )  # fmt: skip

        try:
            text = json.dumps(self.several(operation, 3))
        except TypeError:
            text = '[{"op": "add", "path": "/a", "value": [1]}]'
        return str(self.pick(*[text] * 7, "[", "5", "null", "[[]]", '"x"', text + text, "", "[1, NaN]"))

    def whole(self, kind: str = "", depth: int = 0) -> str:
        """A text of some kind with its first line, or almost."""
        kind = kind or self.pick(*["text/cloud-config"] * 10, *TYPES, "text/plain", "include")
        if kind == "text/jinja2":
            return self.template()
        if kind == "text/cloud-config-jsonp":
            return (
                self.pick("#cloud-config-jsonp\n", "#cloud-config-jsonp ", "\n#cloud-config-jsonp\n", "") + self.patch()
            )
        if kind == "text/cloud-config-archive":
            return "#cloud-config-archive\n" + self.archive(depth + 1)
        if kind == "include":
            return self.pick("#include\n", "#include-once\n", "#include ") + self.pick(
                "http://none.invalid/x\n", "\n", "# c\n"
            )
        first = TYPES.get(kind, self.pick("", "hello\n"))
        odd = (
            first.upper(),
            f" \n{first}",
            "",
            first.replace("#", "# ", 1),
            first.replace("\n", " \n"),
            f"\ufeff{first}",
        )
        return str(self.pick(*[first] * 6, *odd)) + (self.body() if "config" in kind or self.may(0.3) else "echo hi\n")

    def archive(self, depth: int = 0) -> str:
        def entry() -> Any:
            made: dict[Any, Any] = {"content": self.whole("", depth) if depth < 2 else "a: 1\n"}
            if self.may(0.5):
                made["type"] = self.pick(
                    *TYPES, "text/plain", "text/x-odd", "application/gzip", "noslash", "", None, 5, "a/b/c",
                    "text/cloud-config; charset=utf-8", "multipart/mixed", "message/rfc822", "Text/Cloud-Config",
                )  # fmt: skip
            if self.may(0.3):
                made["filename"] = self.pick("n.cfg", "", None, 5, "a\nb", "ü.txt", "x y", 'q"q', "t\tt")
            if self.may(0.2):
                made["launch-index"] = self.pick(0, 1, "1", "x", None)
            if self.may(0.4):
                header = self.pick("Merge-Type", "X-Merge-Type", "merge-type", "merge_how", "X-Odd", 5, "MIME-Version")
                made[header] = self.pick(self.definition_text(), self.definition_text(), "", None, 5, ["x"], "ü")
            if self.may(0.1):
                made["content"] = self.pick(None, 5, b"#cloud-config\na: 1\n", b"\xff", [], {"a": 1}, "")
            return self.pick(*[made] * 5, "#cloud-config\nb: 2\n", 5, None, [])

        text = _dumped(self.several(entry, 3), False, None)
        return str(self.pick(*[text] * 8, "a: 1\n", "[", "", "5\n"))

    # --- messages -------------------------------------------------------------------------

    def _headers(self, kind: str) -> list[str]:
        rows = []
        if self.may(0.9):
            end = self.pick("", "", "", "; charset=utf-8", "; charset=latin-1", "; charset=nope", "; name=x", ";")
            rows.append(f"{self.pick('Content-Type', 'Content-Type', 'content-type', 'CONTENT-TYPE')}: {kind}{end}")
        if self.may(0.5):
            text = self.definition_text().replace("\n", "")
            name = self.pick("Merge-Type", "Merge-Type", "X-Merge-Type", "merge-type", "MERGE-TYPE", "Merge-Type ")
            odd = ("", "=?utf-8?q?dict=28=29?=", text.replace("+", "+\n ", 1), f'"{text}"', "lïst()")
            rows.append(f"{name}{self.pick(': ', ': ', ':')}{self.pick(text, text, text, text, *odd)}")
        if self.may(0.1):
            rows.append("Merge-Type: " + self.pick("dict(replace)", "", "list(append)+dict(recurse_list)"))
        if self.may(0.3):
            names = (
                '; filename="n.cfg"',
                "",
                "; filename=",
                "; filename*=utf-8''%c3%bc.cfg",
                '; filename="a\tb"',
                "; filename=x y",
            )
            rows.append(f"Content-Disposition: attachment{self.pick(*names)}")
        if self.may(0.2):
            rows.append(f"{self.pick('Launch-Index', 'launch-index')}: {self.pick('0', '1', 'x', ' 1 ', '-1', '')}")
        if self.may(0.4):
            rows.append("MIME-Version: 1.0")
        if self.may(0.05):
            rows.append(self.pick("no colon", "X-Empty:", " : x", "From x@y", "X-Odd: é"))
        self.random.shuffle(rows)
        return rows

    def _leaf(self, depth: int) -> str:
        kind = self.pick(
            *["text/cloud-config"] * 8, *TYPES, *TYPES, "text/plain", "text/x-not-multipart", "text/x-odd", *_GZIPS,
            "application/octet-stream", "Text/Cloud-Config", "text/x-shellscript-per-boot", "noslash", "",
            "message/rfc822",
            "application/json", "text/html",
        )  # fmt: skip
        rows = self._headers(kind)
        if kind in _GZIPS:
            data = gzip.compress(_bytes(self.whole()), mtime=0)
            data = self.pick(*[data] * 5, gzip.compress(data, mtime=0), data[:-4], b"junk", data + b"x")
            return "\n".join([*rows, "Content-Transfer-Encoding: base64", "", base64.encodebytes(data).decode()])
        if kind == "message/rfc822":
            return "\n".join(rows) + "\n\n" + (self._leaf(depth + 1) if depth < 3 else "x")
        text = self.whole(kind if kind in TYPES else "", depth)
        coding = self.pick("", "", "", "7bit", "8bit", "base64", "base64", "quoted-printable", "x-uuencode", "nope")
        if coding:
            rows.append(f"Content-Transfer-Encoding: {coding}")
        data = _bytes(text)
        if coding == "base64":
            text = base64.encodebytes(data).decode()
            text = self.pick(text, text, text, text.rstrip("\n="), text + "!!", text[:-5])
        elif coding == "quoted-printable":
            text = quopri.encodestring(data).decode()
        elif coding == "x-uuencode":
            lines = [binascii.b2a_uu(data[at : at + 45]).decode() for at in range(0, len(data), 45)]
            text = f"begin 644 x\n{''.join(lines)}`\nend\n"
        return "\n".join(rows) + self.pick("\n\n", "\n\n", "\n\n", "\n", "\n\n\n") + text

    def message(self, depth: int = 0) -> str:
        mark = self.pick(f"==={depth}===", f"BOUNDARY{depth}", f"//{depth}")
        parts = self.several(lambda: self.message(depth + 1) if depth < 2 and self.may(0.1) else self._leaf(depth), 4)
        kind = self.pick(
            "multipart/mixed", "multipart/mixed", "multipart/alternative", "Multipart/Mixed", "multipart/digest"
        )
        top = [
            f'Content-Type: {kind}; boundary="{mark}"',
            self.pick("MIME-Version: 1.0", "Mime-Version: 1.0", "mime-version: 1.0"),
        ]
        self.random.shuffle(top)
        inner = "".join(f"--{mark}\n{part}{self.pick(chr(10), chr(10), '')}" for part in parts)
        text = (
            "\n".join(top) + f"\n\n{self.pick('', 'before' + chr(10))}{inner}{self.pick(f'--{mark}--' + chr(10), '')}"
        )
        odd = (text.replace("\n", "\r\n"), f"\n{text}", f"From x\n{text}", text.replace(f'boundary="{mark}"', "x=y"))
        return str(self.pick(*[text] * 6, *odd))

    def blob(self) -> bytes:
        text = self.pick(
            self.whole, self.message, self.message, lambda: "#cloud-config-archive\n" + self.archive(), self.template
        )()
        data = _bytes(text)
        kind = self.random.random()
        if kind < 0.1:
            return gzip.compress(data, mtime=0)
        if kind < 0.13:
            return gzip.compress(gzip.compress(data, mtime=0), mtime=0)[: self.pick(None, -9)]
        if kind < 0.16:
            return data + self.pick(b"\xe9", b"# caf\xe9\n", b"\x00", b"\xff\xfe")
        if kind < 0.18:
            return self.pick(
                base64.b64encode(data),
                text.encode("utf-16", "replace"),
                bytes(self.several(lambda: self.random.randrange(256), 40)),
            )
        return data

    # --- questions ------------------------------------------------------------------------

    def values(self) -> dict[str, Any]:
        return {
            "how": self.definition(),
            "base": self.pick(self.value, self.config)(),
            "update": self.pick(self.value, self.config)(),
        }

    def many(self) -> dict[str, Any]:
        rows = self.several(self.config, 4)
        for row in rows:
            if self.may(0.6):
                row[self.pick("merge_how", "merge_type")] = self.definition()
        return {"rows": rows, "reverse": self.may(0.5)}

    def userdata(self) -> dict[str, Any]:
        blobs = [self.blob() for _ in range(self.pick(1, 1, 1, 2, 3))]
        return {
            "blobs": blobs,
            "launch_index": self.pick(*[None] * 6, 0, 1),
            "data": self.pick(INSTANCE_DATA, INSTANCE_DATA, {}),
        }

    def cmdline(self) -> dict[str, Any]:
        words = (
            "ro", "quiet", "cc:", "cc:", "cc: ", "end_cc", "end_cc", "a: 1", "b:%20[1,2]", "root=/dev/sda", "xcc:",
            "\\n",
            "acc: 5", "runcmd: [ls]", "%0a", "\t", "cc", "\ncc:", "+", "%zz", "%C3%BC", "Cc:",
            "ifname=net0:52:00:cc:ab",
        )  # fmt: skip
        return {
            "cmdline": "".join(self.pick(" ", "", " ") + self.pick(*words) for _ in range(self.random.randrange(12)))
        }

    def confd(self) -> dict[str, Any]:
        main = self._file()
        if self.may(0.1):
            main += self.pick(
                "conf_d: ''\n",
                "conf_d: null\n",
                "conf_d: 5\n",
                "conf_d: false\n",
                "conf_d: true\n",
                "conf_d: [x]\n",
                "conf_d: /none\n",
            )
        names = ("10.cfg", "20.cfg", "05-x.cfg", "9.cfg", "B.cfg", "notes.txt", "z.cfg~", ".hid.cfg", "ü.cfg", "10.CFG")
        files = {self.pick(*names): self._file() for _ in range(self.random.randrange(4))}
        data = self.pick(INSTANCE_DATA, {})
        return {"main": main if self.may(0.97) else None, "files": files if self.may(0.9) else None, "data": data}

    def _file(self) -> str:
        return self.template() if self.may(0.1) else str(self.pick("", "#cloud-config\n")) + self.body()

    def machine(self) -> dict[str, Any]:
        """Everything at once: user-data, vendor-data, data source, files and the kernel command line."""
        switch = self.pick(
            "", "", "", *(f"vendor_data{n}: {v}\n" for n in ("", "2") for v in _SWITCHES), "allow_userdata: no\n"
        )
        found: dict[str, Any] = {}
        for name in ("user", "vendor", "vendor2"):
            if self.may(0.6):
                found[name] = self.blob() if self.may(0.3) else _bytes("#cloud-config\n" + self.body())
        place = self.pick("user", "main", "env", "runtime")
        if place == "user" and switch:
            found["user"] = _bytes("#cloud-config\n" + switch + _dumped(self.config(), False, None))
        for name, chance in (("env", 0.3), ("runtime", 0.3), ("main", 0.7)):
            if self.may(chance):
                found[name] = self.body()
            if name == place and switch:
                found[name] = switch + _dumped(self.config(), False, None)
        if self.may(0.3):
            found["datasource"] = self.config()
        if self.may(0.3):
            found["files"] = {self.pick("10.cfg", "20.cfg"): self._file()}
        found["cmdline"] = self.pick(
            "", "ro quiet", "cc:a:%205 end_cc x cc: b: [1] end_cc", "ro cc: l: [k] end_cc", "xcc: a: 1"
        )
        return {"data": self.pick(INSTANCE_DATA, {}), **found}


_SWITCHES = (
    "{enabled: false}", "{enabled: no}", "{enabled: 'off'}", "{enabled: 'on'}", "{enabled: 1}", "{enabled: null}",
    "no", "[]", "{}",
    "{prefix: [x]}", "{disabled_handlers: [text/cloud-config]}", "{disabled_handlers: text/cloud-config-archive}",
    "{disabled_handlers: [text/jinja2, text/x-shellscript]}", "{disabled_handlers: 5}",
    "{disabled_handlers: {text/cloud-config: 1}}",
)  # fmt: skip

SORTS = {"values": 6, "many": 3, "userdata": 8, "cmdline": 1, "confd": 3, "machine": 3}
"""The sorts of questions, and how often each is asked in proportion to the others."""


def question(seed: int, number: int) -> tuple[str, dict[str, Any]]:
    """The question of that number: its sort and what is asked."""
    maker = Maker(f"{seed}:{number}")
    sort = maker.random.choices(list(SORTS), list(SORTS.values()))[0]
    return sort, getattr(maker, sort)()


def _dumped(tree: Any, sort_keys: bool, flow: bool | None) -> str:
    try:
        return yaml.safe_dump(tree, sort_keys=sort_keys, default_flow_style=flow, allow_unicode=True)
    except (TypeError, yaml.YAMLError):
        return "a: 1\n"


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"#cloud-config\na: 1\n"
