"""What `nodeattrs check` finds in a repository, what it keeps silent about, and what --fix takes out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.core.budget import limited
from nodeattrs.core.tree import is_near, spell
from nodeattrs.dialects.chef.checks.checking import NOTES, checked
from nodeattrs.dialects.chef.checks.fixes import fixes
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.formats.removing import without

Look = Callable[..., list[str]]

WEB = {"run_list": ["role[web]"], "chef_environment": "prod"}
READS = "use(node['app']['port'], node['app']['host'], node['app']['workers'])\n"


def written(root: Path, files: dict[str, Any]) -> Repository:
    """The repository of these files; what is not text becomes JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return Repository(root)


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """What is found in a repository: "kind file:line sentence", without notes and faults."""

    def looked(files: dict[str, Any], **options: Any) -> list[str]:
        found = checked(written(tmp_path, files), **options).warnings
        return sorted(f"{one.kind} {one.file}:{one.line} {one.reason}" for one in found if one.kind not in NOTES)  # type: ignore[attr-defined]

    return looked


def site(web: dict[str, Any], prod: dict[str, Any], **files: Any) -> dict[str, Any]:
    """A node web1 with a role and an environment that set something for a cookbook."""
    return {
        "nodes/web1.json": WEB,
        "roles/web.json": {"name": "web", "run_list": ["recipe[app]"], **web},
        "environments/prod.json": {"name": "prod", **prod},
        "cookbooks/app/metadata.json": {"name": "app"},
        "cookbooks/app/recipes/default.rb": READS,
        **files,
    }


def default(**app: Any) -> dict[str, Any]:
    return {"default_attributes": {"app": app}}


def override(**app: Any) -> dict[str, Any]:
    return {"override_attributes": {"app": app}}


def test_a_look_at_a_repository_gives_the_same_answer_each_time(tmp_path: Path):
    """With everything of which the look itself warns: a role in Python, recipes in Ruby, a cookbook that is fetched."""
    files = {
        "roles/db.py": 'name("db")',
        "roles/web.json": {"name": "web", "run_list": ["recipe[elsewhere]"], "odd": 1},
        "cookbooks/app/recipes/default.rb": "node.default['a'] = 1",
        "cookbooks/app/attributes/default.py": "default['a'] = 1",
        "Berksfile": "cookbook 'elsewhere'",
    }
    repository = written(tmp_path, files)
    checked(repository, run_code=True)
    first, *others = [list(map(str, checked(repository).warnings)) for _ in range(3)]

    assert {"not-run", "ruby", "fetched-cookbook"} <= {one.kind for one in checked(repository).warnings}
    assert [first, first] == others
    assert ["roles/web.json:1"] == [f"{one.file}:{one.line}" for one in repository.warnings]


class TestOverridden:
    def test_a_value_that_no_node_reads_is_found_with_who_overrides_it(self, tmp_path: Path):
        """
        Here the role's, by the environment's.
        """
        (one,) = checked(written(tmp_path, site(override(workers=4), override(workers=8)))).warnings[-1:]

        assert "app.workers is overridden on every node that has it" in str(one)
        assert ("by environments/prod.json:1 (environment prod)",) == one.details

    def test_one_node_that_reads_it_is_enough(self, look: Look):
        """
        Another node has the role in another environment.
        """
        files = site(override(workers=4), override(workers=8))
        assert [] == look({**files, "nodes/web2.json": {"run_list": ["role[web]"]}})

    @pytest.mark.parametrize(
        ("lower", "upper", "found"),
        [
            (1, 2, "always-overridden"),
            (1, 1, "equal-to-overridden"),
            ([1], [2], ""),  # lists of one level join
            ([1], [1], "equal-to-overridden"),
            ([1, 1], [1, 1], ""),  # joining them drops an element
            (1, None, ""),
            (None, 1, ""),
            ({"a": 1}, 2, "always-overridden type-change"),
            ({"a": 1}, {"b": 1}, ""),
            ({}, 1, ""),
            (1, {}, ""),
            (True, 1, "always-overridden"),
        ],
    )
    def test_two_values_of_neighbouring_layers(self, look: Look, lower: Any, upper: Any, found: str):
        """
        The role's default lies over the environment's.
        """
        assert found.split() == [one.split()[0] for one in look(site(default(port=upper), default(port=lower)))]

    def test_a_list_of_another_level_may_be_joined_below(self, look: Look):
        """
        The node's own is what the role has, and the environment's joins the role's: without it more would be read.
        """
        files = site(default(port=[1]), default(port=[2]))
        kinds = [
            one.split()[0] for one in look({**files, "nodes/web1.json": {**WEB, "normal": {"app": {"port": [1]}}}})
        ]
        assert "equal-to-overridden" not in kinds

    @pytest.mark.parametrize(
        "line",
        ["node.override['app']['x'] = 1", "node.rm('app', 'port')", "node.rm_default('app')", "node.force_default"],
    )
    def test_a_cookbook_that_may_decide_otherwise_keeps_it_silent(self, look: Look, line: str):
        """
        The role's override is what the node's own file has, and a recipe may set something between.
        """
        files = site(override(port=1), {}, **{"nodes/web1.json": {**WEB, "normal": {"app": {"port": 1}}}})
        assert ["equal-to-overridden"] == [one.split()[0] for one in look(files)]
        silent = look({**files, "cookbooks/app/recipes/default.rb": f"{READS}{line}\n"})
        assert (["equal-to-overridden"] if "force" in line else []) == [one.split()[0] for one in silent]

    def test_a_missing_cookbook_keeps_findings_about_overridden_values_back(self, look: Look):
        """
        Nothing is known of it.
        """
        files = site(override(workers=4), override(workers=8))
        files["roles/web.json"]["run_list"] = ["recipe[elsewhere]"]
        assert [] == look(files)

    def test_rules_for_paths_keep_it_silent(self, look: Look):
        """
        What they make of two layers is not known here.
        """
        files = site(override(workers=4), override(workers=8))
        assert [] == look({**files, "nodeattrs.toml": '[merge]\n"app.workers" = "append"\n'})


OLD: dict[str, Any] = {
    **site({}, {}),
    "roles/old.json": {"name": "old", "run_list": []},
    "cookbooks/old/attributes/default.rb": "default['old']['a'] = 1\n",
}


class TestUnused:
    def test_a_role_and_a_cookbook_that_no_node_has(self, look: Look):
        """
        Each once.
        """
        assert ["unread-attributes", "unused-role"] == [one.split()[0] for one in look(OLD)]

    @pytest.mark.parametrize(
        "more",
        [
            {"Vagrantfile": 'chef.add_role("old")\nchef.add_recipe("old::x")\n'},
            {"README.md": "knife node run_list add NODE 'role[old],recipe[old]'\n"},
            {"nodes/web2.json": {"run_list": ["role[old]", "recipe[old]"]}},
            {"nodes/web2.json": {"run_list": ["role[nosuch]"]}},
            {"nodes/example.json": WEB},
            {"nodes/web2.json": {"run_list": [], "policy_name": "web"}},
            {"nodes/web1.json": {}},
        ],
    )
    def test_where_nodes_are_not_known_or_a_text_names_them_there_is_none(self, look: Look, more: dict[str, Any]):
        """
        A page, a Vagrantfile, a node that cannot be worked out, one that is an example.
        """
        assert [] == look({**OLD, **more})

    def test_cookbooks_that_a_dependency_reaches_count_as_used(self, look: Look):
        """
        Over two steps.
        """
        files = {**OLD, "cookbooks/app/metadata.json": {"name": "app", "depends": {"mid": ""}}}
        files["cookbooks/mid/metadata.json"] = {"name": "mid", "depends": {"old": ""}}
        assert ["unused-role"] == [one.split()[0] for one in look(files)]


class TestSpelling:
    def test_a_misspelt_key_is_found_with_the_one_that_code_names(self, tmp_path: Path):
        """
        And where code names it.
        """
        (one,) = checked(written(tmp_path, site(default(prot=80), {}))).warnings[-1:]
        assert "no cookbook names app.prot; did you mean port?" in str(one)
        assert ("cookbooks/app/recipes/default.rb:1 names app.port",) == one.details

    @pytest.mark.parametrize(
        ("key", "code"),
        [
            ("port", ""),
            ("prot", "prot = 1"),  # a word of some code
            ("prot", "node['app'].each { |key, value| use(key) }"),
            ("prot", "x = node['app']"),
            ("prot", "node['app'][name]"),
            ("zzzzz", ""),  # near nothing: a note
        ],
    )
    def test_no_misspelling_is_reported_where_code_may_read_the_path(self, look: Look, key: str, code: str):
        """
        By a computed key, or the map as a whole.
        """
        assert [] == look(site(default(**{key: 80}), {}, **{"cookbooks/app/recipes/more.rb": f"{READS}{code}\n"}))

    def test_a_value_where_an_attribute_file_sets_keys_below_is_of_another_shape(self, look: Look):
        """
        The role hides them all.
        """
        files = site({"default_attributes": {"app": "on"}}, {})
        files["cookbooks/app/attributes/default.rb"] = "default['app']['port'] = 80\n"
        (found,) = look(files)
        assert found == "type-change roles/web.json:1 app is text here, and a map where a cookbook sets it"

    @pytest.mark.parametrize(
        ("one", "other", "near"),
        [
            ("listen_prot", "listen_port", True),
            ("prot", "port", True),
            ("part", "port", False),
            ("servers", "server", True),
            ("web1", "web2", False),
            ("worker-count", "worker_count", True),
            ("Port", "port", True),
            ("port", "port", False),
            ("", "a", False),
            ("abcdef", "ghijkl", False),
        ],
    )
    def test_similar_names_are_near_in_both_directions(self, one: str, other: str, near: bool):
        """
        Numbers never are.
        """
        assert (near, near) == (is_near(one, other), is_near(other, one))


HIERA = """\
version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
- {name: node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: os, path: 'os/%{os}.yaml'}
- {name: site, path: site.yaml}
- {name: common, path: common.yaml}
"""
CLASS = "class app::web (\n  Integer $port = 80, # $no\n  $hosts = [')', \"$x\"],\n) inherits app { $inner = 1 }\n"


def tree(**files: str) -> dict[str, Any]:
    """A control repository with the module app; names have `_` for `/`, and no suffix."""
    data = {f"data/{name.replace('_', '/')}.yaml": text for name, text in files.items()}
    return {"hiera.yaml": HIERA, "modules/app/manifests/web.pp": CLASS, **data}


class TestHiera:
    @pytest.mark.parametrize(
        ("key", "found"),
        [
            ("app::web::port", ""),
            ("app::web::prot", "misspelt"),
            ("app::wbe::port", "misspelt"),
            ("app::web::inner", "unused-key"),
            ("app::nosuch::port", "unused-key"),
            ("other::web::prot", ""),  # its module is not there
            ("plain", ""),
            ("lookup_options", ""),
            ("app::by_code", ""),
            ("app::computed::x", ""),
            ("app::in_data", ""),
        ],
    )
    def test_a_key_that_nothing_looks_up(self, look: Look, key: str, found: str):
        """
        No parameter, no text, no string that may come to it.
        """
        code = "class app { lookup('app::by_code') lookup(\"app::${what}::x\") }\n"
        files = tree(common=f"{key}: {{}}\nother::x: \"%{{lookup('app::in_data')}}\"\n")
        kinds = [one.split()[0] for one in look({**files, "modules/app/manifests/init.pp": code})]
        assert kinds == ([found] if found else [])

    @pytest.mark.parametrize(
        ("files", "found"),
        [
            ({"site": "app::web::port: 1", "common": "app::web::port: 2"}, "always-overridden common"),
            ({"os_linux": "app::web::port: 1", "common": "app::web::port: 2"}, ""),
            ({"site": "app::web::port: 1", "common": "app::web::port: 1"}, "equal-to-overridden site"),
            ({"os_linux": "app::web::port: 1", "common": "app::web::port: 1"}, "equal-to-overridden linux"),
            (
                {"nodes_a": "app::web::port: 1", "os_linux": "app::web::port: 2", "common": "app::web::port: 1"},
                "",
            ),
            ({"nodes_a": "app::web::port: 1", "os_linux": "app::web::port: 1"}, ""),  # no level that all have
            ({"site": "app::web::port: {a: 1}", "os_linux": "app::web::port: x"}, "type-change linux"),
            ({"nodes_a": "app::web::port: {a: 1}", "os_linux": "app::web::port: x"}, ""),  # they may never meet
            ({"site": "app::web::port: {a: 1}", "os_linux": "app::web::port: \"%{alias('x')}\""}, ""),
            ({"site": "k: 1", "common": "k: 1"}, ""),  # nobody knows who looks it up
            (
                {
                    "os_linux": "app::web::port: 1\nlookup_options: {'^app::': {merge: deep}}",
                    "common": "app::web::port: 1",
                },
                "",
            ),
        ],
    )
    def test_levels_among_each_other(self, look: Look, files: dict[str, str], found: str):
        """
        A level without a variable is one that every node has.
        """
        came = [f"{one.split()[0]} {Path(one.split()[1]).stem.partition('.')[0]}" for one in look(tree(**files))]
        assert came == ([found] if found else [])

    @pytest.mark.parametrize(
        ("entry", "kind", "hint"),
        [
            ("k: {merge: deep}", None, None),
            ("k: {merge: {strategy: deep, knockout_prefix: '--'}, convert_to: [Hash, x]}", None, None),
            ("'^k': {merge: first, convert_to: Some::Type}", None, None),
            ("k: ~", None, None),
            ("k: {merge: deep, knockout_prefix: '--'}", "useless_option", "{strategy: deep, knockout_prefix: '--'}"),
            ("k: {strategy: hash}", "useless_option", "merge: {strategy: hash}"),
            ("k: {mrege: deep}", "useless_option", "did you mean merge?"),
            ("k: {merge: {strategy: first, knockout_prefix: '--'}}", "bad_option", "none"),
            ("k: deep", "useless_option", "merge:"),
            ("k: {merge: uniqe}", "unknown_strategy", "did you mean unique?"),
            ("k: {merge: {knockout_prefix: '--'}}", "missing_strategy", "add strategy: deep"),
            ("k: {merge: {strategy: hash, knockout_prefix: '--'}}", "bad_option", "none"),
            ("k: {convert_to: 7}", "convert_bad_type", "convert_to: Integer"),
            ("k: {convert_to: Intger}", "unknown_type", "Integer"),
            ("'^k(': {merge: deep}", "bad_pattern", ""),
            ("'^nothing': {merge: deep}", "useless_option", ""),
            ("nothing: {merge: deep}", "useless_option", ""),
            ("'k.*': {merge: deep}", "useless_option", "begins with ^"),
            ("k.a: {merge: deep}", "useless_option", "write k"),
        ],
    )
    def test_lookup_options_that_count_for_nothing_or_end_every_lookup(
        self, tmp_path: Path, entry: str, kind: str | None, hint: str | None
    ):
        files = tree(common=f"k: {{a: 1}}\nlookup_options:\n  {entry}\n")
        found = checked(written(tmp_path, files)).warnings
        assert [(one.kind, one.line) for one in found] == ([(kind, 3)] if kind else [])  # type: ignore[attr-defined]
        assert not kind or (hint or "") in (found[0].hint or "")

    def test_lookup_options_are_judged_in_json_and_for_keys_of_modules_that_are_there(self, tmp_path: Path):
        options = '{"lookup_options": {"app::nosuch": {}, "app::web::port": {}, "fetched::x": {}, "other::x": {}}}'
        files = {"data/common.json": options, "Puppetfile": "mod 'puppetlabs-fetched', '1.0.0'\n"}
        config = HIERA.replace("yaml_data", "json_data").replace("common.yaml", "common.json")
        found = checked(written(tmp_path, {**tree(), "hiera.yaml": config, **files})).warnings
        named = [one.path[1] for one in found if one.kind == "useless_option"]  # type: ignore[attr-defined]
        assert named == ["app::nosuch", "other::x"]

    def test_a_level_that_cannot_be_read_may_have_any_key(self, tmp_path: Path):
        config = HIERA + "- {name: vault, lookup_key: vault_lookup}\n"
        files = {**tree(common="lookup_options: {nothing: {merge: deep}}\n"), "hiera.yaml": config}
        assert [one.kind for one in checked(written(tmp_path, files)).warnings] == []  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("function", "text", "found"),
        [
            ("eyaml_lookup_key", "k: ENC[PKCS7,MIIB]\n", []),
            ("eyaml_lookup_key", "k: >\n  ENC[PKCS7,MII\n  B]\n", []),
            ("eyaml_lookup_key", "k: |\n  ENC[PKCS7,MII\n  B]\n", [("k", "write > (a folded block) in place of |")]),
            (
                "eyaml_lookup_key",
                "k:\n- m: |\n    ENC[PKCS7,MII\n    B]\n",
                [("k.0.m", "write > (a folded block) in place of |")],
            ),
            ("yaml_data", "k: ENC[PKCS7,MIIB]\n", [("k", "give the level lookup_key: eyaml_lookup_key")]),
            ("yaml_data", "k: [ENC[PKCS7]\n", []),
        ],
    )
    def test_what_is_encrypted_and_is_never_decrypted(
        self, tmp_path: Path, function: str, text: str, found: list[tuple[str, str]]
    ):
        kind = "data_hash" if function == "yaml_data" else "lookup_key"
        config = f"version: 5\nhierarchy: [{{name: c, {kind}: {function}, path: common.yaml}}]\n"
        warnings = checked(written(tmp_path, {"hiera.yaml": config, "data/common.yaml": text})).warnings
        assert [(spell(one.path), one.hint) for one in warnings] == found  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("t: \"x%{lookup('p.a')}\"", True),
            ("t: [{u: \"%{hiera('p')}\"}]", True),
            ("t: \"%{alias('p')}\"", False),
            ("t: \"x%{lookup('k')}\"", False),
        ],
    )
    def test_a_sensitive_inside_a_text(self, look: Look, text: str, found: bool):
        options = "lookup_options: {p: {convert_to: Sensitive}}\np: {a: x}\nk: 1\n"
        kinds = [one.split()[0] for one in look(tree(common=f"{options}{text}\n"))]
        assert kinds == (["redacted_text"] if found else [])

    def test_beside_a_file_that_cannot_be_read_no_key_is_called_missing(self, tmp_path: Path):
        files = tree(common="lookup_options: {nothing: {merge: deep}}\n", site="a: [\n")
        assert checked(written(tmp_path, files)).warnings == []

    def test_a_lookup_that_merges_keeps_it_silent(self, look: Look):
        """
        In a line of code.
        """
        files = tree(site="app::web::port: 1", common="app::web::port: 1")
        assert [] == look({**files, "manifests/site.pp": "$x = hiera_array('app::web::port')\n"})

    def test_a_file_that_no_level_can_read(self, tmp_path: Path):
        """
        With the line that looks for one nearly so; a file that another text names is none.
        """
        files = tree(common="app::web::port: 1")
        repository = written(
            tmp_path, {**files, "data/nodes/a.yml": "k: 1\n", "data/extra.yaml": "k: 1\n", "run.sh": "cat extra.yaml\n"}
        )
        (one,) = checked(repository).warnings
        assert ("data/nodes/a.yml", "unread-data-file") == (one.file, one.kind)  # type: ignore[attr-defined]
        assert one.hint == "hiera.yaml:4 looks for nodes/%{trusted.certname}.yaml"

    def test_one_that_cannot_be_read_keeps_levels_silent(self, look: Look):
        """
        It might ask for a merge.
        """
        files = tree(site="app::web::port: 1", common="app::web::port: 1", os_x="a: [\n")
        assert [] == look(files)


SCHEMA = {
    "required": ["must"],
    "properties": {"app": {"additionalProperties": False, "properties": {"port": {"type": "integer"}}}},
}

DRAFT = "http://json-schema.org/draft-07/schema#"


class TestRulesAndSchemas:
    def rules(self, *rules: str) -> str:
        return "[check]\nrules = [" + ", ".join(rules) + "]\n"

    def test_a_value_stands_where_a_rule_wants_it(self, look: Look):
        """
        By path and by level; with the reason.
        """
        files = site({**default(db={"password": 1}), **override(workers=1)}, override(workers=1, log=2))
        files["data_bags/apps/one.json"] = {"id": "one", "password": "x"}
        wanted = (
            '{path = "**.password", only = ["data_bags"], because = "of trust"}',
            '{level = "override", only = ["environments"]}',
        )
        found = look({**files, "nodeattrs.toml": self.rules(*wanted)})
        assert [one for one in found if one.startswith("against-rule")] == [
            "against-rule roles/web.json:1 app.db.password is set in roles, against a rule",
            "against-rule roles/web.json:1 app.workers is set at the level override in roles, against a rule",
        ]

    @pytest.mark.parametrize(
        ("path", "about", "other"),
        [
            ("**", "a.b.c", None),
            ("**.b", "a.b", "b.a"),
            ("a.**.z", "a.z", "b.z"),
            ("a.*.z", "a.b.z", "a.z"),
            ("*_key", "x_key", "a.x_key"),
            ("**.k.**", "k", "a.b"),
        ],
    )
    def test_paths_of_rules(self, path: str, about: str, other: str | None):
        """
        A step that is `*`, and any number of steps.
        """
        from nodeattrs.project.config import CheckRule

        rule = CheckRule(tuple(path.split(".")), "", (), "", "")
        assert rule.is_about(tuple(about.split(".")), "default")
        assert other is None or not rule.is_about(tuple(other.split(".")), "default")

    @pytest.mark.parametrize(
        "rule",
        [
            "{}",
            '{path = "a", only = ["rolls"]}',
            '{level = "high", only = []}',
            "{path = 1, only = []}",
            '{path = "a..", only = []}',
        ],
    )
    def test_a_rule_that_means_nothing_is_a_fault_of_the_settings(self, tmp_path: Path, rule: str):
        """
        With its line.
        """
        faults = checked(written(tmp_path, {"nodeattrs.toml": self.rules(rule), "roles/a.json": {}})).faults
        assert ["nodeattrs.toml:2"] == [":".join(map(str, (one.file, one.line))) for one in faults]  # type: ignore[attr-defined]

    def test_a_value_that_does_not_fit_is_reported_at_the_line_that_wins(self, look: Look):
        """
        And no value is shown; a key that may not be there, too.
        """
        files = site(default(port="secret", other=1), default(port=1), **{"schema/attributes.json": SCHEMA})
        assert [one for one in look(files) if "schema" in one] == [
            "against-schema roles/web.json:1 app.other does not fit the schema on web1",
            "against-schema roles/web.json:1 app.port does not fit the schema on web1",
        ]

    def test_what_is_missing_is_known_only_where_no_cookbook_may_set_it(self, look: Look):
        """
        And a value only where none may override it.
        """
        files = site(default(port="80"), {}, **{"schema/attributes.json": SCHEMA})
        bare = {**files, "roles/web.json": {"name": "web", "run_list": [], **default(port=80)}}
        assert ["against-schema nodes/web1.json:None node web1 does not fit the schema"] == look(bare)
        more = {
            "roles/web.json": files["roles/web.json"],
            "cookbooks/app/recipes/default.rb": f"{READS}node.override\n",
        }
        assert [] == look({**files, **more})

    def test_a_schema_that_is_none_is_a_fault(self, tmp_path: Path):
        """
        At its line.
        """
        found = checked(
            written(
                tmp_path, site({}, {}, **{"nodeattrs.toml": '[schema]\nattributes = "s.json"\n', "s.json": {"type": 1}})
            )
        )
        assert ["is no JSON Schema"] == [
            str(one).partition(": ")[2][:17] for one in found.warnings if "s.json" in str(one)
        ]

    def test_patterns_of_a_schema_are_searched_as_re_does(self, look: Look):
        """
        Repeats in repeats, too, and keys that patterns name are no others.
        """
        label = "^[a-z]([-a-z0-9]*[a-z0-9])?(\\.[a-z]([-a-z0-9]*[a-z0-9])?)*$"
        schema = {
            "properties": {"good": {"pattern": label}, "bad": {"pattern": label}},
            "patternProperties": {"^(x-?)+$": {"type": "string"}},
            "additionalProperties": {"type": "integer"},
        }
        attributes = {"good": "a.b-c.d", "bad": "a..b", "x-x": 1, "xx": "1", "other": "1", "one": 1}
        found = look(site(default(**attributes), {}, **{"schema/attributes.json": {"properties": {"app": schema}}}))
        assert [f"app.{key}" for key in ("bad", "other", "x-x")] == sorted(
            one.split()[2] for one in found if one.startswith("against-schema")
        )

    @pytest.mark.parametrize("at", ["value", "key", "other key"])
    def test_a_pattern_of_a_schema_that_takes_too_long_is_a_finding(self, look: Look, at: str):
        """
        Whether it is about values or keys.
        """
        text = "a" * 40 + "!"
        schema, attributes = {
            "value": ({"properties": {"v": {"pattern": "^(a+)+$"}}}, {"v": text}),
            "key": ({"patternProperties": {"^(a+)+$": {"type": "integer"}}}, {text: 1}),
            "other key": ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {text: 1}),
        }[at]
        with limited(seconds=0.05):
            found = look(site(default(**attributes), {}, **{"schema/attributes.json": {"properties": {"app": schema}}}))
        assert ["takes longer than 0.05 s"] == [one[-24:] for one in found if "schema/" in one]

    @pytest.mark.parametrize(
        ("schema", "words"),
        [
            ({"$ref": "http://127.0.0.1:9/x.json"}, "a reference leads nowhere: http://127.0.0.1:9/x.json"),
            ({"$ref": "#/nowhere"}, "a reference leads nowhere: /nowhere"),
            ({"$ref": "#"}, "the schema leads back to itself"),
            ({"unevaluatedProperties": {}, "patternProperties": {"^(a+)+$": {}}}, "a pattern that may take too long"),
            ({"not": {"$schema": DRAFT, "pattern": "(a+)+$"}}, "a pattern that may take too long"),
            (
                {"properties": {"a": {"pattern": "("}}},
                "is no JSON Schema: '(' is not a 'regex'",
            ),
            (1, "is no JSON Schema: it is a map"),
        ],
    )
    def test_a_schema_fetches_nothing_and_takes_no_time(self, look: Look, schema: Any, words: str):
        """
        Whatever somebody writes into it.
        """
        found = [one for one in look(site({}, {}, **{"schema/attributes.json": schema})) if "schema/" in one]
        assert [f" schema/attributes.json:1 {words}"] == found


class TestWhatIsNotHere:
    @pytest.mark.parametrize(
        ("more", "kind"),
        [
            ({}, "missing-cookbook"),
            ({"Berksfile": ""}, "fetched-cookbook"),
            ({"cookbooks/app/Policyfile.rb": ""}, "fetched-cookbook"),
            ({"README.md": "first: berks vendor cookbooks\n"}, "fetched-cookbook"),
            ({".gitmodules": "\tpath = cookbooks/ntp\n"}, "fetched-cookbook"),
            ({".gitmodules": "\tpath = cookbooks/app\n"}, "missing-cookbook"),
        ],
    )
    def test_a_cookbook_that_something_fetches_is_a_note(self, tmp_path: Path, more: dict[str, str], kind: str):
        """
        Once, whoever asks for it.
        """
        metadata = {"cookbooks/app/metadata.json": {"name": "app", "depends": {"ntp": ""}}}
        came = checked(written(tmp_path, {**site({}, {}), **metadata, **more}))
        assert [kind] == [one.kind for one in [*came.faults, *came.warnings] if "ntp" in str(one)]

    def test_attributes_beside_a_run_list_are_one_finding(self, look: Look):
        """
        As knife-solo keeps nodes.
        """
        files = {"nodes/web1.json": '{"run_list": [],\n "app": {"port": 1},\n "db": 1}\n'}
        assert ["solo-attributes nodes/web1.json:2 attributes that only chef-solo reads here: app, db"] == look(files)

    def test_other_dialects_are_checked_where_they_are(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """
        Bindings and cloud-config files; a template is named and not read.
        """
        written(
            tmp_path,
            {
                "cloud/web.yaml": "#cloud-config\nmerge_how: list(append)\na: 1\n",
                "cloud/template.yaml": "#cloud-config\nhostname: ${name}\n",
                "bindings/default.pp": "bindings default { bind 'a' to 5 in 'usres' }",
            },
        )
        assert 1 == main(["check", "--repo", str(tmp_path), "--format", "json"])
        found = json.loads(capsys.readouterr().out)
        assert 1 == found["looked_at"]["cloud-config file"]
        assert {"NA0204", "NA1151", "NA1271"} == {one["code"] for one in found["findings"]}
        assert all(
            one["file"].endswith(("cloud/web.yaml", "cloud/template.yaml", "default.pp")) for one in found["findings"]
        )


class TestOddFiles:
    def test_what_is_no_regular_file_is_not_waited_for(self, tmp_path: Path):
        """
        A pipe in place of a recipe, a manifest, a script, a cloud-config file.
        """
        import os

        repository = written(tmp_path, {**site(override(workers=4), override(workers=8)), **tree(common="k: 1\n")})
        for name in ("cookbooks/app/recipes/a.rb", "manifests/a.pp", "run.sh", "user-data", "data/a.yaml"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            os.mkfifo(tmp_path / name)
        assert main(["check", "--repo", str(tmp_path)]) in (0, 1)
        # Such a recipe may do anything.
        assert "always-overridden" not in [one.kind for one in checked(Repository(repository.root)).warnings]


class TestFixing:
    @pytest.mark.parametrize(
        ("text", "path", "left"),
        [
            ('{"a": 1, "b": 2}', "a", '{"b": 2}'),
            ('{"a": 1, "b": 2}', "b", '{"a": 1}'),
            ('{\n  "a": {"b": 1}\n}\n', "a.b", '{\n  "a": {}\n}\n'),
            ('{\n  "a": [1,\n 2],\n  "b": 2\n}', "a", '{\n  "b": 2\n}'),
            ("a: 1 # one\nb: 2\n", "a", "b: 2\n"),
            ("a:\n  b: |\n    x\n\n    y\n  c: 1\n", "a.b", "a:\n  c: 1\n"),
            ("a:\n- 1\n- 2\n# kept\nb: 2\n", "a", "# kept\nb: 2\n"),
            ("a:\n  b: 1\n", "a.b", None),  # null would be left
            ("l:\n- a: 1\n  b: 2\n", "l.0.a", None),  # the dash is on its line
            ("a: &x 1\nb: *x\n", "b", None),
            ("a: 1\n", "nosuch", None),
            ("a: [\n", "a", None),
            ("a: 1\r\nb: 2\r\n", "a", "b: 2\r\n"),
        ],
    )
    def test_an_entry_goes_and_nothing_else(self, text: str, path: str, left: str | None):
        """
        Or nothing at all.
        """
        steps = tuple(int(step) if step.isdigit() else step for step in path.split("."))
        assert left == without(text, steps, "json" if text.startswith("{") else "yaml")

    def test_the_earlier_ones_of_a_key_go(self):
        """
        All of them; the last is the one that counts.
        """
        assert '{"a": 3}' == without('{"a": 1, "a": 2, "a": 3}', ("a",), "json", earlier=True)
        assert without('{"a": 1}', ("a",), "json", earlier=True) is None

    def test_a_corrected_file_is_written_only_with_fix(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """
        What is left is what is reported; a second time there is nothing to do.
        """
        files = site(default(port=1, host=2), default(port=1))
        written(tmp_path, files)
        role = tmp_path / "roles/web.json"
        role.chmod(0o640)
        before = role.read_text()
        assert 1 == main(["check", "--repo", str(tmp_path), "--diff"])
        shown = capsys.readouterr().out
        assert (before, True, True) == (role.read_text(), f"-{before}" in shown, "equal-to-overridden" in shown)
        assert 0 == main(["check", "--repo", str(tmp_path), "--fix"])
        came = capsys.readouterr()
        assert ("1 finding corrected in 1 file\n", True) == (came.err, f"-{before}" in came.out)
        assert ({"app": {"host": 2}}, 0o640) == (
            json.loads(role.read_text())["default_attributes"],
            role.stat().st_mode & 0o777,
        )
        assert 0 == main(["check", "--repo", str(tmp_path), "--fix"])
        assert "0 findings corrected in 0 files\n" == capsys.readouterr().err

    def test_a_secret_beside_the_edit_or_in_it_is_not_shown(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """
        Neither one of a sensitive path, wherever the file has it, nor an encrypted one.
        """
        role = (
            "name: web\ndefault_attributes:\n  db:\n    password: MARKER1\n    password: MARKER2\n    port: 1\n"
            "    keys: [MARKER3]\n    users: [{token: MARKER4, name: ann}]\n    other: ENC[PKCS7,MARKER5]\n"
        )
        settings = 'sensitive = ["db.password", ["db", "keys", "*"], ["db", "users", "*", "token"]]\n'
        written(tmp_path, {"roles/web.yaml": role, "nodeattrs.toml": settings})
        for option in ("--diff", "--fix"):
            main(["check", "--repo", str(tmp_path), option])
            shown = "".join(capsys.readouterr())
            assert "MARKER" not in shown
            assert "-    password: Sensitive(withheld)" in shown
        assert (tmp_path / "roles/web.yaml").read_text() == role.replace("    password: MARKER1\n", "")

    def test_what_is_passed_over_is_not_mended(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """
        By an option or by a comment.
        """
        written(tmp_path, site(default(port=1), default(port=1)))
        before = (tmp_path / "roles/web.json").read_text()
        main(["check", "--repo", str(tmp_path), "--fix", "--ignore", "NA0423"])
        assert before == (tmp_path / "roles/web.json").read_text()
        assert "0 findings corrected" in capsys.readouterr().err

    def test_a_link_is_left_alone(self, tmp_path: Path):
        """
        Whatever it leads to.
        """
        repository = written(tmp_path / "repo", site(default(port=1), default(port=1)))
        (tmp_path / "repo/roles/web.json").rename(tmp_path / "web.json")
        (tmp_path / "repo/roles/web.json").symlink_to(tmp_path / "web.json")
        came = checked(Repository(repository.root))
        assert "equal-to-overridden" in [one.kind for one in came.warnings]
        assert [] == fixes(repository.root, came.warnings)

    def test_no_value_changes_in_random_repositories(self, tmp_path: Path):
        """
        `python -m tests.oracles.fixes` tries many more.
        """
        from tests.oracles.fixes import try_one

        for seed in range(10):
            _, wrong = try_one(tmp_path / str(seed), seed)
            assert not wrong, (seed, wrong)


class TestStability:
    def test_the_order_of_findings_is_that_of_their_places(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """
        The same each time, whatever the hashes.
        """
        import os
        import subprocess
        import sys

        from tests.oracles.fixes import RandomRepository

        RandomRepository(tmp_path, 7).write()
        words = [sys.executable, "-m", "nodeattrs", "check", "--repo", str(tmp_path), "--format", "sarif"]
        outs = {
            subprocess.run(words, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}, check=False).stdout
            for seed in ("1", "2")
        }
        assert 1 == len(outs)
        places = [
            (
                one["physicalLocation"]["artifactLocation"]["uri"],
                one["physicalLocation"].get("region", {}).get("startLine", 0),
            )
            for result in json.loads(outs.pop())["runs"][0]["results"]
            for one in result.get("locations", ())
        ]
        assert places == sorted(places)
        assert len(places) > 10

    def test_nothing_runs_that_the_repository_has(self, tmp_path: Path):
        """
        Python at every place where some could stand.
        """
        bad = "raise SystemExit('this ran')\n"
        names = (
            "roles/a.py",
            "environments/e.py",
            "cookbooks/app/attributes/default.py",
            "cookbooks/app/recipes/default.py",
        )
        files = {**site({}, {}), **dict.fromkeys(names, bad), "conftest.py": bad, "schema/attributes.py": bad}
        del files["cookbooks/app/recipes/default.rb"]
        kinds = [one.kind for one in checked(written(tmp_path, files)).warnings]
        assert ["not-run", "not-run"] == [kind for kind in kinds if kind == "not-run"]
        assert ["environments/e.py", "roles/a.py"] == sorted(
            str(one.file)
            for one in checked(Repository(tmp_path), run_code=True).faults
            if "this ran" in str(one)  # type: ignore[attr-defined]
        )


ROWS = [line.split("\t") for line in (Path(__file__).parent / "samples/check.tsv").read_text("utf-8").splitlines()]


class TestTheSample:
    def test_a_hundred_findings_of_public_repositories_were_judged(self):
        """
        Fewer than five are wrong, and each says why.
        """
        head, *rows = ROWS
        assert ["repository", "commit", "place", "code", "verdict", "why"] == head
        assert 100 == len(rows)
        assert len({row[0] for row in rows}) >= 20
        assert sum(row[4] != "right" for row in rows) < 5
        assert all(len(row) == 6 and all(row) for row in rows)


class TestFurtherTrees:
    """A hiera.yaml below the root is a hierarchy of its own."""

    FURTHER = (
        "version: 5\nhierarchy: [{name: v, path: vagrant.yaml}]\ndefaults: {datadir: PLACE, data_hash: yaml_data}\n"
    )

    @pytest.mark.parametrize("folder", ["vagrant", "dist/profile/files"])
    def test_check_finds_broken_data_of_a_hiera_yaml_below_the_root(self, tmp_path: Path, folder: str):
        files = {f"{folder}/hiera.yaml": self.FURTHER.replace("PLACE", "data"), f"{folder}/data/vagrant.yaml": "a: [\n"}
        for more in ({}, tree(common="k: 1")):
            came = checked(written(tmp_path, {**files, **more}))
            assert [one.file for one in came.faults] == [f"{folder}/data/vagrant.yaml"]  # type: ignore[attr-defined]
        assert came.looked["data file"] == 2

    def test_what_it_reads_of_the_data_of_another_is_read(self, tmp_path: Path):
        files = {"data/vagrant.yaml": "k: 1\n", **tree(common="k: 2")}
        assert [one.kind for one in checked(written(tmp_path, files)).warnings] == [  # type: ignore[attr-defined]
            "unread-data-file"
        ]
        files["vagrant/hiera.yaml"] = self.FURTHER.replace("PLACE", "../data")
        assert checked(written(tmp_path, files)).warnings == []

    @pytest.mark.parametrize(
        "files",
        [
            {"modules/ntp/hiera.yaml": "version: 9\n"},
            {"dist/ntp/hiera.yaml": "version: 9\n", "dist/ntp/manifests/init.pp": ""},
            {"dist/ntp/hiera.yaml": "version: 9\n", "dist/ntp/metadata.json": "{}"},
            {"spec/hiera.yaml": "version: 9\n"},
        ],
    )
    def test_that_of_a_module_or_of_tests_is_none(self, tmp_path: Path, files: dict[str, str]):
        assert checked(written(tmp_path, files)).faults == []

    def test_one_that_the_settings_name_is_read_once(self, tmp_path: Path):
        files = {"nodeattrs.toml": "hiera = 'h'\n", "h/hiera.yaml": "version: 5\n", "h/data/common.yaml": "a: 1\n"}
        assert checked(written(tmp_path, files)).looked["data file"] == 1


class TestFilesOfOtherTools:
    @pytest.mark.parametrize("folder", ["environments", "roles"])
    def test_data_without_fields_of_chef_in_a_folder_without_signs_of_chef_is_not_read(
        self, tmp_path: Path, folder: str, capsys: pytest.CaptureFixture[str]
    ):
        files = {
            f"{folder}/configuration.yml": "name: site\na: 1\n",
            "group_vars/all.yml": "b: 1\n",
            "hosts": "[all]\nweb1\n",
        }
        written(tmp_path, files)
        code = main(["check", str(tmp_path)])
        assert (code, "NA0302" in capsys.readouterr().out) == (0, False)

    @pytest.mark.parametrize("sign", ["nodes/web1.json", "data_bags/a/b.json", "kitchen.yml", "Berksfile"])
    def test_a_field_that_chef_does_not_know_is_reported_beside_a_sign_of_chef(self, look: Look, sign: str):
        found = look({"environments/prod.yml": "defualt: 1\n", sign: {}})
        assert [one for one in found if "environments/prod.yml:1 unknown field defualt" in one] != []

    @pytest.mark.parametrize("field", ["default_attributes: {}", "env_run_lists: {}", "json_class: Chef::Role"])
    def test_a_role_with_a_field_of_chef_needs_no_other_sign(self, tmp_path: Path, field: str):
        assert written(tmp_path, {"roles/web.yml": f"{field}\n", "roles/other.yml": "a: 1\n"}).roles() == ["web"]
