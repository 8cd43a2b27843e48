"""Inputs of any size for the growth of commands and operations: each function writes what one of them reads.

Everything is made anew in a folder. What grows is a single thing: the attributes of one node, the nodes of a store, the
parts of user-data; the rest stays small.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any

Make = Callable[[Path, int], object]

FACTS = {"platform": "ubuntu", "platform_family": "debian", "platform_version": "22.04", "fqdn": "n1.example.com"}


def put(folder: Path, name: str, text: str | Iterable[str]) -> None:
    """A file, with the folders above it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else "".join(text), "utf-8")


def wide(count: int, value: Any = 1) -> dict[str, Any]:
    """A map of so many leaves, three levels deep."""
    return {f"s{at}": {f"k{one}": {"v": value} for one in range(50)} for at in range(-(-count // 50))}


def repository(folder: Path, **more: str) -> None:
    """One node with one cookbook; more: name of a file in the cookbook -> its text, with _ for / and __ for a dot."""
    put(folder, "nodes/n1.json", '{"run_list": ["role[r]", "recipe[c]"]}')
    put(folder, "roles/r.json", "{}")
    put(folder, "cookbooks/c/recipes/default.py", "")
    put(folder, "f/n1.json", json.dumps(FACTS))
    for name, text in more.items():
        put(folder, f"cookbooks/c/{name.replace('__', '.').replace('_', '/')}", text)


def wide_role(folder: Path, count: int) -> None:
    repository(folder)
    put(folder, "roles/r.json", json.dumps({"name": "r", "default_attributes": wide(count)}, indent=1))
    put(folder, "environments/e.json", json.dumps({"name": "e", "override_attributes": wide(count)}, indent=1))


def listed_roles(folder: Path, count: int) -> None:
    """Roles whose lists unite, one after the other."""
    repository(folder)
    names = [f"r{at}" for at in range(count)]
    put(folder, "nodes/n1.json", json.dumps({"run_list": [*(f"role[{name}]" for name in names), "recipe[c]"]}))
    for at, name in enumerate(names):
        put(
            folder,
            f"roles/{name}.json",
            json.dumps({"default_attributes": {"l": [at * 10 + one for one in range(10)]}}),
        )


def program(folder: Path, count: int) -> None:
    """An attribute file of many lines."""
    repository(folder, attributes_default__py=_lines(count))


def _lines(count: int) -> str:
    lines = (f'default["a{at % 50}"]["b{at}"] = {at}\n' for at in range(count))
    return "from nodeattrs.recipe import default\n" + "".join(lines)


def data(folder: Path, count: int) -> None:
    """An attribute file of data with as many blocks as leaves."""
    blocks = [{"when": {"platform": "ubuntu"}, "default": {f"a{at % 50}": {f"b{at}": at}}} for at in range(count)]
    repository(folder, attributes_default__json=json.dumps({"default": wide(count), "blocks": blocks}))


def resources(folder: Path, count: int) -> None:
    """A recipe that declares files, each notified by the one before."""
    text = "\n".join(f'file("/f{at}", content="x")' for at in range(count))
    repository(folder, recipes_default__py=f"from nodeattrs.recipe import *\n{text}\n")


def nodes(folder: Path, count: int) -> None:
    """Nodes of a repository, with facts of their own."""
    repository(folder, attributes_default__json='{"default": {"a": {"b": 1}}}')
    for at in range(count):
        put(folder, f"nodes/n{at}.json", '{"run_list": ["role[r]", "recipe[c]"]}')
        put(folder, f"f/n{at}.json", json.dumps({**FACTS, "fqdn": f"n{at}.example.com"}))


def many_roles(folder: Path, count: int) -> None:
    """Roles, environments and nodes for a check."""
    repository(folder)
    for at in range(count):
        tree = {"default_attributes": {"a": {f"k{at}": at, "x": at}}, "override_attributes": {"a": {"y": at}}}
        put(folder, f"roles/r{at}.json", json.dumps(tree))
        put(folder, f"nodes/n{at}.json", json.dumps({"run_list": [f"role[r{at}]", "recipe[c]"]}))


def _kept(known: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is saved of a node: its document and its snapshot."""
    from nodeattrs import Node
    from nodeattrs.store import saved_document

    node = Node(known.get("name", _OTHER), known.get("environment", "_default"))
    node.default = known["default"]
    node.automatic = {**FACTS, "roles": ["r"], "recipes": []}
    return saved_document(node), node.snapshot()


_OTHER = "another"
"""A name, and a value, in whose place others come: reading a text is quicker than making a node."""


def _store(folder: Path, known: Sequence[dict[str, Any]], count: int) -> None:
    """A store of so many nodes, in turns like these, many in one transaction."""
    from nodeattrs.store import Saved, open_store

    texts, store = [json.dumps(_kept(one)) for one in known], open_store(str(folder / "s.db"))
    for first in range(0, count, 500):
        names = {f"n{at}": texts[at % len(texts)] for at in range(first, min(first + 500, count))}
        saves = [Saved(name, *json.loads(text.replace(_OTHER, name))) for name, text in names.items()]
        store.save_all([(one, None) for one in saves])
    store.close()


def kept_nodes(folder: Path, count: int) -> None:
    """A store with many small nodes, and a repository that knows them."""
    nodes(folder, 1)
    _store(folder, [{"default": {"a": {"b": at}}} for at in range(97)], count)


def searched_nodes(folder: Path, count: int) -> None:
    """A store with many small nodes, and a recipe that searches them for one attribute."""
    kept_nodes(folder, count)
    repository(folder, recipes_default__py='node.default["found"] = len(search("node", "*:*", {"b": "a.b"}))\n')


def counted_nodes(folder: Path, count: int) -> None:
    """A store of which names and numbers are read, and nothing else: all of its nodes are one.

    No store is written so: the rows of the first node, laid down again as they are.
    """
    kept_nodes(folder, 1)
    with sqlite3.connect(folder / "s.db") as database:
        _multiplied(database, count, "node", "SELECT :at, 'n' || :at, 1")
        its = "number, at, noted, document, snapshot, facts FROM revision WHERE node = 1"
        _multiplied(database, count, "revision", f"SELECT :at, {its}")
        _multiplied(database, count, "node_part", "SELECT part, :at FROM node_part WHERE node = 1")
    database.close()


def named_nodes(folder: Path, count: int) -> None:
    """The same, and search finds each by its name."""
    counted_nodes(folder, count)
    with sqlite3.connect(folder / "s.db") as database:
        ((path,),) = database.execute("SELECT path FROM field WHERE name = 'name'")
        _multiplied(database, count, "part", "SELECT :spread")
        _multiplied(database, count, "node_part", "SELECT :spread, :at")
        _multiplied(database, count, "entry", f"SELECT :spread, {path}, 's', 'n' || :at, NULL")
        _multiplied(database, count, "part_entry", "SELECT :spread, :spread, 3")
    database.close()


def _multiplied(database: sqlite3.Connection, count: int, table: str, rows: str) -> None:
    """at: the number of the node; spread: one that lies anywhere, as those of parts and entries do."""
    numbers: Iterable[dict[str, int]] = (
        {"at": at, "spread": at * 0x9E3779B97F4A7C15 % 2**63} for at in range(2, count + 1)
    )
    if ":spread" in rows:  # where the row goes: what is written in the order of a table is written quickly
        numbers = sorted(numbers, key=itemgetter("spread"))
    database.executemany(f"INSERT INTO {table} {rows}", numbers)


def kept_wide(folder: Path, count: int) -> None:
    """A store with two revisions of one large node."""
    _history(folder, (_kept({"name": "n1", "default": wide(count, value)}) for value in (1, 2)))


def revisions(folder: Path, count: int) -> None:
    """A store with many revisions of one node."""
    text = json.dumps(_kept({"name": "n1", "default": {"a": _OTHER}}))
    _history(folder, (json.loads(text.replace(_OTHER, str(at))) for at in range(count)))


def _history(folder: Path, kept: Iterable[Sequence[Any]]) -> None:
    from nodeattrs.store import Revision, Saved, open_store

    repository(folder)
    store, when = open_store(str(folder / "s.db")), datetime(2030, 1, 1, tzinfo=UTC)
    revisions = ((one, Revision(at, when + timedelta(seconds=at))) for at, one in enumerate(kept, 1))
    store.add_history("n1", [Saved("n1", document, snapshot, revision=its) for (document, snapshot), its in revisions])
    store.close()


def exported(folder: Path, count: int) -> None:
    """Nodes as JSON Lines."""
    one = {"chef_environment": "_default", "json_class": "Chef::Node", "chef_type": "node", "run_list": []}
    levels = {"default": {"a": 1}, "normal": {}, "override": {}, "automatic": FACTS}
    put(folder, "n.jsonl", (json.dumps({"name": f"n{at}", **one, **levels}) + "\n" for at in range(count)))


def hiera(folder: Path, count: int) -> None:
    """Keys in a common file, one of them a wide map that two levels merge."""
    put(
        folder, "hiera.yaml", "version: 5\nhierarchy:\n" + "".join(f"  - {{name: {n}, path: {n}.yaml}}\n" for n in "ab")
    )
    for name in "ab":
        wide_map = "".join(f"  k{at}: {{{name}: {at}}}\n" for at in range(count))
        put(folder, f"data/{name}.yaml", f"w:\n{wide_map}" + "".join(f"key{at}: {at}\n" for at in range(count)))
    for name in ("n1", "n2"):
        put(folder, f"facts/{name}.json", json.dumps(FACTS))


def hiera_nodes(folder: Path, count: int) -> None:
    """Nodes of Hiera, each with a file of its own."""
    hiera(folder, 5)
    put(
        folder,
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: n, path: 'n/%{trusted.certname}.yaml'}\n  - {name: a, path: a.yaml}\n",
    )
    for at in range(count):
        put(folder, f"data/n/n{at}.yaml", f"key1: {at % 9}\n")
        put(folder, f"facts/n{at}.json", json.dumps(FACTS))


def hiera_levels(folder: Path, count: int) -> None:
    """Levels that a deep lookup merges."""
    levels = "".join(f"  - {{name: l{at}, path: l{at}.yaml}}\n" for at in range(count))
    put(folder, "hiera.yaml", f"version: 5\nhierarchy:\n{levels}")
    for at in range(count):
        put(folder, f"data/l{at}.yaml", f"w: {{k{at}: {at}, l: [{at}]}}\n")


def ansible(folder: Path, count: int) -> None:
    """Hosts in groups."""
    hosts = "".join(f"h{at} x={at % 7}\n" for at in range(count))
    put(folder, "hosts.ini", f"[all_of_them]\n{hosts}\n[all_of_them:vars]\ny=1\n")
    put(folder, "group_vars/all.yml", "z: 1\n")


def ansible_wide(folder: Path, count: int) -> None:
    """Variables of one host."""
    put(folder, "hosts.ini", "[g]\nh0\nh1\n")
    put(folder, "group_vars/all.yml", (f"v{at}: {at}\n" for at in range(count)))
    put(folder, "host_vars/h0.yml", (f"v{at}: {at}\n" for at in range(count)))


def bindings(folder: Path, count: int) -> None:
    """Bindings of one module, half of which the site overrides."""
    put(folder, "modules/m/bindings/default.pp", _bound("m::default", count, ""))
    put(folder, "bindings/default.pp", _bound("default", count // 2, "override ", "  include [m]\n"))
    put(folder, "facts.yaml", json.dumps(FACTS))


def _bound(name: str, count: int, how: str, more: str = "") -> str:
    lines = "".join(f"  bind {how}'m::k{at}' to {at}\n" for at in range(count))
    return f"bindings {name} {{\n{more}{lines}}}\n"


def catalog(folder: Path, count: int) -> None:
    """Resources in a line, and a second catalog in which each is another."""
    for name, value in (("a", "x"), ("b", "y")):
        put(folder, f"{name}.json", json.dumps({"resources": list(_resources(count, value))}))


def _resources(count: int, value: str) -> Iterable[dict[str, Any]]:
    for at in range(count):
        more = {"notify": [f"File[/etc/f{at + 1}]"]} if at + 1 < count else {}
        yield {"type": "File", "title": f"/etc/f{at}", "content": value, **more}


def catalog_ring(folder: Path, count: int) -> None:
    """Resources that wait for each other in a ring."""
    ring = [{"type": "File", "title": f"/f{at}", "before": [f"File[/f{(at + 1) % count}]"]} for at in range(count)]
    put(folder, "a.json", json.dumps({"resources": ring}))


def parts(folder: Path, count: int) -> None:
    """An archive of small parts, one key each."""
    put(folder, "a.txt", ["#cloud-config-archive\n", *(_part(f"k{at}: {at}") for at in range(count))])


def _part(*lines: str) -> str:
    return "- type: text/cloud-config\n  content: |\n" + "".join(f"    {line}\n" for line in lines)


def appended(folder: Path, count: int) -> None:
    """Parts that append to one list."""
    lines = 'merge_how: "list(append)+dict(recurse_list)"', "runcmd:", *(f"  - [echo, {{}}-{one}]" for one in range(30))
    put(
        folder,
        "a.txt",
        ["#cloud-config-archive\n", *(_part(*(line.format(at) for line in lines)) for at in range(count))],
    )


def cloud_wide(folder: Path, count: int) -> None:
    """Two large parts."""
    for name in "ab":
        put(folder, f"{name}.yaml", ["#cloud-config\n", *(f"k{at}: {{{name}: {at}}}\n" for at in range(count))])


def layers(folder: Path, count: int) -> None:
    """Files of one key each."""
    for at in range(count):
        put(folder, f"l/{at:06}.json", f'{{"a": {{"k{at}": {at}, "x": {at}, "l": [{at}]}}}}')


def wide_layers(folder: Path, count: int) -> None:
    """Two large files."""
    for name, value in (("a", 1), ("b", 2)):
        put(folder, f"{name}.json", json.dumps(wide(count, value)))


def changed(folder: Path, count: int) -> None:
    """Two folders with nodes, of which each reads another value."""
    for side, value in (("old", 1), ("new", 2)):
        nodes(folder / side, count)
        put(folder / side, "roles/r.json", json.dumps({"default_attributes": {"w": value}}))
        (folder / side / "f").rename(folder / side / "facts")


def dotted(folder: Path, count: int) -> None:
    """Dotted keys of TOML."""
    put(folder, "a.toml", (f"a.b.c.k{at} = {at}\n" for at in range(count)))


def nothing(folder: Path, count: int) -> None:
    """What an operation makes by itself."""


SHARED = (counted_nodes, kept_nodes, kept_wide, revisions)
"""What takes long to make, and is required by several."""
