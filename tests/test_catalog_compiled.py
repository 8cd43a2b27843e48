"""Catalogs that Puppet compiled: read, asked about, compared. What Puppet 7.23 said of them is written beside each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs import Sensitive
from nodeattrs.catalog import DependencyCycle, ReferenceNotFound
from nodeattrs.catalog.compiled import compiled_catalog, is_compiled, without_notices
from nodeattrs.catalog.differing import difference
from nodeattrs.cli import main
from nodeattrs.errors import DocumentError


def resource(ref: str, line: int | None = 1, kind: str = "compilable_type", **parameters: Any) -> dict[str, Any]:
    name, _, title = ref[:-1].partition("[")
    place = {} if line is None else {"file": "site.pp", "line": line}
    return {"type": name, "title": title, "kind": kind, "exported": False, **place, "parameters": parameters}


def compiled(*resources: dict[str, Any], edges: tuple[tuple[str, str], ...] = ()) -> dict[str, Any]:
    main_ones = [
        resource("Stage[main]", None),
        resource("Class[Settings]", None, "unknown"),
        resource("Class[main]", None, "unknown"),
    ]
    within = [{"source": "Stage[main]", "target": "Class[main]"}]
    held = {target for _, target in edges}
    for one in resources:
        ref = f"{one['type']}[{one['title']}]"
        if ref not in held and one["type"] != "Stage":
            within.append({"source": "Stage[main]" if one["type"] == "Class" else "Class[main]", "target": ref})
    within += [{"source": source, "target": target} for source, target in edges]
    return {"name": "web1", "version": 1, "resources": [*main_ones, *resources], "edges": within}


def edges(tree: dict[str, Any]) -> list[str]:
    graph = compiled_catalog(tree).plan().graph
    return [f"{graph.spelled(one.source)} > {graph.spelled(one.target)}" for one in graph.edges]


def order(tree: dict[str, Any], shuffle: int | None = None) -> list[str]:
    return [str(ref) for ref in compiled_catalog(tree).plan().order(shuffle)]


class TestReading:
    def test_what_contains_is_a_define_where_nothing_says_so(self):
        """
        PuppetDB gives no kinds. No type of an agent has a colon in its name.
        """
        rows = (
            resource("D[x]", kind="defined_type"),
            resource("N::E[y]", kind="defined_type"),
            resource("Notify[in x]"),
        )
        tree = compiled(
            *rows, resource("Notify[z]", before="D[x]"), edges=(("D[x]", "Notify[in x]"), ("Class[main]", "D[x]"))
        )
        for row in tree["resources"]:
            del row["kind"]

        assert order(tree) == ["Notify[z]", "Notify[in x]"]
        assert [compiled_catalog(tree)[ref].kind for ref in ("D[x]", "N::E[y]")] == ["define", "define"]

    def test_classes_defines_and_stages_contain_and_relate_as_in_puppet(self):
        tree = compiled(
            resource("Stage[early]", before="Stage[main]"),
            resource("Class[B]", kind="class", stage="early"),
            resource("Notify[in b]"),
            resource("Class[A]", kind="unknown", stage="early"),
            resource("Notify[in a]"),
            resource("D[x]", kind="defined_type", require="Class[B]", before=["Notify[s]"]),
            resource("Notify[s]", noop=True),
            resource("Notify[d-x]"),
            edges=(
                ("Stage[early]", "Class[B]"),
                ("Class[B]", "Notify[in b]"),
                ("Stage[early]", "Class[A]"),
                ("Class[B]", "Class[A]"),
                ("Class[A]", "Notify[in a]"),
                ("D[x]", "Notify[d-x]"),
                ("Class[main]", "D[x]"),
            ),
        )
        assert order(tree) == ["Notify[in b]", "Notify[in a]", "Notify[d-x]", "Notify[s]"]
        assert compiled_catalog(tree)["Notify[s]"].noop is True

    def test_aliases_and_what_names_a_resource_beside_its_title_are_found(self):
        tree = compiled(
            resource("File[conf]", path="/a/b", alias="cc"),
            resource("File[/a/]", ensure="directory"),
            resource("Notify[n]", require="File[cc]"),
            resource("Notify[o]", before="File[/a/b/]"),
            resource("Exec[r]", command="/a/b x", alias=["al"]),
            resource("Notify[m]", subscribe="Exec[al]"),
        )
        assert sorted(edges(tree)) == [
            "Exec[r] > Notify[m]",
            "File[/a] > File[conf]",
            "File[conf] > Exec[r]",
            "File[conf] > Notify[n]",
            "Notify[o] > File[conf]",
        ]

    def test_a_name_that_is_a_title_of_its_own_finds_that_one(self):
        tree = compiled(resource("User[x]", name="y"), resource("User[y]", name="z"), resource("File[/f]", owner="y"))
        assert edges(tree) == ["User[y] > File[/f]"]

    def test_odd_tags_and_names_of_secrets_are_passed_over(self):
        tree = compiled(resource("Notify[n]", message="m"))
        tree["resources"][3] |= {"tags": 1, "sensitive_parameters": [{}, ["message"]]}
        assert compiled_catalog(tree)["Notify[n]"].parameters["message"] == Sensitive("m")

    def test_virtual_exported_and_the_settings_are_left_out(self):
        tree = compiled(resource("Notify[v]"), resource("Notify[e]"), resource("Notify[n]"))
        tree["resources"][3]["virtual"] = True
        tree["resources"][4]["exported"] = True
        assert [str(ref) for ref in compiled_catalog(tree).resources] == ["Stage[main]", "Class[Main]", "Notify[n]"]

    def test_a_secret_stays_one(self):
        tree = compiled(resource("File[/k]", content="s3cret"), resource("File[/l]"))
        tree["resources"][3]["sensitive_parameters"] = ["content"]
        tree["resources"][4]["parameters"] = {
            "content": {"__ptype": "Sensitive", "__pvalue": "s3cret"},
            "x": [{"a": 1}],
        }
        catalog = compiled_catalog(tree)
        assert catalog["File[/k]"].parameters["content"] == Sensitive("s3cret")
        assert catalog["File[/l]"].parameters["content"] == Sensitive("s3cret")
        assert catalog["File[/l]"].parameters["x"] == [{"a": 1}]
        assert "s3cret" not in repr(catalog["File[/k]"])

    @pytest.mark.parametrize(
        "wrap", [lambda tree: tree, lambda tree: {"catalog": tree}, lambda tree: {"data": tree}, lambda tree: [tree]]
    )
    def test_what_a_tool_puts_around_it_does_not_matter(self, wrap):
        tree = wrap(compiled(resource("Notify[n]")))
        assert is_compiled(tree)
        assert "Notify[n]" in compiled_catalog(tree)

    def test_puppetdb_gives_pages_and_edges_in_parts(self):
        tree = compiled(resource("Class[A]", kind="class"), resource("Notify[n]"))
        tree["resources"] = {"href": "/x", "data": tree["resources"]}
        parts = [("Stage", "main", "Class", "Main"), ("Stage", "main", "Class", "A"), ("Class", "A", "Notify", "n")]
        names = ("source_type", "source_title", "target_type", "target_title")
        data = [{**dict(zip(names, one, strict=True)), "relationship": "contains"} for one in parts]
        data.append({**dict(zip(names, ("Notify", "n", "Class", "A"), strict=True)), "relationship": "before"})
        tree["edges"] = {"data": data}
        assert compiled_catalog(tree)["Notify[n]"].within == ("Class[A]",)

    def test_a_missing_reference_and_a_cycle_are_found(self):
        tree = compiled(
            resource("Notify[a]", 3, require="Notify[b]"),
            resource("Notify[b]", 7, require=["Notify[a]", "Notify[c]"]),
            resource("Notify[tail]", 9, before="Notify[a]"),
        )
        missing, cycle = compiled_catalog(tree).plan().faults()
        assert isinstance(missing, ReferenceNotFound)
        assert missing.message == "Could not find resource 'Notify[c]' in parameter 'require'"
        assert isinstance(cycle, DependencyCycle)
        assert cycle.message == "1 dependency cycle: Notify[a] => Notify[b] => Notify[a]"
        assert cycle.hint == "remove one of: require of Notify[b] (site.pp:7), require of Notify[a] (site.pp:3)"

    @pytest.mark.parametrize(
        "tree",
        [
            None,
            [],
            {},
            {"resources": 1, "edges": []},
            {"resources": [1], "edges": []},
            {"resources": [], "edges": [1]},
            {"resources": [{"type": "A"}], "edges": []},
            {"resources": [], "edges": [{"source": "a", "target": "b[c]"}]},
            {"resources": [{"type": "A", "title": "b", "parameters": 1}], "edges": []},
        ],
    )
    def test_a_document_that_is_no_compiled_catalog_is_refused(self, tree):
        with pytest.raises(DocumentError, match="is no compiled catalog"):
            compiled_catalog(tree, file="x.json")


class TestAutomaticRelations:
    @pytest.mark.parametrize(
        ("resources", "wanted"),
        [
            pytest.param(
                [
                    resource("File[/a]"),
                    resource("File[/a/b/c]", owner="u", group="g"),
                    resource("File[/n]", owner="0"),
                    resource("File[/l]", ensure="link", target="/a"),
                    resource("User[u]"),
                    resource("Group[g]"),
                    resource("User[0]"),
                ],
                ["File[/a] > File[/a/b/c]", "File[/a] > File[/l]", "Group[g] > File[/a/b/c]", "User[u] > File[/a/b/c]"],
                id="a file: the nearest directory, a link's target, owner and group by name",
            ),
            pytest.param(
                [
                    resource("File[/bin/x]"),
                    resource("File[/opt]"),
                    resource("File[/etc/c]"),
                    resource("File[/q q]"),
                    resource("User[u]"),
                    resource("Exec[/bin/x --f /etc/c]", cwd="/opt", user="u"),
                    resource("Exec[2]", command="echo", onlyif=["/bin/x a", "cat /etc/c"], unless="/etc/c"),
                    resource("Exec[3]", command='"/q q" a'),
                    resource("Exec[4]", command=["/bin/x", "/etc/c"]),
                    resource("Exec[6]", command="a /etc/c", unless=[["/bin/x", "/etc/c"]]),
                ],
                [
                    "File[/bin/x] > Exec[/bin/x --f /etc/c]",
                    "File[/bin/x] > Exec[2]",
                    "File[/bin/x] > Exec[4]",
                    "File[/bin/x] > Exec[6]",
                    "File[/etc/c] > Exec[2]",
                    "File[/opt] > Exec[/bin/x --f /etc/c]",
                    "File[/q q] > Exec[3]",
                    "User[u] > Exec[/bin/x --f /etc/c]",
                ],
                id="a command: the files at the beginning of its lines, its folder, its user",
            ),
            pytest.param(
                [resource("Group[g]"), resource("Group[h]"), resource("User[u]", gid="g", groups=["h", "g"])],
                ["Group[g] > User[u]", "Group[h] > User[u]"],
                id="a user: its groups",
            ),
            pytest.param(
                [
                    resource("File[/p.deb]"),
                    resource("Package[a]", source="/p.deb"),
                    resource("Package[b]", source="http:"),
                ],
                ["File[/p.deb] > Package[a]"],
                id="a package: the file that it comes from",
            ),
            pytest.param(
                [
                    resource("User[u]"),
                    resource("User[root]"),
                    resource("Cron[a]", user="u"),
                    resource("Cron[b]"),
                    resource("Ssh_authorized_key[k]", user="u"),
                ],
                ["User[root] > Cron[b]", "User[u] > Cron[a]", "User[u] > Ssh_authorized_key[k]"],
                id="cron and keys: their user, for cron root unless it is named",
            ),
            pytest.param(
                [
                    resource("Mount[/a]"),
                    resource("Mount[/a/b]"),
                    resource("File[/a]"),
                    resource("File[/a/b]"),
                    resource("File[/a/b/c]"),
                    resource("Mount[/]"),
                ],
                [
                    "File[/a/b] > File[/a/b/c]",
                    "File[/a] > File[/a/b]",
                    "Mount[/] > Mount[/a/b]",
                    "Mount[/] > Mount[/a]",
                    "Mount[/a/b] > File[/a/b/c]",
                    "Mount[/a] > File[/a/b/c]",
                    "Mount[/a] > File[/a/b]",
                    "Mount[/a] > Mount[/a/b]",
                ],
                id="a mount: every mount above it, and before the files in it",
            ),
        ],
    )
    def test_each_type_relates_what_puppet_relates(self, resources, wanted):
        assert sorted(edges(compiled(*resources))) == wanted


class TestShuffle:
    def test_another_order_is_valid_and_the_same_each_time(self):
        tree = compiled(
            *(resource(f"Notify[{name}]") for name in "abcdefgh"),
            resource("Notify[z]", before="Notify[a]"),
            resource("Class[K]", kind="class", require="Notify[h]"),
            resource("Notify[k]"),
            edges=(("Class[K]", "Notify[k]"),),
        )
        plain = order(tree)
        for seed in range(20):
            found = order(tree, seed)
            assert found == order(tree, seed)
            assert sorted(found) == sorted(plain)
            assert found.index("Notify[z]") < found.index("Notify[a]")
            assert found.index("Notify[h]") < found.index("Notify[k]")
        assert len({tuple(order(tree, seed)) for seed in range(20)}) > 15


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    before = compiled(
        resource("File[/a]", 2, mode="0644", content="s3cret"),
        resource("File[/gone]", 3),
        resource("Package[p]", 4, ensure="1"),
        resource("Service[s]", 5, require="Package[p]"),
        resource("File[/tmp/x]", 6, mode="1"),
    )
    after = compiled(
        resource("File[/a]", 12, mode="0600", owner="root", content="other"),
        resource("Package[p]", 14, ensure="2"),
        resource("Service[s]", 15, require="File[/a]"),
        resource("File[/tmp/x]", 16, mode="2"),
        resource("Notify[new|]", 17),
    )
    for tree in (before, after):
        tree["resources"][3]["sensitive_parameters"] = ["content"]
    (tmp_path / "before.json").write_text(json.dumps(before), encoding="utf-8")
    (tmp_path / "after.json").write_text(json.dumps(after), encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("files")
class TestDiff:
    def test_it_says_what_was_added_removed_and_changed_and_which_order_is_new(self, capsys):
        assert main(["catalog", "diff", "before.json", "after.json"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "before.json against after.json",
            "+ Notify[new|]  site.pp:17",
            "- File[/gone]  site.pp:3",
            "~ File[/a]  site.pp:12",
            '    mode: "0644" -> "0600"',
            "    content: Sensitive(withheld) -> Sensitive(withheld)",
            '    owner: (not set) -> "root"',
            "~ Package[p]  site.pp:14",
            '    ensure: "1" -> "2"',
            "~ File[/tmp/x]  site.pp:16",
            '    mode: "1" -> "2"',
            "+ File[/a] -> Service[s]: require of Service[s]  site.pp:15",
            "- Package[p] -> Service[s]: require of Service[s]  site.pp:5",
            "1 added, 1 removed, 3 changed, 2 relationships",
        ]

    def test_patterns_leave_resources_and_parameters_out(self, capsys):
        words = [
            "--ignore-resource",
            "File[/tmp/*]",
            "--ignore-resource",
            "*.content",
            "--ignore-resource",
            "Package[?].ensure",
            "--ignore-resource",
            "Notify[*",
        ]
        assert main(["catalog", "diff", "before.json", "after.json", *words, "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [one["resource"] for one in found["changed"]] == ["File[/a]"]
        assert [one["parameter"] for one in found["changed"][0]["parameters"]] == ["mode", "owner"]
        assert found["added"] == []

    def test_no_secret_is_in_any_form(self, capsys):
        for form in ("text", "json", "yaml", "markdown"):
            assert main(["catalog", "diff", "before.json", "after.json", "--compiled", "--format", form]) == 0
            printed = capsys.readouterr().out
            assert "s3cret" not in printed
            assert "other" not in printed

    def test_the_exit_code_says_whether_they_differ_where_that_is_asked(self, capsys):
        assert main(["catalog", "diff", "before.json", "after.json", "--exit-code"]) == 1
        assert main(["catalog", "diff", "before.json", "before.json", "--exit-code"]) == 0
        assert "no difference" in capsys.readouterr().out

    def test_markdown_is_folded_and_spoils_no_table(self, capsys):
        assert main(["catalog", "diff", "before.json", "after.json", "--format", "markdown"]) == 0
        printed = capsys.readouterr().out
        assert "<details><summary>1 added</summary>" in printed
        assert '| `File[/a]` | `mode` | `"0644"` | `"0600"` | `site.pp:12` |' in printed
        assert "- now: `File[/a]` before `Service[s]`, `require of Service[s]`" in printed
        assert "new|" not in printed

    def test_swapping_the_sides_swaps_what_is_said(self, files: Path):
        one, other = (
            compiled_catalog(json.loads((files / f"{name}.json").read_text("utf-8"))).plan()
            for name in ("before", "after")
        )
        there, back = difference(one, other), difference(other, one)
        assert [str(each.ref) for each in there.added] == [str(each.ref) for each in back.removed]
        assert [(str(each.first), str(each.then), each.is_new) for each in there.relations] == [
            (str(each.first), str(each.then), not each.is_new)
            for each in sorted(back.relations, key=lambda x: x.is_new)
        ]


@pytest.mark.usefixtures("files")
class TestCommands:
    def test_a_compiled_catalog_can_be_asked_everything(self, capsys):
        assert main(["catalog", "check", "--puppet", "before.json"]) == 0
        assert "5 resources" in capsys.readouterr().out
        assert main(["catalog", "why", "Package[p]", "Service[s]", "--puppet", "before.json"]) == 0
        assert "require of Service[s]  site.pp:5" in capsys.readouterr().out
        assert main(["catalog", "impact", "Package[p]", "--puppet", "before.json"]) == 0
        assert "these refresh: none" in capsys.readouterr().out
        assert main(["catalog", "explain", "Service[s]", "--puppet", "before.json"]) == 0
        assert "Service[s]  site.pp:5" in capsys.readouterr().out
        assert main(["catalog", "graph", "--puppet", "before.json"]) == 0
        assert main(["catalog", "order", "--puppet", "before.json", "--shuffle", "1"]) == 0

    def test_a_compiled_catalog_is_not_applied(self, capsys):
        assert main(["catalog", "apply", "--puppet", "before.json"]) == 2
        assert "not be applied here" in capsys.readouterr().err

    def test_a_compiled_catalog_takes_no_second_catalog_and_no_node(self, capsys):
        assert main(["catalog", "order", "--puppet", "before.json", "--from", "after.json"]) == 2
        assert main(["catalog", "order", "--puppet", "before.json", "--node", "n"]) == 2

    def test_notices_before_it_do_not_matter_and_lines_stay(self, files: Path, capsys):
        text = json.dumps(compiled(resource("Notify[n]", None)), indent=1)
        (files / "noticed").write_text(f"\x1b[mNotice: Compiled catalog for web1\x1b[0m\n{text}\n", encoding="utf-8")
        assert without_notices(f"Notice: x\n{text}").count("\n") == text.count("\n") + 1
        assert main(["catalog", "order", "--puppet", "noticed", "--format", "json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["order"]
        line = text.splitlines().index(next(one for one in text.splitlines() if '"title": "n"' in one)) + 1
        assert row["origin"]["line"] in (line - 1, line, line + 1)

    def test_what_is_no_catalog_is_an_error_with_the_file(self, files: Path, capsys):
        (files / "x.json").write_text('{"resources": []}', encoding="utf-8")
        assert main(["catalog", "check", "--puppet", "x.json"]) == 1
        assert "x.json: is no compiled catalog: edges is not a list" in capsys.readouterr().err
