"""How often verbs compute: keys are explained twice at most, and a trace merges only what sets its variable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from nodeattrs.core.folding import Folding
from nodeattrs.dialects.hiera import possible_files
from nodeattrs.dialects.hiera.scope import Scope

InFolder = Callable[..., tuple[int, str, str]]

HIERA = {
    "hiera.yaml": "version: 5\nhierarchy:\n- {name: all, path: all.yaml}\n",
    "data/all.yaml": "a: {b: 1, c: {d: 2}}\ne: 3\n",
    "nodes/web1.json": "{}",
}
MANY = {
    "hiera.yaml": "version: 5\nhierarchy:\n- {name: a, paths: ['%{zone}/%{role}.yaml', '%{role}.yaml', all.yaml]}\n",
    "data/all.yaml": "z: 1\n",
    "nodes/web1.json": "{}",
    "data/db.yaml": "z: 2\n",
    "data/north/web.yaml": "z: 3\n",
}
ANSIBLE = {
    "hosts.ini": "[web]\nweb1\n",
    **{f"group_vars/all/{number}.yml": f"name_{number}: 1\n" for number in range(20)},
    "group_vars/web.yml": "name_3: 2\n",
}


def test_blame_explains_each_key_of_hiera_twice_at_most(in_folder: InFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    explained: Counter[Any] = Counter()
    original = Scope.explain

    def counted(self: Scope, name: Any, **how: Any) -> Any:
        explained[name] += 1
        return original(self, name, **how)

    monkeypatch.setattr(Scope, "explain", counted)
    code, out, _ = in_folder(HIERA, "blame", "web1", "--dialect", "hiera")
    assert (code, "data/all.yaml:1" in out) == (0, True)
    assert max(explained["a"], explained["e"]) <= 2  # for unread places, and for lines; none is kept meanwhile


def test_the_trace_of_a_variable_merges_only_layers_that_set_it(
    in_folder: InFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged: list[Any] = []
    original = Folding.lay

    def counted(self: Folding, part: Any, policy: Any) -> None:
        merged.append(part)
        original(self, part, policy)

    in_folder(ANSIBLE, "list", "subjects")
    monkeypatch.setattr(Folding, "lay", counted)
    code, out, _ = in_folder({}, "where", "--key", "name_3")
    assert (code, "wins on 1 of 1 host" in out) == (0, True)
    assert len(merged) < 60  # 21 files for the values, and levels; not all of them again for each trace


def test_an_overview_does_not_read_files_only_for_warnings_that_it_leaves_out(
    in_folder: InFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    original = possible_files.read

    def noted(file: Any, *others: Any) -> Any:
        read.append(file)
        return original(file, *others)

    monkeypatch.setattr(possible_files, "read", noted)
    code, out, _ = in_folder(MANY, "overview")
    assert (code, "nodeattrs why z --on " in out, read) == (0, True, [])


def test_why_prints_values_and_lines_where_there_are_many_reasons(in_folder: InFolder) -> None:
    numbers = range(13)
    files = {f"{one}/Chart.yaml": "name: c\n" for one in numbers}
    files |= {f"{one}/values.yaml": f"port: {one % 2}\n" for one in numbers}
    code, out, _ = in_folder(files, "why", "port")
    assert (code, out.splitlines()[0]) == (0, "port: 2 values on 13 nodes")
    assert "12/values.yaml:1" in out
    assert "wins" not in out
    assert out.splitlines()[-1] == "these have 13 different reasons; one of them: --on 0"
