"""Roles and environments, from data files and from Python."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.dialects.chef.repository.roles import read_environment, read_role
from nodeattrs.errors import BadName, DocumentError, EnvironmentNotFound, RoleNotFound, UnknownField
from nodeattrs.formats.documents import parse
from nodeattrs.project.fields import Fields
from tests.on_disk import repository

WEB_JSON = """\
{
  "name": "web",
  "description": "Serves pages",
  "json_class": "Chef::Role",
  "chef_type": "role",
  "run_list": ["recipe[apache2]", "role[base]"],
  "env_run_lists": {"prod": ["recipe[apache2::tuned]"], "empty": []},
  "default_attributes": {
    "apache2": {
      "port": 80,
      "modules": [
        "ssl",
        "rewrite"
      ]
    }
  },
  "override_attributes": {
    "motd": "hello"
  }
}
"""

WEB_YAML = """\
name: web
description: Serves pages
run_list:
- recipe[apache2]
- role[base]
env_run_lists: {prod: ["recipe[apache2::tuned]"], empty: []}
default_attributes:
  apache2:
    port: 80
    modules:
    - ssl
    - rewrite
override_attributes:
  motd: hello
"""

WEB_PY = """\
name("web")
description("Serves pages")
run_list("recipe[apache2]", "role[base]")
env_run_lists({"prod": ["recipe[apache2::tuned]"], "empty": []})
default_attributes({
    "apache2": {
        "port": 80,
        "modules": [
            "ssl",
            "rewrite",
        ],
    },
})
override_attributes(
    {"motd": "hello"},
)
"""

PROD_PY = """\
name("prod")
cookbook("apache2", "~> 2.0")
cookbook("base")
default_attributes({
    "motd": "prod",
})
"""


@pytest.mark.parametrize(
    ("file", "text", "port_line", "rewrite_line", "motd_line"),
    [
        ("roles/web.json", WEB_JSON, 10, 13, 18),
        ("roles/web.yaml", WEB_YAML, 9, 12, 14),
        ("roles/web.yml", WEB_YAML, 9, 12, 14),
        ("roles/web.py", WEB_PY, 7, 10, 15),
    ],
)
def test_a_role_is_the_same_in_every_syntax(tmp_path, file, text, port_line, rewrite_line, motd_line):
    """The same fields, and for each attribute the line that a person would edit."""
    repo = repository(tmp_path, {file: text})

    role = repo.role("web")

    assert role.run_list == ["recipe[apache2]", "role[base]"]
    assert role.env_run_lists == {"prod": ["recipe[apache2::tuned]"], "empty": []}
    assert role.default_attributes == {"apache2": {"port": 80, "modules": ["ssl", "rewrite"]}}
    assert role.override_attributes == {"motd": "hello"}
    assert role.description == "Serves pages"
    assert repo.warnings == []
    port = role.default_locator.at(("apache2", "port"))
    assert (port.kind, port.name, port.file, port.line) == ("role", "web", file, port_line)
    assert role.default_locator.at(("apache2", "modules", 1)).line == rewrite_line
    assert role.override_locator.at(("motd",)).line == motd_line


def test_an_environment_in_python(tmp_path):
    """`cookbook` adds one constraint, at its own line."""
    prod = repository(tmp_path, {"environments/prod.py": PROD_PY}).environment("prod")

    assert prod.cookbook_versions == {"apache2": "~> 2.0", "base": ""}
    assert prod.default_attributes == {"motd": "prod"}
    assert [(name, asked, origin.line) for name, asked, origin in prod.pins()] == [
        ("apache2", "~> 2.0", 2),
        ("base", "", 3),
    ]
    assert str(prod.default_locator.at(("motd",))) == "environments/prod.py:5 (environment prod)"


def test_an_environment_in_json(tmp_path):
    """Chef's own fields."""
    document = {
        "name": "prod",
        "json_class": "Chef::Environment",
        "chef_type": "environment",
        "cookbook_versions": {"apache2": "= 1.2.3"},
        "default_attributes": {"a": 1},
        "override_attributes": {"b": 2},
    }

    repo = repository(tmp_path, {"environments/prod.json": document})

    prod = repo.environment("prod")
    assert (prod.cookbook_versions, prod.default_attributes, prod.override_attributes) == (
        {"apache2": "= 1.2.3"},
        {"a": 1},
        {"b": 2},
    )
    assert repo.warnings == []


class TestDefaultEnvironment:
    def test_the_default_environment_is_empty_and_needs_no_file(self, tmp_path):
        """No file needed."""
        found = repository(tmp_path, {}).environment("_default")

        assert (found.default_attributes, found.override_attributes, found.cookbook_versions) == ({}, {}, {})

    @pytest.mark.parametrize(("suffix", "text"), [("json", '{"name": "_default"}'), ("py", "name('_default')")])
    def test_a_file_for_the_default_environment_is_an_error(self, tmp_path, suffix, text):
        """A file of that name is an error, even if it says nothing."""
        repo = repository(tmp_path, {f"environments/_default.{suffix}": text})

        with pytest.raises(DocumentError, match=rf"environments/_default.{suffix}:1.*_default cannot be changed"):
            repo.environment("_default")


class TestPythonRoles:
    def test_a_repeated_call_replaces(self, tmp_path):
        """As in Chef; the later line is the one that counts."""
        text = 'default_attributes({"a": 1})\ndefault_attributes({"b": 2})\nrun_list(["x"])\nrun_list("y", "z")\n'

        role = repository(tmp_path, {"roles/r.py": text}).role("r")

        assert role.default_attributes == {"b": 2}
        assert role.run_list == ["y", "z"]
        assert role.default_locator.at(("b",)).line == 2

    def test_a_role_in_python_may_use_loops_and_functions(self, tmp_path):
        """Loops and functions; a computed value has the line of the call that said it."""
        text = (
            "def port(n):\n    return 8000 + n\n\n\n"
            "sites = {name: port(n) for n, name in enumerate(['a', 'b'])}\n"
            "default_attributes({'sites': sites, 'pair': (1, 2)})\n"
        )

        role = repository(tmp_path, {"roles/r.py": text}).role("r")

        assert role.default_attributes == {"sites": {"a": 8000, "b": 8001}, "pair": [1, 2]}
        assert role.default_locator.at(("sites", "b")).line == 6

    def test_what_the_script_keeps_is_not_what_the_role_holds(self, tmp_path):
        """Values are copied where they are said."""
        text = "shared = {'a': 1}\ndefault_attributes(shared)\nshared['a'] = 2\noverride_attributes(shared)\n"

        role = repository(tmp_path, {"roles/r.py": text}).role("r")

        assert (role.default_attributes, role.override_attributes) == ({"a": 1}, {"a": 2})

    @pytest.mark.parametrize(
        ("text", "place", "reason"),
        [
            ("name('r')\ndefault_attributes({\n", "roles/r.py:2", "Python syntax error"),
            ("name('r')\n\n1 / 0\n", "roles/r.py:3", "ZeroDivisionError: division by zero"),
            ("def f():\n    boom()\n\nf()\n", "roles/r.py:2", "NameError"),
            ("import sys\nsys.exit(3)\n", "roles/r.py:2", "SystemExit"),
            ("import json\n\njson.loads('{')\n", "roles/r.py:3", "JSONDecodeError"),
            ("run_list('a',\n  'role[b')\n", "roles/r.py:1", "'role[b' is no run-list item"),
            ("default_attributes([1])\n", "roles/r.py:1", "default_attributes of role r must be a map, not a list"),
            ("default_attributes({\n 'a': {\n  'b': {1, 2},\n }})\n", "roles/r.py:3", "default_attributes.a.b"),
            ("default_attributes({\n 'a': {\n  None: 1,\n }})\n", "roles/r.py:2", "default_attributes.a"),
            ("default_attributes()\n", "roles/r.py:1", "TypeError"),
            ("name('r')\nnormal_attributes({'a': 1})\n", "roles/r.py:2", "role r cannot set normal attributes"),
            ("cookbook('a', '1.0')\n", "roles/r.py:1", "NameError"),
            ("x = 1\0\n", "roles/r.py", "Python syntax error"),
            ("(" * 300 + ")" * 300, "roles/r.py", "Python syntax error"),
        ],
    )
    def test_every_fault_names_its_line(self, tmp_path, text, place, reason):
        """Whether the compiler, the script or the check finds it."""
        with pytest.raises(DocumentError) as caught:
            repository(tmp_path, {"roles/r.py": text}).role("r")

        assert place in str(caught.value)
        assert reason in str(caught.value)

    def test_what_the_script_raised_is_the_cause(self, tmp_path):
        """With a traceback that shows the line."""
        with pytest.raises(DocumentError) as caught:
            repository(tmp_path, {"roles/r.py": "{}['gone']\n"}).role("r")

        assert isinstance(caught.value.__cause__, KeyError)
        assert caught.value.line == 1

    def test_bytes_that_are_no_text_are_refused(self, tmp_path):
        """Not a raw UnicodeDecodeError."""
        repo = repository(tmp_path, {"roles/other.py": ""})
        (tmp_path / "roles" / "r.py").write_bytes(b"name('\xff')\n")

        with pytest.raises(DocumentError, match=r"roles/r.py: .*UTF-8"):
            repo.role("r")


class TestFaultsInDocuments:
    @pytest.mark.parametrize(
        ("field", "reason"),
        [
            ('"run_list": ["recipe[a"]', "'recipe[a' is no run-list item"),
            ('"run_list": [3]', "3 is no run-list item"),
            ('"env_run_lists": ["a"]', "env_run_lists of role r must be a map, not a list"),
            ('"env_run_lists": {"prod": "a"}', "env_run_lists['prod'] of role r must be a list"),
            ('"default_attributes": []', "default_attributes of role r must be a map, not a list"),
            ('"override_attributes": 3', "override_attributes of role r must be a map, not 3"),
            ('"normal_attributes": {"a": 1}', "role r cannot set normal attributes"),
            ('"description": ["a"]', "description of role r must be text, not a list"),
            ('"name": 5', "name of role r must be text, not 5"),
            ('"json_class": "Chef::Node"', "json_class of role r must be 'Chef::Role', not 'Chef::Node'"),
            ('"chef_type": "environment"', "chef_type of role r must be 'role'"),
        ],
    )
    def test_a_wrong_field_is_named_with_its_line(self, tmp_path, field, reason):
        """The field stands in line 3."""
        repo = repository(tmp_path, {"roles/r.json": '{\n"override_attributes": {},\n' + field + "}"})

        with pytest.raises(DocumentError) as caught:
            repo.role("r")

        assert str(caught.value).startswith("roles/r.json:3:")
        assert reason in str(caught.value)

    def test_many_faults_are_said_at_once(self, tmp_path):
        """Each with its own line."""
        repo = repository(tmp_path, {"roles/r.yaml": "run_list: 3\ndescription: []\nnormal_attributes: {}\n"})

        with pytest.raises(DocumentError) as caught:
            repo.role("r")

        said = str(caught.value)
        assert all(place in said for place in ("roles/r.yaml:1:", "roles/r.yaml:2:", "roles/r.yaml:3:"))

    def test_null_is_the_same_as_nothing(self, tmp_path):
        """Tools write it for what was not given; also for an environment's run list."""
        document = {"run_list": None, "default_attributes": None, "description": None, "env_run_lists": {"prod": None}}

        role = repository(tmp_path, {"roles/r.json": document}).role("r")

        assert (role.run_list, role.default_attributes, role.description) == ([], {}, "")
        assert list(role.run_list_for("prod")[1]) == []

    @pytest.mark.parametrize("constraint", ["newest", "~> 1", 2, ["1.0", "2.0"]])
    def test_a_version_constraint_has_to_be_one(self, tmp_path, constraint):
        """The line is that of the cookbook."""
        document = {"name": "prod", "cookbook_versions": {"base": "1.0", "apache2": constraint}}

        with pytest.raises(DocumentError, match=r"environments/prod.json:5"):
            repository(tmp_path, {"environments/prod.json": document}).environment("prod")

    @pytest.mark.parametrize("text", ["[]", '"text"', "null", "3"])
    def test_a_document_is_a_map(self, tmp_path, text):
        """Anything else has no fields."""
        with pytest.raises(DocumentError, match=r"roles/r.json:1:1: role r must be a map of fields"):
            repository(tmp_path, {"roles/r.json": text}).role("r")


class TestWarnings:
    @pytest.mark.parametrize(
        ("file", "ask", "first", "key", "meant"),
        [
            ("roles/r.json", "role", '"name": "r"', "defualt_attributes", "default_attributes"),
            ("environments/r.json", "environment", '"name": "r"', "overide_attributes", "override_attributes"),
            ("nodes/r.json", "node_document", '"chef_type": "node"', "nromal", "normal"),
        ],
    )
    def test_an_unknown_field_is_named_with_what_may_have_been_meant(self, tmp_path, file, ask, first, key, meant):
        """With its line; the document is read all the same."""
        repo = repository(tmp_path, {file: f'{{{first},\n"{key}": {{"a": 1}}}}'})

        assert getattr(getattr(repo, ask)("r"), meant) == {}
        (warning,) = repo.warnings
        assert isinstance(warning, UnknownField)
        assert str(warning).startswith(f"{file}:2:1: unknown field {key}")
        assert f"did you mean {meant}" in str(warning)

    def test_a_name_that_is_not_the_files(self, tmp_path):
        """The file's name counts."""
        repo = repository(tmp_path, {"roles/r.json": {"name": "other"}})

        assert repo.role("r").name == "r"
        assert "name says 'other', but this is role r" in str(repo.warnings[0])

    def test_warnings_about_a_role_come_once(self, tmp_path):
        """A document is read once, however often it is asked for."""
        repo = repository(tmp_path, {"roles/r.json": {"nmae": "r"}})

        assert repo.role("r") is repo.role("r")
        assert len(repo.warnings) == 1


class TestNotThere:
    def test_a_missing_role_names_near_misses(self, tmp_path):
        """The way out."""
        with pytest.raises(RoleNotFound, match="did you mean webserver"):
            repository(tmp_path, {"roles/webserver.json": {}}).role("websever")

    def test_a_missing_environment_is_its_own_error(self, tmp_path):
        """Not the role's."""
        with pytest.raises(EnvironmentNotFound, match="there is no environment prod"):
            repository(tmp_path, {}).environment("prod")

    def test_two_files_for_one_role_name_both(self, tmp_path):
        """None of them is silently dropped."""
        repo = repository(tmp_path, {"roles/web.json": {}, "roles/web.py": ""})

        with pytest.raises(DocumentError, match=r"described twice, by roles/web.json and roles/web.py"):
            repo.role("web")

    @pytest.mark.parametrize(
        "name", ["../web", "a/b", "", ".hidden", "..", "a\0b", "web.json/", "ä", None, 3, "a" * 300]
    )
    def test_no_name_leaves_the_directory(self, tmp_path, name):
        """Whatever it is, the answer is BadName, also where such a file exists."""
        repo = repository(tmp_path, {"web.json": {}, "roles/a/b.json": {}, "roles/.hidden.json": {}})

        for ask in (repo.role, repo.environment, repo.node_document, repo.cookbook, repo.data_bag):
            with pytest.raises(BadName):
                ask(name)


values = st.recursive(
    st.sampled_from([None, True, 3, 1.5, "", "role[a]", "~> 1.2", "[", "_default"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "prod", "1"]), inner, max_size=2),
    max_leaves=4,
)
words = st.sampled_from(
    ["name", "run_list", "env_run_lists", "default_attributes", "cookbook_versions", "json_class", "normal_attributes"]
)


@given(
    st.dictionaries(words, values, max_size=4),
    st.sampled_from([("role", read_role), ("environment", read_environment)]),
)
def test_whatever_a_document_says_it_is_read_or_refused(document, how):
    """Never anything but a DocumentError, and always with a line."""
    kind, reader = how
    text = json.dumps(document, indent=1)
    said = parse(text, "r.json", "json")

    place = None
    try:
        thing = reader("r", Fields(said.tree, said.locator(kind, "r"), f"{kind} r"))
    except DocumentError as error:
        place = (error.file, bool(error.line))

    if place is None:
        assert thing.default_attributes == (document.get("default_attributes") or {})
        assert document.get("normal_attributes") is None
    else:
        assert place == ("r.json", True)
