"""What is not known: each command ends with 5 and names the place, unless the place cannot matter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nodeattrs.cli import main
from tests.hiera_trees import written


class Said(NamedTuple):
    """What a command prints."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Say = Callable[..., Said]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs a command line in a tree."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(words: str, files: Mapping[str, str] = {}) -> Said:
        written(tmp_path / "here", files)
        code = main(words.split())
        return Said(code, *capsys.readouterr())

    return run


VAULT = "$ANSIBLE_VAULT;1.1;AES256\n6162\n"

# --- Hiera

LEVELS = "version: 5\nhierarchy:\n- name: top\n  path: top.yaml\n- name: server\n  lookup_key: ours::server\n"
FIRST = "lookup_options: {k: {merge: first}}\n"
BELOW = {"hiera.yaml": LEVELS, "data/top.yaml": "k: 1\n"}


@pytest.mark.parametrize(
    "words", ["hiera lookup z", "hiera explain z", "hiera matrix z", "where --key z", "why z", "hiera who-has z"]
)
def test_a_key_that_only_an_unread_level_may_have_is_not_known(say: Say, words: str) -> None:
    said = say(words, BELOW)

    assert (said.code, "ours::server" in said.err + said.out) == (5, True), said


def test_why_says_on_stdout_that_a_key_is_not_set_and_which_unread_file_may_set_it(say: Say) -> None:
    files = {"hiera.yaml": "version: 5\nhierarchy:\n- name: n\n  path: x/%{facts.dc}/%{facts.role}.yaml\n"}
    said = say("why k", files | {"data/x/eu/web.yaml": "k: 1\n"})

    first, *places = said.out.splitlines()
    assert (said.code, first) == (5, "k is not set in what was read")
    assert " ".join(places).startswith("  data/x/eu/web.yaml may count as ")


@pytest.mark.parametrize("words", ["why k", "blame", "hiera lookup k", "hiera matrix k", "hiera list"])
def test_lookup_options_of_an_unread_level_may_merge_a_value_that_was_found(say: Say, words: str) -> None:
    said = say(words, BELOW)

    assert (said.code, "its lookup_options may merge or convert it" in said.err) == (5, True), said


@pytest.mark.parametrize("words", ["why k", "hiera lookup k", "hiera matrix k"])
def test_lookup_options_that_stand_above_go_before_those_of_an_unread_level(say: Say, words: str) -> None:
    assert say(words, BELOW | {"data/top.yaml": f"k: 1\n{FIRST}"}).code == 0


@pytest.mark.parametrize("words", ["why k", "hiera lookup k", "hiera who-has k", "hiera unused"])
def test_a_data_file_that_is_encrypted_as_a_whole_is_an_unread_level(say: Say, words: str) -> None:
    files = {"hiera.yaml": LEVELS.partition("- name: server")[0], "data/top.yaml": VAULT}
    said = say(words, files)

    assert (said.code, "data/top.yaml is encrypted" in said.err) == (5, True), said


FACTS = {
    "hiera.yaml": 'version: 5\nhierarchy:\n- {name: r, path: "role/%{facts.role}.yaml"}\n- {name: c, path: c.yaml}\n',
    "data/c.yaml": "k: 1\nv: '%{facts.zone}'\nw: '%{facts.zone}'\nother: 2\n",
    "data/role/web.yaml": "k: 2\n",
    "facts/n.json": '{"fqdn": "n"}',
}


@pytest.mark.parametrize("words", ["why {} --on n", "hiera lookup {} --facts facts --node n"])
@pytest.mark.parametrize(("key", "code"), [("k", 5), ("v", 5), ("w", 5), ("other", 0)])
def test_a_fact_that_is_gone_among_those_given_may_change_what_needs_it(
    say: Say, words: str, key: str, code: int
) -> None:
    assert say(words.format(key), FACTS).code == code


def test_lookup_options_in_a_file_that_a_missing_fact_chooses_may_merge_a_key(say: Say) -> None:
    files = FACTS | {"data/role/web.yaml": "lookup_options: {other: {merge: unique}}\n"}

    assert say("hiera lookup other --facts facts --node n", files).code == 5
    assert say("hiera lookup k --facts facts --node n", files).code == 0


def test_values_of_eyaml_without_keys_are_not_known_in_every_report(say: Say) -> None:
    level = "version: 5\nhierarchy:\n- {name: a, lookup_key: eyaml_lookup_key, path: a.yaml}\n"
    files = {"hiera.yaml": level, "data/a.yaml": "k: ENC[PKCS7,MIIBeQ==]\nother: 1\n"}

    for words in ("hiera lookup k", "hiera matrix k", "hiera explain k", "why k", "blame"):
        said = say(f"{words} --format json", files)
        assert (words, said.code, said.data["certain"]) == (words, 5, False)
    assert say("why other", files).code == say("hiera matrix other", files).code == 0


# --- Ansible

HOSTS = {"ansible.cfg": "[defaults]\ninventory = hosts\n", "hosts": "[web]\nweb1\n[db]\ndb1\n"}
INLINE = HOSTS | {"group_vars/web.yml": f"port: 1\nkey: !vault |\n  {VAULT.strip().replace(chr(10), chr(10) + '  ')}\n"}


@pytest.mark.parametrize(
    "words",
    ["why key", "ansible explain web1 key", "ansible matrix key", "ansible who-has key", "ansible diff web1 db1"],
)
def test_an_encrypted_variable_is_not_known(say: Say, words: str) -> None:
    said = say(f"{words} --format json", INLINE)

    assert (said.code, said.data["certain"]) == (5, False), said
    assert "group_vars/web.yml:2 (value key) is encrypted, and may be anything" in said.err


@pytest.mark.parametrize("words", ["why port", "ansible explain web1 port", "ansible matrix port"])
def test_an_encrypted_variable_does_not_matter_for_another(say: Say, words: str) -> None:
    assert say(words, INLINE).code == 0


def test_a_template_that_is_not_evaluated_is_not_certain_in_json(say: Say) -> None:
    said = say("ansible explain web1 url --render --format json", HOSTS | {"group_vars/all.yml": "url: '{{ gone }}'\n"})

    assert (said.code, said.data["certain"]) == (5, False)
    assert [one["paths"] for one in said.data["unread"]] == [[["url"]]]


def test_who_has_names_the_encrypted_files_of_every_host(say: Say) -> None:
    """Also where another file of the host goes before."""
    said = say("ansible who-has port", HOSTS | {"group_vars/all.yml": VAULT, "host_vars/web1.yml": "port: 1\n"})

    assert (said.code, "group_vars/all.yml" in said.err) == (5, True), said


def test_a_check_names_plugins_of_the_inventory_that_were_not_run(say: Say) -> None:
    files = HOSTS | {"ansible.cfg": "[defaults]\ninventory = hosts,more.aws_ec2.yml\n"}
    said = say("check", files | {"more.aws_ec2.yml": "plugin: amazon.aws.aws_ec2\n"})

    assert (said.code, "more.aws_ec2.yml: note: was not looked at" in said.out) == (5, True), said


@pytest.mark.parametrize(
    ("file", "text", "code"),
    [
        ("docker-compose.yml", "services: {a: {image: b}}\n", 0),
        ("other.yml", "x: 1\n", 5),
        ("site2.yml", "- hosts: web\n", 5),
        ("files/vars/x.yml", "x: 1\n", 5),
    ],
)
def test_of_files_that_no_host_reads_those_count_that_ansible_may_read(
    say: Say, tmp_path: Path, file: str, text: str, code: int
) -> None:
    """A play, a file in a folder of variables, and one whose name stands in a playbook."""
    files = HOSTS | {"site.yml": "- hosts: web\n  vars_files: [other.yml]\n"}
    written(tmp_path / "next", files | {file: f"# new\n{text}"})

    assert say("impact . ../next --dialect ansible", files | {file: text}).code == code


# --- folds


def test_an_explanation_of_a_fold_counts_the_layers_that_may_decide(say: Say) -> None:
    files = {"a.yaml": VAULT, "b.yaml": "k: 1\n", "c.yaml": "s: ENC[PKCS7,MIIB]\n"}

    assert say("fold a.yaml b.yaml --explain k", files).code == 0
    assert say("fold b.yaml a.yaml --explain k").code == 5
    assert say("fold b.yaml c.yaml --explain k").code == 0
    said = say("fold b.yaml c.yaml --explain s --format json")
    assert (said.code, said.data["certain"]) == (5, False)


def test_a_link_that_leads_out_does_not_matter_below_the_winner(say: Say, tmp_path: Path) -> None:
    (tmp_path / "out.yaml").write_text("k: 1\nother: 2\n")
    (tmp_path / "here/a.yaml").symlink_to("../out.yaml")
    files = {"nodeattrs.toml": '[fold.z]\nfiles = ["a.yaml", "b.yaml"]\n', "b.yaml": "k: 2\n"}

    assert say("why k --dialect folds", files).code == 0
    said = say("why other --dialect folds")
    assert (said.code, "a.yaml" in said.err) == (5, True), said


def test_what_if_names_a_subject_that_cannot_be_resolved(say: Say) -> None:
    files = {"nodeattrs.toml": '[fold.z]\nfiles = ["a.yaml", "gone.yaml"]\n', "a.yaml": "k: 1\n"}

    assert say("what-if --set k=2 --dialect folds", files).code == 5


def test_a_change_beside_a_subject_that_cannot_be_resolved_is_not_known(say: Say, tmp_path: Path) -> None:
    files = {"nodeattrs.toml": '[fold.z]\nfiles = ["gone.yaml", "a.yaml"]\n', "a.yaml": "k: 1\n", "README.md": "a"}
    written(tmp_path / "next", files | {"a.yaml": "k: 2\n"})
    written(tmp_path / "page", files | {"README.md": "b"})

    assert say("impact . ../next --dialect folds", files).code == 5
    assert say("impact . ../page --dialect folds").code == 0


# --- cloud-init

PARTS = {"a.yaml": "#cloud-config\nlocale: a\n", "nodeattrs.toml": '[cloud-init.z]\nfiles = ["a.yaml", "b.yaml"]\n'}
INCLUDE = PARTS | {"b.yaml": "#include\nhttps://example.org/x\n"}


@pytest.mark.parametrize("words", ["why locale", "blame", "cloud-config merge a.yaml b.yaml", "where --key locale"])
def test_an_include_may_set_anything(say: Say, words: str) -> None:
    said = say(words, INCLUDE)

    assert (said.code, "b.yaml" in said.err) == (5, True), said


def test_values_of_a_hiera_tree_without_any_key_are_printed(say: Say) -> None:
    assert say("blame", {"hiera.yaml": "version: 5\n", "data/a.yaml": ""}).out == "# facts: none\n{}\n"


def test_an_include_below_a_part_that_sets_the_key_does_not_matter(say: Say) -> None:
    assert say("cloud-config explain b.yaml a.yaml --path locale", INCLUDE).code == 0


def test_a_part_with_a_merger_that_is_not_known_here_may_set_anything(say: Say) -> None:
    said = say("why locale", PARTS | {"b.yaml": "#cloud-config\nlocale: b\nmerge_how: ours()+dict()\n"})

    assert (said.code, "there is no merger 'ours'" in said.err) == (5, True), said


def test_a_plan_that_ends_too_early_is_an_error(say: Say) -> None:
    said = say("cloud-config merge a.yaml plan.json", PARTS | {"plan.json": '{"format_version": "1.2", "planned_'})

    assert (said.code, "plan.json:1:" in said.err, "is a plan or a state of Terraform" in said.err) == (1, True, True)


# --- bindings

SITE = "site {\n  categories { role => $role }\n  bindings => [layer { 'a': include => 'confdir:/a' }]\n}\n"
BLOCK = (
    "bindings a {\n  bind 'k' to 1\n  bind 'other' to 1\n"
    "  when role web {\n    bind 'k' to 2\n    exclude [z]\n  }\n}\n"
)


@pytest.mark.parametrize("command", ["inject", "explain", "matrix"])
@pytest.mark.parametrize(("key", "code"), [("k", 5), ("other", 0)])
def test_a_category_without_a_value_may_bind_what_stands_below_it(say: Say, command: str, key: str, code: int) -> None:
    said = say(f"bindings {command} {key} --site .", {"manifests/site.pp": SITE, "bindings/a.pp": BLOCK})

    assert (said.code, "the category role has no value" in said.err) == (code, code == 5), said


@pytest.mark.parametrize("words", ["inject k", "matrix k", "explain k", "list", "check"])
def test_a_set_that_is_encrypted_may_bind_anything(say: Say, words: str) -> None:
    said = say(f"bindings {words} --site .", {"manifests/site.pp": SITE, "bindings/a.pp": VAULT})

    assert (said.code, "bindings/a.pp" in said.err + said.out) == (5, True), said


# --- Chef

NODE = {
    "nodes/n.json": '{"name": "n", "run_list": ["recipe[app]"]}',
    "cookbooks/app/metadata.json": '{"name": "app"}',
    "facts/n.json": '{"platform": "debian", "platform_version": "12", "fqdn": "n.example.com"}',
}
EMPTY = {"cookbooks/app/recipes/default.rb": "# nothing\n"}
RUBY = {"cookbooks/app/recipes/default.rb": "node.default['k'] = 1\n"}


@pytest.mark.parametrize(("files", "code"), [(EMPTY, 0), (RUBY, 5)])
def test_a_check_is_certain_where_no_ruby_may_set_attributes(say: Say, files: dict[str, str], code: int) -> None:
    said = say("check --format json", NODE | files)

    assert (said.code, said.data["certain"]) == (code, code == 0), said


@pytest.mark.parametrize("words", ["explain n k --repo .", "matrix k --repo . --facts facts", "why k", "check"])
def test_a_role_that_is_no_literal_is_not_known(say: Say, words: str) -> None:
    role = {"roles/web.rb": "name 'web'\ndefault_attributes('k' => compute(1))\n"}
    node = {"nodes/n.json": '{"name": "n", "run_list": ["role[web]"]}'}
    said = say(words, NODE | EMPTY | role | node)

    assert (said.code, "roles/web.rb:2" in said.err + said.out) == (5, True), said


@pytest.mark.parametrize("words", ["run --node n --why-run", "why platform", "blame n"])
def test_answers_name_the_file_of_the_used_facts(say: Say, words: str) -> None:
    files = NODE | EMPTY

    assert "facts/n.json" in say(words, files).out
    data = say(f"{words} --format json").data
    rows = data.get("runs") or data["answers"]
    assert all(one["facts"] in ({"n": "facts/n.json"}, "facts/n.json") for one in rows)


@pytest.mark.parametrize(
    "words", ["run --node n --why-run", "matrix platform --repo .", "fleet resolve --repo . --why-run --node n"]
)
def test_facts_of_another_machine_are_warned_of(say: Say, words: str) -> None:
    files = NODE | EMPTY

    assert "these are the facts of" not in say(words, files).err
    other = {"facts/n.json": NODE["facts/n.json"].replace("n.example.com", "db.example.com")}
    assert "these are the facts of db.example.com" in " ".join(say(words, other).err.split())


def test_variables_that_are_set_choose_the_files_that_may_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two variables beside each other are one text, and a variable that is set stands for its value."""
    files = {
        "hiera.yaml": "version: 5\nhierarchy:\n"
        "  - {name: roles, path: 'roles/%{role}-%{variant}.yaml'}\n"
        "  - {name: platforms, path: 'platforms/%{os}%{release}.yaml'}\n"
        "  - {name: common, path: common.yaml}\n",
        "data/roles/web-blue.yaml": "port: 1\n",
        "data/roles/db-blue.yaml": "port: 2\n",
        "data/platforms/el9.yaml": "size: 3\n",
        "data/common.yaml": "port: 80\nsize: 1\n",
        "facts/n1.yaml": "role: web\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert main(["why", "port", "--repo", str(tmp_path), "--on", "n1"]) == 5
    errors = capsys.readouterr().err
    assert "roles/web-blue.yaml" in errors
    assert "db-blue" not in errors
    assert main(["why", "size", "--repo", str(tmp_path), "--on", "n1"]) == 5
    assert "platforms/el9.yaml" in capsys.readouterr().err


_LOOKED_UP = {
    "hiera.yaml": "version: 5\nhierarchy:\n"
    "  - {name: roles, path: 'roles/%{role}.yaml'}\n"
    "  - {name: common, path: common.yaml}\n",
    "data/common.yaml": "a: \"x%{lookup('b')}\"\nb: \"%{lookup('c')}\"\nc: 1\nd: 1\n",
    "data/roles/web.yaml": "c: 2\n",
    "facts/n1.yaml": "os: x\n",
}


@pytest.mark.parametrize(
    "words", ["hiera lookup a --node n1", "hiera explain a --node n1", "hiera matrix a", "why a --on n1", "blame n1"]
)
def test_a_file_that_may_count_matters_to_keys_that_look_its_keys_up(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file may set c, which b looks up, and b is looked up by a."""
    written(tmp_path, _LOOKED_UP)
    monkeypatch.chdir(tmp_path)
    asked = [*words.split(), *(["--facts", "facts"] if words.startswith("hiera") else [])]
    assert main(asked) == 5
    assert "data/roles/web.yaml" in capsys.readouterr().err


def test_a_key_that_looks_nothing_up_stays_certain_beside_a_file_that_may_set_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, _LOOKED_UP)
    monkeypatch.chdir(tmp_path)
    assert main(["why", "d", "--on", "n1"]) == 0


def test_a_subject_of_a_variable_is_asked_beside_a_folder_of_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no file of facts, since "role=web" is not a name of a node."""
    written(tmp_path, {name: text for name, text in _LOOKED_UP.items() if not name.startswith("facts/")})
    (tmp_path / "facts").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["why", "a", "--on", "role=web"]) == 0
    assert '"x2"' in capsys.readouterr().out


def test_nodes_with_one_value_of_a_variable_have_no_certname(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text "os.family=Debian" is no name of a node, so its part behind the dot is no domain."""
    names = ("certname", "hostname", "domain")
    written(
        tmp_path,
        {
            "hiera.yaml": "version: 5\nhierarchy: [{name: f, path: 'os/%{facts.os.family}.yaml'}]\n",
            "data/os/Debian.yaml": "".join(f"{name}: 'a.%{{trusted.{name}}}'\n" for name in names),
        },
    )
    monkeypatch.chdir(tmp_path)
    for name in names:
        assert main(["why", name, "--on", "os.family=Debian"]) == 5, name
        out, err = capsys.readouterr()
        assert f'{name} = "a."' in out
        assert f"trusted.{name}" in err


_BEHIND = {
    "cookbooks/x/metadata.rb": 'name "x"\nversion "1.0.0"\n',
    "cookbooks/x/attributes/default.rb": "default['b'] = 2\n",
    "cookbooks/app/metadata.rb": 'name "app"\nversion "1.0.0"\ndepends "x"\n',
    "cookbooks/app/recipes/default.py": "\n",
    "cookbooks/app/attributes/default.py": "node.default['read'] = node.read('b') or 1\n"
    "b = node.read('b')\n"
    "node.default['name'] = [b]\n"
    "if node.read('b'):\n"
    "    pass\n"
    "else:\n"
    "    node.default['condition'] = 1\n"
    "node.default['other'] = 3\n"
    "node.default['way'] = node['name']\n"
    "node.default['beside'] = 1\n"
    "if b:\n"
    "    node.default['untaken'] = 1\n"
    "    node.override['beside'] = 2\n",
    "nodes/n1.json": '{"name": "n1", "run_list": ["recipe[app]"]}',
    "facts/n1.json": '{"fqdn": "n1", "platform": "debian", "platform_version": "12"}',
}


@pytest.mark.parametrize(
    ("key", "code"),
    [("read", 5), ("name", 5), ("condition", 5), ("way", 5), ("beside", 5), ("untaken", 5), ("other", 0), ("none", 1)],
)
def test_what_code_that_is_not_run_may_set_matters_to_lines_that_read_it(
    key: str, code: int, in_folder: Callable[..., tuple[int, str, str]]
) -> None:
    """Ruby may set b. Lines of Python read it, by a name, in a condition, and by way of another attribute."""
    assert in_folder(_BEHIND, "explain", "n1", key, "--repo", ".", "--facts", "facts")[0] == code
    assert in_folder({}, "why", key, "--run-code", "--on", "n1")[0] == code


_BEHIND_RUBY = {
    "cookbooks/app/metadata.rb": 'name "app"\nversion "1.0.0"\n',
    "cookbooks/app/attributes/default.rb": "seen = node['b']\n"
    "default['read'] = seen || 1\n"
    "if node.read('b')\n"
    "  default['untaken'] = 1\n"
    "else\n"
    "  default['condition'] = 1\n"
    "end\n"
    "default['beside'] = 1\n"
    "override['beside'] = 2 unless seen.nil?\n"
    "default['other'] = 3\n"
    "%w(p).each { |one| default[one] = node['condition'] }\n",
    "cookbooks/app/attributes/more.rb": "",
    "cookbooks/app/recipes/default.rb": "ruby_block('x') { block { node.default['b'] = 2 } }\n",
    **{name: text for name, text in _BEHIND.items() if "cookbooks" not in name},
}


@pytest.mark.parametrize(
    ("key", "code"),
    [("read", 5), ("untaken", 5), ("condition", 5), ("beside", 5), ("p", 5), ("other", 5), ("none", 5)],
)
def test_what_was_not_read_matters_to_lines_of_ruby_that_read_it(
    key: str, code: int, in_folder: Callable[..., tuple[int, str, str]]
) -> None:
    """A block sets b when it converges. A computed key may be any, so none is certain where such a line reads b."""
    words = ("explain", "n1", key, "--repo", ".", "--facts", "facts", "--ruby")
    assert in_folder(_BEHIND_RUBY, *words)[0] == code

    name = "cookbooks/app/attributes/default.rb"
    text = _BEHIND_RUBY[name].partition("%w(p)")[0]
    certain = {"other": 0, "none": 1}
    assert in_folder(_BEHIND_RUBY | {name: text}, *words)[0] == certain.get(key, 1 if key == "p" else code)

    if key == "none":
        text += "include_attribute 'app::more' if node['b']\n"
        assert in_folder(_BEHIND_RUBY | {name: text}, *words)[0] == 5


@pytest.mark.parametrize("variable", ["trusted.certname", "facts.fqdn", "hostname"])
def test_files_of_single_nodes_say_nothing_about_all_nodes_with_one_role(
    in_folder: Callable[..., tuple[int, str, str]], variable: str
) -> None:
    files = {
        "hiera.yaml": f"version: 5\nhierarchy:\n- {{name: node, path: 'nodes/%{{{variable}}}.yaml'}}\n"
        "- {name: role, path: 'roles/%{role}.yaml'}\n",
        "data/nodes/web1.yaml": "k: n\n",
        "data/roles/web.yaml": "k: r\n",
    }
    code, out, err = in_folder(files, "why", "k", "--on", "role=web")
    assert (code, 'k = "r"' in out, err) == (0, True, "")
