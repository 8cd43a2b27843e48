"""What `python -m tests.oracles.chef read DIR...` does.

Roles, environments and metadata in Ruby below the folders, each read by us and run by a real Ruby with a small DSL:
fields, attributes and the order of their keys are compared, and every leaf has to name a line. Prints what differs,
what we refuse, and figures; exit code 0 where nothing differs. It runs the Ruby that it is given: fetch what you trust.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeattrs.adapters.chef import ruby_document
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import Document

FOLDERS = {"roles": "role", "environments": "environment"}


def kind_of(file: Path) -> str:
    """What a file describes; "" for any other."""
    return "cookbook" if file.name == "metadata.rb" else FOLDERS.get(file.parent.name, "")


def fields_of(document: Document, kind: str, name: str) -> dict[str, Any]:
    """What a document says, as Chef's to_h has it."""
    tree = dict(document.tree)
    if kind == "cookbook":
        return {"dependencies": {}, **tree}
    lists = dict(tree.get("env_run_lists", {}))
    default = lists.pop("_default", tree.get("run_list", []))
    return {"name": name, **tree, "run_list": default, "env_run_lists": lists}


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of what holds nothing else."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    inside = [one for key, entry in entries for one in leaves(entry, (*path, key))]
    yield from inside or [path]


def judged(file: Path, theirs: dict[str, Any]) -> tuple[str, int]:
    """What came of a file in a word, and how many leaves have a line."""
    kind = kind_of(file)
    try:
        document = ruby_document(file, str(file), kind)
    except NodeattrsError as error:
        print(error)
        return ("refused, and so by Ruby" if "error" in theirs else "refused"), 0
    if "error" in theirs:
        return "refused by Ruby alone", 0
    ours = fields_of(document, kind, file.stem)
    orders = [
        json.dumps(one.get(key)) for key in ("default_attributes", "override_attributes") for one in (ours, theirs)
    ]
    if ours != theirs or orders[0] != orders[1] or orders[2] != orders[3]:
        print(f"{file}: differs\n  ours {json.dumps(ours)[:500]}\n  Ruby {json.dumps(theirs)[:500]}")
        return "differs", 0
    return "equal", sum(document.place(path)[0] > 0 for path in leaves(document.tree))


def main(folders: list[str]) -> int:
    files = [
        file for folder in folders for file in sorted(Path(folder).rglob("*.rb")) if kind_of(file) and file.is_file()
    ]
    ruby = ["ruby", str(Path(__file__).with_suffix(".rb"))]
    ran = subprocess.run(ruby, input="\n".join(map(str, files)), capture_output=True, text=True, check=True)
    theirs = json.loads(ran.stdout.splitlines()[-1])
    counts: Counter[tuple[str, str]] = Counter()
    placed = 0
    for file in files:
        word, lines = judged(file, theirs[str(file)])
        counts[kind_of(file), word] += 1
        placed += lines
    for (kind, word), count in sorted(counts.items()):
        print(f"{kind:12} {word:24} {count}")
    print(f"{placed} leaves with a line")
    return int(any(word == "differs" for _, word in counts) or not files)
