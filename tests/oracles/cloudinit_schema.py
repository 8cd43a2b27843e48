"""python -m tests.oracles.cloudinit_schema --source DIR

Asks the schema code of a real cloud-init about each file of its own examples, documentation and tests, alone, and
`nodeattrs cloud-config check --schema` about the same file. Each of its findings has to be found by us, at the same
place of the config or below it, or with the same broken YAML, and each of ours has a line. Then the same texts as parts
of a message and as entries of an archive, which it passes over: there we have to find what we find in the file.

Texts are whole files that begin like user-data, and the blocks of documentation that do. What it imports is Debian's,
as of `tests.oracles.cloudinit`. Exit code 1 for a finding that we do not have, or if there was none.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from nodeattrs.cloudinit import Merged, Schema, merge, schema_file
from nodeattrs.core.tree import spell
from nodeattrs.dialects.cloudinit.lints.values import TOP_KEYS
from nodeattrs.dialects.cloudinit.reports import findings_of
from nodeattrs.errors import NodeattrsError
from tests.oracles.cloudinit import fetched

_PEER = """
import json, sys, tempfile, yaml
sys.path.insert(0, sys.argv[1])
sys.path.append(sys.argv[2])
import jsonschema
from cloudinit.config import schema
rules = schema.get_schema()
for line in sys.stdin:
    text = json.loads(line)
    try:
        config = yaml.safe_load(text)
    except Exception as error:
        print(json.dumps({"broken": True}), flush=True)
        continue
    if not isinstance(config, dict):
        print(json.dumps({"broken": True}), flush=True)
        continue
    found = {"errors": [], "notes": []}
    try:
        schema.validate_cloudconfig_schema(config, schema=rules, strict=True)
    except schema.SchemaValidationError as error:
        found["errors"] = [list(one) for one in error.schema_errors or ()]
        found["notes"] = [list(one) for one in error.schema_deprecations or ()]
    except Exception as error:
        found["failed"] = repr(error)
    print(json.dumps(found), flush=True)
"""
_ENDS = r"""(?![^\n]*(?:\"\"\"|''')|\s*(?:```|EO[A-Z]+\b|--))"""
_OPENS = re.compile(r"^\s*```\s*[\w-]*$|::$|:: [\w-]+$|\|[-+]?$|tab:: ")
_BLOCK = re.compile(rf"^([ \t]*)#cloud-config[ \t]*\n(?:(?:\1{_ENDS}.*|[ \t]*)\n)+", re.M)


def texts(source: Path) -> Iterator[tuple[str, str]]:
    """Name -> text: files that begin so, and what stands in other files and begins so."""
    for folder in ("doc", "tests", "config", "cloudinit"):
        for file in sorted((source / folder).rglob("*")):
            if not file.is_file() or file.stat().st_size > 1_000_000:
                continue
            text = file.read_text("utf-8", "replace")
            name = file.relative_to(source).as_posix()
            if text.startswith("#cloud-config\n"):
                yield name, text
                continue
            for line, block in blocks_in(text):
                yield f"{name}:{line}", block
            if file.suffix == ".py" and "tests/unittests/config" in name:
                yield from _literals(name, ast.parse(text))


def blocks_in(text: str, only_whole: bool = False) -> Iterator[tuple[int, str]]:
    """The line and the text of each block that begins like a cloud-config; it ends where it is indented less.

    only_whole: those that begin where a block of a document or manifest does
    """
    for block in _BLOCK.finditer(text):
        before = text[: block.start()].rstrip()
        if not only_whole or _OPENS.search(before.rpartition("\n")[2]):
            yield (
                text.count("\n", 0, block.start()) + 1,
                textwrap.dedent(block[0].expandtabs() if block[1] else block[0]),
            )


def _literals(name: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The configs that tests write as Python: maps of constants with a key that cloud-init has."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Dict):
            continue
        try:
            config = ast.literal_eval(node)
            text = yaml.safe_dump(config, sort_keys=False)
        except (ValueError, TypeError, yaml.YAMLError):
            continue
        if config and all(isinstance(key, str) for key in config) and not {*config}.isdisjoint(TOP_KEYS):
            yield f"{name}:{node.lineno}", f"#cloud-config\n{text}"


class Peer:
    """Its schema code in a process of its own."""

    def __init__(self, source: Path, libraries: Path) -> None:
        words = [sys.executable, "-c", _PEER, str(source), str(libraries)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, text: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def ours(blob: str, schema: Schema) -> tuple[set[str], list[Any], Merged]:
    """The paths about which we find something, and the findings."""
    merged = merge([blob])
    paths = {spell(one.path) for one in (*merged.warnings, *schema.warnings(merged.value)) if one.path is not None}
    return paths, list(findings_of(merged, schema)), merged


def lacking(theirs: dict[str, Any], paths: set[str], merged: Merged) -> list[str]:
    """What it finds and we do not: at the same path, above it, or below."""
    if theirs.get("broken"):
        return [] if not merged.ok or merged.config is None else ["broken YAML"]
    refused = {"merge_how", "merge_type"} if not merged.ok else set()
    dotted = {path.replace("[", ".").replace("]", "").replace('"', "") for path in paths} | refused
    return [
        f"{path}: {message}"
        for path, message in (*theirs["errors"], *theirs["notes"])
        if not any(
            f"{mine}.".startswith(f"{path}.") or not path or f"{path}.".startswith(f"{mine}.") for mine in dotted
        )
    ]


def packed(text: str) -> Iterator[tuple[str, str]]:
    """The same text in a message, and in an archive."""
    head = (
        'Content-Type: multipart/mixed; boundary="=="\nMIME-Version: 1.0\n\n--==\nContent-Type: text/cloud-config\n\n'
    )
    yield "message", f"{head}{text}\n--==--\n"
    yield "archive", "#cloud-config-archive\n" + yaml.safe_dump([{"content": text, "type": "text/cloud-config"}])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.cloudinit_schema", description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="a folder of cloud-init's source")
    asked = parser.parse_args(arguments)
    count: Counter[str] = Counter()
    differ = 0
    schema = Schema(schema_file(str(asked.source)))
    with tempfile.TemporaryDirectory(prefix="cloudinit-") as folder:
        peer = Peer(asked.source.resolve(), fetched(Path(folder)))
        for name, text in texts(asked.source):
            theirs = peer.ask(text)
            paths, found, merged = ours(text, schema)
            count["texts"] += 1
            count["texts it finds something in"] += bool(
                theirs.get("broken") or theirs.get("errors") or theirs.get("notes")
            )
            count["its findings"] += (
                len(theirs.get("errors", ())) + len(theirs.get("notes", ())) + bool(theirs.get("broken"))
            )
            count["our findings"] += len(found)
            missing = lacking(theirs, paths, merged)
            missing += [f"no line: {one.message}" for one in found if not one.line]
            for way, blob in packed(text):
                try:
                    again = ours(blob, schema)[0]
                except NodeattrsError:
                    continue
                count[f"{way}s"] += 1
                missing += [f"not in the {way}: {path}" for path in sorted(paths - again)]
            for one in missing:
                differ += 1
                print(f"{name}: {one}")
    for sort, number in count.items():
        print(f"  {number:6,}  {sort}")
    print(f"{differ} that we do not have")
    return 1 if differ or not count["its findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
