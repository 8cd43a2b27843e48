"""cloud-init: parts in files, messages and archives, JSON patches, vendor-data, conf.d, all merge definitions."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path as Folder
from typing import Any

from nodeattrs import NodeattrsError
from nodeattrs.cloudinit import CloudPart, Merged, merge, merge_layers, read_confd
from tests.causality.maker import Maker, Raw
from tests.causality.notations import json_text, shared_text, yaml_text
from tests.causality.scanning import scanned
from tests.causality.system import Answer, Input, Refused
from tests.causality.systems.plain import EXAMPLES, below, texts_of
from tests.causality.values import Path

__all__ = ["CloudInit"]

KINDS = {"d": "map", "e": "map", "l": "list", "m": "list", "t": "text", "n": "scalar"}
DECIDING = re.compile(
    r"""^\s*(\#|-?\s*['"]?(merge_how|merge_type|settings|type|conf_d)['"]?\s*:  # definitions, types
        |-\s*name:\s*(list|dict|str)\b
        |(Merge-Type|X-Merge-Type|MIME-Version|Content-[\w-]+)\s*:|--        # the message and its parts
        |content:\s*\||-\s*(\||(list|dict|str)\b|\[(list|dict|str)\b)
        |[\[ ]*\{"op":\s*"(remove|copy|move)")""",
    re.VERBOSE,
)


class CloudInit:
    """`merge` of user-data in the order of names; with vendor-data, conf.d or a further file, `merge_layers`."""

    name = "cloudinit"

    def make(self, random: random.Random) -> Input:
        """Two to five parts, and now and then other layers."""
        return _Making(random).made()

    def examples(self) -> Iterator[tuple[str, Input]]:
        """The shop's machines, with and without the part that was written in a hurry."""
        texts = texts_of(EXAMPLES / "cloud-init", (".yaml", ".cfg"))
        places = {"base.yaml": "user/1.yaml", "web.yaml": "user/2.yaml", "vendor.yaml": "vendor/1.yaml"}
        for name, further in (("cloud-init", {}), ("cloud-init, careless", {"careless.yaml": "user/3.yaml"})):
            files = {{**places, **further}.get(file, file): text for file, text in texts.items()}
            wanted = {file: text for file, text in files.items() if "/" in file or file == "cloud.cfg"}
            yield name, Input(wanted, scanned(lambda file, before: True))

    def ask(self, folder: Folder) -> Answer:
        """What cloud-init would read."""
        try:
            merged = self._merged(folder)
        except NodeattrsError as error:
            raise Refused(str(error)) from error
        faults = [(part.filename, part.status) for part in merged.parts]
        return Answer(merged.config or {}, lambda path: self._explained(merged, folder, path), faults)

    def _merged(self, folder: Folder) -> Merged:
        layers: dict[str, Any] = {}
        if (folder / "vendor").is_dir():
            layers["vendor"] = merge(sorted((folder / "vendor").iterdir()))
        if (folder / "cloud.cfg").exists():
            layers["confd"] = read_confd(folder / "cloud.cfg")
        if (folder / "extra.yaml").exists():
            file = folder / "extra.yaml"
            layers["extra"] = [CloudPart(file.read_text(encoding="utf-8"), filename="extra.yaml", file=file.as_posix())]
        user = merge(sorted((folder / "user").iterdir())) if (folder / "user").is_dir() else merge([])
        return merge_layers(user=user, **layers) if layers else user

    def _explained(self, merged: Merged, folder: Folder, path: Path) -> Any:
        return below(merged.trace(path).to_dict(), folder)

    def decides(self, file: str, line: str) -> bool:
        """Definitions, types, headers, and operations without a value."""
        return bool(DECIDING.match(line))


class _Making:
    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.make = Maker(random, "delmtn", kinds=KINDS)
        self.by_position = False
        self.files: dict[str, str] = {}

    def made(self) -> Input:
        left, number = self.random.randint(2, 5), 0
        while left > 0:
            number += 1
            count = self.random.randint(1, left) if self.make.chance(0.3) else 1
            left -= count
            self.file(f"user/{number}", count, number > 1)
        if self.make.chance(0.25):
            self.file("vendor/1", self.random.randint(1, 2), False)
        if self.make.chance(0.25):
            self.files["cloud.cfg"] = self.body()
            for name in range(self.random.randint(0, 2)):
                self.files[f"cloud.cfg.d/{name}.cfg"] = self.body()
        if self.make.chance(0.1):
            self.files["extra.yaml"] = self.body()
        return Input(self.files, by_position=self.by_position)

    def file(self, name: str, count: int, patches: bool) -> None:
        """A file with some parts."""
        if count == 1 and patches and self.make.chance(0.15):
            self.files[f"{name}.json"] = f"#cloud-config-jsonp\n{self.patch()}"
        elif count == 1 and self.make.chance(0.85):
            self.files[f"{name}.yaml"] = f"#cloud-config\n{self.body()}"
        elif self.make.chance(0.5):
            self.files[f"{name}.mime"] = self.message(count, patches)
        else:
            self.files[f"{name}.yaml"] = self.archive(count, patches)

    # --- definitions

    def definition(self) -> list[tuple[str, list[str]]]:
        """Mergers with options; by position seldom, since that asks less."""
        listed = self.random.choice(["append", "append", "append", "prepend", "no_replace", ""])
        keyed = [self.random.choice(["replace", "no_replace", ""])]
        keyed += [one for one in ("recurse_list", "allow_delete") if self.make.chance(0.6)]
        if listed not in ("append", "prepend") and self.make.chance(0.7):
            keyed.append("recurse_str")  # a text appended to a list is its letters
        inner = [one for one in ("recurse_dict", "recurse_list", "recurse_str") if not listed and self.make.chance(0.4)]
        self.by_position |= not listed
        text = ["append"] if self.make.chance(0.5) else []
        made = [("list", [*filter(None, [listed]), *inner]), ("dict", [*filter(None, keyed)]), ("str", text)]
        return self.random.sample(made, 3) if self.make.chance(0.8) else made[:2]

    def spelled(self) -> str:
        """A definition as a text."""
        return "+".join(f"{name}({','.join(options)})" for name, options in self.definition())

    def merge_how(self) -> str:
        """A definition as a key of the body."""
        key, form = self.random.choice(["merge_how", "merge_how", "merge_type"]), self.random.random()
        if form < 0.5:
            return f"{key}: '{self.spelled()}'\n"
        if form < 0.75:
            entries = (f"- [{', '.join([name, *options])}]\n" for name, options in self.definition())
        else:
            entries = (f"- name: {name}\n  settings: [{', '.join(options)}]\n" for name, options in self.definition())
        return f"{key}:\n{''.join(entries)}"

    # --- texts

    def body(self) -> str:
        """A config, with its definition in front or behind; sometimes it writes a key twice."""
        text = yaml_text(self.make.map(3, 4), self.random)
        if self.make.chance(0.08):
            text += yaml_text(self.make.map(2, 1), self.random)
        if self.make.chance(0.05):
            text += shared_text(self.make)
        if self.make.chance(0.65):
            text = self.merge_how() + text if self.make.chance(0.5) else text + self.merge_how()
        return text

    def patch(self) -> str:
        """Operations on what the parts before it may have."""
        operations = ",\n".join(self.operation() for _ in range(self.random.randint(1, 2)))
        return f"[\n{operations}\n]\n" if self.make.chance(0.5) else f"[{operations}]\n"

    def operation(self) -> str:
        key, form = self.random.choice(self.make.keys), self.random.random()
        if form < 0.1:
            return f'{{"op": "remove", "path": "/{key}"}}'
        if form < 0.2:
            return f'{{"op": "{self.random.choice(["copy", "move"])}", "from": "/{key}", "path": "/x"}}'
        path = f"/{key}/-" if KINDS[key] == "list" and form < 0.5 else f"/{key}"
        value = self.make.scalar() if path.endswith("-") else self.make.under(key, 1, 0)
        text = " ".join(json_text(value, self.random).split()) if not isinstance(value, Raw) else ""
        text = text or (f'"{value}"' if value.is_text else str(value))
        return f'{{"op": "{"replace" if form > 0.9 else "add"}", "path": "{path}", "value": {text}}}'

    def message(self, count: int, patches: bool) -> str:
        """A mail message."""
        lines = ["MIME-Version: 1.0", 'Content-Type: multipart/mixed; boundary="x"', ""]
        for number in range(count):
            patch = (patches or number > 0) and self.make.chance(0.15)
            lines += ["--x", f"Content-Type: text/cloud-config{'-jsonp' if patch else ''}"]
            if not patch and self.make.chance(0.4):
                lines.append(f"{self.random.choice(['Merge-Type', 'X-Merge-Type'])}: {self.spelled()}")
            lines += ["", (self.patch() if patch else self.body()).rstrip("\n")]
        return "\n".join([*lines, "--x--", ""])

    def archive(self, count: int, patches: bool) -> str:
        """A list of parts; the text of each is a block."""
        lines = ["#cloud-config-archive"]
        for number in range(count):
            patch = (patches or number > 0) and self.make.chance(0.15)
            body = self.patch() if patch else self.body()
            inner = [f"    {line}" for line in body.rstrip("\n").split("\n")]
            if patch or self.make.chance(0.6):
                lines.append(f"- type: text/cloud-config{'-jsonp' if patch else ''}")
                if not patch and self.make.chance(0.3):
                    lines.append(f"  Merge-Type: {self.spelled()}")
                lines += ["  content: |", *inner]
            else:
                lines += ["- |", "    #cloud-config", *inner]
        return "\n".join([*lines, ""])
