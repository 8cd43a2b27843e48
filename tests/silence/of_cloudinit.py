"""Parts of user-data, one of which cannot be read, or merges in a way that is not known."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import partial

from tests.silence.case import Case, Files, Maker, closed, with_file, yaml_of

_KEYS = ("locale", "timezone", "hostname")
_HASH = "da39a3ee5e6b4b0d3255bfef95601890afd80709"


class _Parts:
    """Some parts, the place among them. A later part replaces what an earlier one sets."""

    def __init__(self, rand: random.Random) -> None:
        count = rand.randint(2, 3)
        self.hidden, self.key = rand.randrange(count), rand.choice(_KEYS)
        parts = [{one: f"v{rand.randint(1, 9)}" for one in _KEYS} for _ in range(count)]
        self.can_set = self.hidden == count - 1 or rand.random() < 0.4
        for part in parts[self.hidden + 1 :] if self.can_set else ():
            part.pop(self.key)
        names = [f"{at}.yaml" for at in range(count)]
        self.place = names[self.hidden]
        self.files: Files = {name: f"#cloud-config\n{yaml_of(part)}" for name, part in zip(names, parts, strict=True)}
        self.files["nodeattrs.toml"] = f"[cloud-init.web]\nfiles = {json.dumps(names)}\n"
        self.rest = {one: value for one, value in parts[self.hidden].items() if one != self.key}

    def case(self, text: str | None, place: str = "", *, fails: bool = False) -> Case:
        rest = yaml_of(self.rest)
        first, second = (
            self.files | {self.place: f"#cloud-config\n{rest}{self.key}: {value}\n"} for value in ("west", "east")
        )
        hidden = with_file(first, self.place, text)
        return Case(
            hidden, (first, second), place or self.place, self.key, "web", self.can_set, "cloud-init", fails=fails
        )


def _template(rand: random.Random) -> Case:
    """A template asks for instance data."""
    parts = _Parts(rand)
    rest = yaml_of(parts.rest)
    return parts.case(f"## template: jinja\n#cloud-config\n{rest}{parts.key}: {{{{ v1.region }}}}\n")


def _closed(how: str, rand: random.Random) -> Case:
    parts = _Parts(rand)
    text = f"#cloud-config\n{yaml_of(parts.rest)}{parts.key}: west\n"
    return parts.case(closed(how, text), fails=how in ("locked", "missing"))


def _include(rand: random.Random) -> Case:
    """A part names a part on a server."""
    return _Parts(rand).case("#include\nhttps://example.org/more.yaml\n")


def _merger(rand: random.Random) -> Case:
    """A part asks for a merger that is not known here. It may make anything of the parts before it."""
    parts = _Parts(rand)
    text = f"#cloud-config\n{yaml_of(parts.rest)}{parts.key}: west\nmerge_how: ours()+dict(recurse_array)\n"
    return parts.case(text, fails=True)


def _plan(values: object, rand: random.Random, *, is_whole: bool = True) -> Case:
    """A plan of Terraform stands where a part is."""
    parts = _Parts(rand)
    server = {"address": "aws_instance.a", "type": "aws_instance", "values": values}
    plan = json.dumps({"format_version": "1.2", "planned_values": {"root_module": {"resources": [server]}}})
    case = parts.case(plan if is_whole else plan[: len(plan) // 2], fails=not is_whole)
    return case._replace(only=("cloud-config",))


MAKERS: Mapping[str, Maker] = {
    "template": _template,
    **{how: partial(_closed, how) for how in ("locked", "outside", "missing")},
    "include": _include,
    "merger": _merger,
    "hash in a plan": partial(_plan, {"user_data": _HASH}),
    "truncated plan": partial(_plan, {"user_data": "#cloud-config\nlocale: x\n"}, is_whole=False),
}
