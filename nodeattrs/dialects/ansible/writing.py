"""Write data with encrypted and unsafe texts as JSON and YAML, as the programs of Ansible print it."""

from __future__ import annotations

import json
from typing import Any

import yaml

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.dialects.ansible.values import Decrypted, Unsafe, Vault, as_json
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.formats.yaml_writing import style_of, text


def as_json_text(data: Any, *, marked: bool = True) -> str:
    """Data as the JSON text that ansible-inventory prints, without a line end.

    marked: whether unsafe texts are marked
    """
    made = json.dumps(as_json(data, marked=marked), indent=4, sort_keys=True, ensure_ascii=False)
    return made.translate(ESCAPES)


_Safe: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""libyaml's, as for Ansible: it breaks long lines elsewhere."""


class _Dumper(_Safe):  # type: ignore[misc]  # which class it is, PyYAML's build decides
    """Writes the values that only Ansible has."""


_Dumper.add_representer(Unsafe, lambda dumper, value: text(dumper, str(value)))
_Dumper.add_representer(str, text)
for _kind in (Vault, Decrypted):
    _Dumper.add_representer(
        _kind, lambda dumper, value: dumper.represent_scalar("!vault", value.text, style=style_of(value.text, "|"))
    )
_Dumper.add_multi_representer(Sensitive, lambda dumper, value: dumper.represent_dict(as_json(value)))


def as_yaml_text(data: Any, *, default_flow_style: bool | None = False, **how: Any) -> str:
    """Data as the YAML text that ansible-inventory prints; an object that occurs twice becomes an alias.

    default_flow_style, how: options of PyYAML
    """
    how = {"default_flow_style": default_flow_style, "allow_unicode": True, **how}
    made: str = yaml.dump(data, Dumper=_Dumper, **how)
    return made.translate(ESCAPES)
