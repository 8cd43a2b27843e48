"""`Node` for code of users: after this import PyYAML's dumpers write nodes, views and writers as plain data.

`nodeattrs.Node`, runs and the Python prompt take it from here. Commands that read saved nodes do not need PyYAML.

>>> node = Node("web1")
>>> node.default["ports"] = [80, 443]
>>> yaml.safe_dump(node["ports"])
'- 80\\n- 443\\n'
"""

from __future__ import annotations

from typing import Any

import yaml

from nodeattrs.node.attributes import Attributes
from nodeattrs.node.documents import json_default
from nodeattrs.node.node import Node, words_of
from nodeattrs.node.view import ListView, MapView
from nodeattrs.node.writers import ListWriter, Writer

__all__ = ["Node", "words_of"]


def _represented(dumper: Any, value: Any) -> Any:
    return dumper.represent_data(json_default(value))


for _name in ("SafeDumper", "CSafeDumper", "Dumper", "CDumper"):
    for _kind in (Attributes, MapView, ListView, Writer, ListWriter) if hasattr(yaml, _name) else ():
        getattr(yaml, _name).add_multi_representer(_kind, _represented)
